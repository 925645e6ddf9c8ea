#include "backends/cuda/device.h"
#include "tests/unit/devices/conformance.h"

namespace df::test {

// Null where there is no card.
std::unique_ptr<Device> MakeDeviceToTest(uint64_t max_bytes) {
  std::string error;
  return cuda::CudaDevice::Make(max_bytes, &error);
}

}  // namespace df::test
