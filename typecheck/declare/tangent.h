// typecheck/declare/tangent.h
//
// What tangents the module's types have.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// How the tangents of the module's data types look: the greatest solution, so that a type may hold itself.
void ClassifyTangents(State& s);

}  // namespace df::check
