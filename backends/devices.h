// backends/devices.h
//
// The devices that this build has, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/device/device.h"

namespace df {

// Names of devices, as one would list them: "cpu", "simulated".
std::string DeviceNames();
bool IsDevice(std::string_view name);
// A device for a run, with at most so many bytes of memory of its own (0: what it has). Null for "cpu", the host, on which runs go
// without; and, with what is wrong in `error`, if there is no such device or it cannot be used.
std::unique_ptr<Device> MakeDevice(std::string_view name, uint64_t max_bytes, std::string* error);

}  // namespace df
