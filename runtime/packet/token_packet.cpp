// The bytes: how long the heads are, the heads, and a packet with the values. A head is a byte, kind and what is there of a value; the index; the tag; the
// alternative of an Alt; and the names of the references in the value, in the order in which the packet has them.
#include "runtime/packet/token_packet.h"

#include "fmt/format.h"
#include "runtime/packet/layout.h"
#include "runtime/run/bounded_tag.h"
#include "runtime/value/tensor.h"

namespace df {

using ir::TypeKind;

namespace {

enum class Has : uint8_t { Nothing, Dead, Trigger, Alternative, Packet };
constexpr uint8_t kKindBits = 3;
// Words count 1.
constexpr size_t kFull = 512, kOfObject = 16, kBytesOfOne = 4096;

size_t WeightOf(const Value& value) {
  if (!value.counted()) return 1;
  TensorObject* tensor = value.kind() == ValueKind::Object ? TensorIn(value) : nullptr;
  return tensor ? 1 + tensor->bytes() / kBytesOfOne : kOfObject;
}

}  // namespace

class TokenWriter::Work final : public PackReferences {
 public:
  Work(const PacketTypes& types, CellNames& names) : types_(types), names_(names) { Begin(); }

  bool Add(const NamedToken& token, std::optional<ir::PortType> type, std::string* why) {
    const TypeKind kind = type ? types_.graph().types.Kind(type->type) : TypeKind::Unit;
    const Has has = !type                              ? Has::Nothing
                    : token.value.is_dead()            ? Has::Dead
                    : !token.value.is_word()           ? Has::Packet
                    : kind == TypeKind::Trigger        ? Has::Trigger
                    : kind == TypeKind::Alt            ? Has::Alternative
                                                       : Has::Packet;
    const char head = static_cast<char>(token.kind | static_cast<uint8_t>(has) << kKindBits);
    heads_.Append(&head, 1);
    packet::PutVarint(heads_, token.index);
    line_.Put(token.tag, heads_);
    if (has == Has::Alternative) packet::PutVarint(heads_, static_cast<uint64_t>(token.value.word()));
    weight_ += WeightOf(token.value);
    if (has != Has::Packet || packer_->Add(*type, token.value) == Packed::Yes) return true;
    *why = packer_->reason();
    return false;
  }

  void Take(std::string* bytes, std::vector<std::string>* parts) {
    const Packet packet = packer_->Take();
    char size[packet::kMostVarint];
    bytes->assign(size, packet::PutVarint(size, heads_.size()));
    bytes->append(heads_.view());
    bytes->append(packet.bytes.view());
    for (const PacketPart& part : packet.parts) parts->emplace_back(part.bytes);
    Begin();
  }

  size_t weight() const { return weight_; }

 private:
  void Begin() {
    PackOptions options;
    options.cycles = false;
    packer_ = std::make_unique<Packer>(types_, options, this);
    heads_ = {};
    weight_ = 0;
  }

  Is Look(const Value& reference, ir::TypeId, Value* value, Call* call, std::string*) override {
    const auto name = names_.NameOf(reference, value);
    if (!name) return Is::Value;
    call->site = name->first;
    line_.Put(name->second, heads_);
    return Is::Delayed;
  }

  const PacketTypes& types_;
  CellNames& names_;
  TagLine line_;
  PacketBytes heads_;
  std::unique_ptr<Packer> packer_;
  size_t weight_ = 0;
};

TokenWriter::TokenWriter(const PacketTypes& types, CellNames& names) : work_(std::make_unique<Work>(types, names)) {}
TokenWriter::~TokenWriter() = default;
bool TokenWriter::Add(const NamedToken& token, std::optional<ir::PortType> type, std::string* why) { return work_->Add(token, type, why); }
bool TokenWriter::empty() const { return work_->weight() == 0; }
bool TokenWriter::full() const { return work_->weight() >= kFull; }
void TokenWriter::Take(std::string* bytes, std::vector<std::string>* parts) { work_->Take(bytes, parts); }

namespace {

// A value that holds itself, which no part sends.
struct HoldsItself {};

class ReadNames final : public UnpackReferences {
 public:
  ReadNames(packet::Reader& in, const ir::Graph& graph, TagTable& tags, TagLine& line, CellNames& names)
      : in_(in), graph_(graph), tags_(tags), line_(line), names_(names) {}
  bool Make(ir::SiteId site, TagNode* tag, ir::TypeId type, Call* call, std::string* why) override {
    DropTag(tag);
    TagRef name;
    if (!line_.Get(in_, graph_, tags_, &name)) return *why = "a name that the graph does not have", false;
    call->reference = names_.Named(site, name, type);
    return call->reference.counted() || (*why = "a reference to what its site does not delay", false);
  }
  Value Knot(const Value&, ir::TypeId) override { throw HoldsItself{}; }

 private:
  packet::Reader& in_;
  const ir::Graph& graph_;
  TagTable& tags_;
  TagLine& line_;
  CellNames& names_;
};

}  // namespace

bool TokenReader::Read(std::string_view bytes, const std::vector<std::string>& parts, const TypeOf& type_of, std::vector<NamedToken>* tokens, std::string* why) {
  packet::Reader all(bytes);
  uint64_t size;
  if (!all.Varint(&size) || size > all.left()) return *why = "heads that end too soon", false;
  packet::Reader heads({all.at(), size});
  const std::vector<std::string_view> views(parts.begin(), parts.end());
  ReadNames references(heads, types_.graph(), tags_, line_, names_);
  Unpacker values(types_, {all.at() + size, all.left() - size}, views, &references);
  try {
    while (heads.left() > 0) {
      NamedToken token;
      uint8_t head = 0;
      uint64_t index, alternative;
      if (!heads.Byte(&head) || !heads.Varint(&index) || index > UINT32_MAX || !line_.Get(heads, types_.graph(), tags_, &token.tag))
        return *why = "a head that makes no sense", false;
      token.kind = head & ((1 << kKindBits) - 1);
      token.index = static_cast<uint32_t>(index);
      const auto has = static_cast<Has>(head >> kKindBits);
      const auto type = type_of(token);
      if (!type || type->has_value() != (has != Has::Nothing)) return *why = fmt::format("message {} about {}, which is not for this part", token.kind, index), false;
      const TypeKind kind = *type ? types_.graph().types.Kind((*type)->type) : TypeKind::Unit;
      switch (has) {
        case Has::Nothing: break;
        case Has::Dead: token.value = Value::Dead(); break;
        case Has::Trigger:
          if (kind != TypeKind::Trigger) return *why = "a trigger where there is none", false;
          token.value = Value::Word(0);
          break;
        case Has::Alternative:
          if (kind != TypeKind::Alt || !heads.Varint(&alternative) || alternative > UINT32_MAX) return *why = "an alternative where there is none", false;
          token.value = Value::Word(static_cast<int64_t>(alternative));
          break;
        case Has::Packet: {
          std::optional<Value> value = values.Next(**type);
          if (!value) return *why = values.fault(), false;
          token.value = std::move(*value);
          break;
        }
        default: return *why = "a head that makes no sense", false;
      }
      tokens->push_back(std::move(token));
    }
  } catch (const HoldsItself&) {
    return *why = "a value that holds itself", false;
  }
  return values.Finish() || (*why = values.fault(), false);
}

}  // namespace df
