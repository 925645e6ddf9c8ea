#include "backends/cpu/product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cpu/layout.h"
#include "backends/cpu/level.h"
#include "runtime/base/interruptible_loops.h"
#include "runtime/base/scalar.h"

#ifdef DFC_X86_LEVELS
#include <immintrin.h>
#endif

namespace df::cpu {

namespace {

// What the loops go over at a time.
template <typename T>
size_t PanelWidth() {
  static const size_t width = ForThisProcessor<size_t>(2, 3 * 32 / sizeof(T), 3 * 64 / sizeof(T));
  return width;
}
template <>
size_t PanelWidth<int64_t>() {
  return 64;
}

// ---------------------------------------------------------------- the loops, for each instruction set

namespace plain_float {
#define REAL float
#define VECTOR float
#define LANES 1
#define ROWS 4
#define COLUMNS 2
#define WIDE 2
#define LOAD(p) (*(p))
#define STORE(p, x) (*(p) = (x))
#define SPLAT(x) (x)
#define FMA(x, y, z) std::fma(x, y, z)
#define MASK bool
#define FIRST(n) false
#define LOAD_PART(p, mask) LOAD(p)
#define STORE_PART(p, mask, x) STORE(p, x)
#define IN_REGISTER(x) static_cast<void>(x)
#include "backends/cpu/product_loops.inc"
}  // namespace plain_float
namespace plain_double {
#define REAL double
#define VECTOR double
#define LANES 1
#define ROWS 4
#define COLUMNS 2
#define WIDE 2
#define LOAD(p) (*(p))
#define STORE(p, x) (*(p) = (x))
#define SPLAT(x) (x)
#define FMA(x, y, z) std::fma(x, y, z)
#define MASK bool
#define FIRST(n) false
#define LOAD_PART(p, mask) LOAD(p)
#define STORE_PART(p, mask, x) STORE(p, x)
#define IN_REGISTER(x) static_cast<void>(x)
#include "backends/cpu/product_loops.inc"
}  // namespace plain_double

#ifdef DFC_X86_LEVELS
#pragma GCC push_options
#pragma GCC target("avx2,fma")
// All bits of the first n lanes, of whole numbers as wide as a lane.
template <typename Lane>
__m256i FirstLanes(size_t n) {
  constexpr size_t kLanes = 32 / sizeof(Lane);
  static constexpr std::array<Lane, 2 * kLanes> kChoice = [] {
    std::array<Lane, 2 * kLanes> choice{};
    std::fill_n(choice.begin(), kLanes, Lane{-1});
    return choice;
  }();
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kChoice.data() + kLanes - n));
}
namespace avx2_float {
#define REAL float
#define VECTOR __m256
#define LANES 8
#define ROWS 4
#define COLUMNS 3
#define WIDE 4
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, x) _mm256_storeu_ps(p, x)
#define SPLAT(x) _mm256_set1_ps(x)
#define FMA(x, y, z) _mm256_fmadd_ps(x, y, z)
#define MASK __m256i
#define FIRST(n) FirstLanes<int32_t>(n)
#define LOAD_PART(p, mask) _mm256_maskload_ps(p, mask)
#define STORE_PART(p, mask, x) _mm256_maskstore_ps(p, mask, x)
#define IN_REGISTER(x) asm("" : "+v"(x))
#include "backends/cpu/product_loops.inc"
}  // namespace avx2_float
namespace avx2_double {
#define REAL double
#define VECTOR __m256d
#define LANES 4
#define ROWS 4
#define COLUMNS 3
#define WIDE 4
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, x) _mm256_storeu_pd(p, x)
#define SPLAT(x) _mm256_set1_pd(x)
#define FMA(x, y, z) _mm256_fmadd_pd(x, y, z)
#define MASK __m256i
#define FIRST(n) FirstLanes<int64_t>(n)
#define LOAD_PART(p, mask) _mm256_maskload_pd(p, mask)
#define STORE_PART(p, mask, x) _mm256_maskstore_pd(p, mask, x)
#define IN_REGISTER(x) asm("" : "+v"(x))
#include "backends/cpu/product_loops.inc"
}  // namespace avx2_double
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,prefer-vector-width=512")
namespace avx512_float {
#define REAL float
#define VECTOR __m512
#define LANES 16
#define ROWS 8
#define COLUMNS 3
#define WIDE 6
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, x) _mm512_storeu_ps(p, x)
#define SPLAT(x) _mm512_set1_ps(x)
#define FMA(x, y, z) _mm512_fmadd_ps(x, y, z)
#define MASK __mmask16
#define FIRST(n) static_cast<__mmask16>((1u << (n)) - 1)
#define LOAD_PART(p, mask) _mm512_maskz_loadu_ps(mask, p)
#define STORE_PART(p, mask, x) _mm512_mask_storeu_ps(p, mask, x)
#define IN_REGISTER(x) asm("" : "+v"(x))
#include "backends/cpu/product_loops.inc"
}  // namespace avx512_float
namespace avx512_double {
#define REAL double
#define VECTOR __m512d
#define LANES 8
#define ROWS 8
#define COLUMNS 3
#define WIDE 6
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, x) _mm512_storeu_pd(p, x)
#define SPLAT(x) _mm512_set1_pd(x)
#define FMA(x, y, z) _mm512_fmadd_pd(x, y, z)
#define MASK __mmask8
#define FIRST(n) static_cast<__mmask8>((1u << (n)) - 1)
#define LOAD_PART(p, mask) _mm512_maskz_loadu_pd(mask, p)
#define STORE_PART(p, mask, x) _mm512_mask_storeu_pd(p, mask, x)
#define IN_REGISTER(x) asm("" : "+v"(x))
#include "backends/cpu/product_loops.inc"
}  // namespace avx512_double
#pragma GCC pop_options
#endif

template <typename T>
using Loop = void (*)(Matrix<const T>, Matrix<const T>, Matrix<T>, ProductSize, bool, bool, T*);

#ifndef DFC_X86_LEVELS
namespace avx2_float = plain_float;
namespace avx512_float = plain_float;
namespace avx2_double = plain_double;
namespace avx512_double = plain_double;
#endif

constexpr size_t kMostLanes = 16, kMostColumns = 6;
// Rows of y that are gone over at a time: a strip of so many stays in the caches. Sums go on where they stood.
constexpr size_t kDepth = 512;
// The same where x lies anywhere, all of which is gone over for each strip of y.
constexpr size_t kDepthOfRows = 128;

// The loops' room.
template <typename T>
T* Space() {
  static thread_local std::vector<T> space(kDepth * kMostColumns * kMostLanes);
  return space.data();
}

// What the loops are to do with the sum in `out`, and how y is given.
enum class Sum : bool { New, GoesOn };
enum class Right : bool { AsIs, Turned };

template <typename T>
void Run(Loop<T> loop, Matrix<const T> x, Matrix<const T> y, Matrix<T> out, ProductSize size, Sum sum = Sum::New, Right right = Right::AsIs) {
  auto [m, k, n] = size;
  bool more = sum == Sum::GoesOn, turned = right == Right::Turned;
  if (m == 0 || n == 0 || (k == 0 && more)) return;
  if (k == 0) {
    for (size_t i = 0; i < m; ++i) std::fill(out.Row(i), out.Row(i) + n, T(0));
    return;
  }
  // Of one column: as a product of a row, the column, with x transposed.
  if (n == 1 && m > 1 && !more && !turned) {
    std::vector<T> column(y.stride == 1 ? 0 : k), row(out.stride == 1 ? 0 : m);
    for (size_t l = 0; l < column.size(); ++l) column[l] = *y.Row(l);
    Run<T>(loop, {column.empty() ? y.data : column.data(), k}, x, {row.empty() ? out.data : row.data(), m}, {1, k, m}, Sum::New, Right::Turned);
    for (size_t i = 0; i < row.size(); ++i) *out.Row(i) = row[i];
    return;
  }
  // By pieces of the result that take some milliseconds. Which element stands in which changes nothing.
  constexpr size_t kMostRows = 256, kMostWidth = 3072;
  T* space = Space<T>();
  InPieces(n, kMostWidth, [&, m = m, k = k](size_t j, size_t width) {
    InPieces(m, kMostRows, [&](size_t i, size_t rows) {
      for (size_t l = 0; l == 0 || l < k; l += kDepth) {
        if (l > 0 && rows * width >= kPiece) GiveUpIfAsked();
        loop(x.From(i, l), turned ? y.From(j, l) : y.From(l, j), out.From(i, j), {rows, std::min(k - l, kDepth), width}, more || l > 0, turned, space);
      }
    });
  });
}

template <typename T>
Loop<T> LoopOf();
template <>
Loop<float> LoopOf<float>() {
  static const auto loop = ForThisProcessor<Loop<float>>(plain_float::Product, avx2_float::Product, avx512_float::Product);
  return loop;
}
template <>
Loop<double> LoopOf<double>() {
  static const auto loop = ForThisProcessor<Loop<double>>(plain_double::Product, avx2_double::Product, avx512_double::Product);
  return loop;
}

// Calls f(first column, columns, panel) for each. P: T, constant or not. A few columns that would be left stand in the last panel.
template <typename P, typename F>
void ForPanels(P* panels, size_t k, size_t n, F f) {
  using T = std::remove_const_t<P>;
  for (size_t j = 0, width = 0; j < n; j += width, panels += k * width) {
    width = n - j <= WidestPanel<T>() ? n - j : PanelWidth<T>();
    f(j, width, panels);
  }
}

template <typename T>
using LoopOfRows = void (*)(const T* const*, const T* const*, T*, ProductSize, bool, T*);

template <typename T>
void AddTransposed(LoopOfRows<T> loop, const T* const* x, const T* const* y, T* out, ProductSize size, bool fresh) {
  auto [m, rows, n] = size;
  if (m == 0 || n == 0 || (rows == 0 && !fresh)) return;
  if (rows == 0) {
    std::fill(out, out + m * n, T(0));
    return;
  }
  T* space = Space<T>();
  InPieces(rows, kDepthOfRows, [&, m = m, n = n](size_t l, size_t count) { loop(x + l, y + l, out, {m, count, n}, !fresh || l > 0, space); });
}

}  // namespace

template <>
void MatMul<float>(Matrix<const float> x, Matrix<const float> y, Matrix<float> out, ProductSize size) {
  Run(LoopOf<float>(), x, y, out, size);
}

template <>
void MatMul<double>(Matrix<const double> x, Matrix<const double> y, Matrix<double> out, ProductSize size) {
  Run(LoopOf<double>(), x, y, out, size);
}

template <>
void MatMul<int64_t>(Matrix<const int64_t> x, Matrix<const int64_t> y, Matrix<int64_t> out, ProductSize size) {
  auto [m, k, n] = size;
  for (size_t i = 0; i < m; ++i) {
    int64_t* row = out.Row(i);
    std::fill(row, row + n, int64_t{0});
    InPieces(k, std::max<size_t>(1, kPiece / std::max<size_t>(1, n)), [&, n = n](size_t first, size_t count) {
      for (size_t l = first; l < first + count; ++l)
        for (size_t j = 0; j < n; ++j) row[j] = scalar::Add(row[j], scalar::Mul(x.Row(i)[l], y.Row(l)[j]));
    });
    if (i % 64 == 63) GiveUpIfAsked();
  }
}

template <>
void MatMulTransposed<float>(Matrix<const float> x, Matrix<const float> y, Matrix<float> out, ProductSize size) {
  Run(LoopOf<float>(), x, y, out, size, Sum::New, Right::Turned);
}

template <>
void MatMulTransposed<double>(Matrix<const double> x, Matrix<const double> y, Matrix<double> out, ProductSize size) {
  Run(LoopOf<double>(), x, y, out, size, Sum::New, Right::Turned);
}

template <>
void MatMulTransposed<int64_t>(Matrix<const int64_t> x, Matrix<const int64_t> y, Matrix<int64_t> out, ProductSize size) {
  auto [m, k, n] = size;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (size_t l = 0; l < k; ++l) sum = scalar::Add(sum, scalar::Mul(x.Row(i)[l], y.Row(j)[l]));
      out.Row(i)[j] = sum;
    }
}

template <typename T>
size_t WidestPanel() {
  return PanelWidth<T>() + PanelWidth<T>() / 3;
}

template <typename T>
void PutIntoPanels(const T* y, size_t k, size_t n, T* panels) {
  ForPanels(panels, k, n, [&](size_t j, size_t width, T* panel) {
    GiveUpIfAsked();
    for (size_t l = 0; l < k; ++l) std::memcpy(panel + l * width, y + l * n + j, width * sizeof(T));
  });
}

template <typename T>
void PutTurnedIntoPanels(const T* y, size_t k, size_t n, T* panels) {
  ForPanels(panels, k, n, [&](size_t j, size_t width, T* panel) { Turn(y + j * k, k, width, k, panel); });
}

template <typename T>
void MatMulPanels(Matrix<const T> x, const T* panels, Matrix<T> out, ProductSize size) {
  ForPanels(panels, size.k, size.n, [&](size_t j, size_t width, const T* panel) {
    MatMul<T>(x, {panel, width}, out.From(0, j), {size.m, size.k, width});
  });
}

#define DF_PANELS(T)                                                  \
  template size_t WidestPanel<T>();                                   \
  template void PutIntoPanels<T>(const T*, size_t, size_t, T*);       \
  template void PutTurnedIntoPanels<T>(const T*, size_t, size_t, T*); \
  template void MatMulPanels<T>(Matrix<const T>, const T*, Matrix<T>, ProductSize);
DF_PANELS(float)
DF_PANELS(double)
DF_PANELS(int64_t)
#undef DF_PANELS

template <>
void AddTransposedProduct<float>(const float* const* x, const float* const* y, float* out, size_t rows, size_t m, size_t n, bool fresh) {
  static const auto loop =
      ForThisProcessor<LoopOfRows<float>>(plain_float::ProductOfRows, avx2_float::ProductOfRows, avx512_float::ProductOfRows);
  AddTransposed(loop, x, y, out, {m, rows, n}, fresh);
}

template <>
void AddTransposedProduct<double>(const double* const* x, const double* const* y, double* out, size_t rows, size_t m, size_t n, bool fresh) {
  static const auto loop =
      ForThisProcessor<LoopOfRows<double>>(plain_double::ProductOfRows, avx2_double::ProductOfRows, avx512_double::ProductOfRows);
  AddTransposed(loop, x, y, out, {m, rows, n}, fresh);
}

}  // namespace df::cpu
