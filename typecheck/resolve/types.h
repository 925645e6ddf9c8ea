// typecheck/resolve/types.h
//
// Types, signatures and contexts as written -> types, with kinds.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The largest number that can be written as a dimension.
inline constexpr int64_t kMaxDim = int64_t{1} << 40;

// Reports parameters of one name.
void CheckDistinctParameters(State& s, llvm::ArrayRef<ast::Name> params);
// Reads a synonym of the module, and before it those that it mentions.
void ResolveSynonym(State& s, uint32_t index);
// The variables in scope where a signature stands (ScopedTypeVariables).
TypeVarScope ScopedTypeVars(const State& s);
// KindSignatures: `(f :: Type -> Type)`, where the variable stands.
void UseWrittenKind(State& s, const ast::Name& variable, KindId kind);
// A type as written; `expected` is its kind. After an error it is any type.
TypeId ConvertType(State& s, const ast::Type* type, TypeVarScope& scope, KindId expected);
// A kind as written; what is none is reported.
KindId ConvertKind(State& s, const ast::Type* kind);
// The kinds of a class's parameters.
std::vector<KindId> ParameterKinds(const State& s, ClassId cls);
// What a predicate of the class is of: the type, or of several parameters all of `args` (core::Class). Invalid, and reported, if
// these are not as many as the class has.
TypeId ConvertClassArguments(State& s, ClassId cls, Span span, const ast::Type* type, ast::List<ast::Type*> args, TypeVarScope& scope);
// False, and reported, if it has a class that there is not.
bool ConvertContext(State& s, ast::List<ast::Constraint> context, TypeVarScope& scope, std::vector<core::Pred>& out);
core::Scheme ConvertScheme(State& s, const ast::QualType& type, TypeVarScope& scope);
// nullptr after an error.
std::unique_ptr<Signature> ConvertSignature(State& s, const ast::QualType& type, Span name_span);

}  // namespace df::check
