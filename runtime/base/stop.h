// runtime/base/stop.h
//
// How a run ends, and what it may take.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace df {

// Exit codes of the program dfc; the table is in README.md.
enum class Stop : uint8_t {
  Done,         // 0
  Failed,       // 1: the result is an error
  MemoryLimit,  // 3
  FrameLimit,   // 3
  Timeout,      // 3
  Interrupted,  // 130
  Internal,     // 70: a broken invariant; never the user's fault
};

struct Limits {
  uint64_t max_memory = 0;   // bytes of values, frames and tokens; 0: 80% of what the machine or its cgroup has
  uint64_t in_use = 0;       // of them, when the run begins: its inputs, which the calling thread has allocated
  uint64_t max_frames = 0;   // live activations; 0: no limit
  std::chrono::milliseconds timeout{0};  // 0: none
  std::chrono::milliseconds before{0};   // what was used of a longer limit before the run, for the message
  // Set from a signal handler; looked at within 100 ms.
  const std::atomic<bool>* interrupt = nullptr;
};

}  // namespace df
