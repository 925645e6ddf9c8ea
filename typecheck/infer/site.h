// typecheck/infer/site.h
//
// Library functions that want to know where a program names them: their first parameter is a PrimSite (stdlib/Test/HUnit/Internal.df), which
// is no argument of the program's, but given here.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Whether the variable is such a function, and what names it is a program.
bool WantsSite(const State& s, VarId var);
// The function, applied to its place.
core::Expr* WithSite(State& s, core::Expr* use, Span span);

}  // namespace df::check
