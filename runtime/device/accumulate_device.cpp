// The sum of a weight's gradient where its terms are: on a device, of which the host knows the places of rows (docs/devices.md).
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/ScopeExit.h"
#include "runtime/device/accumulate_device.h"
#include "runtime/device/device.h"
#include "runtime/ops/accumulate.h"
#include "runtime/run/device_errors.h"

namespace df {
namespace {

using Kind = DeviceSum::Kind;

// Terms that decide where the sum is computed: in a gradient all are on the same side but for a few.
constexpr size_t kLook = 4;

Device* DeviceOf(llvm::ArrayRef<SumTerm> terms) {
  for (SumTerm term : terms.take_front(kLook))
    for (const Value& field : term) {
      TensorObject* tensor = TensorIn(field);
      if (!tensor) continue;
      tensor->Compute();
      if (Device* device = tensor->device()) return device;
    }
  return nullptr;
}

// The places of all rows in the order in which they are added. What only the host has is packed behind each other.
class Planner {
 public:
  Planner(Device& device, size_t rows, size_t columns, size_t element_bytes)
      : device_(device), rows_(rows), columns_(columns), bytes_(element_bytes) {}

  // Of a tensor that was computed: on the device, or at an offset of what is packed.
  void Add(TensorObject& tensor) { Append(Kind::Tensors, tensor, 0, nullptr, 0, 0); }
  void AddRow(int64_t target, TensorObject& rows, size_t row) {
    if (target < 0 || static_cast<size_t>(target) >= rows_) return;  // as in accumulate.cpp
    Append(Kind::RowsOfTable, rows, row * columns_ * bytes_, nullptr, 0, target);
  }
  // Of a vector, whose elements are its rows.
  void AddElement(int64_t target, const Value& number) { AddRow(target, *TensorIn(number), 0); }
  // The host adds products when so many wait that others come in between (kRowsOfProduct).
  void AddProduct(TensorObject& x, TensorObject& y, size_t rows) {
    if (held_.size() + rows > kRowsOfProduct) Multiply();
    for (size_t row = 0; row < rows; ++row) held_.push_back({&x, &y, row});
  }
  void Multiply() {
    for (const Held& held : held_) Append(Kind::Products, *held.x, held.row * rows_ * bytes_, held.y, held.row * columns_ * bytes_, 0);
    held_.clear();
  }
  llvm::ArrayRef<char> packed() const { return packed_; }
  // With what is packed at `packed` there.
  std::vector<DeviceSum::Part> Parts(DeviceAddress packed) {
    for (size_t at : x_packed_) x_[at] = packed + reinterpret_cast<uintptr_t>(x_[at]);
    for (size_t at : y_packed_) y_[at] = packed + reinterpret_cast<uintptr_t>(y_[at]);
    std::vector<DeviceSum::Part> parts;
    for (size_t i = 0; i < runs_.size(); ++i) {
      size_t begin = runs_[i].begin, end = i + 1 < runs_.size() ? runs_[i + 1].begin : x_.size();
      parts.push_back({runs_[i].kind, end - begin, &x_[begin], &y_[begin], &targets_[begin]});
    }
    return parts;
  }

 private:
  struct Held {
    TensorObject *x, *y;
    size_t row;
  };
  struct Run {
    Kind kind;
    size_t begin;
  };
  void Append(Kind kind, TensorObject& x, size_t x_offset, TensorObject* y, size_t y_offset, int64_t target) {
    if (runs_.empty() || runs_.back().kind != kind) runs_.push_back({kind, x_.size()});
    x_.push_back(Further(PlaceOf(x, x_packed_), x_offset));
    y_.push_back(y ? Further(PlaceOf(*y, y_packed_), y_offset) : nullptr);
    targets_.push_back(target);
  }
  // Of an address, or of an offset that stands for one until what is packed has its place.
  static DeviceAddress Further(DeviceAddress place, size_t bytes) {
    return reinterpret_cast<DeviceAddress>(reinterpret_cast<uintptr_t>(place) + bytes);
  }
  DeviceAddress PlaceOf(TensorObject& tensor, std::vector<size_t>& packed) {
    if (DeviceAddress address = tensor.AddressOn(device_)) return address;
    packed.push_back(&packed == &x_packed_ ? x_.size() : y_.size());
    auto [it, added] = offsets_.try_emplace(&tensor, packed_.size());
    if (added) packed_.insert(packed_.end(), tensor.data(), tensor.data() + tensor.bytes());
    return reinterpret_cast<DeviceAddress>(it->second);
  }

  Device& device_;
  const size_t rows_, columns_, bytes_;
  std::vector<DeviceAddress> x_, y_;
  std::vector<int64_t> targets_;
  std::vector<Run> runs_;
  std::vector<Held> held_;              // rows of products that wait
  std::vector<size_t> x_packed_, y_packed_;  // places that are offsets yet
  llvm::DenseMap<const TensorObject*, size_t> offsets_;
  std::vector<char> packed_;
};

Value Compute(Device& device, const ir::Type& result, llvm::ArrayRef<SumTerm> terms) {
  // Batches first: they may move what was computed before to the host, where there is no room.
  for (size_t at = 0; at < terms.size(); ++at) {
    PrefetchTensors(terms, at);
    for (const Value& field : terms[at])
      if (TensorObject* tensor = TensorIn(field)) tensor->Compute();
  }
  const size_t element_bytes = ir::ElementBytes(result.element), bytes = static_cast<size_t>(ir::ElementCount(result.dims)) * element_bytes;
  const size_t rows = result.dims.empty() ? 1 : static_cast<size_t>(result.dims[0]), columns = bytes / element_bytes / rows;
  Planner plan(device, rows, columns, element_bytes);
  for (SumTerm term : terms) AddTerm(term, plan);
  plan.Multiply();

  TensorBlock* block = TensorBlock::New(device, bytes);
  auto release = llvm::make_scope_exit([&] { block->Release(); });
  const size_t passing = plan.packed().size();
  DeviceAddress packed = passing ? device.Allocate(passing) : nullptr;
  auto free = llvm::make_scope_exit([&] {
    if (packed) device.Free(packed, passing);
  });
  if (packed) device.Upload(packed, plan.packed().data(), passing);
  std::vector<DeviceSum::Part> parts = plan.Parts(packed);
  device.Sum({result.element, rows, columns, parts, block->address()});
  auto* tensor = new TensorObject(result, block, 0);
  return Value::Adopt(ValueKind::Object, tensor);
}

}  // namespace

std::optional<Value> AccumulateOnDevice(const ir::Type& result, llvm::ArrayRef<SumTerm> terms) {
  Device* device = ir::ElementCount(result.dims) == 0 ? nullptr : DeviceOf(terms);
  if (!device) return std::nullopt;
  // Numbers are the host's, and elements are no rows but those of a vector.
  const bool vector = result.dims.size() == 1;
  if (llvm::any_of(terms, [&](SumTerm term) { return IsElement(term) && !(vector && TensorIn(term[1])); })) return std::nullopt;
  try {
    return Compute(*device, result, terms);
  } catch (const DeviceFull&) {
    return std::nullopt;
  }
}

}  // namespace df
