#include "backends/cuda/error.h"

#include <new>
#include <stdexcept>
#include <string>

namespace df::cuda {

void ThrowError(cudaError_t error, const char* what) {
  cudaGetLastError();  // is not seen again
  if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
  throw std::runtime_error(std::string("the card failed at ") + what + ": " + cudaGetErrorString(error));
}

}  // namespace df::cuda
