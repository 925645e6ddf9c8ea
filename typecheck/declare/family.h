// typecheck/declare/family.h
//
// Type families: at the top of a module, and of classes; their equations; roles as written.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The names of the module's families, before any type is read.
void EnterFamilies(State& s);
// Their kinds, once all names of types are known.
void SettleFamilyKinds(State& s);
// Their equations, and those that the module adds to others. What an instance lacks comes with the instance.
void DeclareEquations(State& s);
// Of the class's families that the instance does not define: by their defaults. Warns of those without.
void DefaultFamilies(State& s, const core::Instance& instance, const ast::InstanceDecl* decl);
// `type role`
void DeclareRoles(State& s);
// Takes back the equations of a module that failed.
void ForgetEquations(State& s);
// How often the variable stands in the type.
uint32_t Occurrences(const Types& types, TypeId type, TyVarId var);

}  // namespace df::check
