// runtime/value/value.h
//
// What tokens carry: 16-byte values, and the reference-counted objects behind some of them.
//
//   kind       payload
//   Word       Unit 0 · Bool 0/1 · Char code point · Int · Double bits · Float bits (low half) · an Integer that fits in
//              64 bits · the alternative of Alt and of a constructor without fields
//   Object     BigInteger (an Integer that does not fit), Data, Text, Tensor (runtime/value/tensor.h), Activation (activation_table.h),
//              Store (store.h)
//   Reference  an engine's delayed call (an Object that only that engine understands)
//   Error      an ErrorObject
//   Dead       the absence of data (reference engine only)
//
// Static types say which of these a Word is: values carry no types of their own.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmp.h>

#include "runtime/base/memory.h"
#include "runtime/base/object_census.h"
#include "runtime/base/shared_count.h"
#include "tagged_ir/graph.h"

namespace df {

enum class ValueKind : uint8_t { Word, Object, Reference, Error, Dead };
enum class ObjectKind : uint8_t { BigInteger, Data, Text, Tensor, Error, Delay, Cell, Host, Activation, Store };

// Common header of everything that is counted, 8 bytes.
struct Object {
  SharedCount refs{1};
  ObjectKind kind : 6;
  uint8_t colour : 2;           // a collector's, while it runs
  uint8_t few_fields = 0;       // Data: how many, see Data::size; of a delayed call something else (DelayCell::ahead)
  uint16_t constructor = 0;     // Data: index in its type
  explicit Object(ObjectKind k) : kind(k), colour(0) { alive::Made(CountedAs(k)); }
  // As runtime/base/object_census.h counts it.
  static constexpr alive::Kind CountedAs(ObjectKind kind) { return static_cast<alive::Kind>(kind); }
  // Counted (runtime/base/memory.h): making an object throws std::bad_alloc beyond the limit.
  static void* operator new(size_t bytes) { return memory::Allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { memory::Free(block, bytes); }
};

class Value {
 public:
  Value() = default;
  static Value Word(int64_t word) { return Value(ValueKind::Word, static_cast<uint64_t>(word)); }
  static Value Double(double d) { uint64_t bits; std::memcpy(&bits, &d, 8); return Value(ValueKind::Word, bits); }
  static Value Float(float f) { uint32_t bits; std::memcpy(&bits, &f, 4); return Value(ValueKind::Word, bits); }
  static Value Dead() { return Value(ValueKind::Dead, 0); }
  // Takes over one count of `object`.
  static Value Adopt(ValueKind kind, Object* object) { return Value(kind, reinterpret_cast<uint64_t>(object)); }

  // With a count of its own.
  static Value Retain(ValueKind kind, Object* object) {
    object->refs.Retain();
    return Adopt(kind, object);
  }

  Value(const Value& other) : kind_(other.kind_), bits_(other.bits_) { if (counted()) object()->refs.Retain(); }
  Value(Value&& other) noexcept : kind_(other.kind_), bits_(other.bits_) { other.kind_ = ValueKind::Word; other.bits_ = 0; }
  Value& operator=(Value other) noexcept { std::swap(kind_, other.kind_); std::swap(bits_, other.bits_); return *this; }
  ~Value() { if (counted()) Release(object()); }

  ValueKind kind() const { return kind_; }
  bool is_word() const { return kind_ == ValueKind::Word; }
  bool is_error() const { return kind_ == ValueKind::Error; }
  bool is_reference() const { return kind_ == ValueKind::Reference; }
  bool is_dead() const { return kind_ == ValueKind::Dead; }
  bool counted() const { return kind_ == ValueKind::Object || kind_ == ValueKind::Reference || kind_ == ValueKind::Error; }
  int64_t word() const { return static_cast<int64_t>(bits_); }
  double as_double() const { double d; std::memcpy(&d, &bits_, 8); return d; }
  float as_float() const { uint32_t low = static_cast<uint32_t>(bits_); float f; std::memcpy(&f, &low, 4); return f; }
  Object* object() const { return reinterpret_cast<Object*>(bits_); }
  // Gives the count away; the value becomes Word 0.
  Object* Take() { Object* o = object(); kind_ = ValueKind::Word; bits_ = 0; return o; }

 private:
  Value(ValueKind kind, uint64_t bits) : kind_(kind), bits_(bits) {}
  static void Release(Object* object) { if (object->refs.Drop()) Destroy(object); }
  // Frees the object and what only it held, with a work list instead of recursion.
  static void Destroy(Object* object);

  ValueKind kind_ = ValueKind::Word;
  uint64_t bits_ = 0;
};

struct Data;

// Objects that nobody holds any more and that are still to be freed. Their headers link them, so that freeing needs neither
// recursion nor memory however long a list is.
class DeadObjects {
 public:
  // Gives one count back.
  void Drop(Object* object) {
    if (object->refs.Drop()) Add(object);
  }
  void Drop(Value& value) {
    if (value.counted()) Drop(value.Take());
  }
  // `object` has no count left.
  void Add(Object* object) {
    auto next = reinterpret_cast<uint64_t>(first_);
    object->refs.raw() = static_cast<uint32_t>(next);
    object->constructor = static_cast<uint16_t>(next >> 32);
    first_ = object;
  }
  // Frees them, and what only they held.
  void FreeAll();
  // Asked amid the release of very many by this thread; null: nobody is. It may end the process (RunOptions::leave), or take what is
  // left, for later: then true.
  struct Watch {
    virtual bool Take(DeadObjects& left) = 0;
  };
  static thread_local constinit Watch* watch;
  // Asks `now` instead, as long as it lives.
  class WatchScope {
   public:
    explicit WatchScope(Watch* now) : before_(watch) { watch = now; }
    ~WatchScope() { watch = before_; }
    WatchScope(const WatchScope&) = delete;
    WatchScope& operator=(const WatchScope&) = delete;

   private:
    Watch* before_;
  };
  void MoveTo(DeadObjects& empty) { empty.first_ = std::exchange(first_, nullptr); }

 private:
  void FreeList(Data* data, uint32_t& until_look);
  Object* first_ = nullptr;
};

// An Integer outside of 64 bits; kernels always return the Word if it fits.
struct BigInteger : Object {
  mpz_t value;
  BigInteger();   // 0, to be set
  ~BigInteger();
  BigInteger(const BigInteger&) = delete;
  BigInteger& operator=(const BigInteger&) = delete;
};

// A constructor with at least one field; the fields follow the header in memory.
struct Data : Object {
  static constexpr uint32_t kMostFew = 255;  // from here on a word before the header has the number of fields
  uint32_t size() const {
    return few_fields < kMostFew ? few_fields : *(reinterpret_cast<const uint32_t*>(this) - 1);
  }
  Value* fields() { return reinterpret_cast<Value*>(this + 1); }
  const Value* fields() const { return reinterpret_cast<const Value*>(this + 1); }
  // The fields are Word 0.
  static Data* New(uint32_t constructor, uint32_t size) {
    Data* data = NewRaw(constructor, size);
    for (uint32_t i = 0; i < size; ++i) ::new (data->fields() + i) Value();
    return data;
  }
  // The fields have to be made.
  static Data* NewRaw(uint32_t constructor, uint32_t size) {
    if (size >= kMostFew) return NewLarge(constructor, size);
    return ::new (memory::Allocate(sizeof(Data) + size * sizeof(Value))) Data(constructor, static_cast<uint8_t>(size));
  }
  static void Free(Data* data) noexcept {
    if (data->few_fields == kMostFew) return FreeLarge(data);
    memory::Free(data, sizeof(Data) + data->few_fields * sizeof(Value));
  }

 private:
  Data(uint32_t c, uint8_t few) : Object(ObjectKind::Data) {
    few_fields = few;
    constructor = static_cast<uint16_t>(c);
  }
  static Data* NewLarge(uint32_t constructor, uint32_t size);
  static void FreeLarge(Data* data) noexcept;
};
static_assert(sizeof(Data) == 8);

// An immutable text, packed as UTF-8. Texts that are parts of one, or grew out of each other, share one buffer, of which each sees its
// own part: a text to which characters are added one by one costs time in proportion to its length, and a part of one nothing.
struct TextObject : Object {
  explicit TextObject(std::string_view bytes);
  std::string_view text() const { return text_; }
  // The text with these bytes at its end, a new object.
  TextObject* Append(std::string_view bytes) const;
  // The bytes from one offset up to another of this text, a new object.
  TextObject* Slice(size_t from, size_t to) const;

 private:
  struct Buffer {
    // With room for `capacity` bytes, of which the first are those of `text`.
    Buffer(std::string_view text, size_t capacity);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    char* const bytes;
    const size_t capacity;
    std::atomic<size_t> used;  // whoever moves it on may write what is between: texts may grow on several threads
  };
  TextObject(std::shared_ptr<Buffer> buffer, std::string_view text) : Object(ObjectKind::Text), buffer_(std::move(buffer)), text_(text) {}

  std::shared_ptr<Buffer> buffer_;
  std::string_view text_;  // what it sees of the buffer
};

enum class ErrorCode : uint16_t {
  DivideByZero, Overflow, User, NoMatch, Range, Loop,
  Io,  // of input or output: the message is in parts (runtime/value/io_error.h)
};

// A failure as a datum. `tag` is the engine's own name of the activation in which it happened (a Cell-like
// Object, or null): it is turned into a call path only when the error is reported.
struct ErrorObject : Object {
  ErrorCode code;
  std::string message;
  ir::PosId pos;
  ir::NodeId node;
  Object* tag = nullptr;
  Value thrown;  // the value, if one was thrown; then there is no message
  ErrorObject(ErrorCode c, std::string m, ir::NodeId n, ir::PosId p);
};

// What the reference and the demand engine put behind references, and all engines behind error tags, derives from Cell and is
// destroyed through it. `DropChildren` gives up the values it holds, which are freed later, so that Destroy stays iterative. (The tagged
// engine's delayed calls are ObjectKind::Delay, and freed by FreeDelay.)
struct Cell : Object {
  Cell() : Object(ObjectKind::Cell) {}
  virtual ~Cell() = default;
  virtual void DropChildren(DeadObjects& dead) {}
};

// Frees a delayed call of the tagged engine.
inline void (*free_delay)(Object* object, DeadObjects& dead) = nullptr;  // set by the tagged engine

// A reference that no delayed call answers but the program that runs the graph, when it is first forced.
struct HostCell : Object {
  HostCell() : Object(ObjectKind::Host) {}
  virtual ~HostCell() = default;
  // An evaluated value or an error, asked for once. May throw std::bad_alloc and HostInterrupted.
  virtual Value Supply() = 0;
  // One thread asks; others may look whether it has.
  void Ask() {
    if (is_full()) return;
    value = Supply();
    full_.store(true, std::memory_order_release);
  }
  bool is_full() const { return full_.load(std::memory_order_acquire); }
  Value value;  // full

 private:
  std::atomic<bool> full_ = false;
};

// Thrown where an interrupt ended the wait for what a HostCell is to give.
struct HostInterrupted {};

inline HostCell* HostCellIn(Object* object) {
  return object->kind == ObjectKind::Host ? static_cast<HostCell*>(object) : nullptr;
}
// If `value` is such a reference, what it stands for takes its place.
inline void AskHost(Value& value) {
  if (!value.is_reference()) return;
  HostCell* cell = HostCellIn(value.object());
  if (!cell) return;
  cell->Ask();
  value = Value(cell->value);
}

}  // namespace df
