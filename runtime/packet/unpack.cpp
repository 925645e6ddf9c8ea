// See unpack.h.
#include "runtime/packet/unpack.h"

#include <map>

#include "fmt/format.h"
#include "llvm/ADT/DenseSet.h"
#include "runtime/base/interruptible_loops.h"
#include "runtime/packet/layout.h"
#include "runtime/packet/open_objects.h"
#include "runtime/packet/packet_tag.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/tensor_type.h"

namespace df {

using ir::TypeKind;
using packet::What;

namespace {

using Field = PacketTypes::Field;

constexpr uint64_t kValuesPerLook = 1 << 16;
constexpr uint64_t kLastChar = 0x10FFFF;
constexpr uint32_t kLastErrorCode = static_cast<uint32_t>(ErrorCode::Io);
constexpr uint64_t kMostLimbs = (uint64_t{1} << 31) - 16;  // GMP counts them in an int

// Whether the bytes are characters as texts have them: UTF-8, in which a Haskell character may also be half of a surrogate pair.
bool AreCharacters(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = at + text.size();
  while (at != end) {
    uint64_t eight;
    if (end - at >= 8 && (std::memcpy(&eight, at, 8), (eight & 0x8080808080808080) == 0)) {
      at += 8;
      continue;
    }
    const unsigned char lead = *at++;
    if (lead < 0x80) continue;
    if (lead < 0xC2 || lead > 0xF4) return false;
    const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (end - at < more) return false;
    if ((lead == 0xE0 && at[0] < 0xA0) || (lead == 0xF0 && at[0] < 0x90) || (lead == 0xF4 && at[0] > 0x8F)) return false;
    for (int i = 0; i < more; ++i)
      if ((*at++ & 0xC0) != 0x80) return false;
  }
  return true;
}

bool AreTruthValues(const char* bytes, size_t count) {
  unsigned char all = 0;
  for (size_t i = 0; i < count; ++i) all |= static_cast<unsigned char>(bytes[i]);
  return all <= 1;
}

}  // namespace

class Unpacker::Work {
 public:
  Work(const PacketTypes& types, std::string_view bytes, llvm::ArrayRef<std::string_view> parts, UnpackReferences* references, KeptObjects* kept)
      : types_(types), in_(bytes), parts_(parts), references_(references), kept_(kept), tags_(types.graph()) {}

  // What holds itself would stay for ever.
  ~Work() {
    if (finished_) return;
    for (Made& call : calls_)
      for (Value& operand : call.operands) operand = Value();
    for (Object& object : objects_) {
      if (!object.value.counted() || object.value.object()->kind != ObjectKind::Data) continue;
      auto* data = static_cast<Data*>(object.value.object());
      for (uint32_t i = 0; i < data->size(); ++i) data->fields()[i] = Value();
    }
  }

  std::optional<Value> Next(ir::PortType type) {
    if (!fault_.empty()) return std::nullopt;
    Value root;
    const Field field = types_.Of(type);
    now_ = {&root, &field, 1};
    while (ReadPlain()) {
      GiveUpIfAsked();
      Value* next = now_.next++;
      const Field& expected = *now_.field++;
      --now_.left;
      if (!Read(expected, next)) {
        waiting_.clear();
        return std::nullopt;
      }
    }
    open_.LeaveAll();
    return root;
  }

  bool NextTag(TagNode** tag) {
    if (!fault_.empty()) return false;
    return tags_.Read(in_, tag) || Refuse("a tag that the graph does not have");
  }

  bool Finish() {
    if (!fault_.empty()) return false;
    if (in_.left() > 0) return Refuse(fmt::format("{} bytes are left over", in_.left()));
    if (part_ < parts_.size()) return Refuse("a part is left over");
    if (references_)
      for (const Made& call : calls_) references_->Made(call.reference);
    finished_ = true;
    return true;
  }

  const std::string& fault() const { return fault_; }
  bool HasGone() const { return has_gone_; }

 private:
  // Places that are to be filled: those of a constructor, of a delayed call.
  struct Places {
    Value* next = nullptr;
    const Field* field = nullptr;
    uint32_t left = 0;
  };
  struct Object {
    Value value;
    uint32_t type;
  };
  struct Made {
    Value reference;
    llvm::MutableArrayRef<Value> operands;
  };

  bool Refuse(std::string why) {
    fault_ = fmt::format("byte {}: {}", in_.offset(), why);
    return false;
  }
  bool Ends() { return Refuse("it ends too soon"); }
  bool NotOf(const Field& field) { return Refuse(fmt::format("what is no value of {}", types_.NameOf(field.type))); }

  // Words and constructors that are not shared: most of what there is. Goes on as long as nothing else comes, and not for too long. What is
  // wrong, or near the end, is left for Read. False: nothing is left. Here everything is in local variables, since what is written could else
  // be any of them.
  bool ReadPlain() {
    constexpr ptrdiff_t kMostPlain = 10;
    const char *at = in_.at(), *const end = in_.end();
    Value* next = now_.next;
    const Field* field = now_.field;
    uint32_t left = now_.left;
    bool more = true;
    for (uint64_t values = 0;; ++values) {
      if (left == 0) {
        if (waiting_.empty()) {
          more = false;
          break;
        }
        now_ = waiting_.back();
        waiting_.pop_back();
        open_.Leave(waiting_.size());
        next = now_.next;
        field = now_.field;
        left = now_.left;
        continue;
      }
      if (end - at < kMostPlain || values == kValuesPerLook) break;
      const auto head = static_cast<uint8_t>(*at);
      const uint8_t few = head >> packet::kWhatBits;
      if ((head & ((1 << packet::kWhatBits) - 1)) != static_cast<uint8_t>(What::Value)) break;
      if (field->kind == TypeKind::Data) {
        llvm::ArrayRef<PacketTypes::Constructor> constructors = types_.ConstructorsOf(field->type);
        if (few >= constructors.size() || few == packet::kMoreFollows) break;
        const uint32_t size = constructors[few].size;
        if (size > static_cast<size_t>(end - at)) break;
        ++at;
        if (size > 0) {
          Data* data = Data::New(few, size);
          ::new (next) Value(Value::Adopt(ValueKind::Object, data));
          if (left > 1) waiting_.push_back({next + 1, field + 1, left - 1});
          next = data->fields();
          field = types_.FieldsOf(constructors[few]);
          left = size;
          continue;
        }
        ::new (next) Value(Value::Word(few));
      } else if (field->kind == TypeKind::Int || field->kind == TypeKind::Integer || field->kind == TypeKind::Char) {
        int64_t word = few - packet::kFirstSmall;
        if (few < packet::kFirstSmall) {
          if (few == 0) break;
          std::memcpy(&word, at + 1, 8);
          const unsigned above = 64 - 8 * few;
          word = static_cast<int64_t>(static_cast<uint64_t>(word) << above) >> above;
          if (field->kind == TypeKind::Char && static_cast<uint64_t>(word) > kLastChar) break;
          at += few;
        }
        ++at;
        ::new (next) Value(Value::Word(word));
      } else {
        break;
      }
      ++next;
      ++field;
      --left;
    }
    now_ = {next, field, left};
    in_.MoveTo(at);
    return more;
  }

  bool Read(const Field& field, Value* place) {
    uint8_t head;
    if (!in_.Byte(&head)) return Ends();
    const auto what = static_cast<What>(head & ((1 << packet::kWhatBits) - 1));
    if (what == What::Value) [[likely]] return ReadValue(field, head, false, place);
    uint64_t number, name;
    switch (what) {
      case What::Shared: return ReadValue(field, head, true, place);
      case What::Back: return in_.NumberOf(head, &number) ? ReadBack(field, number, place) : Ends();
      case What::Delayed: return ReadCall(field, head >> packet::kWhatBits, place);
      case What::Error: return ReadError(field, head >> packet::kWhatBits, place);
      case What::Known: {
        const bool own = head >> packet::kWhatBits == 1;
        if (!in_.Varint(&name)) return Ends();
        if (own && kept_) *place = kept_->FindOwn(name, ir::TypeId(field.type), &has_gone_);
        const Value* known = !kept_ ? nullptr : !own ? kept_->Find(name, ir::TypeId(field.type)) : place->counted() ? place : nullptr;
        if (!known || (known->is_reference() && !field.lazy) || (known->is_error() && field.strict))
          return Refuse(fmt::format("object {}, which is to be {}, is not known here", name, types_.NameOf(field.type)));
        if (!own) *place = *known;
        return true;
      }
      default: return Refuse("an unknown head");
    }
  }

  void Number(const Value& value, uint32_t type) { objects_.push_back({value, type}); }

  bool ReadBack(const Field& field, uint64_t number, Value* place) {
    if (number >= objects_.size()) return Refuse(fmt::format("object {} has not come", number));
    const Object& object = objects_[number];
    if (object.value.is_error()) {
      if (field.strict) return NotOf(field);
      *place = object.value;
      return true;
    }
    if (object.type != field.type || (object.value.is_reference() && !field.lazy)) return NotOf(field);
    if (object.value.is_reference() || !open_.IsOpen(static_cast<uint32_t>(number))) {
      *place = object.value;
      return true;
    }
    if (!references_ || !field.lazy) return Refuse("a value that holds itself");
    *place = references_->Knot(object.value, ir::TypeId(field.type));
    return true;
  }

  bool ReadValue(const Field& field, uint8_t head, bool shared, Value* place) {
    const uint8_t few = head >> packet::kWhatBits;
    switch (field.kind) {
      case TypeKind::Int:
      case TypeKind::Char:
      case TypeKind::Integer: {
        int64_t word;
        if (shared || few == 0) return field.kind == TypeKind::Integer && few == packet::kBigInteger ? ReadInteger(shared, field, place) : NotOf(field);
        if (few >= packet::kFirstSmall) word = few - packet::kFirstSmall;
        else if (!in_.Word(few, &word)) return Ends();
        if (field.kind == TypeKind::Char && static_cast<uint64_t>(word) > kLastChar) return NotOf(field);
        *place = Value::Word(word);
        return true;
      }
      case TypeKind::Data: return ReadData(field, head, shared, place);
      case TypeKind::Trigger:
      case TypeKind::Unit:
      case TypeKind::Bool:
        if (shared || few > (field.kind == TypeKind::Bool)) return NotOf(field);
        *place = Value::Word(few);
        return true;
      case TypeKind::Float:
      case TypeKind::Double: {
        int64_t word = 0;
        if (shared || few != 0) return NotOf(field);
        if (!in_.Raw(&word, field.kind == TypeKind::Float ? 4 : 8)) return Ends();
        *place = Value::Word(word);
        return true;
      }
      case TypeKind::Text: {
        uint64_t size;
        if (few != 0) return NotOf(field);
        if (!in_.Varint(&size)) return Ends();
        const char* bytes = in_.Take(size);
        if (!bytes) return Ends();
        if (!AreCharacters({bytes, size})) return Refuse("a text that is not UTF-8");
        *place = Value::Adopt(ValueKind::Object, new TextObject({bytes, size}));
        if (shared) Number(*place, field.type);
        return true;
      }
      case TypeKind::Tensor: return ReadTensor(field, few, shared, place);
      default: return NotOf(field);
    }
  }

  bool ReadInteger(bool shared, const Field& field, Value* place) {
    uint64_t size;
    if (!in_.Varint(&size)) return Ends();
    const uint64_t limbs = size >> 1;
    if (limbs == 0 || limbs > kMostLimbs || limbs > in_.left() / sizeof(mp_limb_t)) return Refuse("an Integer longer than the packet");
    if (limbs > memory::Available() / sizeof(mp_limb_t)) throw std::bad_alloc();  // GMP does not ask
    auto* big = new BigInteger;
    *place = Value::Adopt(ValueKind::Object, big);
    std::memcpy(mpz_limbs_write(big->value, static_cast<mp_size_t>(limbs)), in_.Take(limbs * sizeof(mp_limb_t)), limbs * sizeof(mp_limb_t));
    const auto counted = static_cast<mp_size_t>(limbs);
    mpz_limbs_finish(big->value, size & 1 ? -counted : counted);
    if (mpz_size(big->value) != limbs || mpz_fits_slong_p(big->value)) return Refuse("an Integer that is shorter than it says");
    if (shared) Number(*place, field.type);
    return true;
  }

  bool ReadData(const Field& field, uint8_t head, bool shared, Value* place) {
    uint64_t constructor;
    if (!in_.NumberOf(head, &constructor)) return Ends();
    llvm::ArrayRef<PacketTypes::Constructor> constructors = types_.ConstructorsOf(field.type);
    if (constructor >= constructors.size())
      return Refuse(fmt::format("constructor {} of {}, which has {}", constructor, types_.NameOf(field.type), constructors.size()));
    const PacketTypes::Constructor& row = constructors[constructor];
    if (row.size == 0) {
      if (shared) return NotOf(field);
      *place = Value::Word(static_cast<int64_t>(constructor));
      return true;
    }
    if (row.size > in_.left()) return Ends();
    Data* data = Data::New(static_cast<uint32_t>(constructor), row.size);
    *place = Value::Adopt(ValueKind::Object, data);
    if (shared) Number(*place, field.type);
    Enter(data->fields(), types_.FieldsOf(row), row.size);
    if (shared) open_.Enter(static_cast<uint32_t>(objects_.size() - 1), waiting_.size());
    return true;
  }

  void Enter(Value* places, const Field* fields, uint32_t size) {
    if (now_.left > 0) waiting_.push_back(now_);
    now_ = {places, fields, size};
  }

  bool ReadTensor(const Field& field, uint8_t how, bool shared, Value* place) {
    const ir::Type& type = types_.type(field.type);
    uint8_t element;
    uint64_t rank, dim;
    if (!in_.Byte(&element) || !in_.Varint(&rank)) return Ends();
    bool same = element == static_cast<uint8_t>(type.element) && rank == type.dims.size();
    for (size_t i = 0; same && i < rank; ++i) {
      if (!in_.Varint(&dim)) return Ends();
      same = dim == static_cast<uint64_t>(type.dims[i]);
    }
    if (!same) return NotOf(field);
    switch (static_cast<packet::Elements>(how)) {
      case packet::Elements::Inline: {
        const char* elements = Elements(ir::BytesOf(type));
        if (!elements) return Ends();
        if (!FillTensor(type, elements, place)) return false;
        break;
      }
      case packet::Elements::Part: {
        if (part_ == parts_.size()) return Refuse("a part is missing");
        const std::string_view part = parts_[part_++];
        if (part.size() != ir::BytesOf(type))
          return Refuse(fmt::format("a part of {} bytes, and {} has {}", part.size(), types_.NameOf(field.type), ir::BytesOf(type)));
        if (!FillTensor(type, part.data(), place)) return false;
        break;
      }
      case packet::Elements::Rows:
        if (!ReadRows(type, place)) return false;
        break;
      case packet::Elements::Failed: {
        Value error;
        if (!ReadErrorItself(&error)) return false;
        TensorObject::ExpectFailures();
        *place = Value::Adopt(ValueKind::Object, new TensorObject(type, static_cast<ErrorObject*>(error.object())));
        break;
      }
      default: return NotOf(field);
    }
    if (shared) Number(*place, field.type);
    return true;
  }

  // So many bytes of elements; null if there are fewer.
  const char* Elements(uint64_t bytes) {
    if (bytes >= packet::kLeastAligned && !in_.AlignTo(packet::kAlignment)) return nullptr;
    return in_.Take(bytes);
  }

  bool FillTensor(const ir::Type& type, const char* elements, Value* place) {
    const size_t bytes = ir::BytesOf(type);
    if (type.element == TypeKind::Bool && !AreTruthValues(elements, bytes)) return Refuse("a truth value that is neither 0 nor 1");
    *place = MakeTensor(type.element, type.dims);
    CopyInPieces(TensorIn(*place)->data(), elements, bytes);
    return true;
  }

  bool ReadRows(const ir::Type& type, Value* place) {
    uint64_t count;
    if (!in_.Varint(&count)) return Ends();
    if (type.dims.empty() || type.dims[0] == 0 || count > static_cast<uint64_t>(type.dims[0])) return Refuse("rows that no tensor of this shape has");
    const size_t row_bytes = ir::BytesOf(type) / static_cast<size_t>(type.dims[0]);
    const size_t a_row = sizeof(int64_t) + row_bytes;
    if (count > in_.left() / a_row) return Ends();
    const char* at = Elements(count * a_row);
    if (!at) return Ends();
    const char* elements = at + count * sizeof(int64_t);
    if (type.element == TypeKind::Bool && !AreTruthValues(elements, count * row_bytes)) return Refuse("a truth value that is neither 0 nor 1");
    llvm::DenseSet<int64_t> seen;
    for (uint64_t k = 0; k < count; ++k) {
      int64_t index;
      std::memcpy(&index, at + k * sizeof(int64_t), sizeof(index));
      if (index < 0 || index >= type.dims[0] || !seen.insert(index).second)
        return Refuse(fmt::format("row {} of a tensor that has {}, or twice", index, type.dims[0]));
    }
    TensorRows* rows = TensorRows::New(count, row_bytes);
    try {
      *place = Value::Adopt(ValueKind::Object, new TensorObject(type, rows));
    } catch (...) {
      TensorRows::Free(rows);
      throw;
    }
    if (count == 0) return true;
    std::memcpy(rows->indices(), at, count * sizeof(int64_t));
    CopyInPieces(rows->row(0), elements, count * row_bytes);
    return true;
  }

  bool ReadError(const Field& field, uint8_t shared, Value* place) {
    Value value;
    if (field.strict || shared > 1) return NotOf(field);
    if (!ReadErrorItself(&value)) return false;
    if (shared) Number(value, field.type);
    *place = std::move(value);
    return true;
  }

  bool ReadErrorItself(Value* place) {
    const ir::Graph& graph = types_.graph();
    uint64_t code, node, pos, size;
    if (!in_.Varint(&code) || !in_.Varint(&node) || !in_.Varint(&pos) || !in_.Varint(&size)) return Ends();
    if (code > kLastErrorCode || node > graph.nodes.size() || pos > graph.positions.size()) return Refuse("an error of another graph");
    const char* message = in_.Take(size);
    if (!message) return Ends();
    if (!AreCharacters({message, size})) return Refuse("a message that is not UTF-8");
    memory::CountedBytes count;  // within the limit; errors do not count theirs
    count.Add(size);
    auto* error = new ErrorObject(static_cast<ErrorCode>(code), std::string(message, size), node ? ir::NodeId(static_cast<uint32_t>(node - 1)) : ir::NodeId(),
                                  pos ? ir::PosId(static_cast<uint32_t>(pos - 1)) : ir::PosId());
    Value value = Value::Adopt(ValueKind::Error, error);
    TagNode* tag;
    if (!tags_.Read(in_, &tag)) return Refuse("a tag that the graph does not have");
    struct Held {
      TagNode* tag;
      ~Held() { DropTag(tag); }
    } held{tag};
    if (tag) error->tag = new TagNodeCell(tag);
    *place = std::move(value);
    return true;
  }

  bool ReadCall(const Field& field, uint8_t shared, Value* place) {
    const ir::Graph& graph = types_.graph();
    uint64_t site;
    if (!field.lazy || shared > 1) return NotOf(field);
    if (!references_) return Refuse("a delayed call");
    if (!in_.Varint(&site)) return Ends();
    const ir::SiteId id(static_cast<uint32_t>(std::min<uint64_t>(site, UINT32_MAX)));
    if (!graph.sites.Contains(id) || graph.sites[id].kind != ir::SiteKind::Delay) return Refuse(fmt::format("site {} delays nothing", site));
    TagNode* tag;
    if (!tags_.Read(in_, &tag)) return Refuse("a tag that the graph does not have");
    UnpackReferences::Call call;
    std::string why;
    if (!references_->Make(id, tag, ir::TypeId(field.type), &call, &why)) return Refuse(std::move(why));
    *place = call.reference;
    calls_.push_back({std::move(call.reference), call.operands});
    if (shared) Number(*place, field.type);
    auto [fields, fresh] = operands_.try_emplace(id.index);
    if (fresh)
      for (ir::PortType type : call.types) fields->second.push_back(types_.Of(type));
    if (call.operands.size() > in_.left()) return Ends();
    if (!call.operands.empty()) Enter(call.operands.data(), fields->second.data(), static_cast<uint32_t>(call.operands.size()));
    return true;
  }

  const PacketTypes& types_;
  packet::Reader in_;
  llvm::ArrayRef<std::string_view> parts_;
  size_t part_ = 0;
  UnpackReferences* const references_;
  KeptObjects* const kept_;
  std::string fault_;
  Places now_;
  std::vector<Places, memory::Allocator<Places>> waiting_;
  std::vector<Object, memory::Allocator<Object>> objects_;  // that have numbers
  std::vector<Made, memory::Allocator<Made>> calls_;
  packet::OpenObjects open_;
  packet::TagReader tags_;
  std::map<uint32_t, std::vector<Field>> operands_;  // of delayed calls, by site
  bool finished_ = false, has_gone_ = false;
};

Unpacker::Unpacker(const PacketTypes& types, std::string_view bytes, llvm::ArrayRef<std::string_view> parts, UnpackReferences* references, KeptObjects* kept)
    : work_(std::make_unique<Work>(types, bytes, parts, references, kept)) {}
Unpacker::~Unpacker() = default;
bool Unpacker::NextTag(TagNode** tag) { return work_->NextTag(tag); }
std::optional<Value> Unpacker::Next(ir::PortType type) { return work_->Next(type); }
bool Unpacker::Finish() { return work_->Finish(); }
const std::string& Unpacker::fault() const { return work_->fault(); }
bool Unpacker::HasGone() const { return work_->HasGone(); }

}  // namespace df
