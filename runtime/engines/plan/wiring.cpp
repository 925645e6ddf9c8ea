// Who feeds whom across scopes. See plan/build.h.
#include <map>

#include "runtime/engines/plan/build.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

Wiring::Wiring(const ir::Graph& graph) : g(graph) {
  made_at_use.resize(g.nodes.size());
  for (const ir::Node& node : g.nodes) constant_of.push_back(node.op == Op::Const ? node.attr : kNone);
  sites.resize(g.sites.size() + g.scopes.size());
  nodes_in.resize(g.scopes.size());
  merge_of.resize(g.results.size());
  node_of_row.resize(g.results.size());
  results_of.resize(g.scopes.size());
  result_of_return.assign(g.nodes.size(), kNone);
  read_by_outers.resize(g.scopes.size());
  together.assign(g.nodes.size(), true);
  needed.assign(g.nodes.size(), false);
  surely.assign(g.results.size(), false);
  waits.assign(g.nodes.size(), false);
  implied.assign(g.inputs.size(), false);
  std::vector<uint32_t> sizes(g.scopes.size());
  for (const ir::Node& node : g.nodes) ++sizes[node.scope.index];
  for (uint32_t i = 0; i < g.scopes.size(); ++i) nodes_in[i].reserve(sizes[i]);
  index_in_scope.reserve(g.nodes.size());
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId id(i);
    const ir::Node& node = g.nodes[id];
    index_in_scope.push_back(static_cast<uint32_t>(nodes_in[node.scope.index].size()));
    nodes_in[node.scope.index].push_back(id);
    for (uint32_t r = 0; r < node.num_results; ++r) node_of_row[node.first_result + r] = id;
    switch (node.op) {
      case Op::EntryMerge:
      case Op::LoopMerge:
        for (Edge edge : g.InputsOf(id)) merge_of[RowOf(edge)] = id;
        break;
      case Op::Call:
        if (!IsTrigger(In(id, 0))) sites[node.attr].arguments.push_back(id);
        else if (g.sites[ir::SiteId(node.attr)].kind == ir::SiteKind::Call) sites[node.attr].trigger = id;
        break;
      case Op::Delay: sites[node.attr].trigger = id; break;
      case Op::Return:
        if (node.num_results == 0) sites[node.attr].cell_return = id;
        else sites[node.attr].returns.push_back(id);
        break;
      case Op::Enter: {
        SiteNodes& loop = sites[LoopSite(g.LoopOf(id))];
        if (IsTrigger(In(id, 0))) loop.trigger = id;
        else loop.arguments.push_back(id);
        break;
      }
      case Op::NextIteration: {
        SiteNodes& loop = sites[LoopSite(g.LoopOf(id))];
        if (IsTrigger(In(id, 0))) loop.next_trigger = id;
        else loop.next.push_back(id);
        break;
      }
      case Op::Exit: sites[LoopSite(g.LoopOf(id))].returns.push_back(id); break;
      case Op::Outer: {
        std::vector<uint32_t>& rows = read_by_outers[node.attr];
        uint32_t row = RowOf(In(id, 1));
        if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
        break;
      }
      default: break;
    }
  }
  // A row is as many results as the site that returns it most often has Returns for it.
  std::vector<std::map<uint32_t, uint32_t>> most(g.scopes.size());
  auto count = [&](uint32_t s, auto use) {
    std::map<uint32_t, uint32_t> seen;
    const SiteNodes& site = sites[s];
    ir::ScopeId callee = g.sites[ir::SiteId(s)].callee;
    if (site.cell_return.valid()) use(site.cell_return, callee, RowOf(In(site.cell_return, 0)), seen);
    for (NodeId id : site.returns) use(id, callee, RowOf(In(id, 0)), seen);
  };
  for (uint32_t s = 0; s < g.sites.size(); ++s)
    count(s, [&](NodeId, ir::ScopeId callee, uint32_t row, auto& seen) {
      uint32_t& n = most[callee.index][row];
      n = std::max(n, ++seen[row]);
    });
  std::vector<std::map<uint32_t, uint32_t>> first(g.scopes.size());
  for (uint32_t scope = 0; scope < g.scopes.size(); ++scope)
    for (auto [row, n] : most[scope]) {
      first[scope][row] = static_cast<uint32_t>(results_of[scope].size());
      results_of[scope].insert(results_of[scope].end(), n, row);
    }
  for (uint32_t s = 0; s < g.sites.size(); ++s)
    count(s, [&](NodeId id, ir::ScopeId callee, uint32_t row, auto& seen) {
      result_of_return[id.index] = first[callee.index][row] + seen[row]++;
    });
  for (uint32_t scope = 0; scope < g.scopes.size(); ++scope) {
    if (g.scopes[ir::ScopeId(scope)].kind != ir::ScopeKind::Loop) continue;
    for (NodeId id : sites[LoopSite(ir::ScopeId(scope))].returns) {
      result_of_return[id.index] = static_cast<uint32_t>(results_of[scope].size());
      results_of[scope].push_back(RowOf(In(id, 1)));
    }
  }
}

}  // namespace df::tagged
