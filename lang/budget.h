// lang/budget.h
//
// What a compilation may use, as the phases see it: each looks now and then, at least once for each thing that it makes,
// whether the budget has come to its end, and is left by an exception then. Looking is one load: who watches the clock and
// the memory (driver/compile_budget.h) sets the flag.
#pragma once

#include <atomic>
#include <exception>
#include <string>

namespace df {

enum class BudgetEnd : uint8_t {
  None,
  Time,
  Memory,
  System,       // the system gives no more memory
  Interrupted,  // Ctrl-C at a prompt
};

class Budget {
 public:
  virtual ~Budget() = default;
  // "the time limit of 2 s is reached".
  virtual std::string Text(BudgetEnd end) const = 0;
  // What to do about it; "" for nothing.
  virtual std::string Hint(BudgetEnd end) const = 0;

  std::atomic<BudgetEnd> ended{BudgetEnd::None};
  std::atomic<bool> answered{false};  // the phases have been left
  std::atomic<const char*> step{nullptr};  // of the phase that runs, if it has any with names
};

// Of the calling thread; null: none.
extern thread_local constinit Budget* budget;

// Leaves a phase. What it was making is lost; what it was given is as before, but for what CheckSession keeps (its Check
// puts that right).
class BudgetExceeded : public std::exception {
 public:
  explicit BudgetExceeded(BudgetEnd end) : end(end) {}
  const char* what() const noexcept override { return "the budget of a compilation is used up"; }
  const BudgetEnd end;
};

// Throws BudgetExceeded; nothing while another exception is on its way.
void LeaveForBudget();

// To be called in loops and recursions of a phase, but not in destructors, nor where a structure is in pieces that a destructor
// would look at.
inline void CheckBudget() {
  if (budget && budget->ended.load(std::memory_order_relaxed) != BudgetEnd::None) [[unlikely]] LeaveForBudget();
}

// The step that a phase takes now, for messages; a literal.
inline void NoteStep(const char* name) {
  if (budget) budget->step.store(name, std::memory_order_relaxed);
}

// While it lives the calling thread looks at this budget.
class BudgetScope {
 public:
  explicit BudgetScope(Budget* inner) : outer_(budget) { budget = inner; }
  ~BudgetScope() { budget = outer_; }
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  Budget* outer_;
};

}  // namespace df
