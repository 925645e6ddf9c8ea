// runtime/base/scalar.h
//
// Int and floating-point arithmetic as GHC 9.0 has it, inline: the kernels and the compact code of the tagged
// engine both use these, so that there is one definition. What can fail returns whether it did not.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace df::scalar {

// ---- Int: 64 bits, wraps

inline int64_t Add(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}
inline int64_t Sub(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
}
inline int64_t Mul(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}
inline int64_t Neg(int64_t x) { return Sub(0, x); }
inline int64_t Abs(int64_t x) { return x < 0 ? Neg(x) : x; }
inline int64_t Signum(int64_t x) { return (x > 0) - (x < 0); }

enum class DivisionError : uint8_t { None, Zero, Overflow };

// Of a quotient x / y.
inline DivisionError CheckDivision(int64_t x, int64_t y) {
  if (y == 0) return DivisionError::Zero;
  if (y == -1 && x == INT64_MIN) return DivisionError::Overflow;
  return DivisionError::None;
}

// These ask for y != 0, Quot and Div also for no overflow; a remainder by -1 is 0 even of the least Int.
inline int64_t Quot(int64_t x, int64_t y) { return x / y; }
inline int64_t Rem(int64_t x, int64_t y) { return y == -1 ? 0 : x % y; }
inline int64_t Div(int64_t x, int64_t y) {
  int64_t q = x / y;
  return q - (x % y != 0 && (x < 0) != (y < 0));
}
inline int64_t Mod(int64_t x, int64_t y) {
  int64_t r = Rem(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

// Euclid on absolute values. The absolute value of the least Int is itself, negative, and so may be the
// result then.
inline int64_t Gcd(int64_t x, int64_t y) {
  x = Abs(x);
  y = Abs(y);
  while (y != 0) {
    int64_t r = Rem(x, y);
    x = y;
    y = r;
  }
  return x;
}

// Shifts by 0 or more bits; a negative distance is an overflow, which the caller checks.
inline int64_t ShiftL(int64_t x, int64_t bits) {
  return bits >= 64 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << bits);
}
inline int64_t ShiftR(int64_t x, int64_t bits) { return x >> (bits >= 64 ? 63 : bits); }

// ---- Float and Double

template <typename T>
T Signum(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;  // keeps -0 and NaN
}

// NaN if either is.
template <typename T>
T Larger(T x, T y) {
  return x != x || (y == y && x > y) ? x : y;
}
template <typename T>
T Smaller(T x, T y) {
  return x != x || (y == y && x < y) ? x : y;
}

// Products and quotients of derivatives: what is 0 stays 0, whatever it is multiplied with (docs/gradients.md, "Strong zeros"). All
// other results have the bits of x * y and x / y.
template <typename T>
T StrongMul(T x, T y) {
  const T product = x * y;
  return product != product && (x == 0 || y == 0) ? T(0) : product;
}
template <typename T>
T StrongDiv(T x, T y) {
  const T quotient = x / y;
  return quotient != quotient && (x == 0 || std::isinf(y)) ? T(0) : quotient;
}

// The angle of (x, y) as GHC's own definition rounds it, which is not always what libm's atan2 gives.
template <typename T>
T Atan2(T y, T x) {
  constexpr T kPi = T(3.141592653589793238462643383279502884L);
  auto negative_zero = [](T z) { return z == 0 && std::signbit(z); };
  if (x > 0) return std::atan(y / x);
  if (x == 0 && y > 0) return kPi / 2;
  if (x < 0 && y > 0) return kPi + std::atan(y / x);
  if ((x <= 0 && y < 0) || (x < 0 && negative_zero(y)) || (negative_zero(x) && negative_zero(y)))
    return -Atan2(-y, x);
  if (y == 0 && (x < 0 || negative_zero(x))) return kPi;
  if (x == 0 && y == 0) return y;
  return x + y;  // NaN
}

// x, a whole number of type Float or Double, or NaN or an infinity, as an Int modulo 2^64. NaN and the
// infinities count as decodeFloat gives them, multiples of 2^64.
template <typename T>
int64_t WholeToInt(T x) {
  if (x >= T(-9223372036854775808.0) && x < T(9223372036854775808.0)) return static_cast<int64_t>(x);
  if (!std::isfinite(x)) return 0;
  T low = std::fmod(x, T(18446744073709551616.0));  // exact
  bool negative = low < 0;
  uint64_t bits = static_cast<uint64_t>(negative ? -low : low);
  return static_cast<int64_t>(negative ? 0 - bits : bits);
}

// To nearest, halves to even, whatever the rounding mode is.
template <typename T>
T RoundEven(T x) {
  T down = std::floor(x);
  T rest = x - down;  // exact: |x| below 2^53 where it is not 0
  if (rest < T(0.5)) return down;
  if (rest > T(0.5)) return down + 1;
  if (!std::isfinite(x)) return x;
  return std::fmod(down, T(2)) == 0 ? down : down + 1;
}

template <typename T> int64_t TruncateToInt(T x) { return WholeToInt(std::trunc(x)); }
template <typename T> int64_t RoundToInt(T x) { return WholeToInt(RoundEven(x)); }
template <typename T> int64_t FloorToInt(T x) { return WholeToInt(std::floor(x)); }

// decodeFloat: x = mantissa * 2^exponent with 53 (24) bits in the mantissa, (0, 0) for zero. NaN and
// infinities have no meaning of their own: their bits are read as if they were numbers.
struct Decoded {
  int64_t mantissa = 0;
  int64_t exponent = 0;
};
Decoded Decode(double x);
Decoded Decode(float x);

// m * 2^e; numbers beyond the type's range are infinite, below it 0.
double EncodeDouble(int64_t m, int64_t e);
float EncodeFloat(int64_t m, int64_t e);

}  // namespace df::scalar
