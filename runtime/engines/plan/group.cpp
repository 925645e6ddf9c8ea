// Which arguments are handed over together with their call's trigger. See plan/build.h.
//
// Waiting for an argument before the call starts is allowed if no caller can make the argument depend on what the call
// would otherwise have yielded: (1) in this scope the argument does not hang on the call's own results (which hang on the arguments
// that go together with the trigger, and on those from which the callee computes them: plan/parameter_reach.cpp), and (2) all that it
// hangs on has come when the trigger does, or is computed from that by calls that see nothing else: no late parameter, no
// value of an enclosing scope, nothing forced. A parameter that every result of the callee needs anyway may always be
// waited for, but for (1): this only delays what could not have been finished (plan/strict_parameters.cpp). The same holds for an
// argument that is computed, by ops that always end, from what every result of this scope needs. And there is nothing to
// wait for where the argument has surely come when the trigger does.
//
// A Delay that captures such values, or what has surely come when its trigger does, waits for them, unless they hang on its
// own reference: a cell that is full when it is made, and a body that starts with all its parameters, are the cheap ones.
#include <algorithm>
#include <memory>

#include "llvm/ADT/DenseSet.h"

#include "runtime/engines/plan/build.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

namespace {

constexpr int kMaxDepth = 8;  // of ops behind a value

class Grouping {
 public:
  explicit Grouping(Wiring& wiring) : w_(wiring), g_(wiring.g), local_(g_.nodes.size(), kNone) {}
  void Run();

 private:
  bool HoldsReferences(ir::PortType type);
  void Predecessors(NodeId id, std::vector<NodeId>& out) const;  // adds them
  bool HangsOn(NodeId result, NodeId argument) const;
  bool Reaches(NodeId value, const SiteNodes& site) const;
  bool SeparateLate();
  bool IsLateSource(NodeId id);
  bool FindWithoutCycles(const std::vector<NodeId>& nodes);
  void FindComponents(const std::vector<NodeId>& nodes);
  bool Separate(NodeId from, uint32_t operand, uint32_t row, Edge trigger, llvm::ArrayRef<NodeId> arguments,
                llvm::ArrayRef<NodeId> results);
  bool IsLater(ir::ScopeId scope, Edge value, llvm::ArrayRef<Edge> triggers);
  bool MayWaitFor(Edge value, int depth) const;
  void FindWaits(ir::ScopeId scope);

  Wiring& w_;
  const ir::Graph& g_;
  std::vector<uint32_t> local_;      // by node: index in its scope's list
  std::vector<int8_t> holds_;        // by type: -1 unknown
  std::vector<bool> outer_scope_;    // by scope: reads Outers, itself or by what it calls
  std::vector<uint32_t> component_;  // by node
  std::vector<std::unique_ptr<Partition>> parts_;  // by scope, when asked for
  std::vector<bool> late_;           // by node: may hang on something that comes after its scope's activation
};

bool Grouping::HoldsReferences(ir::PortType type) {
  if (type.lazy) return true;
  if (g_.types.Kind(type.type) != ir::TypeKind::Data) return false;
  if (holds_.empty()) {
    // The least solution: a type holds references if a field is lazy or of a type that does.
    holds_.assign(g_.types.size(), 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t t = 0; t < g_.types.size(); ++t) {
        if (holds_[t]) continue;
        for (const ir::Constructor& constructor : g_.types[ir::TypeId(t)].constructors)
          for (const ir::FieldType& field : constructor.fields)
            if (field.type.lazy || holds_[field.type.type.index]) holds_[t] = 1;
        changed |= holds_[t] == 1;
      }
    }
  }
  return holds_[type.type.index] == 1;
}

void Grouping::Predecessors(NodeId id, std::vector<NodeId>& out) const {
  const ir::Node& node = g_.nodes[id];
  auto site = [&](uint32_t s) {
    out.push_back(w_.sites[s].trigger);
    out.insert(out.end(), w_.sites[s].arguments.begin(), w_.sites[s].arguments.end());
  };
  switch (node.op) {
    case Op::EntryMerge:
    case Op::LoopMerge: return;
    case Op::Return:
      if (!node.num_results) return;
      out.push_back(w_.sites[node.attr].trigger);
      for (NodeId argument : w_.sites[node.attr].arguments)
        if (NodeId merge = w_.merge_of[w_.RowOf(argument)]; (merge.valid() && w_.together[merge.index]) || HangsOn(id, argument))
          out.push_back(argument);
      return;
    case Op::Exit: return site(w_.LoopSite(g_.LoopOf(id)));
    case Op::Outer: out.push_back(w_.In(id, 0).node); return;
    default:
      for (Edge edge : g_.InputsOf(id)) out.push_back(edge.node);
  }
}

// Whether the value that a Return brings may hang on that argument.
bool Grouping::HangsOn(NodeId result, NodeId argument) const {
  const ir::Site& site = g_.sites[ir::SiteId(g_.nodes[result].attr)];
  NodeId merge = w_.merge_of[w_.RowOf(argument)];
  return site.kind != ir::SiteKind::Call ||
         (merge.valid() && w_.hangs_on[site.callee.index][w_.result_of_return[result.index]] & w_.parameter_bit[merge.index]);
}

// Whether a value hangs on some result of a site, in whose component it is, whatever else goes together.
bool Grouping::Reaches(NodeId value, const SiteNodes& site) const {
  llvm::DenseSet<uint32_t> seen;
  std::vector<NodeId> todo{value}, before;
  while (!todo.empty()) {
    NodeId id = todo.back();
    todo.pop_back();
    if (component_[id.index] != component_[value.index] || !seen.insert(id.index).second) continue;
    if (llvm::is_contained(site.returns, id)) return true;
    before.clear();
    Predecessors(id, before);
    bool call = g_.nodes[id].op == Op::Return;
    for (NodeId from : before)
      if (!call || from == w_.sites[g_.nodes[id].attr].trigger || HangsOn(id, from)) todo.push_back(from);
  }
  return false;
}

// Arguments that are computed from results of their own call go late, as cotangents do. Where that is known, the other arguments
// do not hang on those results by way of them. Finds the components of all scopes; false if these are still right.
bool Grouping::SeparateLate() {
  bool changed = false;
  for (const std::vector<NodeId>& nodes : w_.nodes_in) {
    FindComponents(nodes);
    for (NodeId id : nodes) {
      const ir::Node& node = g_.nodes[id];
      if (node.op != Op::Call || w_.IsTrigger(w_.In(id, 0)) || g_.sites[ir::SiteId(node.attr)].kind != ir::SiteKind::Call) continue;
      NodeId merge = w_.merge_of[w_.RowOf(id)], value = w_.In(id, 0).node;
      const SiteNodes& site = w_.sites[node.attr];
      bool cycle = llvm::any_of(site.returns, [&](NodeId r) { return component_[r.index] == component_[value.index]; });
      if (!merge.valid() || !cycle || !Reaches(value, site)) continue;
      w_.together[merge.index] = false;
      changed = true;
    }
  }
  return changed;
}

bool Grouping::IsLateSource(NodeId id) {
  const ir::Node& node = g_.nodes[id];
  auto site_is = [&](uint32_t s, ir::ScopeId callee) {
    if (outer_scope_[callee.index]) return true;
    return !g_.demanded && std::any_of(w_.sites[s].arguments.begin(), w_.sites[s].arguments.end(),
                       [&](NodeId call) { return HoldsReferences(g_.TypeOf(w_.In(call, 0))); });
  };
  switch (node.op) {
    case Op::EntryMerge:
    case Op::LoopMerge: return !w_.together[id.index];
    case Op::Force: return !g_.demanded;
    case Op::Outer: return true;
    case Op::Return:  // a delayed call's cotangent comes when somebody has forced it
      return node.num_results && (g_.sites[ir::SiteId(node.attr)].kind == ir::SiteKind::Delay ||
                                  site_is(node.attr, g_.sites[ir::SiteId(node.attr)].callee));
    case Op::Exit: return site_is(w_.LoopSite(g_.LoopOf(id)), g_.LoopOf(id));
    default: return false;
  }
}

// Where each node has a larger number than those before it, there are no cycles: each is a component by itself. Else false.
bool Grouping::FindWithoutCycles(const std::vector<NodeId>& nodes) {
  std::vector<NodeId> before;
  for (NodeId id : nodes) {
    before.clear();
    Predecessors(id, before);
    bool late = IsLateSource(id);
    for (NodeId from : before) {
      if (from >= id) return false;
      late |= late_[from.index];
    }
    component_[id.index] = id.index;
    late_[id.index] = late;
  }
  return true;
}

// Tarjan's strongly connected components along Predecessors, without recursion: a component is finished after all that it
// hangs on, so that lateness is known then.
void Grouping::FindComponents(const std::vector<NodeId>& nodes) {
  if (FindWithoutCycles(nodes)) return;
  uint32_t count = static_cast<uint32_t>(nodes.size());
  for (uint32_t i = 0; i < count; ++i) local_[nodes[i].index] = i;
  std::vector<uint32_t> number(count, kNone), low(count, 0);
  std::vector<bool> open(count, false);
  std::vector<uint32_t> path;
  struct Step {
    uint32_t node;
    size_t first, next, end;  // its predecessors, in `before`
  };
  std::vector<Step> stack;
  std::vector<NodeId> before;
  uint32_t numbered = 0;
  auto enter = [&](uint32_t i) {
    number[i] = low[i] = numbered++;
    open[i] = true;
    path.push_back(i);
    size_t first = before.size();
    Predecessors(nodes[i], before);
    stack.push_back({i, first, first, before.size()});
  };
  for (uint32_t root = 0; root < count; ++root) {
    if (number[root] != kNone) continue;
    enter(root);
    while (!stack.empty()) {
      Step& step = stack.back();
      if (step.next < step.end) {
        uint32_t to = local_[before[step.next++].index];
        if (number[to] == kNone) enter(to);
        else if (open[to]) low[step.node] = std::min(low[step.node], number[to]);
        continue;
      }
      uint32_t node = step.node;
      before.resize(step.first);
      if (low[node] == number[node]) {
        bool late = false;
        size_t first = path.size();
        do {
          --first;
          open[path[first]] = false;
        } while (path[first] != node);
        for (size_t i = first; i < path.size(); ++i) {
          component_[nodes[path[i]].index] = nodes[node].index;
          late |= IsLateSource(nodes[path[i]]);
          Predecessors(nodes[path[i]], before);
        }
        for (size_t i = step.first; i < before.size(); ++i) late |= late_[before[i].index];
        before.resize(step.first);
        for (size_t i = first; i < path.size(); ++i) late_[nodes[path[i]].index] = late;
        path.resize(first);
      }
      stack.pop_back();
      if (!stack.empty()) low[stack.back().node] = std::min(low[stack.back().node], low[node]);
    }
  }
}

// Takes the parameter that `row` feeds out of its group if it must not be waited for. True if that is news.
bool Grouping::Separate(NodeId from, uint32_t operand, uint32_t row, Edge trigger, llvm::ArrayRef<NodeId> arguments,
                        llvm::ArrayRef<NodeId> results) {
  NodeId merge = w_.merge_of[row];
  if (!merge.valid() || !w_.together[merge.index]) return false;
  auto in_cycle = [&](NodeId value) {
    return llvm::any_of(results, [&](NodeId r) { return component_[r.index] == component_[value.index]; });
  };
  bool cycle = in_cycle(w_.In(from, operand).node);
  if (!cycle && (w_.needed[merge.index] || MayWaitFor(w_.In(from, operand), kMaxDepth))) return false;
  // Arguments that every result needs are waited for in any case.
  llvm::SmallVector<Edge, 8> triggers{trigger};
  for (NodeId argument : arguments) {
    NodeId other = w_.merge_of[w_.RowOf(argument)];
    if (other.valid() && w_.together[other.index] && w_.needed[other.index] && !in_cycle(w_.In(argument, 0).node))
      triggers.push_back(w_.In(argument, 0));
  }
  if (!IsLater(g_.nodes[from].scope, w_.In(from, operand), triggers)) return false;
  w_.together[merge.index] = false;
  return true;
}

bool Grouping::IsLater(ir::ScopeId scope, Edge value, llvm::ArrayRef<Edge> triggers) {
  std::unique_ptr<Partition>& part = parts_[scope.index];
  if (!part) {
    part = std::make_unique<Partition>(w_, scope);
    part->Run();
  }
  return part->IsLater(value, triggers);
}

// Whether waiting for the value in its scope keeps nothing back that could have been finished without it.
bool Grouping::MayWaitFor(Edge value, int depth) const {
  if (!late_[value.node.index] || w_.surely[w_.RowOf(value)]) return true;
  const ir::Node& node = g_.nodes[value.node];
  llvm::ArrayRef<Edge> in = g_.InputsOf(value.node);
  if (depth == 0) return false;
  if (node.op == Op::Switch) return MayWaitFor(in[1], depth - 1);
  if (node.op == Op::Delay && !w_.waits[value.node.index]) return true;
  bool ends = node.op == Op::Delay || node.op == Op::Construct || ir::InfoOf(node.op).cls == ir::OpClass::Ordinary;
  return ends && llvm::all_of(in, [&](Edge edge) { return MayWaitFor(edge, depth - 1); });
}

// The Delays of a scope that wait, by what is late at this moment: in later rounds there can only be fewer.
void Grouping::FindWaits(ir::ScopeId scope) {
  for (bool changed = true; changed;) {
    changed = false;
    for (NodeId id : w_.nodes_in[scope.index]) {
      if (g_.nodes[id].op != Op::Delay || !w_.waits[id.index]) continue;
      bool waits = llvm::all_of(g_.InputsOf(id).drop_front(), [&](Edge edge) {
        return component_[edge.node.index] != component_[id.index] && g_.nodes[edge.node].op != Op::Dead &&
               (MayWaitFor(edge, kMaxDepth) || !IsLater(scope, edge, w_.In(id, 0)));
      });
      if (waits) continue;
      // What was at hand because of this one has to be looked at again.
      w_.waits[id.index] = false;
      parts_[scope.index].reset();
      changed = true;
    }
  }
}

void Grouping::Run() {
  parts_.resize(g_.scopes.size());
  for (NodeId id(0); id.index < g_.nodes.size(); ++id.index) w_.waits[id.index] = g_.nodes[id].op == Op::Delay;
  component_.assign(g_.nodes.size(), kNone);
  late_.assign(g_.nodes.size(), false);
  outer_scope_.assign(g_.scopes.size(), false);
  for (NodeId id(0); id.index < g_.nodes.size(); ++id.index)
    if (g_.nodes[id].op == Op::Outer) outer_scope_[g_.nodes[id].scope.index] = true;
  for (bool changed = true; changed;) {
    changed = false;
    auto spread = [&](ir::ScopeId from, ir::ScopeId to) {
      if (!outer_scope_[from.index] || outer_scope_[to.index]) return;
      outer_scope_[to.index] = changed = true;
    };
    for (const ir::Site& site : g_.sites) spread(site.callee, site.caller);
    for (ir::ScopeId scope(0); scope.index < g_.scopes.size(); ++scope.index)
      if (g_.scopes[scope].kind == ir::ScopeKind::Loop) spread(scope, g_.scopes[scope].parent);
  }
  std::vector<bool> has_components(g_.scopes.size(), !SeparateLate());
  // Of each scope itself, the scopes that call it, and where it is a loop the one around it.
  std::vector<std::vector<uint32_t>> callers(g_.scopes.size());
  for (uint32_t i = 0; i < g_.scopes.size(); ++i) {
    callers[i].push_back(i);
    if (g_.scopes[ir::ScopeId(i)].kind == ir::ScopeKind::Loop) callers[i].push_back(g_.scopes[ir::ScopeId(i)].parent.index);
  }
  for (const ir::Site& site : g_.sites) callers[site.callee.index].push_back(site.caller.index);
  // A parameter that is late makes what hangs on it late, in its own scope: repeat until nothing changes.
  std::vector<bool> dirty(g_.scopes.size(), true);
  for (bool again = true; again;) {
    again = false;
    for (ir::ScopeId scope(0); scope.index < g_.scopes.size(); ++scope.index) {
      if (!dirty[scope.index]) continue;
      dirty[scope.index] = false;
      const std::vector<NodeId>& nodes = w_.nodes_in[scope.index];
      if (!has_components[scope.index]) FindComponents(nodes);
      has_components[scope.index] = false;
      FindWaits(scope);
      auto separate = [&](NodeId from, uint32_t operand, uint32_t row, Edge trigger, llvm::ArrayRef<NodeId> arguments,
                          llvm::ArrayRef<NodeId> results) {
        if (!Separate(from, operand, row, trigger, arguments, results)) return;
        uint32_t to = g_.nodes[w_.merge_of[row]].scope.index;
        // What a call's result implies is less, too, where the parameter goes together no more.
        for (uint32_t changed : callers[to]) {
          parts_[changed].reset();
          dirty[changed] = true;
          has_components[changed] = false;
        }
        again = true;
      };
      for (NodeId id : nodes) {
        const ir::Node& node = g_.nodes[id];
        if (node.op == Op::Call && !w_.IsTrigger(w_.In(id, 0)))
          separate(id, 0, w_.RowOf(id), w_.In(w_.sites[node.attr].trigger, 0), w_.sites[node.attr].arguments,
                   w_.sites[node.attr].returns);
        if (node.op == Op::Enter && !w_.IsTrigger(w_.In(id, 0))) {
          const SiteNodes& loop = w_.sites[w_.LoopSite(g_.LoopOf(id))];
          separate(id, 0, w_.RowOf(id), w_.In(loop.trigger, 0), loop.arguments, loop.returns);
        }
        // A NextIteration waits for the loop's predicate at least.
        if (node.op == Op::NextIteration && !w_.IsTrigger(w_.In(id, 0)))
          separate(id, 0, w_.RowOf(id), w_.In(id, 1), w_.sites[w_.LoopSite(scope)].next, {});
        if (node.op != Op::Delay || w_.waits[id.index]) continue;
        for (uint32_t k = 1; k < node.num_inputs; ++k) separate(id, k, w_.RowOf(id) + k + 1, w_.In(id, 0), {}, id);
      }
    }
  }
}

}  // namespace

void Group(Wiring& wiring) {
  FindParameterReach(wiring);
  Grouping(wiring).Run();
}

}  // namespace df::tagged
