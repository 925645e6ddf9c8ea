// typecheck/state/looks.h
//
// Quick looks at types and expressions, before they are checked or for a message.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The local definition whose signature binds the variable.
VarId LocalSignature(const State& s, TyVarId var);
// The place, to be shown in a message; invalid for a place in the library's own source.
Span Shown(const State& s, Span span);
// The type of an expression as far as it can be told by a look at its head; invalid if it cannot.
TypeId QuickType(State& s, const ast::Expr* expr, int depth = 4);
// How many arguments a function or a constructor takes by its type; 0 of what is none.
size_t Arity(State& s, const ast::Expr* expr);
// Of an operator as an operand of a chain; invalid if it is none.
Symbol OperatorName(const ast::Expr* op);
// Whether the expression is a function, as far as it shows.
bool IsFunction(State& s, const ast::Expr* expr);
// Whether it is Int, Integer, Float or Double.
bool IsNumeric(const State& s, TypeId type);
// Whether it is IO t, as far as is known.
bool IsAction(const State& s, TypeId type);
// The first of a, b, c.. that is not taken, which it is from then on.
Symbol FreshTyVarName(State& s, llvm::DenseSet<uint32_t>& taken);
// Whether it is one of the library's monad transformers.
bool IsTransformer(const State& s, TyConId con);
// The type constructor of an action's monad; invalid if it is not known.
TyConId MonadOf(const State& s, TypeId action);
// `[]`, which may be a tensor.
bool IsEmptyList(const ast::Name& name);

}  // namespace df::check
