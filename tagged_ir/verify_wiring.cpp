// Both ends of each edge, calls, loops, alternatives, and cycles that could never fire. See verify.h.

#include <numeric>

#include "tagged_ir/signature.h"
#include "tagged_ir/verify.h"

namespace df::ir {

// ---------------------------------------------------------------- scopes

ScopeId ScopeOfEdge(const Graph& graph, Edge edge) {
  const Node& node = graph.nodes[edge.node];
  switch (node.op) {
    case Op::Call: return edge.port == 0 ? graph.sites[graph.SiteOf(edge.node)].callee : node.scope;
    case Op::Delay: return edge.port == 0 ? node.scope : graph.sites[graph.SiteOf(edge.node)].callee;
    case Op::Enter: return edge.port == 0 ? graph.LoopOf(edge.node) : node.scope;
    default: return node.scope;
  }
}

ScopeId Verifier::ScopeOfResult(Edge edge) const { return ScopeOfEdge(g, edge); }

ScopeId Verifier::ScopeOfOperand(NodeId id, uint32_t index) const {
  const Node& node = g.nodes[id];
  switch (node.op) {
    case Op::Return: return index == 0 ? g.sites[g.SiteOf(id)].callee : node.scope;
    case Op::Exit: return index < 2 ? g.LoopOf(id) : node.scope;
    case Op::Outer: return index == 0 ? node.scope : ScopeId(node.attr);
    default: return node.scope;
  }
}

// The scope in which each op has to stand.
bool Verifier::CheckPlace(NodeId id) {
  const Node& node = g.nodes[id];
  ScopeKind kind = g.scopes[node.scope].kind;
  switch (node.op) {
    case Op::Start:
    case Op::Input:
    case Op::Result:
      return kind == ScopeKind::Root ||
             FailAt(id, "stands in {}, and not in the root", ScopeName(node.scope));
    case Op::EntryMerge:
      return kind == ScopeKind::Function ||
             FailAt(id, "stands in {}, which is no function", ScopeName(node.scope));
    case Op::LoopMerge:
      return kind == ScopeKind::Loop || FailAt(id, "stands in {}, which is no loop", ScopeName(node.scope));
    case Op::NextIteration:
      return g.LoopOf(id) == node.scope ||
             FailAt(id, "stands in {}, not in its loop {}", ScopeName(node.scope), ScopeName(g.LoopOf(id)));
    case Op::Enter:
    case Op::Exit:
      return g.scopes[g.LoopOf(id)].parent == node.scope ||
             FailAt(id, "stands in {}, not around its loop {}", ScopeName(node.scope),
                    ScopeName(g.LoopOf(id)));
    case Op::Call:
    case Op::Return:
    case Op::Delay: {
      ScopeId caller = g.sites[g.SiteOf(id)].caller;
      return caller == node.scope || FailAt(id, "stands in {}; site {} is in {}", ScopeName(node.scope),
                                            node.attr, ScopeName(caller));
    }
    case Op::Outer:
      return (node.attr != node.scope.index && Encloses(ScopeId(node.attr), node.scope)) ||
             FailAt(id, "{} does not enclose {}", ScopeName(ScopeId(node.attr)), ScopeName(node.scope));
    default: return true;
  }
}

// What crosses from one scope to another goes where it belongs, everything else stays in its scope.
bool Verifier::CheckEdges(NodeId id) {
  Op op = g.nodes[id].op;
  llvm::ArrayRef<Edge> in = g.InputsOf(id);
  for (uint32_t k = 0; k < in.size(); ++k) {
    ScopeId have = ScopeOfResult(in[k]), want = ScopeOfOperand(id, k);
    if (have != want)
      return FailAt(id, "operand {}, result {} of {}, comes from {}, not from {}", k, in[k].port,
                    Name(in[k].node), ScopeName(have), ScopeName(want));
    Op from = g.nodes[in[k].node].op;
    uint32_t from_attr = g.nodes[in[k].node].attr, attr = g.nodes[id].attr, port = in[k].port;
    bool delivered = (from == Op::Call && port == 0) || (from == Op::Delay && port > 0);
    bool call_control = from == Op::Call && port == 1;
    bool loop_control = from == Op::Enter && port == 1;
    bool entering = from == Op::Enter && port == 0;
    bool next = from == Op::NextIteration;
    bool good = true;
    if (delivered || op == Op::EntryMerge)
      good = delivered && op == Op::EntryMerge;
    else if (call_control || (op == Op::Return && k == 1))
      good = call_control && op == Op::Return && k == 1 && from_attr == attr;
    else if (loop_control || (op == Op::Exit && k == 2))
      good = loop_control && op == Op::Exit && k == 2 && from_attr == attr;
    else if (entering || (op == Op::LoopMerge && k == 0))
      good = entering && op == Op::LoopMerge && k == 0;
    else if (next || (op == Op::LoopMerge && k == 1))
      good = next && op == Op::LoopMerge && k == 1;
    if (!good) return FailAt(id, "operand {} cannot be result {} of {}", k, port, Name(in[k].node));
    // A parameter and a loop variable have their own Call, Enter and NextIteration.
    if (!delivered && !entering && !next) continue;
    uint32_t row = g.nodes[in[k].node].first_result + port;
    if (merged_[row])
      return FailAt(id, "operand {}, result {} of {}, goes to another merge too", k, port, Name(in[k].node));
    merged_[row] = true;
  }
  return true;
}

// ---------------------------------------------------------------- calls

bool Verifier::IsTriggerCall(NodeId id) const { return KindOf(g.InputsOf(id)[0]) == TypeKind::Trigger; }

SiteId Verifier::SiteFeeding(Edge edge) const { return g.SiteOf(edge.node); }

bool Verifier::CheckCallSite(NodeId id) {
  const Node& node = g.nodes[id];
  SiteId site = g.SiteOf(id);
  SiteUse& use = sites_[site.index];
  bool is_delay = g.sites[site].kind == SiteKind::Delay;
  llvm::ArrayRef<Edge> in = g.InputsOf(id);
  llvm::ArrayRef<PortType> out = g.ResultsOf(id);
  if (node.op == Op::Call) {
    bool trigger = IsTriggerCall(id);
    if (out.size() != (trigger ? 2u : 1u))
      return FailAt(id, "{} results; the trigger's Call, and no other, has a control edge", out.size());
    if (!trigger) return true;
    if (use.trigger_call.valid())
      return FailAt(id, "site {} has a Call of its trigger already, {}", node.attr, Name(use.trigger_call));
    use.trigger_call = id;
    return true;
  }
  if (node.op == Op::Return) {
    if (g.types.Kind(g.TypeOf(in[0]).type) == TypeKind::Trigger)
      return FailAt(id, "a Trigger is not returned");
    use.any_return = id;
    if (!out.empty()) return in.size() == 2 || FailAt(id, "without the control edge of its site's Call");
    if (!is_delay) return FailAt(id, "without a result, though site {} is a call", node.attr);
    if (in.size() != 1) return FailAt(id, "a Delay's Return has no control edge");
    if (g.TypeOf(in[0]).lazy) return FailAt(id, "a reference's cell is filled with a reference");
    if (use.cell_return.valid())
      return FailAt(id, "site {} is returned already, by {}", node.attr, Name(use.cell_return));
    use.cell_return = id;
    return true;
  }
  if (!is_delay) return FailAt(id, "site {} is a call", node.attr);
  if (use.delay.valid()) return FailAt(id, "site {} is delayed already, by {}", node.attr, Name(use.delay));
  use.delay = id;
  if (!out[0].lazy)
    return FailAt(id, "result 0 is a reference, and its type {} is not lazy", g.types.Print(out[0]));
  if (out.size() != in.size() + 1) return FailAt(id, "{} results for {} operands", out.size(), in.size());
  for (uint32_t k = 1; k < in.size(); ++k) {
    PortType have = g.TypeOf(in[k]), want = out[k + 1];
    if (have.type != want.type || (have.lazy && !want.lazy))
      return FailAt(id, "operand {} is a {}, result {} a {}", k, g.types.Print(have), k + 1,
                    g.types.Print(want));
    if (KindOf(in[k]) == TypeKind::Trigger) return FailAt(id, "operand {} is a second Trigger", k);
  }
  return true;
}

// Each site that enters the function delivers each parameter once.
bool Verifier::CheckEntryMerge(NodeId id) {
  const Node& node = g.nodes[id];
  if (g.types.Kind(g.ResultsOf(id)[0].type) == TypeKind::Trigger) {
    NodeId& other = trigger_entry_[node.scope.index];
    if (other.valid()) return FailAt(id, "{} has a trigger already, {}", ScopeName(node.scope), Name(other));
    other = id;
  }
  for (Edge edge : g.InputsOf(id)) {
    SiteId site = SiteFeeding(edge);
    if (stamp_[site.index] == id.index)
      return FailAt(id, "site {} delivers this parameter twice", site.index);
    stamp_[site.index] = id.index;
  }
  if (node.num_inputs != sites_into_[node.scope.index])
    return FailAt(id, "{} of the {} sites that enter {} deliver this parameter", node.num_inputs,
                  sites_into_[node.scope.index], ScopeName(node.scope));
  return true;
}

bool Verifier::CheckSitesComplete() {
  for (uint32_t i = 0; i < g.sites.size(); ++i) {
    const SiteUse& use = sites_[i];
    if (g.sites[SiteId(i)].kind == SiteKind::Call) {
      if (!use.trigger_call.valid()) return Fail("site {}: no Call of its trigger", i);
      continue;
    }
    if (!use.delay.valid()) return Fail("site {}: no Delay", i);
    if (!use.cell_return.valid()) return Fail("site {}: no Return that fills its reference", i);
    PortType have = g.TypeOf(g.InputsOf(use.cell_return)[0]), want = g.ResultsOf(use.delay)[0];
    if (have.type != want.type)
      return FailAt(use.cell_return, "a {} fills a reference to a {}", g.types.Print(have),
                    g.types.Print({want.type}));
  }
  return true;
}

// ---------------------------------------------------------------- loops and the graph's own ports

bool Verifier::CheckLoopNode(NodeId id) {
  const Node& node = g.nodes[id];
  LoopUse& use = loops_[node.attr];
  if (node.op == Op::Enter) {
    bool trigger = IsTriggerCall(id);
    if (node.num_results != (trigger ? 2u : 1u))
      return FailAt(id, "{} results; the trigger's Enter, and no other, has a control edge",
                    node.num_results);
    if (!trigger) return true;
    if (use.trigger_enter.valid())
      return FailAt(id, "loop {} has an Enter of its trigger already, {}", ScopeName(g.LoopOf(id)),
                    Name(use.trigger_enter));
    use.trigger_enter = id;
    return true;
  }
  if (node.op == Op::Exit && KindOf(g.InputsOf(id)[1]) == TypeKind::Trigger)
    return FailAt(id, "a Trigger does not leave its loop");
  Edge predicate = g.InputsOf(id)[node.op == Op::Exit ? 0 : 1];
  if (use.predicate_user.valid() && use.predicate != predicate)
    return FailAt(id, "its predicate is not that of {}; a loop has one", Name(use.predicate_user));
  use.predicate = predicate;
  use.predicate_user = id;
  return true;
}

bool Verifier::CheckGraphPorts() {
  std::vector<NodeId> inputs(g.graph_inputs.size()), results(g.graph_results.size());
  NodeId start;
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId id(i);
    const Node& node = g.nodes[id];
    if (node.op != Op::Start && node.op != Op::Input && node.op != Op::Result) continue;
    NodeId& first = node.op == Op::Start   ? start
                    : node.op == Op::Input ? inputs[node.attr]
                                           : results[node.attr];
    if (first.valid()) return FailAt(id, "there is one already, {}", Name(first));
    first = id;
  }
  if (!start.valid()) return Fail("there is no Start");
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i].valid()) return Fail("nothing gives result {}", i);
  return true;
}

bool Verifier::CheckWiring() {
  sites_.assign(g.sites.size(), {});
  loops_.assign(g.scopes.size(), {});
  trigger_entry_.assign(g.scopes.size(), {});
  stamp_.assign(g.sites.size(), UINT32_MAX);
  merged_.assign(g.results.size(), false);
  for (uint32_t i = 0; i < g.nodes.size(); ++i)
    if (!CheckPlace(NodeId(i))) return false;
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId id(i);
    if (!CheckEdges(id)) return false;
    switch (g.nodes[id].op) {
      case Op::Call:
      case Op::Return:
      case Op::Delay:
        if (!CheckCallSite(id)) return false;
        break;
      case Op::EntryMerge:
        if (!CheckEntryMerge(id)) return false;
        break;
      case Op::Enter:
      case Op::NextIteration:
      case Op::Exit:
        if (!CheckLoopNode(id)) return false;
        break;
      default: break;
    }
  }
  for (uint32_t i = 0; i < g.scopes.size(); ++i)
    if (g.scopes[ScopeId(i)].kind == ScopeKind::Loop && !loops_[i].trigger_enter.valid())
      return Fail("loop {} is never entered by a trigger", ScopeName(ScopeId(i)));
  return CheckGraphPorts() && CheckSitesComplete() && CheckAlternatives();
}

// ---------------------------------------------------------------- alternatives

// An Alt does not say of how many alternatives it is one. All edges that may carry the same Alt form a class
// (union-find over the rows of g.results), and the Matches in the class say it.
bool Verifier::CheckAlternatives() {
  std::vector<uint32_t> parent(g.results.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](uint32_t row) {
    while (parent[row] != row) row = parent[row] = parent[parent[row]];
    return row;
  };
  auto row_of = [&](Edge edge) { return g.nodes[edge.node].first_result + edge.port; };
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId id(i);
    const Node& node = g.nodes[id];
    const Signature& signature = SignatureOf(node.op);
    llvm::ArrayRef<Edge> in = g.InputsOf(id);
    for (uint32_t r = 0; r < node.num_results; ++r) {
      if (g.types.Kind(g.ResultsOf(id)[r].type) != TypeKind::Alt || node.op == Op::Match) continue;
      if (node.op == Op::Delay) {
        parent[find(node.first_result + r)] = find(row_of(in[r - 1]));
        continue;
      }
      uint8_t variable = PlaceAt(signature.results, r)->variable;
      for (uint32_t k = 0; k < in.size(); ++k)
        if (variable != kNoVariable && PlaceAt(signature.operands, k)->variable == variable)
          parent[find(node.first_result + r)] = find(row_of(in[k]));
    }
  }
  std::vector<NodeId> match_of(g.results.size());
  auto alternatives = [&](NodeId match) {
    return g.types[g.TypeOf(g.InputsOf(match)[0]).type].constructors.size();
  };
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId id(i);
    if (g.nodes[id].op != Op::Match) continue;
    NodeId& match = match_of[find(g.nodes[id].first_result)];
    if (match.valid() && alternatives(match) != alternatives(id))
      return FailAt(id, "its alternatives meet those of {}, of another data type", Name(match));
    match = id;
  }
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId id(i);
    const Node& node = g.nodes[id];
    if (node.op != Op::Switch && node.op != Op::BranchMerge) continue;
    Edge predicate = g.InputsOf(id)[0];
    if (KindOf(predicate) != TypeKind::Alt) continue;
    NodeId match = match_of[find(row_of(predicate))];
    if (!match.valid()) return FailAt(id, "its predicate comes from no Match");
    size_t sides = node.op == Op::Switch ? node.num_results : node.num_inputs - 1;
    if (sides != alternatives(match))
      return FailAt(id, "{} sides; {} has {} alternatives", sides, Name(match), alternatives(match));
  }
  return true;
}

// ---------------------------------------------------------------- cycles

namespace {

// How many of the first operands an op waits for before its result 0 can appear. A merge passes whatever
// comes; a Delay needs its trigger only, a BranchMerge its predicate and one side, a Return nothing that
// stands under its own tag.
uint32_t WaitsFor(Op op, uint32_t operands) {
  switch (op) {
    case Op::EntryMerge:
    case Op::LoopMerge:
    case Op::Return: return 0;
    case Op::Delay:
    case Op::BranchMerge: return 1;
    default: return operands;
  }
}

}  // namespace

bool Verifier::CheckCycles() {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(g.nodes.size(), kNew);
  struct Step {
    NodeId node;
    uint32_t next;
  };
  std::vector<Step> stack;
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    if (state[i] != kNew) continue;
    state[i] = kOpen;
    stack.push_back({NodeId(i), 0});
    while (!stack.empty()) {
      Step& step = stack.back();
      const Node& node = g.nodes[step.node];
      if (step.next == WaitsFor(node.op, node.num_inputs)) {
        state[step.node.index] = kDone;
        stack.pop_back();
        continue;
      }
      NodeId operand = g.InputsOf(step.node)[step.next++].node;
      if (state[operand.index] == kOpen)
        return FailAt(operand, "waits for its own result, by way of operand {} of {}", step.next - 1,
                      Name(step.node));
      if (state[operand.index] == kDone) continue;
      state[operand.index] = kOpen;
      stack.push_back({operand, 0});
    }
  }
  return true;
}

}  // namespace df::ir
