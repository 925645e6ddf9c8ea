// Which values a group of deferred ops computes again, when the graph is loaded (docs/batching.md, "What is computed again").
//
// A backward pass takes from the forward pass what the derivatives of its functions need: of a gate y = sigmoid(x) the y and the 1 - y. Each such
// value would be a tensor that is noted, written, kept until the backward pass comes, looked up and freed. That takes longer than to compute it once
// more from what is kept anyway, x or y, in a loop over all rows of a batch.
#include <algorithm>
#include <map>
#include <set>

#include "llvm/ADT/STLExtras.h"
#include "runtime/engines/plan/build.h"
#include "tagged_ir/tensor_rules.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;
using ir::TypeKind;

namespace {

class AgainFinder {
 public:
  AgainFinder(const Program& p, Wiring& w) : p_(p), w_(w), g_(w.g) {}

  void Run() {
    for (uint32_t pc = 0; pc < p_.code.size(); ++pc)
      if (p_.code[pc].code == Code::Defer)
        for (uint32_t i = 1; i <= p_.code[pc].c; ++i) made_[p_.node_of[pc + i]] = {pc, pc + i};
    std::vector<uint32_t> groups;
    for (uint32_t n = 0; n < g_.nodes.size(); ++n) {
      auto user = made_.find(NodeId(n));
      for (Edge edge : g_.InputsOf(NodeId(n))) {
        NodeId value = user != made_.end() ? Source(edge) : edge.node;
        auto maker = made_.find(value);
        if (maker == made_.end()) continue;
        // What goes over a Switch is also used there.
        if (user == made_.end()) outside_.insert(value);
        else if (user->second.group != maker->second.group) takers_[value].insert(user->second.group);
      }
      if (user != made_.end()) groups.push_back(user->second.group);
    }
    llvm::sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    for (uint32_t group : groups) Visit(group);
    w_.handed_out.assign(g_.nodes.size(), false);
    for (NodeId value : outside_) w_.handed_out[value.index] = true;
    for (const auto& [value, by] : takers_) w_.handed_out[value.index] = !by.empty() || outside_.count(value);
  }

 private:
  struct Made {
    uint32_t group;  // pc of its Defer
    uint32_t pc;
  };
  using Values = std::set<NodeId>;

  NodeId Source(Edge edge) const {
    while (g_.nodes[edge.node].op == Op::Switch) edge = w_.In(edge.node, 1);
    return edge.node;
  }
  size_t BytesOf(NodeId value) const {
    return ir::BytesOf(g_.types[g_.TypeOf({value, 0}).type]);
  }
  // Whether it is a tensor whatever `group` does.
  bool IsHandedOut(NodeId value, uint32_t group) const {
    if (outside_.count(value)) return true;
    auto it = takers_.find(value);
    return it != takers_.end() && llvm::any_of(it->second, [&](uint32_t other) { return other != group; });
  }
  // An op that takes less time than a tensor between groups. What another device computes is computed there alone.
  bool IsCheap(NodeId value, uint32_t group) const {
    const ir::Node& node = g_.nodes[value];
    if (w_.DeviceOf(value) != w_.DeviceOf(p_.node_of[group + 1])) return false;
    if (p_.code[made_.find(value)->second.pc].code != Code::Op) return false;
    const ir::Type& type = g_.types[g_.TypeOf({value, 0}).type];
    if (ir::FactsOf(node.op).part == ir::Part::PartOnFirstAxis) return ir::AxisOf(node.attr & (ir::kFromEnd - 1), type.dims.size()) == 0;
    switch (ir::FactsOf(node.op).recompute) {
      case ir::Recompute::Cheaper: return true;
      // By the loops of backends/cpu, some elements at once.
      case ir::Recompute::CheaperOfFloats: return type.element == TypeKind::Float;
      case ir::Recompute::Dearer: return false;
    }
    return false;
  }
  // What is noted more if `group` takes it: an operand, and if nobody else does a result.
  size_t CostOf(NodeId value, uint32_t group) const {
    if (made_.count(value) && !IsHandedOut(value, group)) return 2;
    return operands_.count(value) ? 0 : 1;
  }

  // The values from which `group` can compute one that an earlier group makes, by cheap ops. The value itself, if that would be more than one tensor.
  const Values& SourcesOf(NodeId value, uint32_t group) {
    auto [it, added] = sources_.try_emplace(value);
    if (!added) return it->second;
    Values sources;
    size_t cost = 0;
    if (!IsHandedOut(value, group) && IsCheap(value, group)) {
      for (Edge edge : g_.InputsOf(value)) {
        NodeId from = Source(edge);
        if (w_.IsConstant(from) || g_.nodes[from].op == Op::Const) continue;
        if (!made_.count(from)) sources.insert(from);
        else if (Values more = SourcesOf(from, group); true) sources.insert(more.begin(), more.end());
      }
      for (NodeId source : sources) cost += CostOf(source, group);
      if (cost > 2 || (cost == 2 && sources.size() > 1)) sources.clear();
    }
    if (sources.empty()) sources.insert(value);
    return sources_[value] = std::move(sources);
  }

  // Whether a group hands out anything when a later one does `again` and takes `from`. If not it would be no group.
  bool HasResult(uint32_t group, const Values& again, const Values& from) const {
    for (uint32_t i = 1; i <= p_.code[group].c; ++i) {
      NodeId value = p_.node_of[group + i];
      auto it = takers_.find(value);
      if (outside_.count(value) || from.contains(value) || (it != takers_.end() && !it->second.empty() && !again.contains(value))) return true;
    }
    return false;
  }

  void Visit(uint32_t group) {
    operands_.clear();
    sources_.clear();
    Values wanted;  // only by this group, of others
    for (uint32_t i = 1; i <= p_.code[group].c; ++i)
      for (Edge edge : g_.InputsOf(p_.node_of[group + i])) {
        NodeId value = Source(edge);
        auto maker = made_.find(value);
        bool other = maker != made_.end() && maker->second.group != group;
        if (other && !IsHandedOut(value, group)) wanted.insert(value);
        else if (other || maker == made_.end()) operands_.insert(value);
      }
    Values again, from;
    auto find_sources = [&] {
      from.clear();
      for (NodeId value : again) from.insert(SourcesOf(value, group).begin(), SourcesOf(value, group).end());
    };
    llvm::copy_if(wanted, std::inserter(again, again.end()), [&](NodeId value) { return !SourcesOf(value, group).count(value); });
    find_sources();
    while (std::erase_if(again, [&](NodeId value) { return !HasResult(made_.find(value)->second.group, again, from); })) find_sources();
    size_t saved = 2 * again.size(), cost = 0, bytes = 0, more_bytes = 0;
    for (NodeId value : again) bytes += BytesOf(value);
    for (NodeId value : from) {
      cost += CostOf(value, group);
      if (made_.count(value) && !IsHandedOut(value, group)) more_bytes += BytesOf(value);
    }
    if (cost >= saved || more_bytes > bytes) return;
    std::vector<uint32_t>& ops = w_.again[group];
    std::set<NodeId> done(from.begin(), from.end());
    auto add = [&](auto&& self, NodeId value) -> void {
      if (!made_.count(value) || !done.insert(value).second) return;
      for (Edge edge : g_.InputsOf(value)) self(self, Source(edge));
      ops.push_back(made_.find(value)->second.pc);
    };
    for (NodeId value : again) {
      add(add, value);
      takers_[value].erase(group);
    }
    for (NodeId value : from)
      if (made_.count(value)) takers_[value].insert(group);
  }

  const Program& p_;
  Wiring& w_;
  const ir::Graph& g_;
  std::map<NodeId, Made> made_;                  // by groups
  std::set<NodeId> outside_;                     // of these, what somebody takes who is in no group
  std::map<NodeId, std::set<uint32_t>> takers_;  // of these, other groups that take them
  // Of the group that is visited:
  std::set<NodeId> operands_;  // that are there in any case
  std::map<NodeId, Values> sources_;
};

}  // namespace

void FindComputedAgain(const Program& program, Wiring& wiring) { AgainFinder(program, wiring).Run(); }

}  // namespace df::tagged
