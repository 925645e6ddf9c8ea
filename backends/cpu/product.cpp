#include "backends/cpu/product.h"

#include <algorithm>

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include "runtime/scalar.h"

#ifdef DFC_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

namespace df::cpu {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
void EigenProduct(const T* x, const T* y, T* out, size_t m, size_t k, size_t n) {
  auto rows = static_cast<Eigen::Index>(m), inner = static_cast<Eigen::Index>(k), columns = static_cast<Eigen::Index>(n);
  Eigen::Map<const Matrix<T>> a(x, rows, inner), b(y, inner, columns);
  Eigen::Map<Matrix<T>> c(out, rows, columns);
  c.noalias() = a * b;
}

}  // namespace

template <>
void MatMul<double>(const double* x, const double* y, double* out, size_t m, size_t k, size_t n) {
  EigenProduct(x, y, out, m, k, n);
}

template <>
void MatMul<float>(const float* x, const float* y, float* out, size_t m, size_t k, size_t n) {
#ifdef DFC_ONEDNN
  // The number of threads is the calling thread's own.
  static thread_local bool one_thread = false;
  if (!one_thread) omp_set_num_threads(1);
  one_thread = true;
  auto rows = static_cast<dnnl_dim_t>(m), inner = static_cast<dnnl_dim_t>(k), columns = static_cast<dnnl_dim_t>(n);
  if (m > 0 && k > 0 && n > 0 &&
      dnnl_sgemm('N', 'N', rows, columns, inner, 1.0f, x, inner, y, columns, 0.0f, out, columns) == dnnl_success)
    return;
#endif
  EigenProduct(x, y, out, m, k, n);
}

template <>
void MatMul<int64_t>(const int64_t* x, const int64_t* y, int64_t* out, size_t m, size_t k, size_t n) {
  std::fill(out, out + m * n, int64_t{0});
  for (size_t i = 0; i < m; ++i)
    for (size_t l = 0; l < k; ++l)
      for (size_t j = 0; j < n; ++j)
        out[i * n + j] = scalar::Add(out[i * n + j], scalar::Mul(x[i * k + l], y[l * n + j]));
}

}  // namespace df::cpu
