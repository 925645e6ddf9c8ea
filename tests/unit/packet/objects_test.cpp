// What is large goes once: sender and receivers agree about what is kept, whatever goes, changes or finds no room.
#include <map>

#include "runtime/packet/received_objects.h"
#include "runtime/packet/sent_objects.h"
#include "runtime/value/integer.h"
#include "runtime/value/tensor.h"
#include "tests/unit/catch.h"
#include "tests/unit/packet/random_values.h"

using namespace df;
using namespace df::test;
using ir::TypeKind;

namespace {

struct Bytes {
  std::string bytes;
  std::vector<std::string> parts;
};

// Receivers that get all at once, and in order.
struct Receivers : SentObjects::Line {
  explicit Receivers(const PacketTypes& t) : types(t) {}
  void Give(uint32_t receiver, uint64_t name, Packet object) override {
    auto bytes = std::make_shared<Bytes>();
    bytes->bytes.assign(object.bytes.view());
    for (const PacketPart& part : object.parts) bytes->parts.emplace_back(part.bytes);
    given += object.size();
    CHECK(At(receiver).Add(1, name, bytes->bytes, {bytes->parts.begin(), bytes->parts.end()}, bytes));
  }
  void TakeBack(uint32_t receiver, uint64_t name) override {
    ++taken_back;
    CHECK(At(receiver).Remove(1, name));
  }
  ReceivedObjects& At(uint32_t receiver) { return received.try_emplace(receiver, types).first->second; }

  const PacketTypes& types;
  std::map<uint32_t, ReceivedObjects> received;
  size_t given = 0, taken_back = 0;
};

// A value that is sent; what the receiver has of it. `size`: of the packet.
std::optional<Value> Send(const PacketTypes& types, SentObjects& sent, Receivers& line, uint32_t receiver, ir::PortType type, const Value& value,
                          TestReferences* references, size_t* size, bool all = true) {
  SentObjects::ForPacket known(sent, receiver, all);
  Packet packet;
  do {
    Packer packer(types, {}, references, &known);
    if (packer.Add(type, value) != Packed::Yes) return std::nullopt;
    packet = packer.Take();
  } while (known.NameTrees(references));
  *size = packet.size();
  std::vector<std::string_view> parts = PartsOf(packet);
  ReceivedObjects::Of kept(line.At(receiver), 1);
  Unpacker unpacker(types, packet.bytes.view(), parts, references, &kept);
  std::optional<Value> back = unpacker.Next(type);
  INFO(unpacker.fault());
  REQUIRE(back);
  REQUIRE(unpacker.Finish());
  return back;
}

struct Texts : TestGraph {
  ir::PortType text = Of(TypeKind::Text);
  PacketTypes types{graph};
  Receivers line{types};
  SentObjects sent{types, line, 1000};
  static Value Text(size_t size) { return Value::Adopt(ValueKind::Object, new TextObject(std::string(size, 'x'))); }
  size_t Size(uint32_t receiver, const Value& value, bool all = true) {
    size_t size;
    std::optional<Value> back = Send(types, sent, line, receiver, text, value, nullptr, &size, all);
    CHECK(static_cast<TextObject*>(back->object())->text() == static_cast<TextObject*>(value.object())->text());
    return size;
  }
};

}  // namespace

TEST_CASE("a large object goes once to each receiver that has room, and is taken back when it goes") {
  Texts t;
  Value text = t.Text(5000), small = t.Text(900);
  CHECK(t.Size(1, text) > 5000);  // nobody has offered room
  CHECK(t.line.given == 0);
  t.sent.SetRoom(1, 20000);
  t.sent.SetRoom(2, 4000);
  CHECK(t.Size(1, text) < 10);
  CHECK(t.Size(1, text) < 10);
  CHECK(t.sent.given() == 1);
  CHECK(t.Size(2, text) > 5000);
  CHECK(t.Size(1, small) > 900);
  t.sent.SetRoom(2, 20000);
  CHECK(t.Size(2, text) < 10);
  CHECK(t.sent.given() == 2);
  CHECK((t.sent.Used(1) > 5000 && t.sent.Used(2) > 5000));
  text = Value();
  CHECK((t.sent.Used(1) == 0 && t.sent.Used(2) == 0));
  CHECK(t.line.taken_back == 2);
  CHECK((t.line.At(1).size() == 0 && t.line.At(2).size() == 0));
}

TEST_CASE("what nobody else holds has no name unless it is asked for") {
  Texts t;
  t.sent.SetRoom(1, 20000);
  Value text = t.Text(5000);
  CHECK(t.Size(1, text, false) > 5000);
  Value other = text;
  CHECK(t.Size(1, text, false) < 10);
  other = Value();
  CHECK(t.line.At(1).size() == 1);
}

TEST_CASE("what was not used for longest makes room, but not what a packet is being made of") {
  Texts t;
  t.sent.SetRoom(1, 12000);
  Value a = t.Text(5000), b = t.Text(5001), c = t.Text(5002);
  t.Size(1, a), t.Size(1, b), t.Size(1, a), t.Size(1, c);
  CHECK(t.sent.given() == 3);
  CHECK(t.line.taken_back == 1);
  t.Size(1, a);
  CHECK(t.sent.given() == 3);  // b had gone
  SentObjects::ForPacket one(t.sent, 1, true), two(t.sent, 1, true);
  uint64_t name;
  bool its = false;
  CHECK(one.Look(a, t.text.type, 5000, &name, &its));
  CHECK(two.Look(c, t.text.type, 5002, &name, &its));
  CHECK_FALSE(its);
  CHECK(t.Size(1, b) > 5000);
  t.sent.SetRoom(1, 0);
  CHECK(t.sent.Used(1) > 10000);
}

TEST_CASE("a tensor that is changed in place, or gets another shape, is another one") {
  TestGraph t;
  const ir::PortType type{t.graph.types.Tensor(TypeKind::Double, {30, 10})};
  PacketTypes types(t.graph);
  Receivers line(types);
  SentObjects sent(types, line, 1000);
  sent.SetRoom(1, 100000);
  Value value = MakeTensor(TypeKind::Double, {30, 10});
  auto* elements = TensorIn(value)->as<double>();
  for (int i = 0; i < 300; ++i) elements[i] = i;
  size_t size;
  for (int round = 0; round < 3; ++round) {
    std::optional<Value> back = Send(types, sent, line, 1, type, value, nullptr, &size);
    CHECK(size < 10);
    CHECK(TensorIn(*back)->as<double>()[7] == (round == 2 ? -1 : 7));
    if (round == 0) continue;
    CHECK_FALSE(TensorIn(value)->IsOverwritable());
    CHECK(TensorIn(value)->PrepareToWrite());
    TensorIn(value)->as<double>()[7] = -1;
  }
  CHECK(sent.given() == 2);
  CHECK(line.taken_back == 2);
  Send(types, sent, line, 1, type, value, nullptr, &size);
  TensorIn(value)->Reshape({10, 30});
  CHECK(line.At(1).size() == 0);
}

TEST_CASE("objects that outlive their sender have no name any more") {
  Value text = Texts::Text(5000);
  for (int run = 0; run < 3; ++run) {
    Texts t;
    t.sent.SetRoom(1, 20000);
    CHECK(t.Size(1, text) < 10);
    Value large = integer::ShiftL(Value::Word(1), 1 << 16, 1 << 20);
    size_t size;
    std::optional<Value> back = Send(t.types, t.sent, t.line, 1, t.Of(TypeKind::Integer), large, nullptr, &size);
    CHECK(size < 10);
    CHECK((integer::Compare(*back, large) == 0));
    t.sent.End();
    CHECK(t.Size(1, text) > 5000);
    CHECK(t.line.taken_back == 0);
  }
}

TEST_CASE("what came from there goes back by the name that it has there, unless it has gone") {
  Texts here, there;  // each the other's receiver, and sender, 1
  here.sent.SetRoom(1, 20000, true), there.sent.SetRoom(1, 20000, true);
  auto send = [](Texts& from, Texts& to, const Value& value, size_t* size, bool* gone) {
    SentObjects::ForPacket known(from.sent, 1, false, &to.line.At(1));
    Packer packer(from.types, {}, nullptr, &known);
    REQUIRE(packer.Add(from.text, value) == Packed::Yes);
    Packet packet = packer.Take();
    *size = packet.size();
    ReceivedObjects::Of kept(from.line.At(1), 1, &to.sent);
    Unpacker unpacker(to.types, packet.bytes.view(), {}, nullptr, &kept);
    std::optional<Value> back = unpacker.Next(to.text);
    *gone = unpacker.HasGone();
    return back;
  };
  Value text = here.Text(5000), other = text;
  size_t size;
  bool gone;
  std::optional<Value> came = send(here, there, text, &size, &gone);
  CHECK((came && size < 10 && came->object() != text.object()));
  std::optional<Value> back = send(there, here, *came, &size, &gone);
  CHECK((back && size < 10 && back->object() == text.object()));
  CHECK(there.sent.given() == 0);
  // It goes while its name is on its way.
  SentObjects::ForPacket known(there.sent, 1, false, &here.line.At(1));
  Packer packer(there.types, {}, nullptr, &known);
  REQUIRE(packer.Add(there.text, *came) == Packed::Yes);
  Packet packet = packer.Take();
  text = other = Value(), back.reset();
  CHECK(here.line.taken_back == 1);
  ReceivedObjects::Of kept(there.line.At(1), 1, &here.sent);
  Unpacker unpacker(here.types, packet.bytes.view(), {}, nullptr, &kept);
  CHECK_FALSE(unpacker.Next(here.text));
  CHECK(unpacker.HasGone());
  // From now on it is no name there any more, and goes as what it is.
  came = send(there, here, *came, &size, &gone);
  CHECK((came && size > 5000));
}

namespace {

struct Lists : TestGraph {
  ir::TypeId list = List(graph.types.Builtin(TypeKind::Int), "ints");
  ir::PortType type{list};
  uint32_t delay = Delay(list, {Of(TypeKind::Int)});
  PacketTypes types{graph};
  Receivers line{types};
  SentObjects sent{types, line, 1000};
  TestReferences references{*this};

  // From, from + 1, .. before `tail`.
  Value Ints(int64_t from, int count, Value tail = Value::Word(0)) {
    for (int i = count; i-- > 0;) {
      df::Data* cell = df::Data::New(1, 2);
      cell->fields()[0] = Value::Word(from + i);
      cell->fields()[1] = std::move(tail);
      tail = Value::Adopt(ValueKind::Object, cell);
    }
    return tail;
  }
  size_t Size(uint32_t receiver, const Value& value) {
    size_t size;
    std::optional<Value> back = Send(types, sent, line, receiver, type, value, &references, &size);
    REQUIRE(back);
    CHECK(Difference(value, *back, nullptr, false) == "");
    return size;
  }
};

}  // namespace

TEST_CASE("a list that somebody else holds goes once, until nobody does") {
  Lists t;
  t.sent.SetRoom(1, 80000), t.sent.SetRoom(2, 80000);
  Value list = t.Ints(1000, 1000), other = list, small = t.Ints(1000, 100), too = small, once = t.Ints(5000, 1000);
  CHECK(t.Size(1, list) < 10);
  CHECK(t.Size(1, list) < 10);
  CHECK(t.sent.given() == 1);
  CHECK(t.Size(2, list) < 10);
  for (int i = 0; i < 3; ++i) CHECK(t.Size(1, once) > 3000);  // nobody else holds it
  for (int i = 0; i < 3; ++i) CHECK(t.Size(1, small) > 300);
  CHECK(t.sent.given() == 2);
  // A longer list on top of it goes with the name of the old one.
  Value longer = t.Ints(7, 3, list), longer_too = longer;
  CHECK(t.Size(1, longer) < 30);
  list = Value(), other = Value(), longer = Value(), longer_too = Value();
  CHECK(t.sent.Used(1) > 3000);
  t.Size(1, small);  // the next packet finds that it is held for nothing
  CHECK((t.sent.Used(1) == 0 && t.sent.Used(2) == 0));
  CHECK(t.line.taken_back == 2);
  CHECK((t.line.At(1).size() == 0 && t.line.At(2).size() == 0));
}

TEST_CASE("what one list after the other holds has a name from the second on") {
  Lists t;
  t.sent.SetRoom(1, 800000);
  Value base = t.Ints(1000, 5000), too = base;
  std::vector<Value> all;
  for (int i = 0; i < 3; ++i) {
    Value list = t.Ints(10 * i, 500, base);
    all.push_back(list);
    const size_t size = t.Size(1, list);
    if (i == 0) CHECK(size < 10);  // all of it is an object
    else CHECK((size > 500 && size < 2000));
  }
  CHECK(t.sent.given() == 2);
}

TEST_CASE("a list with something that is still to be computed has no name") {
  Lists t;
  t.sent.SetRoom(1, 80000);
  Value reference;
  TestCell* cell = t.references.cells.New(&reference);
  cell->site = t.delay;
  cell->operands.push_back(Value::Word(3));
  Value list = t.Ints(1000, 1000, reference), other = list;
  for (int i = 0; i < 3; ++i) CHECK(t.Size(1, list) > 3000);
  CHECK(t.sent.given() == 0);
  // Once it is there it has.
  cell->operands.clear();
  cell->full = true;
  cell->value = t.Ints(1, 1);
  CHECK(t.Size(1, list) < 10);
}

TEST_CASE("lists have an eighth of the room, and the one that was not used for longest makes room") {
  Lists t;
  t.sent.SetRoom(1, 80000);
  std::vector<Value> lists, others;
  for (int i = 0; i < 4; ++i) lists.push_back(t.Ints(1000 + i, 1000));
  others = lists;
  for (const Value& list : lists) t.Size(1, list);
  CHECK(t.sent.Used(1) <= 10000);
  CHECK(t.sent.given() == 4);
  CHECK(t.line.taken_back == 2);
  CHECK(t.Size(1, lists[0]) < 10);
  CHECK(t.line.taken_back == 3);
  Value large = t.Ints(1000, 5000), too = large;
  for (int i = 0; i < 3; ++i) CHECK(t.Size(1, large) > 10000);
  t.sent.Forget(1);
  CHECK(t.Size(1, lists[0]) > 3000);
  t.sent.SetRoom(1, 80000);
  CHECK(t.Size(1, lists[0]) < 10);  // to a member that came again
  t.sent.End();
  CHECK(t.Size(1, lists[0]) > 3000);
}

TEST_CASE("names that are not there, or of another type, are refused") {
  Texts t;
  ReceivedObjects received(t.types);
  const auto holder = std::make_shared<int>();
  const std::string text("\0\3abc", 5);
  CHECK(received.Add(1, 7, text, {}, holder));
  CHECK_FALSE(received.Add(1, 7, text, {}, holder));
  CHECK(received.Add(2, 8, "junk", {}, holder));
  ReceivedObjects::Of one(received, 1), two(received, 2);
  CHECK(one.Find(7, t.text.type));
  CHECK_FALSE(one.Find(7, t.graph.types.Builtin(TypeKind::Integer)));
  CHECK_FALSE(one.Find(8, t.text.type));
  CHECK_FALSE(two.Find(7, t.text.type));
  CHECK_FALSE(two.Find(8, t.text.type));
  received.RemoveAll(1);
  CHECK_FALSE(one.Find(7, t.text.type));
  CHECK(received.size() == 1);
  CHECK_FALSE(received.Remove(1, 7));
}

TEST_CASE("random values that are sent again and again, to receivers with little room") {
  size_t objects = 0, sizes = 0, plain = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    TestGraph test;
    RandomValues random(test, seed);
    random.MakeTypes();
    PacketTypes types(test.graph);
    Receivers line(types);
    SentObjects sent(types, line, 8);
    for (uint32_t receiver : {1, 2, 3}) sent.SetRoom(receiver, receiver * 300);
    std::vector<std::pair<ir::PortType, Value>> values;
    for (int step = 0; step < 30; ++step) {
      if (values.size() < 4 || random.Below(4) == 0) {
        ir::PortType type = random.AnyType();
        values.emplace_back(type, random.Make(type));
      }
      if (random.Below(6) == 0) values.erase(values.begin() + random.Below(static_cast<uint32_t>(values.size())));
      if (values.empty()) continue;
      const auto& [type, value] = values[random.Below(static_cast<uint32_t>(values.size()))];
      const uint32_t receiver = 1 + random.Below(3);
      TestReferences references(test);
      size_t size;
      INFO("seed " << seed << " step " << step);
      std::optional<Value> back = Send(types, sent, line, receiver, type, value, &references, &size, random.Below(2) == 0);
      if (!back) continue;
      // What has a name is one object for two types that mean the same.
      REQUIRE(Difference(value, *back, nullptr, false) == "");
      sizes += size;
      Packer packer(types, {}, &references);
      packer.Add(type, value);
      plain += packer.Take().size();
      REQUIRE(sent.Used(receiver) <= receiver * 300);
    }
    values.clear();
    objects += sent.given();
  }
  INFO(objects << " objects, " << sizes << " bytes of " << plain);
  CHECK(objects > 300);
  CHECK(sizes < plain);
}
