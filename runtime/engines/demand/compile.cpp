// From the graph to the equations' view of it: who answers for each operand, what can be demanded at all, and
// which answers have to be stored.
#include "runtime/engines/demand/demand.h"

namespace df::demand {

using ir::Op;

namespace {

class Compiler {
 public:
  explicit Compiler(const ir::Graph& graph) : graph_(graph) {}

  Code Run() {
    code_.nodes.resize(graph_.nodes.size());
    code_.sites.resize(graph_.sites.size());
    code_.scopes.resize(graph_.scopes.size());
    code_.results.resize(graph_.graph_results.size(), kNone);
    for (uint32_t i = 0; i < graph_.sites.size(); ++i) code_.sites[i].callee = graph_.sites[ir::SiteId(i)].callee.index;
    Sources();
    Arguments();
    FindLive();
    CountUses();
    AssignSlots();
    FindOuters();
    return std::move(code_);
  }

 private:
  // The node that answers for operand `k`.
  uint32_t Source(uint32_t node, uint32_t k) const {
    ir::Edge edge = graph_.InputsOf(ir::NodeId(node))[k];
    while (graph_.nodes[edge.node].op == Op::Switch) edge = graph_.InputsOf(edge.node)[1];
    return edge.node.index;
  }

  void Sources() {
    for (uint32_t i = 0; i < code_.nodes.size(); ++i) {
      const ir::Node& from = graph_.nodes[ir::NodeId(i)];
      NodeCode& to = code_.nodes[i];
      to.op = from.op;
      to.attr = from.attr;
      to.scope = from.scope.index;
      to.types = TypesOf(graph_, ir::NodeId(i));
      to.first = static_cast<uint32_t>(code_.sources.size());
      auto add = [&](uint32_t source) { code_.sources.push_back(source); };
      switch (from.op) {
        case Op::Start: case Op::Input: case Op::Switch: case Op::Call: case Op::Enter: case Op::NextIteration:
        case Op::Dead: case Op::Delay: case Op::Const: case Op::EntryMerge: break;
        case Op::Outer: add(Source(i, 1)); break;
        case Op::Exit: add(Source(i, 0)), add(Source(i, 1)); break;
        case Op::Return: {
          uint32_t result = Source(i, 0);
          add(result);
          SiteCode& site = code_.sites[from.attr];
          if (from.num_results == 0) site.result = result;
          else site.returns.push_back(i);
          break;
        }
        case Op::LoopMerge: {  // what Enter and NextIteration are given
          llvm::ArrayRef<ir::Edge> in = graph_.InputsOf(ir::NodeId(i));
          add(Source(in[0].node.index, 0)), add(Source(in[1].node.index, 0));
          break;
        }
        case Op::Construct:
          for (uint32_t k = 1; k < from.num_inputs; ++k) add(Source(i, k));
          break;
        case Op::Result: code_.results[from.attr] = Source(i, 0); break;
        default:
          for (uint32_t k = 0; k < from.num_inputs; ++k) add(Source(i, k));
      }
      to.count = static_cast<uint32_t>(code_.sources.size()) - to.first;
    }
  }

  // EntryMerge j under i:t is argument j of site i under t: output 0 of a Call, output k + 1 of a Delay.
  void Arguments() {
    std::vector<uint32_t> entries(code_.scopes.size());
    for (uint32_t i = 0; i < code_.nodes.size(); ++i) {
      if (code_.nodes[i].op != Op::EntryMerge) continue;
      uint32_t number = code_.nodes[i].attr = entries[code_.nodes[i].scope]++;
      for (ir::Edge edge : graph_.InputsOf(ir::NodeId(i))) {
        SiteCode& site = code_.sites[graph_.nodes[edge.node].attr];
        if (site.arguments.size() <= number) site.arguments.resize(number + 1, kNone);
        site.arguments[number] = Source(edge.node.index, edge.port == 0 ? 0 : edge.port - 1);
      }
    }
    sites_of_.resize(code_.scopes.size());
    for (uint32_t i = 0; i < code_.sites.size(); ++i) sites_of_[code_.sites[i].callee].push_back(i);
  }

  // Calls `visit` for every node that the equation of `node` may ask for.
  template <typename Visit>
  void ForEachDemand(uint32_t node, Visit visit) {
    const NodeCode& n = code_.nodes[node];
    for (uint32_t k = 0; k < n.count; ++k) visit(code_.sources[n.first + k]);
    if (n.op == Op::Delay) visit(code_.sites[n.attr].result);
    if (n.op == Op::EntryMerge)
      for (uint32_t site : sites_of_[n.scope])
        if (n.attr < code_.sites[site].arguments.size() && code_.sites[site].arguments[n.attr] != kNone)
          visit(code_.sites[site].arguments[n.attr]);
  }

  void FindLive() {
    std::vector<uint32_t> work;
    auto reach = [&](uint32_t node) {
      if (code_.nodes[node].live) return;
      code_.nodes[node].live = true;
      work.push_back(node);
    };
    for (uint32_t result : code_.results) reach(result);
    while (!work.empty()) {
      uint32_t node = work.back();
      work.pop_back();
      ForEachDemand(node, reach);
    }
    for (uint32_t i = 0; i < code_.nodes.size(); ++i) {
      if (!code_.nodes[i].live) continue;
      if (code_.nodes[i].op == Op::LoopMerge || code_.nodes[i].op == Op::EntryMerge)
        code_.scopes[code_.nodes[i].scope].merges.push_back(i);
      if (code_.nodes[i].op == Op::Exit) code_.scopes[code_.nodes[i].attr].exits.push_back(i);
    }
  }

  // One result of the site's activation is asked for: a call's, or what a reference stands for.
  bool IsAskedOnce(uint32_t site) const {
    return code_.sites[site].returns.size() + (code_.sites[site].result != kNone) <= 1;
  }

  // How often a node may be asked for under one tag, if everybody who asks is asked once under each of its own.
  void CountUses() {
    uses_.resize(code_.nodes.size());
    std::vector<bool> returned(code_.nodes.size());
    // A function's result is asked for by many Returns, but under the tag i:t by those of site i alone.
    auto by_return = [&](uint32_t result, bool alone) {
      if (returned[result] && alone) return;
      returned[result] = true;
      ++uses_[result];
    };
    for (uint32_t result : code_.results) ++uses_[result];
    for (uint32_t i = 0; i < code_.nodes.size(); ++i) {
      const NodeCode& n = code_.nodes[i];
      if (!n.live) continue;
      if (n.op == Op::Return) {
        by_return(code_.sources[n.first], IsAskedOnce(n.attr));
      } else if (n.op == Op::Delay) {
        by_return(code_.sites[n.attr].result, IsAskedOnce(n.attr));
      } else {
        // Many inner tags see one outer value.
        ForEachDemand(i, [&](uint32_t source) { uses_[source] += n.op == Op::Outer ? 2 : 1; });
      }
    }
  }

  void AssignSlots() {
    auto take = [&](uint32_t scope) { return code_.scopes[scope].slots++; };
    for (uint32_t i = 0; i < code_.nodes.size(); ++i) {
      NodeCode& n = code_.nodes[i];
      if (!n.live) continue;
      bool several = n.op == Op::Return && !IsAskedOnce(n.attr);
      several |= n.op == Op::Exit && code_.scopes[n.attr].exits.size() > 1;
      if (n.op == Op::Const || n.op == Op::Input) continue;
      if (uses_[i] > 1 || several || n.op == Op::LoopMerge || n.op == Op::EntryMerge) n.slot = take(n.scope);
      n.once = n.op == Op::EntryMerge && uses_[i] == 1;
    }
    for (uint32_t i = 0; i < code_.sites.size(); ++i)
      if (!IsAskedOnce(i)) code_.sites[i].held = take(graph_.sites[ir::SiteId(i)].caller.index);
    for (uint32_t i = 0; i < code_.scopes.size(); ++i)
      if (code_.scopes[i].exits.size() > 1) code_.scopes[i].held = take(graph_.scopes[ir::ScopeId(i)].parent.index);
  }

  // An Outer needs every activation between its own and the one that it reads.
  void FindOuters() {
    for (const NodeCode& n : code_.nodes)
      if (n.op == Op::Outer && n.live) code_.scopes[n.scope].looks_out = true;
    std::vector<std::vector<uint32_t>> entered_from(code_.scopes.size());
    for (uint32_t i = 0; i < code_.sites.size(); ++i)
      entered_from[code_.sites[i].callee].push_back(graph_.sites[ir::SiteId(i)].caller.index);
    for (uint32_t i = 0; i < code_.scopes.size(); ++i)
      if (graph_.scopes[ir::ScopeId(i)].kind == ir::ScopeKind::Loop)
        entered_from[i].push_back(graph_.scopes[ir::ScopeId(i)].parent.index);
    std::vector<uint32_t> work;
    for (uint32_t i = 0; i < code_.scopes.size(); ++i)
      if (code_.scopes[i].looks_out) work.push_back(i);
    while (!work.empty()) {
      uint32_t scope = work.back();
      work.pop_back();
      for (uint32_t from : entered_from[scope])
        if (!std::exchange(code_.scopes[from].looks_out, true)) work.push_back(from);
    }
  }

  const ir::Graph& graph_;
  Code code_;
  std::vector<std::vector<uint32_t>> sites_of_;  // by callee
  std::vector<uint32_t> uses_;
};

}  // namespace

Code Compile(const ir::Graph& graph) { return Compiler(graph).Run(); }

}  // namespace df::demand
