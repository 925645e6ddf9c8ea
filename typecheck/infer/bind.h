// typecheck/infer/bind.h
//
// Binding groups, signatures, generalisation, pattern bindings.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// let decls in body; the declarations are in scope while `body` is made.
core::Expr* CheckLet(State& s, llvm::ArrayRef<ast::Decl*> decls, Span span, llvm::function_ref<core::Expr*()> body);
// The groups of a list of declarations, each before those that use it. `top`: the module's own.
std::vector<BoundGroup> CheckDecls(State& s, llvm::ArrayRef<ast::Decl*> decls, bool top);
// An entry like `return ()`, in a monad that nothing settles, is an action, as GHC has it of every main.
void PreferAction(State& s, TypeId type, size_t wanted_mark);
// What `body` makes, as a definition with this signature, which may not be more general than it is.
core::Expr* CheckAgainst(State& s, const core::Scheme& scheme, Span from, Symbol name, const ScopedTypes& scoped,
                         llvm::function_ref<core::Expr*(TypeId, const Reason&)> body);

}  // namespace df::check
