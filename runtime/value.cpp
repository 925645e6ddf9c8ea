// Making and freeing the objects behind values.
#include "runtime/value.h"

#include "lang/utf8.h"

namespace df {

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

TextObject::Buffer::Buffer(std::string b) : bytes(std::move(b)) {
  memory::Charge(bytes.capacity());
  charged = bytes.capacity();
}
TextObject::Buffer::~Buffer() { memory::Discharge(charged); }

TextObject::TextObject(std::string bytes)
    : Object(ObjectKind::Text), buffer_(std::make_shared<Buffer>(std::move(bytes))), size_(buffer_->bytes.size()) {}

TextObject* TextObject::Add(uint32_t c) const {
  // Somebody has written behind this text's end: what follows needs a buffer of its own.
  std::shared_ptr<Buffer> buffer = size_ == buffer_->bytes.size() ? buffer_ : std::make_shared<Buffer>(std::string(text()));
  constexpr size_t kLongest = 4;  // bytes of a character
  if (buffer->bytes.capacity() - buffer->bytes.size() < kLongest) {
    size_t capacity = buffer->bytes.size() * 2 + kLongest;
    memory::Charge(capacity - buffer->charged);
    buffer->charged = capacity;
    buffer->bytes.reserve(capacity);
  }
  AppendUtf8(c, buffer->bytes);
  size_t size = buffer->bytes.size();
  return new TextObject(std::move(buffer), size);
}

ErrorObject::ErrorObject(ErrorCode c, std::string m, ir::NodeId n, ir::PosId p)
    : Object(ObjectKind::Error), code(c), message(std::move(m)), pos(p), node(n) {}

namespace {

// Gives back one count; whoever was the last holder queues the object.
void Drop(Object* object, std::vector<Object*>& dead) {
  if (object && --object->refs == 0) dead.push_back(object);
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
