// Graphviz: the graph drawn as in the paper's figures, a cluster per function, its loops inside. Nodes carry
// their op with the number of the call site or the name of the loop; triggers and control edges are dashed
// and grey, so that the data flow stands out; an edge that may carry references has an open arrow.

#include "tagged_ir/dot.h"

#include <cstring>

#include "fmt/format.h"
#include "tagged_ir/op_facts.h"
#include "tagged_ir/tensor_type.h"
#include "tagged_ir/text.h"

namespace df::ir {
namespace {

// A number as subscript digits, in UTF-8.
std::string Subscript(uint32_t number) {
  std::string out;
  for (char digit : std::to_string(number))
    out += std::string("\xe2\x82") + static_cast<char>(0x80 + (digit - '0'));
  return out;
}

}  // namespace

std::string Drawer::Escape(llvm::StringRef text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out;
}

std::string Drawer::ConstantLabel(const Constant& constant) const {
  constexpr size_t kLongest = 24;
  switch (g.types.Kind(constant.type)) {
    case TypeKind::Unit: return "()";
    case TypeKind::Bool: return constant.word ? "True" : "False";
    case TypeKind::Char: return fmt::format("U+{:04X}", constant.word);
    case TypeKind::Float: {
      float value;
      auto bits = static_cast<uint32_t>(constant.word);
      std::memcpy(&value, &bits, sizeof value);
      return fmt::format("{}", value);
    }
    case TypeKind::Double: {
      double value;
      std::memcpy(&value, &constant.word, sizeof value);
      return fmt::format("{}", value);
    }
    case TypeKind::Integer:
      if (constant.text.size() <= kLongest) return constant.text;
      return constant.text.substr(0, kLongest) + "...";
    // A cut through the middle of a character would not be UTF-8 any more.
    case TypeKind::Text: return constant.text.size() <= kLongest ? "\"" + constant.text + "\"" : "a Text";
    case TypeKind::Tensor: {
      std::string text = TensorText(g.types[constant.type], constant.text);
      return text.size() <= kLongest ? text : g.types[constant.type].name;
    }
    default: return fmt::format("{}", constant.word);
  }
}

std::string Drawer::Label(NodeId id) const {
  const Node& node = g.nodes[id];
  std::string name(InfoOf(node.op).name);
  switch (FactsOf(node.op).attribute) {
    case Attribute::SiteNumber: return name + Subscript(node.attr);
    case Attribute::ConstantNumber: return ConstantLabel(g.constants[ConstId(node.attr)]);
    case Attribute::InputNumber: return "Input " + g.graph_inputs[node.attr].name;
    case Attribute::ResultNumber: return g.graph_results.size() == 1 ? name : fmt::format("{} {}", name, node.attr);
    case Attribute::OuterScope: return "Outer " + g.scopes[ScopeId(node.attr)].name;
    case Attribute::ConstructorNumber: return g.types[g.ResultsOf(id)[0].type].constructors[node.attr].name;
    case Attribute::FieldNumber: {
      const Constructor& c = g.types[g.TypeOf(g.InputsOf(id)[0]).type].constructors[node.attr >> 16];
      const std::string& field = c.fields[node.attr & 0xffff].name;
      return field.empty() ? fmt::format("{}.{}", c.name, node.attr & 0xffff) : field;
    }
    case Attribute::NoAttribute:
    case Attribute::LoopScope:
    case Attribute::FailureKind:
    case Attribute::Axes:
    case Attribute::EntryNumber: return name;
  }
  return name;
}

// Of a Switch on a Bool T and F, else the number of the alternative.
std::string Drawer::SideLabel(NodeId id, uint32_t side) const {
  if (g.types.Kind(g.TypeOf(g.InputsOf(id)[0]).type) != TypeKind::Bool) return std::to_string(side);
  return side == 0 ? "T" : "F";
}

void Drawer::DrawNode(NodeId id, int depth) {
  const Node& node = g.nodes[id];
  const char* style = "";
  switch (node.op) {
    case Op::Call:
    case Op::Return:
    case Op::Delay:
    case Op::Force: style = ", style=filled, fillcolor=\"#dde8f7\""; break;
    case Op::Switch:
    case Op::BranchMerge: style = ", style=filled, fillcolor=\"#f7eedb\""; break;
    case Op::EntryMerge:
    case Op::LoopMerge: style = ", style=filled, fillcolor=\"#e3f2e1\""; break;
    case Op::Const: style = ", shape=plaintext, width=0.2"; break;
    case Op::Start:
    case Op::Result:
    case Op::Input: style = ", shape=box"; break;
    default: break;
  }
  drawn_[id.index] = true;
  if (node.op == Op::Switch) {  // its sides are parts of the node: labels at the edges would cover each other
    out_.indent(2 * depth) << "n" << id.index << " [shape=Mrecord, label=\"{" << Escape(Label(id)) << "|{";
    for (uint32_t side = 0; side < node.num_results; ++side)
      out_ << (side ? "|" : "") << "<s" << side << ">" << SideLabel(id, side);
    out_ << "}}\"" << style << ", tooltip=\"" << id.index << "\"];\n";
    return;
  }
  out_.indent(2 * depth) << "n" << id.index << " [label=\"" << Escape(Label(id)) << "\"" << style
                         << ", tooltip=\"" << id.index << "\"];\n";
}

void Drawer::Cluster(ScopeId id, int depth) {
  const Scope& scope = g.scopes[id];
  out_.indent(2 * depth) << "subgraph cluster_" << id.index << " {\n";
  out_.indent(2 * depth + 2) << "label=\"" << Escape(scope.name) << "\"; style=\"rounded"
                             << (scope.kind == ScopeKind::Loop ? ",dashed" : "")
                             << "\"; color=\"#888888\";\n";
  for (NodeId node : members_[id.index]) DrawNode(node, depth + 1);
  for (ScopeId loop : loops_[id.index]) Cluster(loop, depth + 1);
  out_.indent(2 * depth) << "}\n";
}

// The edges of loops and of direct recursion that lead back: they do not pull the drawing upside down.
bool Drawer::GoesBack(NodeId to, Edge edge) const {
  auto is_recursive = [&](NodeId node) {
    const Site& site = g.sites[g.SiteOf(node)];
    ScopeId caller = site.caller;
    while (g.scopes[caller].kind == ScopeKind::Loop) caller = g.scopes[caller].parent;
    return caller == site.callee;
  };
  Op from = g.nodes[edge.node].op;
  if (from == Op::NextIteration) return true;
  if (g.nodes[to].op == Op::EntryMerge) return is_recursive(edge.node);
  return g.nodes[to].op == Op::Return && from != Op::Call && is_recursive(to);
}

// A trigger, wherever it goes, or a control edge; references.
std::string Drawer::EdgeStyle(Edge edge) const {
  std::string style;
  if (g.types.Kind(g.TypeOf(edge).type) == TypeKind::Trigger) style = "style=dashed, color=\"#aaaaaa\"";
  if (g.TypeOf(edge).lazy) style += style.empty() ? "arrowhead=empty" : ", arrowhead=empty";
  return style;
}

std::string Drawer::Port(Edge edge) const {
  return g.nodes[edge.node].op == Op::Switch ? fmt::format("n{}:s{}:s", edge.node.index, edge.port) : fmt::format("n{}", edge.node.index);
}

// Those within a part, where the graph is cut.
void Drawer::DrawEdges(llvm::ArrayRef<uint32_t> parts) {
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId to(i);
    llvm::ArrayRef<Edge> in = g.InputsOf(to);
    for (uint32_t k = 0; k < in.size(); ++k) {
      NodeId from = in[k].node;
      if (!drawn_[i] || !drawn_[from.index] || (!parts.empty() && parts[i] != parts[from.index])) continue;
      std::string attributes = EdgeStyle(in[k]);
      auto add = [&](const std::string& text) { attributes += (attributes.empty() ? "" : ", ") + text; };
      if (GoesBack(to, in[k])) add("constraint=false");
      if (in.size() > 1 && g.nodes[to].op == Op::BranchMerge && k == 0) add("headlabel=\"p\"");
      out_ << "  " << Port(in[k]) << " -> n" << i;
      if (!attributes.empty()) out_ << " [" << attributes << "]";
      out_ << ";\n";
    }
  }
}

void Drawer::Begin() {
  members_.resize(g.scopes.size());
  loops_.resize(g.scopes.size());
  drawn_.assign(g.nodes.size(), false);
  for (uint32_t i = 0; i < g.nodes.size(); ++i) members_[g.nodes[NodeId(i)].scope.index].push_back(NodeId(i));
  for (uint32_t i = 0; i < g.scopes.size(); ++i)
    if (g.scopes[ScopeId(i)].kind == ScopeKind::Loop)
      loops_[g.scopes[ScopeId(i)].parent.index].push_back(ScopeId(i));
  out_ << "digraph \"" << Escape(g.name) << "\" {\n"
       << "  graph [fontname=\"sans-serif\", fontsize=12, nodesep=0.25, ranksep=0.35, compound=true];\n"
       << "  node [fontname=\"sans-serif\", fontsize=11, shape=ellipse, height=0.3, margin=\"0.08,0.03\"];\n"
       << "  edge [fontname=\"sans-serif\", fontsize=9, arrowsize=0.6];\n";
}

void Drawer::Run() {
  Begin();
  for (uint32_t i = 0; i < g.scopes.size(); ++i) {
    ScopeId id(i);
    if (g.scopes[id].kind == ScopeKind::Root && options_.only.empty()) {
      for (NodeId node : members_[i]) DrawNode(node, 1);
      for (ScopeId loop : loops_[i]) Cluster(loop, 1);
    } else if (Chosen(id) && (g.scopes[id].kind != ScopeKind::Loop || !options_.only.empty())) {
      Cluster(id, 1);
    }
  }
  DrawEdges({});
  out_ << "}\n";
}

void PrintDot(const Graph& graph, llvm::raw_ostream& out, const PrintOptions& options) {
  Drawer(graph, out, options).Run();
}

}  // namespace df::ir
