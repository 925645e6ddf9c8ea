// typecheck/state/deps.h
//
// Which bindings of a declaration list a binding mentions.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "parser/ast.h"

namespace df::check {

// Symbol -> index of the binding that binds it.
using Targets = llvm::DenseMap<uint32_t, uint32_t>;

// The targets that `decl` (a function or pattern binding) mentions, each once, in order of index. Names
// that are bound inside hide targets. `own` is the qualifier by which they may be called as well, if they are a module's.
std::vector<uint32_t> CollectUses(const ast::Decl* decl, const Targets& targets, Symbol own);

// The names that a pattern binds.
void PatternNames(const ast::Pat* pat, std::vector<std::pair<Symbol, Span>>& out);

}  // namespace df::check
