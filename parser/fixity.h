// parser/fixity.h
//
// Rebuilds InfixExpr and InfixPat chains as trees, by the fixities in scope (Haskell 2010 section 10.6), and writes out
// the fields that the dots in `C {..}` stand for.
#pragma once

#include <vector>

#include "lang/diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "parser/ast.h"

namespace df {

struct Fixity {
  ast::Associativity assoc = ast::Associativity::Left;
  uint8_t precedence = 9;
  friend bool operator==(const Fixity&, const Fixity&) = default;
};

// Operator -> fixity. What is missing is `infixl 9`.
using FixityTable = llvm::DenseMap<uint32_t /*Symbol::index*/, Fixity>;

// A name as it may be written, with its qualifier or without one (an invalid Symbol).
using WrittenName = std::pair<uint32_t /*qualifier*/, uint32_t /*name*/>;
inline WrittenName Written(Symbol qualifier, Symbol name) { return {qualifier.index, name.index}; }

// What a module's text says depends on what is in scope in that module, and on nothing else: on fixities, and on the fields
// that `..` stands for. A prompt has a scope of its own, which the modules that it imports never see.
struct FixityScope {
  FixityTable fixities;                                    // of names without a qualifier
  llvm::DenseMap<WrittenName, Fixity> qualified;           // of those with one, `M.+++`; missing is `infixl 9` here, too
  llvm::DenseMap<WrittenName, std::vector<Symbol>> records;  // constructor -> its fields' names, if it has any
};

// Afterwards the module holds no InfixExpr and no InfixPat. `scope` gives what is imported; what the module declares at top
// level is added to it, under the module's own name as well. Local fixity declarations hold in their scope.
void ResolveFixity(ast::Ast& ast, FixityScope& scope, Diagnostics& diags);

}  // namespace df
