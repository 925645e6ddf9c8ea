// typecheck/infer/nodes.h
//
// Nodes of core, as the elaboration makes them.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// A variable of the module, or a local one.
VarId NewVar(State& s, Symbol name, TypeId type, bool top, Span span);
// What stands for an expression after an error: it fails, and has any type.
core::Expr* ErrorNode(State& s, TypeId type, Span span);
core::Expr* AppNode(State& s, const core::Expr* fn, llvm::ArrayRef<const core::Expr*> args, Span span);
core::Expr* LambdaNode(State& s, llvm::ArrayRef<VarId> params, const core::Expr* body, Span span);
core::Expr* LetNode(State& s, VarId var, const core::Expr* value, const core::Expr* body, bool recursive = false);
// A use of a monomorphic local variable.
core::Expr* VarNode(State& s, VarId local, Span span);
core::Expr* IfNode(State& s, const core::Expr* cond, const core::Expr* then_, const core::Expr* else_, Span span);
core::Expr* ListNode(State& s, llvm::ArrayRef<core::Expr*> elements, TypeId element, Span span);
core::Expr* MatchNode(State& s, core::MatchContext context, Symbol name, llvm::ArrayRef<VarId> scrutinees,
                      llvm::ArrayRef<core::Row> rows, TypeId type, Span span);
// Where it is reached the next row of the match is tried.
core::Expr* FallNode(State& s, TypeId type, Span span);
const core::Pat* MakePat(State& s, core::Pat pat);
const core::Pat* BangPat(State& s, const core::Pat* pat);
// The last row of a generated match: any other value is a run-time error. Nobody wrote the match, so it is no
// case for a warning.
core::Row FailRow(State& s, TypeId scrutinee, TypeId result, std::string_view message, Span span);

}  // namespace df::check
