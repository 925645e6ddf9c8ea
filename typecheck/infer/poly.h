// typecheck/infer/poly.h
//
// Polymorphic values: an expression where a type with `forall` is expected, and the use of a variable that has one.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Whether the type is a `forall`.
bool IsPoly(const State& s, TypeId type);
// Makes `node`, whose variable is of the polymorphic type `node.type`, a use of it at new types.
void Instantiate(State& s, core::VarExpr& node);
// An expression of a polymorphic type, as of any type that it can have.
core::Expr* Instantiated(State& s, core::Expr* expr);
// `expr` at a polymorphic type: it is checked as a definition with that signature.
core::Expr* CheckPoly(State& s, const ast::Expr* expr, TypeId poly, const Reason& why);

}  // namespace df::check
