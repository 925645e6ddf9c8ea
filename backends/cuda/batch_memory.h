// backends/cuda/batch_memory.h
//
// What one batch, or sum, takes of the card's memory while its kernels are launched: room for values on the way, and arrays of the host's that the kernels
// read. Commands are a queue, so it is free again for those that come later when the last was launched.
#pragma once

#include <utility>
#include <vector>

#include "backends/cuda/device.h"

namespace df::cuda {

class BatchMemory {
 public:
  explicit BatchMemory(CudaDevice& device) : device_(device) { device_.staging().Begin(); }
  ~BatchMemory() {
    for (auto [piece, bytes] : scratch_) device_.Free(piece, bytes);
  }
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;

  char* Scratch(size_t bytes) {
    scratch_.reserve(scratch_.size() + 1);
    char* piece = device_.Allocate(bytes);
    scratch_.emplace_back(piece, bytes);
    return piece;
  }
  // An array of the host's on the card, once SendAll was called.
  template <typename T>
  const T* Send(const T* array, size_t count) {
    const size_t bytes = count * sizeof(T);
    char* on_card;
    if (char* room = device_.staging().Take(bytes, &on_card)) {
      std::memcpy(room, array, bytes);
    } else {
      on_card = Scratch(bytes);
      CopyToCard(on_card, array, bytes, device_.stream());
    }
    return reinterpret_cast<const T*>(on_card);
  }
  void SendAll() { device_.staging().Send(); }

 private:
  CudaDevice& device_;
  std::vector<std::pair<char*, size_t>> scratch_;
};

}  // namespace df::cuda
