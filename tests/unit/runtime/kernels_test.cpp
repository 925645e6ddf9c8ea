// Kernels against GHC: every row of ghc_table.inc, and what a table cannot say.
#include <cmath>

#include "runtime/integer.h"
#include "runtime/kernels.h"
#include "runtime/scalar.h"
#include "runtime/unicode.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/graphs.h"

using namespace df;
using namespace df::test;

namespace {

constexpr const char* kTable[] = {
#include "tests/unit/runtime/ghc_table.inc"
};

ir::TypeKind KindNamed(const ir::TypeTable& types, std::string_view name) {
  for (uint32_t k = 0; k <= static_cast<uint32_t>(ir::TypeKind::String); ++k)
    if (types[ir::TypeId(k)].name == name) return static_cast<ir::TypeKind>(k);
  FAIL("no type " << name);
  return {};
}

// Values are shown by an execution; these need none of what it can do.
struct NoExecution : Execution {
  Outcome Start(llvm::ArrayRef<Value>) override { return {}; }
  llvm::ArrayRef<Value> results() const override { return {}; }
  Value TakeResult(size_t) override { return {}; }
  Outcome Force(Value&) override { return {}; }
  Outcome GiveUp(Stop) override { return {}; }
  Stats stats() const override { return {}; }
};

std::string ShowOf(const ir::Graph& graph, ir::TypeKind kind, const Value& value) {
  NoExecution execution;
  std::string text;
  llvm::raw_string_ostream out(text);
  Show(execution, graph, {graph.types.Builtin(kind), false}, value, out);
  return text;
}

// The type of an operand after the first.
ir::TypeKind SecondKind(ir::Op op, ir::TypeKind first) {
  bool distance = op == ir::Op::ShiftL || op == ir::Op::ShiftR || op == ir::Op::EncodeFloat;
  return distance ? ir::TypeKind::Int : first;
}

std::string Compute(const ir::Graph& graph, const std::vector<std::string>& row) {
  auto op = ir::OpNamed(row[0]);
  REQUIRE(op.has_value());
  KernelTypes types{KindNamed(graph.types, row[1]), KindNamed(graph.types, row[2])};
  std::vector<Value> operands;
  for (size_t k = 3; k + 1 < row.size(); ++k) {
    ir::TypeKind kind = k == 3 ? types.operand : SecondKind(*op, types.operand);
    std::string error;
    auto value = ParseInput(graph, {graph.types.Builtin(kind), false}, row[k], &error);
    if (!value) return error;
    operands.push_back(*value);
  }
  KernelError error;
  bool failed = false;
  Value result = ApplyTyped(*op, types, 0, operands, &error, &failed, UINT64_MAX);
  return failed ? "!" + error.message : ShowOf(graph, types.result, result);
}

}  // namespace

TEST_CASE("kernels give what GHC gives") {
  ir::Graph graph;
  for (std::string_view line : kTable) {
    std::vector<std::string> row;
    for (std::string_view rest = line;;) {
      size_t end = rest.find(';');
      row.emplace_back(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    INFO(line);
    CHECK(Compute(graph, row) == row.back());
  }
}

TEST_CASE("NaN and infinities are taken apart by their bits") {
  double nan = std::copysign(std::nan(""), -1.0);
  CHECK(scalar::Decode(nan).mantissa == -6755399441055744);
  CHECK(scalar::Decode(nan).exponent == 972);
  CHECK(scalar::TruncateToInt(nan) == 0);
  CHECK(scalar::RoundToInt(HUGE_VAL) == 0);
  CHECK(scalar::TruncateToInt(1e20) == 7766279631452241920);
  CHECK(scalar::FloorToInt(-9.3e18) == 9146744073709551616);
}

TEST_CASE("what would need too much memory is refused before it is computed") {
  ir::Graph graph;
  Value one = Value::Word(1);
  CHECK_THROWS_AS(integer::ShiftL(one, int64_t{1} << 40, 1 << 20), std::bad_alloc);
  CHECK_THROWS_AS(integer::ShiftL(one, INT64_MAX, UINT64_MAX), std::bad_alloc);
  Value big = integer::ShiftL(one, 1 << 22, UINT64_MAX);
  CHECK_THROWS_AS(integer::Mul(big, big, 1 << 20), std::bad_alloc);
}

TEST_CASE("memory is counted and given back") {
  int64_t before = memory::counters.current;
  {
    Value big = integer::ShiftL(Value::Word(1), 1 << 20, UINT64_MAX);
    CHECK(memory::counters.current >= before + (1 << 17));
    memory::LimitScope scope(before, 1 << 16);
    CHECK_THROWS_AS(Data::New(0, 3), std::bad_alloc);
  }
  CHECK(memory::counters.current == before);
}

TEST_CASE("a value a million deep is freed without recursion") {
  int64_t before = memory::counters.current;
  Value list = Value::Word(0);
  for (int i = 0; i < 1000000; ++i) {
    Data* cell = Data::New(1, 2);
    cell->fields()[0] = Value::Word(i);
    cell->fields()[1] = std::move(list);
    list = Value::Adopt(ValueKind::Object, cell);
  }
  list = Value();
  CHECK(memory::counters.current == before);
}

TEST_CASE("an Integer that fits is a word") {
  Value big = integer::ShiftL(Value::Word(1), 64, UINT64_MAX);
  CHECK_FALSE(big.is_word());
  CHECK(integer::Sub(big, big, UINT64_MAX).is_word());
  CHECK(integer::ShiftR(big, 2, UINT64_MAX).word() == int64_t{1} << 62);
  CHECK(integer::Neg(Value::Word(INT64_MIN), UINT64_MAX).kind() == ValueKind::Object);
  CHECK(integer::ToString(integer::Neg(Value::Word(INT64_MIN), UINT64_MAX)) == "9223372036854775808");
}
