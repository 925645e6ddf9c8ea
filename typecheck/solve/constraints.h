// typecheck/solve/constraints.h
//
// Constraints that are wanted: solved, kept in schemes, defaulted, or reported.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Wants an instance, from here on.
void Require(State& s, ClassId cls, TypeId type, const Origin& origin);
// Solves what is wanted from `mark` on: State::wanted keeps only what is stuck.
void SolveFrom(State& s, size_t mark);
// Drops duplicates and what superclasses give.
void MinimalPreds(State& s, std::vector<Wanted>& preds);
// Settles the stuck constraints from `mark` on whose variables have at least `min_level`.
void DefaultAll(State& s, size_t mark, bool report, uint32_t min_level);

}  // namespace df::check
