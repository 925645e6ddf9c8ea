// runtime/host_device.h
//
// The host's processor as a device: its addresses are pointers, and each command has been done when the call returns.
// What Allocate gave is freed by memory::FreeLines as well, when the device is gone.
#pragma once

#include "runtime/batch_run.h"
#include "runtime/device.h"

namespace df {

class HostDevice final : public Device {
 public:
  HostDevice() : turned_(*this) {}
  std::string_view name() const override { return "host"; }
  bool is_host() const override { return true; }
  DeviceAddress Allocate(size_t bytes) override;
  void Free(DeviceAddress address, size_t bytes) noexcept override;
  void Upload(DeviceAddress to, const void* from, size_t bytes) override;
  void Download(void* to, DeviceAddress from, size_t bytes) override;
  void Run(const DeviceBatch& batch) override { RunBatch(batch, turned_); }
  uint64_t Mark() override { return 0; }
  void Wait(uint64_t) override {}
  void Idle() override { turned_.Clear(); }

 private:
  TurnedMatrices turned_;
};

}  // namespace df
