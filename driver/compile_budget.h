// driver/compile_budget.h
//
// The limits of a compilation, watched by a thread of their own: `--timeout` and `--max-memory` hold for a stranger's source as
// they do for a stranger's graph (docs/running.md). The phases look at a flag (lang/budget.h); Pipeline turns the
// exception into a diagnostic, so that a prompt and other callers go on. A program that ends anyway can be ended by the
// thread itself where a phase does not look for too long.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "lang/budget.h"

namespace df {

struct CompileLimits {
  std::chrono::milliseconds timeout{0};  // 0: none
  uint64_t max_memory = 0;               // bytes of the whole process; 0: 80% of what the machine or its cgroup has
  const std::atomic<bool>* interrupt = nullptr;  // set by Ctrl-C at a prompt
};

class CompileBudget final : public Budget {
 public:
  using Clock = std::chrono::steady_clock;

  // Holds for the calling thread while it lives; the time begins now. `give_up`, if there is one, is called from another thread with the
  // whole message if no phase reacts for half a second, or memory goes on growing: it ends the process.
  // With `patient` it is not called while the phases are being left, which takes its time where they had gone deep.
  explicit CompileBudget(const CompileLimits& limits, std::function<void(const std::string&)> give_up = nullptr, bool patient = false);
  ~CompileBudget() override;

  std::string Text(BudgetEnd end) const override;
  std::string Hint(BudgetEnd end) const override;

  // What happened has been said, of the calling thread's budget: it would be silent now.
  static void Reported();

  // How much of the time is used.
  std::chrono::milliseconds spent() const;

  // While one lives nothing is counted and nothing is ended: the library's modules are dfc's own.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    CompileBudget* const paused_;
    Budget* const hidden_;
    Clock::time_point began_;
  };

  // Small programs compile whatever the limit: so much may come on top of what the process has when the compilation begins.
  static constexpr uint64_t kLeastMemory = uint64_t{32} << 20;

 private:
  void Watch();
  // What is used up; None if nothing is.
  BudgetEnd Look();
  void GiveUp(BudgetEnd end);
  void StartThread();

  const CompileLimits limits_;
  const std::function<void(const std::string&)> give_up_;
  const bool patient_;
  std::atomic<bool> reported_{false};
  uint64_t most_;          // bytes that the process may have
  void* reserve_ = nullptr;  // addresses that are given back when there are no more
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool paused_ = false;
  Clock::time_point began_;  // later by what was paused
  pthread_t thread_ = {};
  bool started_ = false;
  CompileBudget* const outer_;
  BudgetScope scope_;

  friend void NoMemoryLeft();
};

// From now on an allocation that the system refuses ends a compilation as a limit does, or the process with a message that says
// what was reached. A run has its own way (runtime/run/limits.h).
void InstallMemoryHandlers();

}  // namespace df
