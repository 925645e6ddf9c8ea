// typecheck/declare/class.h
//
// `class` and `instance` declarations.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Its methods, with their signatures; CheckClassDefaults looks at their definitions.
void DeclareClass(State& s, const ast::ClassDecl* decl);
void CheckClassDefaults(State& s, const ast::ClassDecl* decl, ClassId id);
// Reads `instance context => cls type`; the head's type constructor, invalid if the head was refused.
// `args`: of a class with several parameters all of them, the last one is `type`.
TyConId ConvertInstanceHead(State& s, const ast::Name& name, ast::List<ast::Constraint> context, const ast::Type* type,
                            ast::List<ast::Type*> args, Span span, core::Instance& row);
// An instance that is written; CheckInstanceMethods looks at its methods.
void DeclareInstance(State& s, const ast::InstanceDecl* decl);
// Enters the instance and a variable for each of its methods; their definitions are checked later.
InstanceId RegisterInstance(State& s, core::Instance row, TyConId head, const ast::InstanceDecl* decl);
// Takes the instance back.
void ForgetInstance(State& s, InstanceId id);
void CheckInstanceMethods(State& s, const ast::InstanceDecl* decl, InstanceId id);

}  // namespace df::check
