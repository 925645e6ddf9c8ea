// typecheck/resolve/scope.h
//
// Imports and exports: what is in scope in a module, and what it offers.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The scope of the module, with what it imports.
void OpenScope(State& s);
// A module offers what its export list names, or all that it declares.
void Export(State& s);
// A program's export list is for people, but may not lie.
void CheckExports(State& s);

}  // namespace df::check
