// typecheck/infer/app.h
//
// Applications, operators and sections.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// f x y, and x op y, which is `infix`.
core::Expr* CheckApp(State& s, const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, bool infix, Span span, TypeId expected, const Reason& why);
// (x op) is op applied to one argument.
core::Expr* CheckLeftSection(State& s, const ast::LeftSectionExpr* expr, TypeId expected, const Reason& why);
// (op x) is \y -> y op x, with x outside so that it is computed once.
core::Expr* CheckRightSection(State& s, const ast::RightSectionExpr* expr, TypeId expected, const Reason& why);
// (x,,y) is \a -> (x, a, y); what is given is computed once.
core::Expr* CheckTupleSection(State& s, const ast::TupleSectionExpr* expr, TypeId expected, const Reason& why);
// A call of a library function on core arguments, whose types it must fit.
core::Expr* CallKnown(State& s, VarId fn, llvm::ArrayRef<core::Expr*> args, Span span, TypeId expected, const Reason& why);

}  // namespace df::check
