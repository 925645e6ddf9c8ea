// backends/cpu/elementwise.h
//
// Loops over the elements of tensors. Each element goes through the same roundings: a result depends neither on where it
// stands, nor on how many elements there are, nor on the instruction set. `out` may be an operand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tagged_ir/op.h"

namespace df::cpu {

// T: float, double, int64_t. False if the op has no meaning for the elements.
template <typename T>
bool Unary(ir::Op op, const T* x, T* out, size_t count);
// Of tensors without dimensions, one next to the other: the functions that have loops of their own have the bits of those of
// numbers, so that a number may be kept as such a tensor (lower/graph/late_numbers.h). T: float, double, int64_t.
template <typename T>
bool UnaryOfNumbers(ir::Op op, const T* x, T* out, size_t count);
template <typename T>
bool Binary(ir::Op op, const T* x, const T* y, T* out, size_t count);
// The same loops of Floats and Doubles, for who calls one of them for many rows; null if an op has none of its own.
template <typename T>
using UnaryLoop = void (*)(const T* x, T* out, size_t count);
template <typename T>
using BinaryLoop = void (*)(const T* x, const T* y, T* out, size_t count);
template <typename T>
UnaryLoop<T> UnaryLoopOf(ir::Op op);
template <typename T>
BinaryLoop<T> BinaryLoopOf(ir::Op op);
// out[i] = x[i] - g[i] * k, rounded twice, as Binary's Mul and Sub do. T: float, double.
template <typename T>
void Descend(const T* x, const T* g, T k, T* out, size_t count);
// T: also bool, as uint8_t.
template <typename T>
bool Compare(ir::Op op, const T* x, const T* y, uint8_t* out, size_t count);
// out[i] = choose[i] ? x[i] : y[i]
template <typename T>
void Select(const uint8_t* choose, const T* x, const T* y, T* out, size_t count);
// Of Bools.
void Not(const uint8_t* x, uint8_t* out, size_t count);
// As the scalar Convert of runtime/ops/kernels.h: to an Int towards zero, wrapping; to Float and Double to nearest even.
template <typename From, typename To>
void Convert(const From* x, To* out, size_t count);
// e to the x.
template <typename T>
void Exp(const T* x, T* out, size_t count);

}  // namespace df::cpu
