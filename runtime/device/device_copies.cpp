#include "runtime/device/device_copies.h"

#include <mutex>

#include "llvm/ADT/STLExtras.h"

namespace df {

namespace {

// Those of all runs of the process, and what they know of tensors: a tensor may have copies in several runs, and go on any thread.
std::mutex mutex;
std::vector<DeviceCopies*>& Everywhere() {
  static auto* everywhere = new std::vector<DeviceCopies*>();  // tensors may go at the process's end
  return *everywhere;
}

}  // namespace

DeviceCopies::DeviceCopies(Device& device) : device_(device) {
  std::lock_guard lock(mutex);
  Everywhere().push_back(this);
}

DeviceCopies::~DeviceCopies() {
  FreeAll();
  std::lock_guard lock(mutex);
  std::erase(Everywhere(), this);
  FreeGone();
}

DeviceAddress DeviceCopies::Of(TensorObject& tensor) {
  std::lock_guard lock(mutex);
  FreeGone();
  if (auto it = copies_.find(&tensor); it != copies_.end()) return it->second.address;
  Copy copy{device_.Allocate(tensor.bytes()), tensor.bytes()};
  try {
    device_.Upload(copy.address, tensor.data(), copy.bytes);
    copies_[&tensor] = copy;
  } catch (...) {
    device_.Free(copy.address, copy.bytes);
    throw;
  }
  tensor.NoteCopies();
  return copy.address;
}

bool DeviceCopies::FreeAll() {
  std::lock_guard lock(mutex);
  bool any = !copies_.empty();
  for (const auto& [tensor, copy] : copies_) gone_.push_back(copy);
  copies_.clear();
  FreeGone();
  return any;
}

// On the device's own thread.
void DeviceCopies::FreeGone() {
  for (const Copy& copy : gone_) device_.Free(copy.address, copy.bytes);
  gone_.clear();
}

void ForgetCopies(const TensorObject& tensor) {
  std::lock_guard lock(mutex);
  for (DeviceCopies* all : Everywhere()) {
    auto it = all->copies_.find(&tensor);
    if (it == all->copies_.end()) continue;
    all->gone_.push_back(it->second);
    all->copies_.erase(it);
  }
}

}  // namespace df
