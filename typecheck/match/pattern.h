// typecheck/match/pattern.h
//
// What match compilation asks about single patterns, and how large what it might copy is.
#pragma once

#include <string>

#include "typecheck/core/core.h"

namespace df {

// The longest string literal that a pattern may hold: each character is a test of its own.
constexpr size_t kMaxStringPattern = 4000;

// Equal for two literals of one built-in type if and only if they are the same value there (`0x10` and `16`,
// `1.0` and `1`; Int wraps); for other types, if they have the same text.
std::string LiteralKey(const core::Program& program, const core::Pat& literal);

// A string literal as the list of its characters.
const core::Pat* ExpandString(core::Program& program, const core::Pat& literal);

// Whether every value fits, once it is evaluated as far as the pattern asks.
bool IsIrrefutable(const core::Program& program, const core::Pat* pat);

void BoundVars(const core::Pat* pat, llvm::SmallVectorImpl<core::VarId>& out);

// The pattern with `var` as its only variable, under the name `as`.
const core::Pat* SelectVar(core::Program& program, const core::Pat* pat, core::VarId var, core::VarId as);

// The tests that the pattern makes, a string counting its characters.
size_t PatternSize(const core::Pat* pat);

// Nodes of the expression, at most `limit`; a pattern is as large as the tests it may become.
size_t SizeUpTo(const core::Expr* expr, size_t limit);

}  // namespace df
