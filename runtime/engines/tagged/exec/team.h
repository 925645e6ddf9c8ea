// runtime/engines/tagged/exec/team.h
//
// Several workers of one run: how they hand over work, and what one has to tell another. Private to the tagged engine;
// docs/parallel.md explains.
//
// A worker's frames, stack and pools are its own. Others reach it in two ways only: they leave messages in its mailbox, and one
// at a time may ask it for work. It looks at both when it has nothing to do, and otherwise every 1024 steps, where it looks at
// the limits anyway. So calls that nobody steals cost nothing.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/far.h"

namespace df::tagged {

class Team {
 public:
  // The threads begin to look for work at once.
  Team(TaggedExecution& execution, Worker& first, uint32_t threads, memory::Budget& budget);
  // All threads have ended.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(workers_.size()) + 1; }
  Worker& worker(uint32_t index) { return index == 0 ? first_ : *workers_[index - 1]; }

  // Ends the threads, whatever they are doing. Their workers stay as they are. Now and then `late` is called while they are not
  // there after some time.
  void End(llvm::function_ref<void()> late = [] {});
  bool running() const { return !threads_.empty(); }
  bool ending() const { return ending_.load(std::memory_order_relaxed); }

  // Whoever sends work to do. From now on values are shared.
  void Send(Worker& to, std::unique_ptr<Message> message);

  // The thread of the peers leaves a message of another process, which has no value in it. The receiver works until it has read it.
  void Leave(Worker& to, std::unique_ptr<Message> message);
  // It asks at this one's mailbox for another process. False: there is nothing to have.
  bool AskAt(Worker& worker, FarPeer& peer);
  void WakeAll();
  // Null until other processes take part; any thread.
  Far* far() const { return joined_.load(std::memory_order_acquire); }
  // Other processes take part from now on.
  void Join(Peers& peers, FarLimits limits, uint64_t seed, bool shares);
  // The most that all had together, as far as it is known.
  uint64_t peak_memory() const { return static_cast<uint64_t>(std::max<int64_t>(0, budget_.peak())); }

  // Workers that have something to do, and messages on their way. The first worker has while it is not in a run.
  void BeginWork() { active_.fetch_add(1); }
  void EndWork(const Worker* by = nullptr);
  int64_t active() const { return active_.load() & (kAway - 1); }
  // Calls that other processes have. They begin and end while their worker has something to do.
  void BeginAway() { active_.fetch_add(kAway); }
  void EndAway() { active_.fetch_sub(kAway); }
  bool AnyAway() const { return active_.load() >= kAway; }
  // By the only one who has something to do: nobody else looks at any value until it gives work away.
  void EndSharingIfAlone();

  // A worker has failed: the run is over. The first worker throws what was thrown.
  void Fail(std::exception_ptr error, RuntimeError where);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  [[noreturn]] void Rethrow() const { std::rethrow_exception(error_); }
  const RuntimeError& where() const { return where_; }

  // While the first worker holds them up no other touches a value or frame. Between these a worker may be held up.
  void EnterSafe();
  void LeaveSafe();
  // False if the run is over.
  bool HoldUp();
  void LetGo();
  bool wants_hold_up() const { return hold_up_.load(std::memory_order_relaxed); }

  // Forces that wait for a cell that a worker other than their own may fill.
  void AddWaiter(DelayCell* cell, Worker* worker, Waiter waiter);
  std::vector<std::pair<Worker*, Waiter>> TakeWaiters(DelayCell* cell);
  // Who runs the body of a cell that began before all operands had come.
  void SetLateBody(DelayCell* cell, Worker* worker);
  Worker* LateBody(DelayCell* cell);
  void ForgetLateBody(DelayCell* cell);

 private:
  void Serve(Worker& worker, uint32_t index, memory::Budget& budget);

  TaggedExecution& execution_;
  Worker& first_;
  memory::Budget& budget_;
  std::vector<std::unique_ptr<Worker>> workers_;  // the others
  std::unique_ptr<Far> far_;
  std::atomic<Far*> joined_{nullptr};             // far_, as others may see it
  struct Start {
    Team* team;
    uint32_t index;
    memory::Budget* budget;
  };
  std::vector<Start> starts_;                     // of the threads
  std::vector<pthread_t> threads_;
  std::atomic<uint32_t> ended_{0};                // threads
  std::atomic<bool> ending_{false};
  static constexpr int64_t kAway = int64_t{1} << 32;
  std::atomic<int64_t> active_{1};                // in one number, so that both are seen at one moment
  std::atomic<bool> sharing_{false};
  std::mutex mutex_;                              // of all that follows
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  RuntimeError where_;
  std::condition_variable safe_changed_;
  std::atomic<bool> hold_up_{false};
  uint32_t unsafe_ = 0;                           // workers that may touch values
  std::unordered_map<DelayCell*, std::vector<std::pair<Worker*, Waiter>>> waiters_;
  std::unordered_map<DelayCell*, Worker*> late_bodies_;
};

// The first worker, then the others.
template <typename Visit>
void TaggedExecution::ForEachWorker(Visit visit) const {
  visit(*worker_);
  for (uint32_t i = 1; team_ && i < team_->size(); ++i) visit(team_->worker(i));
}

}  // namespace df::tagged
