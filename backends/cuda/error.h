// backends/cuda/error.h
//
// What the CUDA runtime answers, as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/run/device_errors.h"

namespace df::cuda {

// Throws DeviceFull if there is no memory, DeviceFault for any other error; `what` was asked for.
void ThrowError(cudaError_t error, const char* what);
inline void Check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) [[unlikely]] ThrowError(error, what);
}

}  // namespace df::cuda
