// runtime/device/device_copies.h
//
// Copies, on a device, of tensors that the host has: weights go over once, not for each batch. A copy is freed when its tensor goes
// or is about to be written, at the latest with this object.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "runtime/device/device.h"
#include "runtime/value/tensor.h"

namespace df {

class DeviceCopies {
 public:
  explicit DeviceCopies(Device& device);
  ~DeviceCopies();
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  // The address of a copy of the tensor, which the host has; made if there is none. Throws DeviceFull.
  DeviceAddress Of(TensorObject& tensor);
  // Frees all. False if there were none.
  bool FreeAll();

 private:
  friend void ForgetCopies(const TensorObject& tensor);
  struct Copy {
    DeviceAddress address;
    size_t bytes;
  };
  void FreeGone();

  Device& device_;
  llvm::DenseMap<const TensorObject*, Copy> copies_;
  std::vector<Copy> gone_;  // their tensors went; any thread may have been the last holder
};

// For a tensor that has copies somewhere.
void ForgetCopies(const TensorObject& tensor);

}  // namespace df
