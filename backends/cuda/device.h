// backends/cuda/device.h
//
// A card as a device (runtime/device/device.h): a stream of commands, memory of which weights and results stay there, and batches as a few
// kernels (region_run.h).
#pragma once

#include <array>
#include <memory>
#include <string>

#include "backends/cuda/memory_pool.h"
#include "backends/cuda/staging.h"
#include "runtime/device/device.h"

namespace df::cuda {

class CudaDevice final : public Device {
 public:
  // With at most so many bytes; 0: nine tenths of what it has. Null if there is no card that can be used, and why in `error`.
  static std::unique_ptr<Device> Make(uint64_t max_bytes, std::string* error);
  ~CudaDevice() override;

  std::string_view name() const override { return "cuda"; }
  DeviceAddress Allocate(size_t bytes) override;
  void Free(DeviceAddress address, size_t bytes) noexcept override { pool_.Free(address, bytes); }
  void Upload(DeviceAddress to, const void* from, size_t bytes) override;
  void Download(void* to, DeviceAddress from, size_t bytes) override;
  void Run(const DeviceBatch& batch) override;
  void Sum(const DeviceSum& sum) override;
  uint64_t Mark() override;
  void Wait(uint64_t mark) override;
  std::string Left() const override;

  Stream stream() const { return stream_; }
  Staging& staging() { return staging_; }

 private:
  CudaDevice(uint64_t max_bytes);

  const Stream stream_;
  MemoryPool pool_;
  Staging staging_;
  uint64_t given_ = 0, done_ = 0;  // marks
  static constexpr size_t kEvents = 4;
  std::array<Event, kEvents> events_;  // behind the last marks
};

}  // namespace df::cuda
