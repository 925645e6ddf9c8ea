// Taking floating-point numbers apart and putting them together.
#include "runtime/base/scalar.h"

#include <algorithm>
#include <bit>

namespace df::scalar {
namespace {

template <typename T, typename Bits>
Decoded DecodeBits(T x) {
  constexpr int kMantissa = std::numeric_limits<T>::digits - 1;  // stored bits
  constexpr int kWidth = sizeof(Bits) * 8;
  constexpr Bits kHidden = Bits(1) << kMantissa;
  Bits bits = std::bit_cast<Bits>(x);
  bool negative = bits >> (kWidth - 1);
  Bits biased = (bits >> kMantissa) & ((Bits(1) << (kWidth - 1 - kMantissa)) - 1);
  Bits mantissa = bits & (kHidden - 1);
  if (biased == 0 && mantissa == 0) return {};
  int64_t exponent = static_cast<int64_t>(biased) + std::numeric_limits<T>::min_exponent - 2 - kMantissa;
  if (biased != 0) {
    mantissa |= kHidden;
  } else {
    for (exponent += 1; !(mantissa & kHidden); --exponent) mantissa <<= 1;
  }
  int64_t m = static_cast<int64_t>(mantissa);
  return {negative ? -m : m, exponent};
}

// Beyond these any Int mantissa has left the range of either type.
int Clamp(int64_t e) { return static_cast<int>(std::clamp<int64_t>(e, -10000, 10000)); }

}  // namespace

Decoded Decode(double x) { return DecodeBits<double, uint64_t>(x); }
Decoded Decode(float x) { return DecodeBits<float, uint32_t>(x); }

double EncodeDouble(int64_t m, int64_t e) { return std::ldexp(static_cast<double>(m), Clamp(e)); }
float EncodeFloat(int64_t m, int64_t e) { return std::ldexp(static_cast<float>(m), Clamp(e)); }

}  // namespace df::scalar
