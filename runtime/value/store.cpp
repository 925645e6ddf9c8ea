// See store.h.
#include "runtime/value/store.h"

#include <cstring>
#include <limits>
#include <new>
#include <thread>

namespace df {
namespace {

size_t BytesOf(StoreWidth width) { return width == StoreWidth::Byte ? 1 : width == StoreWidth::Word ? 8 : sizeof(Value); }

// What arrays share. The elements follow.
struct Buffer {
  SharedCount holders{1};
  const uint32_t attr;
  const size_t size;

  static Buffer* New(uint32_t attr, size_t size) {
    const size_t width = BytesOf(WidthOf(attr));
    if (size > (std::numeric_limits<size_t>::max() / 2) / width || size * width > memory::Available()) throw std::bad_alloc();
    return ::new (memory::Allocate(sizeof(Buffer) + size * width)) Buffer(attr, size);
  }
  void Free() {
    const size_t bytes = sizeof(Buffer) + size * BytesOf(width());
    this->~Buffer();
    memory::Free(this, bytes);
  }
  StoreWidth width() const { return WidthOf(attr); }
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this + 1); }
  int64_t* words() { return reinterpret_cast<int64_t*>(this + 1); }
  Value* values() { return reinterpret_cast<Value*>(this + 1); }

  // With a copy of each element.
  Buffer* Copy() {
    Buffer* copy = New(attr, size);
    if (width() == StoreWidth::Value)
      for (size_t i = 0; i < size; ++i) ::new (copy->values() + i) Value(values()[i]);
    else
      std::memcpy(copy->bytes(), bytes(), size * BytesOf(width()));
    return copy;
  }

 private:
  Buffer(uint32_t a, size_t n) : attr(a), size(n) {}
};
static_assert(sizeof(Buffer) % alignof(Value) == 0);

struct StoreObject : Object {
  explicit StoreObject(Buffer* b) : Object(ObjectKind::Store), buffer(b) {}
  Buffer* buffer;
  std::atomic<bool> taken{false};
};

StoreObject& At(const Value& array) { return *static_cast<StoreObject*>(array.object()); }

// The array is looked at by nobody else meanwhile.
class Hold {
 public:
  explicit Hold(StoreObject& store) : store_(Sharing() ? &store : nullptr) {
    if (!store_) return;
    while (store_->taken.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Hold() {
    if (store_) store_->taken.store(false, std::memory_order_release);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  StoreObject* store_;
};

// Another array on the buffer, which the caller holds.
Value Share(Buffer* buffer) {
  auto* object = new StoreObject(buffer);
  buffer->holders.Retain();
  return Value::Adopt(ValueKind::Object, object);
}

bool IsArray(const Value& value) { return value.kind() == ValueKind::Object && value.object()->kind == ObjectKind::Store; }

// Gives up a buffer, and what only it held.
void Drop(Buffer* buffer, DeadObjects& dead) {
  if (!buffer->holders.Drop()) return;
  if (buffer->width() == StoreWidth::Value)
    for (size_t i = 0; i < buffer->size; ++i) dead.Drop(buffer->values()[i]);
  buffer->Free();
}

}  // namespace

Value NewStore(uint32_t attr, int64_t size, const Value& first) {
  const auto count = static_cast<size_t>(size);
  Buffer* buffer = Buffer::New(attr, count);
  switch (WidthOf(attr)) {
    case StoreWidth::Byte: std::memset(buffer->bytes(), first.word() != 0, count); break;
    case StoreWidth::Word: std::fill_n(buffer->words(), count, first.word()); break;
    default:
      for (size_t i = 0; i < count; ++i) ::new (buffer->values() + i) Value(first);
  }
  StoreObject* object;
  try {
    object = new StoreObject(buffer);
  } catch (const std::bad_alloc&) {
    DeadObjects dead;
    Drop(buffer, dead);
    dead.FreeAll();
    throw;
  }
  return Value::Adopt(ValueKind::Object, object);
}

Value FreezeStore(const Value& store) {
  Hold hold(At(store));
  return Share(At(store).buffer);
}

Value ThawStore(const Value& frozen) { return Share(At(frozen).buffer); }

int64_t StoreSize(const Value& array) {
  Hold hold(At(array));
  return static_cast<int64_t>(At(array).buffer->size);
}

bool ReadStore(const Value& array, uint32_t attr, int64_t index, Value* element) {
  if (!IsArray(array)) return false;
  StoreObject& store = At(array);
  Hold hold(store);
  Buffer* buffer = store.buffer;
  if (buffer->attr != attr || static_cast<uint64_t>(index) >= buffer->size) return false;
  switch (buffer->width()) {
    case StoreWidth::Byte: *element = Value::Word(buffer->bytes()[index]); break;
    case StoreWidth::Word: *element = Value::Word(buffer->words()[index]); break;
    default: *element = buffer->values()[index];
  }
  return true;
}

bool WriteStore(const Value& array, uint32_t attr, int64_t index, const Value& element) {
  if (!IsArray(array)) return false;
  StoreObject& store = At(array);
  DeadObjects dead;  // freed when nobody waits any more
  {
    Hold hold(store);
    if (store.buffer->attr != attr || static_cast<uint64_t>(index) >= store.buffer->size) return false;
    if (!store.buffer->holders.IsOne()) {
      Buffer* own = store.buffer->Copy();
      Drop(store.buffer, dead);
      store.buffer = own;
    }
    Buffer* buffer = store.buffer;
    switch (buffer->width()) {
      case StoreWidth::Byte: buffer->bytes()[index] = element.word() != 0; break;
      case StoreWidth::Word: buffer->words()[index] = element.word(); break;
      default: {
        Value before = std::exchange(buffer->values()[index], element);
        dead.Drop(before);
      }
    }
  }
  dead.FreeAll();
  return true;
}

void FreeStore(Object* object, DeadObjects& dead) {
  auto* store = static_cast<StoreObject*>(object);
  Drop(store->buffer, dead);
  delete store;
}

}  // namespace df
