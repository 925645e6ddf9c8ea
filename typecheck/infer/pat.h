// typecheck/infer/pat.h
//
// Patterns.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// A variable that a pattern binds.
struct Bound {
  Symbol name;
  VarId var;
  Span span;
};

// The outermost pattern of a parameter or alternative: under `Strict` it has a bang, unless it is lazy.
const core::Pat* CheckOuterPat(State& s, const ast::Pat* pat, TypeId expected, const Reason& why, std::vector<Bound>& bound);
// Brings the variables into scope.
void BindAll(State& s, const std::vector<Bound>& bound);
// Reports variables of one name.
bool CheckDistinct(State& s, const std::vector<Bound>& bound);
// The constructor of a pattern; `expected` tells messages which type it is of.
ConId FindConstructorOf(State& s, const ast::Name& name, TypeId expected);
// Binders are added to `bound`; they are in scope only after BindAll.
const core::Pat* CheckPat(State& s, const ast::Pat* pat, TypeId expected, const Reason& why, std::vector<Bound>& bound);
// The pattern with `keep` as its only variable (invalid: none), replaced by `by`.
const core::Pat* Project(State& s, const core::Pat* pat, VarId keep, VarId by);

}  // namespace df::check
