// See pack.h. An object of which there is one holder is met once: only the others are looked up, and have numbers.
#include "runtime/packet/pack.h"

#include <bit>
#include <map>

#include "fmt/format.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "runtime/base/interruptible_loops.h"
#include "runtime/packet/layout.h"
#include "runtime/packet/open_objects.h"
#include "runtime/packet/packet_tag.h"
#include "runtime/value/tensor.h"

namespace df {

using ir::TypeKind;
using packet::PutHead;
using packet::PutVarint;
using packet::What;

namespace {

using Field = PacketTypes::Field;

constexpr uint32_t kOfAnyType = 0;  // errors
constexpr size_t kMostPlain = 16;  // bytes of a word, of a head

uint32_t HoldersOf(Object* object) { return __atomic_load_n(&object->refs.raw(), __ATOMIC_RELAXED); }

size_t BytesOf(Object& object) {
  switch (object.kind) {
    case ObjectKind::Text: return static_cast<TextObject&>(object).text().size();
    case ObjectKind::BigInteger: return mpz_size(static_cast<BigInteger&>(object).value) * sizeof(mp_limb_t);
    case ObjectKind::Tensor: {
      auto& tensor = static_cast<TensorObject&>(object);
      const TensorRows* rows = tensor.rows();
      return rows ? rows->count * (sizeof(int64_t) + rows->row_bytes) : tensor.bytes();
    }
    default: return 0;
  }
}

}  // namespace

class Packer::Work {
 public:
  Work(const PacketTypes& types, PackOptions options, PackReferences* references, KnownObjects* known)
      : types_(types), options_(options), references_(references), known_(known), least_tree_(known ? known->LeastTree() : SIZE_MAX) {}

  void AddTag(const TagNode* tag) { tags_->Put(tag, packet_.bytes); }

  Packed Add(ir::PortType type, const Value& value) {
    if (result_ != Packed::Yes) return result_;
    const Field root = types_.Of(type);
    now_ = {&value, &root, 1, {}};
    while (PutPlain()) {
      GiveUpIfAsked();
      const Value& next = *now_.next++;
      const Field& field = *now_.field++;
      --now_.left;
      if (!Put(field, next)) return result_;
      if (!Fits(0)) return TooLarge();
    }
    open_.LeaveAll();
    LeaveTrees(0, packet_.bytes.size());
    trees_.clear();
    now_ = {};
    return result_;
  }

  void Restart() {
    packet_ = {};
    in_parts_ = 0;
    numbers_.clear();
    next_ = 0;
    loose_ = 0;
    tags_ = std::make_unique<packet::TagWriter>();
    by_count_ = false;
  }

  const std::string& reason() const { return reason_; }
  Packet Take() { return std::move(packet_); }

 private:
  // Values that are to be added: those of a constructor, of a delayed call.
  struct Values {
    const Value* next = nullptr;
    const Field* field = nullptr;
    uint32_t left = 0;
    Value owner;  // holds them, or what leads to them, where nothing else may
  };

  bool Refuse(std::string why) {
    result_ = Packed::NotGivable;
    reason_ = std::move(why);
    return false;
  }
  Packed TooLarge() {
    reason_ = fmt::format("more than {} bytes", options_.budget);
    return result_ = Packed::TooLarge;
  }
  bool Fits(size_t more) const { return packet_.bytes.size() + in_parts_ <= options_.budget && more <= options_.budget - packet_.bytes.size() - in_parts_; }
  // Before so many bytes are copied.
  bool MayAdd(size_t bytes) { return Fits(bytes) || (TooLarge(), false); }
  bool Mismatch(const Field& field) { return Refuse(fmt::format("a value that is not {}", types_.NameOf(field.type))); }

  void Head(What what, uint64_t number) { packet_.bytes.Wrote(PutHead(packet_.bytes.Room(1 + packet::kMostVarint), what, number)); }

  // Words, and constructors with one holder: most of what there is. Goes on as long as nothing else comes, there is room, and not for too
  // long. False: nothing is left. Here everything is in local variables, since what is written could else be any of them.
  bool PutPlain() {
    constexpr size_t kAtOnce = size_t{1} << 18;
    PacketBytes& bytes = packet_.bytes;
    char* to = bytes.Room(kMostPlain);
    char* stop = std::min(bytes.RoomEnd() - kMostPlain, to + kAtOnce);
    const size_t budget = options_.budget - std::min(options_.budget, in_parts_);
    if (budget < static_cast<size_t>(stop - bytes.begin())) stop = bytes.begin() + budget;
    const Value* next = now_.next;
    const Field* field = now_.field;
    uint32_t left = now_.left;
    bool more = true;
    for (;;) {
      if (left == 0) {
        if (waiting_.empty()) {
          more = false;
          break;
        }
        now_ = std::move(waiting_.back());
        waiting_.pop_back();
        open_.Leave(waiting_.size());
        LeaveTrees(waiting_.size() + 1, static_cast<size_t>(to - bytes.begin()));
        next = now_.next;
        field = now_.field;
        left = now_.left;
        continue;
      }
      if (to >= stop) break;
      if (next->is_word()) {
        char* behind = WriteWord(to, field->kind, next->word());
        if (!behind) break;
        to = behind;
      } else {
        if (next->kind() != ValueKind::Object || field->kind != TypeKind::Data || next->object()->kind != ObjectKind::Data) break;
        auto* data = static_cast<Data*>(next->object());
        if (data->few_fields == Data::kMostFew || !data->refs.IsOne()) break;
        const Field* fields = types_.FieldsOf(field->type, data->constructor, data->few_fields);
        if (!fields) break;
        to = PutHead(to, What::Value, data->constructor);
        if (left > 1) waiting_.push_back({next + 1, field + 1, left - 1, std::move(now_.owner)});
        next = data->fields();
        field = fields;
        left = data->few_fields;
        continue;
      }
      ++next;
      ++field;
      --left;
    }
    now_.next = next;
    now_.field = field;
    now_.left = left;
    bytes.Wrote(to);
    return more;
  }

  bool PutWord(const Field& field, int64_t word) {
    char* to = WriteWord(packet_.bytes.Room(kMostPlain), field.kind, word);
    if (!to) return Refuse(fmt::format("a value of type {}", types_.graph().types.Print({ir::TypeId(field.type)})));
    packet_.bytes.Wrote(to);
    return true;
  }

  // Null: no word is of this kind.
  static char* WriteWord(char* to, TypeKind kind, int64_t word) {
    switch (kind) {
      case TypeKind::Trigger:
      case TypeKind::Unit: to = PutHead(to, What::Value, 0); break;
      case TypeKind::Bool: to = PutHead(to, What::Value, word != 0); break;
      case TypeKind::Char:
      case TypeKind::Int:
      case TypeKind::Integer: {
        if (static_cast<uint64_t>(word) <= packet::kMostSmall) {
          *to++ = static_cast<char>((packet::kFirstSmall + word) << packet::kWhatBits);
          break;
        }
        const auto bits = static_cast<uint64_t>(word ^ word >> 63);
        const int bytes = (64 - std::countl_zero(bits) + 8) / 8;
        *to++ = static_cast<char>(bytes << packet::kWhatBits);
        std::memcpy(to, &word, 8);
        to += bytes;
        break;
      }
      case TypeKind::Float:
        to = PutHead(to, What::Value, 0);
        std::memcpy(to, &word, 4);
        to += 4;
        break;
      case TypeKind::Double:
        to = PutHead(to, What::Value, 0);
        std::memcpy(to, &word, 8);
        to += 8;
        break;
      case TypeKind::Data: to = PutHead(to, What::Value, static_cast<uint64_t>(word)); break;
      default: return nullptr;
    }
    return to;
  }

  bool Put(const Field& field, const Value& value) {
    switch (value.kind()) {
      case ValueKind::Object: return PutObject(field, value, !value.object()->refs.IsOne(), {});
      case ValueKind::Error: return PutError(field, value, !value.object()->refs.IsOne());
      case ValueKind::Reference: return PutReference(field, value);
      case ValueKind::Word: return PutWord(field, value.word());
      case ValueKind::Dead: break;
    }
    return Refuse("the absence of a value");
  }

  // The place of the reference may get its value meanwhile, so it is held here.
  bool PutReference(const Field& field, Value reference) {
    bool shared = false;
    for (;;) {
      shared |= HoldersOf(reference.object()) > 2;  // where it stands, and here
      if (!by_count_) shared = met_again_.contains({reference.object(), field.type});
      if (shared && PutAgain(field, reference.object(), field.type, true)) return true;
      Value value;
      PackReferences::Call call;
      if (const HostCell* host = HostCellIn(reference.object()); host && host->is_full()) {
        value = host->value;
      } else {
        if (!references_) return Refuse(host ? "what only this process reads" : "a delayed call");
        std::string why;
        switch (references_->Look(reference, ir::TypeId(field.type), &value, &call, &why)) {
          case PackReferences::Is::Value: break;
          case PackReferences::Is::Delayed: return PutCall(field, reference, call, shared);
          case PackReferences::Is::NotGivable: return Refuse(std::move(why));
        }
      }
      if (!value.counted()) return Put(field, value);
      if (value.is_reference()) {
        reference = std::move(value);
        continue;
      }
      shared |= HoldersOf(value.object()) > 2;
      if (value.is_error()) return PutError(field, value, shared);
      return PutObject(field, value, shared, value);
    }
  }

  // If the object has been met. Nothing is put, and the packer refuses, if the value holds itself where it must not.
  bool PutAgain(const Field& field, const Object* object, uint32_t type, bool is_reference) {
    auto at = numbers_.find({object, type});
    return at != numbers_.end() && PutBack(field, object, type, at->second, is_reference);
  }
  bool PutBack(const Field& field, const Object* object, uint32_t type, uint32_t number, bool is_reference) {
    if (by_count_) met_again_.insert({object, type});
    if (!is_reference && open_.IsOpen(number) && !(options_.cycles && field.lazy))
      return Refuse(options_.cycles ? "a value that holds itself in a strict field" : "a value that holds itself");
    Head(What::Back, number);
    return true;
  }

  // The number under which it is met again. What has one stays: no other object may get its address.
  uint32_t Number(const Value& value, uint32_t type) {
    numbers_[{value.object(), type}] = next_;
    held_.push_back(value);
    return next_++;
  }

  // If the receiver has the object, its name is all that goes. Of constructors `bytes` is 0.
  bool PutName(const Field& field, const Value& value, size_t bytes) {
    uint64_t name;
    bool its = false;
    const bool has = bytes > 0 ? known_->Look(value, ir::TypeId(field.type), bytes, &name, &its)
                               : known_->LookTree(value, ir::TypeId(field.type), references_, &name, &its);
    if (!has) return false;
    if (bytes == 0) loose_ = packet_.bytes.size() + in_parts_ + 1;  // what it stands in would go with all of it
    Head(What::Known, its);
    PutVarint(packet_.bytes, name);
    return true;
  }

  // `owner` holds it, or is none where something else does.
  bool PutObject(const Field& field, const Value& value, bool shared, Value owner) {
    Object& object = *value.object();
    if (!by_count_) shared = met_again_.contains({&object, field.type});
    if (known_)
      if (const size_t bytes = BytesOf(object); (bytes > 0 || (shared && object.kind == ObjectKind::Data)) && PutName(field, value, bytes)) return true;
    const uint32_t number = next_;
    if (shared) {
      auto [at, fresh] = numbers_.try_emplace({&object, field.type}, number);
      if (!fresh) return PutBack(field, &object, field.type, at->second, false);
      held_.push_back(value);
      ++next_;
    }
    const What what = shared ? What::Shared : What::Value;
    switch (object.kind) {
      case ObjectKind::Data: {
        if (field.kind != TypeKind::Data) return Mismatch(field);
        auto& data = static_cast<Data&>(object);
        llvm::ArrayRef<PacketTypes::Constructor> constructors = types_.ConstructorsOf(field.type);
        if (data.constructor >= constructors.size() || constructors[data.constructor].size != data.size()) return Mismatch(field);
        const size_t begin = packet_.bytes.size() + in_parts_;
        Head(what, data.constructor);
        Enter(data.fields(), types_.FieldsOf(constructors[data.constructor]), data.size(), std::move(owner));
        if (shared) {
          open_.Enter(number, waiting_.size());
          if (least_tree_ != SIZE_MAX) trees_.push_back({value, ir::TypeId(field.type), begin, waiting_.size() + 1});
        }
        return true;
      }
      case ObjectKind::Text: {
        if (field.kind != TypeKind::Text) return Mismatch(field);
        const std::string_view text = static_cast<TextObject&>(object).text();
        if (!MayAdd(text.size())) return false;
        Head(what, 0);
        PutVarint(packet_.bytes, text.size());
        packet_.bytes.Append(text.data(), text.size());
        return true;
      }
      case ObjectKind::BigInteger: {
        if (field.kind != TypeKind::Integer) return Mismatch(field);
        mpz_srcptr number_value = static_cast<BigInteger&>(object).value;
        const size_t limbs = mpz_size(number_value);
        if (!MayAdd(limbs * sizeof(mp_limb_t))) return false;
        Head(what, packet::kBigInteger);
        PutVarint(packet_.bytes, uint64_t{limbs} << 1 | (mpz_sgn(number_value) < 0));
        packet_.bytes.Append(mpz_limbs_read(number_value), limbs * sizeof(mp_limb_t));
        return true;
      }
      case ObjectKind::Tensor: return field.kind == TypeKind::Tensor ? PutTensor(field, value, what) : Mismatch(field);
      case ObjectKind::Activation: return Refuse("a place in a table of activations");
      case ObjectKind::Store: return Refuse(field.kind == TypeKind::Frozen ? "an array" : "an array that changes");
      default: return Mismatch(field);
    }
  }

  // Constructors with several holders whose last field has been put, when there are `depth` - 1 that were put off and so many bytes. 0: all.
  void LeaveTrees(size_t depth, size_t bytes) {
    while (!trees_.empty() && trees_.back().depth > depth) {
      const Tree tree = std::move(trees_.back());
      trees_.pop_back();
      if (const size_t size = bytes + in_parts_ - tree.begin; size >= least_tree_ && tree.begin >= loose_) known_->NoteTree(tree.value, tree.type, tree.begin, size);
    }
  }

  // Its values come next, then what was left.
  void Enter(const Value* values, const Field* fields, uint32_t size, Value owner) {
    if (now_.left > 0) waiting_.push_back(std::move(now_));
    else if (!owner.counted()) owner = std::move(now_.owner);
    now_ = {values, fields, size, std::move(owner)};
  }

  bool PutTensor(const Field& field, const Value& value, What what) {
    TensorObject& tensor = *TensorIn(value);
    const ir::Type& type = types_.type(field.type);
    if (tensor.element() != type.element || tensor.dims() != llvm::ArrayRef(type.dims)) return Mismatch(field);
    if (tensor.deferred()) {
      if (!options_.computes) return Refuse("a tensor that is still to be computed");
      tensor.Compute();
    }
    if (const ErrorObject* failure = tensor.failure()) return PutFailed(type, *failure, what);
    TensorRows* rows = tensor.rows();
    const size_t bytes = rows ? rows->count * (sizeof(int64_t) + rows->row_bytes) : tensor.bytes();
    if (!MayAdd(bytes)) return false;
    const bool part = !rows && bytes >= options_.least_part;
    Head(what, static_cast<uint64_t>(rows ? packet::Elements::Rows : part ? packet::Elements::Part : packet::Elements::Inline));
    char* to = packet_.bytes.Room((3 + type.dims.size()) * packet::kMostVarint);
    *to++ = static_cast<char>(type.element);
    to = PutVarint(to, type.dims.size());
    for (int64_t dim : type.dims) to = PutVarint(to, static_cast<uint64_t>(dim));
    if (rows) to = PutVarint(to, rows->count);
    packet_.bytes.Wrote(to);
    if (part) {
      packet_.parts.push_back({value, {tensor.data(), bytes}});
      in_parts_ += bytes;
      return true;
    }
    if (bytes >= packet::kLeastAligned) packet_.bytes.AlignTo(packet::kAlignment);
    if (bytes == 0) return true;
    char* elements = packet_.bytes.Room(bytes);
    if (rows) {
      const size_t indices = rows->count * sizeof(int64_t);
      std::memcpy(elements, rows->indices(), indices);
      CopyInPieces(elements + indices, rows->row(0), bytes - indices);
    } else {
      CopyInPieces(elements, tensor.data(), bytes);
    }
    packet_.bytes.Wrote(elements + bytes);
    return true;
  }

  bool PutError(const Field& field, const Value& value, bool shared) {
    if (field.strict) return Mismatch(field);
    if (!options_.errors) {
      Value same;
      PackReferences::Call call;
      std::string why = "an error";
      if (references_) references_->Look(value, ir::TypeId(field.type), &same, &call, &why);
      return Refuse(std::move(why));
    }
    loose_ = packet_.bytes.size() + in_parts_ + 1;
    if (!by_count_) shared = met_again_.contains({value.object(), kOfAnyType});
    if (shared && PutAgain(field, value.object(), kOfAnyType, true)) return true;
    const auto& error = *static_cast<const ErrorObject*>(value.object());
    if (error.thrown.counted()) return Refuse("a value that was thrown");
    const TagNode* tag = nullptr;
    if (!FindTag(error, &tag)) return false;
    if (shared) Number(value, kOfAnyType);
    Head(What::Error, shared);
    PutErrorItself(error, tag);
    return true;
  }

  bool FindTag(const ErrorObject& error, const TagNode** tag) {
    if (error.tag) {
      const auto* cell = error.tag->kind == ObjectKind::Cell ? dynamic_cast<const TagNodeCell*>(static_cast<const Cell*>(error.tag)) : nullptr;
      if (!cell) return Refuse("an error of another engine");
      *tag = cell->tag;
    }
    return MayAdd(error.message.size());
  }

  // A tensor that could not be computed.
  bool PutFailed(const ir::Type& type, const ErrorObject& error, What what) {
    const TagNode* tag = nullptr;
    if (!options_.errors) return Refuse("a tensor that could not be computed");
    if (!FindTag(error, &tag)) return false;
    loose_ = packet_.bytes.size() + in_parts_ + 1;
    Head(what, static_cast<uint64_t>(packet::Elements::Failed));
    char* to = packet_.bytes.Room((2 + type.dims.size()) * packet::kMostVarint);
    *to++ = static_cast<char>(type.element);
    to = PutVarint(to, type.dims.size());
    for (int64_t dim : type.dims) to = PutVarint(to, static_cast<uint64_t>(dim));
    packet_.bytes.Wrote(to);
    PutErrorItself(error, tag);
    return true;
  }

  void PutErrorItself(const ErrorObject& error, const TagNode* tag) {
    PutVarint(packet_.bytes, static_cast<uint64_t>(error.code));
    PutVarint(packet_.bytes, error.node.valid() ? uint64_t{error.node.index} + 1 : 0);
    PutVarint(packet_.bytes, error.pos.valid() ? uint64_t{error.pos.index} + 1 : 0);
    PutVarint(packet_.bytes, error.message.size());
    packet_.bytes.Append(error.message.data(), error.message.size());
    tags_->Put(tag, packet_.bytes);
  }

  bool PutCall(const Field& field, const Value& reference, PackReferences::Call& call, bool shared) {
    if (!field.lazy) return Mismatch(field);
    loose_ = packet_.bytes.size() + in_parts_ + 1;
    if (shared) Number(reference, field.type);
    Head(What::Delayed, shared);
    PutVarint(packet_.bytes, call.site.index);
    tags_->Put(call.tag, packet_.bytes);
    auto [fields, fresh] = operands_.try_emplace(call.site.index);
    if (fresh)
      for (ir::PortType type : call.types) fields->second.push_back(types_.Of(type));
    if (call.operands.size() != call.types.size() || call.types.size() != fields->second.size()) return Refuse("a delayed call without all its operands");
    if (call.operands.empty()) return true;
    Data* operands = Data::New(0, static_cast<uint32_t>(call.operands.size()));
    Value owner = Value::Adopt(ValueKind::Object, operands);
    std::move(call.operands.begin(), call.operands.end(), operands->fields());
    Enter(operands->fields(), fields->second.data(), operands->size(), std::move(owner));
    return true;
  }

  const PacketTypes& types_;
  const PackOptions options_;
  PackReferences* const references_;
  KnownObjects* const known_;
  Packet packet_;
  size_t in_parts_ = 0;
  Packed result_ = Packed::Yes;
  std::string reason_;
  Values now_;
  std::vector<Values, memory::Allocator<Values>> waiting_;
  // By object and type: a phantom type's values may be of two, and a receiver takes each for what it was first.
  llvm::DenseMap<std::pair<const Object*, uint32_t>, uint32_t> numbers_;
  llvm::DenseSet<std::pair<const Object*, uint32_t>> met_again_;
  bool by_count_ = true;  // who has a number: what has several holders, or what was met again
  std::vector<Value, memory::Allocator<Value>> held_;
  uint32_t next_ = 0;
  packet::OpenObjects open_;
  struct Tree {
    Value value;
    ir::TypeId type;
    size_t begin;  // so many bytes were before it
    size_t depth;  // as in OpenObjects, and 1
  };
  const size_t least_tree_;
  std::vector<Tree, memory::Allocator<Tree>> trees_;  // that are being put
  size_t loose_ = 0;                                  // behind the last thing that is still to be computed, is an error or a tree with a name
  std::unique_ptr<packet::TagWriter> tags_ = std::make_unique<packet::TagWriter>();
  std::map<uint32_t, std::vector<Field>> operands_;  // of delayed calls, by site
};

Packer::Packer(const PacketTypes& types, PackOptions options, PackReferences* references, KnownObjects* known)
    : work_(std::make_unique<Work>(types, options, references, known)) {}
Packer::~Packer() = default;
void Packer::AddTag(const TagNode* tag) { work_->AddTag(tag); }
Packed Packer::Add(ir::PortType type, const Value& value) { return work_->Add(type, value); }
const std::string& Packer::reason() const { return work_->reason(); }
void Packer::Restart() { work_->Restart(); }
Packet Packer::Take() { return work_->Take(); }

}  // namespace df
