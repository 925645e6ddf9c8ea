#include "backends/cpu/reduce.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "backends/cpu/elementwise.h"
#include "runtime/base/interruptible_loops.h"
#include "runtime/base/scalar.h"

namespace df::cpu {
namespace {

template <typename T>
T Plus(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) return scalar::Add(a, b);
  else return a + b;
}
template <typename T>
bool IsNaN(T x) {
  return x != x;
}

// Sums in 16 lanes, which compilers turn into vectors, then of the lanes in halves.
template <typename T>
T SumOf(const T* x, size_t n) {
  constexpr size_t kLanes = 16;
  T lanes[kLanes] = {};
  if (n <= kLanes / 2) {  // of a few elements the same, but for zeros that are added to what is not -0
    for (size_t k = 0; k < n; ++k) lanes[k] = Plus(lanes[k], x[k]);
    for (size_t half = kLanes / 4; half > 0; n = std::min(n, half), half /= 2)
      for (size_t k = 0; k + half < n; ++k) lanes[k] = Plus(lanes[k], lanes[k + half]);
    return lanes[0];
  }
  size_t i = 0;
  InPieces(n / kLanes, kPiece, [&](size_t, size_t count) {
    for (size_t end = i + count * kLanes; i < end; i += kLanes)
      for (size_t k = 0; k < kLanes; ++k) lanes[k] = Plus(lanes[k], x[i + k]);
  });
  for (size_t k = 0; i < n; ++i, ++k) lanes[k] = Plus(lanes[k], x[i]);
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) lanes[k] = Plus(lanes[k], lanes[k + half]);
  return lanes[0];
}

template <typename T>
T MaxOf(const T* x, size_t n, size_t step) {
  T best = x[0];
  for (size_t i = 1; i < n; ++i) {
    T v = x[i * step];
    if (v > best || IsNaN(v)) best = v;
    if (IsNaN(best)) return best;
  }
  return best;
}
template <typename T>
T MinOf(const T* x, size_t n, size_t step) {
  T best = x[0];
  for (size_t i = 1; i < n; ++i) {
    T v = x[i * step];
    if (v < best || IsNaN(v)) best = v;
    if (IsNaN(best)) return best;
  }
  return best;
}

template <typename T>
size_t Padded(size_t n) {
  return (n * sizeof(T) + 63) / 64 * 64 / sizeof(T);
}
// A row at a multiple of 64 bytes in `space`, which has room for it.
template <typename T>
T* AlignedIn(std::vector<char>& space, size_t n) {
  space.resize(Padded<T>(n) * sizeof(T) + 64);
  return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(space.data()) + 63) / 64 * 64);
}

}  // namespace

template <typename T>
void ReduceAxis(Reduce how, const T* x, AxisView view, T* out) {
  size_t seen = 0;
  for (size_t o = 0; o < view.outer; ++o) {
    const T* block = x + o * view.length * view.inner;
    T* to = out + o * view.inner;
    if ((seen += view.length * view.inner) >= kPiece) {
      GiveUpIfAsked();
      seen = 0;
    }
    if (how == Reduce::Max || how == Reduce::Min) {
      for (size_t i = 0; i < view.inner; ++i)
        to[i] = how == Reduce::Max ? MaxOf(block + i, view.length, view.inner) : MinOf(block + i, view.length, view.inner);
      continue;
    }
    if (view.inner == 1) {
      *to = SumOf(block, view.length);
    } else {
      std::fill(to, to + view.inner, T(0));
      InPieces(view.length, std::max<size_t>(1, kPiece / std::max<size_t>(1, view.inner)), [&](size_t first, size_t count) {
        for (size_t k = first; k < first + count; ++k)
          for (size_t i = 0; i < view.inner; ++i) to[i] = Plus(to[i], block[k * view.inner + i]);
      });
    }
    if constexpr (std::is_floating_point_v<T>)
      if (how == Reduce::Mean)
        for (size_t i = 0; i < view.inner; ++i) to[i] /= static_cast<T>(view.length);
  }
}

template <typename T>
void ArgMax(const T* x, AxisView view, int64_t* out) {
  for (size_t o = 0; o < view.outer; ++o)
    for (size_t i = 0; i < view.inner; ++i) {
      const T* row = x + o * view.length * view.inner + i;
      size_t best = 0;
      for (size_t k = 1; k < view.length && !IsNaN(row[best * view.inner]); ++k)
        if (row[k * view.inner] > row[best * view.inner] || IsNaN(row[k * view.inner])) best = k;
      out[o * view.inner + i] = static_cast<int64_t>(best);
    }
}

// Of rows that lie behind each other. They are often short, as scores of a few classes are: the functions go over some of them as one.
template <typename T>
void SoftmaxOfRows(const T* x, size_t rows, size_t length, bool logarithm, T* out) {
  constexpr size_t kTogether = 1024;  // elements
  const size_t most = std::min(std::max<size_t>(kTogether / length, 1), rows);
  std::vector<char> space;
  T* terms = AlignedIn<T>(space, most * length + most);
  T* sums = terms + most * length;
  InPieces(rows, most, [&](size_t first, size_t count) {
    const T* from = x + first * length;
    T* to = out + first * length;
    for (size_t i = 0; i < count; ++i) {
      T largest = MaxOf(from + i * length, length, 1);
      for (size_t k = i * length; k < (i + 1) * length; ++k) terms[k] = from[k] - largest;
    }
    if (logarithm) std::copy(terms, terms + count * length, to);
    Exp(terms, terms, count * length);
    for (size_t i = 0; i < count; ++i) sums[i] = SumOf(terms + i * length, length);
    if (logarithm) Unary(ir::Op::Log, sums, sums, count);
    for (size_t i = 0; i < count; ++i)
      for (size_t k = i * length; k < (i + 1) * length; ++k) to[k] = logarithm ? to[k] - sums[i] : terms[k] / sums[i];
  });
}

template <typename T>
void Softmax(const T* x, AxisView view, bool logarithm, T* out) {
  if (view.length == 0) return;
  if (view.inner == 1) return SoftmaxOfRows(x, view.outer, view.length, logarithm, out);
  std::vector<char> space;
  T* row = AlignedIn<T>(space, view.length);
  std::fill(row, row + Padded<T>(view.length), T(0));
  for (size_t o = 0; o < view.outer; ++o)
    for (size_t i = 0; i < view.inner; ++i) {
      if (view.length >= 1024 || i % 1024 == 0) GiveUpIfAsked();
      const T* from = x + o * view.length * view.inner + i;
      T* to = out + o * view.length * view.inner + i;
      T largest = MaxOf(from, view.length, view.inner);
      for (size_t k = 0; k < view.length; ++k) row[k] = from[k * view.inner] - largest;
      // The operand may be the result's buffer: of the logarithm it is needed once more.
      if (logarithm)
        for (size_t k = 0; k < view.length; ++k) to[k * view.inner] = row[k];
      Exp(row, row, view.length);
      T sum = SumOf(row, view.length);
      T log_sum = T(0);
      if (logarithm) Unary(ir::Op::Log, &sum, &log_sum, 1);
      for (size_t k = 0; k < view.length; ++k)
        to[k * view.inner] = logarithm ? to[k * view.inner] - log_sum : row[k] / sum;
    }
}

template <typename T>
void LayerNorm(const T* x, size_t rows, size_t length, const T* scale, const T* bias, T epsilon, T* out) {
  std::vector<T> squares(length);
  for (size_t r = 0; r < rows; ++r, x += length, out += length) {
    if (length >= 1024 || r % 1024 == 0) GiveUpIfAsked();
    T mean = SumOf(x, length) / static_cast<T>(length);
    for (size_t i = 0; i < length; ++i) squares[i] = (x[i] - mean) * (x[i] - mean);
    T variance = SumOf(squares.data(), length) / static_cast<T>(length);
    T deviation = std::sqrt(variance + epsilon);
    for (size_t i = 0; i < length; ++i) out[i] = (x[i] - mean) / deviation * scale[i] + bias[i];
  }
}

#define DF_FOR_NUMBERS(T)                                        \
  template void ReduceAxis<T>(Reduce, const T*, AxisView, T*);   \
  template void ArgMax<T>(const T*, AxisView, int64_t*);
DF_FOR_NUMBERS(float)
DF_FOR_NUMBERS(double)
DF_FOR_NUMBERS(int64_t)
#undef DF_FOR_NUMBERS
#define DF_FOR_REALS(T)                                                                  \
  template void Softmax<T>(const T*, AxisView, bool, T*);                                \
  template void LayerNorm<T>(const T*, size_t, size_t, const T*, const T*, T, T*);
DF_FOR_REALS(float)
DF_FOR_REALS(double)
#undef DF_FOR_REALS

}  // namespace df::cpu
