// lower/gradient/rules.h
//
// The texts of tagged_ir/derivative.def as nodes.
#pragma once

#include "lower/gradient/types.h"
#include "tagged_ir/derivative.h"

namespace df::fg {

// Where a text is used: what its names stand for.
struct DerivativeOperands {
  llvm::ArrayRef<Value> operands;
  Value result;
  Value direction;
  ir::TypeId type;    // of what the text gives
  uint32_t attr = 0;  // of the op that is differentiated
  GradientTypes* types = nullptr;  // in reverse mode
  bool sum = false;                // there: what is added to the cotangent may be a term of a sum
};

// The value of `expr`.
Value WriteDerivative(Writer& w, const ir::DerivativeExpr& expr, const DerivativeOperands& in);

// ---- gradient/shapes.cpp

// The words of derivative.def that depend on shapes, of a value that is written already.
Value WriteShaped(Writer& w, const ir::DerivativeExpr& expr, Value x, const DerivativeOperands& in);
// The sum of two tensors whose parts come together: x and then 0, and 0 and then y, is x and then y. So what a split leaves is put together
// by one Concat, and no zeros are made. None if they are no such tensors.
std::optional<Value> JoinPadded(Writer& w, Value a, Value b);
// The length of the axis that a reduction takes away.
int64_t ReducedLength(const Writer& w, const DerivativeOperands& in);
// What a reduction inside a text leaves of a value, and its attribute there.
ir::TypeId ReducedType(Writer& w, Value x, const DerivativeOperands& in);
uint32_t ReducedAxis(const Writer& w, const DerivativeOperands& in);
// The tensor type, or scalar type, with these elements and the shape of another.
ir::TypeId WithElement(Writer& w, ir::TypeId shape, ir::TypeKind element);
// Of a tensor its elements' kind, of a number its own.
ir::TypeKind ElementOf(const Writer& w, ir::TypeId type);

// ---- gradient/linear.cpp

// The words Change and Back.
Value WriteLinear(Writer& w, const ir::DerivativeExpr& expr, Value x, const DerivativeOperands& in);

}  // namespace df::fg
