// tests/unit/runtime/graphs.h
//
// Graphs built by hand, and running them.
#pragma once

#include <string>

#include "runtime/run/engine.h"
#include "runtime/text/show.h"
#include "tagged_ir/graph.h"

namespace df::test {

// A graph under construction: its types, and nodes of one scope at a time.
struct Builder {
  ir::Graph graph;
  ir::ScopeId root, scope;

  Builder() {
    graph.name = "test";
    graph.files = {"test.df"};
    root = scope = graph.scopes.Add({ir::ScopeKind::Root, "main", {}, {}});
  }

  ir::PortType Type(ir::TypeKind kind, bool lazy = false) const { return {graph.types.Builtin(kind), lazy}; }

  ir::PosId At(uint32_t line, uint32_t column, std::string function, ir::PosId inlined_at = {}) {
    return graph.positions.Add({0, line, column, std::move(function), inlined_at});
  }

  ir::Edge Node(ir::Op op, std::vector<ir::Edge> in, std::vector<ir::TypeKind> out, uint32_t attr = 0, ir::PosId pos = {}) {
    std::vector<ir::PortType> types;
    for (ir::TypeKind kind : out) types.push_back(Type(kind));
    return {graph.AddNode(op, scope, in, types, attr, pos), 0};
  }

  ir::Edge Int(ir::Edge trigger, int64_t value) {
    ir::ConstId c = graph.constants.Add({graph.types.Builtin(ir::TypeKind::Int), value, {}});
    return Node(ir::Op::Const, {trigger}, {ir::TypeKind::Int}, c.index);
  }

  void Result(ir::Edge value) {
    uint32_t index = static_cast<uint32_t>(graph.graph_results.size());
    graph.graph_results.push_back({"result", graph.TypeOf(value)});
    Node(ir::Op::Result, {value}, {}, index);
  }
};

inline ir::Edge Port(ir::Edge edge, uint32_t port) { return {edge.node, port}; }

// result = fact(n) + 5, where fact n = if n == 1 then 1 `quot` base else n * fact (n - 1)
inline ir::Graph FactGraph(int64_t n, int64_t base = 1) {
  using ir::Op;
  constexpr auto kInt = ir::TypeKind::Int, kBool = ir::TypeKind::Bool, kTrigger = ir::TypeKind::Trigger;
  Builder b;
  ir::ScopeId fact = b.graph.scopes.Add({ir::ScopeKind::Function, "fact", {}, {}});
  ir::SiteId outer = b.graph.sites.Add({ir::SiteKind::Call, b.root, fact, b.At(9, 8, "main"), {}});
  ir::SiteId inner = b.graph.sites.Add({ir::SiteKind::Call, fact, fact, b.At(3, 30, "fact"), {}});

  ir::Edge start = b.Node(Op::Start, {}, {kTrigger});
  ir::Edge start_call = b.Node(Op::Call, {start}, {kTrigger, kTrigger}, outer.index);
  ir::Edge argument = b.Node(Op::Call, {b.Int(start, n)}, {kInt}, outer.index);

  b.scope = fact;
  ir::Edge trigger = b.Node(Op::EntryMerge, {start_call, {}}, {kTrigger});
  ir::Edge parameter = b.Node(Op::EntryMerge, {argument, {}}, {kInt});
  ir::Edge last = b.Node(Op::Eq, {parameter, b.Int(trigger, 1)}, {kBool});
  ir::Edge value = b.Node(Op::Switch, {last, parameter}, {kInt, kInt});
  ir::Edge branch = b.Node(Op::Switch, {last, trigger}, {kTrigger, kTrigger});
  ir::Edge one = b.Node(Op::Quot, {b.Int(branch, 1), b.Int(branch, base)}, {kInt}, 0, b.At(2, 21, "fact"));
  ir::Edge less = b.Node(Op::Sub, {Port(value, 1), b.Int(Port(branch, 1), 1)}, {kInt});
  ir::Edge again = b.Node(Op::Call, {Port(branch, 1)}, {kTrigger, kTrigger}, inner.index);
  ir::Edge next = b.Node(Op::Call, {less}, {kInt}, inner.index);
  ir::Edge returned = b.Node(Op::Return, {{}, Port(again, 1)}, {kInt}, inner.index);
  ir::Edge product = b.Node(Op::Mul, {Port(value, 1), returned}, {kInt});
  ir::Edge result = b.Node(Op::BranchMerge, {last, one, product}, {kInt});
  b.graph.SetInput(trigger.node, 1, again);
  b.graph.SetInput(parameter.node, 1, next);
  b.graph.SetInput(returned.node, 0, result);

  b.scope = b.root;
  ir::Edge fact_result = b.Node(Op::Return, {result, Port(start_call, 1)}, {kInt}, outer.index);
  b.Result(b.Node(Op::Add, {fact_result, b.Int(start, 5)}, {kInt}));
  return std::move(b.graph);
}

// What a run prints, or "error: ..." with the message.
inline std::string RunAndShow(std::unique_ptr<Execution> execution, const ir::Graph& graph, Stats* stats = nullptr,
                              std::vector<Value> inputs = {}) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Outcome outcome = execution->Start(inputs);
  for (size_t i = 0; outcome.ok() && i < graph.graph_results.size(); ++i) {
    if (i) out << ' ';
    outcome = Show(*execution, graph, graph.graph_results[i].type, execution->results()[i], out);
  }
  if (stats) *stats = execution->stats();
  if (outcome.stop == Stop::Failed) return text + "error: " + outcome.error.message;
  if (!outcome.ok()) return text + "stopped: " + outcome.detail;
  return text;
}

}  // namespace df::test
