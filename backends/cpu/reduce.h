// backends/cpu/reduce.h
//
// Reductions along one axis of a tensor. A tensor is seen as [outer, axis, inner], the axis being in the middle. The order of
// additions depends on the length of the axis alone, so that a row's sum is the same in every tensor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace df::cpu {

struct AxisView {
  size_t outer = 1;
  size_t length = 1;
  size_t inner = 1;
};

enum class Reduce : uint8_t { Sum, Mean, Max, Min };

// out: [outer, inner]. Max and Min want a length of at least 1, and are NaN if an element is.
template <typename T>
void ReduceAxis(Reduce how, const T* x, AxisView view, T* out);
// Where the largest element is, the first if there are several; the first NaN if there is one.
template <typename T>
void ArgMax(const T* x, AxisView view, int64_t* out);
// exp(x - max) over its sum, or the logarithm of that.
template <typename T>
void Softmax(const T* x, AxisView view, bool logarithm, T* out);
// Of each row: (x - mean) / sqrt(variance + epsilon) * scale + bias.
template <typename T>
void LayerNorm(const T* x, size_t rows, size_t length, const T* scale, const T* bias, T epsilon, T* out);

}  // namespace df::cpu
