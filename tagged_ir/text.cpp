// Prints a tagged graph: see text.h, and docs/graph.md for the form. Prints broken graphs too, as far as they
// can be read, because one looks at a graph when something is wrong with it.

#include <cmath>
#include <cstring>

#include "fmt/format.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"
#include "tagged_ir/text.h"
#include "tagged_ir/text_format.h"

namespace df::ir {

std::string text::Quote(std::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string text::FloatText(int64_t bits, bool is_double) {
  if (is_double) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) return fmt::format("0x{:016x}", static_cast<uint64_t>(bits));
    return fmt::format("{}", value);
  }
  auto low = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &low, sizeof value);
  if (std::isnan(value)) return fmt::format("0x{:08x}", low);
  return fmt::format("{}", value);
}

namespace {

using text::FloatText;
using text::NameText;
using text::Quote;

std::string CharText(int64_t code) {
  if (code >= 0x20 && code < 0x7f && code != '\'' && code != '\\')
    return fmt::format("'{}'", static_cast<char>(code));
  return fmt::format("'\\u{{{:x}}}'", static_cast<uint64_t>(code));
}

class Printer {
 public:
  Printer(const Graph& graph, llvm::raw_ostream& out, const PrintOptions& options)
      : g(graph), out_(out), options_(options) {}

  void Run() {
    ChooseScopes();
    if (options_.only.empty()) Header();
    Sites();
    Bodies();
  }
  void PrintNode(NodeId id);

 private:
  void ChooseScopes();
  void Header();
  void Sites();
  void Bodies();
  std::string Attribute(NodeId id) const;
  std::string ConstantText(ConstId id) const;
  std::string TypeText(PortType type) const;
  std::string ScopeText(ScopeId id) const;
  std::string EdgeText(Edge edge) const;
  std::string PosText(PosId pos, const std::string& function, llvm::ArrayRef<PosId> outer = {}) const;
  mutable uint32_t nested_ = 0;  // places in places; beyond some the graph is not valid

  std::string FunctionOf(ScopeId id) const;

  const Graph& g;
  llvm::raw_ostream& out_;
  const PrintOptions& options_;
  std::vector<bool> shown_;  // of each scope
};

// The scope that is asked for, its specialised copies ("fact@Int"), and the loops inside them.
void Printer::ChooseScopes() {
  shown_.assign(g.scopes.size(), options_.only.empty());
  if (options_.only.empty()) return;
  for (uint32_t i = 0; i < g.scopes.size(); ++i) {
    llvm::StringRef name = g.scopes[ScopeId(i)].name;
    if (options_.Chooses(name)) shown_[i] = true;
  }
  // A loop is shown if the first scope around it that is no loop is; `open` ends walks around a circle of
  // parents.
  std::vector<bool> open(g.scopes.size(), true);
  std::vector<uint32_t> path;
  for (uint32_t i = 0; i < g.scopes.size(); ++i) {
    ScopeId at(i);
    while (g.scopes.Contains(at) && open[at.index] && !shown_[at.index] &&
           g.scopes[at].kind == ScopeKind::Loop) {
      open[at.index] = false;
      path.push_back(at.index);
      at = g.scopes[at].parent;
    }
    for (uint32_t p : path) shown_[p] = g.scopes.Contains(at) && shown_[at.index];
    path.clear();
  }
}

std::string Printer::TypeText(PortType type) const {
  std::string name = "<bad type>";
  if (g.types.Contains(type.type)) {
    const Type& row = g.types[type.type];
    name = row.kind < TypeKind::Data               ? row.name
           : g.types.FindBuiltin(row.name).valid() ? Quote(row.name)
                                                   : NameText(row.name);
  }
  return type.lazy ? "lazy " + name : name;
}

std::string Printer::ScopeText(ScopeId id) const {
  return g.scopes.Contains(id) ? NameText(g.scopes[id].name) : "<bad scope>";
}

std::string Printer::EdgeText(Edge edge) const {
  if (!edge.node.valid()) return "<none>";
  return edge.port == 0 ? fmt::format("%{}", edge.node.index)
                        : fmt::format("%{}.{}", edge.node.index, edge.port);
}

// The source function that positions in a scope belong to unless they say otherwise.
std::string Printer::FunctionOf(ScopeId id) const {
  if (!g.scopes.Contains(id)) return "";
  const Scope& scope = g.scopes[id];
  return g.positions.Contains(scope.pos) ? g.positions[scope.pos].function : scope.name;
}

// `outer`: the places that what it is given to stands in, from the next one on. A chain that comes to one of them goes on with its number.
std::string Printer::PosText(PosId pos, const std::string& function, llvm::ArrayRef<PosId> outer) const {
  std::string text;
  if (!options_.positions) return text;
  // A chain longer than the table would be a circle.
  for (uint32_t steps = 0; g.positions.Contains(pos) && steps < g.positions.size(); ++steps) {
    text += steps == 0 ? " " : " at ";
    if (const PosId* found = llvm::find(outer, pos); found != outer.end()) return text + fmt::format("{}", found - outer.begin() + 1);
    const Pos& p = g.positions[pos];
    text += "@";
    if (p.file != 0) text += fmt::format("{}:", p.file);
    text += fmt::format("{}:{}", p.line, p.column);
    if (p.giver) text += " giver";
    else if (p.function != function) text += " in " + NameText(p.function);
    if (p.given.valid() && nested_ < text::kMostNested) {
      ++nested_;
      llvm::SmallVector<PosId, 8> behind;
      for (PosId at = p.inlined_at; g.positions.Contains(at) && behind.size() < g.positions.size(); at = g.positions[at].inlined_at)
        behind.push_back(at);
      text += " given (" + PosText(p.given, function, behind) + " )";
      --nested_;
    }
    pos = p.inlined_at;
  }
  return text;
}

std::string Printer::ConstantText(ConstId id) const {
  if (!g.constants.Contains(id)) return "<bad constant>";
  const Constant& constant = g.constants[id];
  TypeKind kind = g.types.Contains(constant.type) ? g.types.Kind(constant.type) : TypeKind::Int;
  switch (kind) {
    case TypeKind::Unit: return "()";
    case TypeKind::Bool: return constant.word ? "True" : "False";
    case TypeKind::Char: return CharText(constant.word);
    case TypeKind::Float: return FloatText(constant.word, false);
    case TypeKind::Double: return FloatText(constant.word, true);
    case TypeKind::Integer: return constant.text;
    case TypeKind::Text: return Quote(constant.text);
    case TypeKind::Tensor: return Quote(TensorText(g.types[constant.type], constant.text));
    default: return fmt::format("{}", constant.word);
  }
}

void Printer::Header() {
  out_ << "tagged " << Quote(g.name) << '\n';
  if (g.demanded) out_ << "demanded\n";
  if (g.unshown) out_ << "unshown\n";
  for (const std::string& file : g.files) out_ << "file " << Quote(file) << '\n';
  for (uint32_t i = static_cast<uint32_t>(TypeKind::Data); i < g.types.size(); ++i) {
    if (g.types.Kind(TypeId(i)) == TypeKind::Tensor) {
      out_ << "tensor " << TypeText({TypeId(i)}) << '\n';
      continue;
    }
    out_ << "data " << TypeText({TypeId(i)});
    const char* separator = " = ";
    for (const Constructor& c : g.types[TypeId(i)].constructors) {
      out_ << separator << NameText(c.name);
      separator = " | ";
      for (const FieldType& field : c.fields) {
        out_ << " (";
        if (!field.name.empty()) out_ << NameText(field.name) << ": ";
        out_ << (field.strict ? "strict " : "") << TypeText(field.type) << ')';
      }
    }
    out_ << '\n';
  }
  for (const Port& port : g.graph_inputs)
    out_ << "input " << Quote(port.name) << " : " << TypeText(port.type) << '\n';
  for (const Port& port : g.graph_results)
    out_ << (g.action ? "action " : "result ") << Quote(port.name) << " : " << TypeText(port.type) << '\n';
  static constexpr const char* kKinds[] = {"root ", "function ", "loop "};
  for (const Scope& scope : g.scopes) {
    out_ << kKinds[static_cast<size_t>(scope.kind) % 3] << NameText(scope.name);
    if (scope.parent.valid()) out_ << " in " << ScopeText(scope.parent);
    if (scope.spread) out_ << " spread";
    if (scope.place != kAnywhere) out_ << " part " << scope.place;
    out_ << PosText(scope.pos, scope.name) << '\n';
  }
}

void Printer::Sites() {
  for (uint32_t i = 0; i < g.sites.size(); ++i) {
    const Site& site = g.sites[SiteId(i)];
    if (!options_.only.empty() && !(g.scopes.Contains(site.caller) && shown_[site.caller.index])) continue;
    out_ << "site " << i << (site.kind == SiteKind::Delay ? " delay " : " call ") << ScopeText(site.caller)
         << " -> " << ScopeText(site.callee);
    if (!site.reason.empty()) out_ << ' ' << Quote(site.reason);
    out_ << PosText(site.pos, FunctionOf(site.caller)) << '\n';
  }
}

std::string Printer::Attribute(NodeId id) const {
  const Node& node = g.nodes[id];
  auto constructor = [&](PortType type, uint32_t index) {
    if (!g.types.Contains(type.type) || index >= g.types[type.type].constructors.size())
      return fmt::format("{}", index);
    return NameText(g.types[type.type].constructors[index].name);
  };
  switch (FactsOf(node.op).attribute) {
    case Attribute::NoAttribute: return node.attr ? fmt::format(" <attribute {}>", node.attr) : "";
    case Attribute::InputNumber:
    case Attribute::ResultNumber:
    case Attribute::SiteNumber:
    case Attribute::FailureKind:
    case Attribute::Axes:
    case Attribute::EntryNumber: return fmt::format(" {}", node.attr);
    case Attribute::LoopScope:
    case Attribute::OuterScope: return fmt::format(" {}", ScopeText(ScopeId(node.attr)));
    case Attribute::ConstantNumber: return fmt::format(" {}", ConstantText(ConstId(node.attr)));
    case Attribute::ConstructorNumber:
      return fmt::format(" {}", constructor(node.num_results ? g.ResultsOf(id)[0] : PortType{}, node.attr));
    case Attribute::FieldNumber: {
      PortType type;
      if (node.num_inputs) {
        Edge edge = g.InputsOf(id)[0];
        if (g.nodes.Contains(edge.node) && edge.port < g.nodes[edge.node].num_results) type = g.TypeOf(edge);
      }
      return fmt::format(" {} {}", constructor(type, node.attr >> 16), node.attr & 0xffff);
    }
  }
  return "";
}

void Printer::PrintNode(NodeId id) {
  const Node& node = g.nodes[id];
  out_ << "  %" << id.index << " = ";
  bool readable = static_cast<uint32_t>(node.op) < OpCount() &&
                  uint64_t{node.first_input} + node.num_inputs <= g.inputs.size() &&
                  uint64_t{node.first_result} + node.num_results <= g.results.size();
  if (!readable) {
    out_ << "<bad node>\n";
    return;
  }
  out_ << InfoOf(node.op).name << Attribute(id);
  const char* separator = " ";
  for (Edge edge : g.InputsOf(id)) {
    out_ << separator << EdgeText(edge);
    separator = ", ";
  }
  separator = " : ";
  for (PortType type : g.ResultsOf(id)) {
    out_ << separator << TypeText(type);
    separator = ", ";
  }
  out_ << PosText(node.pos, FunctionOf(node.scope)) << '\n';
}

void Printer::Bodies() {
  // The nodes of each scope, in order; those of no scope at the end.
  std::vector<std::vector<NodeId>> members(g.scopes.size() + 1);
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    ScopeId scope = g.nodes[NodeId(i)].scope;
    members[g.scopes.Contains(scope) ? scope.index : g.scopes.size()].push_back(NodeId(i));
  }
  for (uint32_t i = 0; i <= g.scopes.size(); ++i) {
    if (members[i].empty() || (i < g.scopes.size() && !shown_[i])) continue;
    out_ << "scope " << ScopeText(ScopeId(i)) << " {\n";
    for (NodeId id : members[i]) PrintNode(id);
    out_ << "}\n";
  }
}

}  // namespace

void Print(const Graph& graph, llvm::raw_ostream& out, const PrintOptions& options) {
  Printer(graph, out, options).Run();
}

void PrintNode(const Graph& graph, NodeId node, llvm::raw_ostream& out, const PrintOptions& options) { Printer(graph, out, options).PrintNode(node); }

}  // namespace df::ir
