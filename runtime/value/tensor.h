// runtime/value/tensor.h
//
// Tensors as values: an object with a shape and one buffer of elements in row-major order.
//
// The buffer is the tensor's own, or a part of one that the results of a batch share, or is still to be computed: a deferred
// tensor (runtime/batch/batch.h) is computed when its elements are asked for, if not before. What a batch has computed is on a device
// (runtime/device/device.h), and is copied to the host when its elements are asked for. A gradient of a table may be known by its few rows that are
// not 0 (TensorRows), until somebody asks for another. One that could not be computed, as the inverse of a
// singular matrix, is a tensor too, which holds the error: what needs its elements fails with that. Objects and buffers of the host count against the
// memory limit.
#pragma once

#include <atomic>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/value/value.h"
#include "tagged_ir/tensor_type.h"

namespace df {

struct Deferred;  // runtime/batch/batch.h
class Device;     // runtime/device/device.h

class TensorBlock;
class TensorObject;

// What the rooms above do for tensors that are not, or not only, the host's. Each sets its own before it makes the first of them.
struct TensorHooks {
  void (*compute)(Deferred* deferred) = nullptr;                  // runtime/batch: it is to be computed now
  void (*forget)(Deferred* deferred, uint32_t result) = nullptr;  // nobody holds this result any more
  void (*lose_copies)(const TensorObject& tensor) = nullptr;      // runtime/device: copies of it are out of date
  void (*fetch)(TensorBlock& block) = nullptr;                    // brings it to the host
  void (*free)(TensorBlock& block) = nullptr;
};
extern constinit TensorHooks tensor_hooks;

// Bytes on a device that several tensors are parts of; on the host, once somebody has looked at one of them. Begins at a multiple
// of 64 bytes. A device with memory of its own outlives it.
class TensorBlock {
 public:
  // With one holder. Throws std::bad_alloc if there is no room.
  static TensorBlock* New(Device& device, size_t bytes);
  // Null: it is the host's memory.
  Device* device() const { return device_; }
  // On the device; null if its room there was given up.
  char* address() const { return address_; }
  // On the host, where nobody writes, if it is not the device; null if nobody has looked.
  char* host() const { return host_; }
  // Brings it to the host. Throws std::bad_alloc beyond the memory limit.
  void Fetch() {
    if (!host_) tensor_hooks.fetch(*this);
  }
  // Brings the older half of a device's blocks to the host and gives up their room there. False if it has none. Throws std::bad_alloc
  // beyond the memory limit.
  static bool Spill(Device& device);
  void Retain() { refs_.Retain(); }
  void Release() {
    if (refs_.Drop()) tensor_hooks.free(*this);
  }

 private:
  TensorBlock(Device* device, char* address, size_t bytes);
  static const bool hooked;
  static void FetchBlock(TensorBlock& block);
  static void FreeBlock(TensorBlock& block);
  void GiveUpRoom();

  SharedCount refs_{1};
  Device* device_;
  char* address_;
  char* host_ = nullptr;
  size_t bytes_;
  // Of those that have room on the device, by age.
  TensorBlock* newer_ = nullptr;
  TensorBlock* older_ = nullptr;
};

// Some rows of a tensor, at different indices of its first axis, where all others are 0: a gradient of a table of which few rows were
// used. One block of memory.
struct TensorRows {
  // Elements are not set. Throws std::bad_alloc beyond the memory limit.
  static TensorRows* New(size_t count, size_t row_bytes);
  static void Free(TensorRows* rows);
  size_t count, row_bytes;
  int64_t* indices() { return reinterpret_cast<int64_t*>(this + 1); }
  char* row(size_t k) { return reinterpret_cast<char*>(indices() + count) + k * row_bytes; }
};

class TensorObject : public Object {
 public:
  // Elements are not set. Throws std::bad_alloc beyond the memory limit.
  TensorObject(ir::TypeKind element, llvm::ArrayRef<int64_t> dims);
  // Result `index` of what is deferred, of so many elements.
  TensorObject(const ir::Type& type, size_t count, Deferred* deferred, uint32_t index)
      : Object(ObjectKind::Tensor), deferred_(deferred), count_(count), index_(index), where_(Where::Deferred), element_(type.element) {
    SetDims(type.dims);
  }
  // Row `row` of a block of tensors like this one.
  TensorObject(const ir::Type& type, TensorBlock* block, size_t row);
  // Of rows, which become its own. They are spread out over all its elements when these are asked for.
  TensorObject(const ir::Type& type, TensorRows* rows);
  // That could not be computed.
  TensorObject(const ir::Type& type, ErrorObject* error);
  // On elements that outlive it.
  TensorObject(const ir::Type& type, char* data);
  ~TensorObject();
  TensorObject(const TensorObject&) = delete;
  TensorObject& operator=(const TensorObject&) = delete;

  ir::TypeKind element() const { return element_; }
  llvm::ArrayRef<int64_t> dims() const { return {rank_ <= kFewDims ? few_dims_ : more_dims_, rank_}; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * ir::ElementBytes(element_); }
  char* data() {
    if (!data_) [[unlikely]] Await();
    return data_;
  }
  const char* data() const { return const_cast<TensorObject*>(this)->data(); }
  template <typename T>
  T* as() { return reinterpret_cast<T*>(data()); }
  template <typename T>
  const T* as() const { return reinterpret_cast<const T*>(data()); }
  // Has it computed, wherever that is: on a device the elements stay there.
  void Compute() {
    if (where_ == Where::Deferred) ComputeIt();
  }
  // Has it computed, and says why it could not be; null if it could.
  ErrorObject* Failure() {
    Compute();
    return failure();
  }
  // The same of one that is not deferred.
  ErrorObject* failure() const { return where_ == Where::Failed ? error_ : nullptr; }
  // What was deferred could not be computed. One more holder of the error.
  void Fail(ErrorObject* error);
  // Whether there has been any such tensor: who looks at many need not look before.
  static bool AnyFailure() { return any_failure.load(std::memory_order_acquire); }
  // Whether there may be any: a program has ops that give such.
  static bool MayFail() { return may_fail.load(std::memory_order_relaxed); }
  static void ExpectFailures() { may_fail.store(true, std::memory_order_relaxed); }
  // On which device of its own memory it is; null if on none.
  Device* device() const;
  // Null if they are not on the host.
  const char* elements() const { return data_; }
  // Another shape for the same elements; for the only holder. Throws std::bad_alloc beyond the memory limit, having changed nothing.
  void Reshape(llvm::ArrayRef<int64_t> dims);

  // What computes it, if that has not been done.
  Deferred* deferred() const { return where_ == Where::Deferred ? deferred_ : nullptr; }
  // It has been, or will be before the device does what it is told from now on: the elements are row `row` of a block of tensors like this
  // one, of which it becomes a holder.
  void Computed(TensorBlock* block, size_t row) {
    block->Retain();
    block_ = block;
    index_ = static_cast<uint32_t>(row);
    where_ = block->device() ? Where::Away : Where::Block;
    if (block->host()) data_ = block->host() + row * bytes();
  }
  // The same, of a block of the host: the elements begin at `at`. `alone`: no other tensor's are there.
  void ComputedAt(TensorBlock* block, char* at, bool alone) {
    block->Retain();
    block_ = block;
    where_ = alone ? Where::Block : Where::Overlaps;
    data_ = at;
  }
  // The same: the elements are those of another tensor of the host, `IsOverwritable`, which is not looked at any more.
  void ComputedIn(TensorObject& other);
  // The same: the elements are those from `at` on of another tensor of the host, which has them and stays as long as this one.
  void ComputedIn(TensorObject& whole, const char* at) {
    TensorObject& root = whole.where_ == Where::Part ? *whole.whole_ : whole;
    root.refs.Retain();
    whole_ = &root;
    data_ = const_cast<char*>(at);
    where_ = Where::Part;
  }
  // Whether ComputedIn may be called with it, if nobody else holds it.
  bool IsOverwritable() const { return (where_ == Where::Own || where_ == Where::Block) && !copied_; }
  // The same: it is known by these rows, which become its own.
  void ComputedAs(TensorRows* rows) {
    rows_ = rows;
    where_ = Where::Rows;
  }
  // Null if it is not known by its rows alone.
  TensorRows* rows() const { return where_ == Where::Rows ? rows_ : nullptr; }
  // Before an op writes into the elements of a tensor that nobody else holds: what a device has must stay what the host has. False: it
  // may not. What is still to be computed is computed first: only then is known where it is.
  bool PrepareToWrite() {
    if (!data_) [[unlikely]] Await();
    if (copied_) [[unlikely]] LoseCopies();
    return where_ != Where::Away && where_ != Where::Part && where_ != Where::Overlaps;
  }
  // A device has a copy from now on (runtime/device/device_copies.h).
  void NoteCopies() { copied_ = true; }
  // Asks for what AddressOn looks at.
  void Prefetch() const {
    if (where_ == Where::Away) __builtin_prefetch(block_);
  }
  // Where it is on this device; null if it is not there.
  char* AddressOn(const Device& device) const;

 private:
  enum class Where : uint8_t { Own, Block, Overlaps, Away, Deferred, Lent, Rows, Part, Failed };
  static inline std::atomic<bool> any_failure{false}, may_fail{false};
  void SetShape(ir::TypeKind element, llvm::ArrayRef<int64_t> dims);
  void SetDims(llvm::ArrayRef<int64_t> dims) {
    if (dims.size() > kFewDims) [[unlikely]] return Reshape(dims);
    rank_ = static_cast<uint8_t>(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) few_dims_[i] = dims[i];
  }
  void Spread();
  void Await();
  void ComputeIt();
  void LoseCopies();

  char* data_ = nullptr;
  union {
    size_t charged_;      // Own
    TensorBlock* block_;  // Block and Overlaps, of the host's memory; Away, of a device's
    Deferred* deferred_;  // Deferred
    TensorRows* rows_;    // Rows
    TensorObject* whole_;  // Part: of this one's elements
    ErrorObject* error_;   // Failed
  };                      // of a Lent one nothing
  size_t count_;
  uint32_t index_ = 0;  // of the result; in the block
  Where where_;
  bool copied_ = false;
  ir::TypeKind element_;
  uint8_t rank_ = 0;
  // Nearly all tensors of a network have one or two dimensions, and there are so many of them that their size is time (docs/performance/training.md).
  static constexpr size_t kFewDims = 2;
  union {
    int64_t few_dims_[kFewDims];
    int64_t* more_dims_;  // an array of its own
  };
};

// The tensor in a value; null if there is none.
inline TensorObject* TensorIn(const Value& value) {
  return value.kind() == ValueKind::Object && value.object()->kind == ObjectKind::Tensor
             ? static_cast<TensorObject*>(value.object())
             : nullptr;
}

Value MakeTensor(ir::TypeKind element, llvm::ArrayRef<int64_t> dims);
// A constant's elements (ir::Constant::text).
Value MakeTensor(const ir::Type& type, std::string_view bytes);

Value ElementOf(const TensorObject& tensor, size_t index);
void SetElement(TensorObject& tensor, size_t index, const Value& value);

// As Haskell's show prints nested lists: "[[1.0,2.5],[3.0,-4.0]]"; of no dimensions the element. Calls `write` with pieces.
void ShowTensor(const TensorObject& tensor, llvm::function_ref<void(std::string_view)> write);
// One element as `show` prints it.
std::string ShowElement(const TensorObject& tensor, size_t index);

}  // namespace df
