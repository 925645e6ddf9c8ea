#include "tagged_ir/cut/skeleton.h"

#include <algorithm>
#include <deque>

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace df::ir {
namespace {

bool MakesTags(Op op) { return op == Op::Call || op == Op::Enter || op == Op::NextIteration || op == Op::Delay; }
bool Decides(Op op) { return op == Op::Switch || op == Op::BranchMerge || op == Op::EntryMerge || op == Op::LoopMerge; }

bool IsTrigger(const Graph& graph, Edge edge) { return graph.types.Kind(graph.TypeOf(edge).type) == TypeKind::Trigger; }

// Whether the node passes a trigger on, under a tag that its operands and its own rule tell.
bool PassesTrigger(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  switch (node.op) {
    case Op::Start: return true;
    case Op::Call:
    case Op::Enter: return node.num_results == 2;
    case Op::EntryMerge:
    case Op::LoopMerge:
    case Op::NextIteration:
    case Op::BranchMerge:
    case Op::Switch: return IsTrigger(graph, {id, 0});
    default: return false;
  }
}

std::string NodeText(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  const std::string name = fmt::format("%{} {}", id.index, InfoOf(node.op).name);
  switch (node.op) {
    case Op::Call:
    case Op::Delay: return fmt::format("{} {}", name, node.attr);
    case Op::Enter:
    case Op::NextIteration: return fmt::format("{} {}", name, graph.scopes[ScopeId(node.attr)].name);
    default: return name;
  }
}

}  // namespace

Captured Capture(const Graph& graph) {
  Captured all;
  auto captured = [&](NodeId id) { return MakesTags(graph.nodes[id].op) || Decides(graph.nodes[id].op) || graph.nodes[id].op == Op::Start; };
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (MakesTags(graph.nodes[NodeId(i)].op)) all.makes.push_back(NodeId(i));
    else if (Decides(graph.nodes[NodeId(i)].op)) all.decides.push_back(NodeId(i));
  }
  // From each operand backwards through what is suppressed, breadth first.
  std::vector<uint32_t> seen(graph.nodes.size(), UINT32_MAX);
  std::vector<NodeId> to_nodes = all.makes;
  to_nodes.insert(to_nodes.end(), all.decides.begin(), all.decides.end());
  llvm::sort(to_nodes, [](NodeId a, NodeId b) { return a.index < b.index; });
  uint32_t round = 0;
  for (NodeId to : to_nodes) {
    for (uint32_t input = 0; input < graph.nodes[to].num_inputs; ++input, ++round) {
      std::deque<std::pair<Edge, uint32_t>> open = {{graph.InputsOf(to)[input], 0}};
      std::vector<Edge> linked;
      while (!open.empty()) {
        auto [edge, length] = open.front();
        open.pop_front();
        if (captured(edge.node)) {
          if (llvm::is_contained(linked, edge)) continue;
          linked.push_back(edge);
          all.links.push_back({edge, to, input, length});
          continue;
        }
        if (seen[edge.node.index] == round) continue;
        seen[edge.node.index] = round;
        const Op op = graph.nodes[edge.node].op;
        const bool out = op == Op::Return || op == Op::Exit;
        if (out) ++all.leading_out;
        uint32_t k = 0;
        // The control edge of a Return or Exit has the tag that goes on.
        for (Edge before : graph.InputsOf(edge.node)) {
          const bool leads_out = out && k < (op == Op::Return ? 1u : 2u);
          ++k;
          if (!leads_out) open.emplace_back(before, length + 1);
        }
      }
    }
  }
  return all;
}

Skeleton::Skeleton(const Graph& graph) : g(graph) {
  runs_.assign(g.nodes.size(), false);
  trigger_call_.resize(g.sites.size());
  delay_.resize(g.sites.size());
  trigger_enter_.resize(g.scopes.size());
  trigger_next_.resize(g.scopes.size());
  activation_.resize(g.scopes.size());
  sites_into_.resize(g.scopes.size());
  for (uint32_t i = 0; i < g.sites.size(); ++i) sites_into_[g.sites[SiteId(i)].callee.index].push_back(SiteId(i));
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId id(i);
    const Node& node = g.nodes[id];
    if (node.op == Op::Delay) delay_[node.attr] = id;
    if (!PassesTrigger(g, id)) continue;
    runs_[i] = true;
    nodes_.push_back(id);
    switch (node.op) {
      case Op::Call: trigger_call_[node.attr] = id; break;
      case Op::Enter: trigger_enter_[node.attr] = id; break;
      case Op::NextIteration: trigger_next_[node.attr] = id; break;
      case Op::Start:
      case Op::EntryMerge: activation_[node.scope.index] = id; break;
      default: break;
    }
  }
  // A loop may have several variables that are triggers: its own is the one that its Enter of the trigger gives.
  for (NodeId id : nodes_) {
    if (g.nodes[id].op != Op::LoopMerge) continue;
    const uint32_t loop = g.nodes[id].scope.index;
    if (g.InputsOf(id)[0].node == trigger_enter_[loop]) {
      activation_[loop] = id;
      trigger_next_[loop] = g.InputsOf(id)[1].node;
    }
  }
  for (NodeId id : nodes_)
    for (Edge edge : g.InputsOf(id))
      if (!runs_[edge.node.index]) decisions_.push_back(edge);
  llvm::sort(decisions_);
  decisions_.erase(std::unique(decisions_.begin(), decisions_.end()), decisions_.end());
}

bool Skeleton::IsDecision(Edge edge) const { return std::binary_search(decisions_.begin(), decisions_.end(), edge); }

// What enters a function, where it has no EntryMerge of its trigger.
std::vector<Edge> Skeleton::MakersOfScope(ScopeId scope) const {
  if (activation_[scope.index].valid()) return {{activation_[scope.index], 0}};
  std::vector<Edge> makers;
  for (SiteId site : sites_into_[scope.index]) {
    if (g.sites[site].kind == SiteKind::Delay) makers.push_back({delay_[site.index], 1});
    else makers.push_back({trigger_call_[site.index], 0});
  }
  return makers;
}

std::vector<Edge> Skeleton::MakersOf(Edge edge) const {
  const Node& node = g.nodes[edge.node];
  switch (node.op) {
    case Op::Call:
      // What comes to a delayed call from outside, a cotangent, comes under the tag that its release makes.
      if (edge.port == 0 && g.sites[g.SiteOf(edge.node)].kind == SiteKind::Delay) return {{delay_[node.attr], 1}};
      return {{trigger_call_[node.attr], edge.port}};
    case Op::Enter: return {{trigger_enter_[node.attr], edge.port}};
    case Op::NextIteration:
      if (!trigger_next_[node.attr].valid()) return {};
      return {{trigger_next_[node.attr], 0}};
    case Op::Delay:
      if (edge.port > 0) return {{edge.node, 1}};
      return MakersOfScope(node.scope);
    default: return MakersOfScope(node.scope);
  }
}

void PrintSkeletons(const Graph& graph, const Cut& cut, llvm::raw_ostream& out) {
  const Captured all = Capture(graph);
  out << "skeleton \"" << graph.name << "\"\n";
  out << "1 make tags:\n";
  for (NodeId id : all.makes) out << "    " << NodeText(graph, id) << '\n';
  out << "2 decide:\n";
  for (NodeId id : all.decides) out << "    " << NodeText(graph, id) << '\n';
  out << "3 edges, with the nodes suppressed between:\n";
  for (const Captured::Link& link : all.links)
    out << fmt::format("    {} -> {}{}\n", EdgeText(link.from), NodeText(graph, link.to), link.suppressed ? fmt::format("  ({})", link.suppressed) : "");
  if (all.leading_out) out << "    left out, since they lead out of a call or a loop: " << all.leading_out << '\n';
  const Skeleton skeleton(graph);
  out << "run, what the triggers go through:\n";
  for (NodeId id : skeleton.nodes()) {
    out << "    " << NodeText(graph, id);
    const char* separator = "  of ";
    for (Edge edge : graph.InputsOf(id)) {
      out << separator << EdgeText(edge) << (skeleton.Runs(edge.node) ? "" : " told");
      separator = ", ";
    }
    out << '\n';
  }
  const std::vector<Channel> channels = ChannelsOf(graph, cut);
  for (uint32_t part = 0; part < cut.parts; ++part) {
    std::vector<std::string> lines;
    for (const Channel& channel : channels) {
      if (channel.to != part) continue;
      std::string makers;
      for (Edge maker : skeleton.MakersOf(channel.edge))
        makers += fmt::format("{}{}{}", makers.empty() ? "" : " or ", NodeText(graph, maker.node), maker.port ? fmt::format(".{}", maker.port) : "");
      lines.push_back(makers.empty() ? fmt::format("    Recv {} takes what comes: no trigger goes there\n", ChannelName(channel))
                                     : fmt::format("    Recv {} waits for tags of {}\n", ChannelName(channel), makers));
    }
    if (lines.empty()) {
      out << "part " << part << ": no Recv, so no skeleton\n";
      continue;
    }
    out << "part " << part << ":\n4 ties:\n";
    for (const std::string& line : lines) out << line;
    out << "5 a copy of the skeleton";
    std::string told;
    for (Edge edge : skeleton.decisions())
      if (cut.part[edge.node.index] != part) told += (told.empty() ? "" : ", ") + EdgeText(edge) + fmt::format(" by part {}", cut.part[edge.node.index]);
    out << (told.empty() ? ", told nothing\n" : ", told " + told + "\n");
  }
}

}  // namespace df::ir
