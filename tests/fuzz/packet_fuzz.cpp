// Reads whatever bytes as a packet of values of every kind of type, and as a file of one. What is accepted is packed again, read, and packed
// once more, and has to be the same bytes. The first byte says of which type the value is, or that all is a file. A part begins where the
// bytes of the packet say so: the fuzzer's input is the packet, then its parts, whose sizes stand behind the first byte.
//
//   fuzz_packet FOLDER --seeds    writes the seeds (tests/fuzz/corpus/packet)
#include <cstdlib>
#include <fstream>
#include <string>

#include "llvm/Support/xxhash.h"
#include "runtime/base/memory.h"
#include "runtime/packet/packet_file.h"
#include "runtime/packet/received_objects.h"
#include "runtime/packet/pack.h"
#include "runtime/packet/unpack.h"
#include "runtime/run/bounded_tag.h"
#include "runtime/value/tensor.h"

using namespace df;

namespace {

using ir::TypeKind;

// A delayed call as a test has it.
struct FuzzCell : Cell {
  uint32_t site = 0;
  TagNode* tag = nullptr;
  Value operands[2];
  Value value;
  bool full = false;
  ~FuzzCell() override { DropTag(tag); }
  void DropChildren(DeadObjects& dead) override {
    for (Value& operand : operands) dead.Drop(operand);
    dead.Drop(value);
  }
};

// data Tree = Leaf | Node Tree !(Tensor Float [2]) (Tensor Double [200]) !Int Text Integer Char Bool () Float Double [Tree] !Tree
struct Subject {
  ir::Graph graph;
  std::vector<ir::PortType> types;
  std::vector<ir::PortType> operands;
  uint32_t site;

  static ir::FieldType Field(ir::TypeId type, bool lazy = true) { return {{type, lazy}, !lazy, ""}; }
  Subject() {
    auto builtin = [&](TypeKind kind) { return graph.types.Builtin(kind); };
    ir::ScopeId root = graph.scopes.Add({ir::ScopeKind::Root, "main", {}, {}}), f = graph.scopes.Add({ir::ScopeKind::Function, "f", {}, {}});
    graph.scopes.Add({ir::ScopeKind::Loop, "f.loop", f, {}});
    graph.files = {"f.df"};
    graph.positions.Add({0, 1, 1, "f"});
    graph.sites.Add({ir::SiteKind::Call, root, f, {}, {}});
    site = graph.sites.Add({ir::SiteKind::Delay, f, f, {}, {}}).index;
    graph.AddNode(ir::Op::Start, root, {}, {{builtin(TypeKind::Trigger), false}});
    ir::TypeId tree = graph.types.AddData("Tree"), trees = graph.types.AddData("[Tree]");
    graph.types[trees].constructors = {{"[]", {}}, {":", {Field(tree), Field(trees)}}};
    const ir::TypeId pair = graph.types.Tensor(TypeKind::Float, {2}), row = graph.types.Tensor(TypeKind::Double, {200}),
                     truths = graph.types.Tensor(TypeKind::Bool, {3, 5}), numbers = graph.types.Tensor(TypeKind::Int, {});
    graph.types[tree].constructors = {
        {"Leaf", {}},
        {"Node",
         {Field(tree), Field(pair, false), Field(row), Field(builtin(TypeKind::Int), false), Field(builtin(TypeKind::Text)), Field(builtin(TypeKind::Integer)),
          Field(builtin(TypeKind::Char)), Field(builtin(TypeKind::Bool)), Field(builtin(TypeKind::Unit)), Field(builtin(TypeKind::Float)),
          Field(builtin(TypeKind::Double)), Field(trees), Field(tree, false), Field(truths), Field(numbers)}}};
    types = {{tree, true}, {trees, true}, {tree, false}, {builtin(TypeKind::Integer), true}, {builtin(TypeKind::Text), false}, {row, true}, {truths, false}};
    operands = {{tree, true}, {builtin(TypeKind::Int), false}};
  }
};

struct References : PackReferences, UnpackReferences {
  const Subject& subject;
  std::vector<Value> cells;
  explicit References(const Subject& s) : subject(s) {}
  ~References() {
    for (Value& value : cells) {
      auto* cell = static_cast<FuzzCell*>(value.object());
      for (Value& operand : cell->operands) operand = Value();
      cell->value = Value();
    }
  }
  FuzzCell* New(Value* reference) {
    auto* cell = new FuzzCell;
    *reference = Value::Adopt(ValueKind::Reference, cell);
    cells.push_back(*reference);
    return cell;
  }
  Is Look(const Value& reference, ir::TypeId, Value* value, PackReferences::Call* call, std::string*) override {
    auto* cell = static_cast<FuzzCell*>(reference.object());
    if (cell->full) {
      *value = cell->value;
      return Is::Value;
    }
    call->site = ir::SiteId(cell->site);
    call->tag = cell->tag;
    call->operands.append(std::begin(cell->operands), std::end(cell->operands));
    call->types = subject.operands;
    return Is::Delayed;
  }
  bool Make(ir::SiteId site, TagNode* tag, ir::TypeId type, UnpackReferences::Call* call, std::string* why) override {
    FuzzCell* cell = New(&call->reference);
    cell->tag = tag;
    cell->site = site.index;
    call->operands = cell->operands;
    call->types = subject.operands;
    *why = "another type";
    return type == subject.types[0].type;
  }
  Value Knot(const Value& object, ir::TypeId) override {
    Value reference;
    FuzzCell* cell = New(&reference);
    cell->full = true;
    cell->value = object;
    return reference;
  }
};

std::vector<std::string_view> PartsOf(const Packet& packet) {
  std::vector<std::string_view> parts;
  for (const PacketPart& part : packet.parts) parts.push_back(part.bytes);
  return parts;
}

PackOptions WithSmallParts() {
  PackOptions options;
  options.least_part = 1000;
  return options;
}

std::optional<Packet> PackOf(const PacketTypes& types, ir::PortType type, const Value& value, References& references) {
  Packer packer(types, WithSmallParts(), &references);
  if (packer.Add(type, value) != Packed::Yes) return std::nullopt;
  packer.Restart();
  if (packer.Add(type, value) != Packed::Yes) std::abort();
  return packer.Take();
}

std::string AllOf(const Packet& packet) {
  std::string all(packet.bytes.view());
  for (const PacketPart& part : packet.parts) all += part.bytes;
  return all;
}

size_t accepted = 0;

// Packed, read, and packed again it is the same.
void CheckSame(const PacketTypes& types, ir::PortType type, const Value& value, References& references) {
  std::optional<Packet> first = PackOf(types, type, value, references);
  if (!first) return;
  ++accepted;
  std::vector<std::string_view> parts = PartsOf(*first);
  Unpacker unpacker(types, first->bytes.view(), parts, &references);
  std::optional<Value> read = unpacker.Next(type);
  if (!read || !unpacker.Finish()) std::abort();
  std::optional<Packet> second = PackOf(types, type, *read, references);
  if (!second || AllOf(*second) != AllOf(*first)) std::abort();
}

void ReadPacket(const Subject& subject, ir::PortType type, std::string_view bytes, std::string_view rest) {
  References references(subject);
  PacketTypes types(subject.graph);
  std::vector<std::string_view> parts;
  for (; rest.size() >= 1600; rest.remove_prefix(1600)) parts.push_back(rest.substr(0, 1600));  // what a part of these types has
  // Objects 1 and 2 came before: as the same bytes, and as the rest of them.
  ReceivedObjects received(types);
  const auto holder = std::make_shared<int>();
  received.Add(1, 1, bytes, parts, holder);
  received.Add(1, 2, rest, {}, holder);
  ReceivedObjects::Of kept(received, 1);
  Unpacker unpacker(types, bytes, parts, &references, &kept);
  std::optional<Value> value = unpacker.Next(type);
  if (!value || !unpacker.Finish()) return;
  CheckSame(types, type, *value, references);
}

// No change would get behind the checksum, so it is made to fit.
void ReadFile(const Subject& subject, std::string bytes) {
  constexpr size_t kSizeAt = 16, kChecksumAt = 24, kChecked = 32;
  if (bytes.size() >= kChecked) {
    const uint64_t size = bytes.size(), checksum = llvm::xxh3_64bits(llvm::StringRef(bytes).drop_front(kChecked));
    std::memcpy(bytes.data() + kSizeAt, &size, sizeof(size));
    std::memcpy(bytes.data() + kChecksumAt, &checksum, sizeof(checksum));
  }
  PacketTypes types(subject.graph);
  References references(subject);
  std::string error;
  if (std::optional<Value> value = ReadPacketFile(subject.graph, subject.types[0].type, bytes, &error)) CheckSame(types, subject.types[0], *value, references);
}

const Subject& TheSubject() {
  static const Subject subject;
  return subject;
}

}  // namespace

// The first byte: a type's number; from 128 on a file. The second: how many parts are at the end.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const Subject& subject = TheSubject();
  memory::LimitScope limit(memory::counters.current, 64 << 20);
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  try {
    if (data[0] >= 128) {
      ReadFile(subject, std::string(bytes));
      return 0;
    }
    const size_t parts = std::min<size_t>(bytes.size(), data[1] % 4 * 1600);
    ReadPacket(subject, subject.types[data[0] % subject.types.size()], bytes.substr(0, bytes.size() - parts), bytes.substr(bytes.size() - parts));
  } catch (const std::bad_alloc&) {
  }
  return 0;
}

namespace {

// One value with every kind of part.
Value Sample(const Subject& subject, References& references, int depth) {
  Value value = Value::Adopt(ValueKind::Object, Data::New(1, 15));
  Value* fields = static_cast<Data*>(value.object())->fields();
  Value text = Value::Adopt(ValueKind::Object, new TextObject("h\u00e9llo"));
  auto tensor = [&](uint32_t field) {
    const ir::Type& type = subject.graph.types[subject.graph.types[subject.types[0].type].constructors[1].fields[field].type.type];
    Value made = MakeTensor(type.element, type.dims);
    std::memset(TensorIn(made)->data(), 1, TensorIn(made)->bytes());
    return made;
  };
  Value big = Value::Adopt(ValueKind::Object, new BigInteger);
  mpz_ui_pow_ui(static_cast<BigInteger*>(big.object())->value, 3, 100);
  Value call;
  FuzzCell* cell = references.New(&call);
  cell->site = subject.site;
  cell->tag = NewTag({0, false, 0}, nullptr);
  cell->operands[0] = value;
  cell->operands[1] = Value::Word(5);
  auto* error = new ErrorObject(ErrorCode::User, "wrong", ir::NodeId(0), ir::PosId(0));
  fields[0] = depth > 0 ? Sample(subject, references, depth - 1) : call;
  fields[1] = tensor(1);
  fields[2] = tensor(2);
  fields[3] = Value::Word(-1000);
  fields[4] = text;
  fields[5] = big;
  fields[6] = Value::Word('x');
  fields[7] = Value::Word(1);
  fields[8] = Value::Adopt(ValueKind::Error, error);
  fields[9] = Value::Float(1.5F);
  fields[10] = Value::Double(-0.0);
  Data* list = Data::New(1, 2);
  list->fields()[0] = call;
  list->fields()[1] = Value::Word(0);
  fields[11] = Value::Adopt(ValueKind::Object, list);
  fields[12] = depth > 0 ? fields[0] : Value::Word(0);
  fields[13] = tensor(13);
  fields[14] = tensor(14);
  return value;
}

}  // namespace

// With --seeds: writes them, and fuzzes nothing.
extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  if (*count < 3 || std::string_view((*words)[2]) != "--seeds") return 0;
  const Subject& subject = TheSubject();
  References references(subject);
  PacketTypes types(subject.graph);
  auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(std::string((*words)[1]) + "/" + name, std::ios::binary) << bytes;
    const size_t before = accepted;
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    if (accepted == before) std::abort();  // it is no seed
  };
  for (int depth = 0; depth < 2; ++depth) {
    Value value = Sample(subject, references, depth);
    const std::optional<Packet> packet = PackOf(types, subject.types[0], value, references);
    write("tree" + std::to_string(depth), std::string{0, static_cast<char>(packet->parts.size())} + AllOf(*packet));
  }
  // What a file may hold: without delayed calls and errors.
  Value plain = Sample(subject, references, 0);
  Value* fields = static_cast<Data*>(plain.object())->fields();
  fields[0] = Value::Word(0);
  fields[8] = Value::Word(0);
  fields[11] = Value::Word(0);
  std::string why;
  const std::optional<TypeText> text = TextOf(subject.graph, subject.types[0].type, &why);
  write("file", std::string{static_cast<char>(128), 0} + WritePacketFile(*text, *PackOf(types, subject.types[0], plain, references)));
  std::exit(0);
}
