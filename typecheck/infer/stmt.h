// typecheck/infer/stmt.h
//
// `do`, list comprehensions and enumerations.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// A statement that is an action of IO tells what the others are to be, those before it as well: of `x <- [1, 2]` before
// `print x` it is the list that is wrong. Where there are actions of a monad of the program's or of a stack, it may be the
// other way round.
void SettleMonad(State& s, llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected);
// { e } = e;  { e; ss } = e >> ss;  { p <- e; ss } = e >>= \p -> ss;  { let ds; ss } = let ds in ss.
core::Expr* CheckDo(State& s, llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected, const Reason& why);
// Without intermediate lists, after P. Wadler: [e | qs] is [e | qs] ++ [], and what stands behind is handed down as `tail`.
// [e | ] ++ t = e : t;  [e | b, qs] ++ t = if b then [e | qs] ++ t else t;
// [e | let ds, qs] ++ t = let ds in [e | qs] ++ t;
// [e | p <- l, qs] ++ t = foldr (\x rest -> case x of { p -> [e | qs] ++ rest; _ -> rest }) t l
core::Expr* CheckComprehension(State& s, const ast::Expr* element, llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected,
                               const Reason& why, VarId tail = VarId());
// [e | x <- xs | y <- ys]: [e | (x, y) <- zip [x | x <- xs] [y | y <- ys]]
core::Expr* CheckParallel(State& s, const ast::ComprehensionExpr* list, TypeId expected, const Reason& why);
// [from, then .. to]
core::Expr* CheckSequence(State& s, const ast::SequenceExpr* expr, TypeId expected, const Reason& why);

}  // namespace df::check
