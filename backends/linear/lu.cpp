#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "backends/linear/eigen.h"

namespace df::linear {

template <typename T>
void Lu(const T* x, T* out, size_t n) {
  if (n == 0) return;
  const Eigen::PartialPivLU<Columns<T>> lu(Read(x, n, n));
  Write(lu.matrixLU(), out);
  // Row i of x is row indices()[i] of P x.
  const auto& to = lu.permutationP().indices();
  for (size_t i = 0; i < n; ++i) out[n * n + static_cast<size_t>(to[static_cast<Index>(i)])] = static_cast<T>(i);
}

template <typename T>
size_t LuSolve(const T* lu, bool transposed, const T* b, T* out, size_t n, size_t k) {
  for (size_t i = 0; i < n; ++i)
    if (lu[i * n + i] == 0) return i;
  const Columns<T> factors = Read(lu, n, n);
  const T* from = lu + n * n;
  Columns<T> x(static_cast<Index>(n), static_cast<Index>(k));
  if (transposed) {
    x = Read(b, n, k);
    factors.transpose().template triangularView<Eigen::Lower>().solveInPlace(x);
    factors.transpose().template triangularView<Eigen::UnitUpper>().solveInPlace(x);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < k; ++j) out[static_cast<size_t>(from[i]) * k + j] = x(static_cast<Index>(i), static_cast<Index>(j));
    return kGood;
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < k; ++j) x(static_cast<Index>(i), static_cast<Index>(j)) = b[static_cast<size_t>(from[i]) * k + j];
  factors.template triangularView<Eigen::UnitLower>().solveInPlace(x);
  factors.template triangularView<Eigen::Upper>().solveInPlace(x);
  Write(x, out);
  return kGood;
}

template <typename T>
T LuDeterminant(const T* lu, Determinant which, size_t n) {
  // A circle of an even number of rows changes the sign.
  bool negative = false;
  std::vector<bool> seen(n);
  for (size_t i = 0; i < n; ++i) {
    size_t length = 0;
    for (size_t at = i; !seen[at]; at = static_cast<size_t>(lu[n * n + at]), ++length) seen[at] = true;
    negative ^= length > 0 && length % 2 == 0;
  }
  T product = negative ? -1 : 1, log = 0;
  for (size_t i = 0; i < n; ++i) {
    const T pivot = lu[i * n + i];
    if (which == Determinant::Value) product *= pivot;
    else if (which == Determinant::LogAbs) log += std::log(std::abs(pivot));
    else product *= pivot > 0 ? T(1) : pivot < 0 ? T(-1) : pivot;  // NaN stays
  }
  return which == Determinant::LogAbs ? log : product;
}

template void Lu(const float*, float*, size_t);
template void Lu(const double*, double*, size_t);
template size_t LuSolve(const float*, bool, const float*, float*, size_t, size_t);
template size_t LuSolve(const double*, bool, const double*, double*, size_t, size_t);
template float LuDeterminant(const float*, Determinant, size_t);
template double LuDeterminant(const double*, Determinant, size_t);

}  // namespace df::linear
