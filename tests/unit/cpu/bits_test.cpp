// What batching stands on: the bits of a row, or of an element, do not depend on what is computed with it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/elementwise.h"
#include "backends/cpu/product.h"
#include "runtime/base/scalar.h"
#include "tagged_ir/op_facts.h"
#include "tagged_ir/signature.h"
#include "tests/unit/catch.h"

using namespace df;

namespace {

// Numbers whose sums round differently in each order.
template <typename T>
std::vector<T> Numbers(size_t count, double step) {
  std::vector<T> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<T>(std::sin(static_cast<double>(i) * step) * std::exp(static_cast<double>(i % 7)));
  return x;
}

template <typename T>
bool SameBits(const T* a, const T* b, size_t count) {
  return std::memcmp(a, b, count * sizeof(T)) == 0;
}

// Every element of a product of every size is the chain that product.h promises, also where y is given transposed or in panels.
template <typename T>
void ProductsAreChains() {
  for (size_t k : {1, 2, 7, 64, 511, 512, 513, 1100})
    for (size_t n : {1, 2, 5, 8, 16, 17, 24, 48, 49, 750, 1100}) {
      if (k * n > 600000) continue;
      std::vector<T> y = Numbers<T>(k * n, 0.7), turned(k * n);
      for (size_t l = 0; l < k; ++l)
        for (size_t j = 0; j < n; ++j) turned[j * k + l] = y[l * n + j];
      std::vector<T> given(k * n), from_turned(k * n);
      cpu::PutIntoPanels(y.data(), k, n, given.data());
      cpu::PutTurnedIntoPanels(turned.data(), k, n, from_turned.data());
      for (size_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 25}) {
        std::vector<T> x = Numbers<T>(m * k, 1.3), out(m * n), other(m * n), row(n);
        cpu::MatMul(x.data(), y.data(), out.data(), m, k, n);
        cpu::MatMulTransposed(x.data(), k, turned.data(), k, other.data(), n, m, k, n);
        bool good = SameBits(out.data(), other.data(), m * n);
        for (const std::vector<T>& panels : {given, from_turned}) {
          std::fill(other.begin(), other.end(), T(7));
          cpu::MatMulPanels(x.data(), k, panels.data(), other.data(), n, m, k, n);
          good &= SameBits(out.data(), other.data(), m * n);
        }
        for (size_t i = 0; i < m; ++i) {
          cpu::MatMul(x.data() + i * k, y.data(), row.data(), 1, k, n);
          good &= SameBits(row.data(), out.data() + i * n, n);
        }
        for (size_t at : {size_t{0}, m * n / 2, m * n - 1}) {
          T sum = 0;
          for (size_t l = 0; l < k; ++l) sum = std::fma(x[at / n * k + l], y[l * n + at % n], sum);
          good &= SameBits(&sum, &out[at], 1);
        }
        INFO("k " << k << " n " << n << " m " << m);
        REQUIRE(good);
      }
    }
}

// The ops on each element that numbers have, of so many operands.
std::vector<ir::Op> OpsOfElements(size_t operands) {
  std::vector<ir::Op> ops;
  for (uint32_t i = 0; i < ir::OpCount(); ++i) {
    const auto op = static_cast<ir::Op>(i);
    const ir::Signature& row = ir::SignatureOf(op);
    const ir::Element element = ir::FactsOf(op).element;
    if (element == ir::Element::NoElement || element == ir::Element::Compared || element == ir::Element::Converted) continue;
    if (row.operands.size() == operands && row.operands[0].pattern != ir::Pattern::Truth) ops.push_back(op);
  }
  return ops;
}

template <typename T>
void ElementsStandAlone() {
  std::vector<T> x = Numbers<T>(333, 0.37), y = Numbers<T>(333, 0.91), out(333), in_place = x;
  for (ir::Op op : OpsOfElements(1)) {
    INFO(ir::InfoOf(op).name);
    REQUIRE(cpu::Unary(op, x.data(), out.data(), x.size()));
    in_place = x;
    cpu::Unary(op, in_place.data(), in_place.data(), x.size());
    bool good = SameBits(in_place.data(), out.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      T one;
      cpu::Unary(op, &x[i], &one, 1);
      good &= SameBits(&one, &out[i], 1);
    }
    REQUIRE(good);
  }
  for (ir::Op op : OpsOfElements(2)) {
    INFO(ir::InfoOf(op).name);
    REQUIRE(cpu::Binary(op, x.data(), y.data(), out.data(), x.size()));
    bool good = true;
    for (size_t i = 0; i < x.size(); ++i) {
      T one;
      cpu::Binary(op, &x[i], &y[i], &one, 1);
      good &= SameBits(&one, &out[i], 1);
    }
    REQUIRE(good);
  }
}

// Of all pairs of numbers at the ends: as the kernels of numbers have it, which is x * y and x / y but for NaNs by a zero.
template <typename T>
void ZerosAreStrong() {
  const T ends[] = {0, T(-0.0), 1, -2, std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min(), T(INFINITY), T(-INFINITY), T(NAN)};
  std::vector<T> x, y;
  for (T v : ends)
    for (T w : ends) x.push_back(v), y.push_back(w);
  std::vector<T> products(x.size()), quotients(x.size());
  cpu::Binary(ir::Op::StrongMul, x.data(), y.data(), products.data(), x.size());
  cpu::Binary(ir::Op::StrongDiv, x.data(), y.data(), quotients.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(x[i] << " and " << y[i]);
    auto agrees = [](T got, T plain, T strong, bool zero) {
      bool nan = std::isnan(plain);
      CHECK((nan ? zero ? got == 0 : std::isnan(got) : SameBits(&got, &plain, 1)));
      CHECK((SameBits(&got, &strong, 1) || (std::isnan(got) && std::isnan(strong))));
    };
    agrees(products[i], x[i] * y[i], scalar::StrongMul(x[i], y[i]), x[i] == 0 || y[i] == 0);
    agrees(quotients[i], x[i] / y[i], scalar::StrongDiv(x[i], y[i]), x[i] == 0 || std::isinf(y[i]));
  }
}

}  // namespace

TEST_CASE("a zero times anything is zero in products of derivatives") {
  ZerosAreStrong<float>();
  ZerosAreStrong<double>();
}

TEST_CASE("an element of a product is one chain of fused multiplications and additions") {
  ProductsAreChains<float>();
  ProductsAreChains<double>();
}

TEST_CASE("an element is computed alike wherever it stands") {
  ElementsStandAlone<float>();
  ElementsStandAlone<double>();
}

TEST_CASE("exp and tanh at their ends") {
  const float kInfinity = INFINITY;
  float x[] = {0.0f, 88.72f, 89.0f, -87.0f, -103.0f, -104.0f, kInfinity, -kInfinity, NAN}, y[9];
  cpu::Unary(ir::Op::Exp, x, y, 9);
  CHECK(y[0] == 1.0f);
  for (int i : {1, 3}) CHECK(std::fabs(y[i] / std::exp(static_cast<double>(x[i])) - 1) < 1e-6);
  CHECK(y[2] == kInfinity);
  CHECK(y[4] == std::exp(-103.0f));
  CHECK(y[5] == 0.0f);
  CHECK(y[6] == kInfinity);
  CHECK(y[7] == 0.0f);
  CHECK(std::isnan(y[8]));
  cpu::Unary(ir::Op::Tanh, x, y, 9);
  CHECK(y[0] == 0.0f);
  CHECK(y[6] == 1.0f);
  CHECK(y[7] == -1.0f);
  CHECK(std::isnan(y[8]));
}

TEST_CASE("the error function of a Float is within 1.2 of the last place") {
  std::vector<float> x, y;
  for (uint64_t bits = 0; bits < 0x7f800000; bits += 40009) {
    const auto word = static_cast<uint32_t>(bits);
    std::memcpy(&x.emplace_back(), &word, sizeof(word));
  }
  for (float end : {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 0.927734375f, 0x1.db0002p-1f, -0.9375f, -4.0f, INFINITY, -INFINITY, NAN}) x.push_back(end);
  y.resize(x.size());
  cpu::Unary(ir::Op::Erf, x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) CHECK(std::isnan(y[i]));
    if (std::isnan(x[i])) continue;
    const double want = std::erf(static_cast<double>(x[i]));
    const double last = std::ldexp(1.0, std::max(std::ilogb(static_cast<float>(want)), -126) - 23);
    INFO("erf of " << x[i]);
    REQUIRE(std::fabs(y[i] - want) <= 1.2 * last);
    REQUIRE(std::signbit(y[i]) == std::signbit(x[i]));
  }
}

// So that a number and an element of a tensor have one logarithm (lower/graph/late_numbers.cpp).
TEST_CASE("the logarithm of a Float is that of the host's library") {
  std::vector<float> x, y;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 40009) {
    uint32_t word = static_cast<uint32_t>(bits);
    std::memcpy(&x.emplace_back(), &word, sizeof(word));
  }
  for (float end : {0.0f, -0.0f, 1.0f, 0x1p-149f, 0x1p-126f, 0x1.fffffep127f, INFINITY, -INFINITY, -1.0f}) x.push_back(end);
  y.resize(x.size());
  cpu::Unary(ir::Op::Log, x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    float want = std::log(x[i]);
    bool same = SameBits(&want, &y[i], 1) || (want != want && y[i] != y[i]);
    if (!same) FAIL("log of " << x[i]);
  }
}
