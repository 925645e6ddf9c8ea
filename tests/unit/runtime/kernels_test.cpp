// Kernels against GHC: every row of ghc_table.inc, and what a table cannot say.
#include <cmath>

#include "runtime/base/scalar.h"
#include "runtime/base/unicode.h"
#include "runtime/ops/kernels.h"
#include "runtime/value/integer.h"
#include "runtime/value/tensor.h"
#include "runtime/value/text.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/graphs.h"
#include "tagged_ir/op_facts.h"
#include "tagged_ir/signature.h"

using namespace df;
using namespace df::test;

namespace {

constexpr const char* kTable[] = {
#include "tests/unit/runtime/ghc_table.inc"
};

ir::TypeKind KindNamed(const ir::TypeTable& types, std::string_view name) {
  for (uint32_t k = 0; k <= static_cast<uint32_t>(ir::TypeKind::Text); ++k)
    if (types[ir::TypeId(k)].name == name) return static_cast<ir::TypeKind>(k);
  FAIL("no type " << name);
  return {};
}

// Values are shown by an execution; these need none of what it can do.
struct NoExecution : Execution {
  Outcome Start(std::vector<Value>) override { return {}; }
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

// What late numbers stand on: a tensor without dimensions has the bits of the number. So each op on elements has a kernel for both.
TEST_CASE("an op on each element does the same to a number and to a tensor without dimensions") {
  const double kNumbers[] = {0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 7.75, 1e10, -1e300, INFINITY, NAN};
  for (uint32_t i = 0; i < ir::OpCount(); ++i) {
    const auto op = static_cast<ir::Op>(i);
    const ir::Signature& row = ir::SignatureOf(op);
    if (ir::FactsOf(op).late != ir::Late::KeptLate || row.operands[0].pattern == ir::Pattern::Truth) continue;
    for (ir::TypeKind kind : {ir::TypeKind::Int, ir::TypeKind::Float, ir::TypeKind::Double}) {
      if (kind == ir::TypeKind::Int && row.operands[0].pattern == ir::Pattern::Floating) continue;
      const ir::Type type{ir::TypeKind::Tensor, "Tensor", {}, kind, {}};
      for (double x : kNumbers)
        for (double y : {0.5, -0.0, -3.0, static_cast<double>(INFINITY)}) {
          INFO(ir::InfoOf(op).name << " of " << x << " and " << y);
          std::vector<Value> numbers, tensors;
          for (double number : {x, y}) {
            if (numbers.size() == row.operands.size()) continue;
            Value tensor = MakeTensor(kind, {});
            if (kind == ir::TypeKind::Int) {
              const auto word = static_cast<int64_t>(std::isfinite(number) ? std::fmod(number, 1e15) : 5.0);
              numbers.push_back(Value::Word(word));
              *TensorIn(tensor)->as<int64_t>() = word;
            } else if (kind == ir::TypeKind::Float) {
              numbers.push_back(Value::Float(static_cast<float>(number)));
              *TensorIn(tensor)->as<float>() = static_cast<float>(number);
            } else {
              numbers.push_back(Value::Double(number));
              *TensorIn(tensor)->as<double>() = number;
            }
            tensors.push_back(std::move(tensor));
          }
          KernelError error;
          bool failed = false;
          const Value number = ApplyTyped(op, {kind, kind}, 0, numbers, &error, &failed, UINT64_MAX);
          REQUIRE(!failed);
          const Value tensor = ApplyTyped(op, {ir::TypeKind::Tensor, ir::TypeKind::Tensor, &type}, 0, tensors, &error, &failed, UINT64_MAX);
          REQUIRE(!failed);
          const TensorObject& made = *TensorIn(tensor);
          if (kind == ir::TypeKind::Int) REQUIRE(*made.as<int64_t>() == number.word());
          else if (kind == ir::TypeKind::Float) REQUIRE((*made.as<float>() == number.as_float() || (std::isnan(*made.as<float>()) && std::isnan(number.as_float()))));
          else REQUIRE((*made.as<double>() == number.as_double() || (std::isnan(*made.as<double>()) && std::isnan(number.as_double()))));
        }
    }
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

TEST_CASE("a text has characters at offsets in bytes") {
  ir::Graph graph;
  auto apply = [&](ir::Op op, ir::TypeKind result, std::vector<Value> operands, bool* failed) {
    KernelError error;
    return ApplyTyped(op, {ir::TypeKind::Text, result}, 0, operands, &error, failed, UINT64_MAX);
  };
  bool failed = false;
  auto text = [&](std::string bytes) { return Value::Adopt(ValueKind::Object, new TextObject(std::move(bytes))); };
  Value word = text("a\xCE\xBB\xE2\x82\xAC!");  // a, lambda, euro, !
  auto start = [&](int64_t at) {
    return apply(ir::Op::TextStart, ir::TypeKind::Int, {word, Value::Word(at)}, &failed).word();
  };
  CHECK(apply(ir::Op::TextSize, ir::TypeKind::Int, {word}, &failed).word() == 7);
  std::vector<int64_t> starts;
  for (int64_t at = -2; at < 10; ++at) starts.push_back(start(at));
  CHECK(starts == std::vector<int64_t>{0, 0, 0, 1, 1, 3, 3, 3, 6, 7, 7, 7});
  auto character = [&](int64_t at) {
    return apply(ir::Op::TextChar, ir::TypeKind::Char, {word, Value::Word(at)}, &failed).word();
  };
  CHECK(character(0) == 'a');
  CHECK(character(1) == 0x3BB);
  CHECK(character(3) == 0x20AC);
  CHECK_FALSE(failed);
  for (int64_t at : {int64_t{-1}, int64_t{2}, int64_t{7}, INT64_MAX, INT64_MIN}) {
    character(at);
    CHECK(failed);
  }
}

TEST_CASE("texts are cut, put together, searched and compared by offsets in bytes") {
  int64_t before = memory::counters.current;
  {
    auto text = [](std::string_view bytes) { return Value::Adopt(ValueKind::Object, new TextObject(bytes)); };
    auto apply = [&](ir::Op op, std::vector<Value> operands, ir::TypeKind result = ir::TypeKind::Int) {
      KernelError error;
      bool failed = false;
      Value value = ApplyTyped(op, {ir::TypeKind::Text, result}, 0, operands, &error, &failed, UINT64_MAX);
      CHECK_FALSE(failed);
      return value;
    };
    auto bytes = [](const Value& value) { return std::string(static_cast<TextObject*>(value.object())->text()); };
    Value word = text("a\xCE\xBB\xE2\x82\xAC!a");  // a, lambda, euro, !, a
    auto slice = [&](int64_t from, int64_t to) {
      return bytes(apply(ir::Op::TextSlice, {word, Value::Word(from), Value::Word(to)}, ir::TypeKind::Text));
    };
    CHECK(slice(1, 6) == "\xCE\xBB\xE2\x82\xAC");
    CHECK(slice(2, 5) == "\xCE\xBB");  // both rounded down to where a character begins
    CHECK(slice(6, 1) == "");
    CHECK(slice(INT64_MIN, INT64_MAX) == bytes(word));
    auto move = [&](int64_t from, int64_t by) { return apply(ir::Op::TextMove, {word, Value::Word(from), Value::Word(by)}).word(); };
    CHECK(std::vector<int64_t>{move(0, 2), move(1, 1), move(0, INT64_MAX), move(8, -2), move(3, -1), move(8, INT64_MIN), move(0, -1)} ==
          std::vector<int64_t>{3, 3, 8, 6, 1, 0, 0});
    CHECK(apply(ir::Op::TextLength, {word}).word() == 5);
    auto find = [&](std::string_view part, int64_t from) { return apply(ir::Op::TextFind, {word, text(part), Value::Word(from)}).word(); };
    CHECK(std::vector<int64_t>{find("a", 0), find("a", 1), find("a", 8), find("", 3), find("", INT64_MAX), find("\xE2\x82\xAC!", -5)} ==
          std::vector<int64_t>{0, 7, -1, 3, 8, 3});
    auto span = [&](ir::Op op, std::string_view set, int64_t from) { return apply(op, {word, text(set), Value::Word(from)}).word(); };
    CHECK(span(ir::Op::TextSkip, "\xCE\xBB" "a", 0) == 3);
    CHECK(span(ir::Op::TextSkip, "", 3) == 3);
    CHECK(span(ir::Op::TextUntil, "!\xE2\x82\xAC", 0) == 3);
    CHECK(span(ir::Op::TextUntil, "x", 0) == 8);
    auto compare = [&](std::string_view other) { return apply(ir::Op::TextCompare, {word, text(other)}).word(); };
    CHECK(std::vector<int64_t>{compare("a"), compare(bytes(word)), compare("b"), compare("\xCE\xBB")} == std::vector<int64_t>{1, 0, -1, -1});
    // Parts that grow leave what stands behind them alone.
    Value part = apply(ir::Op::TextSlice, {word, Value::Word(0), Value::Word(1)}, ir::TypeKind::Text);
    CHECK(bytes(apply(ir::Op::TextAppend, {part, part}, ir::TypeKind::Text)) == "aa");
    Value whole = apply(ir::Op::TextAppend, {word, word}, ir::TypeKind::Text);
    CHECK(bytes(whole) == bytes(word) + bytes(word));
    CHECK(bytes(apply(ir::Op::TextAppend, {whole, whole}, ir::TypeKind::Text)).size() == 32);
    CHECK(bytes(word) == "a\xCE\xBB\xE2\x82\xAC!a");
  }
  CHECK(memory::counters.current == before);
}

TEST_CASE("texts that grow out of one another do not see each other's ends") {
  int64_t before = memory::counters.current;
  {
    auto* empty = new TextObject("");
    TextObject* one = empty->Append("1");
    TextObject* other = empty->Append("\xE2\x82\xAC");
    TextObject* longer = one->Append("2");
    CHECK(empty->text() == "");
    CHECK(one->text() == "1");
    CHECK(other->text() == "\xE2\x82\xAC");
    CHECK(longer->text() == "12");
    std::vector<Value> all;
    for (TextObject* text : {empty, one, other, longer}) all.push_back(Value::Adopt(ValueKind::Object, text));
  }
  CHECK(memory::counters.current == before);
}

TEST_CASE("a number is read as it is written") {
  ir::Graph graph;
  auto read = [&](ir::TypeKind kind, const char* digits) {
    std::optional<Value> value = text::ReadNumber(kind, digits);
    return value ? ShowOf(graph, kind, *value) : "none";
  };
  CHECK(read(ir::TypeKind::Int, "-12") == "-12");
  CHECK(read(ir::TypeKind::Int, "18446744073709551617") == "1");  // wraps
  CHECK(read(ir::TypeKind::Integer, "-170141183460469231731687303715884105728") == "-170141183460469231731687303715884105728");
  CHECK(read(ir::TypeKind::Double, "-0.1e2") == "-10.0");
  CHECK(read(ir::TypeKind::Double, "9007199254740993") == "9.007199254740992e15");
  CHECK(read(ir::TypeKind::Double, "1e400") == "Infinity");
  CHECK(read(ir::TypeKind::Double, "-Infinity") == "-Infinity");
  CHECK(read(ir::TypeKind::Float, "16777217") == "1.6777216e7");
  CHECK(read(ir::TypeKind::Float, "NaN") == "NaN");
  for (const char* wrong : {"", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "1 ", "--1", "inf", "nan", "Infinity1"}) {
    INFO(wrong);
    for (ir::TypeKind kind : {ir::TypeKind::Int, ir::TypeKind::Integer, ir::TypeKind::Float, ir::TypeKind::Double})
      CHECK(read(kind, wrong) == "none");
  }
  CHECK(read(ir::TypeKind::Int, "1.5") == "none");
  CHECK(read(ir::TypeKind::Integer, "1e5") == "none");
}

TEST_CASE("an Integer that fits is a word") {
  Value big = integer::ShiftL(Value::Word(1), 64, UINT64_MAX);
  CHECK_FALSE(big.is_word());
  CHECK(integer::Sub(big, big, UINT64_MAX).is_word());
  CHECK(integer::ShiftR(big, 2, UINT64_MAX).word() == int64_t{1} << 62);
  CHECK(integer::Neg(Value::Word(INT64_MIN), UINT64_MAX).kind() == ValueKind::Object);
  CHECK(integer::ToString(integer::Neg(Value::Word(INT64_MIN), UINT64_MAX)) == "9223372036854775808");
}
