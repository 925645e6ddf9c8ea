// typecheck/declare/default_type.h
//
// Default methods with a type of their own (DefaultSignatures): `default f :: Show a => a -> String`. The default is checked at that type;
// an instance that leaves the method to it has a method that is a use of it, checked at the instance's types.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The type of the default of the method `name`. `head` are the class's variables, `of_class` its own predicate.
void DeclareDefaultType(State& s, ClassId id, const ast::QualType& type, const ast::Name& name, const ScopedTypes& head, const core::Pred& of_class);
// Makes the method of an instance that leaves it to such a default. `scheme` is the method's type there.
void UseDefault(State& s, InstanceId id, size_t index, const core::Scheme& scheme, Span span);

}  // namespace df::check
