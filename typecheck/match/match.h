// typecheck/match/match.h
//
// Match compilation: core with nested patterns -> core with simple Cases, by decision trees (Maranget 2008).
// Reports rows that can never be reached and, with an example value, cases that no row covers.
//
// Where a Fall goes: from a row's body to the next row of that Match; from the first part of a FatBar to the
// second. A Fall reaches its target through the tails of a body only: the bodies of Let and Case, the rows of a
// Match, both parts of a FatBar. From an argument, a binding or a lambda nothing falls out: there it fails.
// A Match of context Guard that no row fits falls like its body would (so that `| Just y <- e` goes on with the
// next guard or clause); a Match of any other context that no row fits fails there, with a message of its own,
// unless it is the first part of a FatBar. So a clause's `case` never falls into the next clause.
//
// Order is Haskell's: rows from top to bottom, patterns from left to right; nothing is evaluated that Haskell
// would not have evaluated by then. Look at it: dfc --emit=core.
#pragma once

#include "typecheck/core/core.h"

namespace df {

// The expression without Match, FatBar and Fall. What falls off the end becomes a Fail with the place of the match.
// Code that several leaves share is copied while small, else bound as a local function. A variable that is bound
// just before it is scrutinised (`let x = e in case x of ..`) becomes the Case's binder.
const core::Expr* CompileMatches(core::Program& program, const core::Expr* expr, Diagnostics& diags,
                                 bool warnings);

}  // namespace df
