// backends/cuda/functions.h
//
// The functions of backends/cpu/functions.inc for the kernels, and minima, maxima and conversions as runtime/base/scalar.h has them.
#pragma once

#include "backends/cuda/launch.h"

namespace df::cuda {

#define DF_FUNCTION DF_DEVICE
#define DF_TABLE DF_CONSTANTS
#define DF_NO_LIBM
namespace of_float {
#define REAL float
#define REAL_BITS 32
#define BITS uint32_t
#define SIGNED int32_t
#include "backends/cpu/functions.inc"
#undef REAL
#undef REAL_BITS
#undef BITS
#undef SIGNED
}  // namespace of_float
namespace of_double {
#define REAL double
#define REAL_BITS 64
#define BITS uint64_t
#define SIGNED int64_t
#include "backends/cpu/functions.inc"
#undef REAL
#undef REAL_BITS
#undef BITS
#undef SIGNED
}  // namespace of_double
#undef DF_NO_LIBM
#undef DF_FUNCTION
#undef DF_TABLE

DF_DEVICE float StrongProductOf(float x, float y) { return of_float::StrongProductOf(x, y); }
DF_DEVICE double StrongProductOf(double x, double y) { return of_double::StrongProductOf(x, y); }
DF_DEVICE float StrongQuotientOf(float x, float y) { return of_float::StrongQuotientOf(x, y); }
DF_DEVICE double StrongQuotientOf(double x, double y) { return of_double::StrongQuotientOf(x, y); }
DF_DEVICE float ExpOf(float x) { return of_float::ExpOf(x); }
DF_DEVICE double ExpOf(double x) { return of_double::ExpOf(x); }
DF_DEVICE float SigmoidOf(float x) { return of_float::SigmoidOf(x); }
DF_DEVICE double SigmoidOf(double x) { return of_double::SigmoidOf(x); }
DF_DEVICE float TanhOf(float x) { return of_float::TanhOf(x); }
DF_DEVICE float LogOf(float x) { return of_float::LogOf(x); }
DF_DEVICE float ErfOf(float x) { return of_float::ErfOf(x); }

template <typename T>
DF_DEVICE T LargerOf(T x, T y) { return x != x || (y == y && x > y) ? x : y; }
template <typename T>
DF_DEVICE T SmallerOf(T x, T y) { return x != x || (y == y && x < y) ? x : y; }

// Towards zero, modulo 2^64; NaN and infinities are 0.
template <typename T>
DF_DEVICE int64_t TruncateToInt(T x) {
  x = trunc(x);
  if (x >= T(-9223372036854775808.0) && x < T(9223372036854775808.0)) return static_cast<int64_t>(x);
  if (!(x - x == 0)) return 0;
  T low = fmod(x, T(18446744073709551616.0));  // exact
  bool negative = low < 0;
  auto bits = static_cast<uint64_t>(negative ? -low : low);
  return static_cast<int64_t>(negative ? 0 - bits : bits);
}

}  // namespace df::cuda
