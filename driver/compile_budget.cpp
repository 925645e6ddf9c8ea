#include "driver/compile_budget.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "driver/options.h"
#include "driver/pipeline.h"
#include "llvm/Support/ErrorHandling.h"
#include "runtime/base/memory.h"
#include "runtime/run/limits.h"

namespace df {
namespace {

// Between two looks a phase cannot take much: some megabytes.
constexpr std::chrono::milliseconds kLook{5};
constexpr std::chrono::milliseconds kGrace{250};
constexpr std::chrono::milliseconds kLongGrace{5000};  // a prompt has more to lose
constexpr size_t kReserve = size_t{8} << 20;

// The innermost one of the calling thread.
thread_local constinit CompileBudget* watched = nullptr;

bool AddressesAreLimited() {
  rlimit limit;
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Without allocating.
[[noreturn]] void EndWithoutMemory() {
  char text[200];
  auto end = fmt::format_to_n(text, sizeof text, "error: the system gives no more memory: the process has {} MiB (pass `{}`)\n",
                              memory::Resident() >> 20, PassScope::Current());
  ssize_t ignored = ::write(STDERR_FILENO, text, std::min(end.size, sizeof text));
  static_cast<void>(ignored);
  ::_exit(static_cast<int>(ExitCode::Limit));
}

}  // namespace

// The first time there is room again, for what it takes to get to where a phase looks; the phase is in the middle of a container.
void NoMemoryLeft() {
  if (!watched) memory::RefusedBySystem();
  if (!watched->reserve_) EndWithoutMemory();
  ::munmap(watched->reserve_, kReserve);
  watched->reserve_ = nullptr;
  watched->ended.store(BudgetEnd::System);
}

void InstallMemoryHandlers() {
  std::set_new_handler(NoMemoryLeft);
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { EndWithoutMemory(); });
}

CompileBudget::CompileBudget(const CompileLimits& limits, std::function<void(const std::string&)> give_up, bool patient)
    : limits_(limits), give_up_(std::move(give_up)), patient_(patient), began_(Clock::now()), outer_(watched), scope_(this) {
  most_ = std::max(limits.max_memory ? limits.max_memory : DefaultMemoryLimit(), memory::Resident() + kLeastMemory);
  if (AddressesAreLimited()) {
    reserve_ = ::mmap(nullptr, kReserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserve_ == MAP_FAILED) reserve_ = nullptr;
  }
  watched = this;
  StartThread();
}

// Where the system gives no thread only what it refuses ends the compilation.
void CompileBudget::StartThread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  constexpr size_t kStack = size_t{256} << 10;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  auto watch = [](void* self) -> void* {
    static_cast<CompileBudget*>(self)->Watch();
    return nullptr;
  };
  started_ = pthread_create(&thread_, &attributes, watch, this) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CompileBudget::~CompileBudget() {
  watched = outer_;
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  if (started_) pthread_join(thread_, nullptr);
  if (reserve_) ::munmap(reserve_, kReserve);
}

void CompileBudget::Reported() {
  if (watched) watched->reported_.store(true);
}

std::chrono::milliseconds CompileBudget::spent() const {
  std::lock_guard lock(mutex_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_);
}

BudgetEnd CompileBudget::Look() {
  if (limits_.interrupt && limits_.interrupt->load(std::memory_order_relaxed)) return BudgetEnd::Interrupted;
  if (limits_.timeout.count() > 0 && Clock::now() - began_ >= limits_.timeout) return BudgetEnd::Time;
  return memory::Resident() > most_ ? BudgetEnd::Memory : BudgetEnd::None;
}

void CompileBudget::Watch() {
  Clock::time_point patience{};
  uint64_t enough = 0;  // memory beyond which nothing is waited for
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait_for(lock, kLook, [&] { return over_; });
    if (over_) return;
    if (paused_ || reported_.load() || (patient_ && answered.load())) continue;
    BudgetEnd end = ended.load();
    if (end == BudgetEnd::None) {
      end = Look();
      if (end == BudgetEnd::None) continue;
      ended.store(end);
    }
    if (patience == Clock::time_point()) {
      patience = Clock::now() + (patient_ ? kLongGrace : kGrace);
      enough = std::max(most_, memory::Resident()) + (patient_ ? most_ / 6 : most_ / 16);
    }
    if (give_up_ && end != BudgetEnd::Interrupted && (Clock::now() >= patience || memory::Resident() > enough)) GiveUp(end);
  }
}

void CompileBudget::GiveUp(BudgetEnd end) {
  const char* detail = step.load();
  give_up_(fmt::format("{} while the program is compiled (pass `{}`)", Text(end), detail ? detail : PassScope::Current()));
}

std::string CompileBudget::Text(BudgetEnd end) const {
  switch (end) {
    case BudgetEnd::None: return "";
    case BudgetEnd::Time:
      return fmt::format("the time limit of {} s is reached", static_cast<double>(limits_.timeout.count()) / 1000);
    case BudgetEnd::Memory: return "the memory limit of " + PrintBytes(most_) + " is reached";
    case BudgetEnd::System: return "the system gives no more memory (the process has " + PrintBytes(memory::Resident()) + ")";
    case BudgetEnd::Interrupted: return "interrupted";
  }
  return "";
}

std::string CompileBudget::Hint(BudgetEnd end) const {
  switch (end) {
    case BudgetEnd::Time: return "`--timeout` gives it longer";
    case BudgetEnd::Memory: return "`--max-memory` gives it more";
    default: return "";
  }
}

CompileBudget::Pause::Pause() : paused_(watched), hidden_(budget) {
  if (!paused_) return;
  budget = nullptr;
  std::lock_guard lock(paused_->mutex_);
  paused_->paused_ = true;
  began_ = Clock::now();
}

CompileBudget::Pause::~Pause() {
  if (!paused_) return;
  budget = hidden_;
  std::lock_guard lock(paused_->mutex_);
  if (!hidden_) return;  // within another one
  paused_->paused_ = false;
  paused_->began_ += Clock::now() - began_;
  paused_->most_ = std::max(paused_->most_, memory::Resident() + kLeastMemory);
}

}  // namespace df
