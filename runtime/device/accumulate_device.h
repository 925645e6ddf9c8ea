// runtime/device/accumulate_device.h
//
// The op Accumulate where its terms are on a device.
#pragma once

#include <optional>

#include "runtime/ops/accumulate.h"

namespace df {

// The sum on the device on which the first terms are, where it stays: what is computed next may be a step of training, on the same device. Terms that only
// the host has go over. Nothing if the terms are on the host, or the device has no room.
std::optional<Value> AccumulateOnDevice(const ir::Type& result, llvm::ArrayRef<SumTerm> terms);

}  // namespace df
