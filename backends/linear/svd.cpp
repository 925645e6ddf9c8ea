#include <Eigen/SVD>
#include <limits>

#include "backends/linear/eigen.h"

namespace df::linear {

template <typename T>
bool Svd(const T* x, bool values_only, T* out, size_t m, size_t n) {
  if (n == 0) return true;
  const Columns<T> matrix = Read(x, m, n);
  if (!matrix.allFinite()) return false;
  const Eigen::BDCSVD<Columns<T>> svd(matrix, values_only ? 0 : Eigen::ComputeThinU | Eigen::ComputeThinV);
  if (svd.info() != Eigen::Success) return false;
  if (!values_only) Write(svd.matrixU(), out);
  Write(svd.singularValues().transpose(), values_only ? out : out + m * n);
  if (!values_only) Write(svd.matrixV(), out + m * n + n);
  return true;
}

template <typename T>
bool Pinv(const T* x, T* out, size_t m, size_t n) {
  std::fill_n(out, m * n, T(0));
  if (m == 0 || n == 0) return true;
  const Columns<T> matrix = Read(x, m, n);
  if (!matrix.allFinite()) return false;
  const Eigen::BDCSVD<Columns<T>> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  if (svd.info() != Eigen::Success) return false;
  const T least = svd.singularValues()[0] * static_cast<T>(std::max(m, n)) * std::numeric_limits<T>::epsilon();
  Index rank = 0;
  while (rank < svd.singularValues().size() && svd.singularValues()[rank] > least) ++rank;
  if (rank == 0) return true;
  const Columns<T> scaled = svd.matrixV().leftCols(rank) * svd.singularValues().head(rank).cwiseInverse().asDiagonal();
  const Columns<T> result = scaled * svd.matrixU().leftCols(rank).transpose();
  Write(result, out);
  return true;
}

template bool Svd(const float*, bool, float*, size_t, size_t);
template bool Svd(const double*, bool, double*, size_t, size_t);
template bool Pinv(const float*, float*, size_t, size_t);
template bool Pinv(const double*, double*, size_t, size_t);

}  // namespace df::linear
