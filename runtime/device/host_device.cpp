#include "runtime/device/host_device.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/memory.h"

namespace df {

DeviceAddress HostDevice::Allocate(size_t bytes) { return memory::AllocateLines(bytes); }

void HostDevice::Free(DeviceAddress address, size_t bytes) noexcept { memory::FreeLines(address, bytes); }

void HostDevice::Upload(DeviceAddress to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

void HostDevice::Download(void* to, DeviceAddress from, size_t bytes) { std::memcpy(to, from, bytes); }

namespace {

// Below this a part is not worth another thread, in nanoseconds as far as they can be guessed.
constexpr double kLeastPart = 20000;
// Rows that the loops of products go through together, so that parts should have as many.
constexpr size_t kRowsTogether = 8;
constexpr size_t kPartsAThread = 2;  // so that a thread that is held up does not hold up all

// What a row of a region costs, roughly.
double CostOf(const BatchRegion& region) {
  auto elements = [&](uint32_t value) {
    const ir::Type* type = region.values[value].tensor;
    return type ? static_cast<double>(ir::ElementCount(type->dims)) : 1.0;
  };
  double cost = 0;
  for (size_t i = 0; i < region.ops.size(); ++i) {
    const BatchRegion::Item& item = region.ops[i];
    double out = elements(region.num_operands + static_cast<uint32_t>(i));
    bool product = item.op == ir::Op::MatMul || item.op == ir::Op::Gemm;
    cost += product ? out * static_cast<double>(region.values[item.in[0]].tensor->dims.back()) / 30 : out / 2;
  }
  return cost;
}

// Rows `first` to `last` of a batch, with room for the changed arrays.
struct Part {
  Part(const DeviceBatch& all, size_t first, size_t last, BatchTimes* times)
      : operands(all.operands.begin(), all.operands.end()), results(all.results.begin(), all.results.end()), wholes(all.wholes.begin(), all.wholes.end()) {
    for (Rows& rows : operands) {
      if (rows.shared) continue;
      if (rows.words) rows.words += first;
      else if (rows.at) rows.at += first;
      else rows.base += first * rows.stride;
    }
    auto shift = [&](DeviceAddress& place, uint32_t value) {
      const BatchRegion::ValueType& type = all.region->values[value];
      if (place) place += first * type.count * ir::ElementBytes(type.tensor->element);
    };
    for (size_t r = 0; r < results.size(); ++r) shift(results[r], all.region->results[r]);
    for (size_t w = 0; w < wholes.size(); ++w) shift(wholes[w], all.region->wholes[w]);
    batch = {all.region, last - first, operands, all.tensors, results, times, wholes};
  }
  llvm::SmallVector<Rows, 16> operands;
  llvm::SmallVector<DeviceAddress, 4> results, wholes;
  DeviceBatch batch;
};

}  // namespace

void HostDevice::Run(const DeviceBatch& batch) {
  kept_.Prepare(batch);
  const size_t together = always_ ? 1 : kRowsTogether;
  size_t parts = 1;
  if (team_.threads() > 1 && batch.rows >= 2 * together) {
    double worth = always_ ? 1e9 : CostOf(*batch.region) * static_cast<double>(batch.rows) / kLeastPart;
    parts = std::min({static_cast<size_t>(worth), batch.rows / together, size_t{team_.threads()} * kPartsAThread});
  }
  if (parts < 2) return RunBatch(batch, kept_);
  // Whole groups of rows for each.
  size_t groups = (batch.rows + together - 1) / together;
  auto begin = [&](size_t part) { return std::min(batch.rows, groups * part / parts * together); };
  team_.Run(static_cast<uint32_t>(parts), [&](uint32_t part, bool here) {
    Part rows(batch, begin(part), begin(part + 1), here ? batch.times : nullptr);
    RunBatch(rows.batch, kept_);
  });
}

}  // namespace df
