// backends/cpu/layout.h
//
// Moving elements of any type, `size` bytes each, without looking at them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"

namespace df::cpu {

// The axes of a tensor of shape `dims` in another order: axis i of the result is axis order[i] of the operand.
void Transpose(const char* x, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<uint8_t> order, size_t size, char* out);
// A matrix of `rows` rows, `stride` elements apart, as its columns.
template <typename T>
void Turn(const T* x, size_t stride, size_t rows, size_t columns, T* out);
// `count` blocks of `bytes` bytes, `from_stride` apart in x and `to_stride` in out.
void CopyBlocks(const char* x, size_t from_stride, char* out, size_t to_stride, size_t bytes, size_t count);

}  // namespace df::cpu
