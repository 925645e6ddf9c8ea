// Which parameters every result of their function or loop hangs on. See plan/build.h and plan/group.cpp.
//
// The greatest solution of: what a result needs is what its operands need; of a branch, what the predicate needs and what
// all sides need; of a call's result, the arguments for the parameters that the callee's result needs. A dead value needs
// everything, since it never comes. At most 64 parameters of a scope are followed; the others count as not needed.
//
// Surely is the same question of all values of a scope, backwards from its results, as the least solution: what a needed
// value is computed from; of a branch, the predicate, and on each side what that side yields; a value that is passed into a
// branch, if each side needs it. At most 64 results are followed.
#include "runtime/engines/plan/build.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

namespace {

using Needs = uint64_t;  // a bit per parameter of the scope
constexpr Needs kAll = ~Needs{0};

class StrictParameters {
 public:
  explicit StrictParameters(Wiring& wiring);
  void Run();

 private:
  Needs Of(Edge edge) const { return needs_[w_.RowOf(edge)]; }
  Needs OfParameter(NodeId merge) const {
    uint32_t i = parameter_[merge.index];
    return i < 64 ? Needs{1} << i : 0;
  }
  Needs OfCall(uint32_t site, uint32_t callee, uint32_t result) const;
  Needs OfNode(NodeId id) const;
  bool Update(ir::ScopeId scope);

  Wiring& w_;
  const ir::Graph& g_;
  std::vector<uint32_t> parameter_;           // by node: of merges
  std::vector<std::vector<Needs>> of_result_; // by scope and result
  std::vector<Needs> needs_;                  // by row
};

StrictParameters::StrictParameters(Wiring& wiring) : w_(wiring), g_(wiring.g), parameter_(g_.nodes.size(), kNone), needs_(g_.results.size(), 0) {
  for (uint32_t i = 0; i < g_.scopes.size(); ++i) {
    of_result_.push_back(std::vector<Needs>(w_.results_of[i].size(), kAll));
    uint32_t count = 0;
    for (NodeId id : w_.nodes_in[i]) {
      Op op = g_.nodes[id].op;
      if ((op == Op::EntryMerge || op == Op::LoopMerge) && !w_.IsTrigger({id, 0})) parameter_[id.index] = count++;
    }
    w_.order.push_back(Partition(w_, ir::ScopeId(i)).Order());
  }
}

// What a result of a call or loop needs of the caller's parameters.
Needs StrictParameters::OfCall(uint32_t s, uint32_t callee, uint32_t result) const {
  const SiteNodes& site = w_.sites[s];
  Needs all = Of(w_.In(site.trigger, 0)), inner = of_result_[callee][result];
  for (NodeId argument : site.arguments) {
    NodeId merge = w_.merge_of[w_.RowOf(argument)];
    if (merge.valid() && (inner & OfParameter(merge))) all |= Of(w_.In(argument, 0));
  }
  return all;
}

Needs StrictParameters::OfNode(NodeId id) const {
  const ir::Node& node = g_.nodes[id];
  llvm::ArrayRef<Edge> in = g_.InputsOf(id);
  switch (node.op) {
    case Op::Start: return 0;
    case Op::EntryMerge:
    case Op::LoopMerge: return w_.IsTrigger({id, 0}) ? 0 : OfParameter(id);
    case Op::Dead: return kAll;
    case Op::Delay:
    case Op::Outer: return Of(in[0]);
    case Op::BranchMerge: {
      Needs sides = kAll;
      for (Edge edge : in.drop_front()) sides &= Of(edge);
      return Of(in[0]) | sides;
    }
    case Op::Return:
      return OfCall(node.attr, g_.sites[ir::SiteId(node.attr)].callee.index, w_.result_of_return[id.index]);
    case Op::Exit: return OfCall(w_.LoopSite(g_.LoopOf(id)), node.attr, w_.result_of_return[id.index]);
    default: {
      Needs all = 0;
      for (Edge edge : in) all |= Of(edge);
      return all;
    }
  }
}

bool StrictParameters::Update(ir::ScopeId scope) {
  for (NodeId id : w_.order[scope.index]) {
    const ir::Node& node = g_.nodes[id];
    if (node.op == Op::Call || node.op == Op::Enter || node.op == Op::NextIteration || node.op == Op::Result) continue;
    if (node.num_results == 0) continue;
    Needs needs = OfNode(id);
    for (uint32_t r = 0; r < node.num_results; ++r) needs_[node.first_result + r] = needs;
  }
  bool changed = false;
  bool loop = g_.scopes[scope].kind == ir::ScopeKind::Loop;
  const SiteNodes* site = loop ? &w_.sites[w_.LoopSite(scope)] : nullptr;
  for (uint32_t r = 0; r < of_result_[scope.index].size(); ++r) {
    Needs& needs = of_result_[scope.index][r];
    Needs now;
    if (loop) {
      // This iteration's value, or what the next iteration needs for it.
      Needs next = site->next_trigger.valid() ? 0 : kAll;
      for (NodeId id : site->next) {
        NodeId merge = w_.merge_of[w_.RowOf(id)];
        if (merge.valid() && (needs & OfParameter(merge))) next |= Of(w_.In(id, 0));
      }
      NodeId exit = site->returns[r];
      now = Of(w_.In(exit, 0)) | (Of(w_.In(exit, 1)) & next);
    } else {
      now = needs_[w_.results_of[scope.index][r]];
    }
    now &= needs;  // only ever less, so this ends
    changed |= now != needs;
    needs = now;
  }
  return changed;
}

void StrictParameters::Run() {
  std::vector<std::vector<uint32_t>> callers(g_.scopes.size());
  for (const ir::Site& site : g_.sites) callers[site.callee.index].push_back(site.caller.index);
  for (uint32_t i = 0; i < g_.scopes.size(); ++i)
    if (g_.scopes[ir::ScopeId(i)].kind == ir::ScopeKind::Loop)
      callers[i].push_back(g_.scopes[ir::ScopeId(i)].parent.index), callers[i].push_back(i);
  std::vector<bool> dirty(g_.scopes.size(), true);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = g_.scopes.size(); i-- > 0;) {
      if (!dirty[i]) continue;
      dirty[i] = false;
      if (!Update(ir::ScopeId(i))) continue;
      for (uint32_t caller : callers[i]) dirty[caller] = again = true;
    }
  }
  for (uint32_t i = 0; i < g_.scopes.size(); ++i) {
    Needs all = of_result_[i].empty() ? 0 : kAll;
    for (Needs needs : of_result_[i]) all &= needs;
    for (NodeId id : w_.nodes_in[i])
      if (parameter_[id.index] != kNone) w_.needed[id.index] = (all & OfParameter(id)) != 0;
  }
}

class Surely {
 public:
  explicit Surely(Wiring& wiring) : w_(wiring), g_(wiring.g), bits_(g_.results.size(), 0) {}
  void Run() {
    for (ir::ScopeId scope(0); scope.index < g_.scopes.size(); ++scope.index) RunScope(scope);
  }

 private:
  void RunScope(ir::ScopeId scope);
  void Mark(Edge edge, Needs bits);
  void MarkEnd(Edge edge, Needs bits);
  void Spread(NodeId id);
  void MarkArguments(llvm::ArrayRef<NodeId> arguments, Needs bits);

  Wiring& w_;
  const ir::Graph& g_;
  std::vector<Needs> bits_;  // by row: the results that need it
  std::vector<NodeId> work_;
};

void Surely::Mark(Edge edge, Needs bits) {
  Needs& row = bits_[w_.RowOf(edge)];
  if ((row | bits) == row) return;
  row |= bits;
  work_.push_back(edge.node);
}

// What a loop gives at its end is needed only in the iteration that ends it: on the sides that do.
void Surely::MarkEnd(Edge edge, Needs bits) {
  if (g_.nodes[edge.node].op != Op::BranchMerge) return;
  for (Edge side : g_.InputsOf(edge.node).drop_front()) {
    if (g_.nodes[side.node].op == Op::BranchMerge) MarkEnd(side, bits);
    else if (g_.nodes[side.node].op != Op::Dead) Mark(side, bits);
  }
}

void Surely::MarkArguments(llvm::ArrayRef<NodeId> arguments, Needs bits) {
  for (NodeId argument : arguments) {
    NodeId merge = w_.merge_of[w_.RowOf(argument)];
    if (merge.valid() && w_.needed[merge.index]) Mark(w_.In(argument, 0), bits);
  }
}

void Surely::Spread(NodeId id) {
  const ir::Node& node = g_.nodes[id];
  llvm::ArrayRef<Edge> in = g_.InputsOf(id);
  Needs bits = bits_[node.first_result];
  switch (node.op) {
    case Op::Start:
    case Op::EntryMerge:
    case Op::LoopMerge:
    case Op::Dead:
    case Op::Delay:
    case Op::Outer:
    case Op::Const: return;
    case Op::Switch:
      for (uint32_t side = 1; side < node.num_results; ++side) bits &= bits_[node.first_result + side];
      Mark(in[1], bits);
      return;
    case Op::Return: return MarkArguments(w_.sites[node.attr].arguments, bits);
    case Op::Exit: return MarkArguments(w_.sites[w_.LoopSite(g_.LoopOf(id))].arguments, bits);
    default:
      for (Edge edge : in) Mark(edge, bits);
  }
}

void Surely::RunScope(ir::ScopeId scope) {
  std::vector<uint32_t> results = w_.results_of[scope.index];
  if (g_.scopes[scope].kind == ir::ScopeKind::Root)
    for (NodeId id : w_.nodes_in[scope.index])
      if (g_.nodes[id].op == Op::Result) results.push_back(w_.RowOf(w_.In(id, 0)));
  if (results.empty() || results.size() > 64) return;
  Needs all = results.size() == 64 ? kAll : (Needs{1} << results.size()) - 1;
  if (g_.scopes[scope].kind == ir::ScopeKind::Loop) {
    const SiteNodes& loop = w_.sites[w_.LoopSite(scope)];
    for (uint32_t r = 0; r < results.size(); ++r) {
      Mark(w_.In(loop.returns[r], 0), all);
      MarkEnd(w_.In(loop.returns[r], 1), Needs{1} << r);
    }
    for (NodeId next : loop.next) {
      NodeId merge = w_.merge_of[w_.RowOf(next)];
      if (merge.valid() && w_.needed[merge.index]) MarkEnd(w_.In(next, 0), all);
    }
  } else {
    for (uint32_t r = 0; r < results.size(); ++r) {
      NodeId node = w_.node_of_row[results[r]];
      Mark({node, results[r] - w_.RowOf(node)}, Needs{1} << r);
    }
  }
  while (!work_.empty()) {
    NodeId id = work_.back();
    work_.pop_back();
    Spread(id);
  }
  for (NodeId id : w_.nodes_in[scope.index])
    for (uint32_t r = 0; r < g_.nodes[id].num_results; ++r)
      w_.surely[g_.nodes[id].first_result + r] = bits_[g_.nodes[id].first_result + r] == all;
}

}  // namespace

void FindStrictParameters(Wiring& wiring) {
  StrictParameters(wiring).Run();
  Surely(wiring).Run();
}

}  // namespace df::tagged
