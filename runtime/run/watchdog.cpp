// The watchdog's thread.
#include "runtime/run/watchdog.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <system_error>

#include "runtime/run/limits.h"

namespace df {

Watchdog::Watchdog(const Limits& limits, std::function<void(Stop, const std::string&)> give_up,
                   std::chrono::milliseconds grace, std::chrono::milliseconds again)
    : give_up_(std::move(give_up)) {
  if (limits.timeout.count() <= 0 && !limits.interrupt) return;
  watch_ = [this, limits, grace, again] { Watch(limits, grace, again); };
  // Signals are for the threads that run something.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Not the usual stack, which may be more than is left of the address space.
  constexpr size_t kStack = size_t{256} << 10;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  auto watch = [](void* dog) -> void* {
    static_cast<Watchdog*>(dog)->watch_();
    return nullptr;
  };
  int failed = pthread_create(&thread_, &attributes, watch, this);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed) throw std::system_error(failed, std::generic_category());
  started_ = true;
}

Watchdog::~Watchdog() {
  if (!started_) return;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_condition_.notify_one();
  pthread_join(thread_, nullptr);
}

void Watchdog::Watch(Limits limits, std::chrono::milliseconds grace, std::chrono::milliseconds again) {
  using Clock = std::chrono::steady_clock;
  // How often the flag is looked at.
  const auto glance = std::clamp(grace, std::chrono::milliseconds(20), std::chrono::milliseconds(100));
  const Clock::time_point deadline = Clock::now() + limits.timeout;
  // No default memory limit is needed here: only the texts and the deadline.
  limits.max_memory = limits.max_frames = 1;
  const LimitCheck check(limits);
  std::optional<Clock::time_point> patience;
  Stop reason = Stop::Done;
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (patience && Clock::now() >= *patience) {
      give_up_(reason, check.Detail(reason));
      if (again.count() == 0) return;
      patience = Clock::now() + again;
    }
    if (!patience && (reason = check.Check(0)) != Stop::Done) patience = Clock::now() + grace;
    Clock::time_point next = Clock::now() + glance;
    if (patience) next = std::min(next, *patience);
    else if (limits.timeout.count() > 0) next = std::min(next, deadline + std::chrono::milliseconds(1));
    ended_condition_.wait_until(lock, next);
  }
}

}  // namespace df
