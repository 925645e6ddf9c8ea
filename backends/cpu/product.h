// backends/cpu/product.h
//
// Matrix products, row-major: [m, k] times [k, n]. Float on oneDNN where the build has it, the rest on Eigen; Int wraps.
// On one thread: an engine's own threads are those that work.
#pragma once

#include <cstddef>
#include <cstdint>

namespace df::cpu {

// T: float, double, int64_t. `out` is no operand.
template <typename T>
void MatMul(const T* x, const T* y, T* out, size_t m, size_t k, size_t n);

}  // namespace df::cpu
