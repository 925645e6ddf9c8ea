#include "driver/system/crash.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "driver/options.h"
#include "driver/pipeline.h"
#include "lang/sanitizers.h"

namespace df {
namespace {

[[maybe_unused]] constexpr size_t kHandlerStack = 64 << 10;
constexpr const char* kAskForReport = "this is a fault of dfc, not of your program: please report it, with the input";

void Say(const char* text) {
  ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

// Only what a signal handler may call.
[[maybe_unused]] void HandleCrash(int signal) {
  Say("dfc: internal error in the pass `");
  Say(PassScope::Current());
  Say(signal == SIGSEGV   ? "`: invalid memory access or stack overflow\n"
      : signal == SIGFPE  ? "`: arithmetic fault\n"
      : signal == SIGABRT ? "`: aborted\n"
                          : "`: crashed\n");
  Say(kAskForReport);
  Say("\n");
  ::_exit(static_cast<int>(ExitCode::Internal));
}

}  // namespace

std::string InternalErrorText(const char* pass, std::string_view fault) {
  return fmt::format("internal error in the pass `{}`: {}\n{}", pass, fault, kAskForReport);
}

CrashGuard::CrashGuard() {
#ifndef DFC_SANITIZED
  stack_ = std::malloc(kHandlerStack);
  if (!stack_) return;
  stack_t stack = {};
  stack.ss_sp = stack_;
  stack.ss_size = kHandlerStack;
  ::sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = HandleCrash;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigaction(signal, &action, nullptr);
#endif
}

CrashGuard::~CrashGuard() {
  if (!stack_) return;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::signal(signal, SIG_DFL);
  stack_t off = {};
  off.ss_flags = SS_DISABLE;
  ::sigaltstack(&off, nullptr);
  std::free(stack_);
}

}  // namespace df
