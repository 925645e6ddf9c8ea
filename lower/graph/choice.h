// lower/graph/choice.h
//
// Branches that only choose between numbers: both sides may be computed before it is known which one is wanted, and the op Where, which
// works element by element, can take the branch's place.
#pragma once

#include <set>

#include "lower/graph/function_graph.h"

namespace df::fg {

// Of a function: the Branches that are choices. The predicate of such a one is a Bool, its results are numbers or Bools, and its sides have a few
// ops, no calls, none of which can fail. What comes from outside, and may be an error, is looked at by the predicate, or by that of a branch around
// it, or is an operand of both sides of a result: so an error that nobody would have looked at stays unseen.
std::set<NodeId> FindChoices(const Program& program, const Function& function);

}  // namespace df::fg
