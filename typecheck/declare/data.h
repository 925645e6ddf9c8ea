// typecheck/declare/data.h
//
// `data`, `newtype` and `type` declarations.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Enters every type, synonym and class of the module before any of them is looked into: they may be mutually
// recursive.
void DeclareTypes(State& s);
// `default (Int, Double)`
void DeclareDefaults(State& s);
// Kinds that nothing says are those of types.
void DefaultKinds(State& s);
// One selector per field name: a function that takes the value apart by every constructor that has the field.
void DefineSelectors(State& s, const ast::DataDecl* data);

}  // namespace df::check
