#include <Eigen/Cholesky>

#include "backends/linear/eigen.h"

namespace df::linear {

template <typename T>
size_t Cholesky(const T* x, T* out, size_t n) {
  Columns<T> l = Read(x, n, n);
  // What LLT calls: it alone says where it stopped.
  const Index failed = Eigen::internal::llt_inplace<T, Eigen::Lower>::blocked(l);
  if (failed >= 0) return static_cast<size_t>(failed);
  l.template triangularView<Eigen::StrictlyUpper>().setZero();
  Write(l, out);
  return kGood;
}

template size_t Cholesky(const float*, float*, size_t);
template size_t Cholesky(const double*, double*, size_t);

}  // namespace df::linear
