// typecheck/match.h
//
// Match compilation: core with nested patterns -> core with simple Cases, by decision trees (Maranget 2008).
// Reports rows that can never be reached and, with an example value, cases that no row covers.
#pragma once

#include "typecheck/core.h"

namespace df {

// The expression without Match, FatBar and Fall. What falls off the end becomes a Fail with the place of the match.
// Code that several leaves share is copied while small, else bound as a local function.
const core::Expr* CompileMatches(core::Program& program, const core::Expr* expr, Diagnostics& diags,
                                 bool warnings);

}  // namespace df
