// Random values of random types: what is read is what was packed, to the last bit, and shares what that shares.
#include "runtime/value/tensor.h"
#include "tests/unit/catch.h"
#include "tests/unit/packet/random_values.h"

using namespace df;
using namespace df::test;

TEST_CASE("random values of random types come back, with what they share") {
  size_t objects = 0, bytes = 0, parts = 0, knots = 0, delayed = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    TestGraph test;
    RandomValues random(test, seed);
    random.MakeTypes();
    PacketTypes types(test.graph);
    TestReferences references(test);
    PackOptions options;
    options.least_part = seed % 2 ? 1000 : 64 << 10;
    Packer packer(types, options, &references);
    std::vector<std::pair<ir::PortType, Value>> values;
    const uint32_t count = random.Below(4);
    Packed packed = Packed::Yes;
    for (uint32_t i = 0; i <= count && packed == Packed::Yes; ++i) {
      ir::PortType type = random.AnyType();
      values.emplace_back(type, random.Make(type));
      packed = packer.Add(type, values.back().second);
    }
    if (packed != Packed::Yes) {
      // What leads back to itself through a strict field has no order in which it could be made.
      REQUIRE(packer.reason() == "a value that holds itself in a strict field");
      ++refused;
      continue;
    }
    Packet packet = packer.Take();
    bytes += packet.size();
    parts += packet.parts.size();
    std::vector<std::string_view> in_parts = PartsOf(packet);
    Unpacker unpacker(types, packet.bytes.view(), in_parts, &references);
    // Compared as one value: objects that two of them share.
    Value first = Value::Adopt(ValueKind::Object, Data::New(0, static_cast<uint32_t>(values.size())));
    Value second = Value::Adopt(ValueKind::Object, Data::New(0, static_cast<uint32_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) {
      std::optional<Value> value = unpacker.Next(values[i].first);
      INFO("seed " << seed << ": " << unpacker.fault());
      REQUIRE(value);
      static_cast<Data*>(first.object())->fields()[i] = values[i].second;
      static_cast<Data*>(second.object())->fields()[i] = *value;
    }
    REQUIRE(unpacker.Finish());
    size_t different = 0;
    const std::string difference = Difference(first, second, &different);
    INFO("seed " << seed);
    REQUIRE(difference == "");
    objects += different;
    knots += references.knots;
    delayed += references.made;
    CHECK(references.made == references.ready);
  }
  INFO(objects << " objects, " << bytes << " bytes, " << parts << " parts, " << delayed << " delayed calls, " << knots << " knots, " << refused << " refused");
  CHECK(objects > 20000);
  CHECK(parts > 10);
  CHECK(knots > 10);
  CHECK(delayed > 300);
  CHECK(refused < 100);
}

TEST_CASE("a packet that is changed anywhere is read or refused") {
  size_t refused = 0, all = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    TestGraph test;
    RandomValues random(test, seed);
    random.MakeTypes();
    PacketTypes types(test.graph);
    TestReferences references(test);
    ir::PortType type = random.AnyType();
    Value value = random.Make(type);
    Packer packer(types, {}, &references);
    if (packer.Add(type, value) != Packed::Yes) continue;
    Packet packet = packer.Take();
    std::vector<std::string_view> parts = PartsOf(packet);
    const std::string good(packet.bytes.view());
    for (int change = 0; change < 60; ++change) {
      std::string bytes = good;
      if (change < 20 && !bytes.empty()) bytes.resize(random.Below(static_cast<uint32_t>(bytes.size())));
      for (uint32_t i = 1 + random.Below(3); i > 0 && !bytes.empty(); --i)
        bytes[random.Below(static_cast<uint32_t>(bytes.size()))] = static_cast<char>(random.Below(256));
      memory::LimitScope limit(memory::counters.current, 16 << 20);
      ++all;
      try {
        Unpacker unpacker(types, bytes, parts, &references);
        std::optional<Value> read = unpacker.Next(type);
        if (!read || !unpacker.Finish()) {
          CHECK(!unpacker.fault().empty());
          ++refused;
          continue;
        }
        // What was accepted is packed again, and comes back the same.
        Packer again(types, {}, &references);
        if (again.Add(type, *read) != Packed::Yes) continue;
        Packet second = again.Take();
        std::vector<std::string_view> second_parts = PartsOf(second);
        Unpacker reader(types, second.bytes.view(), second_parts, &references);
        std::optional<Value> same = reader.Next(type);
        INFO("seed " << seed << ": " << reader.fault());
        REQUIRE(same);
        REQUIRE(reader.Finish());
        REQUIRE(Difference(*read, *same) == "");
      } catch (const std::bad_alloc&) {
        ++refused;
      }
    }
  }
  CHECK(refused > all / 4);
}
