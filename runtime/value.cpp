// Making and freeing the objects behind values.
#include "runtime/value.h"

#include <algorithm>

#include "lang/utf8.h"

namespace df {

namespace shared_count {
constinit std::atomic<uint32_t> sharing_runs{0};
}  // namespace shared_count

BigInteger::BigInteger() : Object(ObjectKind::BigInteger) { mpz_init(value); }
BigInteger::~BigInteger() { mpz_clear(value); }

Value* Data::fields() { return reinterpret_cast<Value*>(this + 1); }
const Value* Data::fields() const { return reinterpret_cast<const Value*>(this + 1); }

Data* Data::New(uint32_t constructor, uint32_t size) {
  static_assert(sizeof(Data) % alignof(Value) == 0);
  void* block = memory::Allocate(sizeof(Data) + size * sizeof(Value));
  Data* data = ::new (block) Data(Object(ObjectKind::Data), constructor, size);
  for (uint32_t i = 0; i < size; ++i) ::new (data->fields() + i) Value();
  return data;
}

TextObject::Buffer::Buffer(std::string_view text, size_t room)
    : bytes(static_cast<char*>(memory::Allocate(room))), capacity(room), used(text.size()) {
  std::copy(text.begin(), text.end(), bytes);
}
TextObject::Buffer::~Buffer() { memory::Free(bytes, capacity); }

TextObject::TextObject(std::string_view bytes)
    : Object(ObjectKind::Text), buffer_(std::make_shared<Buffer>(bytes, std::max<size_t>(bytes.size(), 1))), size_(bytes.size()) {}

TextObject* TextObject::Add(uint32_t c) const {
  std::string added;
  AppendUtf8(c, added);
  size_t size = size_ + added.size();
  std::shared_ptr<Buffer> buffer = buffer_;
  // Somebody else has written behind this text's end, or there is no room: what follows needs a buffer of its own.
  size_t end = size_;
  if (size > buffer->capacity || !buffer->used.compare_exchange_strong(end, size, std::memory_order_relaxed)) {
    buffer = std::make_shared<Buffer>(text(), 2 * size);
    buffer->used.store(size, std::memory_order_relaxed);
  }
  std::copy(added.begin(), added.end(), buffer->bytes + size_);
  return new TextObject(std::move(buffer), size);
}

ErrorObject::ErrorObject(ErrorCode c, std::string m, ir::NodeId n, ir::PosId p)
    : Object(ObjectKind::Error), code(c), message(std::move(m)), pos(p), node(n) {}

namespace {

// Gives back one count; whoever was the last holder queues the object.
void Drop(Object* object, std::vector<Object*>& dead) {
  if (object && object->refs.Drop()) dead.push_back(object);
}

// Frees `object` itself and drops what it held.
void FreeOne(Object* object, std::vector<Object*>& dead) {
  switch (object->kind) {
    case ObjectKind::BigInteger: delete static_cast<BigInteger*>(object); return;
    case ObjectKind::Text: delete static_cast<TextObject*>(object); return;
    case ObjectKind::Data: {
      auto* data = static_cast<Data*>(object);
      Value* fields = data->fields();
      // The last field of a list is its tail: dropped last it is freed next, and the queue stays short.
      for (uint32_t i = 0; i < data->size; ++i)
        if (fields[i].counted()) Drop(fields[i].Take(), dead);
      memory::Free(data, sizeof(Data) + data->size * sizeof(Value));
      return;
    }
    case ObjectKind::Error: {
      auto* error = static_cast<ErrorObject*>(object);
      Drop(error->tag, dead);
      delete error;
      return;
    }
    case ObjectKind::Host: {
      auto* cell = static_cast<HostCell*>(object);
      Value value = std::move(cell->value);
      delete cell;
      if (value.counted()) Drop(value.Take(), dead);
      return;
    }
    case ObjectKind::Cell: {
      auto* cell = static_cast<Cell*>(object);
      std::vector<Value> held;
      cell->CollectChildren(held);
      delete cell;
      for (Value& value : held)
        if (value.counted()) Drop(value.Take(), dead);
      return;
    }
  }
}

}  // namespace

void Value::Destroy(Object* object) {
  switch (object->kind) {
    case ObjectKind::BigInteger: delete static_cast<BigInteger*>(object); return;
    case ObjectKind::Text: delete static_cast<TextObject*>(object); return;
    default: break;
  }
  std::vector<Object*> dead{object};
  while (!dead.empty()) {
    Object* next = dead.back();
    dead.pop_back();
    FreeOne(next, dead);
  }
}

}  // namespace df
