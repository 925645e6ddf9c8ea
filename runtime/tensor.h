// runtime/tensor.h
//
// Tensors as values: an object with a shape and one buffer of elements in row-major order.
//
// The buffer begins at a multiple of 64 bytes and its size is one, and what lies behind the last element is 0: kernels work on
// whole vector registers, and every element is computed in the same way wherever it stands. Both object and buffer count
// against the memory limit.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "runtime/value.h"
#include "tagged_ir/tensor_type.h"

namespace df {

class TensorObject : public Object {
 public:
  static constexpr size_t kAlignment = 64;

  // Elements are not set, but for what lies behind the last one. Throws std::bad_alloc beyond the memory limit.
  TensorObject(ir::TypeKind element, llvm::ArrayRef<int64_t> dims);
  ~TensorObject();
  TensorObject(const TensorObject&) = delete;
  TensorObject& operator=(const TensorObject&) = delete;

  ir::TypeKind element() const { return element_; }
  llvm::ArrayRef<int64_t> dims() const { return {dims_, rank_}; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * ir::ElementBytes(element_); }
  char* data() { return data_; }
  const char* data() const { return data_; }
  template <typename T>
  T* as() { return reinterpret_cast<T*>(data_); }
  template <typename T>
  const T* as() const { return reinterpret_cast<const T*>(data_); }
  // Another shape for the same elements; for the only holder.
  void Reshape(llvm::ArrayRef<int64_t> dims);

 private:
  char* data_ = nullptr;
  size_t charged_;
  size_t count_;
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
