// runtime/device/row_team.h
//
// Threads that share the work of one batch. They take part after part; one that comes late, or is held up, finds that others have done
// it. Between batches they look for work for a moment, and then sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "runtime/base/interruptible_loops.h"

namespace df {

class RowTeam {
 public:
  // With the calling thread so many. The others begin with the first work.
  explicit RowTeam(uint32_t threads) : threads_(threads) {}
  ~RowTeam();
  RowTeam(const RowTeam&) = delete;
  RowTeam& operator=(const RowTeam&) = delete;

  uint32_t threads() const { return threads_; }
  // Calls work(part, whether on the calling thread) for parts 0 to parts - 1, on any threads in any order; throws what one of them threw.
  // Each helper may allocate its share of what the caller may.
  using Work = llvm::function_ref<void(uint32_t part, bool here)>;
  void Run(uint32_t parts, Work work);

 private:
  void Begin();
  void Serve();
  bool TakePart(bool here);

  const uint32_t threads_;
  std::vector<std::thread> helpers_;
  const Work* work_ = nullptr;         // of those parts
  uint64_t available_ = 0;             // bytes for each helper
  Asked asked_ = nullptr;              // whether the caller is to give up
  std::atomic<uint32_t> untaken_{0};   // parts
  std::atomic<uint32_t> unfinished_{0};
  std::atomic<uint32_t> round_{0};     // helpers wait for the next
  std::atomic<bool> ending_{false};
  std::atomic<int64_t> most_{0};       // bytes that a helper had allocated at once
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace df
