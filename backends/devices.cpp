#include "backends/devices.h"

#include <fmt/format.h>

#ifdef DFC_HAS_CUDA
#include "backends/cuda/device.h"
#endif
#include "backends/simulated/simulated_device.h"
#include "runtime/run/limits.h"

namespace df {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Device> (*make)(uint64_t max_bytes, std::string* error);
};

std::unique_ptr<Device> MakeSimulated(uint64_t max_bytes, std::string*) {
  return std::make_unique<SimulatedDevice>(max_bytes ? max_bytes : DefaultMemoryLimit());
}

std::unique_ptr<Device> MakeCuda([[maybe_unused]] uint64_t max_bytes, std::string* error) {
#ifdef DFC_HAS_CUDA
  return cuda::CudaDevice::Make(max_bytes, error);
#else
  *error = "the device `cuda` is not in this build: there was no nvcc when it was made";
  return nullptr;
#endif
}

constexpr Entry kDevices[] = {
    {"cpu", [](uint64_t, std::string*) { return std::unique_ptr<Device>(); }},
    {"simulated", MakeSimulated},
    {"cuda", MakeCuda},
};

}  // namespace

std::string DeviceNames() {
  std::string names;
  for (const Entry& entry : kDevices) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", entry.name);
  return names;
}

bool IsDevice(std::string_view name) {
  for (const Entry& entry : kDevices)
    if (entry.name == name) return true;
  return false;
}

std::unique_ptr<Device> MakeDevice(std::string_view name, uint64_t max_bytes, std::string* error) {
  for (const Entry& entry : kDevices)
    if (entry.name == name) return entry.make(max_bytes, error);
  *error = fmt::format("there is no device `{}` in this build; it has {}", name, DeviceNames());
  return nullptr;
}

}  // namespace df
