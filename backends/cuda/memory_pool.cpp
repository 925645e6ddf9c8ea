#include "backends/cuda/memory_pool.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "backends/cuda/memory.h"
#include "runtime/device/device.h"
#include "runtime/run/limits.h"

namespace df::cuda {

MemoryPool::~MemoryPool() {
  for (char* part : parts_) FreeMemory(part);
}

// Four sizes between a power of two and the next, so that at most a fifth is lost.
size_t MemoryPool::SizeOf(size_t bytes) {
  bytes = std::max<size_t>(bytes, 256);
  size_t step = std::max<size_t>(std::bit_floor(bytes) / 4, 256);
  return (bytes + step - 1) / step * step;
}

char* MemoryPool::Allocate(size_t bytes) {
  size_t size = SizeOf(bytes);
  if (bytes > most_ || size > most_ - used_) throw DeviceFull(fmt::format("the memory limit of {} of the cuda device is reached", PrintBytes(most_)));
  char* piece;
  if (auto& free = free_[size]; !free.empty()) {
    piece = free.back();
    free.pop_back();
  } else if (size > kPart / 4) {
    parts_.reserve(parts_.size() + 1);
    piece = AllocateMemory(size);
    parts_.push_back(piece);
  } else {
    if (size > left_) {
      parts_.reserve(parts_.size() + 1);
      next_ = AllocateMemory(kPart);
      parts_.push_back(next_);
      left_ = kPart;
    }
    piece = next_;
    next_ += size;
    left_ -= size;
  }
  used_ += size;
  ++pieces_;
  peak_ = std::max(peak_, used_);
  return piece;
}

void MemoryPool::Free(char* piece, size_t bytes) noexcept {
  size_t size = SizeOf(bytes);
  free_[size].push_back(piece);
  used_ -= size;
  --pieces_;
}

}  // namespace df::cuda
