// tagged_ir/derivative.h
//
// The derivatives of ops, from derivative.def, parsed once.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "tagged_ir/op.h"

namespace df::ir {

// A text of derivative.def. The words from Spread on are explained there.
struct DerivativeExpr {
  enum class Kind : uint8_t { Operand, Result, Direction, Number, Op, If,
                              Spread, Length, Collapse, SliceEnd, Pad, Restore, Scatter, Left, Right, Change, Back };
  Kind kind;
  uint32_t operand = 0;                    // Operand, Change, Back
  double number = 0;                       // Number
  ir::Op op = ir::Op::Const;               // Op
  std::vector<DerivativeExpr> args;        // Op and words; If: condition, then, else
};

// By operand; none: nothing flows.
struct Derivative {
  llvm::SmallVector<std::optional<DerivativeExpr>, 2> forward, reverse;
};

// Null for an op that has none.
const Derivative* DerivativeOf(Op op);
// Whether differentiating code that uses it on a real number has to be refused: it hides the number.
bool HidesDerivative(Op op);

}  // namespace df::ir
