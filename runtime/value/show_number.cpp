// Floating-point numbers as GHC's `show` prints them: the shortest digits that lie strictly between the
// neighbours' midpoints, after R. Burger and K. Dybvig, "Printing floating-point numbers quickly and
// accurately" (PLDI 1996), with the starting point that base's Numeric takes. std::to_chars would not do: it
// accepts the midpoints themselves, which gives 1.0e23 where GHC prints 9.999999999999999e22.
#include <cmath>
#include <limits>

#include <gmp.h>

#include "runtime/base/scalar.h"
#include "runtime/value/show_number.h"

namespace df {
namespace {

struct Mpz {
  mpz_t z;
  Mpz() { mpz_init(z); }
  explicit Mpz(uint64_t value) { mpz_init_set_ui(z, value); }
  ~Mpz() { mpz_clear(z); }
  Mpz(const Mpz&) = delete;
  Mpz& operator=(const Mpz&) = delete;
  operator mpz_ptr() { return z; }
};

struct Digits {
  std::string digits;  // "0".."9"
  int exponent = 0;    // x = 0.d1d2d3... * 10^exponent
};

// Of a positive, finite x = mantissa * 2^exponent with `precision` bits; `min_exponent` is the least exponent
// of the type.
Digits ShortestDigits(int64_t mantissa, int64_t exponent, int precision, int min_exponent) {
  int64_t normal_exponent = exponent;
  if (exponent < min_exponent) {
    mantissa >>= min_exponent - exponent;
    exponent = min_exponent;
  }
  bool power = mantissa == int64_t{1} << (precision - 1);  // the lower neighbour is nearer than the upper one
  // x = r / s; up and down are half the distances to the neighbours, times s.
  Mpz r(static_cast<uint64_t>(mantissa)), s(1), up(1), down(1);
  if (exponent >= 0) {
    auto e = static_cast<mp_bitcnt_t>(exponent);
    mpz_mul_2exp(r, r, e + 1 + power);
    mpz_set_ui(s, power ? 4 : 2);
    mpz_mul_2exp(down, down, e);
    mpz_mul_2exp(up, up, e + power);
  } else {
    power = power && exponent > min_exponent;
    mpz_mul_2exp(r, r, 1 + power);
    mpz_mul_2exp(s, s, static_cast<mp_bitcnt_t>(1 - exponent) + power);
    if (power) mpz_set_ui(up, 2);
  }
  int64_t log2 = precision - 1 + normal_exponent;
  int64_t k = log2 * 8651 / 28738 + (log2 >= 0);
  Mpz top, scaled, ten;
  mpz_add(top, r, up);
  for (;; ++k) {
    mpz_ui_pow_ui(ten, 10, static_cast<unsigned long>(std::llabs(k)));
    mpz_mul(scaled, ten, k >= 0 ? s.z : top.z);
    if (k >= 0 ? mpz_cmp(top, scaled) <= 0 : mpz_cmp(scaled, s) <= 0) break;
  }
  if (k >= 0) {
    mpz_mul(s, s, ten);
  } else {
    mpz_mul(r, r, ten);
    mpz_mul(up, up, ten);
    mpz_mul(down, down, ten);
  }
  Digits out;
  out.exponent = static_cast<int>(k);
  Mpz digit, sum;
  for (;;) {
    mpz_mul_ui(r, r, 10);
    mpz_mul_ui(up, up, 10);
    mpz_mul_ui(down, down, 10);
    mpz_tdiv_qr(digit, r, r, s);
    mpz_add(sum, r, up);
    bool low = mpz_cmp(r, down) < 0, high = mpz_cmp(sum, s) > 0;
    if (low && high) {
      mpz_mul_2exp(sum, r, 1);
      high = mpz_cmp(sum, s) >= 0;
      low = !high;
    }
    out.digits += static_cast<char>('0' + mpz_get_ui(digit) + high);
    if (low || high) return out;
  }
}

template <typename T>
std::string ShowReal(T x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x < 0 ? "-Infinity" : "Infinity";
  std::string sign = std::signbit(x) ? "-" : "";
  if (x == 0) return sign + "0.0";
  scalar::Decoded parts = scalar::Decode(std::fabs(x));
  constexpr int kPrecision = std::numeric_limits<T>::digits;
  Digits d = ShortestDigits(parts.mantissa, parts.exponent, kPrecision,
                            std::numeric_limits<T>::min_exponent - kPrecision);
  if (d.exponent < 0 || d.exponent > 7) {
    std::string fraction = d.digits.size() > 1 ? d.digits.substr(1) : "0";
    return sign + d.digits[0] + "." + fraction + "e" + std::to_string(d.exponent - 1);
  }
  size_t whole = static_cast<size_t>(d.exponent);
  if (d.digits.size() < whole) d.digits.append(whole - d.digits.size(), '0');
  std::string integer = whole == 0 ? "0" : d.digits.substr(0, whole);
  std::string fraction = d.digits.size() > whole ? d.digits.substr(whole) : "0";
  return sign + integer + "." + fraction;
}

}  // namespace

std::string ShowDouble(double value) { return ShowReal(value); }
std::string ShowFloat(float value) { return ShowReal(value); }

}  // namespace df
