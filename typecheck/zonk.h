// typecheck/zonk.h
//
// The end of a module: every type without metas.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Replaces every meta in what this run made. What nothing settled stands for (), or for lists where it is applied.
void ZonkAll(State& s);

}  // namespace df::check
