#include "backends/cpu/elementwise.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "backends/cpu/level.h"
#include "runtime/base/scalar.h"

namespace df::cpu {

using ir::Op;

namespace {

// ---------------------------------------------------------------- the loops, for each instruction set

// Ahead of a loop whose iterations are independent: where arrays are the same one, elements are read before they are written.
#ifdef __clang__
#define DF_INDEPENDENT  // it would warn where it does not make vectors
#else
#define DF_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <typename T>
struct Loops {
  using One = void (*)(const T*, T*, size_t);
  using Two = void (*)(const T*, const T*, T*, size_t);
#define DF_LOOP(name, ...) One name;
#define DF_LOOP_OWN(name, ...) One name;
#define DF_LOOP_OF_TWO(name, ...) Two name;
#include "backends/cpu/elementwise.def"
  void (*descend)(const T*, const T*, T, T*, size_t);
};

namespace plain_float {
#define REAL float
#define REAL_BITS 32
#define BITS uint32_t
#define SIGNED int32_t
#include "backends/cpu/elementwise_loops.inc"
}  // namespace plain_float
#ifdef DFC_X86_LEVELS
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2_float {
#include "backends/cpu/elementwise_loops.inc"
}  // namespace avx2_float
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,prefer-vector-width=512")
namespace avx512_float {
#include "backends/cpu/elementwise_loops.inc"
}  // namespace avx512_float
#pragma GCC pop_options
#endif
#undef REAL
#undef REAL_BITS
#undef BITS
#undef SIGNED
namespace plain_double {
#define REAL double
#define REAL_BITS 64
#define BITS uint64_t
#define SIGNED int64_t
#include "backends/cpu/elementwise_loops.inc"
}  // namespace plain_double
#ifdef DFC_X86_LEVELS
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2_double {
#include "backends/cpu/elementwise_loops.inc"
}  // namespace avx2_double
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,prefer-vector-width=512")
namespace avx512_double {
#include "backends/cpu/elementwise_loops.inc"
}  // namespace avx512_double
#pragma GCC pop_options
#else
namespace avx2_float = plain_float;
namespace avx512_float = plain_float;
namespace avx2_double = plain_double;
namespace avx512_double = plain_double;
#endif
#undef REAL
#undef REAL_BITS
#undef BITS
#undef SIGNED

// The best that this processor has.
template <typename T>
const Loops<T>& BestLoops();
template <>
const Loops<float>& BestLoops<float>() {
  static const Loops<float>& best = *ForThisProcessor(&plain_float::kLoops, &avx2_float::kLoops, &avx512_float::kLoops);
  return best;
}
template <>
const Loops<double>& BestLoops<double>() {
  static const Loops<double>& best = *ForThisProcessor(&plain_double::kLoops, &avx2_double::kLoops, &avx512_double::kLoops);
  return best;
}

}  // namespace

template <typename T>
UnaryLoop<T> UnaryLoopOf(Op op) {
  const Loops<T>& loops = BestLoops<T>();
  switch (op) {
#define DF_LOOP(name, ...) \
  case Op::name: return loops.name;
#define DF_LOOP_OWN(name, ...) \
  case Op::name: return loops.name;
#include "backends/cpu/elementwise.def"
    default: return nullptr;
  }
}

template <typename T>
BinaryLoop<T> BinaryLoopOf(Op op) {
  const Loops<T>& loops = BestLoops<T>();
  switch (op) {
#define DF_LOOP_OF_TWO(name, ...) \
  case Op::name: return loops.name;
#include "backends/cpu/elementwise.def"
    default: return nullptr;
  }
}

namespace {

// ---------------------------------------------------------------- one element after another

template <typename T, typename F>
bool Each(const T* x, T* out, size_t count, F f) {
  for (size_t i = 0; i < count; ++i) out[i] = f(x[i]);
  return true;
}
template <typename T, typename F>
bool Each(const T* x, const T* y, T* out, size_t count, F f) {
  for (size_t i = 0; i < count; ++i) out[i] = f(x[i], y[i]);
  return true;
}

bool UnaryInt(Op op, const int64_t* x, int64_t* out, size_t count) {
  switch (op) {
    case Op::Neg: return Each(x, out, count, scalar::Neg);
    case Op::Abs: return Each(x, out, count, scalar::Abs);
    case Op::Signum: return Each(x, out, count, [](int64_t v) { return scalar::Signum(v); });
    default: return false;
  }
}

// By libm's functions, as of numbers.
template <typename T>
bool OfLibm(Op op, const T* x, T* out, size_t count) {
#define REAL T
  switch (op) {
#define DF_LIBM(name, ...) \
  case Op::name: return Each(x, out, count, [](T v) { return __VA_ARGS__; });
#include "backends/cpu/elementwise.def"
    default: return false;
  }
#undef REAL
}

template <typename T>
bool UnaryReal(Op op, const T* x, T* out, size_t count) {
  if (UnaryLoop<T> loop = UnaryLoopOf<T>(op)) return loop(x, out, count), true;
  if (op == Op::Signum) return Each(x, out, count, scalar::Signum<T>);
  return OfLibm(op, x, out, count);
}

}  // namespace

template <typename T>
bool Unary(Op op, const T* x, T* out, size_t count) {
  if constexpr (std::is_same_v<T, int64_t>) return UnaryInt(op, x, out, count);
  else return UnaryReal(op, x, out, count);
}

template <typename T>
bool UnaryOfNumbers(Op op, const T* x, T* out, size_t count) {
  if constexpr (!std::is_same_v<T, int64_t>)
    if (OfLibm(op, x, out, count)) return true;
  return Unary(op, x, out, count);
}

template <typename T>
bool Binary(Op op, const T* x, const T* y, T* out, size_t count) {
  constexpr bool kReal = !std::is_same_v<T, int64_t>;
  switch (op) {
    case Op::Min: return Each(x, y, out, count, scalar::Smaller<T>);
    case Op::Max: return Each(x, y, out, count, scalar::Larger<T>);
    default: break;
  }
  if constexpr (kReal) {
    if (BinaryLoop<T> loop = BinaryLoopOf<T>(op)) return loop(x, y, out, count), true;
    if (op == Op::Pow) return Each(x, y, out, count, [](T v, T p) { return std::pow(v, p); });
    return false;
  } else {
    switch (op) {
      case Op::Add: return Each(x, y, out, count, scalar::Add);
      case Op::Sub: return Each(x, y, out, count, scalar::Sub);
      case Op::Mul: return Each(x, y, out, count, scalar::Mul);
      default: return false;
    }
  }
}

template <typename T>
void Descend(const T* x, const T* g, T k, T* out, size_t count) {
  BestLoops<T>().descend(x, g, k, out, count);
}

template <typename T>
bool Compare(Op op, const T* x, const T* y, uint8_t* out, size_t count) {
  auto each = [&](auto holds) {
    for (size_t i = 0; i < count; ++i) out[i] = holds(x[i], y[i]);
    return true;
  };
  switch (op) {
    case Op::Eq: return each([](T a, T b) { return a == b; });
    case Op::Ne: return each([](T a, T b) { return a != b; });
    case Op::Lt: return each([](T a, T b) { return a < b; });
    case Op::Le: return each([](T a, T b) { return a <= b; });
    case Op::Gt: return each([](T a, T b) { return a > b; });
    case Op::Ge: return each([](T a, T b) { return a >= b; });
    default: return false;
  }
}

template <typename T>
void Select(const uint8_t* choose, const T* x, const T* y, T* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = choose[i] ? x[i] : y[i];
}

void Not(const uint8_t* x, uint8_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = !x[i];
}

template <typename From, typename To>
void Convert(const From* x, To* out, size_t count) {
  constexpr bool kTruncates = std::is_floating_point_v<From> && std::is_same_v<To, int64_t>;
  for (size_t i = 0; i < count; ++i) {
    if constexpr (kTruncates) out[i] = scalar::TruncateToInt(x[i]);
    else out[i] = static_cast<To>(x[i]);
  }
}

template <typename T>
void Exp(const T* x, T* out, size_t count) {
  BestLoops<T>().Exp(x, out, count);
}

#define DF_FOR_NUMBERS(T)                                             \
  template bool Unary<T>(Op, const T*, T*, size_t);                   \
  template bool UnaryOfNumbers<T>(Op, const T*, T*, size_t);          \
  template bool Binary<T>(Op, const T*, const T*, T*, size_t);        \
  template bool Compare<T>(Op, const T*, const T*, uint8_t*, size_t); \
  template void Select<T>(const uint8_t*, const T*, const T*, T*, size_t);
DF_FOR_NUMBERS(float)
DF_FOR_NUMBERS(double)
DF_FOR_NUMBERS(int64_t)
#undef DF_FOR_NUMBERS
template bool Compare<uint8_t>(Op, const uint8_t*, const uint8_t*, uint8_t*, size_t);
template void Select<uint8_t>(const uint8_t*, const uint8_t*, const uint8_t*, uint8_t*, size_t);
template UnaryLoop<float> UnaryLoopOf<float>(Op);
template UnaryLoop<double> UnaryLoopOf<double>(Op);
template BinaryLoop<float> BinaryLoopOf<float>(Op);
template BinaryLoop<double> BinaryLoopOf<double>(Op);
template void Descend<float>(const float*, const float*, float, float*, size_t);
template void Descend<double>(const double*, const double*, double, double*, size_t);
template void Exp<float>(const float*, float*, size_t);
template void Exp<double>(const double*, double*, size_t);
template void Convert<float, double>(const float*, double*, size_t);
template void Convert<float, int64_t>(const float*, int64_t*, size_t);
template void Convert<double, float>(const double*, float*, size_t);
template void Convert<double, int64_t>(const double*, int64_t*, size_t);
template void Convert<int64_t, float>(const int64_t*, float*, size_t);
template void Convert<int64_t, double>(const int64_t*, double*, size_t);

}  // namespace df::cpu
