// Sums of tensors that are known by their rows have the bits of sums of whole tensors.
#include "runtime/ops/add_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "runtime/value/value.h"
#include "tests/unit/catch.h"

using namespace df;

namespace {

constexpr int64_t kRows = 40, kColumns = 7;
const ir::Type kType{ir::TypeKind::Tensor, "Tensor Double [40, 7]", {}, ir::TypeKind::Double, {kRows, kColumns}};

// Rows at different indices, in any order, with numbers that show how they were added.
TensorRows* Random(std::mt19937& random) {
  std::vector<int64_t> all(kRows);
  for (int64_t i = 0; i < kRows; ++i) all[static_cast<size_t>(i)] = i;
  std::shuffle(all.begin(), all.end(), random);
  TensorRows* rows = TensorRows::New(random() % (kRows + 1), kColumns * sizeof(double));
  const double kNumbers[] = {0.0, -0.0, 1.0, -1.0, 1e16, 0.1, INFINITY, -INFINITY, NAN};
  for (size_t k = 0; k < rows->count; ++k) {
    rows->indices()[k] = all[k];
    for (int64_t i = 0; i < kColumns; ++i) reinterpret_cast<double*>(rows->row(k))[i] = kNumbers[random() % std::size(kNumbers)];
  }
  return rows;
}

Value TensorOf(TensorRows* rows) { return Value::Adopt(ValueKind::Object, new TensorObject(kType, rows)); }

TensorRows* Copy(TensorRows& rows) {
  TensorRows* copy = TensorRows::New(rows.count, rows.row_bytes);
  std::memcpy(copy->indices(), rows.indices(), rows.count * sizeof(int64_t));
  std::memcpy(copy->row(0), rows.row(0), rows.count * rows.row_bytes);
  return copy;
}

}  // namespace

TEST_CASE("a sum of rows has the rows of both, and the bits of the whole sum") {
  std::mt19937 random(1);
  for (int n = 0; n < 200; ++n) {
    TensorRows *x = Random(random), *y = Random(random);
    Value sum = TensorOf(AddRows(*x, *y, ir::TypeKind::Double)), a = TensorOf(Copy(*x)), b = TensorOf(Copy(*y));
    REQUIRE(TensorIn(sum)->rows());
    CHECK(TensorIn(sum)->rows()->count <= static_cast<size_t>(kRows));
    CHECK(TensorIn(sum)->rows()->count >= std::max(x->count, y->count));
    const double *s = TensorIn(sum)->as<double>(), *p = TensorIn(a)->as<double>(), *q = TensorIn(b)->as<double>();
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      const double want = p[i] + q[i];
      CHECK(((std::isnan(want) && std::isnan(s[i])) || std::memcmp(&want, &s[i], sizeof want) == 0));
    }
    TensorRows::Free(x);
    TensorRows::Free(y);
  }
}
