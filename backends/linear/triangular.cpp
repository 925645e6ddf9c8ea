#include "backends/linear/eigen.h"

namespace df::linear {
namespace {

template <unsigned kMode, typename M, typename T>
void Solve(const M& t, Columns<T>& x) {
  t.template triangularView<kMode>().solveInPlace(x);
}

template <typename M, typename T>
void Choose(const M& t, bool upper, bool unit, Columns<T>& x) {
  if (upper) unit ? Solve<Eigen::UnitUpper>(t, x) : Solve<Eigen::Upper>(t, x);
  else unit ? Solve<Eigen::UnitLower>(t, x) : Solve<Eigen::Lower>(t, x);
}

}  // namespace

template <typename T>
size_t SolveTriangular(const T* t, Triangle how, const T* b, T* out, size_t n, size_t k) {
  for (size_t i = 0; i < n && !how.unit; ++i)
    if (t[i * n + i] == 0) return i;
  const Columns<T> matrix = Read(t, n, n);
  Columns<T> x = Read(b, n, k);
  if (how.transposed) Choose(matrix.transpose(), !how.upper, how.unit, x);
  else Choose(matrix, how.upper, how.unit, x);
  Write(x, out);
  return kGood;
}

template size_t SolveTriangular(const float*, Triangle, const float*, float*, size_t, size_t);
template size_t SolveTriangular(const double*, Triangle, const double*, double*, size_t, size_t);

}  // namespace df::linear
