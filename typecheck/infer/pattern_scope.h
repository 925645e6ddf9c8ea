// typecheck/infer/pattern_scope.h
//
// What the patterns of a row tell of types holds in the row alone: types that a constructor hides, classes that it brings along,
// and, of a GADT, what the variables of signatures are.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// A pattern with its body. While it lives, patterns may be of constructors that hide types.
class PatternScope {
 public:
  explicit PatternScope(State& s);
  ~PatternScope() { Restore(); }  // where a budget ended the check
  PatternScope(const PatternScope&) = delete;
  PatternScope& operator=(const PatternScope&) = delete;
  // Settles what the body wants, and forgets what the patterns told.
  void Close();

 private:
  void Restore();

  State& s_;
  uint32_t level_;
  size_t wanted_, givens_, assumed_;
  bool may_open_, closed_ = false;
};

// A constructor was matched whose type has the arguments `args`: makes names for what it hides, and takes what it tells as given.
// False, and reported, where no pattern may do so.
bool OpenConstructor(State& s, ConId con, Span span, llvm::ArrayRef<TypeId> args, llvm::SmallVectorImpl<TyVarId>& hidden);
// The variables of a constructor: its type's, then those that it hides.
std::vector<TyVarId> VariablesOf(const State& s, ConId con);

}  // namespace df::check
