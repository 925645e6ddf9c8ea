#include "driver/signals.h"

#include <signal.h>
#include <unistd.h>

namespace df {
namespace {

constexpr int kInterruptedExit = 130;
constexpr int kPatience = 3;  // so many signals without a reaction end the program

std::atomic<bool> flag{false};
std::atomic<bool> terminate_{false};
std::atomic<int> scopes{0};
std::atomic<int> unanswered{0};
std::atomic<const char*> to_remove{nullptr};

void Handle(int signal) {
  if (signal == SIGTERM) terminate_.store(true);
  if (scopes.load() > 0 && unanswered.fetch_add(1) + 1 < kPatience) {
    flag.store(true);
    return;
  }
  if (const char* path = to_remove.load()) ::unlink(path);
  ::_exit(kInterruptedExit);
}

}  // namespace

void InstallSignalHandlers() {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = Handle;  // without SA_RESTART: a REPL that waits for a line must wake up
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &action, nullptr);
}

InterruptScope::InterruptScope() {
  Clear();
  scopes.fetch_add(1);
}

InterruptScope::~InterruptScope() {
  scopes.fetch_sub(1);
  Clear();
}

const std::atomic<bool>* InterruptScope::flag() const { return &df::flag; }

bool InterruptScope::interrupted() const { return df::flag.load(); }

void InterruptScope::Clear() {
  df::flag.store(false);
  unanswered.store(0);
}

bool TerminationRequested() { return terminate_.load(); }

void RemoveOnInterrupt(const char* path) { to_remove.store(path); }

}  // namespace df
