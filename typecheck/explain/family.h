// typecheck/explain/family.h
//
// Type families as messages: what they are stuck on, and equalities that nothing says.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Adds to the last message why a family in one of the types is not computed, if there is one.
void ExplainFamilies(State& s, TypeId a, TypeId b);
// That `a ~ b` is wanted, and does not hold.
void ReportUnequal(State& s, const Wanted& wanted);
// That a coercion is wanted which there is not.
void ReportCoercion(State& s, const Wanted& wanted, const Wanted& missing);
// A family that goes on for ever, if one was met; reported once.
void ReportEndless(State& s, Span span);

}  // namespace df::check
