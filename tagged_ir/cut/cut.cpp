#include "tagged_ir/cut/cut.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"

namespace df::ir {
namespace {

bool ReadNumber(llvm::StringRef text, uint32_t* number) { return !text.empty() && text.size() < 10 && !text.getAsInteger(10, *number); }

// "fact:8:15" from behind, since a name may hold colons itself.
bool ReadPlace(llvm::StringRef text, PlacementRow* row) {
  if (text.consume_front("%")) {
    uint32_t node;
    if (!ReadNumber(text, &node)) return false;
    row->node = NodeId(node);
    return true;
  }
  llvm::SmallVector<uint32_t, 2> numbers;
  for (uint32_t number; numbers.size() < 2;) {
    auto [name, last] = text.rsplit(':');
    if (name.empty() || !ReadNumber(last, &number) || number == 0) break;
    numbers.push_back(number);
    text = name;
  }
  if (!numbers.empty()) row->line = numbers.back();
  if (numbers.size() == 2) row->column = numbers.front();
  row->scope = text.str();
  return !text.empty();
}

// Of each scope the function, or the root, whose body it is: a loop's is that around it.
std::vector<ScopeId> FunctionsOf(const Graph& graph) {
  std::vector<ScopeId> functions;
  for (uint32_t i = 0; i < graph.scopes.size(); ++i) {
    ScopeId scope(i);
    while (graph.scopes[scope].kind == ScopeKind::Loop) scope = graph.scopes[scope].parent;
    functions.push_back(scope);
  }
  return functions;
}

bool IsPort(Op op) { return op == Op::Start || op == Op::Input || op == Op::Result; }

class Cutter {
 public:
  Cutter(const Graph& graph, const CutOptions& options) : g(graph), options_(options), functions_(FunctionsOf(graph)) {}

  std::optional<Cut> Run(std::string* error) {
    cut_.part.assign(g.nodes.size(), kAnywhere);
    for (uint32_t i = 0; i < g.nodes.size(); ++i) {
      const Node& node = g.nodes[NodeId(i)];
      if (IsPort(node.op)) cut_.part[i] = 0;
      else cut_.part[i] = g.scopes[functions_[node.scope.index]].place;
    }
    for (const PlacementRow& row : options_.rows)
      if (!Apply(row)) break;
    if (error_.empty()) CountParts();
    if (!error_.empty()) {
      *error = error_;
      return std::nullopt;
    }
    if (options_.seed) PlaceAtRandom();
    else PlaceFunctions();
    return std::move(cut_);
  }

 private:
  bool Fail(const PlacementRow& row, std::string text) {
    error_ = fmt::format("line {}: {}", row.line_of_file, text);
    return false;
  }

  bool Apply(const PlacementRow& row) {
    if (row.node.valid()) {
      if (!g.nodes.Contains(row.node)) return Fail(row, fmt::format("there is no node %{}", row.node.index));
      if (IsPort(g.nodes[row.node].op) && row.part != 0)
        return Fail(row, fmt::format("%{} ({}) stands on part 0, where a run begins and ends", row.node.index, InfoOf(g.nodes[row.node].op).name));
      cut_.part[row.node.index] = row.part;
      return true;
    }
    bool scope_found = false, found = false;
    for (uint32_t i = 0; i < g.nodes.size(); ++i) {
      const Node& node = g.nodes[NodeId(i)];
      if (!IsIn(node.scope, row.scope)) continue;
      scope_found = true;
      if (row.line != 0 && !StandsAt(node, row)) continue;
      found = true;
      if (!IsPort(node.op)) cut_.part[i] = row.part;
    }
    if (!scope_found) return Fail(row, fmt::format("there is no function `{}` in the graph", row.scope));
    return found || Fail(row, fmt::format("nothing of `{}` stands at {}{}", row.scope, row.line, row.column ? fmt::format(":{}", row.column) : ""));
  }

  // In the scope of this name, or in a loop in it.
  bool IsIn(ScopeId scope, std::string_view name) const {
    for (; scope.valid(); scope = g.scopes[scope].parent) {
      if (g.scopes[scope].name == name) return true;
      if (g.scopes[scope].kind != ScopeKind::Loop) return false;
    }
    return false;
  }

  bool StandsAt(const Node& node, const PlacementRow& row) const {
    if (!node.pos.valid()) return false;
    const Pos& pos = g.positions[node.pos];
    return pos.line == row.line && (row.column == 0 || pos.column == row.column);
  }

  void CountParts() {
    uint32_t wanted = 1;
    for (uint32_t part : cut_.part)
      if (part != kAnywhere) wanted = std::max(wanted, part + 1);
    cut_.parts = options_.parts ? options_.parts : wanted;
    if (wanted > cut_.parts)
      error_ = fmt::format("something is placed on part {}, and there {} {} part{}, counted from 0", wanted - 1, cut_.parts == 1 ? "is" : "are", cut_.parts,
                           cut_.parts == 1 ? "" : "s");
  }

  void PlaceAtRandom() {
    std::mt19937_64 random(options_.seed);
    for (uint32_t& part : cut_.part)
      if (part == kAnywhere) part = static_cast<uint32_t>(random() % cut_.parts);
  }

  // The root stays on part 0; the others by the size of what has no place.
  void PlaceFunctions() {
    std::vector<uint32_t> load(cut_.parts, 0), open(g.scopes.size(), 0);
    for (uint32_t i = 0; i < g.nodes.size(); ++i) {
      uint32_t function = functions_[g.nodes[NodeId(i)].scope.index].index;
      if (cut_.part[i] == kAnywhere && function == 0) cut_.part[i] = 0;
      if (cut_.part[i] == kAnywhere) ++open[function];
      else ++load[cut_.part[i]];
    }
    std::vector<uint32_t> order(g.scopes.size()), to(g.scopes.size(), 0);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return open[a] > open[b]; });
    for (uint32_t function : order) {
      to[function] = static_cast<uint32_t>(std::min_element(load.begin(), load.end()) - load.begin());
      load[to[function]] += open[function];
    }
    for (uint32_t i = 0; i < g.nodes.size(); ++i)
      if (cut_.part[i] == kAnywhere) cut_.part[i] = to[functions_[g.nodes[NodeId(i)].scope.index].index];
  }

  const Graph& g;
  const CutOptions& options_;
  const std::vector<ScopeId> functions_;
  Cut cut_;
  std::string error_;
};

}  // namespace

std::optional<std::vector<PlacementRow>> ParsePlacement(std::string_view text, std::string* error) {
  std::vector<PlacementRow> rows;
  llvm::StringRef rest(text.data(), text.size());
  for (uint32_t number = 1; !rest.empty(); ++number) {
    auto [line, behind] = rest.split('\n');
    rest = behind;
    line = line.split('#').first.trim();
    if (line.empty()) continue;
    PlacementRow row;
    row.line_of_file = number;
    const size_t blank = line.find_last_of(" \t");
    if (blank == llvm::StringRef::npos || !ReadPlace(line.take_front(blank).rtrim(), &row) || !ReadNumber(line.drop_front(blank + 1), &row.part)) {
      *error = fmt::format("line {}: a function, with a line and column or without, or a node `%12`, and then the number of a part are expected", number);
      return std::nullopt;
    }
    if (row.part >= kMostParts) {
      *error = fmt::format("line {}: there are at most {} parts, counted from 0", number, kMostParts);
      return std::nullopt;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<Cut> MakeCut(const Graph& graph, const CutOptions& options, std::string* error) { return Cutter(graph, options).Run(error); }

std::vector<Channel> ChannelsOf(const Graph& graph, const Cut& cut) {
  std::map<std::pair<Edge, uint32_t>, Channel> channels;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    uint32_t input = 0;
    for (Edge edge : graph.InputsOf(NodeId(i))) {
      const uint32_t from = cut.part[edge.node.index], to = cut.part[i];
      if (from != to) {
        Channel& channel = channels[{edge, to}];
        channel.edge = edge;
        channel.from = from;
        channel.to = to;
        channel.users.emplace_back(NodeId(i), input);
      }
      ++input;
    }
  }
  std::vector<Channel> all;
  for (auto& [name, channel] : channels) all.push_back(std::move(channel));
  return all;
}

Carries CarriesOf(const Graph& graph, Edge edge) {
  const Op op = graph.nodes[edge.node].op;
  if ((op == Op::Call || op == Op::Enter) && edge.port == 1) return Carries::Control;
  return graph.types.Kind(graph.TypeOf(edge).type) == TypeKind::Trigger ? Carries::Trigger : Carries::Data;
}

std::string ChannelName(const Channel& channel) {
  return channel.edge.port == 0 ? fmt::format("%{}>{}", channel.edge.node.index, channel.to)
                                : fmt::format("%{}.{}>{}", channel.edge.node.index, channel.edge.port, channel.to);
}

}  // namespace df::ir
