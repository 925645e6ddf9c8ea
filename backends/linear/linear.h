// backends/linear/linear.h
//
// Factorisations of matrices, and what is computed with them, by Eigen (docs/linear-algebra.md). Pure functions on buffers: matrices are
// row-major and without gaps, at any address; `out` is no operand. T: float, double.
//
// A result has the same bits whatever the address, the processor and its caches: Eigen is compiled for the base level of the instruction set, on one
// thread, works on copies of its own, which are aligned, and is told the sizes of caches once (eigen.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace df::linear {

// What is told of a matrix that cannot be factorised: the row or pivot where that was found.
inline constexpr size_t kGood = SIZE_MAX;

// The lower triangle L of x = L L^T, and 0 above; of x, [n, n], the lower triangle is looked at. The first row of which the pivot is not
// positive, with nothing in `out`, or kGood.
template <typename T>
size_t Cholesky(const T* x, T* out, size_t n);

// Of which triangle a matrix is, and whether it stands transposed in its equation.
struct Triangle {
  bool upper = false, transposed = false, unit = false;  // unit: ones on the diagonal, which is not looked at
};
// out, [n, k], of t out = b, or of t^T out = b. The first row whose diagonal is 0, or kGood.
template <typename T>
size_t SolveTriangular(const T* t, Triangle how, const T* b, T* out, size_t n, size_t k);

// L and U of P x = L U, with partial pivoting, where L has ones on the diagonal, in one [n, n]; in row n of which row of x each row was made. `out` is
// [n + 1, n]. Of a singular matrix some pivots, on the diagonal of U, are 0.
template <typename T>
void Lu(const T* x, T* out, size_t n);
// out, [n, k], of x out = b, or of x^T out = b, for the x of which `lu` is. The first pivot that is 0, or kGood.
template <typename T>
size_t LuSolve(const T* lu, bool transposed, const T* b, T* out, size_t n, size_t k);
// The determinant; its sign, -1, 0 or 1; the logarithm of its absolute value.
enum class Determinant : uint8_t { Value, Sign, LogAbs };
template <typename T>
T LuDeterminant(const T* lu, Determinant which, size_t n);

// Eigenvalues of a symmetric matrix, of which the lower triangle is looked at, ascending, in row 0, and behind it the vectors as columns: [n + 1, n].
// `values_only`: row 0 alone. False: they were not found, which happens only where elements are not finite.
template <typename T>
bool Eigh(const T* x, bool values_only, T* out, size_t n);

// Q, [m, n], with orthonormal columns, and R, [n, n], upper, behind it, of x = Q R, m >= n, by Householder's reflections.
template <typename T>
void Qr(const T* x, T* out, size_t m, size_t n);

// U, [m, n], the singular values, descending, [1, n], and V, [n, n], behind each other, of x = U S V^T, m >= n; or the values alone. False as of Eigh.
template <typename T>
bool Svd(const T* x, bool values_only, T* out, size_t m, size_t n);

// The pseudo-inverse of Moore and Penrose, [n, m], of an x of any shape: singular values up to epsilon * max(m, n) times the largest count as 0. False as
// of Eigh.
template <typename T>
bool Pinv(const T* x, T* out, size_t m, size_t n);

// e to the x, of a square matrix: scaling and squaring with Pade approximants (Higham 2005).
template <typename T>
void MatrixExp(const T* x, T* out, size_t n);

}  // namespace df::linear
