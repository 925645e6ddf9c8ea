// Which parameters a result of a function may hang on. See plan/build.h and plan/group.cpp.
//
// The least solution of: what a value may hang on is what any of its operands may; of a call's result, the arguments for the
// parameters that the callee's result may hang on. Of a paired function (docs/gradients.md) the values do not hang on the
// cotangents, so a caller may compute these from those. The first 63 parameters of a scope have a bit each, the others one together.
// Results of loops and of delayed calls count as hanging on all that goes in.
#include <algorithm>

#include "runtime/engines/plan/build.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

namespace {

using Bits = uint64_t;
constexpr Bits kAllBits = ~Bits{0};

class ParameterReach {
 public:
  explicit ParameterReach(Wiring& wiring) : w_(wiring), g_(wiring.g), bits_(g_.results.size(), 0) {
    w_.parameter_bit.assign(g_.nodes.size(), 0);
    for (uint32_t i = 0; i < g_.scopes.size(); ++i) {
      w_.hangs_on.push_back(std::vector<Bits>(w_.results_of[i].size(), 0));
      uint32_t count = 0;
      for (NodeId id : w_.nodes_in[i])
        if (g_.nodes[id].op == Op::EntryMerge && !w_.IsTrigger({id, 0})) w_.parameter_bit[id.index] = Bits{1} << std::min(count++, 63u);
    }
  }
  void Run();

 private:
  Bits OfArguments(uint32_t site, Bits inner) const;
  Bits OfNode(NodeId id) const;
  bool Update(uint32_t scope);

  Wiring& w_;
  const ir::Graph& g_;
  std::vector<Bits> bits_;  // by row
};

Bits ParameterReach::OfArguments(uint32_t s, Bits inner) const {
  const SiteNodes& site = w_.sites[s];
  Bits all = 0;
  for (Edge edge : g_.InputsOf(site.trigger)) all |= bits_[w_.RowOf(edge)];
  for (NodeId argument : site.arguments) {
    NodeId merge = w_.merge_of[w_.RowOf(argument)];
    if (inner == kAllBits || (merge.valid() && inner & w_.parameter_bit[merge.index])) all |= bits_[w_.RowOf(w_.In(argument, 0))];
  }
  return all;
}

Bits ParameterReach::OfNode(NodeId id) const {
  const ir::Node& node = g_.nodes[id];
  switch (node.op) {
    case Op::EntryMerge: return w_.parameter_bit[id.index];
    case Op::Outer: return kAllBits;
    case Op::Return: {
      const ir::Site& site = g_.sites[ir::SiteId(node.attr)];
      bool call = site.kind == ir::SiteKind::Call;
      return OfArguments(node.attr, call ? w_.hangs_on[site.callee.index][w_.result_of_return[id.index]] : kAllBits);
    }
    case Op::Exit: return OfArguments(w_.LoopSite(g_.LoopOf(id)), kAllBits);
    default: {
      Bits all = 0;
      for (Edge edge : g_.InputsOf(id)) all |= bits_[w_.RowOf(edge)];
      return all;
    }
  }
}

// Whether a result of the scope may hang on more than was known. Values hang on earlier ones mostly, and cotangents of calls on later
// ones: so nodes are visited forwards and backwards in turn.
bool ParameterReach::Update(uint32_t scope) {
  const std::vector<NodeId>& nodes = w_.nodes_in[scope];
  bool again = true;
  auto visit = [&](NodeId id) {
    const ir::Node& node = g_.nodes[id];
    if (node.num_results == 0) return;
    Bits now = OfNode(id);
    for (uint32_t r = 0; r < node.num_results; ++r) {
      Bits& row = bits_[node.first_result + r];
      again |= (row | now) != row;
      row |= now;
    }
  };
  while (again) {
    again = false;
    std::for_each(nodes.begin(), nodes.end(), visit);
    if (again) std::for_each(nodes.rbegin(), nodes.rend(), visit);
  }
  bool changed = false;
  for (uint32_t r = 0; r < w_.results_of[scope].size(); ++r) {
    Bits now = bits_[w_.results_of[scope][r]];
    changed |= now != w_.hangs_on[scope][r];
    w_.hangs_on[scope][r] = now;
  }
  return changed;
}

void ParameterReach::Run() {
  std::vector<std::vector<uint32_t>> callers(g_.scopes.size());
  for (const ir::Site& site : g_.sites) callers[site.callee.index].push_back(site.caller.index);
  std::vector<bool> dirty(g_.scopes.size(), true);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = g_.scopes.size(); i-- > 0;) {
      // Who calls a loop's scope is its parent, for which it counts as hanging on all.
      if (!dirty[i] || g_.scopes[ir::ScopeId(i)].kind == ir::ScopeKind::Loop) continue;
      dirty[i] = false;
      if (!Update(i)) continue;
      for (uint32_t caller : callers[i]) dirty[caller] = again = true;
    }
  }
}

}  // namespace

void FindParameterReach(Wiring& wiring) { ParameterReach(wiring).Run(); }

}  // namespace df::tagged
