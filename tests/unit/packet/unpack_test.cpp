// Bytes that no packer wrote.
#include "runtime/value/tensor.h"
#include "tests/unit/catch.h"
#include "tests/unit/packet/random_values.h"

using namespace df;
using namespace df::test;
using ir::TypeKind;

namespace {

struct Types : TestGraph {
  ir::PortType list, maybe, pair;
  uint32_t site;
  Types() {
    list = {List(graph.types.Builtin(TypeKind::Int), "[Int]"), true};
    maybe = {Data("Maybe Int", {{"Nothing", {}}, {"Just", {Field(graph.types.Builtin(TypeKind::Int), true)}}}), true};
    pair = {Data("Pair", {{"Pair", {Field(list.type, true), Field(maybe.type, false, true)}}}), true};
    site = Delay(list.type, {Of(TypeKind::Int)});
  }

  std::string Fault(ir::PortType type, std::string bytes, std::vector<std::string_view> parts = {}) const {
    PacketTypes types(graph);
    TestReferences references(*this);
    Unpacker unpacker(types, bytes, parts, &references);
    std::optional<Value> value = unpacker.Next(type);
    if (value && unpacker.Finish()) return "";
    return unpacker.fault();
  }
};

constexpr char Head(int what, int number) { return static_cast<char>(what | number << 3); }
enum { kValue, kShared, kBack, kDelayed, kError, kKnown, kNothing };
std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (int byte : bytes) out += static_cast<char>(byte);
  return out;
}

}  // namespace

TEST_CASE("what is no value of the type is refused, and where") {
  Types t;
  const char one = Head(kValue, 10);  // the number 1
  CHECK(t.Fault(t.Of(TypeKind::Int), "") == "byte 0: it ends too soon");
  CHECK(t.Fault(t.Of(TypeKind::Int), {one}) == "");
  CHECK(t.Fault(t.Of(TypeKind::Int), {one, one}) == "byte 1: 1 bytes are left over");
  CHECK(t.Fault(t.Of(TypeKind::Int), {Head(kValue, 3), 1, 2}) == "byte 1: it ends too soon");
  CHECK(t.Fault(t.Of(TypeKind::Int), {Head(kValue, 0)}) == "byte 1: what is no value of an Int");
  CHECK(t.Fault(t.Of(TypeKind::Int), {Head(kShared, 10)}) == "byte 1: what is no value of an Int");
  CHECK(t.Fault(t.Of(TypeKind::Int), {Head(kNothing, 0)}) == "byte 1: an unknown head");
  CHECK(t.Fault(t.Of(TypeKind::Bool), {Head(kValue, 2)}) == "byte 1: what is no value of a Bool");
  CHECK(t.Fault(t.Of(TypeKind::Char), Bytes({Head(kValue, 3), 0, 0, 0x11})) == "byte 4: what is no value of a Char");
  CHECK(t.Fault(t.Of(TypeKind::Char), Bytes({Head(kValue, 1), 0xFF})) == "byte 2: what is no value of a Char");
  CHECK(t.Fault(t.Of(TypeKind::Double), {Head(kValue, 0), 1, 2, 3}) == "byte 1: it ends too soon");
  CHECK(t.Fault(t.maybe, {Head(kValue, 2)}) == "byte 1: constructor 2 of a Maybe Int, which has 2");
  CHECK(t.Fault(t.maybe, {Head(kValue, 1)}) == "byte 1: it ends too soon");
  CHECK(t.Fault(t.maybe, {Head(kShared, 0)}) == "byte 1: what is no value of a Maybe Int");
  CHECK(t.Fault(t.Of(TypeKind::Alt), {one}) == "byte 1: what is no value of an Alt");
}

TEST_CASE("references and errors only where they may be") {
  Types t;
  const char one = Head(kValue, 10), nil = Head(kValue, 0);
  const std::string call = {Head(kDelayed, 0), static_cast<char>(t.site), 0, 0, one};
  CHECK(t.Fault(t.list, call) == "");
  CHECK(t.Fault({t.list.type, false}, call) == "byte 1: what is no value of a [Int]");
  CHECK(t.Fault(t.maybe, call) == "byte 4: a site of another type");
  CHECK(t.Fault(t.list, {Head(kDelayed, 0), 0, 0, 0, one}) == "byte 2: site 0 delays nothing");
  CHECK(t.Fault(t.list, {Head(kDelayed, 0), 90, 0, 0, one}) == "byte 2: site 90 delays nothing");
  CHECK(t.Fault(t.list, call.substr(0, 4)) == "byte 4: it ends too soon");
  const std::string error = {Head(kError, 0), 2, 1, 1, 1, 'x', 0, 0};
  CHECK(t.Fault(t.Of(TypeKind::Int), error) == "");
  CHECK(t.Fault(t.pair, std::string{Head(kValue, 0), nil} + error) == "byte 3: what is no value of a Maybe Int");
  CHECK(t.Fault(t.pair, std::string{Head(kValue, 0)} + error + std::string{Head(kValue, 0)}) == "");
  CHECK(t.Fault(t.Of(TypeKind::Int), {Head(kError, 0), 9, 1, 1, 0, 0, 0}) == "byte 5: an error of another graph");
  CHECK(t.Fault(t.Of(TypeKind::Int), {Head(kError, 0), 2, 9, 1, 0, 0, 0}) == "byte 5: an error of another graph");
  CHECK(t.Fault(t.Of(TypeKind::Int), {Head(kError, 0), 2, 1, 9, 0, 0, 0}) == "byte 5: an error of another graph");
  CHECK(t.Fault(t.Of(TypeKind::Int), Bytes({Head(kError, 0), 2, 1, 1, 1, 0xFF, 0, 0})) == "byte 6: a message that is not UTF-8");
  CHECK(t.Fault(t.Of(TypeKind::Int), {Head(kError, 0), 2, 1, 1, 0, 1, 0, 99, 1}) == "byte 8: a tag that the graph does not have");
}

TEST_CASE("what was met before is of the same type") {
  Types t;
  const char one = Head(kValue, 10);
  // Pair (Just-like shared list) (back to it): the list is no Maybe.
  CHECK(t.Fault(t.pair, {Head(kValue, 0), Head(kShared, 1), one, Head(kValue, 0), Head(kBack, 0)}) == "byte 5: what is no value of a Maybe Int");
  CHECK(t.Fault(t.list, {Head(kBack, 0)}) == "byte 1: object 0 has not come");
  CHECK(t.Fault(t.list, {Head(kShared, 1), one, Head(kBack, 0)}) == "");  // its own tail
  CHECK(t.Fault(t.list, {Head(kShared, 1), one, Head(kShared, 1), one, Head(kBack, 1)}) == "");
  CHECK(t.Fault(t.list, {Head(kKnown, 0), 5}) == "byte 2: object 5, which is to be a [Int], is not known here");
}

TEST_CASE("sizes are those of what is there") {
  Types t;
  memory::LimitScope limit(memory::counters.current, 1 << 20);
  const std::string huge("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 9);
  CHECK(t.Fault(t.Of(TypeKind::Text), std::string{Head(kValue, 0)} + huge + "abc") == "byte 10: it ends too soon");
  CHECK(t.Fault(t.Of(TypeKind::Text), Bytes({Head(kValue, 0), 2, 0xC3, 'x'})) == "byte 4: a text that is not UTF-8");
  CHECK(t.Fault(t.Of(TypeKind::Text), Bytes({Head(kValue, 0), 2, 0xC0, 0x80})) == "byte 4: a text that is not UTF-8");
  CHECK(t.Fault(t.Of(TypeKind::Integer), std::string{Head(kValue, 0)} + huge) == "byte 10: an Integer longer than the packet");
  CHECK(t.Fault(t.Of(TypeKind::Integer), Bytes({Head(kValue, 0), 0})) == "byte 2: an Integer longer than the packet");
  CHECK(t.Fault(t.Of(TypeKind::Integer), Bytes({Head(kValue, 0), 2, 1, 0, 0, 0, 0, 0, 0, 0})) == "byte 10: an Integer that is shorter than it says");
  CHECK(t.Fault(t.Of(TypeKind::Integer), Bytes({Head(kValue, 0), 4, 1, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0})) ==
        "byte 18: an Integer that is shorter than it says");
  CHECK(t.Fault(t.maybe, std::string{Head(kValue, 31)} + huge) == "byte 10: constructor 9223372036854775838 of a Maybe Int, which has 2");
  CHECK(t.Fault(t.maybe, std::string{Head(kValue, 31)} + "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01") == "byte 11: it ends too soon");
}

TEST_CASE("tensors are of the shape that is expected") {
  Types t;
  ir::PortType two = {t.graph.types.Tensor(TypeKind::Float, {2}), false}, truths = {t.graph.types.Tensor(TypeKind::Bool, {2}), false};
  ir::PortType table = {t.graph.types.Tensor(TypeKind::Float, {4, 1}), false}, large = {t.graph.types.Tensor(TypeKind::Double, {1 << 20, 1 << 10}), false};
  const int f = static_cast<int>(TypeKind::Float), b = static_cast<int>(TypeKind::Bool), d = static_cast<int>(TypeKind::Double);
  CHECK(t.Fault(two, Bytes({Head(kValue, 0), f, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0})) == "");
  CHECK(t.Fault(two, Bytes({Head(kValue, 0), f, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0})) == "byte 4: what is no value of a Tensor Float [2]");
  CHECK(t.Fault(two, Bytes({Head(kValue, 0), d, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0})) == "byte 3: what is no value of a Tensor Float [2]");
  CHECK(t.Fault(two, Bytes({Head(kValue, 0), f, 1, 2, 0, 0, 0})) == "byte 4: it ends too soon");
  CHECK(t.Fault(truths, Bytes({Head(kValue, 0), b, 1, 2, 0, 2})) == "byte 6: a truth value that is neither 0 nor 1");
  CHECK(t.Fault(two, Bytes({Head(kValue, 1), f, 1, 2})) == "byte 4: a part is missing");
  CHECK(t.Fault(two, Bytes({Head(kValue, 1), f, 1, 2}), {"abc"}) == "byte 4: a part of 3 bytes, and a Tensor Float [2] has 8");
  CHECK(t.Fault(two, Bytes({Head(kValue, 1), f, 1, 2}), {"abcdefgh"}) == "");
  CHECK(t.Fault(t.Of(TypeKind::Unit), Bytes({Head(kValue, 0)}), {"abc"}) == "byte 1: a part is left over");
  CHECK(t.Fault(two, Bytes({Head(kValue, 4), f, 1, 2})) == "byte 4: what is no value of a Tensor Float [2]");
  CHECK(t.Fault(two, Bytes({Head(kValue, 3), f, 1, 2})) == "byte 4: it ends too soon");
  CHECK(t.Fault(large, Bytes({Head(kValue, 0), d, 2, 0x80, 0x80, 0x40, 0x80, 0x08, 0})) == "byte 8: it ends too soon");
  // Rows: how many, their indices, their elements.
  const std::string rows = Bytes({Head(kValue, 2), f, 2, 4, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(t.Fault(table, rows) == "");
  std::string twice = rows, outside = rows;
  twice[14] = 3;
  outside[6] = 4;
  CHECK(t.Fault(table, twice) == "byte 30: row 3 of a tensor that has 4, or twice");
  CHECK(t.Fault(table, outside) == "byte 30: row 4 of a tensor that has 4, or twice");
  CHECK(t.Fault(table, rows.substr(0, 29)) == "byte 6: it ends too soon");
  CHECK(t.Fault(table, Bytes({Head(kValue, 2), f, 2, 4, 1, 5})) == "byte 6: rows that no tensor of this shape has");
}
