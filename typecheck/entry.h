// typecheck/entry.h
//
// What a program runs: `main`, or what is entered at the prompt.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Finds `main`, or the prompt's `it`, and says how its value is given out.
void FindMain(State& s);

}  // namespace df::check
