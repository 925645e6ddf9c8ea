// runtime/engines/expanding/queue.h
//
// The ready queue of the expanding engine: nodes of copies that have all their operands. A ring that doubles; first in, first
// out as TensorFlow's, or last in, first out, which holds fewer copies at once.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/memory.h"

namespace df::expanding {

struct Instance;

struct Entry {
  Instance* instance;
  uint32_t node;
};

class ReadyQueue {
 public:
  explicit ReadyQueue(bool last_first) : ring_(kFirstSize), last_first_(last_first) {}
  bool empty() const { return begin_ == end_; }
  void Push(Entry entry) {
    if (end_ - begin_ == ring_.size()) Grow();
    ring_[end_++ & (ring_.size() - 1)] = entry;
  }
  Entry Pop() { return ring_[(last_first_ ? --end_ : begin_++) & (ring_.size() - 1)]; }

 private:
  static constexpr size_t kFirstSize = 256;  // a power of two, as all sizes
  using Ring = std::vector<Entry, memory::Allocator<Entry>>;

  void Grow() {
    Ring wider(2 * ring_.size());
    size_t count = 0;
    for (uint64_t i = begin_; i != end_; ++i) wider[count++] = ring_[i & (ring_.size() - 1)];
    ring_ = std::move(wider);
    begin_ = 0;
    end_ = count;
  }

  Ring ring_;
  uint64_t begin_ = 0, end_ = 0;
  bool last_first_;
};

}  // namespace df::expanding
