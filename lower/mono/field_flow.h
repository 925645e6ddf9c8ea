// lower/mono/field_flow.h
//
// Which constructor applications a match may meet: a flow analysis over the whole program (inclusion constraints, after
// Andersen 1994; control flow needs none, the program is first order). The builder asks it whether all that can be in a
// field was evaluated when the constructor was applied. Needs a lifted, first-order mono::Program.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "lower/mono/mono.h"

namespace df::mono {

// A field of a constructor application. Applications that stand directly within another one of the same constructor and
// type, as the cells of a list that is written out, count as one: a *site*.
using SiteField = uint32_t;

struct FieldFlow {
  // Of a Con expression with fields: the first of them, the others follow.
  llvm::DenseMap<const Expr*, SiteField> sites;
  uint32_t site_fields = 0;

  // Of a variable that an alternative binds: all fields that it may be the value of. `known` is false if it may also come
  // from elsewhere: the program's input, what a derivative gives, more applications than are told apart.
  struct Origin {
    bool known = true;
    llvm::SmallVector<SiteField, 2> fields;
  };
  llvm::DenseMap<uint32_t, Origin> origins;
};

FieldFlow AnalyseFieldFlow(const Program& program);

}  // namespace df::mono
