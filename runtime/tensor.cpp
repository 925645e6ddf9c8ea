#include "runtime/tensor.h"

#include <cstdlib>

#include "runtime/batch.h"
#include "runtime/show.h"

namespace df {

namespace {

// Of at least one byte, counted.
char* AllocateAligned(size_t bytes) {
  memory::Charge(bytes);
  auto* block = static_cast<char*>(std::aligned_alloc(TensorObject::kAlignment, bytes));
  if (block) return block;
  memory::Discharge(bytes);
  throw std::bad_alloc();
}
size_t WholeLines(size_t bytes) {
  return std::max((bytes + TensorObject::kAlignment - 1) / TensorObject::kAlignment, size_t{1}) * TensorObject::kAlignment;
}

}  // namespace

TensorBlock* TensorBlock::New(size_t bytes) {
  size_t all = kHeader + WholeLines(bytes);
  alive::Made(alive::Kind::TensorBlock);
  return ::new (AllocateAligned(all)) TensorBlock(all);
}

void TensorBlock::Free() {
  alive::Gone(alive::Kind::TensorBlock);
  memory::Discharge(bytes_);
  std::free(this);
}

TensorObject::TensorObject(ir::TypeKind element, llvm::ArrayRef<int64_t> dims)
    : Object(ObjectKind::Tensor), charged_(0), where_(Where::Own) {
  SetShape(element, dims);
  charged_ = WholeLines(bytes());
  data_ = AllocateAligned(charged_);
}

TensorObject::TensorObject(const ir::Type& type, Deferred* deferred, uint32_t index)
    : Object(ObjectKind::Tensor), deferred_(deferred), index_(index), where_(Where::Deferred) {
  SetShape(type.element, type.dims);
}

TensorObject::TensorObject(const ir::Type& type, char* data)
    : Object(ObjectKind::Tensor), data_(data), charged_(0), where_(Where::Lent) {
  SetShape(type.element, type.dims);
}

TensorObject::~TensorObject() {
  switch (where_) {
    case Where::Own:
      std::free(data_);
      memory::Discharge(charged_);
      return;
    case Where::Lent: return;
    case Where::Block: block_->Release(); return;
    case Where::Deferred: Forget(deferred_, index_); return;
  }
}

void TensorObject::Computed(TensorBlock* block, char* data) {
  block->Retain();
  block_ = block;
  where_ = Where::Block;
  data_ = data;
}

void TensorObject::Await() { ComputeNow(deferred_); }

void TensorObject::SetShape(ir::TypeKind element, llvm::ArrayRef<int64_t> dims) {
  element_ = element;
  count_ = static_cast<size_t>(ir::ElementCount(dims));
  Reshape(dims);
}

void TensorObject::Reshape(llvm::ArrayRef<int64_t> dims) {
  rank_ = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), dims_);
}

Value MakeTensor(ir::TypeKind element, llvm::ArrayRef<int64_t> dims) {
  return Value::Adopt(ValueKind::Object, new TensorObject(element, dims));
}

Value MakeTensor(const ir::Type& type, std::string_view bytes) {
  Value value = MakeTensor(type.element, type.dims);
  std::memcpy(TensorIn(value)->data(), bytes.data(), bytes.size());
  return value;
}

Value ElementOf(const TensorObject& tensor, size_t index) {
  switch (tensor.element()) {
    case ir::TypeKind::Float: return Value::Float(tensor.as<float>()[index]);
    case ir::TypeKind::Double: return Value::Double(tensor.as<double>()[index]);
    case ir::TypeKind::Bool: return Value::Word(tensor.as<uint8_t>()[index] != 0);
    default: return Value::Word(tensor.as<int64_t>()[index]);
  }
}

void SetElement(TensorObject& tensor, size_t index, const Value& value) {
  switch (tensor.element()) {
    case ir::TypeKind::Float: tensor.as<float>()[index] = value.as_float(); return;
    case ir::TypeKind::Double: tensor.as<double>()[index] = value.as_double(); return;
    case ir::TypeKind::Bool: tensor.as<uint8_t>()[index] = value.word() != 0; return;
    default: tensor.as<int64_t>()[index] = value.word(); return;
  }
}

std::string ShowElement(const TensorObject& tensor, size_t index) {
  switch (tensor.element()) {
    case ir::TypeKind::Float: return ShowFloat(tensor.as<float>()[index]);
    case ir::TypeKind::Double: return ShowDouble(tensor.as<double>()[index]);
    case ir::TypeKind::Bool: return tensor.as<uint8_t>()[index] ? "True" : "False";
    default: return std::to_string(tensor.as<int64_t>()[index]);
  }
}

void ShowTensor(const TensorObject& tensor, llvm::function_ref<void(std::string_view)> write) {
  llvm::ArrayRef<int64_t> dims = tensor.dims();
  if (dims.empty()) return write(ShowElement(tensor, 0));
  // Position in each dimension; a dimension of size 0 ends the list at once.
  llvm::SmallVector<int64_t, 8> at(dims.size(), 0);
  size_t index = 0, depth = 0;
  write("[");
  while (true) {
    if (at[depth] == dims[depth]) {
      write("]");
      if (depth == 0) return;
      at[depth--] = 0;
      ++at[depth];
      continue;
    }
    if (at[depth] > 0) write(",");
    if (depth + 1 < dims.size()) {
      write("[");
      ++depth;
      continue;
    }
    write(ShowElement(tensor, index++));
    ++at[depth];
  }
}

}  // namespace df
