// tagged_ir/tensor_rules.h
//
// What the shapes of an op's operands and result have to do with each other: Shape of op_facts.h. The verifier and
// the compiler ask here, and the kernels (runtime/ops/tensor_kernels.h) rely on it: they check what depends on values alone.
#pragma once

#include <string>

#include "tagged_ir/graph.h"
#include "tagged_ir/op_facts.h"

namespace df::ir {

inline constexpr uint32_t kLastAxis = 255;
inline constexpr uint32_t kAllAxes = 254;
inline constexpr uint32_t kFromEnd = 256;  // of Slice

// The sizes of a product: x is [m, k] or [k], y is [k, n] or [k], of Gemm [n, k]. What has no axis is 1.
struct ProductSizes {
  size_t m, k, n;
};
ProductSizes SizesOfProduct(Op op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y);
// An attribute's axis in a shape of that rank; rank or more if there is none.
size_t AxisOf(uint32_t attr, size_t rank);
// The largest index that such an op has no error at: one that has an operand that is an index, on a tensor of the shape `x`.
int64_t LargestIndex(Op op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> result);
// Of Transpose: the operand's axis for each axis of the result; empty if `attr` is no order of so many axes.
llvm::SmallVector<uint8_t, 8> OrderOfAxes(uint32_t attr, size_t rank);

// "" or what is wrong with an ordinary op's operands and result, as far as tensors are concerned. The number of operands and
// their kinds are as op.def says; all tensor types are valid.
std::string TensorFault(Op op, uint32_t attr, llvm::ArrayRef<const Type*> operands, const Type& result);

// "" or why Accumulate cannot make a `result` of a `sum`. A sum is a data type whose constructors have, all strict,
//
//   no field                            zero
//   a tensor of the result's type       that
//   two or three of the data type itself             their sum
//   tensors [m] and [n], or [r, m] and [r, n]        of a result [m, n] the product of the first, transposed, and the second
//   an Int or Ints [k], and a tensor    rows of the result at these indices of its first axis, else 0
//   an Int, and a number or a tensor without dimensions  the element of the result at this index in row-major order, else 0
//   a record of sums                    one of these (tagged_ir/sum_parts.h)
//
// or what a record of sums has of one of its weights. What `sum` leads to is looked at as well.
std::string AccumulateFault(const TypeTable& types, TypeId sum, const Type& result);

}  // namespace df::ir
