// Which ops on tensors of a region are deferred together (docs/batching.md), when the graph is loaded.
//
// A region's nodes become ready together. Those of them that compute tensors and cannot fail are put next to each other, behind
// what they need and before what needs them: a group. What stands between two such ops, and needs the one and is needed by the
// other, makes two groups of them.
#include <algorithm>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "runtime/batch/batch_places.h"
#include "runtime/device/batch_plan.h"
#include "runtime/device/device.h"
#include "runtime/engines/plan/build.h"
#include "runtime/ops/tensor_kernels.h"
#include "tagged_ir/tensor_rules.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;
using ir::TypeKind;

namespace {

bool IsReal(TypeKind element) { return element == TypeKind::Float || element == TypeKind::Double; }

}  // namespace

// ---------------------------------------------------------------- groups

// Reorders the local items of a region, and puts an item Defer before each group. What different devices compute is in different groups.
void DeferTensors(const Wiring& w, std::vector<Item>& items) {
  const ir::Graph& g = w.g;
  std::map<NodeId, size_t> made_by;  // items of this region, by node
  std::vector<bool> deferrable(items.size(), false);
  std::vector<bool> acts(items.size(), false);  // on other regions, or outwards: after all that is computed, in its order
  // What may give a tensor that could not be computed is a group by itself: so a row of any other group is a whole, or none of it is.
  std::vector<bool> alone(items.size(), false);
  bool any = false;
  for (size_t i = 0; i < items.size(); ++i) {
    bool op = items[i].code == Code::Op || items[i].code == Code::OpMany;
    deferrable[i] = op && IsDeferrable(g, items[i].node);
    alone[i] = deferrable[i] && MayGiveFailedTensor(g.nodes[items[i].node].op);
    any |= deferrable[i];
    switch (items[i].code) {
      case Code::Op:
      case Code::OpMany:
      case Code::Construct:
      case Code::Delay:
      case Code::DelayAll:
      case Code::Merge:
      case Code::Input: made_by.try_emplace(items[i].node, i); break;
      case Code::DelayArg: break;
      default: acts[i] = true;
    }
  }
  if (!any) return;
  // In which round an item's turn comes: each has what is not deferred first, then a group, of each device.
  std::vector<uint32_t> round(items.size(), 0);
  uint32_t last = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    NodeId id = items[i].node;
    if (acts[i]) continue;
    auto after = [&](size_t j) {
      if (j >= i) return;
      const bool apart = !deferrable[i] || alone[i] || alone[j] || w.DeviceOf(items[i].node) != w.DeviceOf(items[j].node);
      uint32_t least = round[j] + (deferrable[j] && apart ? 1 : 0);
      round[i] = std::max(round[i], least);
    };
    if (auto self = made_by.find(id); self != made_by.end()) after(self->second);  // an operand of a Delay comes after it
    for (Edge edge : g.InputsOf(id)) {
      while (g.nodes[edge.node].op == Op::Switch) edge = w.In(edge.node, 1);
      if (auto it = made_by.find(edge.node); it != made_by.end()) after(it->second);
    }
    last = std::max(last, round[i]);
  }
  std::vector<Item> sorted;
  for (uint32_t r = 0; r <= last; ++r) {
    for (size_t i = 0; i < items.size(); ++i)
      if (round[i] == r && !deferrable[i] && !acts[i]) sorted.push_back(items[i]);
    std::map<uint8_t, std::vector<Item>> groups;  // by device
    for (size_t i = 0; i < items.size(); ++i)
      if (round[i] == r && deferrable[i] && !alone[i]) groups[w.DeviceOf(items[i].node)].push_back(items[i]);
    for (const auto& [device, group] : groups) {
      sorted.push_back({Code::Defer, NodeId(), static_cast<uint32_t>(group.size())});
      sorted.insert(sorted.end(), group.begin(), group.end());
    }
    for (size_t i = 0; i < items.size(); ++i) {
      if (round[i] != r || !alone[i]) continue;
      sorted.push_back({Code::Defer, NodeId(), 1});
      sorted.push_back(items[i]);
    }
  }
  for (size_t i = 0; i < items.size(); ++i)
    if (acts[i]) sorted.push_back(items[i]);
  items = std::move(sorted);
}

// ---------------------------------------------------------------- the regions of ops

namespace {

class GroupReader {
 public:
  GroupReader(Program& p, const Wiring& w, const Options& options) : p_(p), w_(w), g_(w.g), options_(options) {}

  // The group behind the Defer at `pc`.
  void Read(uint32_t pc) {
    Instr& defer = p_.code[pc];
    TensorGroup group;
    BatchRegion& region = group.region;
    region.index = static_cast<uint32_t>(p_.tensor_groups.size());
    std::map<NodeId, uint32_t> place;  // of the group's ops
    std::map<uint32_t, uint32_t> operand_of;  // by slot or constant
    std::vector<uint32_t> ops;  // places in the code: those of other groups first
    if (auto it = w_.again.find(pc); it != w_.again.end()) ops = group.again = it->second;
    for (uint32_t i = 1; i <= defer.c; ++i) ops.push_back(pc + i);
    for (uint32_t i = 0; i < ops.size(); ++i) place[p_.node_of[ops[i]]] = i;
    region.device = w_.DeviceOf(p_.node_of[pc + 1]);
    const bool away = IsAway(region.device);
    region.placed = away && region.device != 0;
    // Operands first: their number decides where the ops' values begin.
    bool tensors = false;
    ForEachOperand(ops, [&](NodeId, uint32_t, Edge edge, uint32_t slot, bool last) {
      if (place.count(Source(edge))) return;
      auto [it, added] = operand_of.try_emplace(slot, static_cast<uint32_t>(group.operands.size()));
      if (added) {
        const ir::Type& type = g_.types[g_.TypeOf(edge).type];
        bool tensor = type.kind == TypeKind::Tensor;
        group.operands.push_back(slot);
        group.last.push_back(false);
        region.values.push_back({tensor ? &type : nullptr, type.kind});
        tensors |= tensor && !IsConstant(slot);
      }
      if (last) group.last[it->second] = true;
    });
    region.num_operands = static_cast<uint32_t>(group.operands.size());
    const size_t others = DropUnneeded(ops, group.again.size(), place);
    ForEachOperand(ops, [&](NodeId node, uint32_t k, Edge edge, uint32_t slot, bool) {
      if (k == 0) {
        const ir::Node& n = g_.nodes[node];
        region.ops.push_back({n.op, n.attr, TypesOf(g_, node), {}});
        region.values.push_back({&g_.types[g_.TypeOf({node, 0}).type], TypeKind::Tensor});
      }
      auto it = place.find(Source(edge));
      region.ops.back().in.push_back(it != place.end() ? region.num_operands + it->second : operand_of[slot]);
    });
    for (uint32_t pc : ops)
      if (NodeId node = p_.node_of[pc]; !w_.checked.empty() && w_.checked[node.index]) group.checked.push_back(p_.code[pc].a);
    for (size_t i = others; i < ops.size(); ++i) {
      if (!w_.handed_out[p_.node_of[ops[i]].index]) continue;
      region.results.push_back(region.num_operands + static_cast<uint32_t>(i));
      group.results.push_back(p_.code[ops[i]].a);
    }
    if (region.results.empty()) return;
    if (WritesNumbers(ops)) return;
    // Of numbers alone: it is computed where it stands. But what is large, a rate for each weight, need not be sent to a
    // device; and what the program has put on one is computed there.
    if (!tensors && !region.placed && !(away && HasLargeResult(region))) return;
    region.one_by_one = MayGiveFailedTensor(region.ops.back().op);
    if (region.one_by_one) TensorObject::ExpectFailures();
    FindChecks(region);
    FindWeights(region);
    FindTableRows(region);
    FindSteps(region);
    if (!away) FindRowSums(region);
    if (!away) FindParts(region);
    if (!away && options_.strips) PlanStrips(region);
    if (!away) FindOverwrites(region);
    defer.b = region.index;
    p_.tensor_groups.push_back(std::move(group));
  }

 private:
  // Whether a device, as Wiring::DeviceOf numbers them, has memory of its own.
  bool IsAway(uint32_t device) const {
    if (device == 0) return options_.away;
    const Device* placed = options_.placed->devices[device - 1];
    return placed && !placed->is_host();
  }
  NodeId Source(Edge edge) const {
    while (g_.nodes[edge.node].op == Op::Switch) edge = w_.In(edge.node, 1);
    return edge.node;
  }
  // Whether all that a group does is to write numbers into a tensor that a loop passes on, as `tabulate` does, or into a large one: each waits for
  // the one before it, and is done at once, in place. Deferred, each element would be a batch of its own, which copies the tensor.
  bool WritesNumbers(llvm::ArrayRef<uint32_t> ops) const {
    constexpr size_t kLarge = 1 << 16;  // bytes, of which a copy takes some microseconds
    return llvm::all_of(ops, [&](uint32_t pc) {
      NodeId node = p_.node_of[pc];
      if (g_.nodes[node].op != Op::SetElement || g_.types.Kind(g_.TypeOf(w_.In(node, 2)).type) == TypeKind::Tensor) return false;
      if (ir::BytesOf(g_.types[g_.TypeOf({node, 0}).type]) >= kLarge) return true;
      NodeId from = node;
      while (g_.nodes[from].op == Op::SetElement) from = Source(w_.In(from, 0));
      return g_.nodes[from].op == Op::LoopMerge && ComesFrom(w_.In(from, 1), node);
    });
  }
  // Whether a value that goes round is what the node gives, as it is or with other elements set behind it.
  bool ComesFrom(Edge edge, NodeId node, uint32_t depth = 0) const {
    NodeId from = Source(edge);
    if (from == node) return true;
    if (depth == 16) return false;
    switch (g_.nodes[from].op) {
      case Op::NextIteration:
      case Op::SetElement: return ComesFrom(w_.In(from, 0), node, depth + 1);
      case Op::BranchMerge: return ComesFrom(w_.In(from, 1), node, depth + 1) || ComesFrom(w_.In(from, 2), node, depth + 1);
      default: return false;
    }
  }
  // Calls visit(node, operand's number, edge, slot or constant, whether it is used for the last time).
  template <typename Visit>
  void ForEachOperand(llvm::ArrayRef<uint32_t> ops, Visit visit) const {
    for (uint32_t pc : ops) {
      const Instr& in = p_.code[pc];
      NodeId node = p_.node_of[pc];
      for (uint32_t k = 0; k < g_.nodes[node].num_inputs; ++k) {
        uint32_t slot = in.code == Code::OpMany ? p_.lists[in.b + k] : k ? in.c : in.b;
        bool last = in.code == Code::OpMany ? !IsConstant(slot) && slot & kLast : (in.aux & (k ? kLastC : kLastB)) != 0;
        visit(node, k, w_.In(node, k), ListOperand(slot), last);
      }
    }
  }
  // Takes out what only groups took that compute it again, of which the first `others` are no results. How many of those are left.
  size_t DropUnneeded(std::vector<uint32_t>& ops, size_t others, std::map<NodeId, uint32_t>& place) const {
    std::vector<bool> needed(ops.size(), false);
    for (size_t i = ops.size(); i-- > 0;) {
      NodeId node = p_.node_of[ops[i]];
      needed[i] = needed[i] || (i >= others && w_.handed_out[node.index]);
      if (!needed[i]) continue;
      for (Edge edge : g_.InputsOf(node))
        if (auto it = place.find(Source(edge)); it != place.end()) needed[it->second] = true;
    }
    std::vector<uint32_t> kept;
    place.clear();
    size_t kept_others = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!needed[i]) continue;
      place[p_.node_of[ops[i]]] = static_cast<uint32_t>(kept.size());
      kept.push_back(ops[i]);
      kept_others += i < others;
    }
    ops = std::move(kept);
    return kept_others;
  }
  static bool HasLargeResult(const BatchRegion& region) {
    return llvm::any_of(region.results, [&](uint32_t value) {
      return ir::BytesOf(*region.values[value].tensor) >= BatchPlaces::kLarge;
    });
  }
  static void FindChecks(BatchRegion& region) {
    for (const BatchRegion::Item& item : region.ops) {
      if (!region.values[item.in[0]].tensor) continue;
      const ir::Type& x = *region.values[item.in[0]].tensor;
      if (const int8_t index = ir::FactsOf(item.op).index; index >= 0)
        region.checks.push_back({item.in[static_cast<size_t>(index)], ir::LargestIndex(item.op, x.dims, item.types.result_type->dims)});
    }
  }
  static void FindWeights(BatchRegion& region) {
    auto add = [&](uint32_t operand) {
      if (operand >= region.num_operands || region.values[operand].tensor->dims.size() != 2) return;
      if (std::find(region.weights.begin(), region.weights.end(), operand) == region.weights.end()) region.weights.push_back(operand);
    };
    for (const BatchRegion::Item& item : region.ops) {
      if (item.op != Op::MatMul && item.op != Op::Gemm) continue;
      add(item.in[1]);
      if (region.values[item.in[1]].tensor->dims.size() == 1) add(item.in[0]);
    }
  }
  static void FindTableRows(BatchRegion& region) {
    for (uint32_t r = 0; r < region.results.size(); ++r) {
      const BatchRegion::Item& item = region.ops[region.results[r] - region.num_operands];
      bool row = item.op == Op::Gather && item.in[0] < region.num_operands && item.in[1] < region.num_operands;
      if (row && !region.values[item.in[1]].tensor) region.table_rows.push_back({item.in[0], item.in[1], r});
    }
  }
  // And what is written over an operand otherwise.
  static void FindSteps(BatchRegion& region) {
    std::vector<uint32_t> uses(region.values.size(), 0);
    for (const BatchRegion::Item& item : region.ops)
      for (uint32_t in : item.in) ++uses[in];
    // Whether nothing but the op `by` sees the value.
    auto once = [&](uint32_t value) { return uses[value] == 1 && !llvm::is_contained(region.results, value); };
    auto op_of = [&](uint32_t value, Op op) {
      return value >= region.num_operands && region.ops[value - region.num_operands].op == op && once(value);
    };
    for (uint32_t i = 0; i < region.ops.size(); ++i) {
      const uint32_t value = region.num_operands + i;
      const BatchRegion::Item& item = region.ops[i];
      auto result = llvm::find(region.results, value);
      if (item.op == Op::SetElement && result != region.results.end() && uses[value] == 0 && item.in[0] < region.num_operands && once(item.in[0]))
        region.overwrites.push_back({item.in[0], static_cast<uint32_t>(result - region.results.begin())});
      if (item.op != Op::Sub || result == region.results.end() || uses[value] > 0 || !IsReal(region.values[value].tensor->element)) continue;
      uint32_t x = item.in[0], product = item.in[1];
      if (x >= region.num_operands || !once(x) || !op_of(product, Op::Mul)) continue;
      const BatchRegion::Item& factors = region.ops[product - region.num_operands];
      uint32_t g = factors.in[0], filled = factors.in[1];
      if (filled < region.num_operands) std::swap(g, filled);
      if (g >= region.num_operands || !once(g) || !op_of(filled, Op::Expand)) continue;
      uint32_t k = region.ops[filled - region.num_operands].in[0];
      if (k >= region.num_operands || region.values[k].tensor) continue;
      region.in_step.resize(region.ops.size());
      for (uint32_t done : {value, product, filled}) region.in_step[done - region.num_operands] = true;
      region.steps.push_back({x, g, k, value, static_cast<uint32_t>(result - region.results.begin())});
    }
  }

  // Sums of what may be gradients of a table. What is smaller is spread out as fast.
  static void FindRowSums(BatchRegion& region) {
    constexpr size_t kLarge = 4096;  // elements
    std::vector<uint32_t> uses(region.values.size(), 0);
    for (const BatchRegion::Item& item : region.ops)
      for (uint32_t in : item.in) ++uses[in];
    auto is_once_used_operand = [&](uint32_t value) { return value < region.num_operands && uses[value] == 1; };
    for (uint32_t r = 0; r < region.results.size(); ++r) {
      const uint32_t value = region.results[r];
      const BatchRegion::Item& item = region.ops[value - region.num_operands];
      if (item.op != Op::Add || uses[value] > 0 || region.values[value].count <= kLarge || !IsReal(region.values[value].tensor->element)) continue;
      if (llvm::all_of(item.in, is_once_used_operand)) region.row_sums.push_back({item.in[0], item.in[1], value, r});
    }
    auto is_elementwise = [&](const BatchRegion::Item& item) { return HasLoopOfElements(region, item); };
    region.alone = !region.row_sums.empty() && llvm::all_of(region.ops, is_elementwise);
  }

  Program& p_;
  const Wiring& w_;
  const ir::Graph& g_;
  const Options& options_;
};

}  // namespace

void ReadTensorGroups(Program& program, const Wiring& wiring, const Options& options) {
  GroupReader reader(program, wiring, options);
  for (uint32_t pc = 0; pc < program.code.size(); ++pc)
    if (program.code[pc].code == Code::Defer) reader.Read(pc);
}

}  // namespace df::tagged
