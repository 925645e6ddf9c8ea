// typecheck/infer/expr.h
//
// Expressions, elaborated to core while they are inferred.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Why a part of a list or tuple has its type. A signature tells of parts as it does of the whole.
Reason PartOf(const Reason& why);
// A use of a variable or a constructor: instantiated, with its constraints wanted.
core::Expr* Use(State& s, VarId id, Span span);
core::Expr* UseCon(State& s, ConId id, Span span);
// Whether a string literal is of any type of the class IsString here.
bool IsOverloadedString(State& s, TypeId expected);
// The expression, of the type that is expected of it.
core::Expr* Check(State& s, const ast::Expr* expr, TypeId expected, const Reason& why);
inline core::Expr* Infer(State& s, const ast::Expr* expr) { return Check(s, expr, s.unify.Fresh(), Reason{}); }

}  // namespace df::check
