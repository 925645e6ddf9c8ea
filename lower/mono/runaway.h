// lower/mono/runaway.h
//
// Functions whose recursion nothing but an error ends.
#pragma once

#include <vector>

#include "lower/mono/mono.h"
#include "lower/mono/strictness.h"

namespace df::mono {

// By function: whether its body calls a function of its own group outside branches and what is delayed. `len (S _ r) = 1 + len r`
// is one, and so is the function that applies closures of one kind which are compositions of others. In the graph such
// a call is made whether its operands have failed or not, and an error, whose result overtakes it, would not end the calls.
// `groups` are CallGroups.
std::vector<bool> FindRunaways(const Program& program, const std::vector<std::vector<FunId>>& groups, const Strictness& strictness);

}  // namespace df::mono
