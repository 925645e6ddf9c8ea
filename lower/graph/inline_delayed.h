// lower/graph/inline_delayed.h
//
// A delayed body that calls a short function does that function's work itself: `upto a b = a : upto (a + 1) b` delays
// `upto (a + 1) b`, and for each element the delayed body would call, once, what it could do in its own frame. In place of
// the call stands a copy of the callee's graph, one level deep: its Delay of `upto` is the one that is running.
// Places remember the call, so call paths stay.
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

void InlineIntoDelayed(Program& program);

}  // namespace df::fg
