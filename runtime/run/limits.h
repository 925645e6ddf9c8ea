// runtime/run/limits.h
//
// The limits of a run: memory, live activations, time, Ctrl-C. Both engines call `Check` every few hundred
// steps; memory is refused where it is allocated (runtime/base/memory.h), for which the engine holds a
// memory::LimitScope while it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/run/engine.h"

namespace df {

// 80% of the least of: the machine's memory, the limits of the process's control groups (version 1 and 2). `root` stands
// before the names of the system's files, for tests.
uint64_t DefaultMemoryLimit(const std::string& root = "");

// As many threads as processors that the process may use: by its affinity, and by the quotas of its control groups, rounded up.
uint32_t DefaultThreads(const std::string& root = "");
inline constexpr uint32_t kMostThreads = 256;

// "512 MiB", "1.5 GiB".
std::string PrintBytes(uint64_t bytes);

class LimitCheck {
 public:
  // The time starts to count now, the memory and its peak from what this thread has in use now, but for Limits::in_use.
  explicit LimitCheck(const Limits& limits);

  // Stop::Done if the run may go on.
  Stop Check(uint64_t live_frames) const {
    if (interrupt_ && interrupt_->load(std::memory_order_relaxed)) return Stop::Interrupted;
    if (live_frames > max_frames_) return Stop::FrameLimit;
    if (has_deadline_ && std::chrono::steady_clock::now() >= deadline_) return Stop::Timeout;
    return Stop::Done;
  }

  uint64_t max_memory() const { return max_memory_; }
  int64_t base() const { return base_; }
  // What Outcome::detail says: "the memory limit of 2 GiB is reached".
  std::string Detail(Stop stop) const;

 private:
  const std::atomic<bool>* interrupt_;
  uint64_t max_frames_;
  uint64_t max_memory_;
  int64_t base_;
  bool has_deadline_;
  std::chrono::milliseconds timeout_, before_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace df
