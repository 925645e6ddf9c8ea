#include "tagged_ir/cut/layers.h"

#include <algorithm>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/cut/outline.h"

namespace df::ir {

std::vector<bool> MovableTypes(const Graph& graph) {
  std::vector<bool> movable(graph.types.size());
  for (uint32_t i = 0; i < movable.size(); ++i) {
    const TypeKind kind = graph.types.Kind(TypeId(i));
    movable[i] = kind != TypeKind::Trigger && kind != TypeKind::Alt && kind != TypeKind::Activations && kind != TypeKind::State && kind != TypeKind::Store && kind != TypeKind::Frozen;
  }
  // And what holds such.
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < movable.size(); ++i)
      for (const Constructor& constructor : graph.types[TypeId(i)].constructors)
        for (const FieldType& field : constructor.fields)
          if (movable[i] && !movable[field.type.type.index]) movable[i] = false, more = true;
  }
  return movable;
}

bool CanLeaveFrame(const Graph& graph, const std::vector<bool>& movable, NodeId node) {
  const Op op = graph.nodes[node].op;
  const bool constructs = op == Op::Construct;
  if ((InfoOf(op).cls != OpClass::Ordinary && !constructs) || op == Op::Offer) return false;
  llvm::ArrayRef<Edge> operands = graph.InputsOf(node);
  if (constructs) operands = operands.drop_front();  // its trigger
  else if (operands.empty()) return false;
  return llvm::all_of(operands, [&](Edge edge) { return movable[graph.TypeOf(edge).type.index]; }) &&
         llvm::all_of(graph.ResultsOf(node), [&](PortType type) { return movable[type.type.index]; });
}

Layers::Layers(const Graph& graph, const Cut& cut) : g(graph), cut_(cut) {
  FindFunctions();
  FindLate();
  FindLoops();
  FindCandidates();
  Walk();
}

void Layers::FindFunctions() {
  home_.assign(g.scopes.size(), kAnywhere);
  std::vector<bool> known(g.scopes.size());
  for (uint32_t i = 0; i < g.scopes.size(); ++i) {
    ScopeId scope(i);
    while (g.scopes[scope].kind == ScopeKind::Loop) scope = g.scopes[scope].parent;
    function_.push_back(scope);
  }
  calls_.resize(g.sites.size());
  returns_.resize(g.sites.size());
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const NodeId id(i);
    const Node& node = g.nodes[id];
    if (node.op == Op::Call) calls_[node.attr].push_back(id);
    if (node.op == Op::Return) returns_[node.attr].push_back(id);
    if (node.op != Op::EntryMerge) continue;
    const bool trigger = IsTrigger({id, 0});
    if (trigger || !known[node.scope.index]) home_[node.scope.index] = cut_.part[i];
    known[node.scope.index] = true;
  }
  home_[0] = 0;
  for (uint32_t i = 0; i < home_.size(); ++i) home_[i] = home_[function_[i].index];
}

// What a node hangs on in its own scope. With `through_calls` a call's results hang on its arguments, a loop's on what enters it, and references on what is captured.
Layers::Operands Layers::OperandsWithin(bool through_calls) const {
  Operands all(g.nodes.size());
  std::vector<std::vector<uint32_t>> enters(g.scopes.size());
  for (uint32_t i = 0; i < g.nodes.size(); ++i)
    if (g.nodes[NodeId(i)].op == Op::Enter) enters[g.nodes[NodeId(i)].attr].push_back(i);
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const Node& node = g.nodes[NodeId(i)];
    llvm::ArrayRef<Edge> in = g.InputsOf(NodeId(i));
    auto add = [&](Edge edge) { all[i].push_back(edge.node.index); };
    switch (node.op) {
      case Op::EntryMerge: break;
      case Op::LoopMerge:
        if (through_calls) add(in[0]);
        break;
      case Op::Return:
        if (in.size() == 2) add(in[1]);
        if (through_calls)
          for (NodeId call : calls_[node.attr]) all[i].push_back(call.index);
        break;
      case Op::Exit:
        add(in[2]);
        if (through_calls) all[i].insert(all[i].end(), enters[node.attr].begin(), enters[node.attr].end());
        break;
      case Op::Delay:
        for (Edge edge : through_calls ? in : in.take_front()) add(edge);
        break;
      case Op::Outer: add(in[0]); break;
      default:
        for (Edge edge : in) add(edge);
    }
  }
  return all;
}

// Tarjan's, without recursion: a chain may be as long as the graph.
Layers::Components Layers::ComponentsOf(const Operands& operands) const {
  const auto count = static_cast<uint32_t>(operands.size());
  Components component(count, UINT32_MAX);
  std::vector<uint32_t> number(count, UINT32_MAX), low(count), open;
  std::vector<std::pair<uint32_t, size_t>> stack;
  uint32_t next = 0, components = 0;
  for (uint32_t root = 0; root < count; ++root) {
    if (number[root] != UINT32_MAX) continue;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [node, at] = stack.back();
      if (at == 0) {
        number[node] = low[node] = next++;
        open.push_back(node);
      }
      if (at < operands[node].size()) {
        const uint32_t operand = operands[node][at++];
        if (number[operand] == UINT32_MAX) stack.emplace_back(operand, 0);
        else if (component[operand] == UINT32_MAX) low[node] = std::min(low[node], number[operand]);
        continue;
      }
      if (at == operands[node].size() && low[node] == number[node]) {
        for (uint32_t member = UINT32_MAX; member != node; open.pop_back()) component[member = open.back()] = components;
        ++components;
      }
      const uint32_t done = node;
      stack.pop_back();
      if (!stack.empty()) low[stack.back().first] = std::min(low[stack.back().first], low[done]);
    }
  }
  return component;
}

// What may come later than the activation that it belongs to: arguments that hang on results of their own call, as cotangents do, what is captured of a knot,
// values of an enclosing scope, and what is computed from such.
void Layers::FindLate() {
  const Operands operands = OperandsWithin(true);
  const Components component = ComponentsOf(operands);
  late_.assign(g.nodes.size(), false);
  for (uint32_t site = 0; site < g.sites.size(); ++site)
    for (NodeId call : calls_[site])
      for (NodeId result : returns_[site])
        if (!IsTrigger({call, 0}) && component[call.index] == component[result.index]) late_[call.index] = true;
  auto delivers_late = [&](Edge edge) {
    if (g.nodes[edge.node].op != Op::Delay) return static_cast<bool>(late_[edge.node.index]);
    if (edge.port < 2) return false;
    const NodeId captured = g.InputsOf(edge.node)[edge.port - 1].node;
    return late_[captured.index] || component[captured.index] == component[edge.node.index];
  };
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < g.nodes.size(); ++i) {
      const Op op = g.nodes[NodeId(i)].op;
      if (late_[i] || op == Op::Delay) continue;
      llvm::ArrayRef<Edge> in = g.InputsOf(NodeId(i));
      bool late = op == Op::Outer;
      const bool parameter = op == Op::EntryMerge || op == Op::LoopMerge;
      if (parameter) late = llvm::any_of(in, delivers_late) || (!g.demanded && !IsTrigger({NodeId(i), 0}));
      else
        for (uint32_t operand : operands[i]) late |= late_[operand];
      late_[i] = late;
      more |= late;
    }
  }
}

// Loops of which all that could go elsewhere goes to one part. They go whole, but not if something in them looks at what is around.
void Layers::FindLoops() {
  whole_.assign(g.scopes.size(), false);
  const std::vector<bool> movable = MovableTypes(g);
  const Components component = ComponentsOf(OperandsWithin(true));
  std::vector<uint32_t> part(g.scopes.size(), UINT32_MAX);
  std::vector<bool> bad(g.scopes.size());
  std::vector<std::set<uint32_t>> entered(g.scopes.size()), left(g.scopes.size());
  for (const Scope& scope : g.scopes)
    if (scope.kind == ScopeKind::Function && scope.parent.valid()) bad[function_[scope.parent.index].index] = true;
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const Node& node = g.nodes[NodeId(i)];
    if (node.op == Op::Enter || node.op == Op::Exit) {
      (node.op == Op::Enter ? entered : left)[node.attr].insert(component[i]);
      const Edge datum = g.InputsOf(NodeId(i))[node.op == Op::Enter ? 0 : 1];
      if (!IsTrigger(datum) && !movable[g.TypeOf(datum).type.index]) bad[node.attr] = true;
    }
    // Constants are used where they stand.
    for (ScopeId scope = node.scope; g.scopes[scope].kind == ScopeKind::Loop && node.op != Op::Const; scope = g.scopes[scope].parent) {
      if (part[scope.index] == UINT32_MAX) part[scope.index] = cut_.part[i];
      if (part[scope.index] != cut_.part[i] || node.op == Op::Outer) bad[scope.index] = true;
    }
  }
  for (uint32_t i = 0; i < g.scopes.size(); ++i) {
    if (g.scopes[ScopeId(i)].kind != ScopeKind::Loop || part[i] == UINT32_MAX || part[i] == kAnywhere || part[i] == home_[i]) continue;
    const bool knot = llvm::any_of(left[i], [&](uint32_t one) { return entered[i].contains(one); });
    whole_[i] = !bad[i] && !bad[function_[i].index] && !knot && !left[i].empty();
  }
}

void Layers::FindCandidates() {
  const std::vector<bool> movable = MovableTypes(g);
  candidate_.assign(g.nodes.size(), false);
  used_.assign(g.scopes.size(), false);
  for (uint32_t i = 0; i < g.scopes.size(); ++i)
    if (whole_[i]) used_[g.scopes[ScopeId(i)].parent.index] = true;
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const Node& node = g.nodes[NodeId(i)];
    const uint32_t part = cut_.part[i], home = home_[node.scope.index];
    if (part == kAnywhere || part == home) continue;
    bool within = false;
    for (ScopeId scope = node.scope; g.scopes[scope].kind == ScopeKind::Loop; scope = g.scopes[scope].parent) within |= whole_[scope.index];
    if (within) continue;
    candidate_[i] = CanLeaveFrame(g, movable, NodeId(i));
    used_[node.scope.index] = used_[node.scope.index] || candidate_[i];
    stay_ += !candidate_[i] && node.op != Op::Const;
  }
}

uint32_t Layers::Deeper(uint32_t a, uint32_t b) const { return regions_[a].depth >= regions_[b].depth ? a : b; }

uint32_t Layers::Side(uint32_t parent, Edge predicate, uint32_t side, NodeId chooser) {
  auto [found, is_new] = sides_.try_emplace({parent, predicate, side}, static_cast<uint32_t>(regions_.size()));
  if (is_new) regions_.push_back({regions_[parent].scope, parent, regions_[parent].depth + 1, predicate, side, chooser, {}});
  return found->second;
}

uint32_t Layers::RegionOfEdge(Edge edge) {
  const uint32_t region = region_[edge.node.index];
  return g.nodes[edge.node].op == Op::Switch ? Side(region, g.InputsOf(edge.node)[0], edge.port, edge.node) : region;
}

// What is there in a region for sure, since its predicates were.
std::set<uint32_t> Layers::ImpliedBy(uint32_t region) const {
  std::set<uint32_t> all;
  for (; regions_[region].parent != kNoRegion; region = regions_[region].parent) {
    const std::vector<uint32_t>& waits = waits_[regions_[region].predicate.node.index];
    all.insert(waits.begin(), waits.end());
  }
  return all;
}

std::vector<uint32_t> Layers::WaitsOf(NodeId id) const {
  const Op op = g.nodes[id].op;
  llvm::ArrayRef<Edge> in = g.InputsOf(id);
  switch (op) {
    case Op::Return:
    case Op::Exit:
    case Op::Force:
    case Op::Outer: return {id.index};
    case Op::EntryMerge:
    case Op::LoopMerge: return late_[id.index] ? std::vector<uint32_t>{id.index} : std::vector<uint32_t>();
    case Op::Start: return {};
    case Op::Delay: return waits_[in[0].node.index];
    case Op::BranchMerge: {
      // It comes with its predicate, unless some side has more to wait for.
      std::vector<uint32_t> all = waits_[in[0].node.index];
      const bool more = llvm::any_of(in.drop_front(), [&](Edge edge) {
        return !std::includes(all.begin(), all.end(), waits_[edge.node.index].begin(), waits_[edge.node.index].end());
      });
      if (more) all.insert(std::lower_bound(all.begin(), all.end(), id.index), id.index);
      return all;
    }
    default: break;
  }
  std::vector<uint32_t> all;
  for (Edge edge : in) all.insert(all.end(), waits_[edge.node.index].begin(), waits_[edge.node.index].end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Region, level and waits of a node whose operands have theirs. A level is one more than that of a piece from which something comes.
void Layers::Place(NodeId id) {
  const Node& node = g.nodes[id];
  llvm::ArrayRef<Edge> in = g.InputsOf(id);
  uint32_t region = body_[node.scope.index];
  switch (node.op) {
    case Op::EntryMerge:
    case Op::LoopMerge:
    case Op::Start: break;
    case Op::Return:
      if (in.size() == 2) region = region_[in[1].node.index];
      break;
    case Op::Exit: region = region_[in[2].node.index]; break;
    case Op::BranchMerge:
    case Op::Delay:
    case Op::Outer: region = RegionOfEdge(in[0]); break;
    default:
      for (Edge edge : in) region = Deeper(RegionOfEdge(edge), region);
  }
  region_[id.index] = region;
  if (node.op != Op::Switch || !IsTrigger(in[1])) return;
  for (uint32_t side = 0; side < node.num_results; ++side) {
    Edge& trigger = regions_[Side(region, in[0], side, id)].trigger;
    if (!trigger.node.valid()) trigger = {id, side};
  }
}

void Layers::Walk() {
  const Operands operands = OperandsWithin(false);
  const Components component = ComponentsOf(operands);
  const auto count = static_cast<uint32_t>(g.nodes.size());
  body_.assign(g.scopes.size(), kNoRegion);
  for (uint32_t i = 0; i < g.scopes.size(); ++i) {
    if (!used_[i]) continue;
    body_[i] = static_cast<uint32_t>(regions_.size());
    regions_.push_back({ScopeId(i), kNoRegion, 0, {}, 0, {}, {}});
  }
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < count; ++i)
    if (used_[g.nodes[NodeId(i)].scope.index]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return component[a] < component[b]; });
  region_.assign(count, 0);
  for (uint32_t i : order) region_[i] = body_[g.nodes[NodeId(i)].scope.index];
  level_.assign(count, 0);
  waits_.assign(count, {});
  alone_.assign(count, false);
  for (size_t first = 0, end; first < order.size(); first = end) {
    for (end = first + 1; end < order.size() && component[order[end]] == component[order[first]];) ++end;
    const bool cycle = end > first + 1;
    // Of a cycle, which goes through sides of merges, the regions follow from its predicates: again, until nothing changes.
    for (size_t round = 0; round < (cycle ? end - first + 1 : 1); ++round)
      for (size_t i = first; i < end; ++i) Place(NodeId(order[i]));
    uint32_t level = 0;
    for (size_t i = first; i < end; ++i) {
      const uint32_t node = order[i];
      alone_[node] = cycle;
      for (uint32_t operand : operands[node]) {
        if (component[operand] == component[node]) continue;
        const bool together = candidate_[operand] && candidate_[node] && !alone_[operand] && !cycle && cut_.part[operand] == cut_.part[node] && region_[operand] == region_[node];
        level = std::max(level, level_[operand] + (candidate_[operand] && !together ? 1 : 0));
      }
    }
    for (size_t i = first; i < end; ++i) {
      level_[order[i]] = level;
      waits_[order[i]] = cycle ? std::vector<uint32_t>{order[i]} : WaitsOf(NodeId(order[i]));
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Node& node = g.nodes[NodeId(i)];
    const bool trigger = node.op == Op::Start || ((node.op == Op::EntryMerge || node.op == Op::LoopMerge) && IsTrigger({NodeId(i), 0}));
    if (trigger && used_[node.scope.index]) regions_[body_[node.scope.index]].trigger = {NodeId(i), 0};
  }
}

std::vector<CutPiece> Layers::Pieces() {
  std::vector<CutPiece> pieces;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, std::vector<uint32_t>, uint32_t>, size_t> found;
  std::map<uint32_t, size_t> loops;
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const NodeId id(i);
    const Node& node = g.nodes[id];
    ScopeId loop;
    for (ScopeId scope = node.scope; g.scopes[scope].kind == ScopeKind::Loop; scope = g.scopes[scope].parent)
      if (whole_[scope.index]) loop = scope;
    if (!loop.valid() && (node.op == Op::Enter || node.op == Op::Exit) && whole_[node.attr]) loop = ScopeId(node.attr);
    if (loop.valid()) {
      auto [at, is_new] = loops.try_emplace(loop.index, pieces.size());
      if (is_new) pieces.push_back({g.scopes[loop].parent, kNoRegion, 0, {}, loop});
      CutPiece& piece = pieces[at->second];
      piece.nodes.push_back(id);
      if (node.op == Op::Enter && node.attr == loop.index && IsTrigger({id, 0})) piece.region = region_[i];
      if (node.op == Op::LoopMerge) piece.part = cut_.part[i];
      continue;
    }
    if (!candidate_[i]) continue;
    const std::set<uint32_t> implied = ImpliedBy(region_[i]);
    std::vector<uint32_t> waits;
    std::set_difference(waits_[i].begin(), waits_[i].end(), implied.begin(), implied.end(), std::back_inserter(waits));
    auto [at, is_new] = found.try_emplace({region_[i], cut_.part[i], level_[i], waits, alone_[i] ? i : UINT32_MAX}, pieces.size());
    if (is_new) pieces.push_back({node.scope, region_[i], cut_.part[i], {}, {}});
    pieces[at->second].nodes.push_back(id);
  }
  return pieces;
}

}  // namespace df::ir
