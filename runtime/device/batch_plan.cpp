// See batch_plan.h.
//
// Stages alternate: what is computed alone has an even number, chains an odd one, and an op has the least that its operands allow. So what
// lies between two ops of one stage is of that stage.
#include "runtime/device/batch_plan.h"

#include <algorithm>
#include <map>

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/ops/tensor_kernels.h"
#include "tagged_ir/tensor_rules.h"

namespace df {
namespace {

using ir::Op;
using Stage = BatchRegion::Stage;
using Home = BatchRegion::Home;

// Elements of a row that goes through a chain whole.
constexpr size_t kShortRow = 4096;

class BatchPlanner {
 public:
  explicit BatchPlanner(BatchRegion& region) : region_(region), first_(region.num_operands), count_(region.ops.size()) {}

  void Plan() {
    FindStages();
    for (auto& [stage, ops] : by_stage_) {
      if (stage % 2 == 0) {
        for (uint32_t op : ops) AddAlone(op);
      } else {
        AddChains(ops);
      }
    }
    const bool chains = llvm::any_of(region_.stages, [](const Stage& s) { return s.kind != Stage::Kind::Op; });
    if (!chains) return region_.stages.clear();
    region_.homes.resize(count_);
    for (Stage& stage : region_.stages)
      if (stage.kind != Stage::Kind::Op) FindHomes(stage);
  }

 private:
  enum class How : uint8_t { Alone, Rows, Elements, Part };

  const BatchRegion::Item& ItemOf(uint32_t value) const { return region_.ops[value - first_]; }
  bool IsComputed(uint32_t value) const { return value >= first_; }
  size_t BytesOf(uint32_t value) const { return region_.values[value].count * ir::ElementBytes(region_.values[value].tensor->element); }
  bool InStep(uint32_t op) const { return !region_.in_step.empty() && region_.in_step[op]; }

  How HowOf(uint32_t op) const {
    const BatchRegion::Item& item = region_.ops[op];
    const uint32_t value = first_ + op;
    auto is_short = [&](uint32_t v) { return !region_.values[v].tensor || region_.values[v].count <= kShortRow; };
    const bool all_short = is_short(value) && llvm::all_of(item.in, is_short);
    if (IsPartOfOperand(region_, item)) return all_short || item.op == Op::Reshape || item.op == Op::Convert ? How::Part : How::Alone;
    if (HasLoopOfElements(region_, item)) return all_short ? How::Rows : How::Elements;
    switch (item.op) {
      case Op::Expand:
        if (all_short) return How::Rows;
        return region_.values[item.in[0]].tensor ? How::Alone : How::Elements;
      case Op::SetElement: return all_short ? How::Rows : How::Alone;
      case Op::Concat: return all_short && ir::AxisOf(item.attr, region_.values[value].tensor->dims.size()) == 0 ? How::Rows : How::Alone;
      default: return all_short && IsReduction(item.op) ? How::Rows : How::Alone;
    }
  }

  void FindStages() {
    std::vector<uint32_t> stage(region_.values.size(), 0);
    for (uint32_t op = 0; op < count_; ++op) {
      if (InStep(op)) continue;
      uint32_t least = 0;
      for (uint32_t in : region_.ops[op].in) least = std::max(least, stage[in]);
      how_[op] = HowOf(op);
      const bool chain = how_[op] == How::Rows || how_[op] == How::Elements;
      if (how_[op] != How::Part && least % 2 != (chain ? 1 : 0)) ++least;
      stage[first_ + op] = least;
      by_stage_[least].push_back(op);
    }
  }

  void AddAlone(uint32_t op) {
    region_.stages.emplace_back();
    region_.stages.back().ops.push_back(op);
  }
  // One for rows; of what goes by elements, one for each that hangs together.
  void AddChains(llvm::ArrayRef<uint32_t> ops) {
    std::vector<uint32_t> rows;
    llvm::EquivalenceClasses<uint32_t> together;
    auto by_elements = [&](uint32_t op) { return together.findValue(op) != together.end(); };
    for (uint32_t op : ops) {
      const bool part = how_[op] == How::Part;
      const uint32_t from = region_.ops[op].in[0];
      if (part ? how_[from - first_] == How::Rows || !by_elements(from - first_) : how_[op] == How::Rows) {
        rows.push_back(op);
        if (part) how_[op] = How::Rows;
        continue;
      }
      together.insert(op);
      for (uint32_t in : region_.ops[op].in)
        if (IsComputed(in) && by_elements(in - first_)) together.unionSets(op, in - first_);
    }
    AddChain(Stage::Kind::Rows, rows);
    std::map<uint32_t, std::vector<uint32_t>> by_leader;
    for (uint32_t op : ops)
      if (by_elements(op)) by_leader[together.getLeaderValue(op)].push_back(op);
    for (auto& [leader, chain] : by_leader) AddChain(Stage::Kind::Elements, chain);
  }
  void AddChain(Stage::Kind kind, llvm::ArrayRef<uint32_t> ops) {
    auto computed = llvm::count_if(ops, [&](uint32_t op) { return !IsPartOfOperand(region_, region_.ops[op]); });
    if (computed < 2) {
      for (uint32_t op : ops) AddAlone(op);
      return;
    }
    region_.stages.emplace_back();
    region_.stages.back().kind = kind;
    region_.stages.back().ops = ops;
  }

  // ---------------------------------------------------------------- homes

  // What a value is a part of: in whose place it is.
  uint32_t RootOf(uint32_t value) const {
    for (;;) {
      if (!IsComputed(value) || !in_chain_[value - first_]) return value;
      const Home& home = region_.homes[value - first_];
      if (IsPartOfOperand(region_, ItemOf(value))) value = ItemOf(value).in[0];
      else if (home.kind == Home::Kind::Part) value = home.slot;
      else return value;
    }
  }

  void FindHomes(Stage& stage) {
    in_chain_.assign(count_, false);
    for (uint32_t op : stage.ops) in_chain_[op] = true;
    // What is seen outside is whole, and so is what that is a part of.
    std::vector<bool> outside(count_, false);
    for (uint32_t result : region_.results) outside[result - first_] = true;
    for (uint32_t op = 0; op < count_; ++op)
      for (uint32_t in : region_.ops[op].in)
        if (!in_chain_[op] && IsComputed(in)) outside[in - first_] = true;
    for (uint32_t op : llvm::reverse(stage.ops)) {
      const BatchRegion::Item& item = region_.ops[op];
      if (outside[op] && IsPartOfOperand(region_, item) && IsComputed(item.in[0])) outside[item.in[0] - first_] = true;
      region_.homes[op].kind = outside[op] ? Home::Kind::Whole : Home::Kind::Strip;
    }
    for (uint32_t op : stage.ops) {
      const BatchRegion::Item& item = region_.ops[op];
      for (uint32_t in : item.in) {
        const bool here = IsComputed(in) && in_chain_[in - first_];
        if (!here && !llvm::is_contained(stage.inputs, in)) stage.inputs.push_back(in);
      }
      if (item.op != Op::Concat) continue;
      // What is joined is computed where it belongs.
      size_t before = 0;
      for (uint32_t in : item.in) {
        Home* home = IsComputed(in) && in_chain_[in - first_] ? &region_.homes[in - first_] : nullptr;
        if (home && home->kind == Home::Kind::Strip && !IsPartOfOperand(region_, ItemOf(in))) *home = {Home::Kind::Part, first_ + op, before};
        before += BytesOf(in);
      }
    }
    GiveSlots(stage);
  }

  // A slot is free again when what is in it was used for the last time; an op of elements may write over an operand.
  void GiveSlots(Stage& stage) {
    std::map<uint32_t, uint32_t> last;  // by root: the place in the chain
    for (uint32_t i = 0; i < stage.ops.size(); ++i) {
      last[RootOf(first_ + stage.ops[i])] = i;
      for (uint32_t in : region_.ops[stage.ops[i]].in) last[RootOf(in)] = i;
    }
    const bool elements = stage.kind == Stage::Kind::Elements;
    auto bytes_of = [&](uint32_t value) {
      return elements ? ir::ElementBytes(region_.values[value].tensor->element) : BytesOf(value);
    };
    auto is_like = [&](uint32_t a, uint32_t b) {
      const BatchRegion::ValueType &x = region_.values[a], &y = region_.values[b];
      return x.count == y.count && ir::ElementBytes(x.tensor->element) == ir::ElementBytes(y.tensor->element);
    };
    std::multimap<size_t, Home> free;  // by bytes
    std::map<uint32_t, bool> has;      // roots that have a slot now
    auto is_strip = [&](uint32_t root) {
      return IsComputed(root) && in_chain_[root - first_] && region_.homes[root - first_].kind == Home::Kind::Strip;
    };
    auto release = [&](uint32_t root) {
      if (!std::exchange(has[root], false)) return;
      free.emplace(bytes_of(root), region_.homes[root - first_]);
    };
    for (uint32_t i = 0; i < stage.ops.size(); ++i) {
      const BatchRegion::Item& item = region_.ops[stage.ops[i]];
      const uint32_t value = first_ + stage.ops[i], root = RootOf(value);
      const bool part = IsPartOfOperand(region_, item);
      if (!part && root == value && HasLoopOfElements(region_, item))
        for (uint32_t in : item.in)
          if (last[RootOf(in)] == i && is_strip(RootOf(in)) && is_like(RootOf(in), value)) release(RootOf(in));
      if (!part && is_strip(root) && !has[root]) {
        Home& home = region_.homes[root - first_];
        if (auto it = free.find(bytes_of(root)); it != free.end()) {
          home = it->second;
          free.erase(it);
        } else {
          home = {Home::Kind::Strip, stage.slots++, stage.bytes};
          stage.bytes += bytes_of(root);
        }
        has[root] = true;
      }
      for (uint32_t in : item.in)
        if (last[RootOf(in)] == i && is_strip(RootOf(in))) release(RootOf(in));
      if (last[root] == i && is_strip(root)) release(root);
    }
  }

  BatchRegion& region_;
  const uint32_t first_;  // of the ops' values
  const size_t count_;
  std::map<uint32_t, How> how_;  // by op
  std::map<uint32_t, std::vector<uint32_t>> by_stage_;
  std::vector<bool> in_chain_;  // by op: of the chain at hand
};

}  // namespace

bool IsPartOfOperand(const BatchRegion& region, const BatchRegion::Item& item) {
  switch (ir::FactsOf(item.op).part) {
    case ir::Part::PartAlways: return true;
    case ir::Part::PartOfSameType: return region.values[item.in[0]].tensor->element == item.types.result_type->element;
    case ir::Part::PartOnFirstAxis: return ir::AxisOf(item.attr & (ir::kFromEnd - 1), region.values[item.in[0]].tensor->dims.size()) == 0;
    case ir::Part::NoPart: return false;
  }
  return false;
}

bool HasLoopOfElements(const BatchRegion& region, const BatchRegion::Item& item) {
  if (!llvm::all_of(item.in, [&](uint32_t in) { return region.values[in].tensor != nullptr; })) return false;
  const ir::OpFacts& facts = ir::FactsOf(item.op);
  return facts.shape == ir::Shape::Chosen || (facts.shape == ir::Shape::Elementwise && facts.element != ir::Element::Converted);
}

void FindParts(BatchRegion& region) {
  auto bytes_of = [&](uint32_t value) { return region.values[value].count * ir::ElementBytes(region.values[value].tensor->element); };
  std::map<uint32_t, std::vector<BatchRegion::Part>> parts;  // by what they are parts of
  for (uint32_t r = 0; r < region.results.size(); ++r) {
    uint32_t value = region.results[r];
    size_t before = 0;
    while (value >= region.num_operands) {
      const BatchRegion::Item& item = region.ops[value - region.num_operands];
      if ((item.op != Op::Slice && item.op != Op::Reshape) || !IsPartOfOperand(region, item)) break;
      if (item.op == Op::Slice && item.attr & ir::kFromEnd) before += bytes_of(item.in[0]) - bytes_of(value);
      value = item.in[0];
    }
    if (value >= region.num_operands && !IsPartOfOperand(region, region.ops[value - region.num_operands])) parts[value].push_back({r, 0, before});
  }
  for (auto& [whole, of_it] : parts) {
    // A part that somebody holds keeps all of it.
    size_t seen = 0;
    for (const BatchRegion::Part& part : of_it) seen += bytes_of(region.results[part.result]);
    const bool slices = llvm::any_of(of_it, [&](const BatchRegion::Part& part) { return region.results[part.result] != whole; });
    if (!slices || seen < bytes_of(whole)) continue;
    auto end = [&](const BatchRegion::Part& part) { return part.before + bytes_of(region.results[part.result]); };
    for (BatchRegion::Part& part : of_it) {
      part.alone = llvm::none_of(of_it, [&](const BatchRegion::Part& other) {
        return &other != &part && other.before < end(part) && part.before < end(other);
      });
      part.whole = static_cast<uint32_t>(region.wholes.size());
      region.parts.push_back(part);
    }
    region.wholes.push_back(whole);
  }
}

void FindOverwrites(BatchRegion& region) {
  region.large = llvm::any_of(region.steps, [&](const BatchRegion::Step& step) { return region.values[step.value].count > kShortRow; }) ||
                 llvm::any_of(region.stages, [](const Stage& stage) { return stage.kind == Stage::Kind::Elements; }) ||
                 llvm::any_of(region.ops, [&](const BatchRegion::Item& item) { return region.Turned(item).has_value(); }) || !region.row_sums.empty();
  // What is smaller is as well off with memory of its own.
  constexpr size_t kLarge = 1 << 16;
  auto bytes_of = [&](uint32_t value) { return region.values[value].count * ir::ElementBytes(region.values[value].tensor->element); };
  // The ops in the order in which they are computed. None may need memory after something was written over: without it the batch would be
  // computed again. So there are only ops that take and give elements, and of what is not handed out only what strips have.
  if (!region.wholes.empty()) return;
  std::vector<std::pair<uint32_t, bool>> order;
  for (const Stage& stage : region.stages)
    for (uint32_t op : stage.ops) order.emplace_back(op, stage.kind == Stage::Kind::Elements);
  for (uint32_t op = 0; op < region.ops.size() && region.stages.empty(); ++op)
    if (region.in_step.empty() || !region.in_step[op]) order.emplace_back(op, false);
  std::vector<uint32_t> last_use(region.num_operands, 0);  // from 1 on, in that order
  for (uint32_t i = 0; i < order.size(); ++i) {
    auto [op, in_strips] = order[i];
    if (!in_strips && !(HasLoopOfElements(region, region.ops[op]) && llvm::is_contained(region.results, region.num_operands + op))) return;
    for (uint32_t in : region.ops[op].in)
      if (in < region.num_operands) last_use[in] = IsPartOfOperand(region, region.ops[op]) ? UINT32_MAX : std::max(last_use[in], i + 1);
  }
  for (const BatchRegion::Step& step : region.steps) last_use[step.x] = last_use[step.g] = UINT32_MAX;
  for (uint32_t i = 0; i < order.size(); ++i) {
    const uint32_t value = region.num_operands + order[i].first;
    auto result = llvm::find(region.results, value);
    if (result == region.results.end() || bytes_of(value) < kLarge || !HasLoopOfElements(region, region.ops[order[i].first])) continue;
    for (uint32_t x = 0; x < region.num_operands; ++x) {
      if (last_use[x] == 0 || last_use[x] > i + 1 || !region.values[x].tensor || region.values[x].count != region.values[value].count) continue;
      if (bytes_of(x) == bytes_of(value)) region.overwrites.push_back({x, static_cast<uint32_t>(result - region.results.begin())});
    }
  }
}

void PlanStrips(BatchRegion& region) { BatchPlanner(region).Plan(); }

}  // namespace df
