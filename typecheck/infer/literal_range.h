// typecheck/infer/literal_range.h
//
// Whole numbers that do not fit in their type.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Warns of them, once all types are known.
void WarnOfLargeLiterals(State& s);

}  // namespace df::check
