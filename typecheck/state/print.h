// typecheck/state/print.h
//
// Schemes and names as GHCi prints them.
#pragma once

#include <string>

#include "typecheck/core/core.h"

namespace df::check {

// Inferred variables are named a, b, c.. in order of appearance.
std::string PrintScheme(const core::Program& program, const core::Scheme& scheme);
// A name as it stands alone: an operator in parentheses.
std::string PrintName(Symbol name);
// A constructor's type, as a function of its fields.
core::Scheme SchemeOf(const core::Program& program, core::ConId con);

}  // namespace df::check
