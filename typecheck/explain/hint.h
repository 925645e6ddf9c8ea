// typecheck/explain/hint.h
//
// How a clash may be mended.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Whether an expression is an action of IO, as far as a look at it tells.
bool IsAction(State& s, const ast::Expr* expr);
// A variable that has a type's name but for its capital: `int` for `Int`.
bool HintAtTypeVariable(State& s, TyVarId var);
// A local signature that has a variable of its own where one of the signature around it is needed.
bool HintAtLocalSignature(State& s, TyVarId one, TyVarId other);
// Where what an application gives is not what is expected. True if the operands are others than they were meant to be.
bool HintAtResult(State& s, const Reason& callee, llvm::ArrayRef<const ast::Expr*> args, bool infix, Span span, TypeId expected);
// Whether a function of that many arguments gives an action: of IO, or of the monad that is expected.
bool GivesAction(State& s, VarId function, TypeId expected, size_t given = 1);
// Whether a function's parameter has a type like `t a`, of a variable and its argument.
bool TakesAnyContainer(State& s, TypeId function, uint32_t index);
// `weight (grad f model)`, where the model's type holds more than real numbers: its gradient has a type of its own.
bool HintAtTangent(State& s, TypeId expected, TypeId actual);
// Either type may be invalid: then it is a number of a type that is not known yet. `span` is what has the type
// `actual`.
void HintAtClash(State& s, TypeId expected, TypeId actual, Span span, const Reason& why);

}  // namespace df::check
