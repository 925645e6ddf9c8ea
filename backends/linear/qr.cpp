#include <Eigen/QR>

#include "backends/linear/eigen.h"

namespace df::linear {

template <typename T>
void Qr(const T* x, T* out, size_t m, size_t n) {
  if (n == 0) return;
  const Eigen::HouseholderQR<Columns<T>> qr(Read(x, m, n));
  Columns<T> q = Columns<T>::Identity(static_cast<Index>(m), static_cast<Index>(n));
  q.applyOnTheLeft(qr.householderQ());
  Write(q, out);
  Columns<T> r = qr.matrixQR().topRows(static_cast<Index>(n));
  r.template triangularView<Eigen::StrictlyLower>().setZero();
  Write(r, out + m * n);
}

template void Qr(const float*, float*, size_t, size_t);
template void Qr(const double*, double*, size_t, size_t);

}  // namespace df::linear
