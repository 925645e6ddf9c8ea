// runtime/run/repeat.h
//
// Graphs that are called again and again: what runs of a graph have in common is made once, and a run that is over can be done again.
#pragma once

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/run/engine.h"

namespace df {

// What an engine makes of a graph before it runs it. It never changes, and any number of runs may have it, on several threads at once.
// The graph outlives it.
struct EngineCode {
  virtual ~EngineCode() = default;
};

// An execution that can be done again.
class Repeatable {
 public:
  virtual ~Repeatable() = default;
  // Start once more, with the memory and threads of the run before, whose values are given up first: nothing is allocated for the run
  // itself. The inputs are moved from. Nullopt, and nothing has changed: this execution is of no more use, as a limit has ended it.
  virtual std::optional<Outcome> Again(llvm::MutableArrayRef<Value> inputs, const Limits& limits) = 0;

  // The run whose values the calling thread gives up, where their code does not say whose they are, as runs share it. The engine enters where
  // it goes on; who gives up values outside of it, or calls back a program that may do the same, sees to it.
  static thread_local constinit Repeatable* entered;
  void Enter() { entered = this; }
  // Another run may be entered meanwhile.
  struct Scope {
    Repeatable* const before = entered;
    ~Scope() { entered = before; }
  };
};

}  // namespace df
