#include "backends/simulated/simulated_device.h"
#include "tests/unit/devices/conformance.h"

namespace df::test {

std::unique_ptr<Device> MakeDeviceToTest(uint64_t max_bytes) { return std::make_unique<SimulatedDevice>(max_bytes); }

}  // namespace df::test
