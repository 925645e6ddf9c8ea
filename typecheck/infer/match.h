// typecheck/infer/match.h
//
// Clauses, alternatives and guards.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// A variable for `value`: itself if it is one already, else a new one to be bound around the body.
VarId Scrutinee(State& s, const core::Expr* value, bool* fresh);
// f p1 .. pn | g = e; ..: a lambda over n variables and a match of them against the clauses.
core::Expr* CheckClauses(State& s, Symbol name, llvm::ArrayRef<ast::Clause> clauses, Span span, TypeId expected, const Reason& why);
// A right side: its guarded expressions under its `where`.
core::Expr* CheckRhs(State& s, const ast::Rhs& rhs, TypeId expected, const Reason& why);
// The guarded expressions in order; where no guard holds, it falls.
core::Expr* CheckGuarded(State& s, llvm::ArrayRef<ast::GuardedExpr> guarded, TypeId expected, const Reason& why);
core::Expr* CheckCase(State& s, const ast::Expr* scrutinee, llvm::ArrayRef<ast::Alternative> alternatives, Span span, TypeId expected,
                      const Reason& why);
core::Expr* CheckLambdaCase(State& s, const ast::LambdaCaseExpr* expr, TypeId expected, const Reason& why);

}  // namespace df::check
