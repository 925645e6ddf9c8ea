// tests/unit/packet/random_values.h
//
// Random types, random values of them with whatever may be shared, and a comparison that sees what is shared.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "runtime/packet/pack.h"
#include "runtime/packet/unpack.h"
#include "runtime/run/bounded_tag.h"

namespace df::test {

// A delayed call, or a reference that has its value.
struct TestCell : Cell {
  uint32_t site = 0;
  TagNode* tag = nullptr;
  std::vector<Value> operands;
  bool full = false, runs = false;
  Value value;
  ~TestCell() override { DropTag(tag); }
  void DropChildren(DeadObjects& dead) override {
    for (Value& operand : operands) dead.Drop(operand);
    dead.Drop(value);
  }
};
inline TestCell* TestCellIn(const Value& value) {
  return value.is_reference() && value.object()->kind == ObjectKind::Cell ? static_cast<TestCell*>(value.object()) : nullptr;
}

// Counts alone would not free those that lead back to themselves: what they hold is dropped when this goes.
class TestCells {
 public:
  TestCells() = default;
  TestCells(const TestCells&) = delete;
  TestCells& operator=(const TestCells&) = delete;
  ~TestCells() {
    for (Value& cell : cells_) {
      TestCellIn(cell)->operands.clear();
      TestCellIn(cell)->value = Value();
    }
  }
  TestCell* New(Value* reference) {
    auto* cell = new TestCell;
    *reference = Value::Adopt(ValueKind::Reference, cell);
    cells_.push_back(*reference);
    return cell;
  }
  // A reference that has its value.
  Value Full(Value value) {
    Value reference;
    TestCell* cell = New(&reference);
    cell->full = true;
    cell->value = std::move(value);
    return reference;
  }

 private:
  std::vector<Value> cells_;
};

// A graph with the types, and sites that delay calls of some of them.
struct TestGraph {
  ir::Graph graph;
  std::vector<std::vector<ir::PortType>> operands;  // by site
  std::vector<ir::TypeId> delayed;                  // by site: of what

  TestGraph();
  ir::PortType Of(ir::TypeKind kind, bool lazy = false) const { return {graph.types.Builtin(kind), lazy}; }
  static ir::FieldType Field(ir::TypeId type, bool lazy, bool strict = false) { return {{type, lazy}, strict, ""}; }
  ir::TypeId Data(std::string name, std::vector<ir::Constructor> constructors);
  // With lazy fields.
  ir::TypeId List(ir::TypeId element, std::string name);
  uint32_t Delay(ir::TypeId result, std::vector<ir::PortType> operands);
};

// The delayed calls of a packet, both ways.
struct TestReferences : PackReferences, UnpackReferences {
  const TestGraph& test;
  uint64_t made = 0, knots = 0, ready = 0;
  TestCells cells;
  explicit TestReferences(const TestGraph& t) : test(t) {}
  Is Look(const Value& reference, ir::TypeId type, Value* value, PackReferences::Call* call, std::string* why) override;
  bool Make(ir::SiteId site, TagNode* tag, ir::TypeId type, UnpackReferences::Call* call, std::string* why) override;
  void Made(const Value& reference) override { ++ready; }
  Value Knot(const Value& object, ir::TypeId type) override;
};

class RandomValues {
 public:
  RandomValues(TestGraph& test, uint64_t seed) : test_(test), random_(seed) {}
  ~RandomValues() {
    for (TagNode* tag : tags_) DropTag(tag);
  }
  // Data types that refer to each other, tensors, delays.
  void MakeTypes();
  ir::PortType AnyType();
  Value Make(ir::PortType type) { return Make(type, false, 9); }
  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }

 private:
  void MeasureTypes();
  Value Make(ir::PortType type, bool strict, int depth);
  Value MakeOf(ir::TypeId type, int depth);
  Value MakeError();
  TagNode* MakeTag();
  Value MakeTensorOf(const ir::Type& type);

  TestGraph& test_;
  std::mt19937_64 random_;
  std::vector<int> heights_;  // by type: of the least value
  std::vector<std::vector<Value>> made_;  // by type
  std::vector<Value> errors_;
  std::vector<TagNode*> tags_;
  TestCells cells_;
};

// "" if the values are equal to the last bit and share the same objects; else the first difference. Full references of `a` are taken as what
// they stand for. `objects`: how many different ones there are. Without `sharing` one object may be several.
std::string Difference(const Value& a, const Value& b, size_t* objects = nullptr, bool sharing = true);

inline std::vector<std::string_view> PartsOf(const Packet& packet) {
  std::vector<std::string_view> parts;
  for (const PacketPart& part : packet.parts) parts.push_back(part.bytes);
  return parts;
}

}  // namespace df::test
