// Threads, mailboxes, and the end of a run on several threads.
#include "runtime/engines/tagged/exec/team.h"

#include <pthread.h>
#include <signal.h>

#include "runtime/base/long_operation.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

// ---------------------------------------------------------------- mailboxes

Mailbox::~Mailbox() {
  for (Message* message = TakeAll(); message;) delete std::exchange(message, message->next);
}

void Mailbox::Put(std::unique_ptr<Message> message) {
  Message* put = message.release();
  put->next = mail_.load(std::memory_order_relaxed);
  while (!mail_.compare_exchange_weak(put->next, put)) {
  }
  if (idle.load()) Wake();  // it looks at its mail after it has said that it is idle
}

Message* Mailbox::TakeAll() {
  Message* newest = mail_.exchange(nullptr);
  Message* oldest = nullptr;
  while (newest) {
    Message* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

bool Mailbox::Ask(Asker* thief) {
  Asker* nobody = nullptr;
  return asking_.compare_exchange_strong(nobody, thief);
}

bool Mailbox::Retract(Asker* thief) { return asking_.compare_exchange_strong(thief, nullptr); }

void Mailbox::Sleep(std::chrono::microseconds longest) {
  std::unique_lock lock(mutex_);
  condition_.wait_for(lock, longest, [this] { return woken_; });
  woken_ = false;
}

void Mailbox::Wake() {
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  condition_.notify_one();
}

// ---------------------------------------------------------------- threads

namespace {

// Ends what a worker stands in that looks at nothing (long_operation.h). The signal is ignored unless somebody handles it, and
// means nothing by itself: other run-time systems use it for the same purpose.
constexpr int kGiveUpSignal = SIGURG;

void HandleGiveUp(int) { AbortLongOperation(Stop::Interrupted); }

void InstallGiveUpHandler() {
  static const bool installed = [] {
    struct sigaction action = {};
    sigemptyset(&action.sa_mask);
    action.sa_handler = HandleGiveUp;
    action.sa_flags = SA_RESTART;
    return ::sigaction(kGiveUpSignal, &action, nullptr) == 0;
  }();
  static_cast<void>(installed);
}

}  // namespace

Team::Team(TaggedExecution& execution, Worker& first, uint32_t threads, memory::Budget& budget)
    : execution_(execution), first_(first), budget_(budget) {
  InstallGiveUpHandler();
  for (uint32_t i = 1; i < threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(execution, i));
    workers_.back()->team = this;
    workers_.back()->mailbox.idle.store(true);
  }
  starts_.reserve(threads);
  threads_.reserve(threads);
  first.team = this;  // nothing fails from here on
  // Signals are for the thread that began the run.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, kGiveUpSignal);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // Not the stack that the shell allows for programs that recurse, which may be tiny or huge: a worker does not.
  constexpr size_t kStack = size_t{4} << 20;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStack);
  for (uint32_t i = 1; i < threads; ++i) {
    BeginWork();
    {
      std::lock_guard lock(mutex_);
      ++unsafe_;
    }
    starts_.push_back({this, i, &budget});
    auto serve = [](void* given) -> void* {
      auto* start = static_cast<Start*>(given);
      start->team->Serve(start->team->worker(start->index), start->index, *start->budget);
      return nullptr;
    };
    pthread_t thread;
    if (::pthread_create(&thread, &attributes, serve, &starts_.back()) == 0) {
      threads_.push_back(thread);
      continue;
    }
    active_.fetch_sub(1);  // as many as there can be
    std::lock_guard lock(mutex_);
    --unsafe_;
    break;
  }
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool Worker::Unreleased::Take(DeadObjects& left) {
  if (has_kept || !worker.team->ending()) return false;
  left.MoveTo(kept);
  return has_kept = true;
}

void Team::Serve(Worker& worker, uint32_t index, memory::Budget& budget) {
  memory::TakeOverSmallBlocks();
  budget.Join(index, memory::counters.current);
  Worker::helper = &worker;
  DeadObjects::WatchScope watch(&worker.unreleased);
  try {
    tagged::Serve(worker);
  } catch (...) {
    memory::LimitScope unlimited(0, UINT64_MAX);  // to say so
    RuntimeError where;
    try {
      worker.Where(where);
    } catch (const std::bad_alloc&) {
      where = {};
    }
    Fail(std::current_exception(), std::move(where));
  }
  Worker::helper = nullptr;
  memory::HandOverSmallBlocks();
  ended_.fetch_add(1);
}

void Team::End(llvm::function_ref<void()> late) {
  constexpr auto kPatience = std::chrono::milliseconds(30);
  auto began = std::chrono::steady_clock::now();
  ending_.store(true);
  {
    std::lock_guard lock(mutex_);
    hold_up_.store(false);
  }
  safe_changed_.notify_all();
  for (auto& worker : workers_) worker->mailbox.Wake();
  // Whoever does not come soon stands in a long operation, or is about to begin one.
  for (auto wait = std::chrono::microseconds(500); ended_.load() < threads_.size();) {
    std::this_thread::sleep_for(wait);
    if (ended_.load() == threads_.size()) break;
    for (pthread_t thread : threads_) ::pthread_kill(thread, kGiveUpSignal);
    wait = std::chrono::milliseconds(5);
    if (std::chrono::steady_clock::now() - began > kPatience) late();
  }
  for (pthread_t thread : threads_) ::pthread_join(thread, nullptr);
  threads_.clear();
  ended_.store(0);
  if (sharing_.exchange(false)) shared_count::sharing_runs.fetch_sub(1);
}

void Team::Send(Worker& to, std::unique_ptr<Message> message) {
  if (!sharing_.load(std::memory_order_relaxed) && !sharing_.exchange(true)) shared_count::sharing_runs.fetch_add(1);
  active_.fetch_add(1);
  to.mailbox.Put(std::move(message));
}

Team::~Team() {
  if (far_) far_->End();
  End();
}

void Team::Join(Peers& peers, FarLimits limits, uint64_t seed, bool shares) {
  far_ = std::make_unique<Far>(peers, *this, execution_.program(), first_.graph, limits, seed, shares);
  for (uint32_t i = 0; i < size(); ++i) worker(i).received = std::make_unique<ReceivedObjects>(far_->types().types);
  joined_.store(far_.get(), std::memory_order_release);
  far_->Begin();
}

void Team::Leave(Worker& to, std::unique_ptr<Message> message) {
  active_.fetch_add(1);
  to.mailbox.Put(std::move(message));
}

bool Team::AskAt(Worker& worker, FarPeer& peer) {
  if (worker.mailbox.idle.load() || !worker.mailbox.Ask(&peer)) return false;
  // Nobody answers there any more.
  return !worker.mailbox.idle.load() || !worker.mailbox.Retract(&peer);
}

void Team::WakeAll() {
  for (uint32_t i = 0; i < size(); ++i) worker(i).mailbox.Wake();
}

void Team::EndWork(const Worker* by) {
  // Who finds nothing to do looks whether all have ended before it sleeps; woken by itself it would not sleep.
  if ((active_.fetch_sub(1) & (kAway - 1)) == 1 && by != &first_) first_.mailbox.Wake();
}

// What is away comes back to a worker whose values others may hold.
void Team::EndSharingIfAlone() {
  if (!sharing_.load(std::memory_order_relaxed) || active_.load() != 1) return;
  sharing_.store(false);
  shared_count::sharing_runs.fetch_sub(1);
}

void Team::Fail(std::exception_ptr error, RuntimeError where) {
  {
    std::lock_guard lock(mutex_);
    if (ending() || failed()) return;
    error_ = std::move(error);
    where_ = std::move(where);
    failed_.store(true, std::memory_order_release);
  }
  first_.mailbox.Wake();
}

// ---------------------------------------------------------------- holding up

void Team::EnterSafe() {
  {
    std::lock_guard lock(mutex_);
    --unsafe_;
  }
  safe_changed_.notify_all();
}

void Team::LeaveSafe() {
  std::unique_lock lock(mutex_);
  safe_changed_.wait(lock, [this] { return !hold_up_.load(); });
  ++unsafe_;
}

bool Team::HoldUp() {
  // Whoever stands in a long operation is not waited for: the next time, then.
  constexpr auto kPatience = std::chrono::milliseconds(5);
  std::unique_lock lock(mutex_);
  hold_up_.store(true);
  if (safe_changed_.wait_for(lock, kPatience, [this] { return unsafe_ == 0; })) return true;
  hold_up_.store(false);
  lock.unlock();
  safe_changed_.notify_all();
  return false;
}

void Team::LetGo() {
  {
    std::lock_guard lock(mutex_);
    hold_up_.store(false);
  }
  safe_changed_.notify_all();
}

// ---------------------------------------------------------------- what is known of cells besides

void Team::AddWaiter(DelayCell* cell, Worker* worker, Waiter waiter) {
  std::lock_guard lock(mutex_);
  waiters_[cell].push_back({worker, waiter});
}

std::vector<std::pair<Worker*, Waiter>> Team::TakeWaiters(DelayCell* cell) {
  std::lock_guard lock(mutex_);
  auto it = waiters_.find(cell);
  if (it == waiters_.end()) return {};
  auto waiters = std::move(it->second);
  waiters_.erase(it);
  return waiters;
}

void Team::SetLateBody(DelayCell* cell, Worker* worker) {
  std::lock_guard lock(mutex_);
  late_bodies_[cell] = worker;
}

Worker* Team::LateBody(DelayCell* cell) {
  std::lock_guard lock(mutex_);
  auto it = late_bodies_.find(cell);
  return it == late_bodies_.end() ? nullptr : it->second;
}

void Team::ForgetLateBody(DelayCell* cell) {
  std::lock_guard lock(mutex_);
  late_bodies_.erase(cell);
}

}  // namespace df::tagged
