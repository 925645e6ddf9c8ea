#include "driver/system/signals.h"

#include "driver/evaluate.h"

#include <signal.h>
#include <unistd.h>

#include "runtime/base/long_operation.h"

namespace df {
namespace {

constexpr int kInterruptedExit = 130;
constexpr int kPatience = 3;  // so many signals without a reaction end the program

std::atomic<bool> flag{false};
std::atomic<bool> terminate_{false};
std::atomic<int> scopes{0};
std::atomic<int> unanswered{0};
std::atomic<int> at_once{0};  // EndAtOnceScopes
std::atomic<const char*> to_remove{nullptr};

// An engine ends its run in less, unless it stands in one operation.
constexpr std::chrono::milliseconds kReaction{20};

void Handle(int signal) {
  if (signal == SIGALRM) {
    AbortLongOperation(flag.load() ? Stop::Interrupted : Stop::Timeout);
    return;
  }
  if (signal != SIGINT) terminate_.store(true);
  // Those that are pressed again for want of patience; the others come more than once by themselves.
  const bool impatient = (signal == SIGINT || signal == SIGTERM) && unanswered.fetch_add(1) + 1 >= kPatience;
  if (scopes.load() > 0 && at_once.load() == 0 && !impatient) {
    flag.store(true);
    AbortLongOperation(Stop::Interrupted);  // may not return
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
  ::sigaction(SIGALRM, &action, nullptr);
  // A terminal that is gone, and processor time that is used up, are no reasons to lose what was computed. `nohup` has the first ignored.
  for (int signal : {SIGHUP, SIGXCPU}) {
    struct sigaction before;
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &action, nullptr);
  action.sa_handler = SIG_IGN;  // a file that would be larger than is allowed cannot be written
  ::sigaction(SIGXFSZ, &action, nullptr);
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

EndAtOnceScope::EndAtOnceScope() { at_once.fetch_add(1); }
EndAtOnceScope::~EndAtOnceScope() { at_once.fetch_sub(1); }

ClosedPipeScope::ClosedPipeScope() { ::signal(SIGPIPE, SIG_IGN); }
ClosedPipeScope::~ClosedPipeScope() { ::signal(SIGPIPE, SIG_DFL); }

void EndByClosedPipe() {
  ::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
  ::_exit(128 + SIGPIPE);  // it is blocked
}

// Again and again: a signal that comes just before a wait does not end it.
RunTimer::RunTimer(const Limits& limits)
    : dog_(limits, [thread = ::pthread_self()](Stop, const std::string&) { ::pthread_kill(thread, SIGALRM); }, kReaction,
           kReaction) {}

LastResort::LastResort(const Limits& limits, std::chrono::milliseconds grace, std::function<std::string()> doing)
    : doing_(std::move(doing)),
      dog_(limits,
           [this](Stop stop, const std::string& text) {
             std::string message = "error: " + text + (doing_ ? doing_() : "") + '\n';
             ssize_t ignored = reported_ ? 0 : ::write(STDERR_FILENO, message.data(), message.size());
             static_cast<void>(ignored);
             ::_exit(static_cast<int>(CodeOf(stop)));
           },
           grace) {}

void EndNow(const std::string& message, bool json, ExitCode code) {
  if (const char* path = to_remove.load()) ::unlink(path);
  std::string text = json ? R"({"severity":"error","message":")" + message + "\"}\n" : "error: " + message + '\n';
  ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
  ::_exit(static_cast<int>(code));
}

bool TerminationRequested() { return terminate_.load(); }

void RemoveOnInterrupt(const char* path) { to_remove.store(path); }

}  // namespace df
