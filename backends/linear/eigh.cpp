#include <Eigen/Eigenvalues>

#include "backends/linear/eigen.h"

namespace df::linear {

template <typename T>
bool Eigh(const T* x, bool values_only, T* out, size_t n) {
  if (n == 0) return true;
  const Columns<T> matrix = Read(x, n, n);
  if (!matrix.allFinite()) return false;
  const Eigen::SelfAdjointEigenSolver<Columns<T>> solver(matrix, values_only ? Eigen::EigenvaluesOnly : Eigen::ComputeEigenvectors);
  if (solver.info() != Eigen::Success) return false;
  Write(solver.eigenvalues().transpose(), out);
  if (!values_only) Write(solver.eigenvectors(), out + n);
  return true;
}

template bool Eigh(const float*, bool, float*, size_t);
template bool Eigh(const double*, bool, double*, size_t);

}  // namespace df::linear
