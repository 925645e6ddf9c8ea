// lower/gradient_rules.h
//
// The texts of tagged_ir/derivative.def as nodes.
#pragma once

#include "lower/gradient_writer.h"
#include "tagged_ir/derivative.h"

namespace df::fg {

struct DerivativeOperands {
  llvm::ArrayRef<Value> operands;
  Value result;
  Value direction;
  ir::TypeId type;  // of what the text gives; numbers in it have the type of the direction
};

// The value of `expr`.
Value WriteDerivative(Writer& w, const ir::DerivativeExpr& expr, const DerivativeOperands& in);

}  // namespace df::fg
