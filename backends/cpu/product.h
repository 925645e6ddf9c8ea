// backends/cpu/product.h
//
// Matrix products, row-major: [m, k] times [k, n]. On one thread: an engine's own threads are those that work.
//
// Float and Double: each element is
//
//   fma(x[k-1], y[k-1], ... fma(x[1], y[1], fma(x[0], y[0], 0)))
//
// a chain of fused multiplications and additions in the order of k. So it has the same bits in every tile, with every
// instruction set, and however many other rows and columns are computed with it: a row of a batched product is the row that
// the product of that row alone gives. (Libraries of BLAS choose another order for other sizes.) Int wraps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace df::cpu {

// T: float, double, int64_t. Strides are those of rows, in elements. `out` is no operand.
template <typename T>
void MatMul(const T* x, size_t x_stride, const T* y, size_t y_stride, T* out, size_t out_stride, size_t m, size_t k, size_t n);

// Of matrices without gaps.
template <typename T>
void MatMul(const T* x, const T* y, T* out, size_t m, size_t k, size_t n) {
  MatMul(x, k, y, n, out, n, m, k, n);
}

// The same with y transposed, [n, k]: the bits are those of the product with y turned round, of which no copy is made.
template <typename T>
void MatMulTransposed(const T* x, size_t x_stride, const T* y, size_t y_stride, T* out, size_t out_stride, size_t m, size_t k, size_t n);

// A matrix [k, n] that many are multiplied with, put together once: panels of a few columns, one behind the other, each without gaps, so that the
// loops go through memory from one end to the other. `panels` has room for k * n elements. The last panel has what columns are left; a matrix
// of no more columns than the widest panel is its own panel. T: float, double, int64_t.
template <typename T>
size_t WidestPanel();
template <typename T>
void PutIntoPanels(const T* y, size_t k, size_t n, T* panels);
// The same of a y that is given transposed, [n, k].
template <typename T>
void PutTurnedIntoPanels(const T* y, size_t k, size_t n, T* panels);
// As MatMul, with the same bits.
template <typename T>
void MatMulPanels(const T* x, size_t x_stride, const T* panels, T* out, size_t out_stride, size_t m, size_t k, size_t n);

// out, [m, n], plus x, [rows, m], transposed times y, [rows, n], of which each row lies anywhere: the chain of each element goes on, so
// that it does not matter how rows are divided among calls. `fresh`: what is in `out` does not count, the chains begin. T: float, double.
template <typename T>
void AddTransposedProduct(const T* const* x, const T* const* y, T* out, size_t rows, size_t m, size_t n, bool fresh);

}  // namespace df::cpu
