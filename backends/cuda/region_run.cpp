// See region_run.h. First what is to be launched is worked out, which needs places and no elements; then the places of rows and the indices that
// the kernels read go over in one copy, and the kernels follow.
#include "backends/cuda/region_run.h"

#include <functional>
#include <memory>

#include "backends/cuda/batch_memory.h"
#include "backends/cuda/region_chains.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/ops/tensor_kernels.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"

namespace df::cuda {
namespace {

using ir::Op;
using ir::TypeKind;

size_t CountOf(const ir::Type& type) { return static_cast<size_t>(ir::ElementCount(type.dims)); }
Element ElementOf(TypeKind element) {
  switch (element) {
    case TypeKind::Float: return Element::Float;
    case TypeKind::Double: return Element::Double;
    case TypeKind::Bool: return Element::Bool;
    default: return Element::Int;
  }
}
Axis AxisIn(const ir::Type& type, uint32_t attr) {
  size_t axis = ir::AxisOf(attr, type.dims.size());
  Axis view;
  for (size_t i = 0; i < axis; ++i) view.outer *= static_cast<size_t>(type.dims[i]);
  view.length = static_cast<size_t>(type.dims[axis]);
  for (size_t i = axis + 1; i < type.dims.size(); ++i) view.inner *= static_cast<size_t>(type.dims[i]);
  return view;
}

class RegionRun {
 public:
  RegionRun(CudaDevice& device, const DeviceBatch& batch)
      : device_(device), memory_(device), batch_(batch), region_(*batch.region), values_(region_.values.size()), last_use_(region_.values.size(), 0) {}
  void Run();

 private:
  // A value of the region: somewhere, or a node of a chain that waits.
  struct Place {
    df::Rows rows;
    int chain = -1;
    uint32_t node = 0;
    const char* const* at_on_card = nullptr;  // rows.at, or rows.words, if they were sent
  };

  const ir::Type& TypeOf(uint32_t value) const { return *region_.values[value].tensor; }
  bool IsWord(uint32_t value) const { return region_.values[value].tensor == nullptr; }
  bool AllShared(const BatchRegion::Item& item) const {
    return llvm::all_of(item.in, [&](uint32_t in) { return values_[in].rows.shared; });
  }
  size_t RowsOf(bool shared) const { return shared ? 1 : batch_.rows; }
  void Then(std::function<void(Stream)> launch) { launches_.push_back(std::move(launch)); }

  // Where kernels find the rows of a value.
  cuda::Rows OnCard(uint32_t value);
  // The same, behind each other.
  cuda::Rows Together(uint32_t value);
  // An array of places that stays as long as this.
  DeviceAddress* Places() {
    places_.push_back(std::make_unique<DeviceAddress[]>(batch_.rows));
    return places_.back().get();
  }
  // Where an op's result goes: to its place if the region gives it.
  char* NewRows(uint32_t value, bool shared);
  // The same for a value whose rows may have gaps: a part of a Concat goes where the Concat wants it.
  void NewRowsInPart(uint32_t value, bool shared);
  void FindParts();
  char* ResultPlace(uint32_t value) const {
    for (size_t r = 0; r < region_.results.size(); ++r)
      if (region_.results[r] == value) return batch_.results[r];
    return nullptr;
  }

  void Settle(uint32_t value) {
    if (values_[value].chain >= 0) Flush(values_[value].chain);
  }
  void Flush(int chain);
  int ChainFor(const BatchRegion::Item& item, size_t length, bool shared, std::optional<Element> element);
  bool Elementwise(const BatchRegion::Item& item, uint32_t value);
  bool View(const BatchRegion::Item& item, uint32_t value);
  void Product(const BatchRegion::Item& item, uint32_t value);
  void Reduction(const BatchRegion::Item& item, uint32_t value);
  void Concat(const BatchRegion::Item& item, uint32_t value);
  void Columns(const BatchRegion::Item& item, uint32_t value);
  void Transposed(const BatchRegion::Item& item, uint32_t value);
  void SetOne(const BatchRegion::Item& item, uint32_t value);
  void OneHotRows(const BatchRegion::Item& item, uint32_t value);
  void OnHost(const BatchRegion::Item& item, uint32_t value);
  void Compute(const BatchRegion::Item& item, uint32_t value);
  void HandOut();

  CudaDevice& device_;
  BatchMemory memory_;
  const DeviceBatch& batch_;
  const BatchRegion& region_;
  llvm::SmallVector<Place, 32> values_;
  llvm::SmallVector<uint32_t, 32> last_use_;  // the op behind the last that uses a value
  // Of a value that only a Concat of vectors uses: it, and how many bytes lie before the value there.
  struct Part {
    uint32_t whole = UINT32_MAX;
    size_t offset = 0;
  };
  llvm::SmallVector<Part, 32> part_of_;
  llvm::SmallVector<bool, 32> has_room_;      // values that got it before they were computed, for their parts
  uint32_t at_ = 0;                           // the op at hand
  std::vector<OpenChain> chains_;
  std::vector<bool> closed_;                  // of them
  std::vector<std::function<void(Stream)>> launches_;
  std::vector<std::unique_ptr<DeviceAddress[]>> places_;
};

// ---------------------------------------------------------------- places

cuda::Rows RegionRun::OnCard(uint32_t value) {
  Place& place = values_[value];
  const df::Rows& rows = place.rows;
  if (rows.words) {
    if (!place.at_on_card) place.at_on_card = reinterpret_cast<const char* const*>(memory_.Send(rows.words, batch_.rows));
    return {reinterpret_cast<const char*>(place.at_on_card), sizeof(int64_t)};
  }
  if (!rows.at) return {rows.base, rows.shared ? 0 : rows.stride, nullptr, rows.offset};
  if (!place.at_on_card) place.at_on_card = memory_.Send(rows.at, batch_.rows);
  return {nullptr, 0, place.at_on_card, rows.offset};
}

cuda::Rows RegionRun::Together(uint32_t value) {
  const df::Rows& rows = values_[value].rows;
  size_t bytes = BytesOf(TypeOf(value));
  if (rows.shared || (!rows.at && rows.stride == bytes)) return OnCard(value);
  char* to = memory_.Scratch(bytes * batch_.rows);
  Blocks blocks{OnCard(value), 0, bytes, 1, to, 0, bytes, ir::ElementBytes(TypeOf(value).element)};
  Then([blocks, count = batch_.rows](Stream stream) { Copy(blocks, count, stream); });
  return {to, bytes};
}

char* RegionRun::NewRows(uint32_t value, bool shared) {
  size_t bytes = BytesOf(TypeOf(value));
  char* to = RowsOf(shared) == batch_.rows ? ResultPlace(value) : nullptr;
  if (!to) to = memory_.Scratch(bytes * RowsOf(shared));
  values_[value].rows = {};
  values_[value].rows.base = to;
  values_[value].rows.stride = bytes;
  values_[value].rows.shared = shared;
  return to;
}

// Parts are known when the region begins: an op's value that a Concat of rows behind each other uses, and nothing else.
void RegionRun::FindParts() {
  llvm::SmallVector<uint32_t, 32> uses(region_.values.size(), 0);
  for (const BatchRegion::Item& item : region_.ops)
    for (uint32_t in : item.in) ++uses[in];
  for (uint32_t value : region_.results) uses[value] += 2;
  part_of_.resize(region_.values.size());
  has_room_.assign(region_.values.size(), false);
  for (uint32_t i = 0; i < region_.ops.size(); ++i) {
    const BatchRegion::Item& item = region_.ops[i];
    if (item.op != Op::Concat || AxisIn(TypeOf(item.in[0]), item.attr).outer != 1) continue;
    size_t offset = 0;
    for (uint32_t in : item.in) {
      if (in >= region_.num_operands && uses[in] == 1) part_of_[in] = {region_.num_operands + i, offset};
      offset += BytesOf(TypeOf(in));
    }
  }
}

void RegionRun::NewRowsInPart(uint32_t value, bool shared) {
  const Part part = part_of_[value];
  // Of what all rows share each row needs a copy of its own there.
  if (shared || part.whole == UINT32_MAX || has_room_[value]) {
    if (!has_room_[value]) NewRows(value, shared);
    return;
  }
  if (!has_room_[part.whole]) {
    NewRowsInPart(part.whole, false);
    has_room_[part.whole] = true;
  }
  values_[value].rows = values_[part.whole].rows;
  values_[value].rows.offset += part.offset;
}

// Ops whose result is a part of an operand, or the operand.
bool RegionRun::View(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type& result = TypeOf(value);
  uint32_t x = item.in[0];
  bool same = item.op == Op::Reshape || (item.op == Op::Convert && !IsWord(x) && TypeOf(x).element == result.element);
  if (same) {
    values_[value] = values_[x];
    if (values_[x].chain >= 0) chains_[static_cast<size_t>(values_[x].chain)].nodes[values_[x].node].values.push_back(value);
    return true;
  }
  switch (item.op) {
    case Op::Slice: {
      const ir::Type& from = TypeOf(x);
      if (ir::AxisOf(item.attr & (ir::kFromEnd - 1), from.dims.size()) != 0) return false;
      Settle(x);
      values_[value] = values_[x];
      if (item.attr & ir::kFromEnd) values_[value].rows.offset += BytesOf(from) - BytesOf(result);
      return true;
    }
    // Rows of a table, elements.
    case Op::Gather:
    case Op::SliceAt:
    case Op::GetElement: {
      if (!IsWord(item.in[1])) return false;
      Settle(x);
      const ir::Type& from = TypeOf(x);
      const df::Rows &rows = values_[x].rows, &index = values_[item.in[1]].rows;
      auto steps = static_cast<size_t>(item.op == Op::GetElement ? ir::ElementCount(from.dims) : from.dims[0]);
      size_t step = steps ? BytesOf(from) / steps : 0;
      DeviceAddress* at = Places();
      for (size_t i = 0; i < batch_.rows; ++i) at[i] = rows.Row(rows.shared ? 0 : i) + static_cast<size_t>(index.words[i]) * step;
      values_[value].rows.at = at;
      return true;
    }
    default: return false;
  }
}

// ---------------------------------------------------------------- elementwise

// The chain that waits and suits the op; a new one if there is none. Prefers one that has an operand.
int RegionRun::ChainFor(const BatchRegion::Item& item, size_t length, bool shared, std::optional<Element> element) {
  auto suits = [&](int c) {
    const OpenChain& chain = chains_[static_cast<size_t>(c)];
    return !closed_[static_cast<size_t>(c)] && chain.length == length && chain.shared == shared &&
           (!chain.element || !element || chain.element == element);
  };
  int found = -1;
  for (uint32_t in : item.in)
    if (values_[in].chain >= 0 && suits(values_[in].chain)) found = values_[in].chain;
  for (int c = 0; c < static_cast<int>(chains_.size()) && found < 0; ++c)
    if (suits(c)) found = c;
  if (found >= 0 && !chains_[static_cast<size_t>(found)].HasRoom()) {
    Flush(found);
    found = -1;
  }
  if (found < 0) {
    found = static_cast<int>(chains_.size());
    chains_.push_back({length, shared});
    closed_.push_back(false);
  }
  if (element) chains_[static_cast<size_t>(found)].element = element;
  return found;
}

bool RegionRun::Elementwise(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type& result = TypeOf(value);
  // The host computes it (UnaryOfNumbers of backends/cpu/elementwise.h).
  if (result.dims.empty() && ir::IsOfLibmOnNumbers(item.op)) return false;
  bool expand = item.op == Op::Expand;
  if (!expand && llvm::any_of(item.in, [&](uint32_t in) { return IsWord(in); })) return false;
  bool compare = ir::IsComparison(item.op);
  Element of = ElementOf(compare ? TypeOf(item.in[0]).element : result.element);
  std::optional<Element> element;
  if (of != Element::Bool) element = of;
  if (!expand && !CanChain(item.op, element.value_or(Element::Float))) return false;
  size_t length = CountOf(result);
  if (length == 0 || length > UINT32_MAX) return false;
  // Words are of each activation.
  bool shared = AllShared(item);
  int c = ChainFor(item, length, shared, element);
  llvm::SmallVector<uint32_t, 3> in;
  for (uint32_t x : item.in) {
    if (values_[x].chain >= 0 && (values_[x].chain != c || (expand && CountOf(TypeOf(x)) != length))) {
      bool own = values_[x].chain == c;
      Settle(x);
      if (own) c = ChainFor(item, length, shared, element);
    }
    OpenChain& chain = chains_[static_cast<size_t>(c)];
    if (values_[x].chain == c) {
      in.push_back(values_[x].node);
      continue;
    }
    Chain::Input input;
    input.rows = OnCard(x);
    input.period = IsWord(x) ? 1 : static_cast<uint32_t>(CountOf(TypeOf(x)));
    input.element = IsWord(x) ? ElementOf(result.element) : ElementOf(TypeOf(x).element);
    in.push_back(chain.Load(x, input));
  }
  OpenChain& chain = chains_[static_cast<size_t>(c)];
  uint32_t node = expand ? in[0] : chain.Apply(item.op, in);
  chain.nodes[node].values.push_back(value);
  values_[value].chain = c;
  values_[value].node = node;
  values_[value].rows.shared = shared;
  return true;
}

// Computes a chain: of its values those that are used from here on, or that the region gives, are stored.
void RegionRun::Flush(int number) {
  OpenChain& chain = chains_[static_cast<size_t>(number)];
  closed_[static_cast<size_t>(number)] = true;
  llvm::SmallVector<ChainStore, 16> stores;
  for (uint32_t n = 0; n < chain.nodes.size(); ++n) {
    OpenChain::Node& node = chain.nodes[n];
    uint32_t first = UINT32_MAX;  // the value that is stored; the others are where it is
    for (uint32_t value : node.values) {
      bool given = ResultPlace(value) != nullptr;
      if (!given && last_use_[value] <= at_) continue;
      if (first == UINT32_MAX || given) first = value;
    }
    if (first == UINT32_MAX) {
      for (uint32_t value : node.values) values_[value].chain = -1;
      continue;
    }
    Element element = ElementOf(TypeOf(first).element);
    NewRowsInPart(first, chain.shared);
    const df::Rows& rows = values_[first].rows;
    stores.push_back({n, {rows.base + rows.offset, chain.shared ? 0 : rows.stride, element}});
    for (uint32_t value : node.values) {
      values_[value].rows = values_[first].rows;
      values_[value].chain = -1;
    }
  }
  for (Chain& made : Assemble(chain, RowsOf(chain.shared), stores))
    Then([chain = std::make_shared<Chain>(made)](Stream stream) { cuda::Run(*chain, stream); });
}

// ---------------------------------------------------------------- other ops

void RegionRun::Product(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type &x_type = TypeOf(item.in[0]), &y_type = TypeOf(item.in[1]);
  const ir::ProductSizes sizes = ir::SizesOfProduct(item.op, x_type.dims, y_type.dims);
  const size_t m = sizes.m, k = sizes.k, n = sizes.n;
  bool turned = item.op == Op::Gemm;  // y is given transposed
  Element element = ElementOf(x_type.element);
  size_t size = cuda::BytesOf(element);
  const df::Rows &x = values_[item.in[0]].rows, &y = values_[item.in[1]].rows;
  bool x_shared = x.shared, y_shared = y.shared;
  cuda::Product p;
  p.element = element;
  p.k = k;
  if (element != Element::Int && y_shared) {
    // All rows with one matrix: one product of all. Of matrices the rows follow each other.
    p.x = m > 1 ? Together(item.in[0]) : OnCard(item.in[0]);
    if (m > 1 || x_shared) p.x.stride = k * size;
    p.y = OnCard(item.in[1]);
    p.y.stride = (turned ? k : n) * size;
    p.y_turned = turned;
    p.m = m * RowsOf(x_shared);
    p.n = n;
    p.out = NewRows(value, x_shared);
  } else if (element != Element::Int && x_shared && n == 1) {
    // One matrix with a column of each: the columns, as rows, with the matrix turned. Factors may change places.
    p.x = OnCard(item.in[1]);
    p.y = OnCard(item.in[0]);
    p.y.stride = k * size;
    p.y_turned = true;
    p.m = batch_.rows;
    p.n = m;
    p.out = NewRows(value, false);
  } else {
    bool shared = x_shared && y_shared;
    EachProduct each;
    each.element = element;
    each.x = OnCard(item.in[0]);
    each.y = OnCard(item.in[1]);
    each.y_turned = turned;
    each.rows = RowsOf(shared);
    each.m = m, each.k = k, each.n = n;
    each.out = NewRows(value, shared);
    return Then([each](Stream stream) { cuda::Run(each, stream); });
  }
  Then([p](Stream stream) { cuda::Run(p, stream); });
}

// Sums, largest elements, softmax, layer norm.
void RegionRun::Reduction(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type& type = TypeOf(item.in[0]);
  Element element = ElementOf(type.element);
  bool shared = AllShared(item);
  size_t rows = RowsOf(shared);
  cuda::Rows x = OnCard(item.in[0]);
  if (item.op == Op::LayerNormalization) {
    ScaleAndBias by{OnCard(item.in[1]), OnCard(item.in[2])};
    Axis axis = AxisIn(type, ir::kLastAxis);
    char* out = NewRows(value, shared);
    return Then([=](Stream stream) { LayerNorm(element, x, by, axis, out, rows, stream); });
  }
  Axis axis = item.op == Op::ArgMax || item.op == Op::Softmax || item.op == Op::LogSoftmax || item.attr != ir::kAllAxes ? AxisIn(type, item.attr)
                                                                                                                        : Axis{1, CountOf(type), 1};
  char* out = NewRows(value, shared);
  if (item.op == Op::Softmax || item.op == Op::LogSoftmax)
    return Then([=, logarithm = item.op == Op::LogSoftmax](Stream stream) { Softmax(element, x, axis, logarithm, out, rows, stream); });
  cuda::Reduction how = item.op == Op::ReduceSum    ? cuda::Reduction::Sum
                        : item.op == Op::ReduceMean ? cuda::Reduction::Mean
                        : item.op == Op::ReduceMax  ? cuda::Reduction::Max
                        : item.op == Op::ReduceMin  ? cuda::Reduction::Min
                                                    : cuda::Reduction::ArgMax;
  Then([=](Stream stream) { Reduce(how, element, x, axis, out, rows, stream); });
}

void RegionRun::Concat(const BatchRegion::Item& item, uint32_t value) {
  bool shared = AllShared(item);
  Axis a = AxisIn(TypeOf(item.in[0]), item.attr), b = AxisIn(TypeOf(item.in[1]), item.attr);
  size_t size = ir::ElementBytes(TypeOf(value).element), left = a.length * a.inner * size, right = b.length * b.inner * size;
  NewRowsInPart(value, shared);
  const df::Rows& rows = values_[value].rows;
  char* to = rows.base + rows.offset;
  for (uint32_t k = 0; k < 2; ++k) {
    const df::Rows& part = values_[item.in[k]].rows;
    char* out = to + (k ? left : 0);
    if (!shared && !part.shared && !part.at && !part.words && part.base + part.offset == out && part.stride == rows.stride) continue;  // it was computed there
    size_t bytes = k ? right : left;
    Blocks blocks{OnCard(item.in[k]), bytes, bytes, a.outer, out, left + right, rows.stride, size};
    Then([blocks, count = RowsOf(shared)](Stream stream) { Copy(blocks, count, stream); });
  }
}

// A slice along another axis than the first.
void RegionRun::Columns(const BatchRegion::Item& item, uint32_t value) {
  bool shared = AllShared(item);
  uint32_t number = item.attr & (ir::kFromEnd - 1);
  Axis from = AxisIn(TypeOf(item.in[0]), number), to = AxisIn(TypeOf(value), number);
  size_t size = ir::ElementBytes(TypeOf(value).element), block = from.inner * size;
  Blocks blocks{OnCard(item.in[0]), from.length * block, to.length * block, from.outer, nullptr, to.length * block, BytesOf(TypeOf(value)), size};
  if (item.attr & ir::kFromEnd) blocks.x.offset += (from.length - to.length) * block;
  blocks.out = NewRows(value, shared);
  Then([blocks, rows = RowsOf(shared)](Stream stream) { Copy(blocks, rows, stream); });
}

void RegionRun::Transposed(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type& type = TypeOf(item.in[0]);
  bool shared = AllShared(item);
  Order order;
  order.rank = static_cast<uint32_t>(type.dims.size());
  auto axes = ir::OrderOfAxes(item.attr, type.dims.size());
  for (uint32_t i = 0; i < order.rank; ++i) {
    order.dims[i] = static_cast<size_t>(type.dims[axes[i]]);
    order.strides[i] = 1;
    for (size_t j = axes[i] + 1u; j < type.dims.size(); ++j) order.strides[i] *= static_cast<size_t>(type.dims[j]);
  }
  cuda::Rows x = OnCard(item.in[0]);
  char* out = NewRows(value, shared);
  Then([=, size = ir::ElementBytes(type.element), rows = RowsOf(shared)](Stream stream) { Transpose(x, order, size, out, rows, stream); });
}

void RegionRun::SetOne(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type& type = TypeOf(value);
  size_t bytes = BytesOf(type), size = ir::ElementBytes(type.element);
  Blocks blocks{OnCard(item.in[0]), 0, bytes, 1, nullptr, 0, bytes, size};
  cuda::Rows index = OnCard(item.in[1]), element = OnCard(item.in[2]);
  blocks.out = NewRows(value, false);
  Then([=, rows = batch_.rows](Stream stream) {
    Copy(blocks, rows, stream);
    SetElement(index, element, size, blocks.out, bytes, rows, stream);
  });
}

void RegionRun::OneHotRows(const BatchRegion::Item& item, uint32_t value) {
  const ir::Type& type = TypeOf(value);
  bool shared = AllShared(item);
  size_t size = static_cast<size_t>(type.dims.back()), each = size ? CountOf(type) / size : 0;
  cuda::Rows indices = OnCard(item.in[0]);
  char* out = NewRows(value, shared);
  Then([=, element = ElementOf(type.element), rows = RowsOf(shared)](Stream stream) { OneHot(element, indices, each, size, out, rows, stream); });
}

// By the host's kernel: the operands come over, which waits for them, and the result goes back.
void RegionRun::OnHost(const BatchRegion::Item& item, uint32_t value) {
  bool shared = AllShared(item);
  size_t rows = RowsOf(shared), bytes = BytesOf(TypeOf(value));
  llvm::SmallVector<cuda::Rows, 3> in;
  for (uint32_t x : item.in) in.push_back(IsWord(x) ? cuda::Rows{} : Together(x));
  char* out = NewRows(value, shared);
  Then([this, &item, in, out, rows, bytes](Stream stream) {
    std::vector<std::vector<char>> elements(in.size());
    for (size_t k = 0; k < in.size(); ++k) {
      uint32_t x = item.in[k];
      if (IsWord(x)) continue;
      elements[k].resize(std::max<size_t>(BytesOf(TypeOf(x)) * RowsOf(values_[x].rows.shared), 1));
      CopyToHost(elements[k].data(), in[k].base + in[k].offset, BytesOf(TypeOf(x)) * RowsOf(values_[x].rows.shared), stream);
    }
    cuda::Synchronise(stream);
    std::vector<char> results(rows * bytes);
    for (size_t i = 0; i < rows; ++i) {
      llvm::SmallVector<Value, 3> operands;
      for (size_t k = 0; k < in.size(); ++k) {
        uint32_t x = item.in[k];
        const df::Rows& place = values_[x].rows;
        if (IsWord(x)) operands.push_back(Value::Word(place.words[i]));
        else
          operands.push_back(Value::Adopt(ValueKind::Object, new TensorObject(TypeOf(x), elements[k].data() + (place.shared ? 0 : i * BytesOf(TypeOf(x))))));
      }
      llvm::SmallVector<Value, 3> held = operands;  // an op may write into an operand that only it has
      KernelError error;
      bool failed = false;
      Value result = ApplyTensor(item.op, item.types, item.attr, operands, &error, &failed);
      std::memcpy(results.data() + i * bytes, TensorIn(result)->data(), bytes);
    }
    device_.Upload(out, results.data(), results.size());
  });
}

void RegionRun::Compute(const BatchRegion::Item& item, uint32_t value) {
  if (View(item, value) || Elementwise(item, value)) return;
  for (uint32_t in : item.in) Settle(in);
  auto real = [&](uint32_t x) { return !IsWord(x) && (TypeOf(x).element == TypeKind::Float || TypeOf(x).element == TypeKind::Double); };
  using ir::Shape;
  switch (ir::FactsOf(item.op).shape) {
    case Shape::Product:
    case Shape::ProductTransposed: return Product(item, value);
    case Shape::Reduced:
    case Shape::IndexOfLargest:
    case Shape::Normalised: return Reduction(item, value);
    case Shape::AlongAxis:  // the logarithm of Doubles is that of libm
      if (item.op == Op::LogSoftmax && TypeOf(item.in[0]).element != TypeKind::Float) break;
      return Reduction(item, value);
    case Shape::Joined: return Concat(item, value);
    case Shape::Sliced: return Columns(item, value);
    case Shape::Permuted: return Transposed(item, value);
    case Shape::ElementSet: return SetOne(item, value);
    case Shape::Marked: return OneHotRows(item, value);
    case Shape::Elementwise:
      if (item.op == Op::Convert && (real(item.in[0]) || (!IsWord(item.in[0]) && TypeOf(item.in[0]).element == TypeKind::Int))) {
        bool shared = AllShared(item);
        cuda::Rows x = OnCard(item.in[0]);
        char* out = NewRows(value, shared);
        return Then([=, from = ElementOf(TypeOf(item.in[0]).element), to = ElementOf(TypeOf(value).element), rows = RowsOf(shared),
                     count = CountOf(TypeOf(value))](Stream stream) { cuda::Convert(x, from, to, out, rows, count, stream); });
      }
      break;  // what is in no chain
    case Shape::Chosen:
    case Shape::Repeated:
      break;  // of no elements
    case Shape::Reshaped:
    case Shape::Gathered:
    case Shape::SlicedAt:
    case Shape::ElementOf:
      break;  // what is no part of an operand
    case Shape::NoTensors:
    case Shape::Passed:
    case Shape::Scattered:
    case Shape::Counted:
    case Shape::Summed:
    case Shape::Sized:
    case Shape::DimOf:
    case Shape::Shown:
    case Shape::Random:
      break;  // in no batch
    case Shape::OfMatrices:
      break;  // triangles; all others are computed one by one, before a device is asked
  }
  OnHost(item, value);
}

void RegionRun::HandOut() {
  for (size_t r = 0; r < region_.results.size(); ++r) {
    uint32_t value = region_.results[r];
    char* to = batch_.results[r];
    if (!to) continue;
    const df::Rows& rows = values_[value].rows;
    size_t bytes = BytesOf(TypeOf(value));
    bool in_order = batch_.rows == 1 || (!rows.shared && rows.stride == bytes);
    if (!rows.at && in_order && rows.base + rows.offset == to) continue;
    Blocks blocks{OnCard(value), 0, bytes, 1, to, 0, bytes, ir::ElementBytes(TypeOf(value).element)};
    Then([blocks, count = batch_.rows](Stream stream) { Copy(blocks, count, stream); });
  }
}

void RegionRun::Run() {
  for (uint32_t k = 0; k < region_.num_operands; ++k) values_[k].rows = batch_.operands[k];
  for (uint32_t i = 0; i < region_.ops.size(); ++i)
    for (uint32_t in : region_.ops[i].in) last_use_[in] = i + 1;
  FindParts();
  for (at_ = 0; at_ < region_.ops.size(); ++at_) Compute(region_.ops[at_], region_.num_operands + at_);
  for (size_t c = 0; c < chains_.size(); ++c)
    if (!closed_[c]) Flush(static_cast<int>(c));
  HandOut();
  memory_.SendAll();
  for (auto& launch : launches_) launch(device_.stream());
}

}  // namespace

void RunRegion(CudaDevice& device, const DeviceBatch& batch) { RegionRun(device, batch).Run(); }

}  // namespace df::cuda
