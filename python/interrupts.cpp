// Ctrl-C while a graph runs.
#include "python/interrupts.h"

#include <nanobind/nanobind.h>
#include <signal.h>

#include <chrono>

namespace df::python::interrupts {

namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a handler sets it
unsigned long main_thread = 0;
// The handler that was there before ours. Only the main thread sets it, while no signal is let through.
struct sigaction before;

void Handle(int number, siginfo_t* info, void* context) {
  flag.store(true, std::memory_order_relaxed);
  if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(number);
}

// Puts the handler before the present one, if that is not it: signal.signal puts Python's anew.
void Install() {
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) != 0) return;
  if (now.sa_flags & SA_SIGINFO ? now.sa_sigaction == Handle : now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return;
  struct sigaction ours = now;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = Handle;
  sigset_t interrupt, masked;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &masked);
  before = now;
  sigaction(SIGINT, &ours, nullptr);
  pthread_sigmask(SIG_SETMASK, &masked, nullptr);
}

}  // namespace

void Begin() {
  namespace nb = nanobind;
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

bool IsMainThread() { return PyThread_get_thread_ident() == main_thread; }
const std::atomic<bool>* Flag() { return &flag; }

bool Enter() {
  // The system is asked once a millisecond at most: calls that follow each other at once are to cost little.
  using Clock = std::chrono::steady_clock;
  static Clock::time_point next;
  if (const Clock::time_point now = Clock::now(); now >= next) {
    Install();
    next = now + std::chrono::milliseconds(1);
  }
  flag.store(false, std::memory_order_relaxed);
  // A signal that came before is Python's already; one that comes from here on sets the flag.
  return PyErr_CheckSignals() == 0;
}

}  // namespace df::python::interrupts
