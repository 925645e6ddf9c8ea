// backends/cuda/sum_run.h
//
// The gradient of a weight as a few kernels: its terms are rows of what batches have computed, anywhere on the card.
#pragma once

#include "runtime/device/device.h"

namespace df::cuda {

class CudaDevice;

// Throws std::bad_alloc, having changed nothing, if there is no room for the places of rows.
void RunSum(CudaDevice& device, const DeviceSum& sum);

}  // namespace df::cuda
