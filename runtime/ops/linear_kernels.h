// runtime/ops/linear_kernels.h
//
// Ops of linear algebra: what tensor_kernels.h is for others. The loops are in backends/linear.
#pragma once

#include "runtime/ops/kernels.h"

namespace df {

// As ApplyTensor, of Trilu and of ops that MayGiveFailedTensor, on operands that could be computed. What cannot be factorised, and numbers
// that become too large, give a tensor that could not be computed; no NaN comes of finite operands.
Value ApplyLinear(ir::Op op, const KernelTypes& types, uint32_t attr, llvm::ArrayRef<Value> operands);

}  // namespace df
