// parser/fixity.h
//
// Rebuilds InfixExpr and InfixPat chains as trees, by the fixities in scope (Haskell 2010 section 10.6).
#pragma once

#include "lang/diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "parser/ast.h"

namespace df {

struct Fixity {
  ast::Associativity assoc = ast::Associativity::Left;
  uint8_t precedence = 9;
};

// Operator -> fixity. What is missing is `infixl 9`.
using FixityTable = llvm::DenseMap<uint32_t /*Symbol::index*/, Fixity>;

// Afterwards the module holds no InfixExpr and no InfixPat. `table` gives the imported fixities; those that
// the module declares at top level are added to it. Local fixity declarations hold in their scope.
void ResolveFixity(ast::Ast& ast, FixityTable& table, Diagnostics& diags);

}  // namespace df
