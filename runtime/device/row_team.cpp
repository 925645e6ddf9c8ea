#include "runtime/device/row_team.h"

#include <signal.h>

#include <chrono>

#include "runtime/base/memory.h"
#include "runtime/base/raise_to.h"

namespace df {

namespace {

// How long a thread looks for what is about to come before it sleeps: some times what waking it costs.
constexpr std::chrono::microseconds kPatience{30};

template <typename Done>
bool Await(Done done) {
  auto began = std::chrono::steady_clock::now();
  for (uint32_t i = 0;; ++i) {
    if (done()) return true;
    if (i % 64 == 63 && std::chrono::steady_clock::now() - began > kPatience) return false;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

}  // namespace

RowTeam::~RowTeam() {
  ending_.store(true);
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

// Helpers take no signals: these are for the thread that runs. Without them, if the system gives none, the work is done all the same.
void RowTeam::Begin() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (helpers_.size() + 1 < threads_) helpers_.emplace_back([this] { Serve(); });
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void RowTeam::Serve() {
  memory::TakeOverSmallBlocks();
  for (uint32_t seen = 0; !ending_.load();) {
    while (TakePart(false)) {}
    auto next = [&] { return round_.load() != seen; };
    if (!Await(next)) round_.wait(seen);
    seen = round_.load();
  }
  memory::HandOverSmallBlocks();
}

// A part that is taken is unfinished, so what it belongs to stays.
bool RowTeam::TakePart(bool here) {
  uint32_t left = untaken_.load();
  do
    if (left == 0) return false;
  while (!untaken_.compare_exchange_weak(left, left - 1));
  try {
    if (here) {
      (*work_)(left - 1, true);
    } else {
      memory::Counters& counters = memory::counters;
      counters.peak = counters.current;
      memory::LimitScope scope(counters.current, available_);
      WorkFor caller(asked_);
      int64_t before = counters.current;
      (*work_)(left - 1, false);
      RaiseTo(most_, counters.peak - before);
    }
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
  if (unfinished_.fetch_sub(1) == 1) unfinished_.notify_one();
  return true;
}

void RowTeam::Run(uint32_t parts, Work work) {
  if (helpers_.empty()) Begin();
  work_ = &work;
  available_ = memory::Available() / threads_;
  asked_ = WhatIAmAsked();
  most_.store(0);
  error_ = nullptr;
  unfinished_.store(parts);
  untaken_.store(parts);
  round_.fetch_add(1);
  round_.notify_all();
  while (TakePart(true)) {}
  auto finished = [&] { return unfinished_.load() == 0; };
  if (!Await(finished))
    for (uint32_t left; (left = unfinished_.load()) != 0;) unfinished_.wait(left);
  memory::Counters& counters = memory::counters;
  counters.peak = std::max(counters.peak, counters.current + most_.load() * static_cast<int64_t>(helpers_.size()));
  if (error_) std::rethrow_exception(error_);
}

}  // namespace df
