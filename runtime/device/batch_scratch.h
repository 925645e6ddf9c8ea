// runtime/device/batch_scratch.h
//
// A thread's memory for what a batch on the host computes on the way.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "runtime/base/memory.h"

namespace df {

// Memory for what lives as long as the batch; kept from batch to batch.
class Scratch {
 public:
  static constexpr size_t kChunk = 1 << 20;
  char* Take(size_t bytes) {
    bytes = (bytes + 63) / 64 * 64;
    while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size) {
      ++chunk_;
      used_ = 0;
    }
    if (chunk_ == chunks_.size()) {
      size_t size = std::max(bytes, kChunk);
      memory::Charge(size);  // given back at the end of the batch
      charged_ += size;
      chunks_.push_back({std::unique_ptr<char, decltype(&std::free)>(static_cast<char*>(std::aligned_alloc(64, size)), &std::free), size});
      if (!chunks_.back().bytes) memory::RefusedBySystem();
      used_ = 0;
    }
    char* place = chunks_[chunk_].bytes.get() + used_;
    used_ += bytes;
    return place;
  }
  template <typename T>
  T* Array(size_t count) { return reinterpret_cast<T*>(Take(count * sizeof(T))); }
  void Begin() {
    chunk_ = used_ = 0;
    charged_ = 0;
  }
  // Large chunks are not kept.
  void End() {
    while (chunks_.size() > kKept) chunks_.pop_back();
    memory::Discharge(charged_);
    charged_ = 0;
  }

 private:
  static constexpr size_t kKept = 8;
  struct Chunk {
    std::unique_ptr<char, decltype(&std::free)> bytes;
    size_t size;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0, used_ = 0, charged_ = 0;
};

// One batch's use of it.
struct ScratchUse {
  Scratch& scratch;
  explicit ScratchUse(Scratch& of_thread) : scratch(of_thread) { scratch.Begin(); }
  ~ScratchUse() { scratch.End(); }
};
}  // namespace df
