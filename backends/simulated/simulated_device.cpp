#include "backends/simulated/simulated_device.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "runtime/device/batch_run.h"
#include "runtime/device/host_device.h"
#include "runtime/ops/accumulate.h"
#include "runtime/run/device_errors.h"
#include "runtime/run/limits.h"

namespace df {

namespace {

// Bits 63 to 47 are not alike: no pointer of a program on x86-64, whose look there ends it.
constexpr uint64_t kFirstAddress = uint64_t{0xD0} << 56;
constexpr int kPattern = 0xFD;  // as a Float or Double a large negative number, as an Int too

uint64_t NumberOf(DeviceAddress address) { return reinterpret_cast<uint64_t>(address); }
size_t WithGap(size_t bytes) { return (bytes / Device::kAlignment + 2) * Device::kAlignment; }  // no two buffers touch
size_t Counted(size_t bytes) { return (bytes + Device::kAlignment - 1) / Device::kAlignment * Device::kAlignment; }

}  // namespace

SimulatedDevice::SimulatedDevice(uint64_t max_bytes) : max_bytes_(max_bytes), next_(kFirstAddress) {}

// ---------------------------------------------------------------- memory

DeviceAddress SimulatedDevice::Allocate(size_t bytes) {
  if (Counted(bytes) > max_bytes_ - bytes_)
    throw DeviceFull(fmt::format("the memory limit of {} of the simulated device is reached", PrintBytes(max_bytes_)));
  bytes_ += Counted(bytes);
  stats_.peak_bytes = std::max(stats_.peak_bytes, bytes_);
  uint64_t address = next_;
  next_ += WithGap(bytes);
  Buffer buffer{bytes, false, llvm::BitVector(static_cast<unsigned>(bytes)), std::make_unique<char[]>(bytes)};
  std::memset(buffer.memory.get(), kPattern, bytes);
  buffers_.emplace(address, std::move(buffer));
  return reinterpret_cast<DeviceAddress>(address);
}

void SimulatedDevice::Free(DeviceAddress address, size_t bytes) noexcept {
  auto it = buffers_.find(NumberOf(address));
  const char* wrong = it == buffers_.end() ? "what was never allocated" : it->second.freed ? "what was freed before"
                      : it->second.bytes != bytes ? "a buffer of another size" : nullptr;
  if (wrong) {
    fault_ = fmt::format("simulated device: Free of {}: {:#x}, {} bytes", wrong, NumberOf(address), bytes);
    return;
  }
  it->second.freed = true;
  it->second.set = {};
  bytes_ -= Counted(bytes);
  Give([buffer = &it->second] { buffer->memory.reset(); });
}

SimulatedDevice::Place SimulatedDevice::Find(DeviceAddress address, size_t bytes, const char* what, bool reads) {
  uint64_t number = NumberOf(address);
  auto fault = [&](const char* why) -> DeviceFault {
    return DeviceFault(fmt::format("simulated device: {}: {}: {:#x}, {} bytes", what, why, number, bytes));
  };
  auto it = buffers_.upper_bound(number);
  if (number < kFirstAddress) throw fault("no address of the device");
  if (it == buffers_.begin()) throw fault("nothing was allocated there");
  --it;
  Buffer& buffer = it->second;
  size_t offset = number - it->first;
  if (offset > buffer.bytes || bytes > buffer.bytes - offset) throw fault("beyond what was allocated");
  if (buffer.freed) throw fault("it was freed before");
  if (reads && buffer.set.find_first_unset_in(static_cast<unsigned>(offset), static_cast<unsigned>(offset + bytes)) != -1)
    throw fault("bytes that nobody has written");
  if (!reads) buffer.set.set(static_cast<unsigned>(offset), static_cast<unsigned>(offset + bytes));
  return {&buffer, offset};
}

// Its buffer is there: that was checked when the command was given.
char* SimulatedDevice::At(DeviceAddress address) {
  auto it = std::prev(buffers_.upper_bound(NumberOf(address)));
  return it->second.memory.get() + (NumberOf(address) - it->first);
}

std::string SimulatedDevice::Left() const {
  size_t count = 0;
  for (const auto& [address, buffer] : buffers_) count += !buffer.freed;
  if (!fault_.empty()) return fault_;
  return count == 0 ? "" : fmt::format("{} buffers of the simulated device, {} in all", count, PrintBytes(bytes_));
}

// ---------------------------------------------------------------- copies

void SimulatedDevice::Upload(DeviceAddress to, const void* from, size_t bytes) {
  Place place = Find(to, bytes, "Upload", false);
  ++stats_.uploads;
  stats_.uploaded += bytes;
  const char* begin = static_cast<const char*>(from);
  Give([place, copy = std::vector<char>(begin, begin + bytes)] {
    if (!copy.empty()) std::memcpy(place.first->memory.get() + place.second, copy.data(), copy.size());
  });
}

void SimulatedDevice::Download(void* to, DeviceAddress from, size_t bytes) {
  Place place = Find(from, bytes, "Download", true);
  ++stats_.downloads;
  stats_.downloaded += bytes;
  std::memset(to, kPattern, bytes);
  Give([to, place, bytes] { std::memcpy(to, place.first->memory.get() + place.second, bytes); });
}

// ---------------------------------------------------------------- batches

// A batch that waits, with copies of the arrays that described it.
struct SimulatedDevice::Batch {
  const BatchRegion* region;
  size_t rows;
  std::vector<Rows> operands;
  std::vector<std::vector<DeviceAddress>> at;
  std::vector<std::vector<int64_t>> words;
  std::vector<DeviceAddress> results;
};

void SimulatedDevice::Run(const DeviceBatch& given) {
  const BatchRegion& region = *given.region;
  Batch batch{given.region, given.rows, {}, {}, {}, given.results.vec()};
  batch.at.resize(region.num_operands);
  batch.words.resize(region.num_operands);
  for (uint32_t k = 0; k < region.num_operands; ++k) {
    const Rows& rows = given.operands[k];
    if (!region.values[k].tensor) {
      batch.words[k].assign(rows.words, rows.words + given.rows);
      batch.operands.emplace_back();
      continue;
    }
    // Each row by itself: two buffers whose addresses follow each other are not one.
    size_t count = rows.shared ? 1 : given.rows, bytes = BytesOf(*region.values[k].tensor);
    for (size_t i = 0; i < count; ++i) {
      Find(rows.Row(i), bytes, "an operand", true);
      batch.at[k].push_back(rows.Row(i));
    }
    batch.operands.emplace_back().shared = rows.shared;
  }
  for (const BatchRegion::Check& check : region.checks)
    for (int64_t word : batch.words[check.operand])
      if (word < 0 || word > check.most) throw DeviceFault(fmt::format("simulated device: an index of {} in a range to {}", word, check.most));
  for (size_t r = 0; r < given.results.size(); ++r) {
    if (!given.results[r]) continue;
    Place to = Find(given.results[r], BytesOf(*region.values[region.results[r]].tensor) * given.rows, "a result", false);
    for (const auto& rows : batch.at)
      for (DeviceAddress row : rows)
        if (std::prev(buffers_.upper_bound(NumberOf(row)))->first == NumberOf(given.results[r]) - to.second)
          throw DeviceFault("simulated device: a result is where an operand is");
  }
  Give([this, batch = std::move(batch)]() mutable { CarryOut(batch); });
}

void SimulatedDevice::CarryOut(Batch& batch) {
  for (size_t k = 0; k < batch.operands.size(); ++k) {
    Rows& rows = batch.operands[k];
    for (DeviceAddress& row : batch.at[k]) row = At(row);
    if (!batch.words[k].empty()) rows.words = batch.words[k].data();
    else if (rows.shared) rows.base = batch.at[k][0];
    else rows.at = batch.at[k].data();
  }
  for (DeviceAddress& result : batch.results)
    if (result) result = At(result);
  HostDevice kernels;
  std::vector<TensorObject*> none(batch.operands.size(), nullptr);
  kernels.Run({batch.region, batch.rows, batch.operands, none, batch.results});
}

// ---------------------------------------------------------------- sums

void SimulatedDevice::Sum(const DeviceSum& given) {
  using Kind = DeviceSum::Kind;
  struct Arrays {
    std::vector<DeviceAddress> x, y;
    std::vector<int64_t> targets;
  };
  const size_t element = ir::ElementBytes(given.element), rows = given.rows, columns = given.columns;
  std::vector<DeviceSum::Part> parts = given.parts.vec();
  std::vector<Arrays> arrays(parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    const DeviceSum::Part& part = parts[p];
    const size_t elements = part.kind == Kind::Tensors ? rows * columns : part.kind == Kind::Products ? rows : columns;
    for (size_t i = 0; i < part.rows; ++i) {
      Find(part.x[i], elements * element, "a term", true);
      arrays[p].x.push_back(part.x[i]);
      if (part.kind == Kind::Products) {
        Find(part.y[i], columns * element, "a term", true);
        arrays[p].y.push_back(part.y[i]);
      }
      if (part.kind != Kind::RowsOfTable) continue;
      arrays[p].targets.push_back(part.targets[i]);
      if (part.targets[i] < 0 || static_cast<size_t>(part.targets[i]) >= rows)
        throw DeviceFault(fmt::format("simulated device: row {} of a sum that has {}", part.targets[i], rows));
    }
  }
  Place to = Find(given.result, rows * columns * element, "a sum", false);
  for (const Arrays& terms : arrays)
    for (const auto& places : {terms.x, terms.y})
      for (DeviceAddress row : places)
        if (std::prev(buffers_.upper_bound(NumberOf(row)))->first == NumberOf(given.result) - to.second)
          throw DeviceFault("simulated device: a sum is where a term is");
  Give([this, sum = given, parts = std::move(parts), arrays = std::move(arrays)]() mutable {
    for (size_t p = 0; p < parts.size(); ++p) {
      for (DeviceAddress& row : arrays[p].x) row = At(row);
      for (DeviceAddress& row : arrays[p].y) row = At(row);
      parts[p].x = arrays[p].x.data(), parts[p].y = arrays[p].y.data(), parts[p].targets = arrays[p].targets.data();
    }
    sum.parts = parts;
    sum.result = At(sum.result);
    ComputeSum(sum);
  });
}

// ---------------------------------------------------------------- the queue

uint64_t SimulatedDevice::Mark() { return carried_out_ + queue_.size(); }

void SimulatedDevice::Wait(uint64_t mark) {
  if (!fault_.empty()) throw DeviceFault(fault_);
  if (mark > Mark()) throw DeviceFault("simulated device: Wait for a mark that was never given");
  while (carried_out_ < mark) {
    queue_.front()();
    queue_.pop_front();
    ++carried_out_;
  }
}

}  // namespace df
