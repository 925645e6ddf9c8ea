#include "tagged_ir/cut/outline.h"

#include <algorithm>
#include <map>

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/cut/layers.h"
#include "tagged_ir/spread.h"

namespace df::ir {
namespace {

class Outliner {
 public:
  Outliner(Graph& graph, const Cut& cut) : g(graph), layers_(graph, cut) {}

  Outlined Run() {
    made_.stay = layers_.stay();
    pieces_ = layers_.Pieces();
    piece_of_.assign(g.nodes.size(), kNone);
    for (uint32_t i = 0; i < pieces_.size(); ++i)
      for (NodeId node : pieces_[i].nodes) piece_of_[node.index] = i;
    FindResults();
    called_.resize(pieces_.size());
    const uint32_t scopes = g.scopes.size();
    for (uint32_t i = 0; i < pieces_.size(); ++i)
      if (!LeaveWithFrame(i)) Declare(i);
    for (uint32_t i = 0; i < pieces_.size(); ++i)
      if (called_[i].scope.valid()) Fill(i);
    ConnectOthers();
    for (uint32_t i = 0; i < scopes; ++i)
      if (Scope& scope = g.scopes[ScopeId(i)]; scope.kind == ScopeKind::Function) scope.place = static_cast<uint16_t>(layers_.HomeOf(ScopeId(i)));
    return made_;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // A piece as a function.
  struct Called {
    ScopeId scope;   // invalid: it stays where it is
    SiteId site;
    NodeId entry;    // of its trigger
    NodeId call;     // likewise
    std::map<Edge, Edge> results;     // what it computes, as it comes back
    std::map<Edge, Edge> parameters;  // what it needs, as it is there
  };

  uint32_t PieceOf(NodeId node) const { return node.index < piece_of_.size() ? piece_of_[node.index] : kNone; }
  bool IsTrigger(Edge edge) const { return g.types.Kind(g.TypeOf(edge).type) == TypeKind::Trigger; }

  // What of each piece somebody else needs.
  void FindResults() {
    results_.resize(pieces_.size());
    for (uint32_t i = 0; i < piece_of_.size(); ++i) {
      if (g.nodes[NodeId(i)].op == Op::EntryMerge) continue;  // what a call delivers is no result of where it stands
      for (Edge edge : g.InputsOf(NodeId(i)))
        if (uint32_t from = piece_of_[edge.node.index]; from != kNone && from != piece_of_[i] && ScopeOfEdge(g, edge) == pieces_[from].scope) results_[from].push_back(edge);
    }
    for (std::vector<Edge>& edges : results_) {
      llvm::sort(edges);
      edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    }
  }

  // Whether nobody needs it, or nothing says when it starts.
  bool LeaveWithFrame(uint32_t number) {
    const CutPiece& piece = pieces_[number];
    if (!results_[number].empty() && piece.region != kNoRegion && TriggerOf(piece.region).node.valid()) return false;
    for (NodeId node : piece.nodes) piece_of_[node.index] = kNone;
    made_.stay += static_cast<uint32_t>(piece.nodes.size());
    return true;
  }

  // The trigger of a region, made if there was no use for it.
  Edge TriggerOf(uint32_t number) {
    const ControlRegion region = layers_.regions()[number];
    if (region.trigger.node.valid()) return region.trigger;
    if (region.parent == kNoRegion) return layers_.regions()[number].trigger = TriggerOfFunction(region.scope);
    const Edge around = TriggerOf(region.parent);
    if (!around.node.valid()) return {};
    const uint32_t sides = g.nodes[region.chooser].num_results;
    const std::vector<PortType> types(sides, g.TypeOf(around));
    const NodeId chooser = g.AddNode(Op::Switch, region.scope, {region.predicate, around}, types, 0, g.nodes[region.chooser].pos);
    for (ControlRegion& other : layers_.regions())
      if (other.parent == region.parent && other.predicate == region.predicate && !other.trigger.node.valid()) other.trigger = {chooser, other.side};
    return {chooser, region.side};
  }

  // Of a loop it is a variable, which would have to go round.
  Edge TriggerOfFunction(ScopeId scope) {
    if (g.scopes[scope].kind != ScopeKind::Function) return {};
    std::vector<Edge> all;
    for (uint32_t i = 0; i < g.nodes.size(); ++i) {
      const Op op = g.nodes[NodeId(i)].op;
      if ((op != Op::Call && op != Op::Delay) || g.sites[g.SiteOf(NodeId(i))].callee != scope) continue;
      if (op == Op::Delay) all.push_back({NodeId(i), 1});
      else if (g.sites[g.SiteOf(NodeId(i))].kind == SiteKind::Call && g.nodes[NodeId(i)].num_results == 2) all.push_back({NodeId(i), 0});
    }
    if (all.empty()) return {};
    const PortType type{g.types.Builtin(TypeKind::Trigger)};
    return {g.AddNode(Op::EntryMerge, scope, all, {type}, 0, g.scopes[scope].pos), 0};
  }

  std::string NameOf(const CutPiece& piece) {
    const std::string name = fmt::format("{}{}{}", g.scopes[piece.loop.valid() ? piece.loop : piece.scope].name, kPieceMark, piece.part);
    const uint32_t number = ++names_[name];
    return number == 1 ? name : fmt::format("{}.{}", name, number);
  }

  // Scope, site, the call of its trigger, and what comes back.
  void Declare(uint32_t number) {
    const CutPiece& piece = pieces_[number];
    Called& called = called_[number];
    const Edge trigger = TriggerOf(piece.region);
    const PosId pos = g.nodes[piece.nodes.front()].pos;
    const PortType type{g.types.Builtin(TypeKind::Trigger)};
    called.scope = g.scopes.Add({ScopeKind::Function, NameOf(piece), {}, pos});
    g.scopes[called.scope].place = static_cast<uint16_t>(piece.part);
    called.site = g.sites.Add({SiteKind::Call, piece.scope, called.scope, pos, ""});
    called.call = g.AddNode(Op::Call, piece.scope, {trigger}, {type, type}, called.site.index, pos);
    called.entry = g.AddNode(Op::EntryMerge, called.scope, {Edge{called.call, 0}}, {type}, 0, pos);
    for (Edge edge : results_[number]) {
      const NodeId result = g.AddNode(Op::Return, piece.scope, {Edge(), Edge{called.call, 1}}, {g.TypeOf(edge)}, called.site.index, g.nodes[edge.node].pos);
      returns_.emplace_back(result, edge);
      called.results[edge] = {result, 0};
    }
    ++made_.pieces;
    made_.loops += piece.loop.valid();
    made_.nodes += static_cast<uint32_t>(piece.nodes.size());
  }

  // Where something is to be had outside of the piece that computes it.
  Edge Outside(Edge edge) const {
    const uint32_t from = PieceOf(edge.node);
    if (from == kNone) return edge;
    auto found = called_[from].results.find(edge);
    return found == called_[from].results.end() ? edge : found->second;
  }

  // What a piece needs, within it: constants are there again.
  Edge Parameter(uint32_t number, Edge edge) {
    Called& called = called_[number];
    if (IsTrigger(edge)) return {called.entry, 0};
    auto [found, is_new] = called.parameters.try_emplace(edge);
    if (!is_new) return found->second;
    const Node from = g.nodes[edge.node];
    const PortType type = g.TypeOf(edge);
    if (from.op == Op::Const) return found->second = {g.AddNode(Op::Const, called.scope, {Edge{called.entry, 0}}, {type}, from.attr, from.pos), 0};
    const NodeId call = g.AddNode(Op::Call, pieces_[number].scope, {Outside(edge)}, {type}, called.site.index, g.nodes[called.call].pos);
    return found->second = {g.AddNode(Op::EntryMerge, called.scope, {Edge{call, 0}}, {type}, 0, from.pos), 0};
  }

  void Fill(uint32_t number) {
    const CutPiece& piece = pieces_[number];
    for (NodeId node : piece.nodes) {
      // What is in a loop, or comes out of it, takes nothing of around it; a Return there what its callee gives.
      const bool takes = g.nodes[node].scope == piece.scope && g.nodes[node].op != Op::Exit;
      for (uint32_t k = 0; k < g.nodes[node].num_inputs; ++k) {
        const Edge edge = g.InputsOf(node)[k];
        if (PieceOf(edge.node) == number) continue;
        const Edge there = takes ? Parameter(number, edge) : Outside(edge);
        g.SetInput(node, k, there);
      }
      if (g.nodes[node].scope == piece.scope) g.nodes[node].scope = called_[number].scope;
    }
    if (piece.loop.valid()) g.scopes[piece.loop].parent = called_[number].scope;
  }

  // What takes something of a piece takes what comes back.
  void ConnectOthers() {
    for (uint32_t i = 0; i < g.nodes.size(); ++i) {
      if (PieceOf(NodeId(i)) != kNone) continue;
      for (uint32_t k = 0; k < g.nodes[NodeId(i)].num_inputs; ++k)
        if (const Edge edge = g.InputsOf(NodeId(i))[k]; edge.node.valid()) g.SetInput(NodeId(i), k, Outside(edge));
    }
    for (auto [node, edge] : returns_) g.SetInput(node, 0, edge);
  }

  Graph& g;
  Layers layers_;
  std::vector<CutPiece> pieces_;
  std::vector<uint32_t> piece_of_;         // by node
  std::vector<std::vector<Edge>> results_;  // by piece
  std::vector<Called> called_;             // by piece
  std::vector<std::pair<NodeId, Edge>> returns_;
  std::map<std::string, uint32_t> names_;
  Outlined made_;
};

}  // namespace

Outlined Outline(Graph& graph, const Cut& cut) { return Outliner(graph, cut).Run(); }

// A row of a whole function puts its frames on a part; of anything else, what can leave them.
static bool CheckRow(const Graph& graph, const std::vector<bool>& movable, const PlacementRow& row, std::string* error) {
  const bool whole = !row.scope.empty() && row.line == 0;
  if (whole) {
    const std::string& root = graph.scopes[ScopeId(0)].name;
    if (row.part == 0 || (row.scope != root && !row.names_rest())) return true;
    *error = fmt::format("line {}: `{}` is where a run begins and ends, in its first process", row.line_of_file, root);
    return false;
  }
  // What it names is what it puts on a part of its own.
  CutOptions alone;
  alone.leave = true;
  alone.rows = {row};
  alone.rows[0].part = kMostParts - 1;
  std::optional<Cut> cut = MakeCut(graph, alone, error);
  if (!cut) return false;
  NodeId stays;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (cut->part[i] != kMostParts - 1) continue;
    // The merges of a function say where its frames are.
    if (CanLeaveFrame(graph, movable, NodeId(i)) || graph.nodes[NodeId(i)].op == Op::EntryMerge) return true;
    if (!stays.valid() || graph.nodes[stays].op == Op::Const) stays = NodeId(i);
  }
  if (!stays.valid()) return true;
  *error = fmt::format("line {}: nothing that it names can stand on another part than its function where the engine is tagged: %{} ({}) stays with the function's frame; --engine=reference cuts there",
                       row.line_of_file, stays.index, InfoOf(graph.nodes[stays].op).name);
  return false;
}

bool CutIntoCalls(Graph& graph, CutOptions options, uint32_t processes, std::string* error) {
  const std::vector<bool> movable = MovableTypes(graph);
  for (const PlacementRow& row : options.rows)
    if (!CheckRow(graph, movable, row, error)) return false;
  options.leave = options.parts == 0 && options.seed == 0;
  // All else with the root: what has no place is there anyway, but for what the others call.
  auto names_rest = [](const PlacementRow& row) { return row.names_rest(); };
  if (options.seed == 0 && llvm::any_of(options.rows, names_rest)) {
    options.leave = true;
    llvm::erase_if(options.rows, names_rest);
  }
  if (options.seed != 0 && options.parts == 0) options.parts = processes;
  std::optional<Cut> cut = MakeCut(graph, options, error);
  if (!cut) return false;
  Outline(graph, *cut);
  return true;
}

}  // namespace df::ir
