// Ops that go through strips of rows together have the bits of ops that go over all rows one after another: on random regions.
#include "runtime/device/batch_plan.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "runtime/device/host_device.h"
#include "tagged_ir/tensor_rules.h"
#include "tests/unit/catch.h"

using namespace df;
using ir::Op;
using ir::TypeKind;

namespace {

// A region that is made op by op, with operands of its own; sizes are n and 2 * n.
class RandomRegion {
 public:
  RandomRegion(uint32_t seed, int64_t n, size_t rows, bool elementwise = false) : random_(seed), n_(n), rows_(rows), elementwise_(elementwise) {
    for (int i = 0; i < 6; ++i) AddOperand(TypeOf(TypeKind::Float, Dims(elementwise ? 0 : i % 3)));
    if (n <= 200) matrix_ = AddOperand(TypeOf(TypeKind::Float, {n, n}), true);
    number_ = AddWord(TypeKind::Float);
    index_ = AddWord(TypeKind::Int);
    region_.num_operands = static_cast<uint32_t>(region_.values.size());
    const size_t ops = 3 + Any(30);
    while (region_.ops.size() < ops) AddOp();
    for (uint32_t value = region_.num_operands; value < region_.values.size(); ++value)
      if (value + 1 == region_.values.size() || Any(5) == 0) region_.results.push_back(value);
  }

  BatchRegion& region() { return region_; }
  // Results take the place of operands where the region says that they may; how many did is added to `overwritten`.
  std::vector<std::vector<char>> RunOver(HostDevice& device, size_t* overwritten) {
    std::vector<std::vector<char>> results;
    std::vector<DeviceAddress> places;
    std::vector<bool> taken(region_.num_operands, false);
    for (uint32_t value : region_.results) results.emplace_back(Bytes(value) + 1);
    for (std::vector<char>& result : results) places.push_back(result.data());
    for (const BatchRegion::Overwrite& over : region_.overwrites) {
      if (taken[over.x] || places[over.result] != results[over.result].data()) continue;
      taken[over.x] = true;
      places[over.result] = operands_[over.x].base;
      ++*overwritten;
    }
    std::vector<TensorObject*> none(region_.num_operands, nullptr);
    device.Run({&region_, rows_, operands_, none, places, nullptr, {}});
    for (size_t r = 0; r < results.size(); ++r) {
      std::memmove(results[r].data(), places[r], Bytes(region_.results[r]));
      Unify(results[r]);
    }
    return results;
  }
  // The results' bytes. All that are no numbers are alike: which one a sum of two of them gives, hangs on where it stands.
  std::vector<std::vector<char>> Run(HostDevice& device) {
    std::vector<std::vector<char>> results;
    std::vector<DeviceAddress> places;
    for (uint32_t value : region_.results) results.emplace_back(Bytes(value) * rows_ + 1);
    for (size_t r = 0; r < results.size(); ++r) places.push_back(r % 4 == 3 && r + 1 < results.size() ? nullptr : results[r].data());
    // Parts are places in their wholes.
    std::vector<std::vector<char>> wholes;
    std::vector<DeviceAddress> places_of_wholes;
    for (uint32_t value : region_.wholes) wholes.emplace_back(Bytes(value) * rows_ + 1);
    for (std::vector<char>& whole : wholes) places_of_wholes.push_back(whole.data());
    for (const BatchRegion::Part& part : region_.parts) places[part.result] = nullptr;
    std::vector<TensorObject*> none(region_.num_operands, nullptr);
    device.Run({&region_, rows_, operands_, none, places, nullptr, places_of_wholes});
    for (const BatchRegion::Part& part : region_.parts) {
      const size_t bytes = Bytes(region_.results[part.result]), step = Bytes(region_.wholes[part.whole]);
      for (size_t i = 0; i < rows_; ++i) std::memcpy(results[part.result].data() + i * bytes, wholes[part.whole].data() + i * step + part.before, bytes);
    }
    for (size_t r = 3; r + 1 < results.size(); r += 4) std::fill(results[r].begin(), results[r].end(), 0);  // nobody wants it
    for (size_t r = 0; r < results.size(); ++r) {
      if (region_.values[region_.results[r]].tensor->element != TypeKind::Float) continue;
      Unify(results[r]);
    }
    return results;
  }

 private:
  static void Unify(std::vector<char>& floats) {
    for (size_t at = 0; at + sizeof(float) <= floats.size(); at += sizeof(float)) {
      float x;
      std::memcpy(&x, &floats[at], sizeof x);
      if (std::isnan(x)) std::memset(&floats[at], 0xff, sizeof x);
    }
  }
  using Shape = std::vector<int64_t>;
  size_t Any(size_t most) { return random_() % most; }
  Shape Dims(size_t kind) const { return kind == 0 ? Shape{n_} : kind == 1 ? Shape{2 * n_} : Shape{}; }
  const ir::Type* TypeOf(TypeKind element, Shape dims) {
    types_.push_back({TypeKind::Tensor, "", {}, element, std::move(dims)});
    return &types_.back();
  }
  size_t Bytes(uint32_t value) const { return region_.values[value].count * ir::ElementBytes(region_.values[value].tensor->element); }

  // All rows share it, or they lie behind each other, with gaps, or anywhere.
  uint32_t AddOperand(const ir::Type* type, bool shared = false) {
    region_.values.push_back({type, TypeKind::Tensor});
    const auto value = static_cast<uint32_t>(region_.values.size() - 1);
    const size_t count = region_.values[value].count, step = count + Any(2) * 3;
    std::vector<float>& numbers = numbers_.emplace_back(step * rows_ + 1);
    for (float& x : numbers) x = static_cast<float>(static_cast<int>(random_() % 2001) - 1000) / 500.0f;
    Rows rows;
    rows.shared = shared || rows_ == 1 || Any(4) == 0;
    rows.base = reinterpret_cast<char*>(numbers.data());
    rows.stride = rows.shared ? 0 : step * sizeof(float);
    if (!rows.shared && Any(3) == 0) {
      std::vector<DeviceAddress>& at = places_.emplace_back();
      for (size_t i = 0; i < rows_; ++i) at.push_back(rows.base + Any(rows_) * rows.stride);
      rows.at = at.data();
    }
    operands_.push_back(rows);
    return value;
  }
  uint32_t AddWord(TypeKind kind) {
    region_.values.push_back({nullptr, kind});
    std::vector<int64_t>& words = words_.emplace_back(rows_);
    for (int64_t& word : words) {
      word = n_ > 0 ? static_cast<int64_t>(Any(static_cast<size_t>(n_))) : 0;
      if (float x = static_cast<float>(word) / 3; kind == TypeKind::Float) word = 0, std::memcpy(&word, &x, sizeof x);
    }
    Rows rows;
    rows.words = words.data();
    operands_.push_back(rows);
    return static_cast<uint32_t>(region_.values.size() - 1);
  }

  // A value with such elements and dims, if there is one; the latest ones more often.
  std::optional<uint32_t> Find(TypeKind element, const Shape& dims) {
    std::vector<uint32_t> fit;
    for (uint32_t value = 0; value < region_.values.size(); ++value)
      if (const ir::Type* type = region_.values[value].tensor; type && type->element == element && type->dims == dims) fit.push_back(value);
    if (fit.empty()) return std::nullopt;
    return Any(2) ? fit.back() : fit[Any(fit.size())];
  }
  void Add(Op op, uint32_t attr, TypeKind element, const Shape& dims, llvm::ArrayRef<std::optional<uint32_t>> in) {
    llvm::SmallVector<uint32_t, 3> values;
    for (std::optional<uint32_t> value : in) {
      if (!value) return;
      values.push_back(*value);
    }
    const ir::Type* type = TypeOf(element, dims);
    region_.ops.push_back({op, attr, {TypeKind::Tensor, TypeKind::Tensor, type}, values});
    region_.values.push_back({type, TypeKind::Tensor});
  }
  void AddOp() {
    constexpr auto kFloat = TypeKind::Float;
    const Shape dims = Dims(elementwise_ ? 0 : Any(3)), one = Dims(0), two = Dims(1);
    auto any = [&] { return Find(kFloat, dims); };
    constexpr Op kUnary[] = {Op::Neg, Op::Tanh, Op::Sigmoid, Op::Exp, Op::Relu, Op::Sin};
    constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::FDiv, Op::Max, Op::StrongMul, Op::StrongDiv};
    switch (elementwise_ ? Any(5) : Any(16)) {
      case 0:
      case 1: return Add(kUnary[Any(6)], 0, kFloat, dims, {any()});
      case 2:
      case 3:
      case 4: return Add(kBinary[Any(std::size(kBinary))], 0, kFloat, dims, {any(), any()});
      case 5: return Add(Op::Lt, 0, TypeKind::Bool, dims, {any(), any()});
      case 6: return Add(Op::Where, 0, kFloat, dims, {Find(TypeKind::Bool, dims), any(), any()});
      case 7: return Add(Op::Slice, Any(2) ? ir::kFromEnd : 0, kFloat, one, {Find(kFloat, two)});
      case 8:
      case 9: return Add(Op::Concat, 0, kFloat, two, {Find(kFloat, one), Find(kFloat, one)});
      case 10: return Add(Op::Expand, 0, kFloat, dims, {Any(2) && !dims.empty() ? Find(kFloat, {}) : number_});
      case 11: return Add(Any(2) ? Op::ReduceSum : Op::ReduceMean, ir::kAllAxes, kFloat, {}, {Find(kFloat, one)});
      case 12: return Add(Any(2) ? Op::Softmax : Op::LogSoftmax, 0, kFloat, one, {Find(kFloat, one)});
      case 13:
        if (n_ == 0) return;
        if (Any(2)) return Add(Op::GetElement, 0, kFloat, {}, {Find(kFloat, one), index_});
        return Add(Op::SetElement, 0, kFloat, one, {Find(kFloat, one), index_, Any(2) ? Find(kFloat, {}) : number_});
      case 14: return Add(Op::Reshape, 0, kFloat, {2, n_}, {Find(kFloat, two)});
      default:
        if (matrix_ && Any(3) == 0) return Add(Op::MatMul, 0, kFloat, one, {Find(kFloat, one), matrix_});
        return Add(Op::Neg, 0, kFloat, {2, n_}, {Find(kFloat, {2, n_})});
    }
  }

  std::mt19937 random_;
  const int64_t n_;
  const size_t rows_;
  const bool elementwise_;
  std::optional<uint32_t> matrix_, number_, index_;
  BatchRegion region_;
  std::deque<ir::Type> types_;
  std::deque<std::vector<float>> numbers_;
  std::deque<std::vector<int64_t>> words_;
  std::deque<std::vector<DeviceAddress>> places_;
  std::vector<Rows> operands_;
};

size_t CountChains(const BatchRegion& region, BatchRegion::Stage::Kind kind) {
  size_t count = 0;
  for (const BatchRegion::Stage& stage : region.stages) count += stage.kind == kind;
  return count;
}

}  // namespace

TEST_CASE("strips have the bits of ops one by one") {
  HostDevice device;
  size_t rows_chains = 0, element_chains = 0, parts = 0;
  uint32_t seed = 0;
  for (int64_t n : {0, 1, 2, 5, 17, 150, 3000, 20000})
    for (size_t rows : {1, 2, 9, 70})
      for (int i = 0; i < (n < 1000 ? 60 : 12); ++i) {
        RandomRegion random(++seed, n, rows);
        auto want = random.Run(device);
        if (i % 2) FindParts(random.region());
        PlanStrips(random.region());
        parts += random.region().parts.size();
        rows_chains += CountChains(random.region(), BatchRegion::Stage::Kind::Rows);
        element_chains += CountChains(random.region(), BatchRegion::Stage::Kind::Elements);
        INFO("seed " << seed << ", n " << n << ", rows " << rows);
        const bool same = random.Run(device) == want;
        REQUIRE(same);
      }
  CHECK(rows_chains > 1000);
  CHECK(element_chains > 50);
  CHECK(parts > 100);
}

TEST_CASE("a result that is written over an operand has the bits that it has elsewhere") {
  HostDevice device;
  size_t overwritten = 0, alone = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    RandomRegion random(seed, 20000, 1, true);
    auto want = random.Run(device);
    if (seed % 3) PlanStrips(random.region());
    FindOverwrites(random.region());
    for (size_t r = 3; r + 1 < want.size(); r += 4) want[r].clear();  // Run leaves these out
    INFO("seed " << seed);
    auto have = random.RunOver(device, &overwritten);
    for (size_t r = 0; r < want.size(); ++r) REQUIRE((want[r].empty() || have[r] == want[r]));
    alone += random.region().overwrites.empty();
  }
  CHECK(overwritten > 100);
  CHECK(alone > 0);
}

TEST_CASE("a chain holds what it needs at once, and no more") {
  // y = tanh (neg (exp (-x))), z = concat y x: y is computed in z, and the two before it in one slot.
  const ir::Type row{TypeKind::Tensor, "", {}, TypeKind::Float, {10}}, rows{TypeKind::Tensor, "", {}, TypeKind::Float, {20}};
  const KernelTypes types{TypeKind::Tensor, TypeKind::Tensor, &row};
  BatchRegion region;
  region.num_operands = 1;
  region.values = {{&row, {}}, {&row, {}}, {&row, {}}, {&row, {}}, {&row, {}}, {&rows, {}}};
  region.ops = {{Op::Neg, 0, types, {0}}, {Op::Exp, 0, types, {1}}, {Op::Neg, 0, types, {2}}, {Op::Tanh, 0, types, {3}}, {Op::Concat, 0, types, {4, 0}}};
  region.results = {5};
  PlanStrips(region);
  REQUIRE(region.stages.size() == 1);
  CHECK(region.stages[0].slots == 1);
  CHECK(region.stages[0].bytes == 40);
  CHECK(region.homes[3].kind == BatchRegion::Home::Kind::Part);
  CHECK(region.homes[4].kind == BatchRegion::Home::Kind::Whole);
}
