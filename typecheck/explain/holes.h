// typecheck/explain/holes.h
//
// Typed holes: `_` and `_name` where an expression is expected.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Whether the name is one, and not that of a variable.
bool IsHole(State& s, const ast::Name& name);
// What stands for them, once the types of the module are known.
void ReportHoles(State& s);

}  // namespace df::check
