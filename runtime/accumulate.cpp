#include "runtime/accumulate.h"

#include <vector>

#include "backends/cpu/product.h"
#include "runtime/tensor.h"

namespace df {
namespace {

// Rows that are multiplied at once: enough for a product's inner loops, few enough for the caches.
constexpr size_t kBlock = 128;

template <typename T>
class Accumulator {
 public:
  Accumulator(const ir::Type& result, T* out, size_t count)
      : out_(out), count_(count), columns_(result.dims.empty() || result.dims[0] == 0 ? 0 : count / static_cast<size_t>(result.dims[0])) {
    std::fill(out, out + count, T(0));
  }

  void Add(const TensorObject& tensor) {
    const T* from = tensor.as<T>();
    for (size_t i = 0; i < count_; ++i) out_[i] += from[i];
  }
  // Rows at indices of the first axis.
  void AddRows(llvm::ArrayRef<int64_t> at, const TensorObject& rows) {
    for (size_t k = 0; k < at.size(); ++k) {
      size_t row = static_cast<size_t>(at[k]);
      if (at[k] < 0 || (row + 1) * columns_ > count_) continue;  // the Gather has failed, and so has what needs this
      for (size_t i = 0; i < columns_; ++i) out_[row * columns_ + i] += rows.as<T>()[k * columns_ + i];
    }
  }
  // x transposed times y; a vector is a row.
  void AddProduct(const TensorObject& x, const TensorObject& y) {
    size_t m = static_cast<size_t>(x.dims().back()), n = static_cast<size_t>(y.dims().back());
    if (m * n == 0) return;
    size_t rows = x.count() / m;
    m_ = m, n_ = n;
    if (held_ + rows > kBlock) Multiply();
    left_.insert(left_.end(), x.as<T>(), x.as<T>() + rows * m);
    right_.insert(right_.end(), y.as<T>(), y.as<T>() + rows * n);
    held_ += rows;
  }
  void Multiply() {
    if (held_ > 0) cpu::AddTransposedProduct(left_.data(), right_.data(), out_, held_, m_, n_);
    held_ = 0;
    left_.clear();
    right_.clear();
  }

 private:
  T* out_;
  size_t count_, columns_;
  std::vector<T> left_, right_;  // rows that wait
  size_t held_ = 0, m_ = 0, n_ = 0;
};

// Terms and their tensors lie all over the memory: what is looked at some terms from now is asked for.
void Prefetch(const std::vector<const Data*>& work) {
  constexpr size_t kTerms = 8, kTensors = 4;
  size_t n = work.size();
  if (n > kTerms) __builtin_prefetch(work[n - kTerms - 1]);
  if (n <= kTensors) return;
  const Data* term = work[n - kTensors - 1];
  for (size_t i = 0; i < term->size(); ++i)
    if (const Value& field = term->fields()[i]; field.kind() == ValueKind::Object) __builtin_prefetch(field.object());
}

template <typename T>
Value Run(const ir::Type& result, const Value& sum) {
  // One tensor is its own sum.
  if (sum.kind() == ValueKind::Object) {
    const auto* data = static_cast<const Data*>(sum.object());
    if (data->size() == 1) return data->fields()[0];
  }
  Value out = MakeTensor(result.element, result.dims);
  Accumulator<T> into(result, TensorIn(out)->as<T>(), TensorIn(out)->count());
  std::vector<const Data*> work;
  auto push = [&](const Value& term) {
    if (term.kind() == ValueKind::Object) work.push_back(static_cast<const Data*>(term.object()));  // else it is zero
  };
  push(sum);
  while (!work.empty()) {
    const Data* data = work.back();
    work.pop_back();
    Prefetch(work);
    const Value* fields = data->fields();
    if (data->size() == 1) {
      into.Add(*TensorIn(fields[0]));
    } else if (const TensorObject* first = TensorIn(fields[0])) {
      const TensorObject& second = *TensorIn(fields[1]);
      if (first->element() == ir::TypeKind::Int) into.AddRows({first->as<int64_t>(), first->count()}, second);
      else into.AddProduct(*first, second);
    } else if (fields[0].is_word() && TensorIn(fields[1])) {
      into.AddRows(fields[0].word(), *TensorIn(fields[1]));
    } else {
      push(fields[1]);
      push(fields[0]);
    }
  }
  into.Multiply();
  return out;
}

}  // namespace

Value Accumulate(const ir::Type& result, const Value& sum) {
  return result.element == ir::TypeKind::Float ? Run<float>(result, sum) : Run<double>(result, sum);
}

}  // namespace df
