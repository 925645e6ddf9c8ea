#include <unsupported/Eigen/MatrixFunctions>

#include "backends/linear/eigen.h"

namespace df::linear {

template <typename T>
void MatrixExp(const T* x, T* out, size_t n) {
  if (n == 0) return;
  const Columns<T> matrix = Read(x, n, n);
  const Columns<T> result = matrix.exp();
  Write(result, out);
}

template void MatrixExp(const float*, float*, size_t);
template void MatrixExp(const double*, double*, size_t);

}  // namespace df::linear
