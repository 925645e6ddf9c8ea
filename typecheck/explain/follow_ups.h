// typecheck/explain/follow_ups.h
//
// Messages that follow from others, which are dropped.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// `filter (x > 1) xs` where there is no x: what the expression would be is said when there is one.
void DropFollowUps(State& s);
// After an import that failed nothing is said of what it may have brought: names, instances, and all types that depend on them. What is
// told is of definitions in which no name is missing, and only if all types are known.
void DropImportFollowUps(State& s);

}  // namespace df::check
