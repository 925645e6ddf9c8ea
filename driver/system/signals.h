// driver/system/signals.h
//
// Ctrl-C, SIGTERM, SIGHUP and SIGXCPU: while a graph runs they set a flag that the engine looks at; otherwise they end the program
// with 130. A closed pipe ends it quietly, as other filters end.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "driver/options.h"
#include "runtime/run/watchdog.h"

namespace df {

void InstallSignalHandlers();

// While one of these lives, interrupts only set the flag. A second one without any reaction ends the program.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  const std::atomic<bool>* flag() const;
  bool interrupted() const;
  void Clear();
};

// While one of these lives, interrupts end the program at once although there is an InterruptScope: nothing of the run has
// begun, and nobody would look at the flag.
class EndAtOnceScope {
 public:
  EndAtOnceScope();
  ~EndAtOnceScope();
  EndAtOnceScope(const EndAtOnceScope&) = delete;
  EndAtOnceScope& operator=(const EndAtOnceScope&) = delete;
};

// While it lives, a closed pipe is an error of the write, and does not end the program: something is to be saved first.
class ClosedPipeScope {
 public:
  ClosedPipeScope();
  ~ClosedPipeScope();
  ClosedPipeScope(const ClosedPipeScope&) = delete;
  ClosedPipeScope& operator=(const ClosedPipeScope&) = delete;
};

// Ends the program as the closed pipe would have done.
[[noreturn]] void EndByClosedPipe();

// Gives up the operation that the calling thread stands in when its time is over or an interrupt has come: the engine looks
// between operations only. A write into a pipe that is full ends, too.
class RunTimer {
 public:
  explicit RunTimer(const Limits& limits);

 private:
  Watchdog dog_;
};

// Ends the program where a run that was stopped does not come to its end: writing into a pipe that nobody reads,
// freeing what a machine without memory has swapped out.
class LastResort {
 public:
  // `grace`: how long it may take. `doing`, asked from another thread, goes on with the message: " while .. is read".
  explicit LastResort(const Limits& limits, std::chrono::milliseconds grace = std::chrono::milliseconds(1000),
                      std::function<std::string()> doing = nullptr);
  // What happened has been said: it would be silent now.
  void Reported() { reported_.store(true); }

 private:
  std::atomic<bool> reported_ = false;
  std::function<std::string()> doing_;
  Watchdog dog_;
};

// Ends the process from any thread, with a message; what was being written is removed.
[[noreturn]] void EndNow(const std::string& message, bool json, ExitCode code);

// Whether SIGTERM has come, or another signal that asks for the end: a prompt that goes on after Ctrl-C ends then.
bool TerminationRequested();

// The file that an interrupt has to remove before the program ends; null for none.
void RemoveOnInterrupt(const char* path);

}  // namespace df
