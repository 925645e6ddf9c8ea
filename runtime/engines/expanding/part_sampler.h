// runtime/engines/expanding/part_sampler.h
//
// Where the time of a run goes, by parts of an engine: the run says which part it is in, one store, and a second thread looks
// every so often. Clocks read at each change would cost more than the parts themselves.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace df {

// `Part` is an enum from 0 with kCount at its end.
template <typename Part>
class PartSampler {
 public:
  static constexpr size_t kParts = static_cast<size_t>(Part::kCount);

  explicit PartSampler(bool on) {
    if (!on) return;
    // Signals are for the threads that run something.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { Look(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~PartSampler() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
    }
    condition_.notify_one();
    thread_.join();
  }
  PartSampler(const PartSampler&) = delete;
  PartSampler& operator=(const PartSampler&) = delete;

  // The run is in this part from now on; kCount: in none.
  void Enter(Part part) { now_.store(static_cast<uint8_t>(part), std::memory_order_relaxed); }

  // Of the looks that found the run in some part; all 0 if there were none.
  std::array<double, kParts> Shares() const {
    std::array<double, kParts> shares{};
    uint64_t all = 0;
    for (const auto& count : looks_) all += count.load(std::memory_order_relaxed);
    for (size_t i = 0; all && i < kParts; ++i)
      shares[i] = static_cast<double>(looks_[i].load(std::memory_order_relaxed)) / static_cast<double>(all);
    return shares;
  }

 private:
  void Look() {
    constexpr auto kPeriod = std::chrono::microseconds(237);  // no multiple of the system's own ticks
    std::unique_lock lock(mutex_);
    while (!condition_.wait_for(lock, kPeriod, [this] { return ended_; })) {
      size_t part = now_.load(std::memory_order_relaxed);
      if (part < kParts) looks_[part].fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::atomic<uint8_t> now_{static_cast<uint8_t>(Part::kCount)};
  std::array<std::atomic<uint64_t>, kParts> looks_{};
  std::mutex mutex_;
  std::condition_variable condition_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace df
