// See kept_matrices.h.
#include "runtime/device/kept_matrices.h"

#include <algorithm>

#include "backends/cpu/product.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/base/by_element.h"

namespace df {

using ir::Op;

const char* KeptMatrices::Find(const TensorObject& matrix, As as) const {
  for (const Entry& entry : entries_)
    if (entry.matrix.object() == &matrix && entry.as == as) return entry.panels ? entry.panels->address() : nullptr;
  return nullptr;
}

KeptMatrices::Block KeptMatrices::PanelsOf(TensorObject& matrix, As as) {
  Block block(TensorBlock::New(device_, matrix.bytes()));
  auto rows = static_cast<size_t>(matrix.dims()[0]), columns = static_cast<size_t>(matrix.dims()[1]);
  ForNumbers(matrix.element(), [&](auto t) {
    using T = decltype(t);
    auto* panels = reinterpret_cast<T*>(block->address());
    if (as == As::Turned) cpu::PutTurnedIntoPanels(matrix.as<T>(), columns, rows, panels);
    else cpu::PutIntoPanels(matrix.as<T>(), rows, columns, panels);
  });
  return block;
}

void KeptMatrices::Use(TensorObject& matrix, As as, size_t rows) {
  auto it = llvm::find_if(entries_, [&](const Entry& e) { return e.matrix.object() == &matrix && e.as == as; });
  if (it == entries_.end()) entries_.push_back({Value::Retain(ValueKind::Object, &matrix), as, 0, nullptr});
  else std::rotate(it, it + 1, entries_.end());
  Entry& entry = entries_.back();
  if (entry.panels) return;
  entry.rows += rows;
  if (as == As::Turned || entry.rows > kRowsBefore) entry.panels = PanelsOf(matrix, as);
}

// What nobody else holds is of no use any more.
void KeptMatrices::MakeRoom() {
  llvm::erase_if(entries_, [](const Entry& e) { return e.matrix.object()->refs.IsOne(); });
  if (entries_.size() >= kMost) entries_.erase(entries_.begin(), entries_.end() - kMost + 1);
}

// Of one row the loops go over a matrix as it was given as fast as over panels. But they would turn one each time.
void KeptMatrices::PrepareOne(const DeviceBatch& batch) {
  const BatchRegion& region = *batch.region;
  for (const BatchRegion::Item& item : region.ops) {
    const std::optional<uint32_t> matrix = region.Turned(item);
    if (!matrix || !batch.tensors[*matrix]) continue;
    MakeRoom();
    Use(*batch.tensors[*matrix], As::Turned, 1);
  }
}

// The products of BatchRun::Product.
void KeptMatrices::Prepare(const DeviceBatch& batch) {
  const BatchRegion& region = *batch.region;
  if (region.weights.empty()) return;
  if (batch.rows < 2) return PrepareOne(batch);
  MakeRoom();
  llvm::SmallVector<bool, 32> shared;  // by value: an op's result is if all its operands are
  for (const Rows& rows : batch.operands) shared.push_back(rows.shared);
  for (const BatchRegion::Item& item : region.ops) {
    shared.push_back(llvm::all_of(item.in, [&](uint32_t in) { return shared[in]; }));
    if ((item.op != Op::MatMul && item.op != Op::Gemm) || shared[item.in[0]] == shared[item.in[1]]) continue;
    const bool right = shared[item.in[1]];  // x W, or W transposed; else W y
    const uint32_t matrix = item.in[right ? 1 : 0];
    if (matrix >= region.num_operands || !batch.tensors[matrix]) continue;
    const ir::Type& type = *region.values[matrix].tensor;
    if (type.dims.size() != 2) continue;
    const ir::Type& other = *region.values[item.in[right ? 0 : 1]].tensor;
    if (!right && (item.op == Op::Gemm || other.dims.size() != 1)) continue;
    const As as = right && item.op == Op::MatMul ? As::Given : As::Turned;
    const size_t narrow = ForNumbers(type.element, [](auto t) { return cpu::WidestPanel<decltype(t)>(); });
    if (as == As::Given && static_cast<size_t>(type.dims[1]) <= narrow) continue;
    Use(*batch.tensors[matrix], as, batch.rows * (other.dims.size() == 2 ? static_cast<size_t>(other.dims[0]) : 1));
  }
}

}  // namespace df
