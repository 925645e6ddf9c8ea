// backends/cuda/memory_pool.h
//
// The card's memory, given out in pieces of few sizes: what is freed is given again at once, since all commands are in one stream and
// those that used it come first. Memory is asked of the card in large parts, which are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/run/device_errors.h"

namespace df::cuda {

class MemoryPool {
 public:
  // Gives at most so many bytes at once.
  explicit MemoryPool(uint64_t most) : most_(most) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // At a multiple of 256 bytes. Throws DeviceFull.
  char* Allocate(size_t bytes);
  void Free(char* piece, size_t bytes) noexcept;
  uint64_t used() const { return used_; }
  uint64_t peak() const { return peak_; }
  uint64_t pieces() const { return pieces_; }

 private:
  static constexpr size_t kPart = 64 << 20;
  static size_t SizeOf(size_t bytes);

  const uint64_t most_;
  uint64_t used_ = 0, peak_ = 0, pieces_ = 0;
  std::unordered_map<size_t, std::vector<char*>> free_;  // by size
  std::vector<char*> parts_;
  char* next_ = nullptr;  // what was not given out yet of the last part of the usual size
  size_t left_ = 0;
};

}  // namespace df::cuda
