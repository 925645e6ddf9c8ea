// typecheck/declare/minimal.h
//
// Which methods an instance has to define.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Reads the pragma, or what goes without one, once the methods and defaults of the class are known.
void DeclareMinimal(State& s, const ast::ClassDecl* decl, ClassId id);
// A warning of what an instance lacks by its class's formula, at `span`. `given` are its methods as they are written there.
void WarnOfMissingMethods(State& s, InstanceId id, llvm::ArrayRef<VarId> given, Span span);

}  // namespace df::check
