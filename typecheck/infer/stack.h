// typecheck/infer/stack.h
//
// mtl's operations: what they mean where an action of a stack of monads is expected.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// What an operation of mtl means where an action of a known stack is expected.
struct StackUse {
  VarId op;                              // of the first monad in the stack that has one
  llvm::SmallVector<TypeId, 4> monads;   // the stack down to that one
  llvm::SmallVector<VarId, 4> through;   // for each above it, how an operation on actions goes through
  llvm::SmallVector<ConId, 4> wrappers;  // for each above it: the constructor of a newtype around the next, or invalid
  TypeId value;                          // of the action that is expected
  bool plain = true;                     // no argument is an action
  VarId var;                             // what the name means by itself, if it is such an operation
  bool open = false;                     // the stack is not known that far yet
  bool several = false;                  // several imports bring the name, each with its own
};

// `deriving (MonadState Int)` of a newtype around a stack; false if the class is another one.
bool DeriveStackClass(State& s, const ast::DerivedClass& derived, const ast::DataDecl* data, TyConId tycon);
// What the operation means here, with `given` arguments. False if the name means the same as everywhere.
bool FindStackUse(State& s, const ast::Name& name, size_t given, TypeId expected, StackUse& use);
// The operation, of a monad that is to be found: `let op = .. in op`, whose value SettleStackUses puts in.
core::Expr* OpenStackUse(State& s, const ast::Name& name, const StackUse& use, Span span);
// Looks again at the operations from `mark` on; those that `force` names are the outermost monad's if nothing says more.
void SettleStackUses(State& s, size_t mark, llvm::function_ref<bool(const StackHole&)> force);
// Whether the uses of a local function are to tell the stack: it has operations of several transformers, or the function stands in
// an action in whose stack the operation is another one than by itself. What it is by itself may be used in several stacks.
bool IsOpenStackUse(State& s, const StackHole& hole, size_t mark);
// What is still open is settled by the uses of the function that it stands in: the monad, and what belongs to it, is one for all.
void LowerStackUses(State& s, size_t mark);
// A call of the operation.
core::Expr* CheckStackUse(State& s, const StackUse& use, llvm::ArrayRef<const ast::Expr*> args, Span fn, Span span, TypeId expected,
                          const Reason& why);

}  // namespace df::check
