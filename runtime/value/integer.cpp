// Integer arithmetic: words while they do, GMP beyond.
#include "runtime/value/integer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "runtime/base/long_operation.h"

namespace df::integer {
namespace {

constexpr uint64_t kLimbBytes = sizeof(mp_limb_t);
// GMP keeps sizes in an int and ends the program beyond it.
constexpr uint64_t kMaxLimbs = (uint64_t{1} << 31) - 16;

bool Small(const Value& x) { return x.is_word(); }

uint64_t Limbs(const Value& x) {
  return Small(x) ? 1 : mpz_size(static_cast<BigInteger*>(x.object())->value);
}

// Says no before GMP would allocate `limbs` limbs and as much again for its own use.
void Reserve(uint64_t limbs, uint64_t max_bytes) {
  if (limbs > kMaxLimbs || limbs > max_bytes / kLimbBytes) throw std::bad_alloc();
}

// A result under construction; freed if something throws.
struct Scratch {
  mpz_t z;
  Scratch() { mpz_init(z); }
  ~Scratch() { mpz_clear(z); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Value Done() { return Take(z); }
  // Computes with numbers of `limbs` limbs into z; may be given up (long_operation.h).
  template <typename Call>
  void Compute(uint64_t limbs, Call call) {
    RunLongOperation(limbs, call, [this] { mpz_init(z); });
  }
};

// A number's amount and sign. The value must outlive it.
struct Amount {
  explicit Amount(const Value& value) {
    if (value.is_word()) {
      negative = value.word() < 0;
      own = negative ? 0 - static_cast<uint64_t>(value.word()) : static_cast<uint64_t>(value.word());
      limbs = &own;
      size = own != 0;
    } else {
      mpz_srcptr big = static_cast<BigInteger*>(value.object())->value;
      negative = mpz_sgn(big) < 0;
      limbs = mpz_limbs_read(big);
      size = static_cast<mp_size_t>(mpz_size(big));
    }
  }
  Amount(const Amount&) = delete;
  Amount& operator=(const Amount&) = delete;
  const mp_limb_t* limbs;
  mp_size_t size;  // 0 of 0
  bool negative;

 private:
  mp_limb_t own;
};

// Numbers of so few limbs together are computed where the result will stay, limb by limb: GMP's functions of whole numbers would take
// three times as long for those of a few limbs, and their size asks for no way to give them up.
constexpr uint64_t kFewLimbs = 1024;
static_assert(GMP_NUMB_BITS == 64);

class Result {
 public:
  explicit Result(mp_size_t limbs)
      : big_(Value::Adopt(ValueKind::Object, new BigInteger)), number_(static_cast<BigInteger*>(big_.object())->value),
        limbs_(mpz_limbs_write(number_, limbs)) {}
  mp_limb_t* limbs() { return limbs_; }
  // So many limbs have been written; those above the number's are 0.
  Value Done(mp_size_t limbs, bool negative) {
    mpz_limbs_finish(number_, negative ? -limbs : limbs);
    if (mpz_fits_slong_p(number_)) return Value::Word(mpz_get_si(number_));
    return std::move(big_);
  }

 private:
  Value big_;
  mpz_ptr number_;
  mp_limb_t* limbs_;
};

// x + y, or x - y.
Value FewSum(const Value& x, const Value& y, bool subtract) {
  Amount a(x), b(y);
  b.negative ^= subtract;
  const Amount *large = &a, *small = &b;
  if (a.size < b.size) std::swap(large, small);
  if (small->size == 0) {
    Result sum(large->size);
    mpn_copyi(sum.limbs(), large->limbs, large->size);
    return sum.Done(large->size, large->negative);
  }
  if (a.negative == b.negative) {
    Result sum(large->size + 1);
    sum.limbs()[large->size] = mpn_add(sum.limbs(), large->limbs, large->size, small->limbs, small->size);
    return sum.Done(large->size + 1, a.negative);
  }
  if (a.size == b.size) {
    int order = mpn_cmp(large->limbs, small->limbs, a.size);
    if (order == 0) return Value::Word(0);
    if (order < 0) std::swap(large, small);
  }
  Result difference(large->size);
  mpn_sub(difference.limbs(), large->limbs, large->size, small->limbs, small->size);
  return difference.Done(large->size, large->negative);
}

Value FewProduct(const Value& x, const Value& y) {
  Amount a(x), b(y);
  const Amount *large = &a, *small = &b;
  if (a.size < b.size) std::swap(large, small);
  if (small->size == 0) return Value::Word(0);
  mp_size_t size = a.size + b.size;
  Result product(size);
  if (small->size == 1) product.limbs()[large->size] = mpn_mul_1(product.limbs(), large->limbs, large->size, small->limbs[0]);
  else mpn_mul(product.limbs(), large->limbs, large->size, small->limbs, small->size);
  return product.Done(size, a.negative != b.negative);
}

Value FewShifted(const Value& x, uint64_t bits) {
  Amount a(x);
  auto whole = static_cast<mp_size_t>(bits / GMP_NUMB_BITS);
  auto rest = static_cast<unsigned>(bits % GMP_NUMB_BITS);
  mp_size_t size = a.size + whole + 1;
  Result shifted(size);
  mp_limb_t* to = shifted.limbs();
  std::fill_n(to, whole, mp_limb_t{0});
  to[size - 1] = 0;
  if (rest) to[size - 1] = mpn_lshift(to + whole, a.limbs, a.size, rest);
  else mpn_copyi(to + whole, a.limbs, a.size);
  return shifted.Done(size, a.negative);
}

// By a word that is not 0.
Value FewDivided(Division kind, const Value& x, int64_t y) {
  Amount a(x);
  mp_limb_t divisor = y < 0 ? 0 - static_cast<uint64_t>(y) : static_cast<uint64_t>(y);
  bool signs_differ = a.negative != (y < 0);
  if (kind == Division::Rem || kind == Division::Mod) {
    auto rest = static_cast<int64_t>(mpn_mod_1(a.limbs, a.size, divisor));  // below the divisor, which is 2^63 at most
    if (a.negative) rest = -rest;
    return Value::Word(kind == Division::Mod && rest != 0 && signs_differ ? rest + y : rest);
  }
  Result quotient(a.size + 1);
  mp_limb_t rest = mpn_divrem_1(quotient.limbs(), 0, a.limbs, a.size, divisor);
  quotient.limbs()[a.size] = 0;
  if (kind == Division::Div && rest != 0 && signs_differ) mpn_add_1(quotient.limbs(), quotient.limbs(), a.size + 1, 1);
  return quotient.Done(a.size + 1, signs_differ);
}

// A quotient of large numbers that is small itself, as a digit that a spigot gives: mostly the upper bits of both say what it is, and
// GMP, which multiplies it with the whole divisor, is not asked. The quotient of the amounts, cut off; only if it is not exact.
//
// With d the upper 63 bits of |y|, n as many of |x|, and both cut off at 2^e: d 2^e <= |y| < (d + 1) 2^e, and the same for n. So
// |x| / |y| is above n / (d + 1) and below (n + 1) / d. If both have the same whole part that is the quotient's, and it is not
// exact, because it is below n / (d + 1).
std::optional<uint64_t> SmallQuotient(mpz_srcptr x, mpz_srcptr y) {
  constexpr size_t kFew = 4;  // limbs that GMP divides as fast
  constexpr size_t kTop = 63, kQuotient = 48;
  if (mpz_size(y) < kFew) return std::nullopt;
  size_t bits_x = mpz_sizeinbase(x, 2), bits_y = mpz_sizeinbase(y, 2);
  if (bits_x < bits_y) return std::nullopt;
  if (bits_x > bits_y + kQuotient) return std::nullopt;
  size_t cut = bits_y - kTop, limb = cut / GMP_NUMB_BITS, shift = cut % GMP_NUMB_BITS;
  auto upper = [&](mpz_srcptr z) {
    auto at = [&](size_t i) -> unsigned __int128 { return mpz_getlimbn(z, static_cast<mp_size_t>(limb + i)); };
    unsigned __int128 low = at(0) | at(1) << 64;
    return shift == 0 ? low : low >> shift | at(2) << (128 - shift);
  };
  unsigned __int128 n = upper(x);
  auto d = static_cast<uint64_t>(upper(y));
  auto quotient = static_cast<uint64_t>(n / (d + 1));
  // Below n / d + 1 / d <= n / d rounded down + 1, so that number is the most.
  if (n - static_cast<unsigned __int128>(quotient) * d >= d) return std::nullopt;
  return quotient;
}

}  // namespace

View::View(const Value& value) {
  if (value.is_word()) {
    int64_t w = value.word();
    limb_ = w < 0 ? 0 - static_cast<uint64_t>(w) : static_cast<uint64_t>(w);
    mpz_roinit_n(mpz_, &limb_, w < 0 ? -1 : w > 0 ? 1 : 0);
  } else {
    mpz_srcptr big = static_cast<BigInteger*>(value.object())->value;
    mpz_roinit_n(mpz_, mpz_limbs_read(big), mpz_sgn(big) * static_cast<mp_size_t>(mpz_size(big)));
  }
}

Value FromWord(int64_t word) { return Value::Word(word); }

Value Take(mpz_t mpz) {
  if (mpz_fits_slong_p(mpz)) return Value::Word(mpz_get_si(mpz));
  auto* big = new BigInteger;
  mpz_swap(big->value, mpz);
  return Value::Adopt(ValueKind::Object, big);
}

bool Parse(std::string_view text, Value* out, int base) {
  std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  auto is_digit = [base](char c) {
    int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
    return value < base;
  };
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return false;
  // log2(10) bits a digit; the conversion needs some of the same size besides.
  Reserve(digits.size() / 19 * 2 + 4, memory::Available());
  Scratch z;
  std::string copy(text);
  const char* chars = copy.c_str();
  z.Compute(digits.size() / 19, [&] { mpz_set_str(z.z, chars, base); });
  *out = z.Done();
  return true;
}

std::string ToString(const Value& value) {
  if (Small(value)) return std::to_string(value.word());
  mpz_srcptr big = static_cast<BigInteger*>(value.object())->value;
  Reserve(mpz_size(big) * 4, memory::Available());
  std::string text(mpz_sizeinbase(big, 10) + 2, '\0');
  char* chars = text.data();
  RunLongOperation(mpz_size(big), [&] { mpz_get_str(chars, 10, big); }, [] {});
  text.resize(text.find('\0'));
  return text;
}

Value Add(const Value& x, const Value& y, uint64_t max_bytes) {
  int64_t sum;
  if (Small(x) && Small(y) && !__builtin_add_overflow(x.word(), y.word(), &sum)) return Value::Word(sum);
  Reserve(std::max(Limbs(x), Limbs(y)) + 1, max_bytes);
  if (Limbs(x) + Limbs(y) <= kFewLimbs) return FewSum(x, y, false);
  Scratch z;
  View a(x), b(y);
  z.Compute(Limbs(x) + Limbs(y), [&] { mpz_add(z.z, a, b); });
  return z.Done();
}

Value Sub(const Value& x, const Value& y, uint64_t max_bytes) {
  int64_t difference;
  if (Small(x) && Small(y) && !__builtin_sub_overflow(x.word(), y.word(), &difference))
    return Value::Word(difference);
  Reserve(std::max(Limbs(x), Limbs(y)) + 1, max_bytes);
  if (Limbs(x) + Limbs(y) <= kFewLimbs) return FewSum(x, y, true);
  Scratch z;
  View a(x), b(y);
  z.Compute(Limbs(x) + Limbs(y), [&] { mpz_sub(z.z, a, b); });
  return z.Done();
}

Value Mul(const Value& x, const Value& y, uint64_t max_bytes) {
  int64_t product;
  if (Small(x) && Small(y) && !__builtin_mul_overflow(x.word(), y.word(), &product))
    return Value::Word(product);
  // Shifting costs half of what multiplying does.
  for (auto [factor, other] : {std::pair(&x, &y), std::pair(&y, &x)})
    if (Small(*factor) && factor->word() > 1 && (factor->word() & (factor->word() - 1)) == 0)
      return ShiftL(*other, std::countr_zero(static_cast<uint64_t>(factor->word())), max_bytes);
  uint64_t limbs = Limbs(x) + Limbs(y);
  // Beyond some thousand limbs GMP multiplies by Fourier transforms, which need a few times the product.
  Reserve(limbs < 4096 ? limbs * 2 : limbs * 5, max_bytes);
  if (limbs <= kFewLimbs) return FewProduct(x, y);
  Scratch z;
  View a(x), b(y);
  z.Compute(limbs, [&] { mpz_mul(z.z, a, b); });
  return z.Done();
}

Value Neg(const Value& x, uint64_t max_bytes) { return Sub(Value::Word(0), x, max_bytes); }
Value Abs(const Value& x, uint64_t max_bytes) { return Signum(x) < 0 ? Neg(x, max_bytes) : x; }

int Signum(const Value& x) {
  if (Small(x)) return (x.word() > 0) - (x.word() < 0);
  return mpz_sgn(static_cast<BigInteger*>(x.object())->value);
}

Value Divide(Division kind, const Value& x, const Value& y, uint64_t max_bytes) {
  if (Small(x) && Small(y) && !(y.word() == -1 && x.word() == INT64_MIN)) {
    int64_t a = x.word(), b = y.word();
    bool floor_differs = a % b != 0 && (a < 0) != (b < 0);
    switch (kind) {
      case Division::Quot: return Value::Word(a / b);
      case Division::Rem: return Value::Word(a % b);
      case Division::Div: return Value::Word(a / b - floor_differs);
      case Division::Mod: return Value::Word(floor_differs ? a % b + b : a % b);
    }
  }
  View a(x), b(y);
  if (kind == Division::Quot || kind == Division::Div) {
    if (std::optional<uint64_t> quotient = SmallQuotient(a, b)) {
      auto q = static_cast<int64_t>(*quotient);
      if (Signum(x) == Signum(y)) return Value::Word(q);
      return Value::Word(kind == Division::Quot ? -q : -q - 1);
    }
  }
  Reserve((Limbs(x) + Limbs(y)) * 4, max_bytes);
  if (Small(y) && Limbs(x) <= kFewLimbs) return FewDivided(kind, x, y.word());
  Scratch z;
  z.Compute(Limbs(x) + Limbs(y), [&] {
    switch (kind) {
      case Division::Quot: mpz_tdiv_q(z.z, a, b); break;
      case Division::Rem: mpz_tdiv_r(z.z, a, b); break;
      case Division::Div: mpz_fdiv_q(z.z, a, b); break;
      case Division::Mod: mpz_fdiv_r(z.z, a, b); break;
    }
  });
  return z.Done();
}

Value Gcd(const Value& x, const Value& y, uint64_t max_bytes) {
  if (Small(x) && Small(y) && x.word() != INT64_MIN && y.word() != INT64_MIN)
    return Value::Word(std::gcd(x.word(), y.word()));
  Reserve((Limbs(x) + Limbs(y)) * 4, max_bytes);
  Scratch z;
  View a(x), b(y);
  z.Compute(Limbs(x) + Limbs(y), [&] { mpz_gcd(z.z, a, b); });
  return z.Done();
}

Value Bitwise(Bits kind, const Value& x, const Value& y, uint64_t max_bytes) {
  if (Small(x) && Small(y)) {
    int64_t a = x.word(), b = y.word();
    return Value::Word(kind == Bits::And ? a & b : kind == Bits::Or ? a | b : a ^ b);
  }
  Reserve(std::max(Limbs(x), Limbs(y)) + 1, max_bytes);
  Scratch z;
  View a(x), b(y);
  z.Compute(Limbs(x) + Limbs(y), [&] {
    switch (kind) {
      case Bits::And: mpz_and(z.z, a, b); break;
      case Bits::Or: mpz_ior(z.z, a, b); break;
      case Bits::Xor: mpz_xor(z.z, a, b); break;
    }
  });
  return z.Done();
}

Value ShiftL(const Value& x, int64_t bits, uint64_t max_bytes) {
  if (bits == 0 || Signum(x) == 0) return x;
  if (Small(x) && bits < 63) {
    int64_t shifted = static_cast<int64_t>(static_cast<uint64_t>(x.word()) << bits);
    if (shifted >> bits == x.word()) return Value::Word(shifted);
  }
  Reserve(Limbs(x) + static_cast<uint64_t>(bits) / 64 + 1, max_bytes);
  if (Limbs(x) + static_cast<uint64_t>(bits) / 64 <= kFewLimbs) return FewShifted(x, static_cast<uint64_t>(bits));
  Scratch z;
  View a(x);
  z.Compute(Limbs(x) + static_cast<uint64_t>(bits) / 64, [&] { mpz_mul_2exp(z.z, a, static_cast<mp_bitcnt_t>(bits)); });
  return z.Done();
}

Value ShiftR(const Value& x, int64_t bits, uint64_t max_bytes) {
  if (Small(x)) return Value::Word(x.word() >> std::min<int64_t>(bits, 63));
  Reserve(Limbs(x), max_bytes);
  Scratch z;
  View a(x);
  z.Compute(Limbs(x), [&] { mpz_fdiv_q_2exp(z.z, a, static_cast<mp_bitcnt_t>(bits)); });
  return z.Done();
}

std::strong_ordering Compare(const Value& x, const Value& y) {
  if (Small(x) && Small(y)) return x.word() <=> y.word();
  return mpz_cmp(View(x), View(y)) <=> 0;
}

int64_t ToInt(const Value& x) {
  if (Small(x)) return x.word();
  mpz_srcptr big = static_cast<BigInteger*>(x.object())->value;
  uint64_t low = mpz_getlimbn(big, 0);
  return static_cast<int64_t>(mpz_sgn(big) < 0 ? 0 - low : low);
}

double ToDouble(const Value& x, int64_t e) {
  constexpr int64_t kFar = 1 << 20;  // beyond any exponent of a Double
  if (Small(x)) return std::ldexp(static_cast<double>(x.word()), static_cast<int>(std::clamp<int64_t>(e, -kFar, kFar)));
  signed long exponent = 0;
  double fraction = mpz_get_d_2exp(&exponent, static_cast<BigInteger*>(x.object())->value);
  int64_t sum = 0;
  if (__builtin_add_overflow(exponent, e, &sum)) sum = e;
  return std::ldexp(fraction, static_cast<int>(std::clamp<int64_t>(sum, -kFar, kFar)));
}

float ToFloat(const Value& x, int64_t e) {
  constexpr int64_t kFar = 1 << 20;
  if (Small(x)) return std::ldexp(static_cast<float>(x.word()), static_cast<int>(std::clamp<int64_t>(e, -kFar, kFar)));
  return static_cast<float>(ToDouble(x, e));
}

Value FromDecoded(int64_t m, int64_t e) {
  if (m == 0) return Value::Word(0);
  if (e >= 0) return ShiftL(Value::Word(m), e, memory::Available());
  if (e <= -64) return Value::Word(0);
  return Value::Word(m / (int64_t{1} << std::min<int64_t>(-e, 62)));
}

}  // namespace df::integer
