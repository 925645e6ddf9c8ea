// Values of each type by hand, budgets, lists that are long.
#include <cmath>
#include <limits>

#include "runtime/value/integer.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/action.h"
#include "tests/unit/catch.h"
#include "tests/unit/packet/random_values.h"

using namespace df;
using namespace df::test;
using ir::TypeKind;

namespace {

// Through a packet and back.
Value Round(const TestGraph& test, ir::PortType type, const Value& value, PackOptions options = {}, size_t* size = nullptr) {
  PacketTypes types(test.graph);
  Packer packer(types, options);
  INFO(packer.reason());
  REQUIRE(packer.Add(type, value) == Packed::Yes);
  Packet packet = packer.Take();
  if (size) *size = packet.bytes.size();
  std::vector<std::string_view> parts = PartsOf(packet);
  Unpacker unpacker(types, packet.bytes.view(), parts);
  std::optional<Value> read = unpacker.Next(type);
  INFO(unpacker.fault());
  REQUIRE(read);
  REQUIRE(unpacker.Finish());
  return *read;
}

Value Ints(ir::ListType list, int64_t count) {
  Value value = Value::Word(list.nil);
  while (count-- > 0) {
    Data* cell = Data::New(list.cons, 2);
    cell->fields()[0] = Value::Word(count);
    cell->fields()[1] = std::move(value);
    value = Value::Adopt(ValueKind::Object, cell);
  }
  return value;
}

}  // namespace

TEST_CASE("words of every type come back to the bit") {
  TestGraph t;
  size_t size;
  for (int64_t n : {int64_t{0}, int64_t{1}, int64_t{22}, int64_t{23}, int64_t{-1}, int64_t{127}, int64_t{128}, int64_t{-128}, int64_t{-129}, int64_t{1} << 31,
                    -(int64_t{1} << 55), std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()})
    for (TypeKind kind : {TypeKind::Int, TypeKind::Integer}) CHECK(Round(t, t.Of(kind), Value::Word(n)).word() == n);
  for (int shift = 0; shift < 64; ++shift)
    for (int64_t near : {-1, 0, 1}) {
      const auto n = static_cast<int64_t>((uint64_t{1} << shift) + static_cast<uint64_t>(near));
      CHECK(Round(t, t.Of(TypeKind::Int), Value::Word(n)).word() == n);
    }
  Round(t, t.Of(TypeKind::Int), Value::Word(22), {}, &size);
  CHECK(size == 1);
  Round(t, t.Of(TypeKind::Int), Value::Word(-5), {}, &size);
  CHECK(size == 2);
  for (uint32_t c : {0u, 65u, 127u, 128u, 0xD800u, 0xFFFFu, 0x10FFFFu}) CHECK(Round(t, t.Of(TypeKind::Char), Value::Word(c)).word() == c);
  for (int64_t b : {0, 1}) CHECK(Round(t, t.Of(TypeKind::Bool), Value::Word(b)).word() == b);
  CHECK(Round(t, t.Of(TypeKind::Unit), Value::Word(0)).word() == 0);
  for (uint64_t bits : {uint64_t{0}, uint64_t{1}, uint64_t{0x8000000000000000}, uint64_t{0x7FF0000000000000}, uint64_t{0x7FF8000000000000},
                        uint64_t{0xFFF4000000000123}})
    CHECK(static_cast<uint64_t>(Round(t, t.Of(TypeKind::Double), Value::Word(static_cast<int64_t>(bits))).word()) == bits);
  for (uint32_t bits : {0u, 0x80000000u, 0x7F800000u, 0x7FC00000u, 0xFFA00001u, 1u}) CHECK(Round(t, t.Of(TypeKind::Float), Value::Word(bits)).word() == bits);
}

TEST_CASE("Integers of any size and texts come back") {
  TestGraph t;
  for (const char* digits : {"9223372036854775808", "-9223372036854775809", "340282366920938463463374607431768211456"}) {
    Value n;
    REQUIRE(integer::Parse(digits, &n));
    CHECK(integer::ToString(Round(t, t.Of(TypeKind::Integer), n)) == digits);
  }
  Value large = integer::ShiftL(Value::Word(-12345), 1 << 20, 1 << 30);
  CHECK((integer::Compare(Round(t, t.Of(TypeKind::Integer), large), large) == 0));
  for (std::string text :
       {std::string(), std::string("a\0b", 3), std::string("h\u00e9\u4e2d\U0001F600"), std::string("\xED\xA0\x80"), std::string(100000, 'x')}) {
    Value value = Round(t, t.Of(TypeKind::Text), Value::Adopt(ValueKind::Object, new TextObject(text)));
    CHECK(static_cast<TextObject*>(value.object())->text() == text);
  }
}

TEST_CASE("tensors go in the packet or beside it") {
  TestGraph t;
  for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {0}, {3}, {2, 3, 4}, {300, 100}})
    for (TypeKind element : {TypeKind::Float, TypeKind::Double, TypeKind::Int, TypeKind::Bool}) {
      ir::PortType type = {t.graph.types.Tensor(element, dims), false};
      Value value = MakeTensor(element, dims);
      TensorObject& tensor = *TensorIn(value);
      for (size_t i = 0; i < tensor.bytes(); ++i) tensor.data()[i] = static_cast<char>(element == TypeKind::Bool ? i % 2 : i * 37);
      Value read = Round(t, type, value);
      CHECK(Difference(value, read) == "");
      PacketTypes types(t.graph);
      Packer packer(types);
      REQUIRE(packer.Add(type, value) == Packed::Yes);
      Packet packet = packer.Take();
      CHECK(packet.parts.size() == (tensor.bytes() >= 64 << 10));
      // A part is the tensor itself, which nobody may write now.
      if (!packet.parts.empty()) CHECK(packet.parts[0].bytes.data() == tensor.data());
    }
}

TEST_CASE("a tensor that could not be computed comes back as one, with its error") {
  TestGraph t;
  ir::PortType type = {t.graph.types.Tensor(TypeKind::Double, {2, 2}), false};
  Value error = Value::Adopt(ValueKind::Error, new ErrorObject(ErrorCode::User, "a matrix without an inverse", {}, {}));
  Value value = Value::Adopt(ValueKind::Object, new TensorObject(t.graph.types[type.type], static_cast<ErrorObject*>(error.object())));
  Value read = Round(t, type, value);
  REQUIRE(TensorIn(read));
  REQUIRE(TensorIn(read)->Failure());
  CHECK(TensorIn(read)->Failure()->message == "a matrix without an inverse");
  // In a file there is no such value.
  PacketTypes types(t.graph);
  PackOptions options;
  options.errors = false;
  CHECK(Packer(types, options).Add(type, value) == Packed::NotGivable);
}

TEST_CASE("a list of ten million cells needs no stack") {
  TestGraph t;
  ir::TypeId type = t.List(t.graph.types.Builtin(TypeKind::Int), "[Int]");
  ir::ListType list{0, 1};
  constexpr int64_t kCells = 10'000'000;
  Value value = Ints(list, kCells);
  Value read = Round(t, {type, false}, value);
  int64_t count = 0;
  const Value* at = &read;
  for (; !at->is_word(); at = &static_cast<Data*>(at->object())->fields()[1])
    if (static_cast<Data*>(at->object())->fields()[0].word() == count) ++count;
  CHECK(count == kCells);
}

TEST_CASE("what is deep on the left side comes back") {
  TestGraph t;
  ir::TypeId tree = t.Data("Tree", {});
  const ir::FieldType number = TestGraph::Field(t.graph.types.Builtin(TypeKind::Int), false, true);
  t.graph.types[tree].constructors = {{"Leaf", {}}, {"Node", {TestGraph::Field(tree, true), number}}};
  Value value = Value::Word(0);
  for (int64_t i = 0; i < 1'000'000; ++i) {
    Data* node = Data::New(1, 2);
    node->fields()[0] = std::move(value);
    node->fields()[1] = Value::Word(i);
    value = Value::Adopt(ValueKind::Object, node);
  }
  CHECK(Difference(value, Round(t, {tree, true}, value)) == "");
}

TEST_CASE("what is shared is one object") {
  TestGraph t;
  ir::TypeId type = t.List(t.graph.types.Builtin(TypeKind::Int), "[Int]");
  ir::TypeId pair = t.Data("([Int], [Int])", {{"(,)", {TestGraph::Field(type, true), TestGraph::Field(type, true)}}});
  Value list = Ints({0, 1}, 1000);
  Value value = Value::Adopt(ValueKind::Object, Data::New(0, 2));
  for (int i = 0; i < 2; ++i) static_cast<Data*>(value.object())->fields()[i] = list;
  size_t one, two;
  Round(t, {type, false}, list, {}, &one);
  Value read = Round(t, {pair, false}, value, {}, &two);
  CHECK(two <= one + 3);
  CHECK(static_cast<Data*>(read.object())->fields()[0].object() == static_cast<Data*>(read.object())->fields()[1].object());
  // A tower of pairs is a power of two of paths and as many objects as it is high.
  ir::TypeId tower = t.Data("Tower", {});
  t.graph.types[tower].constructors = {{"End", {}}, {"Two", {TestGraph::Field(tower, true), TestGraph::Field(tower, true)}}};
  Value top = Value::Word(0);
  for (int i = 0; i < 200; ++i) {
    Data* data = Data::New(1, 2);
    data->fields()[0] = top;
    data->fields()[1] = std::move(top);
    top = Value::Adopt(ValueKind::Object, data);
  }
  size_t objects;
  CHECK(Difference(top, Round(t, {tower, false}, top), &objects) == "");
  CHECK(objects == 200);
}

TEST_CASE("the bytes are those of docs/wire.md") {
  TestGraph t;
  ir::TypeId type = t.List(t.graph.types.Builtin(TypeKind::Int), "[Int]");
  PacketTypes types(t.graph);
  Value list = Value::Word(0);
  for (int64_t n : {1000, 3}) {
    Data* cell = Data::New(1, 2);
    cell->fields()[0] = Value::Word(n);
    cell->fields()[1] = std::move(list);
    list = Value::Adopt(ValueKind::Object, cell);
  }
  Packer packer(types);
  REQUIRE(packer.Add({type, true}, list) == Packed::Yes);
  CHECK(packer.Take().bytes.view() == std::string_view("\x08\x60\x08\x10\xE8\x03\x00", 7));
}

TEST_CASE("packed once more, the same values are the same bytes whoever holds their parts") {
  TestGraph t;
  ir::TypeId type = t.List(t.graph.types.Builtin(TypeKind::Int), "[Int]");
  PacketTypes types(t.graph);
  std::string bytes[2][2];
  for (int held = 0; held < 2; ++held) {
    Value list = Ints({0, 1}, 100), part = Value(static_cast<Data*>(list.object())->fields()[1]);
    if (!held) part = Value();
    Packer packer(types);
    for (int round = 0; round < 2; ++round) {
      if (round) packer.Restart();
      REQUIRE(packer.Add({type, true}, list) == Packed::Yes);
      bytes[held][round] = packer.Take().bytes.view();
    }
  }
  CHECK(bytes[0][0] != bytes[1][0]);
  CHECK(bytes[0][1] == bytes[1][1]);
}

TEST_CASE("packing is given up beyond its budget") {
  TestGraph t;
  ir::TypeId type = t.List(t.graph.types.Builtin(TypeKind::Int), "[Int]");
  PacketTypes types(t.graph);
  Value list = Ints({0, 1}, 1'000'000);
  const int64_t before = memory::counters.peak;
  PackOptions options;
  options.budget = 4096;
  Packer packer(types, options);
  CHECK(packer.Add({type, false}, list) == Packed::TooLarge);
  CHECK(packer.reason() == "more than 4096 bytes");
  CHECK(packer.Add({type, false}, Value::Word(0)) == Packed::TooLarge);
  CHECK(memory::counters.peak <= before + 100'000);
  // Before a text or a tensor is copied, and one that is a part counts, too.
  Packer text(types, options);
  CHECK(text.Add(t.Of(TypeKind::Text), Value::Adopt(ValueKind::Object, new TextObject(std::string(5000, 'x')))) == Packed::TooLarge);
  ir::PortType matrix = {t.graph.types.Tensor(TypeKind::Float, {1000, 100}), false};
  PacketTypes more(t.graph);
  Packer tensor(more, options);
  CHECK(tensor.Add(matrix, MakeTensor(TypeKind::Float, {1000, 100})) == Packed::TooLarge);
  Packer small(types, options);
  CHECK(small.Add({type, false}, Ints({0, 1}, 1000)) == Packed::Yes);
  CHECK(small.Take().size() > 1000);
}

TEST_CASE("packing counts against the memory limit") {
  TestGraph t;
  ir::TypeId type = t.List(t.graph.types.Builtin(TypeKind::Int), "[Int]");
  PacketTypes types(t.graph);
  Value list = Ints({0, 1}, 1'000'000);
  const int64_t before = memory::counters.current;
  {
    memory::LimitScope limit(memory::counters.current, 1 << 20);
    Packer packer(types);
    CHECK_THROWS_AS(packer.Add({type, false}, list), std::bad_alloc);
  }
  CHECK(memory::counters.current == before);
}
