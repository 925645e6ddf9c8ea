#include "backends/cpu/elementwise.h"

#include <cmath>
#include <type_traits>

#include <Eigen/Core>

#include "runtime/scalar.h"

namespace df::cpu {

using ir::Op;

namespace {

// The elements up to the end of the buffer.
template <typename T>
size_t Padded(size_t count) {
  constexpr size_t kEach = 64 / sizeof(T);
  return (count + kEach - 1) / kEach * kEach;
}

template <typename T>
using Elements = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Aligned64>;
template <typename T>
using Results = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Aligned64>;

template <typename T>
Elements<T> In(const T* x, size_t count) {
  return Elements<T>(x, static_cast<Eigen::Index>(Padded<T>(count)));
}
template <typename T>
Results<T> Out(T* x, size_t count) {
  return Results<T>(x, static_cast<Eigen::Index>(Padded<T>(count)));
}

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

template <typename T>
bool UnaryReal(Op op, const T* x, T* out, size_t count) {
  auto in = In(x, count);
  auto to = Out(out, count);
  switch (op) {
    case Op::Neg: to = -in; return true;
    case Op::Abs: to = in.abs(); return true;
    case Op::Sqrt: return Each(x, out, count, [](T v) { return std::sqrt(v); });
    case Op::Exp: to = in.exp(); return true;
    case Op::Log: to = in.log(); return true;
    case Op::Sin: return Each(x, out, count, [](T v) { return std::sin(v); });
    case Op::Cos: return Each(x, out, count, [](T v) { return std::cos(v); });
    case Op::Tan: return Each(x, out, count, [](T v) { return std::tan(v); });
    case Op::Asin: return Each(x, out, count, [](T v) { return std::asin(v); });
    case Op::Acos: return Each(x, out, count, [](T v) { return std::acos(v); });
    case Op::Atan: return Each(x, out, count, [](T v) { return std::atan(v); });
    case Op::Sinh: return Each(x, out, count, [](T v) { return std::sinh(v); });
    case Op::Cosh: return Each(x, out, count, [](T v) { return std::cosh(v); });
    case Op::Tanh:
      // Eigen has tanh in vectors for Float alone.
      if constexpr (sizeof(T) == 4) {
        to = in.tanh();
        return true;
      } else {
        return Each(x, out, count, [](T v) { return std::tanh(v); });
      }
    case Op::Asinh: return Each(x, out, count, [](T v) { return std::asinh(v); });
    case Op::Acosh: return Each(x, out, count, [](T v) { return std::acosh(v); });
    case Op::Atanh: return Each(x, out, count, [](T v) { return std::atanh(v); });
    case Op::Signum: return Each(x, out, count, scalar::Signum<T>);
    case Op::Sigmoid: to = T(1) / (T(1) + (-in).exp()); return true;
    case Op::Relu: return Each(x, out, count, [](T v) { return v < 0 ? T(0) : v; });
    default: return false;
  }
}

}  // namespace

template <typename T>
bool Unary(Op op, const T* x, T* out, size_t count) {
  if constexpr (std::is_same_v<T, int64_t>) return UnaryInt(op, x, out, count);
  else return UnaryReal(op, x, out, count);
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
    auto a = In(x, count), b = In(y, count);
    auto to = Out(out, count);
    switch (op) {
      case Op::Add: to = a + b; return true;
      case Op::Sub: to = a - b; return true;
      case Op::Mul: to = a * b; return true;
      case Op::FDiv: to = a / b; return true;
      case Op::Pow: return Each(x, y, out, count, [](T v, T p) { return std::pow(v, p); });
      default: return false;
    }
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
  Out(out, count) = In(x, count).exp();
}

#define DF_FOR_NUMBERS(T)                                             \
  template bool Unary<T>(Op, const T*, T*, size_t);                   \
  template bool Binary<T>(Op, const T*, const T*, T*, size_t);        \
  template bool Compare<T>(Op, const T*, const T*, uint8_t*, size_t); \
  template void Select<T>(const uint8_t*, const T*, const T*, T*, size_t);
DF_FOR_NUMBERS(float)
DF_FOR_NUMBERS(double)
DF_FOR_NUMBERS(int64_t)
#undef DF_FOR_NUMBERS
template bool Compare<uint8_t>(Op, const uint8_t*, const uint8_t*, uint8_t*, size_t);
template void Select<uint8_t>(const uint8_t*, const uint8_t*, const uint8_t*, uint8_t*, size_t);
template void Exp<float>(const float*, float*, size_t);
template void Exp<double>(const double*, double*, size_t);
template void Convert<float, double>(const float*, double*, size_t);
template void Convert<float, int64_t>(const float*, int64_t*, size_t);
template void Convert<double, float>(const double*, float*, size_t);
template void Convert<double, int64_t>(const double*, int64_t*, size_t);
template void Convert<int64_t, float>(const int64_t*, float*, size_t);
template void Convert<int64_t, double>(const int64_t*, double*, size_t);

}  // namespace df::cpu
