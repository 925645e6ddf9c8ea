// See store.h.
#include "runtime/value/store.h"

#include <cstring>
#include <limits>
#include <new>
#include <thread>

namespace df {
namespace {

size_t ElementBytes(StoreWidth width) { return width == StoreWidth::Byte ? 1 : width == StoreWidth::Word ? 8 : sizeof(Value); }

// What arrays share. The elements follow.
struct StoreBuffer {
  SharedCount holders{1};
  const uint32_t attr;
  const size_t size;

  static StoreBuffer* New(uint32_t attr, size_t size) {
    const size_t width = ElementBytes(WidthOf(attr));
    if (size > (std::numeric_limits<size_t>::max() / 2) / width || size * width > memory::Available()) throw std::bad_alloc();
    return ::new (memory::Allocate(sizeof(StoreBuffer) + size * width)) StoreBuffer(attr, size);
  }
  void Free() {
    const size_t bytes = sizeof(StoreBuffer) + size * ElementBytes(width());
    this->~StoreBuffer();
    memory::Free(this, bytes);
  }
  StoreWidth width() const { return WidthOf(attr); }
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this + 1); }
  int64_t* words() { return reinterpret_cast<int64_t*>(this + 1); }
  Value* values() { return reinterpret_cast<Value*>(this + 1); }

  // With a copy of each element.
  StoreBuffer* Copy() {
    StoreBuffer* copy = New(attr, size);
    if (width() == StoreWidth::Value)
      for (size_t i = 0; i < size; ++i) ::new (copy->values() + i) Value(values()[i]);
    else
      std::memcpy(copy->bytes(), bytes(), size * ElementBytes(width()));
    return copy;
  }

 private:
  StoreBuffer(uint32_t a, size_t n) : attr(a), size(n) {}
};
static_assert(sizeof(StoreBuffer) % alignof(Value) == 0);

struct StoreObject : Object {
  explicit StoreObject(StoreBuffer* b) : Object(ObjectKind::Store), buffer(b) {}
  StoreBuffer* buffer;
  std::atomic<bool> taken{false};
};

StoreObject& StoreAt(const Value& array) { return *static_cast<StoreObject*>(array.object()); }

// The array is looked at by nobody else meanwhile.
class HoldStore {
 public:
  explicit HoldStore(StoreObject& store) : store_(Sharing() ? &store : nullptr) {
    if (!store_) return;
    while (store_->taken.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  ~HoldStore() {
    if (store_) store_->taken.store(false, std::memory_order_release);
  }
  HoldStore(const HoldStore&) = delete;
  HoldStore& operator=(const HoldStore&) = delete;

 private:
  StoreObject* store_;
};

// Another array on the buffer, which the caller holds.
Value ShareBuffer(StoreBuffer* buffer) {
  auto* object = new StoreObject(buffer);
  buffer->holders.Retain();
  return Value::Adopt(ValueKind::Object, object);
}

bool IsStore(const Value& value) { return value.kind() == ValueKind::Object && value.object()->kind == ObjectKind::Store; }

// Gives up a buffer, and what only it held.
void DropBuffer(StoreBuffer* buffer, DeadObjects& dead) {
  if (!buffer->holders.Drop()) return;
  if (buffer->width() == StoreWidth::Value)
    for (size_t i = 0; i < buffer->size; ++i) dead.Drop(buffer->values()[i]);
  buffer->Free();
}

}  // namespace

Value NewStore(uint32_t attr, int64_t size, const Value& first) {
  const auto count = static_cast<size_t>(size);
  StoreBuffer* buffer = StoreBuffer::New(attr, count);
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
    DropBuffer(buffer, dead);
    dead.FreeAll();
    throw;
  }
  return Value::Adopt(ValueKind::Object, object);
}

Value FreezeStore(const Value& store) {
  HoldStore hold(StoreAt(store));
  return ShareBuffer(StoreAt(store).buffer);
}

Value ThawStore(const Value& frozen) { return ShareBuffer(StoreAt(frozen).buffer); }

int64_t StoreSize(const Value& array) {
  HoldStore hold(StoreAt(array));
  return static_cast<int64_t>(StoreAt(array).buffer->size);
}

bool ReadStore(const Value& array, uint32_t attr, int64_t index, Value* element) {
  if (!IsStore(array)) return false;
  StoreObject& store = StoreAt(array);
  HoldStore hold(store);
  StoreBuffer* buffer = store.buffer;
  if (buffer->attr != attr || static_cast<uint64_t>(index) >= buffer->size) return false;
  switch (buffer->width()) {
    case StoreWidth::Byte: *element = Value::Word(buffer->bytes()[index]); break;
    case StoreWidth::Word: *element = Value::Word(buffer->words()[index]); break;
    default: *element = buffer->values()[index];
  }
  return true;
}

bool WriteStore(const Value& array, uint32_t attr, int64_t index, const Value& element) {
  if (!IsStore(array)) return false;
  StoreObject& store = StoreAt(array);
  DeadObjects dead;  // freed when nobody waits any more
  {
    HoldStore hold(store);
    if (store.buffer->attr != attr || static_cast<uint64_t>(index) >= store.buffer->size) return false;
    if (!store.buffer->holders.IsOne()) {
      StoreBuffer* own = store.buffer->Copy();
      DropBuffer(store.buffer, dead);
      store.buffer = own;
    }
    StoreBuffer* buffer = store.buffer;
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

bool ReadStoreWord(Object* array, uint32_t attr, uint64_t index, uint64_t* bits) {
  if (array->kind != ObjectKind::Store || Sharing()) return false;
  StoreBuffer* buffer = static_cast<StoreObject*>(array)->buffer;
  if (buffer->attr != attr || index >= buffer->size) return false;
  *bits = WidthOf(attr) == StoreWidth::Byte ? buffer->bytes()[index] : static_cast<uint64_t>(buffer->words()[index]);
  return true;
}

bool WriteStoreWord(Object* array, uint32_t attr, uint64_t index, uint64_t bits) {
  if (array->kind != ObjectKind::Store || Sharing()) return false;
  StoreBuffer* buffer = static_cast<StoreObject*>(array)->buffer;
  if (buffer->attr != attr || index >= buffer->size || !buffer->holders.IsOne()) return false;
  if (WidthOf(attr) == StoreWidth::Byte) buffer->bytes()[index] = bits != 0;
  else buffer->words()[index] = static_cast<int64_t>(bits);
  return true;
}

void FreeStore(Object* object, DeadObjects& dead) {
  auto* store = static_cast<StoreObject*>(object);
  DropBuffer(store->buffer, dead);
  delete store;
}

}  // namespace df
