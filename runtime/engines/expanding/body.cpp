// From the tagged graph to one image per function and loop.
//
// Who feeds whom across scopes, and which arguments may wait for each other, is what the tagged engine finds too
// (plan/build.h): a call here is one node, as TensorFlow's is, but for arguments that may hang on its own results.
#include "runtime/engines/expanding/body.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "llvm/Support/MathExtras.h"
#include <fmt/format.h>

#include "runtime/engines/plan/build.h"

namespace df::expanding {

namespace {

using ir::NodeId;
using ir::Op;

class BodyMaker {
 public:
  BodyMaker(const ir::Graph& graph, const tagged::Wiring& wiring, Program& program)
      : g_(graph), w_(wiring), p_(program), port_of_row_(graph.results.size(), kNone) {}

  void MakePorts();
  void MakeNodes(ir::ScopeId scope);
  void FinishSites();

 private:
  // A node of the copy, and the rows that its operands come from.
  struct Draft {
    Node node;
    std::vector<uint32_t> rows;  // kNone: nothing ever comes
  };

  uint32_t RowOf(NodeId id, uint32_t operand) const { return w_.RowOf(w_.In(id, operand)); }
  bool IsConstant(uint32_t row) const { return row != kNone && g_.nodes[w_.node_of_row[row]].op == Op::Const; }
  bool NeverComes(uint32_t row) const { return g_.nodes[w_.node_of_row[row]].op == Op::Dead; }
  Draft& Add(Code code, NodeId id, std::vector<uint32_t> rows);
  Draft& Add(Code code, NodeId id);  // with its own operands
  void AddNode(NodeId id);
  void AddCall(uint32_t site, NodeId trigger);
  void AddLoop(ir::ScopeId scope);
  uint32_t NewChild() { return body_->num_children++; }
  uint32_t PortOfMerge(NodeId feeding, uint32_t port) const {
    NodeId merge = w_.merge_of[g_.nodes[feeding].first_result + port];
    return merge.valid() ? port_of_row_[w_.RowOf(merge)] : kNone;
  }
  void Link();

  const ir::Graph& g_;
  const tagged::Wiring& w_;
  Program& p_;
  std::vector<uint32_t> port_of_row_;  // in the copy in which it appears
  Body* body_ = nullptr;
  std::vector<Draft> drafts_;
};

// Whether result `port` of the node appears in the copy of a scope as it is.
bool IsLocal(Op op, uint32_t port) {
  switch (op) {
    case Op::Call:
    case Op::Enter:
    case Op::NextIteration:
    case Op::Dead: return false;  // a parameter over there, and control edges, which only carry dead tokens
    case Op::Delay: return port == 0;
    default: return true;
  }
}

void BodyMaker::MakePorts() {
  for (uint32_t n = 0; n < g_.nodes.size(); ++n) {
    const ir::Node& node = g_.nodes[NodeId(n)];
    for (uint32_t port = 0; port < node.num_results; ++port)
      if (IsLocal(node.op, port)) port_of_row_[node.first_result + port] = p_.bodies[node.scope.index].num_ports++;
    if (node.op == Op::Start) p_.start_port = port_of_row_[node.first_result];
  }
}

BodyMaker::Draft& BodyMaker::Add(Code code, NodeId id, std::vector<uint32_t> rows) {
  const ir::Node& node = g_.nodes[id];
  Draft draft{};
  draft.node.code = code;
  draft.node.op = node.op;
  draft.node.attr = node.attr;
  draft.node.id = id.index;
  draft.node.first_port = node.num_results ? port_of_row_[node.first_result] : kNone;
  draft.node.operand_type = p_.types[id.index].operand;
  draft.node.num_operands = static_cast<uint32_t>(rows.size());
  draft.rows = std::move(rows);
  drafts_.push_back(std::move(draft));
  return drafts_.back();
}

BodyMaker::Draft& BodyMaker::Add(Code code, NodeId id) {
  std::vector<uint32_t> rows;
  for (ir::Edge edge : g_.InputsOf(id)) rows.push_back(w_.RowOf(edge));
  return Add(code, id, std::move(rows));
}

void BodyMaker::AddNode(NodeId id) {
  const ir::Node& node = g_.nodes[id];
  switch (node.op) {
    // Parameters and what calls give are ports that somebody else writes to; the rest is made with its site.
    case Op::Start: case Op::EntryMerge: case Op::LoopMerge: case Op::Return: case Op::NextIteration: case Op::Exit:
    case Op::Dead: return;
    case Op::Call:
      if (w_.sites[node.attr].trigger == id) AddCall(node.attr, id);
      return;
    case Op::Enter: {
      uint32_t site = w_.LoopSite(g_.LoopOf(id));
      if (w_.sites[site].trigger == id) AddCall(site, id);
      return;
    }
    case Op::Delay: {
      p_.sites[node.attr].child = NewChild();
      Add(Code::Delay, id).node.flags = kSpecial;
      for (uint32_t k = 1; k < node.num_inputs; ++k) Add(Code::LateOperand, id, {}).node.attr = k;
      return;
    }
    case Op::Const: Add(Code::Const, id); return;
    case Op::Input: Add(Code::Input, id); return;
    case Op::Result: Add(Code::Result, id); return;
    case Op::Switch: Add(Code::Switch, id); return;
    case Op::BranchMerge: Add(Code::BranchMerge, id).node.flags = kSpecial; return;
    case Op::Construct: Add(Code::Construct, id).node.flags = node.num_inputs > 1 ? kOvertake : 0; return;
    case Op::Force: Add(Code::Force, id); return;
    case Op::Outer: Add(Code::Outer, id, {RowOf(id, 0)}); return;
    default: Add(Code::Op, id).node.flags = node.num_inputs > 1 ? kOvertake : 0; return;
  }
}

void BodyMaker::AddCall(uint32_t index, NodeId trigger) {
  Site& site = p_.sites[index];
  std::vector<uint32_t> rows = {RowOf(trigger, 0)};
  std::vector<NodeId> late;
  site.together = {PortOfMerge(trigger, 0)};
  for (NodeId argument : w_.sites[index].arguments) {
    NodeId merge = w_.merge_of[w_.RowOf(argument)];
    if (!merge.valid()) continue;
    if (!w_.together[merge.index]) {
      late.push_back(argument);
      continue;
    }
    rows.push_back(RowOf(argument, 0));
    site.together.push_back(PortOfMerge(argument, 0));
  }
  Add(Code::Call, trigger, std::move(rows)).node.attr = index;
  for (NodeId argument : late) {
    if (NeverComes(RowOf(argument, 0))) continue;
    Draft& draft = Add(Code::LateArgument, argument);
    draft.node.attr = static_cast<uint32_t>(site.late.size());
    site.late.push_back({kNone, PortOfMerge(argument, 0)});
    draft.node.first_port = index;
  }
  if (!site.late.empty()) site.child = NewChild();
}

void BodyMaker::AddLoop(ir::ScopeId scope) {
  uint32_t index = w_.LoopSite(scope);
  const tagged::SiteNodes& nodes = w_.sites[index];
  Site& site = p_.sites[index];
  if (nodes.next_trigger.valid()) {
    uint32_t predicate = RowOf(nodes.next_trigger, 1);
    Add(Code::Decide, nodes.next_trigger, {predicate}).node.flags = kSpecial;
    std::vector<uint32_t> rows = {predicate, RowOf(nodes.next_trigger, 0)};
    std::vector<NodeId> late;
    site.next_together = {PortOfMerge(nodes.next_trigger, 0)};
    for (NodeId next : nodes.next) {
      NodeId merge = w_.merge_of[w_.RowOf(next)];
      if (!merge.valid()) continue;
      if (!w_.together[merge.index]) {
        late.push_back(next);
        continue;
      }
      rows.push_back(RowOf(next, 0));
      site.next_together.push_back(PortOfMerge(next, 0));
    }
    Add(Code::Next, nodes.next_trigger, std::move(rows)).node.attr = index;
    for (NodeId next : late) {
      if (NeverComes(RowOf(next, 0))) continue;
      Draft& draft = Add(Code::LateNext, next);
      draft.node.attr = static_cast<uint32_t>(site.next_late.size());
      site.next_late.push_back({kNone, PortOfMerge(next, 0)});
      draft.node.first_port = index;
    }
    if (!site.next_late.empty()) site.next_child = NewChild();
  }
  for (NodeId exit : nodes.returns) {
    Node& node = Add(Code::Exit, exit, {RowOf(exit, 0), RowOf(exit, 1)}).node;
    node.attr = w_.result_of_return[exit.index];
    node.flags = kSpecial;
    ++body_->num_exits;
  }
}

void BodyMaker::MakeNodes(ir::ScopeId scope) {
  body_ = &p_.bodies[scope.index];
  body_->scope = scope;
  body_->kind = g_.scopes[scope].kind;
  drafts_.clear();
  // First, so that a predicate has decided before anything else sees it.
  if (body_->kind == ir::ScopeKind::Loop) AddLoop(scope);
  for (NodeId id : w_.nodes_in[scope.index]) AddNode(id);
  if (body_->kind == ir::ScopeKind::Function)
    for (uint32_t r = 0; r < w_.results_of[scope.index].size(); ++r) {
      uint32_t row = w_.results_of[scope.index][r];
      Draft& draft = Add(Code::Return, w_.node_of_row[row], {row});
      draft.node.attr = r;
    }
  for (uint32_t row : w_.read_by_outers[scope.index]) {
    Node& node = Add(Code::Publish, w_.node_of_row[row], {row}).node;
    node.flags = kSpecial;
    node.attr = row;
  }
  Link();
}

// Lays the image out: operands get their numbers, rows their edges, and constants their places in operands.
void BodyMaker::Link() {
  Body& body = *body_;
  std::vector<std::vector<Edge>> edges(body.num_ports);
  std::vector<Value> operands;
  // A constant needs no token where something else has to come anyway; only those are nodes that are wanted elsewhere. A
  // merge may choose a side that is a constant: then its predicate has to come.
  auto folds = [&](const Draft& draft, uint32_t k) {
    if (!IsConstant(draft.rows[k])) return false;
    if (draft.node.code == Code::BranchMerge) return k != 0;
    return std::any_of(draft.rows.begin(), draft.rows.end(), [&](uint32_t row) { return !IsConstant(row); });
  };
  std::unordered_set<uint32_t> wanted;
  for (const Draft& draft : drafts_)
    for (uint32_t k = 0; k < draft.rows.size(); ++k)
      if (!folds(draft, k)) wanted.insert(draft.rows[k]);
  std::erase_if(drafts_, [&](const Draft& draft) {
    return draft.node.code == Code::Const && !wanted.contains(w_.RowOf(NodeId(draft.node.id)));
  });
  for (uint32_t d = 0; d < drafts_.size(); ++d) {
    Draft& draft = drafts_[d];
    Node& node = draft.node;
    node.first_operand = static_cast<uint32_t>(operands.size());
    if (node.code == Code::LateOperand) {
      // The Delay's own operand.
      const Node& delay = drafts_[d - node.attr].node;
      node.first_operand = delay.first_operand + node.attr;
      node.num_operands = 1;
      continue;
    }
    operands.resize(operands.size() + draft.rows.size(), Value::Dead());
    for (uint32_t k = 0; k < draft.rows.size(); ++k) {
      uint32_t row = draft.rows[k], operand = node.first_operand + k;
      if (folds(draft, k)) {
        operands[operand] = p_.constants[g_.nodes[w_.node_of_row[row]].attr];
        if (operands[operand].counted()) body.counted.push_back(operand);
        continue;
      }
      ++node.missing;
      if (port_of_row_[row] != kNone) edges[port_of_row_[row]].push_back({d, operand});
    }
  }
  for (const std::vector<Edge>& list : edges) body.num_edges += static_cast<uint32_t>(list.size());
  for (Draft& draft : drafts_) {
    if (draft.node.code != Code::LateArgument && draft.node.code != Code::LateNext) continue;
    Site& site = p_.sites[draft.node.first_port];
    Site::Late& late = (draft.node.code == Code::LateArgument ? site.late : site.next_late)[draft.node.attr];
    late.operand = draft.node.first_operand;
  }

  body.num_nodes = static_cast<uint32_t>(drafts_.size());
  body.num_operands = static_cast<uint32_t>(operands.size());
  body.operands_at = static_cast<uint32_t>(llvm::alignTo(body.num_nodes * sizeof(Node), alignof(Value)));
  body.children_at = body.operands_at + body.num_operands * sizeof(Value);
  body.ports_at = body.children_at + body.num_children * sizeof(void*);
  body.edges_at = body.ports_at + (body.num_ports + 1) * sizeof(uint32_t);
  body.bytes = (body.edges_at + body.num_edges * sizeof(Edge) + 7) / 8 * 8;
  body.image.assign(body.bytes / 8, 0);
  auto* image = reinterpret_cast<char*>(body.image.data());
  for (uint32_t d = 0; d < drafts_.size(); ++d) std::memcpy(image + d * sizeof(Node), &drafts_[d].node, sizeof(Node));
  // The bits of counted constants: each copy counts them when it is made.
  if (!operands.empty()) std::memcpy(image + body.operands_at, static_cast<void*>(operands.data()), operands.size() * sizeof(Value));
  auto* ports = reinterpret_cast<uint32_t*>(image + body.ports_at);
  auto* out = reinterpret_cast<Edge*>(image + body.edges_at);
  uint32_t next = 0;
  for (uint32_t port = 0; port < body.num_ports; ++port) {
    ports[port] = next;
    for (const Edge& edge : edges[port]) out[next++] = edge;
  }
  ports[body.num_ports] = next;
}

// Where results go, and what reads Outers.
void BodyMaker::FinishSites() {
  for (uint32_t s = 0; s < w_.sites.size(); ++s) {
    Site& site = p_.sites[s];
    const tagged::SiteNodes& nodes = w_.sites[s];
    if (!site.callee) continue;
    site.node = nodes.trigger;
    site.returns.assign(w_.results_of[site.callee->scope.index].size(), kNone);
    for (NodeId id : nodes.returns) {
      site.returns[w_.result_of_return[id.index]] = port_of_row_[w_.RowOf(id)];
      ++site.num_returns;
    }
    if (nodes.cell_return.valid()) {
      site.cell_result = w_.result_of_return[nodes.cell_return.index];
      ++site.num_returns;
      site.keeps_home = !nodes.returns.empty();
    }
    if (site.kind == SiteKind::Delay)
      for (uint32_t k = 0; k < g_.nodes[nodes.trigger].num_inputs; ++k) site.together.push_back(PortOfMerge(nodes.trigger, k + 1));
  }
  for (const ir::Node& node : g_.nodes)
    if (node.op == Op::Outer) p_.bodies[node.scope.index].needs_outer = true;
  for (bool changed = true; changed;) {
    changed = false;
    auto spread = [&](const Body& from, Body& to) {
      if (!from.needs_outer || to.needs_outer) return;
      to.needs_outer = changed = true;
    };
    for (const ir::Site& site : g_.sites) spread(p_.bodies[site.callee.index], p_.bodies[site.caller.index]);
    for (uint32_t scope = 0; scope < g_.scopes.size(); ++scope)
      if (g_.scopes[ir::ScopeId(scope)].kind == ir::ScopeKind::Loop)
        spread(p_.bodies[scope], p_.bodies[g_.scopes[ir::ScopeId(scope)].parent.index]);
  }
  for (Site& site : p_.sites) site.keeps_home |= site.callee && site.callee->needs_outer;
  // An Outer names the operand that keeps the value in its scope's copy.
  for (Body& body : p_.bodies) {
    auto* nodes = reinterpret_cast<Node*>(body.image.data());
    for (uint32_t n = 0; n < body.num_nodes; ++n) {
      if (nodes[n].code != Code::Outer) continue;
      const Body& of = p_.bodies[g_.nodes[NodeId(nodes[n].id)].attr];
      uint32_t row = RowOf(NodeId(nodes[n].id), 1);
      const auto* there = reinterpret_cast<const Node*>(of.image.data());
      for (uint32_t m = 0; m < of.num_nodes; ++m)
        if (there[m].code == Code::Publish && there[m].attr == row) nodes[n].attr = there[m].first_operand;
    }
  }
}

}  // namespace

std::string Compile(const ir::Graph& graph, Program& program) {
  tagged::Wiring wiring(graph);
  tagged::FindStrictParameters(wiring);
  tagged::Group(wiring);
  for (bool good = false; !good;) {
    good = true;
    for (uint32_t scope = 0; scope < graph.scopes.size(); ++scope)
      good &= tagged::Partition(wiring, ir::ScopeId(scope)).Run();
  }
  program.bodies.resize(graph.scopes.size());
  program.sites.resize(wiring.sites.size() + 1);
  for (uint32_t c = 0; c < graph.constants.size(); ++c) program.constants.push_back(Materialize(graph, ir::ConstId(c)));
  for (uint32_t s = 0; s < graph.sites.size(); ++s) {
    const ir::Site& site = graph.sites[ir::SiteId(s)];
    bool delay = site.kind == ir::SiteKind::Delay;
    if (wiring.TakesCalls(s)) return fmt::format("site {}: arguments of a delayed call by Calls are not supported", s);
    program.sites[s].kind = delay ? SiteKind::Delay : SiteKind::Call;
    program.sites[s].label = s;
    program.sites[s].callee = &program.bodies[site.callee.index];
  }
  for (uint32_t scope = 0; scope < graph.scopes.size(); ++scope) {
    if (graph.scopes[ir::ScopeId(scope)].kind != ir::ScopeKind::Loop) continue;
    Site& site = program.sites[graph.sites.size() + scope];
    site.kind = SiteKind::Loop;
    site.label = scope;
    site.callee = &program.bodies[scope];
  }
  program.sites.back().callee = &program.bodies[0];
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) program.types.push_back(TypesOf(graph, ir::NodeId(n)));
  BodyMaker maker(graph, wiring, program);
  maker.MakePorts();
  for (uint32_t scope = 0; scope < graph.scopes.size(); ++scope) maker.MakeNodes(ir::ScopeId(scope));
  maker.FinishSites();
  return "";
}

}  // namespace df::expanding
