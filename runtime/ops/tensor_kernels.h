// runtime/ops/tensor_kernels.h
//
// Ordinary ops on tensors: what runtime/ops/kernels.h is for scalars. This side knows values: it makes the result, lets an op
// write into an operand that nobody else holds, and finds what fails. The loops are in backends/cpu.
#pragma once

#include "runtime/ops/kernels.h"

namespace df {

// Whether an op of these types is for ApplyTensor.
bool WorksOnTensors(ir::Op op, const KernelTypes& types);

// An attribute that an engine may give Accumulate, where one thread has its results: see runtime/ops/accumulate.h.
inline constexpr uint32_t kMayStayRows = 1;

// As ApplyTyped. If an operand is a tensor that could not be computed, the result is one, or a scalar is its error.
// The operands have the types that tagged_ir/tensor_rules.h asks for. A failed op has changed no operand.
Value ApplyTensor(ir::Op op, const KernelTypes& types, uint32_t attr, llvm::ArrayRef<Value> operands, KernelError* error,
                  bool* failed);

// Reductions along an axis or all but ArgMax, and softmax: of `count` tensors of this shape that follow each other, each by itself.
bool IsReduction(ir::Op op);
void Reduce(ir::Op op, uint32_t attr, ir::TypeKind element, llvm::ArrayRef<int64_t> dims, size_t count, const char* x, char* out);

}  // namespace df
