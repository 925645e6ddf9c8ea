// runtime/device/batch_run.h
//
// One batch on the host's processor: a region's ops, one after another, each over the rows of all activations.
#pragma once

#include "runtime/device/device.h"
#include "runtime/device/kept_matrices.h"

namespace df {

// Computes the batch, whose addresses are pointers. Throws std::bad_alloc beyond the memory limit. Parts of a batch may be computed on
// several threads at once.
void RunBatch(const DeviceBatch& batch, const KeptMatrices& kept);

}  // namespace df
