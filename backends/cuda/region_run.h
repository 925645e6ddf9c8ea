// backends/cuda/region_run.h
//
// One batch on the card: a region's ops as few kernels. Elementwise ops wait in chains until somebody needs a value of theirs, so that
// one kernel computes them all; a part of a value (a slice, a row of a table) is a place and no copy, as on the host. An op that has no
// kernel, as it would be libm's, is computed by the host.
#pragma once

#include "runtime/device/device.h"

namespace df::cuda {

class CudaDevice;

// Puts the batch into the device's stream.
void RunRegion(CudaDevice& device, const DeviceBatch& batch);

}  // namespace df::cuda
