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

// (qualifier, operator) -> fixity: for an operator whose qualifier says more than its name does, `M.+++`.
using QualifiedFixities = llvm::DenseMap<std::pair<uint32_t, uint32_t>, Fixity>;

// Constructor -> its fields' names, if it has any.
using RecordTable = llvm::DenseMap<uint32_t /*Symbol::index*/, std::vector<Symbol>>;

// Afterwards the module holds no InfixExpr and no InfixPat. `table` gives the imported fixities; those that
// the module declares at top level are added to it. Local fixity declarations hold in their scope.
// `records` are the fields of the constructors declared so far, to which the module's own are added.
// A qualified operator is looked up in `qualified`, then in `table`.
void ResolveFixity(ast::Ast& ast, FixityTable& table, RecordTable& records, Diagnostics& diags,
                   const QualifiedFixities& qualified = QualifiedFixities());

}  // namespace df
