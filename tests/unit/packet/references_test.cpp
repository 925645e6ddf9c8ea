// Lazy parts of values, errors, tags, and what holds itself.
#include "tests/unit/catch.h"
#include "tests/unit/packet/random_values.h"

using namespace df;
using namespace df::test;
using ir::TypeKind;

namespace {

struct Lists : TestGraph {
  ir::PortType list;
  uint32_t site;
  Lists() {
    list = {List(graph.types.Builtin(TypeKind::Int), "[Int]"), true};
    site = Delay(list.type, {Of(TypeKind::Int), list});
  }
  Value Cell(Value head, Value tail) const {
    df::Data* data = df::Data::New(1, 2);
    data->fields()[0] = std::move(head);
    data->fields()[1] = std::move(tail);
    return Value::Adopt(ValueKind::Object, data);
  }
};

Value Field(const Value& value, int k) { return static_cast<Data*>(value.object())->fields()[k]; }

struct Supplied : HostCell {
  Value Supply() override { return Value::Word(7); }
};

}  // namespace

TEST_CASE("without who looks at references they are not givable") {
  Lists t;
  TestCells cells;
  PacketTypes types(t.graph);
  Value open;
  cells.New(&open)->site = t.site;
  Packer none(types);
  CHECK(none.Add(t.list, t.Cell(Value::Word(1), open)) == Packed::NotGivable);
  CHECK(none.reason() == "a delayed call");
  TestReferences references(t);
  TestCellIn(open)->runs = true;
  Packer runs(types, {}, &references);
  CHECK(runs.Add(t.list, t.Cell(Value::Word(1), open)) == Packed::NotGivable);
  CHECK(runs.reason() == "a delayed call that runs");
  // What the host has given is a value like any other.
  auto* host = new Supplied;
  Value asked = Value::Adopt(ValueKind::Reference, host);
  Packer before(types);
  CHECK(before.Add(t.Of(TypeKind::Int, true), asked) == Packed::NotGivable);
  CHECK(before.reason() == "what only this process reads");
  host->Ask();
  Packer after(types);
  CHECK(after.Add(t.Of(TypeKind::Int, true), asked) == Packed::Yes);
}

TEST_CASE("a delayed call goes as what it is, once, and may hold itself") {
  Lists t;
  TestReferences references(t);
  PacketTypes types(t.graph);
  Value call;
  TestCell* cell = references.cells.New(&call);
  cell->site = t.site;
  cell->tag = NewTag({0, false, 0}, nullptr);
  cell->operands = {Value::Word(5), t.Cell(Value::Word(6), call)};
  Value value = t.Cell(Value::Word(1), t.Cell(Value::Word(2), call));
  Packer packer(types, {}, &references);
  REQUIRE(packer.Add(t.list, value) == Packed::Yes);
  REQUIRE(packer.Add(t.list, call) == Packed::Yes);
  Packet packet = packer.Take();
  Unpacker unpacker(types, packet.bytes.view(), {}, &references);
  std::optional<Value> first = unpacker.Next(t.list), second = unpacker.Next(t.list);
  REQUIRE((first && second));
  REQUIRE(unpacker.Finish());
  CHECK(references.made == 1);
  CHECK(references.ready == 1);
  CHECK(Difference(value, *first) == "");
  TestCell* read = TestCellIn(*second);
  REQUIRE(read);
  CHECK(read == TestCellIn(Field(Field(*first, 1), 1)));
  CHECK(read == TestCellIn(Field(read->operands[1], 1)));
  CHECK(DepthOf(read->tag) == 1);
}

TEST_CASE("a list that is its own tail comes back as one") {
  Lists t;
  TestReferences references(t);
  PacketTypes types(t.graph);
  Value reference;
  TestCell* cell = references.cells.New(&reference);
  cell->full = true;
  cell->value = t.Cell(Value::Word(1), t.Cell(Value::Word(2), reference));
  Packer packer(types, {}, &references);
  REQUIRE(packer.Add(t.list, reference) == Packed::Yes);
  Packet packet = packer.Take();
  CHECK(packet.size() < 10);
  Unpacker unpacker(types, packet.bytes.view(), {}, &references);
  std::optional<Value> read = unpacker.Next(t.list);
  REQUIRE(read);
  REQUIRE(unpacker.Finish());
  CHECK(references.knots == 1);
  CHECK(Difference(reference, *read) == "");
  // Where nobody ties knots it is refused, on both sides.
  Unpacker alone(types, packet.bytes.view(), {});
  CHECK(!alone.Next(t.list));
  CHECK(alone.fault() == "byte 5: a value that holds itself");
  PackOptions options;
  options.cycles = false;
  Packer plain(types, options, &references);
  CHECK(plain.Add(t.list, reference) == Packed::NotGivable);
  CHECK(plain.reason() == "a value that holds itself");
}

TEST_CASE("an unforced chain of a million delayed calls needs no stack") {
  Lists t;
  PacketTypes types(t.graph);
  TestReferences references(t);
  Value chain = Value::Word(0);
  for (int64_t i = 0; i < 1'000'000; ++i) {
    auto* cell = new TestCell;
    cell->site = t.site;
    cell->operands = {Value::Word(i), std::move(chain)};
    chain = Value::Adopt(ValueKind::Reference, cell);
  }
  Packer packer(types, {}, &references);
  REQUIRE(packer.Add(t.list, chain) == Packed::Yes);
  Packet packet = packer.Take();
  Unpacker unpacker(types, packet.bytes.view(), {}, &references);
  std::optional<Value> read = unpacker.Next(t.list);
  REQUIRE(read);
  REQUIRE(unpacker.Finish());
  CHECK(references.made == 1'000'000);
}

TEST_CASE("errors keep where they come from") {
  Lists t;
  PacketTypes types(t.graph);
  for (uint32_t depth : {0u, 1u, 5u, 63u, 64u, 65u, 100u, 127u, 128u, 129u, 191u, 192u, 500u, 10000u})
    for (uint32_t labels : {1u, 2u, 7u}) {
      TagNode* tag = nullptr;
      for (uint32_t i = 0; i < depth; ++i) {
        const Label label = i % labels == 2 ? Label{2, true, i} : Label{i % labels == 1, false, 0};
        TagNode* next = NewTag(label, tag);
        DropTag(tag);
        tag = next;
      }
      auto* error = new ErrorObject(ErrorCode::User, "wr\u00f6ng", ir::NodeId(0), ir::PosId(1));
      Value value = Value::Adopt(ValueKind::Error, error);
      if (tag) error->tag = new TagNodeCell(tag);
      DropTag(tag);
      Packer packer(types);
      REQUIRE(packer.Add(t.list, t.Cell(value, value)) == Packed::Yes);
      Packet packet = packer.Take();
      CHECK(packet.size() < 2600);
      Unpacker unpacker(types, packet.bytes.view(), {});
      std::optional<Value> read = unpacker.Next(t.list);
      INFO(depth << " of " << labels << ": " << unpacker.fault());
      REQUIRE(read);
      REQUIRE(unpacker.Finish());
      CHECK(Difference(t.Cell(value, value), *read) == "");
    }
}

TEST_CASE("an error of an engine with other tags is not givable") {
  Lists t;
  PacketTypes types(t.graph);
  auto* error = new ErrorObject(ErrorCode::User, "", {}, {});
  error->tag = new TestCell;
  Packer packer(types);
  CHECK(packer.Add(t.list, Value::Adopt(ValueKind::Error, error)) == Packed::NotGivable);
  CHECK(packer.reason() == "an error of another engine");
}
