// tagged_ir/pieces.h
//
// Functions that are pieces of others: what of a function stands on another part than the rest of it, and is called there (tagged_ir/cut/outline.h). The source
// has no such functions and calls: a call path that comes through a piece is told as if it stood where it is called.
#pragma once

#include "tagged_ir/graph.h"

namespace df::ir {

// In the name of a piece, behind that of the scope from which it was taken: `fact#1`. No name in a program has it.
inline constexpr char kPieceMark = '#';

inline bool IsPiece(const Scope& scope) { return scope.kind == ScopeKind::Function && scope.name.find(kPieceMark) != std::string::npos; }

}  // namespace df::ir
