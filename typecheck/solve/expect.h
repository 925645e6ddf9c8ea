// typecheck/solve/expect.h
//
// Two types that have to be one: unified, or reported.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Whether an expression of the type `actual` may stand where `expected` is; reports otherwise.
bool Expect(State& s, TypeId expected, TypeId actual, Span span, const Reason& why);
// After a unification: whatever has to be a number has not become something else. Reports otherwise, and takes
// the solution back.
bool NumbersFit(State& s, TypeId expected, TypeId actual, bool actual_was_number, Span span, const Reason& why);

}  // namespace df::check
