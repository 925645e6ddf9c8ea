// runtime/value/integer.h
//
// Integer: a Word if it fits in 64 bits, else a BigInteger; never both for one number. GMP computes what
// overflows. What could be large is estimated before GMP is asked: beyond `max_bytes` (what may still be
// allocated) these throw std::bad_alloc. On numbers of many megabytes they can be given up from a signal handler; then they
// throw OperationAborted (runtime/base/long_operation.h).
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "runtime/value/value.h"

namespace df::integer {

// A read-only mpz of an Integer value, without an allocation. The value must outlive it.
class View {
 public:
  explicit View(const Value& value);
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  mpz_srcptr get() const { return mpz_; }
  operator mpz_srcptr() const { return mpz_; }

 private:
  mp_limb_t limb_;
  mpz_t mpz_;
};

// The number as a value; `mpz` is left unspecified (its memory may have been taken over).
Value Take(mpz_t mpz);
Value FromWord(int64_t word);
// Digits of the base 10, 16 or 8, '-' in front if negative. False if `text` is none.
bool Parse(std::string_view text, Value* out, int base = 10);
std::string ToString(const Value& value);

Value Add(const Value& x, const Value& y, uint64_t max_bytes);
Value Sub(const Value& x, const Value& y, uint64_t max_bytes);
Value Mul(const Value& x, const Value& y, uint64_t max_bytes);
Value Neg(const Value& x, uint64_t max_bytes);
Value Abs(const Value& x, uint64_t max_bytes);
int Signum(const Value& x);

// The divisor is not 0.
enum class Division : uint8_t { Quot, Rem, Div, Mod };
Value Divide(Division kind, const Value& x, const Value& y, uint64_t max_bytes);
Value Gcd(const Value& x, const Value& y, uint64_t max_bytes);

enum class Bits : uint8_t { And, Or, Xor };
Value Bitwise(Bits kind, const Value& x, const Value& y, uint64_t max_bytes);
// By 0 or more bits.
Value ShiftL(const Value& x, int64_t bits, uint64_t max_bytes);
Value ShiftR(const Value& x, int64_t bits, uint64_t max_bytes);

std::strong_ordering Compare(const Value& x, const Value& y);

// Modulo 2^64.
int64_t ToInt(const Value& x);
// x * 2^e. An x beyond 64 bits is cut towards zero to the bits of a Double, as GHC 9.0 does it; a smaller one
// is rounded to the nearest.
double ToDouble(const Value& x, int64_t e = 0);
float ToFloat(const Value& x, int64_t e = 0);
// m * 2^e, cut towards zero.
Value FromDecoded(int64_t m, int64_t e);

}  // namespace df::integer
