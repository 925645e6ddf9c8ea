#include "runtime/value/tensor.h"

#include <cstdlib>

#include "llvm/Support/ErrorHandling.h"
#include "runtime/base/interruptible_loops.h"
#include "runtime/value/object_names.h"
#include "runtime/value/show_number.h"

namespace df {

constinit TensorHooks tensor_hooks;

TensorRows* TensorRows::New(size_t count, size_t row_bytes) {
  return ::new (memory::AllocateLines(sizeof(TensorRows) + count * (sizeof(int64_t) + row_bytes))) TensorRows{count, row_bytes};
}

void TensorRows::Free(TensorRows* rows) {
  memory::FreeLines(reinterpret_cast<char*>(rows), sizeof(TensorRows) + rows->count * (sizeof(int64_t) + rows->row_bytes));
}

TensorObject::TensorObject(ir::TypeKind element, llvm::ArrayRef<int64_t> dims)
    : Object(ObjectKind::Tensor), charged_(0), where_(Where::Own) {
  SetShape(element, dims);
  charged_ = bytes();
  try {
    data_ = memory::AllocateLines(charged_);
  } catch (...) {
    Reshape({});
    throw;
  }
}

TensorObject::TensorObject(const ir::Type& type, TensorBlock* block, size_t row) : Object(ObjectKind::Tensor), where_(Where::Block) {
  SetShape(type.element, type.dims);
  Computed(block, row);
}

TensorObject::TensorObject(const ir::Type& type, TensorRows* rows) : Object(ObjectKind::Tensor), rows_(rows), where_(Where::Rows) {
  SetShape(type.element, type.dims);
}

TensorObject::TensorObject(const ir::Type& type, ErrorObject* error) : Object(ObjectKind::Tensor), deferred_(nullptr), where_(Where::Deferred) {
  SetShape(type.element, type.dims);
  Fail(error);
}

void TensorObject::Fail(ErrorObject* error) {
  error->refs.Retain();
  error_ = error;
  where_ = Where::Failed;
  any_failure.store(true, std::memory_order_release);
}

TensorObject::TensorObject(const ir::Type& type, char* data)
    : Object(ObjectKind::Tensor), data_(data), charged_(0), where_(Where::Lent) {
  SetShape(type.element, type.dims);
}

TensorObject::~TensorObject() {
  if (copied_) [[unlikely]] LoseCopies();
  if (rank_ > kFewDims) [[unlikely]] Reshape({});
  switch (where_) {
    case Where::Own: memory::FreeLines(data_, charged_); return;
    case Where::Lent: return;
    case Where::Block:
    case Where::Overlaps:
    case Where::Away: block_->Release(); return;
    case Where::Deferred: tensor_hooks.forget(deferred_, index_); return;
    case Where::Rows: TensorRows::Free(rows_); return;
    case Where::Part: Value::Adopt(ValueKind::Object, whole_); return;
    case Where::Failed: Value::Adopt(ValueKind::Error, error_); return;
  }
}

void TensorObject::ComputedIn(TensorObject& other) {
  data_ = other.data_;
  where_ = other.where_;
  index_ = other.index_;
  if (where_ == Where::Own) charged_ = other.charged_;
  else block_ = other.block_;
  other.where_ = Where::Lent;
}

void TensorObject::Spread() {
  size_t charged = bytes();
  char* data = memory::AllocateLines(charged);
  std::memset(data, 0, charged);
  for (size_t k = 0; k < rows_->count; ++k)
    std::memcpy(data + static_cast<size_t>(rows_->indices()[k]) * rows_->row_bytes, rows_->row(k), rows_->row_bytes);
  TensorRows::Free(rows_);
  data_ = data;
  charged_ = charged;
  where_ = Where::Own;
}

void TensorObject::Await() {
  if (where_ == Where::Rows) return Spread();
  if (where_ == Where::Deferred) tensor_hooks.compute(deferred_);
  if (data_) return;
  if (where_ == Where::Failed) llvm::report_fatal_error("elements of a tensor that could not be computed");
  block_->Fetch();
  data_ = block_->host() + index_ * bytes();
}

void TensorObject::ComputeIt() { tensor_hooks.compute(deferred_); }

Device* TensorObject::device() const { return where_ == Where::Away && block_->address() ? block_->device() : nullptr; }

void TensorObject::LoseCopies() {
  if (tensor_hooks.lose_copies) tensor_hooks.lose_copies(*this);
  LoseName(*this);
  copied_ = false;
}

char* TensorObject::AddressOn(const Device& device) const {
  if (where_ != Where::Away || block_->device() != &device || !block_->address()) return nullptr;
  return block_->address() + index_ * bytes();
}

void TensorObject::SetShape(ir::TypeKind element, llvm::ArrayRef<int64_t> dims) {
  element_ = element;
  count_ = static_cast<size_t>(ir::ElementCount(dims));
  SetDims(dims);
}

void TensorObject::Reshape(llvm::ArrayRef<int64_t> dims) {
  LoseName(*this);
  auto bytes_of = [](size_t rank) { return rank * sizeof(int64_t); };
  void* more = dims.size() > kFewDims ? memory::Allocate(bytes_of(dims.size())) : nullptr;
  if (rank_ > kFewDims) memory::Free(more_dims_, bytes_of(rank_));
  rank_ = static_cast<uint8_t>(dims.size());
  if (more) more_dims_ = static_cast<int64_t*>(more);
  std::copy(dims.begin(), dims.end(), more ? more_dims_ : few_dims_);
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
  constexpr size_t kShownAtOnce = kPiece / 16;  // elements, of two parts each
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
    if (index % kShownAtOnce == 0) GiveUpIfAsked();
  }
}

}  // namespace df
