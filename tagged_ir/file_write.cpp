// Writes graph files: see file.h, and docs/graph-file.md for the layout. The graph has been verified.

#include <cstring>

#include "fmt/format.h"
#include "lang/budget.h"
#include "llvm/ADT/StringMap.h"
#include "tagged_ir/file.h"
#include "tagged_ir/file_format.h"
#include "tagged_ir/file_split.h"

namespace df::ir {
namespace {

using namespace file;

std::string EdgeName(Edge edge) {
  return edge.port == 0 ? fmt::format("%{}", edge.node.index)
                        : fmt::format("%{}.{}", edge.node.index, edge.port);
}

int64_t Handle(uint32_t index) { return index == kNoIndex ? -1 : int64_t{index}; }
int64_t TypeCode(PortType type) { return int64_t{FileRow(type.type)} * 2 + type.lazy; }

class Writer {
 public:
  explicit Writer(const Graph& graph) : g(graph) {}
  std::string Run();

 private:
  std::vector<NodeId> DepthFirstOrder() const;
  void WriteNode(NodeId id);
  const char* OnnxNameOf(NodeId id) const;
  void WriteTables(onnx::NodeProto* start);
  void WriteValue(onnx::NodeProto* node, const Constant& constant);
  void WritePort(onnx::ValueInfoProto* info, const std::string& name, PortType type);
  int64_t String(const std::string& text);

  static onnx::AttributeProto* Add(onnx::NodeProto* node, const char* name,
                                   onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }
  static void AddInt(onnx::NodeProto* node, const char* name, int64_t value) {
    Add(node, name, onnx::AttributeProto::INT)->set_i(value);
  }
  // Empty lists are left out.
  static void AddInts(onnx::NodeProto* node, const char* name, const std::vector<int64_t>& values) {
    if (values.empty()) return;
    Add(node, name, onnx::AttributeProto::INTS)->mutable_ints()->Add(values.begin(), values.end());
  }

  const Graph& g;
  onnx::NodeProto node_;  // the one that is being written: a message of all of them takes four times the memory of the file
  std::vector<bool> written_;
  llvm::StringMap<int64_t> string_index_;
  std::vector<const std::string*> strings_;
};

int64_t Writer::String(const std::string& text) {
  auto [it, is_new] = string_index_.try_emplace(text, static_cast<int64_t>(strings_.size()));
  if (is_new) strings_.push_back(&text);
  return it->second;
}

// Each node after the nodes it takes its operands from, but for edges that close a cycle.
std::vector<NodeId> Writer::DepthFirstOrder() const {
  std::vector<NodeId> order;
  order.reserve(g.nodes.size());
  ForEachInPostOrder(
      g, [&](NodeId node) { return g.InputsOf(node); },
      [&](NodeId node) {
        order.push_back(node);
        return true;
      });
  return order;
}

void Writer::WriteTables(onnx::NodeProto* start) {
  std::vector<int64_t> files, types, positions, given, scopes, spread, places, sites, inputs, results;
  for (const std::string& name : g.files) files.push_back(String(name));
  for (uint32_t i = static_cast<uint32_t>(TypeKind::Data); i < g.types.size(); ++i) {
    const Type& type = g.types[TypeId(i)];
    if (type.kind == TypeKind::Tensor) {
      types.insert(types.end(), {String(type.name), kTensorRow});
      continue;
    }
    types.insert(types.end(), {String(type.name), static_cast<int64_t>(type.constructors.size())});
    for (const Constructor& c : type.constructors) {
      types.insert(types.end(), {String(c.name), static_cast<int64_t>(c.fields.size())});
      for (const FieldType& field : c.fields)
        types.insert(types.end(), {String(field.name), TypeCode(field.type), int64_t{field.strict}});
    }
  }
  for (const Pos& p : g.positions)
    positions.insert(positions.end(),
                     {p.file, p.line, p.column, String(p.function), Handle(p.inlined_at.index)});
  for (uint32_t i = 0; i < g.positions.size(); ++i)
    if (const Pos& p = g.positions[PosId(i)]; p.giver || p.given.valid()) given.insert(given.end(), {i, Handle(p.given.index)});
  for (const Scope& s : g.scopes)
    scopes.insert(scopes.end(), {static_cast<int64_t>(s.kind), String(s.name), Handle(s.parent.index),
                                 Handle(s.pos.index)});
  for (uint32_t i = 0; i < g.scopes.size(); ++i)
    if (g.scopes[ScopeId(i)].spread) spread.push_back(i);
  for (uint32_t i = 0; i < g.scopes.size(); ++i)
    if (uint16_t place = g.scopes[ScopeId(i)].place; place != kAnywhere) places.insert(places.end(), {i, place});
  for (const Site& s : g.sites)
    sites.insert(sites.end(), {static_cast<int64_t>(s.kind), s.caller.index, s.callee.index,
                               Handle(s.pos.index), String(s.reason)});
  // What every node has is a table and not an attribute of each: a graph loads in half the time.
  std::vector<int64_t> nodes;
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    CheckBudget();
    const Node& node = g.nodes[NodeId(i)];
    nodes.insert(nodes.end(), {node.scope.index, Handle(node.pos.index), node.num_results});
    for (PortType type : g.ResultsOf(NodeId(i))) nodes.push_back(TypeCode(type));
  }
  for (const Port& port : g.graph_inputs)
    inputs.insert(inputs.end(), {String(port.name), TypeCode(port.type)});
  for (const Port& port : g.graph_results)
    results.insert(results.end(), {String(port.name), TypeCode(port.type)});

  onnx::AttributeProto* strings = Add(start, kStrings, onnx::AttributeProto::STRINGS);
  for (const std::string* text : strings_) strings->add_strings(*text);
  AddInts(start, kFileTable, files);
  AddInts(start, kTypeTable, types);
  AddInts(start, kPosTable, positions);
  AddInts(start, kPosGivenTable, given);
  AddInts(start, kScopeTable, scopes);
  AddInts(start, kSpreadTable, spread);
  AddInts(start, kPlaceTable, places);
  AddInts(start, kSiteTable, sites);
  AddInts(start, kNodeTable, nodes);
  AddInts(start, kInputTable, inputs);
  AddInts(start, kResultTable, results);
  if (g.action) AddInt(start, kAction, 1);
  if (g.unshown) AddInt(start, kUnshown, 1);
  if (g.demanded) AddInt(start, kDemanded, 1);
}

void Writer::WriteValue(onnx::NodeProto* node, const Constant& constant) {
  TypeKind kind = g.types.Kind(constant.type);
  switch (kind) {
    case TypeKind::Integer:
    case TypeKind::Text: Add(node, kValue, onnx::AttributeProto::STRING)->set_s(constant.text); return;
    case TypeKind::Float:
    case TypeKind::Double: break;
    case TypeKind::Tensor: {
      const Type& type = g.types[constant.type];
      onnx::TensorProto* tensor = Add(node, kValue, onnx::AttributeProto::TENSOR)->mutable_t();
      tensor->set_data_type(ElementCode(type.element));
      for (int64_t dim : type.dims) tensor->add_dims(dim);
      tensor->set_raw_data(constant.text);
      return;
    }
    default: AddInt(node, kValue, constant.word); return;
  }
  // The bits, little-endian, so that no NaN changes on the way.
  onnx::TensorProto* tensor = Add(node, kValue, onnx::AttributeProto::TENSOR)->mutable_t();
  bool is_double = kind == TypeKind::Double;
  tensor->set_data_type(is_double ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT);
  std::string bytes;
  for (int i = 0; i < (is_double ? 8 : 4); ++i)
    bytes += static_cast<char>(static_cast<uint64_t>(constant.word) >> 8 * i);
  tensor->set_raw_data(bytes);
}

// Null: a node of our own domain. An edge that closes a cycle is an attribute, and ONNX's ops have no such one.
const char* Writer::OnnxNameOf(NodeId id) const {
  const Node& node = g.nodes[id];
  if (node.num_results != 1 || g.types.Kind(g.ResultsOf(id)[0].type) != TypeKind::Tensor) return nullptr;
  for (Edge edge : g.InputsOf(id))
    if (!written_[edge.node.index]) return nullptr;
  return FactsOf(node.op).onnx;
}

void Writer::WriteNode(NodeId id) {
  const Node& node = g.nodes[id];
  node_.Clear();
  onnx::NodeProto* out = &node_;
  onnx::AttributeProto* cycle = nullptr;
  if (node.op == Op::Input) {
    // The graph's input as an ordinary one, before the trigger.
    out->add_input(g.graph_inputs[node.attr].name);
  }
  for (Edge edge : g.InputsOf(id)) {
    if (written_[edge.node.index]) {
      out->add_input(EdgeName(edge));
      continue;
    }
    out->add_input("");
    if (!cycle) cycle = Add(out, kCycle, onnx::AttributeProto::STRINGS);
    cycle->add_strings(EdgeName(edge));
  }
  for (uint32_t port = 0; port < node.num_results; ++port) out->add_output(EdgeName({id, port}));
  if (node.op == Op::Result) out->add_output(fmt::format("%result{}", node.attr));
  out->set_name(std::to_string(id.index));
  if (const char* name = OnnxNameOf(id)) {
    out->set_op_type(name);
    if (node.op == Op::Gemm) AddInt(out, kTransB, 1);
  } else {
    out->set_op_type(std::string(InfoOf(node.op).name));
    out->set_domain(kDomain);
  }
  if (node.op == Op::Const) WriteValue(out, g.constants[ConstId(node.attr)]);
  if (const char* name = AttributeName(node.op))
    AddInt(out, name, node.op == Op::Field ? node.attr >> 16 : node.attr);
  if (node.op == Op::Field) AddInt(out, kField, node.attr & 0xffff);
  if (node.op == Op::Start) WriteTables(out);
  written_[id.index] = true;
}

// What stock tools show of an input or result. A scalar that ONNX has is a tensor without dimensions.
void Writer::WritePort(onnx::ValueInfoProto* info, const std::string& name, PortType type) {
  info->set_name(name);
  onnx::TypeProto* proto = info->mutable_type();
  const Type& row = g.types[type.type];
  int32_t element = type.lazy ? 0 : ElementCode(row.kind == TypeKind::Tensor ? row.element : row.kind);
  if (element == 0) {
    proto->mutable_opaque_type()->set_domain(kDomain);
    proto->mutable_opaque_type()->set_name(g.types.Print(type));
    return;
  }
  proto->mutable_tensor_type()->set_elem_type(element);
  onnx::TensorShapeProto* shape = proto->mutable_tensor_type()->mutable_shape();
  for (int64_t dim : row.dims) shape->add_dim()->set_dim_value(dim);
}

// The fields in their order, as the whole message would be written.
std::string Writer::Run() {
  onnx::ModelProto head, tail;
  head.set_ir_version(kIrVersion);
  head.set_producer_name(kProducer);
  head.set_domain(kDomain);
  onnx::OperatorSetIdProto* opset = tail.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOnnxOpset);
  opset = tail.add_opset_import();
  opset->set_domain(kDomain);
  opset->set_version(kGraphFileVersion);

  std::string nodes;
  constexpr size_t kTypical = 150;  // bytes of a node
  nodes.reserve(g.nodes.size() * kTypical);
  written_.assign(g.nodes.size(), false);
  for (NodeId id : DepthFirstOrder()) {
    WriteNode(id);
    BeginField(onnx::GraphProto::kNodeFieldNumber, node_.ByteSizeLong(), nodes);
    node_.AppendToString(&nodes);
  }
  onnx::GraphProto rest;
  // ONNX wants a name that is not empty.
  bool escape = g.name.empty() || g.name.front() == '%';
  rest.set_name(escape ? "%" + g.name : g.name);
  for (const Port& port : g.graph_inputs) WritePort(rest.add_input(), port.name, port.type);
  for (size_t i = 0; i < g.graph_results.size(); ++i)
    WritePort(rest.add_output(), fmt::format("%result{}", i), g.graph_results[i].type);

  std::string before = head.SerializeAsString();
  BeginField(onnx::ModelProto::kGraphFieldNumber, nodes.size() + rest.ByteSizeLong(), before);
  nodes.insert(0, before);
  rest.AppendToString(&nodes);
  tail.AppendToString(&nodes);
  return nodes;
}

}  // namespace

std::string Serialize(const Graph& graph) { return Writer(graph).Run(); }

}  // namespace df::ir
