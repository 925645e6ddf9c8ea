// backends/linear/eigen.h
//
// How Eigen is used here; only the sources of this folder include it. Macros that change what is computed are set for all of them in CMakeLists.txt.
#pragma once

#include <Eigen/Core>
#include <algorithm>

#include "backends/linear/linear.h"

namespace df::linear {

using Eigen::Index;

template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
// What Eigen's algorithms are written for, in memory of its own, which is aligned.
template <typename T>
using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

// Products go through blocks whose size follows from those of the caches, and sums have the order of the blocks: so all processors have these. Before anything
// else is done with Eigen.
inline void FixCaches() {
  static const bool fixed = [] {
    Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 8 << 20);
    return true;
  }();
  static_cast<void>(fixed);
}

template <typename T>
Columns<T> Read(const T* x, size_t rows, size_t columns) {
  FixCaches();
  return Eigen::Map<const RowMajor<T>>(x, static_cast<Index>(rows), static_cast<Index>(columns));
}
template <typename T, typename M>
void Write(const M& x, T* out) {
  Eigen::Map<RowMajor<T>>(out, x.rows(), x.cols()) = x;
}

}  // namespace df::linear
