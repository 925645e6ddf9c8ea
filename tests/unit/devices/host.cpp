#include "runtime/device/host_device.h"
#include "tests/unit/devices/conformance.h"

namespace df::test {

// Three threads share each batch.
std::unique_ptr<Device> MakeDeviceToTest(uint64_t) { return std::make_unique<HostDevice>(3, true); }

}  // namespace df::test
