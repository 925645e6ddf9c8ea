#include "tagged_ir/spread.h"

#include <array>

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/action.h"

namespace df::ir {

uint32_t CountSpreadCalls(const Graph& graph) {
  uint32_t calls = 0;
  for (const Site& site : graph.sites) calls += graph.scopes[site.callee].spread;
  return calls;
}

Spine SpineOf(const Graph& graph) {
  const bool reads = llvm::any_of(graph.graph_inputs, [](const Port& input) { return ComesLater(input.name); });
  return reads || CountSpreadCalls(graph) == 0 ? Spine::Root : Spine::Everywhere;
}

namespace {

bool IsList(const TypeTable& types, PortType port) {
  if (port.lazy || types.Kind(port.type) != TypeKind::Data) return false;
  bool nil = false, cons = false;
  for (const Constructor& c : types[port.type].constructors) {
    nil |= c.name == "[]" && c.fields.empty();
    cons |= c.name == ":" && c.fields.size() == 2;
  }
  return nil && cons && types[port.type].constructors.size() == 2;
}

}  // namespace

std::optional<uint32_t> GivenPieces(const TypeTable& types, PortType parameter, PortType result) {
  if (parameter.lazy || types.Kind(parameter.type) != TypeKind::Data) return std::nullopt;
  const auto& constructors = types[parameter.type].constructors;
  if (constructors.size() != 2) return std::nullopt;
  for (uint32_t i = 0; i < 2; ++i)
    if (constructors[i].fields.size() == 1 && constructors[1 - i].fields.empty() && constructors[i].fields[0].type.type == result.type) return i;
  return std::nullopt;
}

std::string CheckSpread(const Graph& graph) {
  if (llvm::none_of(graph.scopes, [](const Scope& scope) { return scope.spread; })) return "";
  // Of each marked function, its last two parameters; a call's Returns.
  std::vector<std::array<PortType, 2>> last(graph.scopes.size());
  std::vector<uint32_t> parameters(graph.scopes.size(), 0), returns(graph.sites.size(), 0);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[NodeId(i)];
    if (node.op == Op::EntryMerge && graph.scopes[node.scope].spread) {
      const PortType type = graph.ResultsOf(NodeId(i))[0];
      if (graph.types.Kind(type.type) == TypeKind::Trigger) continue;
      std::array<PortType, 2>& of = last[node.scope.index];
      of = {of[1], type};
      ++parameters[node.scope.index];
    }
    if (node.op != Op::Return || !graph.scopes[graph.sites[graph.SiteOf(NodeId(i))].callee].spread) continue;
    const Site& site = graph.sites[graph.SiteOf(NodeId(i))];
    if (site.kind == SiteKind::Delay) return fmt::format("node {} (Return): `{}` is spread, and may be called only", i, graph.scopes[site.callee].name);
    if (++returns[graph.SiteOf(NodeId(i)).index] > 1 || !IsList(graph.types, graph.ResultsOf(NodeId(i))[0]))
      return fmt::format("node {} (Return): `{}` is spread, and has to give a list and nothing else", i, graph.scopes[site.callee].name);
  }
  for (uint32_t i = 0; i < graph.scopes.size(); ++i) {
    const Scope& scope = graph.scopes[ScopeId(i)];
    if (!scope.spread) continue;
    if (scope.kind != ScopeKind::Function) return fmt::format("scope `{}` is spread, and is not a function", scope.name);
    auto is_int = [&](PortType type) { return !type.lazy && graph.types.Kind(type.type) == TypeKind::Int; };
    if (parameters[i] < 2 || !llvm::all_of(last[i], is_int))
      return fmt::format("scope `{}` is spread, and its last two parameters are not the Ints that say which pieces", scope.name);
  }
  return "";
}

}  // namespace df::ir
