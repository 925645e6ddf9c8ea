// Kernels of texts: characters at offsets in bytes.
#include "runtime/base/memory.h"
#include "runtime/base/unicode.h"
#include "runtime/ops/kernels.h"
#include "runtime/value/text.h"
#include "tests/unit/catch.h"

using namespace df;

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
