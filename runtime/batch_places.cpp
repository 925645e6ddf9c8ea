// See batch_places.h.
#include "runtime/batch_places.h"

#include <chrono>

#include "runtime/batch.h"

namespace df {

// Where operand k of each activation is.
Rows BatchPlaces::Find(const BatchRegion& region, llvm::ArrayRef<Deferred*> batch, uint32_t k) {
  Rows rows;
  size_t count = batch.size();
  if (!region.values[k].tensor) {
    std::vector<int64_t>& words = words_[k];
    words.resize(count);
    for (size_t i = 0; i < count; ++i) words[i] = batch[i]->operands()[k].word();
    rows.words = words.data();
    return rows;
  }
  Value& first = batch[0]->operands()[k];
  bool shared = true;
  for (size_t i = 1; i < count && shared; ++i) shared = batch[i]->operands()[k].object() == first.object();
  if (shared) {
    shared_[k] = &first;
    rows.shared = true;
    rows.base = TensorIn(first)->data();
    return rows;
  }
  std::vector<DeviceAddress>& at = addresses_[k];
  at.resize(count);
  for (size_t i = 0; i < count; ++i) at[i] = TensorIn(batch[i]->operands()[k])->data();
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

namespace {

// The blocks of a batch's results; nobody else holds them before they are handed out.
struct Blocks {
  llvm::SmallVector<TensorBlock*, 4> all;
  ~Blocks() {
    for (TensorBlock* block : all)
      if (block) block->Release();
  }
};

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
  for (uint32_t k = 0; k < region.num_operands; ++k) operands_[k] = Find(region, rows, k);
  Blocks blocks;
  results_.clear();
  for (size_t r = 0; r < region.results.size(); ++r) {
    bool wanted = false;
    for (Deferred* row : rows) wanted |= row->results()[r] != nullptr;
    const ir::Type& type = *region.values[region.results[r]].tensor;
    size_t bytes = static_cast<size_t>(ir::ElementCount(type.dims)) * ir::ElementBytes(type.element);
    blocks.all.push_back(nullptr);
    if (wanted) blocks.all.back() = TensorBlock::New(device_, bytes * rows.size());
    results_.push_back(wanted ? blocks.all.back()->address() : nullptr);
  }
  if (times) times->gathers += std::chrono::duration<double>(Clock::now() - began).count();
  device_.Run({&region, rows.size(), operands_, shared_, results_, times});
  // From here on nothing can fail.
  for (size_t r = 0; r < region.results.size(); ++r)
    for (size_t i = 0; i < rows.size() && blocks.all[r]; ++i)
      if (TensorObject* tensor = rows[i]->results()[r]) tensor->Computed(blocks.all[r], i);
}

}  // namespace df
