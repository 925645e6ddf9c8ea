// Which numbers of a program stand for which sizes, by the program at several of them.
#include "tests/unit/catch.h"
#include <functional>

#include "lower/onnx/sizes.h"

using namespace df;
using to_onnx::FindSizes;
using to_onnx::OpenSizes;
using to_onnx::PrintSize;

namespace {

const std::vector<std::vector<int64_t>> kValues = {{5021, 7103}, {6217, 5403}, {8009, 9100}, {5500, 6707}, {9901, 7777}};

// A program that has nothing but tensor types of the sizes that `sizes` makes of two open ones, and constants likewise.
struct Sized {
  std::vector<fg::Program> programs;
  SizedPrograms sized{{"n", "m"}, kValues, {}};

  Sized(const std::function<std::vector<int64_t>(int64_t, int64_t)>& sizes, const std::function<int64_t(int64_t, int64_t)>& number = nullptr) {
    for (const auto& values : kValues) {
      fg::Program& program = programs.emplace_back();
      program.main = program.functions.Add({});
      for (int64_t size : sizes(values[0], values[1])) program.types.Tensor(ir::TypeKind::Float, {size, 3});
      if (number) program.constants.Add({program.types.Builtin(ir::TypeKind::Int), number(values[0], values[1]), ""});
    }
    for (const fg::Program& program : programs) sized.programs.push_back(&program);
  }

  // What the number stands for that the sizes of the first program make.
  std::string Of(const std::function<int64_t(int64_t, int64_t)>& size) const {
    const OpenSizes found = FindSizes(sized);
    const auto at = found.sizes.find(size(kValues[0][0], kValues[0][1]));
    return at == found.sizes.end() ? "a number" : PrintSize(at->second, found.names);
  }
};

}  // namespace

TEST_CASE("sizes are sums and products of the open ones") {
  auto one = [](auto size) { return Sized([size](int64_t n, int64_t m) { return std::vector<int64_t>{size(n, m), 3}; }).Of(size); };
  CHECK(one([](int64_t n, int64_t) { return n; }) == "n");
  CHECK(one([](int64_t, int64_t m) { return m + 2; }) == "m + 2");
  CHECK(one([](int64_t n, int64_t m) { return 2 * n + m - 1; }) == "2*n + m - 1");
  CHECK(one([](int64_t n, int64_t m) { return n * m; }) == "n*m");
  CHECK(one([](int64_t n, int64_t m) { return n * m + n + 4 * m; }) == "n + n*m + 4*m");
  CHECK(one([](int64_t n, int64_t m) { return n - m + 9000; }) == "n - m + 9000");
  CHECK(one([](int64_t n, int64_t) { return n * n * n; }) == "n*n*n");
  CHECK(one([](int64_t, int64_t) { return int64_t{5021}; }) == "a number");
}

TEST_CASE("constants may be made of sizes") {
  const Sized sized([](int64_t n, int64_t) { return std::vector<int64_t>{n}; }, [](int64_t n, int64_t m) { return n * m + 1; });
  const OpenSizes found = FindSizes(sized.sized);
  REQUIRE(found.numbers.size() == 1);
  CHECK(PrintSize(found.numbers.at(0).size, found.names) == "n*m + 1");
  CHECK_FALSE(found.numbers.at(0).inverse);
}

TEST_CASE("a program that is another one at another size has no model of any size") {
  // A number that is no polynomial; a size that stands for two; a type, and a constant, of one size alone.
  CHECK_THROWS_AS(FindSizes(Sized([](int64_t n, int64_t) { return std::vector<int64_t>{n / 2}; }).sized), to_onnx::Refusal);
  CHECK_THROWS_AS(FindSizes(Sized([](int64_t n, int64_t) { return std::vector<int64_t>{n, n == 5021 ? n : n + 1}; }).sized), to_onnx::Refusal);
  CHECK_THROWS_AS(FindSizes(Sized([](int64_t n, int64_t m) { return n == 5500 ? std::vector<int64_t>{n, m} : std::vector<int64_t>{n}; }).sized), to_onnx::Refusal);
  CHECK_THROWS_AS(FindSizes(Sized([](int64_t n, int64_t) { return std::vector<int64_t>{n}; }, [](int64_t n, int64_t) { return n % 7; }).sized), to_onnx::Refusal);
  Sized other([](int64_t n, int64_t) { return std::vector<int64_t>{n}; });
  fg::Function& main = other.programs[3].functions[other.programs[3].main];
  main.nodes.Add({});
  CHECK_THROWS_AS(FindSizes(other.sized), to_onnx::Refusal);
}
