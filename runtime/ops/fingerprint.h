// runtime/ops/fingerprint.h
//
// What the ops on tensors give in this process, bit for bit. Their loops are written to give the same on every processor, in whichever
// instruction set they run; processes that work on one run make sure of it (docs/distributed.md).
#pragma once

#include <array>
#include <cstdint>

namespace df {

// SHA-256 over the bits of loops of all kinds for fixed operands: elements, products, reductions, factorisations.
std::array<uint8_t, 32> KernelFingerprint();

}  // namespace df
