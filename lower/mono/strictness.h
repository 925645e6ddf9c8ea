// lower/mono/strictness.h
//
// Strictness: which parameters and variables are surely evaluated. First order, over all functions at once, as the
// greatest fixpoint: every function starts as strict in everything and as failing (Mycroft 1980; what GHC calls demand
// analysis). Of products only one level is looked at, from where a value is taken apart to where it is made: a function's own
// result is needed in part if its `needed` says so. Needs a lifted, first-order mono::Program.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "lower/mono/mono.h"

namespace df::mono {

struct Strictness {
  std::vector<std::vector<bool>> params;  // by function: the body surely evaluates the parameter
  std::vector<bool> fails;                // by function: it never gives a value (only errors, or no end)
  llvm::DenseSet<uint32_t> strict_lets;   // Let-bound variables that the body of their Let surely evaluates
  // Single-alternative Cases whose body surely evaluates the scrutinee, or a part of it: if the scrutinee fails, so
  // does the body by itself.
  llvm::DenseSet<const Expr*> implied;
  // By call, and by application of a constructor that is the only one of its type: the fields of its value, a bit each, that
  // whoever looks at that value surely evaluates. What is not here has none.
  llvm::DenseMap<const Expr*, uint32_t> needed;
};

// Fields beyond these are not looked at.
constexpr size_t kNeededFields = 8;

Strictness AnalyseStrictness(const Program& program);

}  // namespace df::mono
