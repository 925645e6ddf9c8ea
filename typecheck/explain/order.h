// typecheck/explain/order.h
//
// Arguments in another order than the function wants them, and values with and without what holds them.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Per place, which of the given arguments should stand there.
using ArgumentOrder = llvm::SmallVector<size_t, 6>;

// `fromMaybe m 0` where an Int is expected: as the arguments stand they do not fit, and two of them the other way round do.
// What is said of the result and of each of them would be several messages for one slip. The order that they should have, if it is that
// sure: two of them exchanged, or one moved elsewhere. Empty if there is none.
ArgumentOrder SwappedArguments(State& s, const core::Scheme& scheme, llvm::ArrayRef<const ast::Expr*> args, TypeId expected);
// `push x (Stack xs) = x : xs`: what a type of the program's own holds stands where the type is expected, or the other way round.
bool HintAtHolder(State& s, TypeId expected, TypeId actual, std::string_view text);
// `counter 0`, where `counter` is a `State`: a function, but within something that holds it. `type` is that of `fn` after `taken` arguments.
bool HintAtHeldFunction(State& s, TypeId type, const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, size_t taken);

}  // namespace df::check
