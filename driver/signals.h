// driver/signals.h
//
// Ctrl-C and SIGTERM: while a graph runs they set a flag that the engine looks at; otherwise they end the program
// with 130. A closed pipe ends it quietly, as other filters end.
#pragma once

#include <atomic>

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

// Whether SIGTERM has come: a prompt that goes on after Ctrl-C ends then.
bool TerminationRequested();

// The file that an interrupt has to remove before the program ends; null for none.
void RemoveOnInterrupt(const char* path);

}  // namespace df
