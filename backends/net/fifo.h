// backends/net/fifo.h
//
// A queue that keeps its memory: std::deque takes and gives back a block for each few entries.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace df::net {

template <typename T>
class Fifo {
 public:
  bool empty() const { return first_ == entries_.size(); }
  size_t size() const { return entries_.size() - first_; }
  T& front() { return entries_[first_]; }
  const T& front() const { return entries_[first_]; }
  T& back() { return entries_.back(); }
  T& operator[](size_t index) { return entries_[first_ + index]; }

  T& push_back(T entry) {
    entries_.push_back(std::move(entry));
    return entries_.back();
  }
  // Removes the first entry, and gives it.
  T Pop() {
    T entry = std::move(entries_[first_]);
    if (++first_ == entries_.size()) {
      entries_.clear();
      first_ = 0;
      if (entries_.capacity() > kKept) entries_.shrink_to_fit();
    } else if (first_ >= kKept && first_ >= entries_.size() / 2) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return entry;
  }

 private:
  static constexpr size_t kKept = 1024;

  std::vector<T> entries_;
  size_t first_ = 0;
};

}  // namespace df::net
