// See batch_places.h.
#include "runtime/batch/batch_places.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "runtime/batch/batch.h"
#include "runtime/ops/add_rows.h"

namespace df {

// Nothing of what was noted long ago is in a cache: so many rows ahead it is asked for.
static constexpr size_t kTensorsAhead = 16;
// A table may be so many times as large as the rows of it that a batch hands out.
static constexpr size_t kTableOfResults = 8;

// Where operand k of each activation is.
Rows BatchPlaces::Find(const BatchRegion& region, llvm::ArrayRef<Deferred*> batch, uint32_t k) {
  Rows rows;
  size_t count = batch.size();
  if (!region.values[k].tensor) {
    std::vector<int64_t>& words = words_[k];
    words.resize(count);
    for (size_t i = 0; i < count; ++i) words[i] = batch[i]->operands()[k].word;
    rows.words = words.data();
    return rows;
  }
  TensorObject& first = *batch[0]->operands()[k].tensor;
  bool shared = true;
  for (size_t i = 1; i < count && shared; ++i) shared = batch[i]->operands()[k].tensor == &first;
  if (shared) {
    shared_[k] = &first;
    rows.shared = true;
    if (count == 1 && MayStayRows(region, *batch[0], k)) return rows;
    rows.base = device_.is_host() ? first.data() : first.AddressOn(device_);
    if (!rows.base) rows.base = copies_.Of(first);
    return rows;
  }
  std::vector<DeviceAddress>& at = addresses_[k];
  at.resize(count);
  if (device_.is_host()) {
    for (size_t i = 0; i < count; ++i) {
      if (i + kTensorsAhead < count) __builtin_prefetch(batch[i + kTensorsAhead]->operands()[k].tensor);
      at[i] = batch[i]->operands()[k].tensor->data();
    }
  } else {
    FindAddresses(region, batch, k);
  }
  // Rows of one block, perhaps.
  ptrdiff_t stride = at[1] - at[0];
  bool even = stride > 0;
  for (size_t i = 2; i < count && even; ++i) even = at[i] - at[i - 1] == stride;
  if (even) {
    rows.base = at[0];
    rows.stride = static_cast<size_t>(stride);
  } else {
    rows.at = at.data();
  }
  return rows;
}

// The rows of g that are not known are 0, and x - 0 * number is x, bit for bit, if the number is finite and its sign is not set. (0 * -1 is -0,
// and -0 - -0 is 0.)
bool BatchPlaces::MayStayRows(const BatchRegion& region, Deferred& row, uint32_t k) const {
  auto has_rows = [&](uint32_t operand) { return row.operands()[operand].tensor->rows() != nullptr; };
  if (!device_.is_host() || !has_rows(k)) return false;
  for (const BatchRegion::RowSum& sum : region.row_sums)
    if (k == sum.x || k == sum.y) return has_rows(k == sum.x ? sum.y : sum.x);
  auto step = llvm::find_if(region.steps, [k](const BatchRegion::Step& s) { return s.g == k; });
  if (step == region.steps.end()) return false;
  const Value number = Value::Word(row.operands()[step->k].word);
  double value = region.values[step->k].word == ir::TypeKind::Float ? static_cast<double>(number.as_float()) : number.as_double();
  return std::isfinite(value) && !std::signbit(value);
}

// Weights that only this step holds, as those of the step before are when its gradient has been computed; a tensor that is filled.
DeviceAddress BatchPlaces::Overwritable(uint32_t x, uint32_t result, Deferred& row) const {
  TensorObject& tensor = *row.operands()[x].tensor;
  return row.results()[result] && tensor.refs.IsOne() && tensor.IsOverwritable() ? tensor.data() : nullptr;
}

bool BatchPlaces::StayInTable(const BatchRegion& region, const BatchRegion::TableRow& row, size_t count) const {
  if (!device_.is_host() || !operands_[row.table].shared) return false;
  return region.values[row.table].count <= kTableOfResults * count * region.values[region.results[row.result]].count;
}

// On a device with memory of its own.
void BatchPlaces::FindAddresses(const BatchRegion& region, llvm::ArrayRef<Deferred*> batch, uint32_t k) {
  std::vector<DeviceAddress>& at = addresses_[k];
  packed_.clear();
  constexpr size_t kBlocksAhead = 8;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (i + kTensorsAhead < batch.size()) __builtin_prefetch(batch[i + kTensorsAhead]->operands()[k].tensor);
    if (i + kBlocksAhead < batch.size()) batch[i + kBlocksAhead]->operands()[k].tensor->Prefetch();
    TensorObject& tensor = *batch[i]->operands()[k].tensor;
    at[i] = tensor.AddressOn(device_);
    if (!at[i] && tensor.bytes() >= kLarge) at[i] = copies_.Of(tensor);
    if (!at[i]) packed_.insert(packed_.end(), tensor.data(), tensor.data() + tensor.bytes());
  }
  // A tensor without elements has an address as well.
  if (llvm::all_of(at, [](DeviceAddress address) { return address != nullptr; })) return;
  DeviceAddress next = device_.Allocate(packed_.size());
  passing_.emplace_back(next, packed_.size());
  device_.Upload(next, packed_.data(), packed_.size());
  size_t bytes = batch[0]->operands()[k].tensor->bytes();
  for (DeviceAddress& address : at) {
    if (address) continue;
    address = next;
    next += bytes;
  }
}

namespace {

constexpr size_t kAhead = 8;  // rows

// The blocks of a batch's results; nobody else holds them before they are handed out.
struct Blocks {
  llvm::SmallVector<TensorBlock*, 4> all;
  ~Blocks() {
    for (TensorBlock* block : all)
      if (block) block->Release();
  }
};

// Sums whose operands `Find` left as rows; nobody else holds them before they are handed out.
class RowSums {
 public:
  RowSums(const BatchRegion& region, llvm::ArrayRef<Deferred*> batch) {
    if (batch.size() != 1) return;
    for (const BatchRegion::RowSum& sum : region.row_sums) {
      TensorObject &x = *batch[0]->operands()[sum.x].tensor, &y = *batch[0]->operands()[sum.y].tensor;
      if (x.rows() && y.rows() && batch[0]->results()[sum.result]) all_.emplace_back(sum.result, AddRows(*x.rows(), *y.rows(), x.element()));
    }
  }

  bool Has(size_t result) const {
    return llvm::any_of(all_, [result](const auto& sum) { return sum.first == result; });
  }
  void HandOut(Deferred& row) {
    for (auto& [result, rows] : all_) row.results()[result]->ComputedAs(rows.release());
  }

 private:
  struct Free {
    void operator()(TensorRows* rows) const { TensorRows::Free(rows); }
  };
  std::vector<std::pair<uint32_t, std::unique_ptr<TensorRows, Free>>> all_;  // by result
};

// visit(operand, result): the result may be where the operand was.
template <typename Visit>
void ForEachOverwritten(const BatchRegion& region, Visit visit) {
  for (const BatchRegion::Step& step : region.steps) visit(step.x, step.result);
  for (const BatchRegion::Overwrite& overwrite : region.overwrites) visit(overwrite.x, overwrite.result);
}

}  // namespace

void BatchPlaces::Run(const BatchRegion& region, llvm::ArrayRef<Deferred*> rows, BatchTimes* times) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point began;
  if (times) began = Clock::now();
  operands_.resize(region.num_operands);
  shared_.assign(region.num_operands, nullptr);
  if (addresses_.size() < region.num_operands) {
    addresses_.resize(region.num_operands);
    words_.resize(region.num_operands);
  }
  auto free_passing = llvm::make_scope_exit([&] {
    for (auto [address, bytes] : passing_) device_.Free(address, bytes);
    passing_.clear();
  });
  for (uint32_t k = 0; k < region.num_operands; ++k) operands_[k] = Find(region, rows, k);
  Blocks blocks, wholes;
  RowSums row_sums(region, rows);
  results_.clear();
  wholes_.clear();
  overwritten_.assign(region.results.size(), kNone);
  auto bytes_of = [&](uint32_t value) { return region.values[value].count * ir::ElementBytes(region.values[value].tensor->element); };
  for (size_t r = 0; r < region.results.size(); ++r) {
    bool wanted = false;
    for (Deferred* row : rows) wanted |= row->results()[r] != nullptr;
    blocks.all.push_back(nullptr);
    results_.push_back(nullptr);
    if (device_.is_host() && rows.size() == 1)
      ForEachOverwritten(region, [&](uint32_t x, uint32_t result) {
        if (result != r || results_[r] || llvm::is_contained(overwritten_, x)) return;
        if ((results_[r] = Overwritable(x, result, *rows[0]))) overwritten_[r] = x;
      });
    auto in_table = llvm::find_if(region.table_rows, [r](const BatchRegion::TableRow& t) { return t.result == r; });
    wanted &= !llvm::any_of(region.parts, [r](const BatchRegion::Part& p) { return p.result == r; });
    wanted &= !results_[r] && !row_sums.Has(r) && (in_table == region.table_rows.end() || !StayInTable(region, *in_table, rows.size()));
    if (wanted) blocks.all.back() = TensorBlock::New(device_, bytes_of(region.results[r]) * rows.size());
    if (wanted) results_[r] = blocks.all.back()->address();
  }
  for (uint32_t value : region.wholes) {
    wholes.all.push_back(TensorBlock::New(device_, bytes_of(value) * rows.size()));
    wholes_.push_back(wholes.all.back()->address());
  }
  if (times) times->gathers += std::chrono::duration<double>(Clock::now() - began).count();
  device_.Run({&region, rows.size(), operands_, shared_, results_, times, wholes_});
  // From here on nothing can fail.
  row_sums.HandOut(*rows[0]);
  for (size_t r = 0; r < region.results.size(); ++r)
    if (overwritten_[r] != kNone) rows[0]->results()[r]->ComputedIn(*rows[0]->operands()[overwritten_[r]].tensor);
  for (const BatchRegion::TableRow& row : region.table_rows) {
    if (blocks.all[row.result] || !StayInTable(region, row, rows.size())) continue;
    const size_t bytes = region.values[region.results[row.result]].count * ir::ElementBytes(region.values[row.table].tensor->element);
    TensorObject& table = *rows[0]->operands()[row.table].tensor;
    for (Deferred* of : rows)
      if (TensorObject* tensor = of->results()[row.result]) tensor->ComputedIn(table, table.data() + static_cast<size_t>(of->operands()[row.index].word) * bytes);
  }
  auto for_tensors = [&](size_t r, auto computed) {
    for (size_t i = 0; i < rows.size(); ++i) {
      // It was noted long ago, and is in no cache.
      if (i + kAhead < rows.size())
        if (TensorObject* later = rows[i + kAhead]->results()[r]) __builtin_prefetch(later, 1);
      if (TensorObject* tensor = rows[i]->results()[r]) computed(*tensor, i);
    }
  };
  for (const BatchRegion::Part& part : region.parts) {
    TensorBlock* block = wholes.all[part.whole];
    const size_t bytes = bytes_of(region.wholes[part.whole]);
    for_tensors(part.result, [&](TensorObject& tensor, size_t i) { tensor.ComputedAt(block, block->address() + i * bytes + part.before, part.alone); });
  }
  for (size_t r = 0; r < region.results.size(); ++r)
    if (blocks.all[r]) for_tensors(r, [&](TensorObject& tensor, size_t i) { tensor.Computed(blocks.all[r], i); });
}

}  // namespace df
