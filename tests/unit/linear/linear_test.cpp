// Factorisations: what is multiplied again is what was there; where they stop; bits that hang neither on an address nor on the processor's caches.
#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "backends/linear/linear.h"
#include "tests/unit/catch.h"

using namespace df::linear;

namespace {

template <typename T>
using Numbers = std::vector<T>;

template <typename T>
Numbers<T> Some(size_t count, double step) {
  Numbers<T> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<T>(std::sin(static_cast<double>(i) * step + 0.3));
  return x;
}
template <typename T>
Numbers<T> Product(const Numbers<T>& x, const Numbers<T>& y, size_t m, size_t k, size_t n) {
  Numbers<T> out(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t l = 0; l < k; ++l)
      for (size_t j = 0; j < n; ++j) out[i * n + j] += x[i * k + l] * y[l * n + j];
  return out;
}
template <typename T>
Numbers<T> Turned(const Numbers<T>& x, size_t m, size_t n) {
  Numbers<T> out(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) out[j * m + i] = x[i * n + j];
  return out;
}
template <typename T>
Numbers<T> Part(const Numbers<T>& x, size_t first, size_t count) {
  return {x.begin() + static_cast<ptrdiff_t>(first), x.begin() + static_cast<ptrdiff_t>(first + count)};
}
template <typename T>
double Distance(const Numbers<T>& x, const Numbers<T>& y) {
  REQUIRE(x.size() == y.size());
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  return most;
}
// Far from singular, and x^T x with it positive definite.
template <typename T>
Numbers<T> Square(size_t n, double step) {
  Numbers<T> x = Some<T>(n * n, step);
  for (size_t i = 0; i < n; ++i) x[i * n + i] += static_cast<T>(n);
  return x;
}
template <typename T>
Numbers<T> Positive(size_t n) {
  Numbers<T> x = Square<T>(n, 0.7);
  return Product(Turned(x, n, n), x, n, n, n);
}
template <typename T>
Numbers<T> Eye(size_t n) {
  Numbers<T> x(n * n);
  for (size_t i = 0; i < n; ++i) x[i * n + i] = 1;
  return x;
}

template <typename T>
void Multiplied(double allowed) {
  for (size_t n : {1, 2, 3, 4, 5, 8, 16, 17, 33, 64}) {
    const double most = allowed * static_cast<double>(n * n * n);
    Numbers<T> a = Square<T>(n, 0.7), p = Positive<T>(n), b = Some<T>(n * 3, 1.1), x(n * 3), l(n * n);
    REQUIRE(Cholesky(p.data(), l.data(), n) == kGood);
    CHECK(Distance(Product(l, Turned(l, n, n), n, n, n), p) < most);
    REQUIRE(SolveTriangular(l.data(), {}, b.data(), x.data(), n, 3) == kGood);
    CHECK(Distance(Product(l, x, n, n, 3), b) < most);
    REQUIRE(SolveTriangular(l.data(), {false, true, false}, b.data(), x.data(), n, 3) == kGood);
    CHECK(Distance(Product(Turned(l, n, n), x, n, n, 3), b) < most);

    Numbers<T> lu((n + 1) * n);
    Lu(a.data(), lu.data(), n);
    REQUIRE(LuSolve(lu.data(), false, b.data(), x.data(), n, 3) == kGood);
    CHECK(Distance(Product(a, x, n, n, 3), b) < most);
    REQUIRE(LuSolve(lu.data(), true, b.data(), x.data(), n, 3) == kGood);
    CHECK(Distance(Product(Turned(a, n, n), x, n, n, 3), b) < most);

    Numbers<T> e((n + 1) * n), one(n);
    REQUIRE(Eigh(p.data(), false, e.data(), n));
    REQUIRE(Eigh(p.data(), true, one.data(), n));
    Numbers<T> v = Part(e, n, n * n), scaled = v;
    for (size_t i = 0; i < n * n; ++i) scaled[i] *= e[i % n];
    CHECK(Distance(Product(scaled, Turned(v, n, n), n, n, n), p) < most);
    CHECK(Distance(one, Part(e, 0, n)) < most);
    for (size_t i = 1; i < n; ++i) CHECK(e[i - 1] <= e[i]);

    for (size_t m : {n, n + 1, n + 7}) {
      Numbers<T> tall = Some<T>(m * n, 0.9), qr(m * n + n * n), svd(m * n + n + n * n), s(n), inverse(n * m);
      for (size_t i = 0; i < n; ++i) tall[i * n + i] += 3;
      Qr(tall.data(), qr.data(), m, n);
      Numbers<T> q = Part(qr, 0, m * n), r = Part(qr, m * n, n * n);
      CHECK(Distance(Product(q, r, m, n, n), tall) < most);
      CHECK(Distance(Product(Turned(q, m, n), q, n, m, n), Eye<T>(n)) < most);
      REQUIRE(Svd(tall.data(), false, svd.data(), m, n));
      REQUIRE(Svd(tall.data(), true, s.data(), m, n));
      Numbers<T> u = Part(svd, 0, m * n), w = Part(svd, m * n + n, n * n);
      CHECK(Distance(s, Part(svd, m * n, n)) < most);
      for (size_t i = 0; i < m * n; ++i) u[i] *= svd[m * n + i % n];
      CHECK(Distance(Product(u, Turned(w, n, n), m, n, n), tall) < most);
      REQUIRE(Pinv(tall.data(), inverse.data(), m, n));
      CHECK(Distance(Product(inverse, tall, n, m, n), Eye<T>(n)) < most);
      Numbers<T> turned(m * n);
      Numbers<T> wide = Turned(tall, m, n);
      REQUIRE(Pinv(wide.data(), turned.data(), n, m));
      CHECK(Distance(Turned(turned, m, n), inverse) < most);
    }
  }
}

TEST_CASE("what is multiplied again is what was factorised") {
  Multiplied<double>(1e-14);
  Multiplied<float>(1e-5);
}

TEST_CASE("determinants and exponentials") {
  Numbers<double> a = {0, 2, 1, 3, 1, 0, 2, 0, 1}, lu(12);
  Lu(a.data(), lu.data(), 3);
  CHECK(std::abs(LuDeterminant(lu.data(), Determinant::Value, 3) + 8) < 1e-14);
  CHECK(LuDeterminant(lu.data(), Determinant::Sign, 3) == -1);
  CHECK(std::abs(LuDeterminant(lu.data(), Determinant::LogAbs, 3) - std::log(8)) < 1e-14);
  CHECK(LuDeterminant(lu.data(), Determinant::Value, 0) == 1);
  Numbers<double> turn = {0, -1.5, 1.5, 0}, e(4);
  MatrixExp(turn.data(), e.data(), 2);
  CHECK(Distance(e, {std::cos(1.5), -std::sin(1.5), std::sin(1.5), std::cos(1.5)}) < 1e-14);
}

TEST_CASE("where they stop") {
  Numbers<double> a = {1, 2, 2, 4}, lu(6), out(4), b = {1, 1};
  Lu(a.data(), lu.data(), 2);
  CHECK(LuSolve(lu.data(), false, b.data(), out.data(), 2, 1) == 1);
  CHECK(LuDeterminant(lu.data(), Determinant::Value, 2) == 0);
  CHECK(LuDeterminant(lu.data(), Determinant::Sign, 2) == 0);
  a = {1, 0, 0, -1};
  CHECK(Cholesky(a.data(), out.data(), 2) == 1);
  a = {0, 0, 1, 1};
  CHECK(SolveTriangular(a.data(), {}, b.data(), out.data(), 2, 1) == 0);
  CHECK(SolveTriangular(a.data(), {false, false, true}, b.data(), out.data(), 2, 1) == kGood);
  a[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK(!Eigh(a.data(), true, out.data(), 2));
  CHECK(!Svd(a.data(), true, out.data(), 2, 2));
  Numbers<double> zero(6), inverse(6, 7);
  REQUIRE(Pinv(zero.data(), inverse.data(), 2, 3));
  CHECK(inverse == Numbers<double>(6));
}

// f(x, out) from each of eight addresses to each.
template <typename T>
void Shifted(size_t in, size_t out, const Numbers<T>& x, const std::function<void(const T*, T*)>& f) {
  Numbers<T> first(out);
  f(x.data(), first.data());
  for (size_t shift = 0; shift < 8; ++shift) {
    Numbers<T> from(in + 8), to(out + 8);
    std::copy(x.begin(), x.end(), from.begin() + static_cast<ptrdiff_t>(shift));
    f(from.data() + shift, to.data() + shift);
    CHECK(std::memcmp(to.data() + shift, first.data(), out * sizeof(T)) == 0);
  }
}

template <typename T>
void AllShifted() {
  for (size_t n : {3, 7, 16, 61}) {
    const Numbers<T> a = Square<T>(n, 0.7), p = Positive<T>(n);
    Shifted<T>(n * n, n * n, p, [&](const T* x, T* out) { Cholesky(x, out, n); });
    Shifted<T>(n * n, n * n, a, [&](const T* x, T* out) { SolveTriangular(x, {}, x, out, n, n); });
    Shifted<T>(n * n, n * n + n, a, [&](const T* x, T* out) { Lu(x, out, n); });
    Numbers<T> lu(n * n + n);
    Lu(a.data(), lu.data(), n);
    Shifted<T>(n * n + n, n * n, lu, [&](const T* x, T* out) { LuSolve(x, true, a.data(), out, n, n); });
    Shifted<T>(n * n, n * n + n, p, [&](const T* x, T* out) { Eigh(x, false, out, n); });
    Shifted<T>(n * n, 2 * n * n, a, [&](const T* x, T* out) { Qr(x, out, n, n); });
    Shifted<T>(n * n, 2 * n * n + n, a, [&](const T* x, T* out) { Svd(x, false, out, n, n); });
    Shifted<T>(n * n, n * n, a, [&](const T* x, T* out) { Pinv(x, out, n, n); });
    Shifted<T>(n * n, n * n, Some<T>(n * n, 0.2), [&](const T* x, T* out) { MatrixExp(x, out, n); });
  }
}

TEST_CASE("bits do not hang on addresses") {
  AllShifted<double>();
  AllShifted<float>();
}

// Which a program that embeds this one may have set as it likes, as the processor may have any.
TEST_CASE("the sizes of caches are ours") {
  Numbers<double> a = Square<double>(3, 0.7), lu(12);
  Lu(a.data(), lu.data(), 3);
  CHECK(Eigen::l1CacheSize() == 32 << 10);
  CHECK(Eigen::l2CacheSize() == 512 << 10);
  CHECK(Eigen::l3CacheSize() == 8 << 20);
}

}  // namespace
