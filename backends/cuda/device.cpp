#include "backends/cuda/device.h"

#include <fmt/format.h>

#include "backends/cuda/region_run.h"
#include "backends/cuda/sum_run.h"
#include "runtime/run/device_errors.h"
#include "runtime/run/limits.h"

namespace df::cuda {

std::unique_ptr<Device> CudaDevice::Make(uint64_t max_bytes, std::string* error) {
  Card card = FindCard();
  if (!card.missing.empty()) {
    *error = fmt::format("the device `cuda` cannot be used: {}", card.missing);
    return nullptr;
  }
  try {
    return std::unique_ptr<Device>(new CudaDevice(max_bytes ? max_bytes : card.memory / 10 * 9));
  } catch (const std::exception& failure) {
    *error = fmt::format("the device `cuda` cannot be used: {}", failure.what());
    return nullptr;
  }
}

CudaDevice::CudaDevice(uint64_t max_bytes) : stream_(NewStream()), pool_(max_bytes), staging_(stream_) {
  for (Event& event : events_) event = NewEvent();
}

CudaDevice::~CudaDevice() {
  try {
    cuda::Synchronise(stream_);
  } catch (const DeviceFault&) {
    // Was told by the Wait that the run ended with, or nobody has asked.
  }
  for (Event event : events_) FreeEvent(event);
  FreeStream(stream_);
}

DeviceAddress CudaDevice::Allocate(size_t bytes) {
  DeviceAddress address = pool_.Allocate(bytes);
  stats_.peak_bytes = pool_.peak();
  return address;
}

void CudaDevice::Upload(DeviceAddress to, const void* from, size_t bytes) {
  ++stats_.uploads;
  stats_.uploaded += bytes;
  if (bytes == 0) return;
  if (bytes <= Staging::kBytes) staging_.SendTo(to, from, bytes);
  else CopyToCard(to, from, bytes, stream_);
}

void CudaDevice::Download(void* to, DeviceAddress from, size_t bytes) {
  ++stats_.downloads;
  stats_.downloaded += bytes;
  if (bytes > 0) CopyToHost(to, from, bytes, stream_);
}

void CudaDevice::Run(const DeviceBatch& batch) { RunRegion(*this, batch); }

void CudaDevice::Sum(const DeviceSum& sum) { RunSum(*this, sum); }

uint64_t CudaDevice::Mark() {
  Record(events_[++given_ % kEvents], stream_);
  return given_;
}

// The event of an old mark is that of a later one by now.
void CudaDevice::Wait(uint64_t mark) {
  if (mark <= done_) return;
  WaitFor(events_[mark % kEvents]);
  while (mark + kEvents <= given_) mark += kEvents;
  done_ = mark;
}

std::string CudaDevice::Left() const {
  return pool_.pieces() == 0 ? "" : fmt::format("{} pieces of the card's memory, {} in all", pool_.pieces(), PrintBytes(pool_.used()));
}

}  // namespace df::cuda
