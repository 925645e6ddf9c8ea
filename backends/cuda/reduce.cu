// Reductions, in the order of backends/cpu/reduce.h: where the axis is the last one, a sum has 16 lanes, each of every 16th element, which are
// then added in halves; else it goes from the first to the last. So 16 threads have a line, a lane each; of the other sums, and of lines
// along an axis that is not the last, each thread has one.
#include <type_traits>

#include "backends/cuda/functions.h"
#include "backends/cuda/launch.h"

namespace df::cuda {
namespace {

constexpr unsigned kLanes = 16, kLines = 8, kThreads = kLanes * kLines;

template <typename T>
DF_DEVICE T Plus(T x, T y) {
  if constexpr (std::is_same_v<T, int64_t>) return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  else return x + y;
}

// A line of a tensor [outer, length, inner] of each row: where it begins, and how far its elements are apart.
template <typename T>
struct Line {
  const T* x;
  size_t step, place;  // place: of its first element in the row's tensor
};
template <typename T>
DF_DEVICE Line<T> LineOf(const Rows& x, const Axis& axis, size_t number) {
  size_t each = axis.outer * axis.inner, in_row = number % each;
  size_t place = in_row / axis.inner * axis.length * axis.inner + in_row % axis.inner;
  return {reinterpret_cast<const T*>(RowOf(x, number / each)) + place, axis.inner, place};
}

// The lanes' values, added in halves; every thread of the line gets the sum. All threads of the block call it.
template <typename T>
DF_DEVICE T AddLanes(T value, T* space) {
  unsigned lane = ThreadIndex() % kLanes;
  T* line = space + ThreadIndex() / kLanes * kLanes;
  Barrier();
  line[lane] = value;
  Barrier();
  for (unsigned half = kLanes / 2; half > 0; half /= 2) {
    if (lane < half) line[lane] = Plus(line[lane], line[lane + half]);
    Barrier();
  }
  return line[0];
}

// One thread's lane of the sum of term(i), i below `length`.
template <typename T, typename F>
DF_DEVICE T SumLane(size_t length, F term) {
  T sum = T(0);
  size_t i = ThreadIndex() % kLanes;
  // Terms are read ahead of the additions, which wait for each other.
  constexpr int kAhead = 8;
  for (; i + (kAhead - 1) * kLanes < length; i += kAhead * kLanes) {
    T terms[kAhead];
    DF_UNROLL
    for (int a = 0; a < kAhead; ++a) terms[a] = term(i + static_cast<size_t>(a) * kLanes);
    DF_UNROLL
    for (int a = 0; a < kAhead; ++a) sum = Plus(sum, terms[a]);
  }
  for (; i < length; i += kLanes) sum = Plus(sum, term(i));
  return sum;
}

// A candidate for the largest (smallest) element: the first of equals, and the first NaN before all.
template <typename T>
struct Best {
  T value;
  size_t at;
};
template <bool kLeast, typename T>
DF_DEVICE bool IsBetter(const Best<T>& a, const Best<T>& b) {
  bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan || b_nan) return a_nan && (!b_nan || a.at < b.at);
  if (a.value != b.value) return kLeast ? a.value < b.value : a.value > b.value;
  return a.at < b.at;
}
// Of a line; every thread of it gets the result. All threads of the block call it.
template <bool kLeast, typename T>
DF_DEVICE Best<T> BestOf(const Line<T>& line, size_t length, Best<T>* space) {
  unsigned lane = ThreadIndex() % kLanes;
  Best<T> best = {line.x[0], 0};
  for (size_t i = lane; i < length; i += kLanes) {
    Best<T> one = {line.x[i * line.step], i};
    if (IsBetter<kLeast>(one, best)) best = one;
  }
  Best<T>* bests = space + ThreadIndex() / kLanes * kLanes;
  Barrier();
  bests[lane] = best;
  Barrier();
  for (unsigned half = kLanes / 2; half > 0; half /= 2) {
    if (lane < half && IsBetter<kLeast>(bests[lane + half], bests[lane])) bests[lane] = bests[lane + half];
    Barrier();
  }
  return bests[0];
}

// The line of this thread; the last again where there are no more, so that all meet the barriers.
DF_DEVICE size_t LineNumber(size_t lines) {
  size_t number = static_cast<size_t>(BlockIndex()) * kLines + ThreadIndex() / kLanes;
  return number < lines ? number : lines - 1;
}

template <typename T>
DF_KERNEL SumLinesKernel(DF_PARAMETER Rows x, DF_PARAMETER Axis axis, T* out, size_t lines, bool mean) {
  DF_SHARED T space[kThreads];
  size_t number = LineNumber(lines);
  Line<T> line = LineOf<T>(x, axis, number);
  T sum = AddLanes(SumLane<T>(axis.length, [&](size_t i) { return line.x[i]; }), space);
  if (ThreadIndex() % kLanes != 0) return;
  if constexpr (!std::is_same_v<T, int64_t>)
    if (mean) sum = sum / static_cast<T>(axis.length);
  out[number] = sum;
}

template <typename T>
DF_KERNEL SumAcrossKernel(DF_PARAMETER Rows x, DF_PARAMETER Axis axis, T* out, size_t lines, bool mean) {
  size_t number = static_cast<size_t>(BlockIndex()) * kThreads + ThreadIndex();
  if (number >= lines) return;
  Line<T> line = LineOf<T>(x, axis, number);
  T sum = T(0);
  for (size_t i = 0; i < axis.length; ++i) sum = Plus(sum, line.x[i * line.step]);
  if constexpr (!std::is_same_v<T, int64_t>)
    if (mean) sum = sum / static_cast<T>(axis.length);
  out[number] = sum;
}

template <typename T, bool kLeast>
DF_KERNEL BestKernel(DF_PARAMETER Rows x, DF_PARAMETER Axis axis, T* values, int64_t* places, size_t lines) {
  DF_SHARED Best<T> space[kThreads];
  size_t number = LineNumber(lines);
  Best<T> best = BestOf<kLeast>(LineOf<T>(x, axis, number), axis.length, space);
  if (ThreadIndex() % kLanes != 0) return;
  if (values) values[number] = best.value;
  else places[number] = static_cast<int64_t>(best.at);
}

template <typename T>
DF_KERNEL SoftmaxKernel(DF_PARAMETER Rows x, DF_PARAMETER Axis axis, bool logarithm, T* out, size_t lines) {
  DF_SHARED Best<T> bests[kThreads];
  DF_SHARED T space[kThreads];
  size_t number = LineNumber(lines);
  Line<T> line = LineOf<T>(x, axis, number);
  T largest = BestOf<false>(line, axis.length, bests).value;
  T sum = AddLanes(SumLane<T>(axis.length, [&](size_t i) { return ExpOf(line.x[i * line.step] - largest); }), space);
  if (number != static_cast<size_t>(BlockIndex()) * kLines + ThreadIndex() / kLanes) return;
  T log_sum = T(0);
  if constexpr (std::is_same_v<T, float>)
    if (logarithm) log_sum = LogOf(sum);
  T* to = out + number / (axis.outer * axis.inner) * (axis.outer * axis.length * axis.inner) + line.place;
  for (size_t i = ThreadIndex() % kLanes; i < axis.length; i += kLanes) {
    T value = line.x[i * line.step] - largest;
    to[i * line.step] = logarithm ? value - log_sum : ExpOf(value) / sum;
  }
}

template <typename T>
DF_KERNEL LayerNormKernel(DF_PARAMETER Rows x, DF_PARAMETER Rows scale, DF_PARAMETER Rows bias, size_t lines_each, size_t length, T* out,
                          size_t lines) {
  DF_SHARED T space[kThreads];
  size_t number = LineNumber(lines), row = number / lines_each;
  const T* from = reinterpret_cast<const T*>(RowOf(x, row)) + number % lines_each * length;
  T mean = AddLanes(SumLane<T>(length, [&](size_t i) { return from[i]; }), space) / static_cast<T>(length);
  T squares = AddLanes(SumLane<T>(length, [&](size_t i) { return (from[i] - mean) * (from[i] - mean); }), space);
  T deviation = sqrt(squares / static_cast<T>(length) + T(1e-5));
  if (number != static_cast<size_t>(BlockIndex()) * kLines + ThreadIndex() / kLanes) return;
  auto* by = reinterpret_cast<const T*>(RowOf(scale, row));
  auto* plus = reinterpret_cast<const T*>(RowOf(bias, row));
  for (size_t i = ThreadIndex() % kLanes; i < length; i += kLanes) out[number * length + i] = (from[i] - mean) / deviation * by[i] + plus[i];
}

}  // namespace

void Reduce(Reduction how, Element element, const Rows& x, Axis axis, char* out, size_t rows, Stream stream) {
  size_t lines = rows * axis.outer * axis.inner;
  if (lines == 0) return;
  ForNumbers(element, [&](auto t) {
    using T = decltype(t);
    T* to = reinterpret_cast<T*>(out);
    size_t blocks = Cover(lines, kLines);
    bool mean = how == Reduction::Mean;
    switch (how) {
      case Reduction::Sum:
      case Reduction::Mean:
        if (axis.inner == 1) return Launch(SumLinesKernel<T>, blocks, kThreads, 0, stream, x, axis, to, lines, mean);
        return Launch(SumAcrossKernel<T>, Cover(lines, kThreads), kThreads, 0, stream, x, axis, to, lines, mean);
      case Reduction::Min: return Launch(BestKernel<T, true>, blocks, kThreads, 0, stream, x, axis, to, static_cast<int64_t*>(nullptr), lines);
      case Reduction::Max: return Launch(BestKernel<T, false>, blocks, kThreads, 0, stream, x, axis, to, static_cast<int64_t*>(nullptr), lines);
      case Reduction::ArgMax:
        return Launch(BestKernel<T, false>, blocks, kThreads, 0, stream, x, axis, static_cast<T*>(nullptr), reinterpret_cast<int64_t*>(out), lines);
    }
  });
}

void Softmax(Element element, const Rows& x, Axis axis, bool logarithm, char* out, size_t rows, Stream stream) {
  size_t lines = rows * axis.outer * axis.inner;
  if (lines == 0 || axis.length == 0) return;
  ForReals(element, [&](auto t) {
    using T = decltype(t);
    Launch(SoftmaxKernel<T>, Cover(lines, kLines), kThreads, 0, stream, x, axis, logarithm, reinterpret_cast<T*>(out), lines);
  });
}

void LayerNorm(Element element, const Rows& x, const ScaleAndBias& by, Axis axis, char* out, size_t rows, Stream stream) {
  if (rows * axis.outer == 0 || axis.length == 0) return;
  ForReals(element, [&](auto t) {
    using T = decltype(t);
    Launch(LayerNormKernel<T>, Cover(rows * axis.outer, kLines), kThreads, 0, stream, x, by.scale, by.bias, axis.outer, axis.length,
           reinterpret_cast<T*>(out), rows * axis.outer);
  });
}

}  // namespace df::cuda
