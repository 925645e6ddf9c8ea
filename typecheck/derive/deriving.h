// typecheck/derive/deriving.h
//
// `deriving`, in a declaration and by itself.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The instances of a `deriving` clause.
void DeclareDerived(State& s, const ast::DataDecl* data);
// `deriving instance Eq a => Eq (T a)`: the context is written, and so may be what the parameters are.
void DeclareStandalone(State& s, const ast::DerivingDecl* decl);
// `data T a = C [a] deriving Eq` gives `instance Eq a => Eq (T a)`: the context is what the fields and the superclasses
// need, and is found by iteration because types may need each other's.
void InferDerivedContexts(State& s);

}  // namespace df::check
