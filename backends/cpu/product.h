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

// Where a matrix is: its rows begin `stride` elements apart.
template <typename T>
struct Matrix {
  T* data;
  size_t stride;
  T* Row(size_t i) const { return data + i * stride; }
  // What begins at row i, column j.
  Matrix From(size_t i, size_t j) const { return {data + i * stride + j, stride}; }
};

// Of a product: [m, k] times [k, n].
struct ProductSize {
  size_t m, k, n;
};

// T: float, double, int64_t. `out` is no operand.
template <typename T>
void MatMul(Matrix<const T> x, Matrix<const T> y, Matrix<T> out, ProductSize size);

// Of matrices without gaps.
template <typename T>
void MatMul(const T* x, const T* y, T* out, size_t m, size_t k, size_t n) {
  MatMul<T>({x, k}, {y, n}, {out, n}, {m, k, n});
}

// The same with y transposed, [n, k]: the bits are those of the product with y turned round, of which no copy is made.
template <typename T>
void MatMulTransposed(Matrix<const T> x, Matrix<const T> y, Matrix<T> out, ProductSize size);

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
void MatMulPanels(Matrix<const T> x, const T* panels, Matrix<T> out, ProductSize size);

// out, [m, n], plus x, [rows, m], transposed times y, [rows, n], of which each row lies anywhere: the chain of each element goes on, so
// that it does not matter how rows are divided among calls. `fresh`: what is in `out` does not count, the chains begin. T: float, double.
template <typename T>
void AddTransposedProduct(const T* const* x, const T* const* y, T* out, size_t rows, size_t m, size_t n, bool fresh);

}  // namespace df::cpu
