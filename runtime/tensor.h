// runtime/tensor.h
//
// Tensors as values: an object with a shape and one buffer of elements in row-major order.
//
// The buffer is the tensor's own, or a part of one that the results of a batch share, or is still to be computed: a deferred
// tensor (runtime/batch.h) is computed when its elements are asked for, if not before. Objects and buffers count against the
// memory limit.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "runtime/value.h"
#include "tagged_ir/tensor_type.h"

namespace df {

struct Deferred;  // runtime/batch.h

// Bytes that several tensors are parts of. Begins at a multiple of 64 bytes.
class TensorBlock {
 public:
  // With one holder.
  static TensorBlock* New(size_t bytes);
  char* data() { return reinterpret_cast<char*>(this) + kHeader; }
  void Retain() { refs_.Retain(); }
  void Release() {
    if (refs_.Drop()) Free();
  }

 private:
  static constexpr size_t kHeader = 64;
  explicit TensorBlock(size_t bytes) : bytes_(bytes) {}
  void Free();

  SharedCount refs_{1};
  size_t bytes_;
};

class TensorObject : public Object {
 public:
  static constexpr size_t kAlignment = 64;

  // Elements are not set. Throws std::bad_alloc beyond the memory limit.
  TensorObject(ir::TypeKind element, llvm::ArrayRef<int64_t> dims);
  // Result `index` of what is deferred.
  TensorObject(const ir::Type& type, Deferred* deferred, uint32_t index);
  // On elements that outlive it.
  TensorObject(const ir::Type& type, char* data);
  ~TensorObject();
  TensorObject(const TensorObject&) = delete;
  TensorObject& operator=(const TensorObject&) = delete;

  ir::TypeKind element() const { return element_; }
  llvm::ArrayRef<int64_t> dims() const { return {dims_, rank_}; }
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
  // Another shape for the same elements; for the only holder.
  void Reshape(llvm::ArrayRef<int64_t> dims);

  // What computes it, if that has not been done.
  Deferred* deferred() const { return data_ ? nullptr : deferred_; }
  // It has been: the elements are in a block, of which the tensor becomes a holder.
  void Computed(TensorBlock* block, char* data);

 private:
  enum class Where : uint8_t { Own, Block, Deferred, Lent };
  void SetShape(ir::TypeKind element, llvm::ArrayRef<int64_t> dims);
  void Await();

  char* data_ = nullptr;
  union {
    size_t charged_;      // Own
    TensorBlock* block_;  // Block
    Deferred* deferred_;  // Deferred
  };                      // of a Lent one nothing
  size_t count_;
  uint32_t index_ = 0;  // of the result
  Where where_;
  ir::TypeKind element_;
  uint8_t rank_;
  int64_t dims_[ir::kMaxRank];
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
