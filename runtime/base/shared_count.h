// runtime/base/shared_count.h
//
// Counts of holders. Most runs have one thread, and most of the time of the others too: then a count is a plain number.
// While some run has given work to a second worker, all counts change atomically. The test for it is a branch that is
// always predicted; the C++ library treats its shared pointers the same way.
//
// `Sharing` changes only at moments when no other worker of the run touches any count: before work is given away, and when
// all others have none left (docs/parallel.md). So both ways of counting are never in use at once on one object.
#pragma once

#include <atomic>
#include <cstdint>

namespace df {

namespace shared_count {

// Runs of this process whose values are in use by more than one thread.
extern constinit std::atomic<uint32_t> sharing_runs;

}  // namespace shared_count

inline bool Sharing() { return shared_count::sharing_runs.load(std::memory_order_relaxed) != 0; }

class SharedCount {
 public:
  constexpr explicit SharedCount(uint32_t count) : count_(count) {}

  void Retain() {
    if (Sharing()) [[unlikely]] __atomic_fetch_add(&count_, 1, __ATOMIC_RELAXED);
    else ++count_;
  }
  // True: that was the last holder, and what others did with the object has happened.
  bool Drop() {
    if (!Sharing()) [[likely]] return --count_ == 0;
    return DropShared();
  }
  // The same where Sharing() is known to be false.
  void RetainAlone() { ++count_; }
  bool DropAlone() { return --count_ == 0; }
  // Nobody but the caller holds it.
  bool IsOne() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE) == 1; }

  // For a collector, while nothing else runs.
  uint32_t& raw() { return count_; }

 private:
  bool DropShared() {
    // The only holder needs no atomic change: nobody else could make another.
    if (IsOne()) {
      count_ = 0;
      return true;
    }
    return __atomic_fetch_sub(&count_, 1, __ATOMIC_ACQ_REL) == 1;
  }

  uint32_t count_;
};

}  // namespace df
