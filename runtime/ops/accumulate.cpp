#include "runtime/ops/accumulate.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cpu/elementwise.h"
#include "backends/cpu/product.h"
#include "llvm/ADT/DenseMap.h"
#include "tagged_ir/sum_parts.h"

namespace df {
namespace {

template <typename T>
void AddElements(const T* from, T* to, size_t count) {
  static const cpu::BinaryLoop<T> loop = cpu::BinaryLoopOf<T>(ir::Op::Add);
  loop(to, from, to, count);
}

template <typename T>
class Accumulator {
 public:
  // Of a result of `rows` rows.
  Accumulator(T* out, size_t rows, size_t columns) : out_(out), rows_(rows), columns_(columns) {}

  // What AddTerm calls.
  void Add(const TensorObject& tensor) { Add(tensor.as<T>()); }
  void AddRow(int64_t at, const TensorObject& tensor, size_t k) { AddRow(at, tensor.as<T>() + k * columns_); }
  void AddProduct(const TensorObject& x, const TensorObject& y, size_t rows) { AddProduct(x.as<T>(), y.as<T>(), rows); }
  void AddElement(int64_t at, const Value& number) {
    Begin();
    if (at < 0 || static_cast<size_t>(at) >= rows_ * columns_) return;  // as for a row
    const TensorObject* tensor = TensorIn(number);
    if (tensor) out_[at] += *tensor->as<T>();
    else if constexpr (std::is_same_v<T, float>) out_[at] += number.as_float();
    else out_[at] += number.as_double();
  }

  // As large as the result.
  void Add(const T* from) {
    Begin();
    AddElements(from, out_, rows_ * columns_);
  }
  void AddRow(int64_t at, const T* from) {
    Begin();
    if (at < 0 || static_cast<size_t>(at) >= rows_) return;  // the Gather has failed, and so has what needs this
    AddElements(from, out_ + static_cast<size_t>(at) * columns_, columns_);
  }
  // x transposed times y.
  void AddProduct(const T* x, const T* y, size_t rows) {
    if (rows_ * columns_ == 0) return;
    if (left_.size() + rows > kRowsOfProduct) Multiply();
    for (size_t k = 0; k < rows; ++k) {
      left_.push_back(x + k * rows_);
      right_.push_back(y + k * columns_);
    }
  }
  void Multiply() {
    if (left_.empty()) return;
    cpu::AddTransposedProduct(left_.data(), right_.data(), out_, left_.size(), rows_, columns_, !std::exchange(begun_, true));
    left_.clear();
    right_.clear();
  }
  // The elements are 0 from here on, or what was added to 0. A product that comes first need not read them. Also where nothing was added.
  void Begin() {
    if (!std::exchange(begun_, true)) std::fill(out_, out_ + rows_ * columns_, T(0));
  }

 private:
  T* out_;
  size_t rows_, columns_;
  bool begun_ = false;
  std::vector<const T*> left_, right_;  // rows that wait, where they are
};

// The terms of a sum, from left to right. They lie all over the memory, and to go through the sum depth first would be to wait for one
// after the other. So all sums that are known go a step at a time: in a list, where each is replaced by its parts.
class TermFinder {
 public:
  TermFinder(const ir::TypeTable& types, ir::TypeId of) : types_(types) { StateOf(of, 0); }

  std::vector<SumTerm> Run(const Value& sum) {
    places_.push_back({DataIn(sum), {}, 0, kEnd});
    if (places_[0].data) now_.push_back(0);
    while (!now_.empty()) {
      then_.clear();
      for (size_t i = 0; i < now_.size(); ++i) {
        if (i + kAhead < now_.size()) __builtin_prefetch(places_[now_[i + kAhead]].data);
        Replace(now_[i]);
      }
      std::swap(now_, then_);
    }
    std::vector<SumTerm> terms;
    terms.reserve(places_.size());
    for (uint32_t at = 0; at != kEnd; at = places_[at].next)
      if (!places_[at].term.empty()) terms.push_back(places_[at].term);
    return terms;
  }

 private:
  static constexpr size_t kAhead = 8;
  static constexpr uint32_t kEnd = UINT32_MAX, kTerm = UINT32_MAX;
  // A term; or a sum or record, whose parts are not known yet; or nothing.
  struct Place {
    const Data* data;
    SumTerm term;
    uint32_t state;
    uint32_t next;
  };
  struct Step {
    uint32_t field, fields;
    uint32_t state;  // of what is in the field; kTerm: a term
  };
  struct Steps {
    bool known = false;
    llvm::SmallVector<Step, 3> list;
  };
  // What is looked for: the terms of a sum, or of one weight of a record. By constructor, what it has of that.
  struct State {
    ir::TypeId type;
    uint32_t weight;
    std::vector<Steps> steps;
  };

  static const Data* DataIn(const Value& value) {
    return value.kind() == ValueKind::Object ? static_cast<const Data*>(value.object()) : nullptr;
  }
  uint32_t StateOf(ir::TypeId type, uint32_t weight) {
    for (uint32_t i = 0; i < states_.size(); ++i)
      if (states_[i].type == type && states_[i].weight == weight) return i;
    states_.push_back({type, weight, std::vector<Steps>(types_[type].constructors.size())});
    return static_cast<uint32_t>(states_.size() - 1);
  }
  llvm::ArrayRef<Step> StepsOf(uint32_t state, uint32_t con) {
    if (!states_[state].steps[con].known) [[unlikely]] {
      const ir::TypeId type = states_[state].type;
      llvm::SmallVector<ir::SumPart, 8> parts;
      ir::FindSumParts(types_, type, con, states_[state].weight, &parts);
      llvm::SmallVector<Step, 3> list;
      for (const ir::SumPart& part : parts) {
        ir::TypeId held = types_[type].constructors[con].fields[part.field].type.type;
        list.push_back({part.field, part.fields, part.term ? kTerm : StateOf(held, part.weight)});
      }
      states_[state].steps[con] = {true, std::move(list)};
    }
    return states_[state].steps[con].list;
  }
  void Replace(uint32_t at) {
    const Data* data = places_[at].data;
    const uint32_t next = places_[at].next;
    bool first = true;
    places_[at].data = nullptr;
    for (const Step& step : StepsOf(places_[at].state, data->constructor)) {
      const Value* field = data->fields() + step.field;
      const Data* part = step.state == kTerm ? nullptr : DataIn(*field);
      if (!part && step.state != kTerm) continue;
      if (!std::exchange(first, false)) {
        auto place = static_cast<uint32_t>(places_.size());
        places_.push_back({nullptr, {}, 0, next});
        places_[at].next = place;
        at = place;
      }
      if (part) {
        places_[at].data = part;
        places_[at].state = step.state;
        then_.push_back(at);
      } else {
        places_[at].term = SumTerm(field, step.fields);
      }
    }
  }

  const ir::TypeTable& types_;
  std::vector<State> states_;
  std::vector<Place> places_;
  std::vector<uint32_t> now_, then_;
};

// What is looked at some terms from now is asked for: the tensors first, then their elements.
void Prefetch(llvm::ArrayRef<SumTerm> terms, size_t at) {
  constexpr size_t kElements = 8, kLine = 64, kMost = 2048;
  PrefetchTensors(terms, at);
  if (at + kElements < terms.size()) {
    for (const Value& field : terms[at + kElements]) {
      const TensorObject* tensor = TensorIn(field);
      if (!tensor || !tensor->elements()) continue;
      for (size_t byte = 0; byte < std::min(tensor->bytes(), kMost); byte += kLine) __builtin_prefetch(tensor->elements() + byte);
    }
  }
}

// The sum as rows, if all terms are, and these are fewer than the result has; each added to what came before it, as above. () if not.
template <typename T>
Value FewRows(const ir::Type& result, size_t rows, size_t columns, llvm::ArrayRef<SumTerm> terms) {
  llvm::DenseMap<int64_t, size_t> place;
  std::vector<int64_t> indices;
  auto is_row = [rows](int64_t at) { return at >= 0 && static_cast<size_t>(at) < rows; };
  int64_t one;
  size_t all = 0;
  for (SumTerm term : terms) {
    std::optional<llvm::ArrayRef<int64_t>> at = IndicesOf(term, &one);
    if (!at || IsElement(term) || (all += at->size()) >= rows) return {};
    for (int64_t index : *at)
      if (is_row(index) && place.try_emplace(index, indices.size()).second) indices.push_back(index);
  }
  TensorRows* few = TensorRows::New(indices.size(), columns * sizeof(T));
  Value out;
  try {
    out = Value::Adopt(ValueKind::Object, new TensorObject(result, few));
  } catch (...) {
    TensorRows::Free(few);
    throw;
  }
  std::copy(indices.begin(), indices.end(), few->indices());
  std::memset(few->row(0), 0, indices.size() * few->row_bytes);
  for (size_t i = 0; i < terms.size(); ++i) {
    Prefetch(terms, i);
    const T* from = TensorIn(terms[i][1])->as<T>();
    llvm::ArrayRef<int64_t> at = *IndicesOf(terms[i], &one);
    for (size_t k = 0; k < at.size(); ++k)
      if (is_row(at[k])) AddElements(from + k * columns, reinterpret_cast<T*>(few->row(place.find(at[k])->second)), columns);
  }
  return out;
}

template <typename T>
Value Run(const ir::Type& result, llvm::ArrayRef<SumTerm> terms, bool may_stay_rows) {
  // One tensor is its own sum.
  if (terms.size() == 1 && terms[0].size() == 1) return terms[0][0];
  if (TensorObject::MayFail())
    for (SumTerm term : terms)
      for (const Value& field : term)
        if (TensorObject* tensor = TensorIn(field); tensor && tensor->Failure())
          return Value::Adopt(ValueKind::Object, new TensorObject(result, tensor->failure()));
  if (accumulate_on_device)
    if (std::optional<Value> there = accumulate_on_device(result, terms)) return *there;
  const size_t rows = result.dims.empty() ? 1 : static_cast<size_t>(result.dims[0]);
  const size_t columns = rows ? static_cast<size_t>(ir::ElementCount(result.dims)) / rows : 0;
  if (may_stay_rows)
    if (Value few = FewRows<T>(result, rows, columns, terms); TensorIn(few)) return few;
  Value out = MakeTensor(result.element, result.dims);
  Accumulator<T> into(TensorIn(out)->as<T>(), rows, columns);
  for (size_t i = 0; i < terms.size(); ++i) {
    Prefetch(terms, i);
    AddTerm(terms[i], into);
  }
  into.Multiply();
  into.Begin();
  return out;
}

template <typename T>
void Compute(const DeviceSum& sum) {
  Accumulator<T> into(reinterpret_cast<T*>(sum.result), sum.rows, sum.columns);
  for (const DeviceSum::Part& part : sum.parts) {
    for (size_t i = 0; i < part.rows; ++i) {
      auto* x = reinterpret_cast<const T*>(part.x[i]);
      switch (part.kind) {
        case DeviceSum::Kind::Tensors: into.Add(x); break;
        case DeviceSum::Kind::RowsOfTable: into.AddRow(part.targets[i], x); break;
        case DeviceSum::Kind::Products: into.AddProduct(x, reinterpret_cast<const T*>(part.y[i]), 1); break;
      }
    }
    into.Multiply();
  }
  into.Begin();
}

}  // namespace

std::optional<llvm::ArrayRef<int64_t>> IndicesOf(SumTerm term, int64_t* one) {
  if (term.size() != 2) return std::nullopt;
  const Value& first = term[0];
  if (first.is_word()) {
    *one = first.word();
    return llvm::ArrayRef(*one);
  }
  const TensorObject* tensor = TensorIn(first);
  if (!tensor || tensor->element() != ir::TypeKind::Int) return std::nullopt;
  return llvm::ArrayRef(tensor->as<int64_t>(), tensor->count());
}

Value Accumulate(const ir::Type& result, const ir::TypeTable& types, ir::TypeId of, const Value& sum, bool may_stay_rows) {
  std::vector<SumTerm> terms = TermFinder(types, of).Run(sum);
  return result.element == ir::TypeKind::Float ? Run<float>(result, terms, may_stay_rows) : Run<double>(result, terms, may_stay_rows);
}

void ComputeSum(const DeviceSum& sum) { sum.element == ir::TypeKind::Float ? Compute<float>(sum) : Compute<double>(sum); }

}  // namespace df
