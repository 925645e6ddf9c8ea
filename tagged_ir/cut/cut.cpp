#include "tagged_ir/cut/cut.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace df::ir {
namespace {

bool ReadNumber(llvm::StringRef text, uint32_t* number) { return !text.empty() && text.size() < 10 && !text.getAsInteger(10, *number); }

std::string WithoutBlanks(llvm::StringRef text) {
  std::string all;
  for (char c : text)
    if (c != ' ' && c != '\t') all += c;
  return all;
}

// "fact:8:15" from behind, since a name may hold colons itself.
bool ReadPlace(llvm::StringRef text, PlacementRow* row) {
  if (text.consume_front("type ")) {
    row->type = text.trim().str();
    return !row->type.empty();
  }
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
      if (!row.names_rest() && !Apply(row)) break;
    for (const PlacementRow& row : llvm::reverse(options_.rows))
      if (row.names_rest()) std::replace(cut_.part.begin(), cut_.part.end(), uint32_t{kAnywhere}, row.part);
    if (error_.empty()) CountParts();
    if (error_.empty()) NameDevices();
    if (!error_.empty()) {
      *error = error_;
      return std::nullopt;
    }
    if (options_.seed) PlaceAtRandom();
    else if (!options_.leave) PlaceFunctions();
    if (!DevicesHaveSomething()) {
      *error = error_;
      return std::nullopt;
    }
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
    if (!row.type.empty()) return ApplyToType(row);
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

  // The types of this name, and those that hold a value of such a type.
  std::vector<bool> TypesOf(const std::string& name) const {
    std::vector<bool> meant(g.types.size());
    for (uint32_t i = 0; i < meant.size(); ++i) meant[i] = WithoutBlanks(g.types.Print({TypeId(i)})) == name;
    for (bool more = true; more;) {
      more = false;
      for (uint32_t i = 0; i < meant.size(); ++i)
        for (const Constructor& constructor : g.types[TypeId(i)].constructors)
          for (const FieldType& field : constructor.fields)
            if (!meant[i] && meant[field.type.type.index]) meant[i] = more = true;
    }
    return meant;
  }

  bool ApplyToType(const PlacementRow& row) {
    const std::vector<bool> meant = TypesOf(WithoutBlanks(row.type));
    bool found = false;
    for (uint32_t i = 0; i < g.nodes.size(); ++i) {
      const Node& node = g.nodes[NodeId(i)];
      bool has = false;
      for (Edge edge : g.InputsOf(NodeId(i))) has |= meant[g.TypeOf(edge).type.index];
      for (uint32_t port = 0; port < node.num_results; ++port) has |= meant[g.TypeOf({NodeId(i), port}).type.index];
      found |= has;
      if (has && !IsPort(node.op)) cut_.part[i] = row.part;
    }
    return found || Fail(row, fmt::format("nothing in the graph is of the type `{}`", row.type));
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
    for (const DevicePart& device : options_.devices) wanted = std::max(wanted, device.part + 1);
    cut_.parts = options_.parts ? options_.parts : wanted;
    if (wanted > cut_.parts)
      error_ = fmt::format("{} part {}, and there {} {} part{}, counted from 0", IsOfDevice(wanted - 1) ? "a device is to be" : "something is placed on", wanted - 1, cut_.parts == 1 ? "is" : "are", cut_.parts,
                           cut_.parts == 1 ? "" : "s");
  }

  bool IsOfDevice(uint32_t part) const {
    return llvm::any_of(options_.devices, [part](const DevicePart& device) { return device.part == part; });
  }

  // Where some parts are devices all are, but for part 0.
  void NameDevices() {
    if (options_.devices.empty()) return;
    cut_.device.resize(cut_.parts);
    for (const DevicePart& device : options_.devices) cut_.device[device.part] = device.name;
    for (uint32_t part = 1; part < cut_.parts && error_.empty(); ++part)
      if (!IsOfDevice(part)) error_ = fmt::format("part {} is no device, and others are: `--part {}=NAME` says which one it is", part, part);
  }

  // By chance it may be that nothing is on one.
  bool DevicesHaveSomething() {
    for (const DevicePart& device : options_.devices)
      if (options_.seed == 0 && !llvm::is_contained(cut_.part, device.part))
        error_ = fmt::format("nothing is placed on part {}, which is to be `{}`", device.part, device.name);
    return error_.empty();
  }

  void PlaceAtRandom() {
    std::mt19937_64 random(options_.seed);
    for (uint32_t& part : cut_.part)
      if (part == kAnywhere) part = static_cast<uint32_t>(random() % cut_.parts);
  }

  // The root stays on part 0; the others by the size of what has no place. A device has what is placed on it.
  void PlaceFunctions() {
    if (!options_.devices.empty()) std::replace(cut_.part.begin(), cut_.part.end(), uint32_t{kAnywhere}, 0u);
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
      *error = fmt::format("line {}: a function, with a line and column or without, a node `%12`, `type` and a type, or `*`, and then the number of a part are expected", number);
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

std::optional<Cut> CutForProcesses(const Graph& graph, const Cut& cut, uint32_t processes, std::string* error) {
  if (cut.parts < processes) {
    *error = fmt::format("there are {} processes, and {} part{}", processes, cut.parts, cut.parts == 1 ? "" : "s");
    return std::nullopt;
  }
  Cut fit{processes, cut.part};
  for (uint32_t& part : fit.part) part %= processes;
  for (const Channel& channel : ChannelsOf(graph, fit)) {
    if (graph.types.Kind(graph.TypeOf(channel.edge).type) != TypeKind::Activations) continue;
    *error = fmt::format("a table of activations cannot go to another process, and the edge {} has one: what it connects has to be on one part", EdgeText(channel.edge));
    return std::nullopt;
  }
  return fit;
}

std::string WriteCut(const Cut& cut) {
  std::string text = fmt::format("{}:", cut.parts);
  for (size_t i = 0, end; i < cut.part.size(); i = end) {
    for (end = i + 1; end < cut.part.size() && cut.part[end] == cut.part[i];) ++end;
    text += end - i == 1 ? fmt::format(" {}", cut.part[i]) : fmt::format(" {}*{}", cut.part[i], end - i);
  }
  return text;
}

std::optional<Cut> ReadCut(const Graph& graph, std::string_view text) {
  auto [parts, rows] = llvm::StringRef(text.data(), text.size()).split(": ");
  Cut cut;
  if (!ReadNumber(parts, &cut.parts) || cut.parts == 0 || cut.parts > kMostParts) return std::nullopt;
  while (!rows.empty()) {
    auto [row, rest] = rows.split(' ');
    rows = rest;
    auto [part, times] = row.split('*');
    uint32_t number, count = 1;
    if (!ReadNumber(part, &number) || number >= cut.parts || (!times.empty() && !ReadNumber(times, &count))) return std::nullopt;
    if (count > graph.nodes.size() - cut.part.size()) return std::nullopt;
    cut.part.insert(cut.part.end(), count, number);
  }
  if (cut.part.size() != graph.nodes.size()) return std::nullopt;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    if (IsPort(graph.nodes[NodeId(i)].op) && cut.part[i] != 0) return std::nullopt;
  return cut;
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
