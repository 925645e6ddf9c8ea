#include "backends/cuda/error.h"

#include <string>

#include "runtime/device/device.h"

namespace df::cuda {

void ThrowError(cudaError_t error, const char* what) {
  cudaGetLastError();  // is not seen again
  if (error == cudaErrorMemoryAllocation) throw DeviceFull("the card has no more memory");
  throw DeviceFault(std::string("the card failed at ") + what + ": " + cudaGetErrorString(error));
}

}  // namespace df::cuda
