// typecheck/module.h
//
// A module from beginning to end.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Checks the module, from its imports to its exports. True if it has no error: its definitions, match-compiled, are in the program then.
bool CheckModule(State& s);

}  // namespace df::check
