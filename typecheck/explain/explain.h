// typecheck/explain/explain.h
//
// Type clashes as messages: what clashes, and where.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The types as a message calls them, with one naming of unknowns.
std::vector<std::string> PrintTypes(State& s, llvm::ArrayRef<TypeId> types);
// Whether an error within the expression was reported already.
bool Tainted(const State& s, Span span);
// The noun for what is expected: "the condition of `if`".
std::string Describe(State& s, const Reason& why);
// Whether its head is a variable, or has an instance of Num.
bool IsNumberType(State& s, TypeId type);
// That an expression at `span` has another type than is expected of it. Either type, or a part of both, is what clashes.
void ReportMismatch(State& s, const UnifyResult& clash, TypeId expected, TypeId actual, Span span, const Reason& why);
inline std::string PrintType(State& s, TypeId type) { return PrintTypes(s, type)[0]; }

}  // namespace df::check
