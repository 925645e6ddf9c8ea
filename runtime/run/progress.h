// runtime/run/progress.h
//
// How far a run has come, for who watches it from another thread: a count that grows while the engine makes steps.
#pragma once

#include <atomic>
#include <cstdint>

namespace df {

// Of the run that goes on on this thread; null: nobody watches.
extern constinit thread_local std::atomic<uint64_t>* watched_steps;

// An engine calls it as often as it looks at its limits, on the thread that runs it.
inline void NoteProgress() {
  if (watched_steps) watched_steps->fetch_add(1, std::memory_order_relaxed);
}

class ProgressScope {
 public:
  explicit ProgressScope(std::atomic<uint64_t>* steps) : before_(watched_steps) { watched_steps = steps; }
  ~ProgressScope() { watched_steps = before_; }
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  std::atomic<uint64_t>* const before_;
};

}  // namespace df
