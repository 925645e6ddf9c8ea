// Integer arithmetic against GMP's functions of whole numbers: words, few limbs, many limbs, and what lies at the borders.
#include "runtime/value/integer.h"

#include <random>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

using namespace df;

namespace {

constexpr uint64_t kMost = uint64_t{1} << 30;

struct Number {
  mpz_t z;
  Number() { mpz_init(z); }
  explicit Number(const Value& value) : Number() { mpz_set(z, integer::View(value)); }
  ~Number() { mpz_clear(z); }
  Number(const Number&) = delete;
};

std::string Text(mpz_srcptr z) {
  std::string text(mpz_sizeinbase(z, 16) + 2, '\0');
  mpz_get_str(text.data(), 16, z);
  return text.substr(0, text.find('\0'));
}
// What the value is; and if it fits in a word it has to be one.
std::string Text(const Value& value) {
  Number number(value);
  return (value.is_word() == (mpz_fits_slong_p(number.z) != 0) ? "" : "not as it should be: ") + Text(number.z);
}

// Random numbers, powers of two and their neighbours, of up to 1,500 limbs.
std::vector<Value> Numbers() {
  std::mt19937_64 random(7);
  gmp_randstate_t state;
  gmp_randinit_default(state);
  gmp_randseed_ui(state, 7);
  std::vector<Value> numbers;
  auto add = [&](mpz_srcptr z) {
    Number copy;
    mpz_set(copy.z, z);
    numbers.push_back(integer::Take(copy.z));
    mpz_neg(copy.z, z);
    numbers.push_back(integer::Take(copy.z));
  };
  for (uint64_t bits : {1, 3, 31, 62, 63, 64, 65, 127, 128, 129, 500, 32'000, 65'000, 65'536, 96'000}) {
    Number z;
    mpz_urandomb(z.z, state, bits);
    add(z.z);
    mpz_set_ui(z.z, 0);
    mpz_setbit(z.z, bits);
    add(z.z);
    mpz_sub_ui(z.z, z.z, 1);
    add(z.z);
    mpz_add_ui(z.z, z.z, 2);
    add(z.z);
  }
  numbers.push_back(Value::Word(0));
  gmp_randclear(state);
  return numbers;
}

}  // namespace

TEST_CASE("sums, products and quotients of any size are GMP's", "[integer]") {
  using integer::Division;
  const std::vector<Value> numbers = Numbers();
  for (const Value& x : numbers) {
    for (const Value& y : numbers) {
      Number a(x), b(y), z;
      mpz_add(z.z, a.z, b.z);
      REQUIRE(Text(integer::Add(x, y, kMost)) == Text(z.z));
      mpz_sub(z.z, a.z, b.z);
      REQUIRE(Text(integer::Sub(x, y, kMost)) == Text(z.z));
      mpz_mul(z.z, a.z, b.z);
      REQUIRE(Text(integer::Mul(x, y, kMost)) == Text(z.z));
      if (mpz_sgn(b.z) == 0) continue;
      mpz_tdiv_q(z.z, a.z, b.z);
      REQUIRE(Text(integer::Divide(Division::Quot, x, y, kMost)) == Text(z.z));
      mpz_tdiv_r(z.z, a.z, b.z);
      REQUIRE(Text(integer::Divide(Division::Rem, x, y, kMost)) == Text(z.z));
      mpz_fdiv_q(z.z, a.z, b.z);
      REQUIRE(Text(integer::Divide(Division::Div, x, y, kMost)) == Text(z.z));
      mpz_fdiv_r(z.z, a.z, b.z);
      REQUIRE(Text(integer::Divide(Division::Mod, x, y, kMost)) == Text(z.z));
    }
  }
}

TEST_CASE("shifts of any size are GMP's", "[integer]") {
  for (const Value& x : Numbers()) {
    for (int64_t bits : {0, 1, 7, 63, 64, 65, 128, 1000, 64 * 1024, 100'000}) {
      Number a(x), z;
      mpz_mul_2exp(z.z, a.z, static_cast<mp_bitcnt_t>(bits));
      REQUIRE(Text(integer::ShiftL(x, bits, kMost)) == Text(z.z));
    }
  }
}

TEST_CASE("what would need too much memory is refused before it is computed") {
  Value one = Value::Word(1);
  CHECK_THROWS_AS(integer::ShiftL(one, int64_t{1} << 40, 1 << 20), std::bad_alloc);
  CHECK_THROWS_AS(integer::ShiftL(one, INT64_MAX, UINT64_MAX), std::bad_alloc);
  Value big = integer::ShiftL(one, 1 << 22, UINT64_MAX);
  CHECK_THROWS_AS(integer::Mul(big, big, 1 << 20), std::bad_alloc);
}

TEST_CASE("an Integer that fits is a word") {
  Value big = integer::ShiftL(Value::Word(1), 64, UINT64_MAX);
  CHECK_FALSE(big.is_word());
  CHECK(integer::Sub(big, big, UINT64_MAX).is_word());
  CHECK(integer::ShiftR(big, 2, UINT64_MAX).word() == int64_t{1} << 62);
  CHECK(integer::Neg(Value::Word(INT64_MIN), UINT64_MAX).kind() == ValueKind::Object);
  CHECK(integer::ToString(integer::Neg(Value::Word(INT64_MIN), UINT64_MAX)) == "9223372036854775808");
}
