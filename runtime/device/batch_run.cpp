// See batch_run.h. A value of the region is a row per activation, or one row that all share (weights, and what is computed of
// them alone). Each op is computed by the loops that compute it unbatched, whose results do not depend on how many rows there
// are: so the bits are those of an unbatched run.
//
// Ops go over all rows, one after another, but for chains (runtime/device/batch_plan.h): of these a strip of rows, or a piece of a long row, at a
// time, as if it were the batch.
#include "runtime/device/batch_run.h"

#include <chrono>
#include <utility>

#include "backends/cpu/elementwise.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/product.h"
#include "runtime/base/by_element.h"
#include "runtime/base/interruptible_loops.h"
#include "runtime/device/batch_plan.h"
#include "runtime/device/batch_scratch.h"
#include "runtime/ops/tensor_kernels.h"
#include "tagged_ir/tensor_rules.h"

namespace df {
namespace {

using ir::Op;
using ir::TypeKind;
using Dims = llvm::ArrayRef<int64_t>;

thread_local Scratch scratch_of_thread;

// What a strip holds for itself, at most: with what it takes and gives it stays in a first-level cache, more or less.
constexpr size_t kStripBytes = 1 << 15;

size_t CountOf(const ir::Type& type) { return static_cast<size_t>(ir::ElementCount(type.dims)); }

class BatchRun {
 public:
  BatchRun(const DeviceBatch& batch, const KeptMatrices& kept)
      : batch_(batch), region_(*batch.region), count_(batch.rows), kept_(kept), times_(batch.times),
        values_(batch.region->values.size()) {
    if (times_) since_ = Clock::now();
  }
  void Run();

 private:
  using Clock = std::chrono::steady_clock;
  Scratch& scratch() { return use_.scratch; }
  const ir::Type& TypeOf(uint32_t value) const { return *region_.values[value].tensor; }
  void HandOut();
  void Compute(const BatchRegion::Item& item, uint32_t value);
  bool IsSumOfRows(uint32_t value) const;
  bool View(const BatchRegion::Item& item, uint32_t value);
  void Elementwise(const BatchRegion::Item& item, uint32_t value);
  void Product(const BatchRegion::Item& item, uint32_t value);
  void Concat(const BatchRegion::Item& item, uint32_t value);
  void Expand(const BatchRegion::Item& item, uint32_t value);
  void SetElement(const BatchRegion::Item& item, uint32_t value);
  void Reduction(const BatchRegion::Item& item, uint32_t value);
  void OneByOne(const BatchRegion::Item& item, uint32_t value);
  void Step(const BatchRegion::Step& step);
  void Chain(const BatchRegion::Stage& chain);
  void FindPlaces(const BatchRegion::Stage& chain, llvm::ArrayRef<uint32_t> ops, size_t strip);
  // Rows of a value that an op makes: in its block if it is a result.
  Rows& NewRows(uint32_t value, bool shared);
  Rows Shifted(Rows rows, uint32_t value) const;
  // The rows at equal distances.
  Rows Together(const Rows& rows, size_t bytes);
  bool AllShared(const BatchRegion::Item& item) const {
    for (uint32_t in : item.in)
      if (!values_[in].shared) return false;
    return true;
  }
  // The panels of a matrix; null if it is no operand, or was not prepared.
  const char* PanelsOf(uint32_t value, KeptMatrices::As as) const {
    const TensorObject* matrix = value < region_.num_operands ? batch_.tensors[value] : nullptr;
    return matrix ? kept_.Find(*matrix, as) : nullptr;
  }
  size_t CountRows(const Rows& rows) const { return rows.shared ? 1 : count_; }
  // Calls f(pointers to each operand's elements, to the result's, elements) as few times as the rows allow.
  template <typename F>
  void ForRuns(const BatchRegion::Item& item, uint32_t value, F f);
  void Note(double BatchTimes::*part) {
    if (!times_) return;
    auto now = Clock::now();
    times_->*part += std::chrono::duration<double>(now - since_).count();
    since_ = now;
  }

  const DeviceBatch& batch_;
  const BatchRegion& region_;
  size_t count_;         // of rows; in a chain, of the strip at hand
  size_t elements_ = 0;  // if not 0, the strip is so many elements of a row
  const KeptMatrices& kept_;
  BatchTimes* times_;
  ScratchUse use_{scratch_of_thread};
  llvm::SmallVector<Rows, 32> values_;
  // In a chain: where the values are that it computes, and the strip at hand.
  struct Place {
    Rows rows;
    bool whole = false;  // of all rows
  };
  llvm::SmallVector<Place, 16> places_;  // by op
  bool in_chain_ = false;
  size_t row_ = 0, element_ = 0;
  Clock::time_point since_;
};

Rows& BatchRun::NewRows(uint32_t value, bool shared) {
  Rows& rows = values_[value];
  if (in_chain_) {
    const Place& place = places_[value - region_.num_operands];
    return rows = place.whole ? Shifted(place.rows, value) : place.rows;
  }
  size_t bytes = BytesOf(TypeOf(value));
  rows.shared = shared;
  rows.stride = shared ? 0 : bytes;
  rows.base = nullptr;
  for (size_t r = 0; r < batch_.results.size() && (!shared || count_ == 1); ++r)
    if (region_.results[r] == value && batch_.results[r]) rows.base = batch_.results[r];
  for (size_t w = 0; w < batch_.wholes.size() && (!shared || count_ == 1); ++w)
    if (region_.wholes[w] == value) rows.base = batch_.wholes[w];
  if (!rows.base) rows.base = scratch().Take(bytes * (shared ? 1 : count_));
  return rows;
}

Rows BatchRun::Together(const Rows& rows, size_t bytes) {
  if (!rows.at) return rows;
  Rows together;
  together.stride = bytes;
  together.base = scratch().Take(bytes * count_);
  for (size_t i = 0; i < count_; ++i) std::memcpy(together.base + i * bytes, rows.Row(i), bytes);
  Note(&BatchTimes::gathers);
  return together;
}

// The part of a value that belongs to the strip at hand.
Rows BatchRun::Shifted(Rows rows, uint32_t value) const {
  if (rows.words) {
    rows.words += row_;
    return rows;
  }
  const size_t before = element_ > 0 ? element_ * ir::ElementBytes(TypeOf(value).element) : 0;
  if (rows.at) {
    rows.at += row_;
    rows.offset += before;
  } else {
    rows.base += row_ * rows.stride + before;  // if all share it, the stride is 0
  }
  return rows;
}

// ---------------------------------------------------------------- ops

// Ops whose result is a part of an operand, or the operand.
bool BatchRun::View(const BatchRegion::Item& item, uint32_t value) {
  const Rows& x = values_[item.in[0]];
  const ir::Type& result = TypeOf(value);
  switch (item.op) {
    case Op::Reshape: values_[value] = x; return true;
    case Op::Convert:
      if (TypeOf(item.in[0]).element != result.element) return false;
      values_[value] = x;
      return true;
    case Op::Slice: {
      const ir::Type& from = TypeOf(item.in[0]);
      if (ir::AxisOf(item.attr & (ir::kFromEnd - 1), from.dims.size()) != 0) return false;
      values_[value] = x;
      if (item.attr & ir::kFromEnd) values_[value].offset += BytesOf(from) - BytesOf(result);
      return true;
    }
    // Rows of a table, elements.
    case Op::Gather:
    case Op::SliceAt:
    case Op::GetElement: {
      const Rows& index = values_[item.in[1]];
      const ir::Type& from = TypeOf(item.in[0]);
      auto steps = static_cast<size_t>(item.op == Op::GetElement ? ir::ElementCount(from.dims) : from.dims[0]);
      size_t step = steps ? BytesOf(from) / steps : 0;
      char** at = scratch().Array<char*>(count_);
      for (size_t i = 0; i < count_; ++i) at[i] = x.Row(i) + static_cast<size_t>(index.words[i]) * step;
      values_[value].at = at;
      return true;
    }
    default: return false;
  }
}

template <typename F>
void BatchRun::ForRuns(const BatchRegion::Item& item, uint32_t value, F f) {
  const Rows& out = NewRows(value, AllShared(item));
  size_t count = elements_ ? elements_ : CountOf(TypeOf(value)), rows = CountRows(out);
  const char* in[3] = {};
  bool one_run = rows == 1 || out.stride == BytesOf(TypeOf(value));
  for (size_t k = 0; k < item.in.size(); ++k) {
    const Rows& x = values_[item.in[k]];
    one_run &= rows == 1 || (!x.at && !x.shared && x.stride == BytesOf(TypeOf(item.in[k])));
    in[k] = x.Row(0);
  }
  auto run = [&](char* to, size_t all) {
    InPieces(all, kPiece, [&](size_t first, size_t some) {
      const char* from[3] = {};
      for (size_t k = 0; k < item.in.size(); ++k) from[k] = in[k] + first * ir::ElementBytes(TypeOf(item.in[k]).element);
      f(from, to + first * ir::ElementBytes(TypeOf(value).element), some);
    });
  };
  if (one_run) return run(out.base, count * rows);
  const Rows from[3] = {values_[item.in[0]], item.in.size() > 1 ? values_[item.in[1]] : Rows(), item.in.size() > 2 ? values_[item.in[2]] : Rows()};
  char* to = out.base;
  for (size_t i = 0; i < rows; ++i, to += out.stride) {
    for (size_t k = 0; k < item.in.size(); ++k) in[k] = from[k].Row(i);
    if (count <= kPiece) f(in, to, count);
    else run(to, count);
  }
}

void BatchRun::Elementwise(const BatchRegion::Item& item, uint32_t value) {
  TypeKind element = TypeOf(item.in[0]).element;
  Op op = item.op;
  if (op == Op::Where) {
    ForElements(TypeOf(value).element, [&](auto t) {
      using T = decltype(t);
      ForRuns(item, value, [](const char* const* in, char* out, size_t count) {
        cpu::Select(reinterpret_cast<const uint8_t*>(in[0]), reinterpret_cast<const T*>(in[1]), reinterpret_cast<const T*>(in[2]),
                    reinterpret_cast<T*>(out), count);
      });
    });
  } else if (op == Op::Not) {
    ForRuns(item, value, [](const char* const* in, char* out, size_t count) { cpu::Not(reinterpret_cast<const uint8_t*>(in[0]), reinterpret_cast<uint8_t*>(out), count); });
  } else if (ir::IsComparison(op)) {
    ForElements(element, [&](auto t) {
      using T = decltype(t);
      ForRuns(item, value, [op](const char* const* in, char* out, size_t count) {
        cpu::Compare(op, reinterpret_cast<const T*>(in[0]), reinterpret_cast<const T*>(in[1]), reinterpret_cast<uint8_t*>(out), count);
      });
    });
  } else {
    ForNumbers(element, [&](auto t) {
      using T = decltype(t);
      bool two = item.in.size() == 2, numbers = TypeOf(value).dims.empty();
      if constexpr (!std::is_same_v<T, int64_t>) {
        // Row by row what op it is should not be asked again.
        if (cpu::BinaryLoop<T> loop = two ? cpu::BinaryLoopOf<T>(op) : nullptr)
          return ForRuns(item, value, [loop](const char* const* in, char* out, size_t count) {
            loop(reinterpret_cast<const T*>(in[0]), reinterpret_cast<const T*>(in[1]), reinterpret_cast<T*>(out), count);
          });
        if (cpu::UnaryLoop<T> loop = two || numbers ? nullptr : cpu::UnaryLoopOf<T>(op))
          return ForRuns(item, value, [loop](const char* const* in, char* out, size_t count) {
            loop(reinterpret_cast<const T*>(in[0]), reinterpret_cast<T*>(out), count);
          });
      }
      ForRuns(item, value, [op, two, numbers](const char* const* in, char* out, size_t count) {
        auto* x = reinterpret_cast<const T*>(in[0]);
        if (two) cpu::Binary(op, x, reinterpret_cast<const T*>(in[1]), reinterpret_cast<T*>(out), count);
        else if (numbers) cpu::UnaryOfNumbers(op, x, reinterpret_cast<T*>(out), count);
        else cpu::Unary(op, x, reinterpret_cast<T*>(out), count);
      });
    });
  }
}

void BatchRun::Product(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type &x_type = TypeOf(item.in[0]), &y_type = TypeOf(item.in[1]);
  const ir::ProductSizes sizes = ir::SizesOfProduct(item.op, x_type.dims, y_type.dims);
  const size_t m = sizes.m, k = sizes.k, n = sizes.n;
  bool turned = item.op == Op::Gemm;  // y is given transposed
  Note(&BatchTimes::others);
  ForNumbers(x_type.element, [&](auto t) {
    using T = decltype(t);
    Rows x = values_[item.in[0]], y = values_[item.in[1]];
    auto whole = [](size_t stride) { return stride % sizeof(T) == 0; };
    auto multiply = [&](const void* a, size_t a_stride, const void* b, void* out, size_t rows) {
      auto *to = reinterpret_cast<T*>(out);
      auto *left = reinterpret_cast<const T*>(a), *right = reinterpret_cast<const T*>(b);
      if (turned) cpu::MatMulTransposed<T>({left, a_stride}, {right, k}, {to, n}, {rows, k, n});
      else cpu::MatMul<T>({left, a_stride}, {right, n}, {to, n}, {rows, k, n});
    };
    // Of a batch of one all is shared; a matrix that is kept is used all the same.
    const bool one = count_ == 1;
    const auto* y_panels = reinterpret_cast<const T*>(PanelsOf(item.in[1], turned ? KeptMatrices::As::Turned : KeptMatrices::As::Given));
    // All rows with one matrix: one product. A matrix's rows follow each other, so that those of all do if the matrices do.
    if (y.shared && (one ? y_panels != nullptr : !x.shared)) {
      if (!one && (x.at || !whole(x.stride) || (m > 1 && x.stride != m * k * sizeof(T)))) {
        x.stride = 0;
        Rows old = values_[item.in[0]];
        x = {};
        x.stride = m * k * sizeof(T);
        x.base = scratch().Take(x.stride * count_);
        for (size_t i = 0; i < count_; ++i) std::memcpy(x.base + i * x.stride, old.Row(i), x.stride);
        Note(&BatchTimes::gathers);
      }
      const Rows& out = NewRows(value, x.shared);
      size_t stride = m == 1 ? x.stride / sizeof(T) : k, rows = count_ * m;
      if (y_panels) cpu::MatMulPanels<T>({reinterpret_cast<const T*>(x.Row(0)), stride}, y_panels, {reinterpret_cast<T*>(out.base), n}, {rows, k, n});
      else multiply(x.Row(0), stride, y.Row(0), out.base, rows);
      return;
    }
    // One matrix with a column of each: a product of the columns, as rows, with the matrix turned. Factors may change places.
    const auto* x_panels = n == 1 && !turned ? reinterpret_cast<const T*>(PanelsOf(item.in[0], KeptMatrices::As::Turned)) : nullptr;
    if (x.shared && n == 1 && !turned && (one ? x_panels != nullptr : !y.shared)) {
      if (!one) y = Together(y, k * sizeof(T));
      if (whole(y.stride)) {
        if (!x_panels) {
          T* turned_here = scratch().Array<T>(m * k);
          cpu::PutTurnedIntoPanels(reinterpret_cast<const T*>(x.Row(0)), k, m, turned_here);
          x_panels = turned_here;
        }
        Note(&BatchTimes::gathers);
        const Rows& out = NewRows(value, y.shared);
        cpu::MatMulPanels<T>({reinterpret_cast<const T*>(y.Row(0)), y.stride / sizeof(T)}, x_panels, {reinterpret_cast<T*>(out.base), m}, {count_, k, m});
        return;
      }
    }
    const Rows& out = NewRows(value, x.shared && y.shared);
    for (size_t i = 0; i < CountRows(out); ++i)
      multiply(x.Row(i), k, y.Row(i), out.Row(i), m);
  });
  Note(&BatchTimes::products);
}

void BatchRun::Concat(const BatchRegion::Item& item, uint32_t value) {
  const Rows &x = values_[item.in[0]], &y = values_[item.in[1]];
  size_t left = BytesOf(TypeOf(item.in[0])), right = BytesOf(TypeOf(item.in[1]));
  const Rows& out = NewRows(value, AllShared(item));
  Note(&BatchTimes::others);
  for (size_t i = 0; i < CountRows(out); ++i) {
    char* to = out.Row(i);
    // In a chain it may have been computed there.
    if (x.Row(i) != to) std::memcpy(to, x.Row(i), left);
    if (y.Row(i) != to + left) std::memcpy(to + left, y.Row(i), right);
  }
  Note(&BatchTimes::gathers);
}

// A number, or tensor, repeated.
void BatchRun::Expand(const BatchRegion::Item& item, uint32_t value) {
  const Rows& x = values_[item.in[0]];
  const Rows& out = NewRows(value, x.shared);
  const ir::Type& type = TypeOf(value);
  size_t bytes = elements_ ? elements_ * ir::ElementBytes(type.element) : BytesOf(type);
  size_t block = x.words ? ir::ElementBytes(type.element) : BytesOf(TypeOf(item.in[0]));
  for (size_t i = 0; i < CountRows(out) && bytes > 0; ++i) {
    char* to = out.Row(i);
    std::memcpy(to, x.words ? reinterpret_cast<const char*>(&x.words[i]) : x.Row(i), block);
    for (size_t done = block; done < bytes;) {
      size_t more = std::min(done, bytes - done);
      CopyInPieces(to + done, to, more);
      done += more;
    }
  }
}

void BatchRun::SetElement(const BatchRegion::Item& item, uint32_t value) {
  const Rows &x = values_[item.in[0]], &index = values_[item.in[1]], &element = values_[item.in[2]];
  const Rows& out = NewRows(value, false);
  const ir::Type& type = TypeOf(value);
  size_t bytes = BytesOf(type), size = ir::ElementBytes(type.element);
  for (size_t i = 0; i < count_; ++i) {
    if (out.Row(i) != x.Row(i)) std::memcpy(out.Row(i), x.Row(i), bytes);  // else it is written over
    std::memcpy(out.Row(i) + static_cast<size_t>(index.words[i]) * size,
                element.words ? reinterpret_cast<const char*>(&element.words[i]) : element.Row(i), size);
  }
}

void BatchRun::Reduction(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type& type = TypeOf(item.in[0]);
  const Rows &x = values_[item.in[0]], &out = NewRows(value, AllShared(item));
  size_t rows = CountRows(out);
  auto reduce = [&](size_t first, size_t count) {
    Reduce(item.op, item.attr, type.element, type.dims, count, x.Row(first), out.Row(first));
  };
  if (!x.at && x.stride == BytesOf(type) && (rows == 1 || out.stride == BytesOf(TypeOf(value)))) return reduce(0, rows);
  for (size_t i = 0; i < rows; ++i) reduce(i, 1);
}

// By the kernel that computes it unbatched.
void BatchRun::OneByOne(const BatchRegion::Item& item, uint32_t value) {
  const Rows& out = NewRows(value, AllShared(item));
  size_t bytes = BytesOf(TypeOf(value));
  for (size_t i = 0; i < CountRows(out); ++i) {
    llvm::SmallVector<Value, 3> operands;
    for (uint32_t in : item.in) {
      const Rows& x = values_[in];
      if (x.words) {
        operands.push_back(Value::Word(x.words[i]));
        continue;
      }
      operands.push_back(Value::Adopt(ValueKind::Object, new TensorObject(TypeOf(in), x.Row(i))));
    }
    llvm::SmallVector<Value, 3> held = operands;  // an op may write into an operand that only it has
    KernelError error;
    bool failed = false;
    Value result = ApplyTensor(item.op, item.types, item.attr, operands, &error, &failed);
    std::memcpy(out.Row(i), TensorIn(result)->data(), bytes);
  }
}

// x - g * k, with the roundings of Mul and Sub. Of a g that is known by its rows the others leave x as it is (BatchPlaces::MayStayRows).
void BatchRun::Step(const BatchRegion::Step& step) {
  if (!batch_.results[step.result]) return;
  const ir::Type& type = TypeOf(step.value);
  const Rows &x = values_[step.x], &g = values_[step.g], &k = values_[step.k], &out = NewRows(step.value, false);
  const TensorObject* given = batch_.tensors[step.g];
  TensorRows* few = given && count_ == 1 ? given->rows() : nullptr;
  if (few && out.base != x.base) std::memcpy(out.base, x.base, BytesOf(type));
  ForReals(type.element, [&](auto t) {
    using T = decltype(t);
    auto descend = [](const char* from, const char* by, const int64_t& word, char* to, size_t bytes) {
      T number;
      std::memcpy(&number, &word, sizeof(T));
      cpu::Descend(reinterpret_cast<const T*>(from), reinterpret_cast<const T*>(by), number, reinterpret_cast<T*>(to), bytes / sizeof(T));
    };
    for (size_t i = 0; i < count_ && !few; ++i) descend(x.Row(i), g.Row(i), k.words[i], out.Row(i), BytesOf(type));
    for (size_t r = 0; few && r < few->count; ++r) {
      size_t at = static_cast<size_t>(few->indices()[r]) * few->row_bytes;
      descend(x.base + at, few->row(r), k.words[0], out.base + at, few->row_bytes);
    }
  });
}

// Whether BatchPlaces adds up what is known of both operands.
bool BatchRun::IsSumOfRows(uint32_t value) const {
  auto sum = llvm::find_if(region_.row_sums, [value](const BatchRegion::RowSum& s) { return s.value == value; });
  auto has_rows = [&](uint32_t k) { return batch_.tensors[k] && batch_.tensors[k]->rows(); };
  return sum != region_.row_sums.end() && count_ == 1 && has_rows(sum->x) && has_rows(sum->y);
}

void BatchRun::Compute(const BatchRegion::Item& item, uint32_t value) {
  if (item.op == Op::Add && IsSumOfRows(value)) return;
  if (View(item, value)) return;
  if (item.op == Op::MatMul || item.op == Op::Gemm) return Product(item, value);
  if (item.op == Op::Expand) return Expand(item, value);
  if (item.op == Op::SetElement) return SetElement(item, value);
  if (item.op == Op::Concat && ir::AxisOf(item.attr, TypeOf(value).dims.size()) == 0) return Concat(item, value);
  if (HasLoopOfElements(region_, item)) return Elementwise(item, value);
  if (IsReduction(item.op)) return Reduction(item, value);
  OneByOne(item, value);
}

// ---------------------------------------------------------------- chains

// The places of what a chain computes for each strip, which is so many rows, or elements of one. Those that a Concat joins come before it.
void BatchRun::FindPlaces(const BatchRegion::Stage& chain, llvm::ArrayRef<uint32_t> ops, size_t strip) {
  using Home = BatchRegion::Home;
  constexpr size_t kLine = 64;
  char* space = scratch().Take(chain.bytes * strip + (chain.slots + 1) * kLine);
  places_.resize(region_.ops.size());
  for (uint32_t op : llvm::reverse(ops)) {
    if (IsPartOfOperand(region_, region_.ops[op])) continue;
    const Home& home = region_.homes[op];
    const uint32_t value = region_.num_operands + op;
    Place& place = places_[op];
    switch (home.kind) {
      case Home::Kind::Whole: place = {NewRows(value, false), true}; break;
      case Home::Kind::Strip:
        place = {};
        place.rows.base = space + (home.before * strip + home.slot * kLine + kLine - 1) / kLine * kLine;
        place.rows.stride = BytesOf(TypeOf(value));
        break;
      case Home::Kind::Part:
        place = places_[home.slot - region_.num_operands];
        place.rows.base += home.before;
        break;
    }
  }
}

void BatchRun::Chain(const BatchRegion::Stage& chain) {
  const size_t all = count_;
  BatchTimes* times = std::exchange(times_, nullptr);
  // What all rows share is computed once, before, and is an input then.
  llvm::SmallVector<uint32_t, 32> ops;
  llvm::SmallVector<std::pair<uint32_t, Rows>, 16> inputs;
  for (uint32_t value : chain.inputs) inputs.emplace_back(value, values_[value]);
  for (uint32_t op : chain.ops) {
    const uint32_t value = region_.num_operands + op;
    values_[value] = {};
    if (all == 1 || !AllShared(region_.ops[op])) {
      ops.push_back(op);
      continue;
    }
    Compute(region_.ops[op], value);
    inputs.emplace_back(value, values_[value]);
  }
  const bool by_rows = chain.kind == BatchRegion::Stage::Kind::Rows;
  const size_t row_elements = by_rows ? 0 : CountOf(TypeOf(region_.num_operands + chain.ops[0]));
  const size_t most = std::max<size_t>(kStripBytes / std::max<size_t>(chain.bytes, 1), 1);
  const size_t strip = std::min(most, by_rows ? all : row_elements);
  FindPlaces(chain, ops, strip);
  auto compute = [&] {
    GiveUpIfAsked();
    for (auto& [value, rows] : inputs) values_[value] = Shifted(rows, value);
    for (uint32_t op : ops) Compute(region_.ops[op], region_.num_operands + op);
  };
  in_chain_ = true;
  if (by_rows) {
    for (; row_ < all; row_ += strip) {
      count_ = std::min(strip, all - row_);
      compute();
    }
  } else {
    count_ = 1;
    for (; row_ < all; ++row_)
      for (element_ = 0; element_ < row_elements; element_ += strip) {
        elements_ = std::min(strip, row_elements - element_);
        compute();
      }
  }
  in_chain_ = false;
  count_ = all;
  row_ = element_ = elements_ = 0;
  times_ = times;
  for (auto& [value, rows] : inputs) values_[value] = rows;
  for (uint32_t op : ops) {
    const uint32_t value = region_.num_operands + op;
    if (region_.homes[op].kind == BatchRegion::Home::Kind::Whole && !View(region_.ops[op], value)) values_[value] = places_[op].rows;
  }
}

// ---------------------------------------------------------------- the batch

// Results that are not where they were asked for: parts of operands, and what all rows share.
void BatchRun::HandOut() {
  auto hand_out = [&](uint32_t value, char* to) {
    const Rows& rows = values_[value];
    size_t bytes = BytesOf(TypeOf(value));
    if ((!rows.shared || count_ == 1) && !rows.at && rows.base + rows.offset == to) return;
    for (size_t i = 0; i < count_; ++i) std::memcpy(to + i * bytes, rows.Row(rows.shared ? 0 : i), bytes);
  };
  for (size_t r = 0; r < batch_.results.size(); ++r)
    if (batch_.results[r]) hand_out(region_.results[r], batch_.results[r]);
  for (size_t w = 0; w < batch_.wholes.size(); ++w) hand_out(region_.wholes[w], batch_.wholes[w]);
}

void BatchRun::Run() {
  std::copy(batch_.operands.begin(), batch_.operands.end(), values_.begin());
  for (const BatchRegion::Stage& stage : region_.stages) {
    if (stage.kind == BatchRegion::Stage::Kind::Op) Compute(region_.ops[stage.ops[0]], region_.num_operands + stage.ops[0]);
    else Chain(stage);
  }
  for (uint32_t i = 0; i < region_.ops.size() && region_.stages.empty(); ++i)
    if (region_.in_step.empty() || !region_.in_step[i]) Compute(region_.ops[i], region_.num_operands + i);
  // Last, for they may write over an operand: from here on nothing can fail.
  for (const BatchRegion::Step& step : region_.steps) Step(step);
  Note(&BatchTimes::others);
  HandOut();
  Note(&BatchTimes::gathers);
}

}  // namespace

void RunBatch(const DeviceBatch& batch, const KeptMatrices& kept) { BatchRun(batch, kept).Run(); }

}  // namespace df
