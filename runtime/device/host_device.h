// runtime/device/host_device.h
//
// The host's processor as a device: its addresses are pointers, and each command has been done when the call returns.
// Several threads share the rows of a batch: a row has the same bits however many are computed with it.
// What Allocate gave is freed by memory::FreeLines as well, when the device is gone.
#pragma once

#include "runtime/device/batch_run.h"
#include "runtime/device/device.h"
#include "runtime/device/row_team.h"
#include "runtime/ops/accumulate.h"

namespace df {

class HostDevice final : public Device {
 public:
  // Batches are shared by so many threads, the calling one among them: those that are worth it, or, for tests, all of several rows.
  explicit HostDevice(uint32_t threads = 1, bool always = false) : kept_(*this), team_(threads), always_(always) {}
  std::string_view name() const override { return "host"; }
  bool is_host() const override { return true; }
  DeviceAddress Allocate(size_t bytes) override;
  void Free(DeviceAddress address, size_t bytes) noexcept override;
  void Upload(DeviceAddress to, const void* from, size_t bytes) override;
  void Download(void* to, DeviceAddress from, size_t bytes) override;
  void Run(const DeviceBatch& batch) override;
  void Sum(const DeviceSum& sum) override { ComputeSum(sum); }
  uint64_t Mark() override { return 0; }
  void Wait(uint64_t) override {}
  void Idle() override { kept_.Clear(); }

 private:
  KeptMatrices kept_;
  RowTeam team_;
  const bool always_;
};

}  // namespace df
