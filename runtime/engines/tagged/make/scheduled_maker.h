// The scheduled code of one scope: make/scheduled_make.cpp says which scopes have any.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/engines/tagged/code/code.h"
#include "runtime/engines/tagged/make/schedule.h"

namespace df::tagged {

// Appends the code of `scope` to the program's and notes where it begins; false, with nothing noted, if a step has no instruction
// or the scope is too large. `plain` says of each scope which slots hold words, `is_scheduled` which scopes are thought to have
// scheduled code, and `parameters` are the slots that a call fills.
bool MakeScheduledOf(Program& program, ScopeCode& scope, const Schedule& schedule, const std::vector<std::vector<bool>>& plain,
                  const std::vector<bool>& is_scheduled, const std::vector<uint32_t>& parameters, bool pass_merges);

// In the code of a scope, from `begin` on: what merges move until it is returned is returned where it is, and a constructor without
// fields that they move to a match goes where that leads.
void PassMerges(ScheduledCode& scheduled, uint32_t begin, uint32_t end_of_code, const std::vector<bool>& once);

}  // namespace df::tagged
