// typecheck/state/stack_class.h
//
// The classes of mtl. They have two parameters, which the language has not; their names are known where programs write them:
// in import lists and in `deriving`. What their operations mean: infer/stack.cpp.
#pragma once

#include "typecheck/state/env.h"

namespace df::check {

// How an operation goes through a transformer: Map and Catch have actions as arguments, and go by its `mapStateT`, its `primLiftCatch`.
// With None they are of the outermost monad alone.
enum class StackKind : uint8_t { None, Plain, Map, Catch };
// None for other names.
StackKind KindOfStackName(Symbol name);
// `MonadState` and its like as a bit, several for `MonadRWS`; 0 for other names.
uint32_t StackClass(Symbol name);
// The class that the operation is of, `gets` as well as `get`; 0 for other names.
uint32_t StackClassOf(Symbol operation);
// `MonadState (..)` brings `get`, and not `gets`, which is a function.
bool IsMethodOf(Symbol operation, uint32_t classes);
// Does the module have what the class is for?
bool OffersStackClass(const ModuleExports& exports, uint32_t classes);

}  // namespace df::check
