#include "runtime/host_device.h"

#include <cstring>

#include "runtime/memory.h"

namespace df {

DeviceAddress HostDevice::Allocate(size_t bytes) { return memory::AllocateLines(bytes); }

void HostDevice::Free(DeviceAddress address, size_t bytes) noexcept { memory::FreeLines(address, bytes); }

void HostDevice::Upload(DeviceAddress to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

void HostDevice::Download(void* to, DeviceAddress from, size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace df
