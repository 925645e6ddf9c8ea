// typecheck/infer/own_state.h
//
// runST and its like. Haskell's type of runST is `(forall s. ST s a) -> a`, of higher rank; here it is `ST s a -> a`, and each use of it gets a
// type of its own for `s`, one without values. So what one use made cannot get into another one's actions, and what a use gives must not have
// that type in it (ReportEscapes). At the end of the module the type becomes (), so that nothing is compiled anew for each use.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Whether it is runST, runSTArray or runSTUArray of the library.
bool RunsState(const State& s, VarId id);
// A new type, which `arg`, the meta that stands for `s` in this use, becomes.
TyConId OwnState(State& s, TypeId arg);
// Uses whose own type is a part of what they give.
void ReportEscapes(State& s);

}  // namespace df::check
