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

// The terms of a sum, from left to right. They lie all over the memory, and to go through the sum depth first would be to wait for one
// after the other. So all sums that are known go a step at a time: in a list, where each is replaced by its two parts.
std::vector<const Data*> TermsOf(const Value& sum) {
  constexpr size_t kAhead = 8;
  constexpr uint32_t kEnd = UINT32_MAX, kUnknown = UINT32_MAX;
  struct Place {
    const Data* data;  // null: zero
    uint32_t next;
  };
  auto data_of = [](const Value& value) {
    return value.kind() == ValueKind::Object ? static_cast<const Data*>(value.object()) : nullptr;
  };
  std::vector<Place> places = {{data_of(sum), kEnd}};
  std::vector<uint32_t> now, then;
  if (places[0].data) now.push_back(0);
  uint32_t sum_constructor = kUnknown;
  while (!now.empty()) {
    then.clear();
    for (size_t i = 0; i < now.size(); ++i) {
      if (i + kAhead < now.size()) __builtin_prefetch(places[now[i + kAhead]].data);
      uint32_t at = now[i];
      const Data* data = places[at].data;
      if (data->constructor != sum_constructor) {
        if (sum_constructor != kUnknown || data->size() != 2) continue;
        const Value *x = data->fields(), *y = x + 1;
        if (TensorIn(*x) || TensorIn(*y)) continue;
        sum_constructor = data->constructor;
      }
      const Data *left = data_of(data->fields()[0]), *right = data_of(data->fields()[1]);
      if (!left) std::swap(left, right);
      places[at].data = left;
      if (left) then.push_back(at);
      if (!right) continue;
      auto place = static_cast<uint32_t>(places.size());
      places.push_back({right, places[at].next});
      places[at].next = place;
      then.push_back(place);
    }
    std::swap(now, then);
  }
  std::vector<const Data*> terms;
  terms.reserve(places.size());
  for (uint32_t at = 0; at != kEnd; at = places[at].next)
    if (places[at].data) terms.push_back(places[at].data);
  return terms;
}

// What is looked at some terms from now is asked for: the tensors first, then their elements.
void Prefetch(llvm::ArrayRef<const Data*> terms, size_t at) {
  constexpr size_t kTensors = 8, kElements = 4, kLine = 64, kMost = 512;
  if (at + kTensors < terms.size()) {
    const Data* term = terms[at + kTensors];
    for (size_t i = 0; i < term->size(); ++i)
      if (const Value& field = term->fields()[i]; field.kind() == ValueKind::Object) __builtin_prefetch(field.object());
  }
  if (at + kElements < terms.size()) {
    const Data* term = terms[at + kElements];
    for (size_t i = 0; i < term->size(); ++i) {
      const TensorObject* tensor = TensorIn(term->fields()[i]);
      if (!tensor || !tensor->elements()) continue;
      for (size_t byte = 0; byte < std::min(tensor->bytes(), kMost); byte += kLine) __builtin_prefetch(tensor->elements() + byte);
    }
  }
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
  std::vector<const Data*> terms = TermsOf(sum);
  for (size_t i = 0; i < terms.size(); ++i) {
    Prefetch(terms, i);
    const Value* fields = terms[i]->fields();
    if (terms[i]->size() == 1) {
      into.Add(*TensorIn(fields[0]));
      continue;
    }
    const TensorObject& second = *TensorIn(fields[1]);
    if (fields[0].is_word()) {
      into.AddRows(fields[0].word(), second);
      continue;
    }
    const TensorObject& first = *TensorIn(fields[0]);
    if (first.element() == ir::TypeKind::Int) into.AddRows({first.as<int64_t>(), first.count()}, second);
    else into.AddProduct(first, second);
  }
  into.Multiply();
  return out;
}

}  // namespace

Value Accumulate(const ir::Type& result, const Value& sum) {
  return result.element == ir::TypeKind::Float ? Run<float>(result, sum) : Run<double>(result, sum);
}

}  // namespace df
