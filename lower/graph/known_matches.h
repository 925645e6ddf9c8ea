// lower/graph/known_matches.h
//
// What copies of calls leave behind in a function graph: a Match of a constructor that stands beside it. In
//
//   merge (x : xs) (y : ys) = if x < y then x : merge xs (y : ys) else y : merge (x : xs) ys
//
// the body of the delayed `merge xs (y : ys)` makes the constructor, calls merge, and does merge's work itself once that call
// is a copy (inline_delayed.h). The match has one outcome then, the fields are what the constructor was made of, and the
// constructor itself is needed only on the side that gives it as it is. So a node that one side alone of a Branch uses moves
// there, if it is a constructor or a Delay.
//
// A call of a small loop over what is written out is unfolded: of `minimum [a, b, c]` remain the comparisons.
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

void TakeKnownMatches(Program& program);

}  // namespace df::fg
