// Making and freeing the objects behind values.
#include "runtime/value/value.h"

#include <algorithm>

#include "runtime/value/activation_table.h"
#include "runtime/value/object_names.h"
#include "runtime/value/store.h"
#include "runtime/value/tensor.h"

namespace df {

static_assert(Object::CountedAs(ObjectKind::Data) == alive::Kind::Data && Object::CountedAs(ObjectKind::Tensor) == alive::Kind::Tensor &&
              Object::CountedAs(ObjectKind::Activation) == alive::Kind::Activation &&
              Object::CountedAs(ObjectKind::Store) == alive::Kind::Store);

namespace shared_count {
constinit std::atomic<uint32_t> sharing_runs{0};
}  // namespace shared_count

constinit std::atomic<ObjectNameLost> object_name_lost{nullptr};

BigInteger::BigInteger() : Object(ObjectKind::BigInteger) { mpz_init(value); }
BigInteger::~BigInteger() { mpz_clear(value); }

namespace {

// Before the header of a Data with many fields.
constexpr size_t kLargeHead = 8;
size_t LargeBytes(uint32_t size) { return kLargeHead + sizeof(Data) + size * sizeof(Value); }

}  // namespace

Data* Data::NewLarge(uint32_t constructor, uint32_t size) {
  auto* block = static_cast<char*>(memory::Allocate(LargeBytes(size)));
  auto* data = ::new (block + kLargeHead) Data(constructor, static_cast<uint8_t>(kMostFew));
  *(reinterpret_cast<uint32_t*>(data) - 1) = size;
  return data;
}

void Data::FreeLarge(Data* data) noexcept {
  size_t bytes = LargeBytes(data->size());
  memory::Free(reinterpret_cast<char*>(data) - kLargeHead, bytes);
}

TextObject::Buffer::Buffer(std::string_view text, size_t room)
    : bytes(static_cast<char*>(memory::Allocate(room))), capacity(room), used(text.size()) {
  std::copy(text.begin(), text.end(), bytes);
}
TextObject::Buffer::~Buffer() { memory::Free(bytes, capacity); }

TextObject::TextObject(std::string_view bytes) try
    : Object(ObjectKind::Text), buffer_(std::make_shared<Buffer>(bytes, std::max<size_t>(bytes.size(), 1))),
      text_(buffer_->bytes, bytes.size()) {
} catch (...) {
  alive::Gone(alive::Kind::Text);  // the Object was made, and nobody has it
}

TextObject* TextObject::Append(std::string_view added) const {
  constexpr size_t kLeastRoom = 16;
  size_t size = text_.size() + added.size();
  std::shared_ptr<Buffer> buffer = buffer_;
  const char* begin = text_.data();
  // Somebody else has written behind this text's end, or there is no room: what follows needs a buffer of its own. It is twice as long as
  // this text, so that adding little by little copies each byte once or twice; two texts that are put together once have no room left.
  auto end = static_cast<size_t>(begin - buffer->bytes) + text_.size();
  if (added.size() > buffer->capacity - end ||
      !buffer->used.compare_exchange_strong(end, end + added.size(), std::memory_order_relaxed)) {
    buffer = std::make_shared<Buffer>(text_, std::max({size, 2 * text_.size(), kLeastRoom}));
    buffer->used.store(size, std::memory_order_relaxed);
    begin = buffer->bytes;
    end = text_.size();
  }
  std::copy(added.begin(), added.end(), buffer->bytes + end);
  return new TextObject(std::move(buffer), {begin, size});
}

TextObject* TextObject::Slice(size_t from, size_t to) const { return new TextObject(buffer_, text_.substr(from, to - from)); }

ErrorObject::ErrorObject(ErrorCode c, std::string m, ir::NodeId n, ir::PosId p)
    : Object(ObjectKind::Error), code(c), message(std::move(m)), pos(p), node(n) {}

// Links of 48 bits (DeadObjects::Add) reach all addresses that a process is given.
static_assert(sizeof(Object*) == 8 && sizeof(Object) == 8);

thread_local constinit DeadObjects::Watch* DeadObjects::watch = nullptr;

// A constructor of two fields, a list's most often: one cell after the other goes, without a way over the list of dead objects.
void DeadObjects::FreeList(Data* data, uint32_t& until_look) {
  for (;;) {
    const Value* fields = data->fields();
    if (fields[0].counted()) Drop(fields[0].object());
    Object* next = fields[1].counted() ? fields[1].object() : nullptr;
    memory::Free(data, sizeof(Data) + 2 * sizeof(Value));
    if (!next || !next->refs.Drop()) return;
    if (next->kind != ObjectKind::Data || next->few_fields != 2 || until_look == 1) return Add(next);
    data = static_cast<Data*>(next);
    --until_look;
    alive::Gone(alive::Kind::Data);
  }
}

void DeadObjects::FreeAll() {
  constexpr uint32_t kObjectsPerLook = 1 << 16;
  uint32_t until_look = kObjectsPerLook;
  while (Object* object = first_) {
    if (--until_look == 0) {
      until_look = kObjectsPerLook;
      if (watch && watch->Take(*this)) return;
    }
    first_ = reinterpret_cast<Object*>(uint64_t{object->constructor} << 32 | object->refs.raw());
    alive::Gone(Object::CountedAs(object->kind));
    switch (object->kind) {
      case ObjectKind::Data: {
        auto* data = static_cast<Data*>(object);
        if (data->few_fields == 2) {
          FreeList(data, until_look);
          break;
        }
        Value* fields = data->fields();
        uint32_t size = data->size();
        // The fields of a record may be in no cache any more: all are asked for at once.
        for (uint32_t i = 0; i < size; ++i)
          if (fields[i].counted()) __builtin_prefetch(fields[i].object(), 1);
        // The last field of a list is its tail: dropped last it is freed next.
        for (uint32_t i = 0; i < size; ++i) Drop(fields[i]);
        Data::Free(data);
        break;
      }
      case ObjectKind::Delay: free_delay(object, *this); break;
      case ObjectKind::BigInteger:
        LoseName(*object);
        delete static_cast<BigInteger*>(object);
        break;
      case ObjectKind::Text:
        LoseName(*object);
        delete static_cast<TextObject*>(object);
        break;
      case ObjectKind::Tensor: delete static_cast<TensorObject*>(object); break;
      case ObjectKind::Error: {
        auto* error = static_cast<ErrorObject*>(object);
        if (error->tag) Drop(error->tag);
        Drop(error->thrown);
        delete error;
        break;
      }
      case ObjectKind::Host: {
        auto* cell = static_cast<HostCell*>(object);
        Drop(cell->value);
        delete cell;
        break;
      }
      case ObjectKind::Activation: FreeActivation(object, *this); break;
      case ObjectKind::Store: FreeStore(object, *this); break;
      case ObjectKind::Cell: {
        auto* cell = static_cast<Cell*>(object);
        cell->DropChildren(*this);
        delete cell;
        break;
      }
    }
  }
}

void Value::Destroy(Object* object) {
  DeadObjects dead;
  dead.Add(object);
  dead.FreeAll();
}

}  // namespace df
