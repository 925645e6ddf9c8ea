// Reads graph files: see file.h, and docs/graph-file.md for the layout. Nothing in the file is trusted: every
// number is checked against its table here or by Verify, which has the last word.

#include <cstring>
#include <unordered_map>

#include "fmt/format.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "tagged_ir/file.h"
#include "tagged_ir/file_format.h"
#include "tagged_ir/file_split.h"
#include "tagged_ir/tensor_type.h"

namespace df::ir {
namespace {

using namespace file;
using Attribute = onnx::AttributeProto;

constexpr const char* kDamaged = "damaged or truncated: not an ONNX model";

// A row of 64-bit numbers, taken one after the other.
class Numbers {
 public:
  explicit Numbers(const Attribute* attribute) {
    if (attribute) values_ = {attribute->ints().data(), static_cast<size_t>(attribute->ints_size())};
  }
  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }
  // The next number as an unsigned one; -1 as kNoIndex where a handle may be missing.
  bool Take(uint32_t* value, bool optional = false) {
    if (values_.empty()) return false;
    int64_t number = values_.front();
    values_ = values_.drop_front();
    if (optional && number == -1)
      number = kNoIndex;
    else if (number < 0 || number >= kNoIndex)
      return false;
    *value = static_cast<uint32_t>(number);
    return true;
  }

 private:
  llvm::ArrayRef<int64_t> values_;
};

// The attributes of one node by what they mean, where there is one.
struct Attributes {
  std::optional<AttributeView> cycle, own, value, field, trans_b;
};

struct ConstantKey {
  uint32_t type;
  int64_t word;
  std::string text;
  bool operator==(const ConstantKey&) const = default;
};
struct ConstantHash {
  size_t operator()(const ConstantKey& key) const {
    return llvm::hash_combine(key.type, key.word, llvm::hash_value(llvm::StringRef(key.text)));
  }
};

class Reader {
 public:
  std::optional<Graph> Run(std::string_view bytes, std::string* error);

 private:
  bool ReadModel(const SplitModel& split);
  bool ReadHead(const onnx::ModelProto& model);
  bool Parse(google::protobuf::MessageLite* message, std::string_view bytes);
  bool ReadTables(const onnx::NodeProto& start);
  bool ReadTypes(const Attribute* table);
  bool ReadPositions(const Attribute* table);
  bool ReadGivenPositions(const Attribute* table);
  bool ReadScopes(const Attribute* table);
  bool ReadSpread(const Attribute* table);
  bool ReadPlaces(const Attribute* table);
  bool ReadSites(const Attribute* table);
  bool ReadPorts(const Attribute* table, const char* name, std::vector<Port>* ports);
  bool CheckPortNames(const onnx::GraphProto& graph);
  bool ReadNode(const NodeView& node, NodeId id);
  bool FindAttributes(const NodeView& node, Op op, Attributes* found);
  bool ReadOperands(const NodeView& node, Op op, const std::optional<AttributeView>& cycle);
  bool ReadConstant(const AttributeView& value, TypeId type, uint32_t* attr);

  bool TakeString(Numbers* numbers, std::string* text);
  bool TakeType(Numbers* numbers, PortType* type);
  bool ReadEdge(std::string_view text, Edge* edge) const;
  bool ReadInt(const AttributeView& attribute, uint32_t* value);

  template <typename... Args>
  bool Fail(fmt::format_string<Args...> format, Args&&... args) {
    if (!error_.empty()) return false;
    if (at_) error_ = fmt::format("node {} ({}): ", at_->name, at_->op_type);
    error_ += fmt::format(format, std::forward<Args>(args)...);
    return false;
  }

  Graph g;
  const NodeView* at_ = nullptr;  // the node that is being read
  std::string error_;
  const Attribute* strings_ = nullptr;
  Numbers node_row_{nullptr};   // what is left of the table of nodes
  std::vector<Edge> operands_;  // of the node that is being read
  std::vector<PortType> results_;
  std::unordered_map<ConstantKey, ConstId, ConstantHash> constants_;
};

// ---------------------------------------------------------------- tables

bool Reader::TakeString(Numbers* numbers, std::string* text) {
  uint32_t index = 0;
  if (!numbers->Take(&index) || !strings_ || index >= static_cast<uint32_t>(strings_->strings_size()))
    return false;
  *text = strings_->strings(static_cast<int>(index));
  return true;
}

// Types may be declared behind their use: whether they exist is for Verify to say.
bool Reader::TakeType(Numbers* numbers, PortType* type) {
  uint32_t code = 0;
  if (!numbers->Take(&code)) return false;
  *type = {TypeOfFileRow(code / 2), code % 2 == 1};
  return true;
}

bool Reader::ReadTypes(const Attribute* table) {
  Numbers row(table);
  while (!row.empty()) {
    std::string name;
    uint32_t constructors = 0;
    if (!TakeString(&row, &name) || !row.Take(&constructors, true)) return Fail("bad type table");
    if (constructors == kNoIndex) {
      TypeKind element;
      std::vector<int64_t> dims;
      TypeId next = g.types.next_id();
      if (!ParseTensorName(name, &element, &dims) || g.types.Tensor(element, dims) != next)
        return Fail("bad type table: `{}` is no type of tensors, or stands there twice", name);
      continue;
    }
    TypeId id = g.types.AddData(std::move(name));
    for (uint32_t i = 0; i < constructors; ++i) {
      Constructor constructor;
      uint32_t fields = 0;
      if (!TakeString(&row, &constructor.name) || !row.Take(&fields) || fields > row.size())
        return Fail("bad type table, type {}", id.index);
      for (uint32_t k = 0; k < fields; ++k) {
        FieldType field;
        uint32_t strict = 0;
        if (!TakeString(&row, &field.name) || !TakeType(&row, &field.type) || !row.Take(&strict) ||
            strict > 1)
          return Fail("bad type table, type {}", id.index);
        field.strict = strict == 1;
        constructor.fields.push_back(std::move(field));
      }
      g.types[id].constructors.push_back(std::move(constructor));
    }
  }
  return true;
}

bool Reader::ReadPositions(const Attribute* table) {
  for (Numbers row(table); !row.empty();) {
    Pos pos;
    if (!row.Take(&pos.file) || !row.Take(&pos.line) || !row.Take(&pos.column) ||
        !TakeString(&row, &pos.function) || !row.Take(&pos.inlined_at.index, true))
      return Fail("bad position {}", g.positions.size());
    g.positions.Add(std::move(pos));
  }
  return true;
}

bool Reader::ReadGivenPositions(const Attribute* table) {
  for (Numbers row(table); !row.empty();) {
    PosId pos, given;
    if (!row.Take(&pos.index) || !row.Take(&given.index, true) || !g.positions.Contains(pos)) return Fail("bad table `{}`", kPosGivenTable);
    g.positions[pos].given = given;
    g.positions[pos].giver = !given.valid();
  }
  return true;
}

bool Reader::ReadScopes(const Attribute* table) {
  for (Numbers row(table); !row.empty();) {
    Scope scope;
    uint32_t kind = 0;
    if (!row.Take(&kind) || kind > static_cast<uint32_t>(ScopeKind::Loop) || !TakeString(&row, &scope.name) ||
        !row.Take(&scope.parent.index, true) || !row.Take(&scope.pos.index, true))
      return Fail("bad scope {}", g.scopes.size());
    scope.kind = static_cast<ScopeKind>(kind);
    g.scopes.Add(std::move(scope));
  }
  return true;
}

bool Reader::ReadSpread(const Attribute* table) {
  for (Numbers row(table); !row.empty();) {
    ScopeId scope;
    if (!row.Take(&scope.index) || !g.scopes.Contains(scope)) return Fail("bad table `{}`", kSpreadTable);
    g.scopes[scope].spread = true;
  }
  return true;
}

bool Reader::ReadPlaces(const Attribute* table) {
  for (Numbers row(table); !row.empty();) {
    ScopeId scope;
    uint32_t place = 0;
    if (!row.Take(&scope.index) || !g.scopes.Contains(scope) || !row.Take(&place) || place >= kAnywhere) return Fail("bad table `{}`", kPlaceTable);
    g.scopes[scope].place = static_cast<uint16_t>(place);
  }
  return true;
}

bool Reader::ReadSites(const Attribute* table) {
  for (Numbers row(table); !row.empty();) {
    Site site;
    uint32_t kind = 0;
    if (!row.Take(&kind) || kind > static_cast<uint32_t>(SiteKind::Delay) || !row.Take(&site.caller.index) ||
        !row.Take(&site.callee.index) || !row.Take(&site.pos.index, true) || !TakeString(&row, &site.reason))
      return Fail("bad site {}", g.sites.size());
    site.kind = static_cast<SiteKind>(kind);
    g.sites.Add(std::move(site));
  }
  return true;
}

bool Reader::ReadPorts(const Attribute* table, const char* name, std::vector<Port>* ports) {
  for (Numbers row(table); !row.empty();) {
    Port port;
    if (!TakeString(&row, &port.name) || !TakeType(&row, &port.type))
      return Fail("bad {} {}", name, ports->size());
    ports->push_back(std::move(port));
  }
  return true;
}

bool Reader::ReadTables(const onnx::NodeProto& start) {
  const Attribute *files = nullptr, *types = nullptr, *positions = nullptr, *scopes = nullptr,
                  *sites = nullptr, *nodes = nullptr, *given = nullptr, *spread = nullptr, *places = nullptr, *inputs = nullptr, *results = nullptr;
  const std::pair<const char*, const Attribute**> tables[] = {
      {kStrings, &strings_},   {kFileTable, &files},   {kTypeTable, &types},
      {kPosTable, &positions}, {kPosGivenTable, &given}, {kScopeTable, &scopes}, {kSpreadTable, &spread}, {kPlaceTable, &places}, {kSiteTable, &sites},
      {kNodeTable, &nodes},    {kInputTable, &inputs}, {kResultTable, &results}};
  const std::pair<const char*, bool*> flags[] = {{kAction, &g.action}, {kUnshown, &g.unshown}, {kDemanded, &g.demanded}};
  for (const Attribute& attribute : start.attribute()) {
    for (auto [name, flag] : flags) {
      if (attribute.name() != name) continue;
      if (attribute.type() != Attribute::INT || attribute.i() != 1) return Fail("bad attribute `{}`", name);
      *flag = true;
    }
    for (auto [name, table] : tables) {
      if (attribute.name() != name) continue;
      auto want = table == &strings_ ? Attribute::STRINGS : Attribute::INTS;
      if (*table || attribute.type() != want) return Fail("bad table `{}`", name);
      *table = &attribute;
    }
  }
  node_row_ = Numbers(nodes);
  Numbers file_row(files);
  while (!file_row.empty())
    if (!TakeString(&file_row, &g.files.emplace_back())) return Fail("bad file {}", g.files.size() - 1);
  return ReadTypes(types) && ReadPositions(positions) && ReadGivenPositions(given) && ReadScopes(scopes) && ReadSpread(spread) && ReadPlaces(places) &&
         ReadSites(sites) && ReadPorts(inputs, "input", &g.graph_inputs) && ReadPorts(results, "result", &g.graph_results);
}

// ---------------------------------------------------------------- nodes

bool Reader::ReadInt(const AttributeView& attribute, uint32_t* value) {
  if (attribute.type != Attribute::INT || attribute.i < 0 || attribute.i >= UINT32_MAX)
    return Fail("bad attribute `{}`", attribute.name);
  *value = static_cast<uint32_t>(attribute.i);
  return true;
}

bool Reader::FindAttributes(const NodeView& node, Op op, Attributes* found) {
  const char* own = AttributeName(op);
  bool of_onnx = node.domain.empty();
  for (std::string_view bytes : node.attributes) {
    if (op == Op::Start) continue;  // the tables, which have been read
    AttributeView attribute;
    if (!attribute.Read(bytes)) return Fail("{}", kDamaged);
    std::string_view name = attribute.name;
    std::optional<AttributeView>* place = nullptr;
    if (of_onnx && op == Op::Gemm && name == kTransB)
      place = &found->trans_b;
    else if (!of_onnx && name == kCycle)
      place = &found->cycle;
    else if (own && name == own)
      place = &found->own;
    else if (op == Op::Const && name == kValue)
      place = &found->value;
    else if (op == Op::Field && name == kField)
      place = &found->field;
    if (!place) return Fail("unknown attribute `{}`", name);
    if (*place) return Fail("two attributes `{}`", name);
    if (!attribute.reference.empty()) return Fail("attribute `{}` is a reference", name);
    *place = std::move(attribute);
  }
  if (of_onnx && op == Op::Gemm && !(found->trans_b && found->trans_b->type == Attribute::INT && found->trans_b->i == 1))
    return Fail("a Gemm without `{}` = 1", kTransB);
  if (own && !found->own) return Fail("no attribute `{}`", own);
  if (op == Op::Const && !found->value) return Fail("no attribute `{}`", kValue);
  if (op == Op::Field && !found->field) return Fail("no attribute `{}`", kField);
  return true;
}

// The number that begins at `at`, which goes behind it. (As std::from_chars, which knows all bases and takes three times as long.)
bool TakeNumber(const char*& at, const char* end, uint32_t* number) {
  uint64_t sum = 0;
  const char* begin = at;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) {
    sum = sum * 10 + static_cast<uint64_t>(*at - '0');
    if (sum > UINT32_MAX) return false;
  }
  *number = static_cast<uint32_t>(sum);
  return at != begin;
}

// "%17" or "%17.1"
bool Reader::ReadEdge(std::string_view text, Edge* edge) const {
  const char *at = text.data(), *end = at + text.size();
  if (text.empty() || *at++ != '%' || !TakeNumber(at, end, &edge->node.index)) return false;
  edge->port = 0;
  if (at == end) return true;
  return *at++ == '.' && TakeNumber(at, end, &edge->port) && at == end;
}

bool Reader::ReadOperands(const NodeView& node, Op op, const std::optional<AttributeView>& cycle) {
  if (cycle && cycle->type != Attribute::STRINGS) return Fail("bad attribute `{}`", kCycle);
  operands_.clear();
  llvm::SmallVector<std::string_view, 4> closing;
  if (cycle) closing = cycle->Strings();
  size_t from_cycle = 0;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (op == Op::Input && k == 0) continue;  // the graph's input itself: its index says which
    std::string_view name = node.inputs[k];
    if (name.empty()) {
      if (from_cycle >= closing.size()) return Fail("operand {} is missing", k);
      name = closing[from_cycle++];
    }
    Edge edge;
    if (!ReadEdge(name, &edge)) return Fail("operand {}: `{}` is no edge", k, name);
    operands_.push_back(edge);
  }
  if (from_cycle != closing.size()) return Fail("more edges in `{}` than operands", kCycle);
  return true;
}

// The elements of a tensor; of a Float or Double, which is written as a tensor without dimensions, its bits.
bool ReadElements(const onnx::TensorProto& tensor, const Type& type, ConstantKey* key) {
  bool is_tensor = type.kind == TypeKind::Tensor;
  llvm::ArrayRef<int64_t> dims(tensor.dims().data(), static_cast<size_t>(tensor.dims_size()));
  if (tensor.data_type() != ElementCode(is_tensor ? type.element : type.kind) || dims != llvm::ArrayRef<int64_t>(type.dims)) return false;
  const std::string& bytes = tensor.raw_data();
  if (is_tensor) {
    key->text = bytes;  // whose size Verify looks at
    return true;
  }
  if (bytes.size() != (type.kind == TypeKind::Double ? 8 : 4)) return false;
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes.size(); ++i) bits |= uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  key->word = static_cast<int64_t>(bits);
  return true;
}

bool Reader::ReadConstant(const AttributeView& value, TypeId type, uint32_t* attr) {
  if (!g.types.Contains(type)) return Fail("no type {}", type.index);
  ConstantKey key{type.index, 0, ""};
  auto want = Attribute::INT;
  switch (g.types.Kind(type)) {
    case TypeKind::Integer:
    case TypeKind::Text: want = Attribute::STRING; break;
    case TypeKind::Tensor:
    case TypeKind::Float:
    case TypeKind::Double: want = Attribute::TENSOR; break;
    default: break;
  }
  if (value.type != want) return Fail("bad attribute `{}`", kValue);
  if (want == Attribute::INT) key.word = value.i;
  if (want == Attribute::STRING) key.text = value.s;
  if (want == Attribute::TENSOR) {
    onnx::TensorProto tensor;
    if (!Parse(&tensor, value.t)) return false;
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL || tensor.external_data_size() != 0)
      return Fail("its value is in another file, and those are not read");
    if (!ReadElements(tensor, g.types[type], &key)) return Fail("attribute `{}` is no `{}`", kValue, g.types.Print({type}));
  }
  auto [it, is_new] = constants_.try_emplace(std::move(key));
  if (is_new) it->second = g.constants.Add({type, it->first.word, it->first.text});
  *attr = it->second.index;
  return true;
}

bool Reader::ReadNode(const NodeView& node, NodeId id) {
  bool of_onnx = node.domain.empty();
  std::optional<Op> op;
  if (!of_onnx) {
    op = OpNamed(node.op_type);
  } else {
    op = OpOfOnnx(node.op_type);
  }
  at_ = &node;
  if (of_onnx ? !op : node.domain != kDomain)
    return Fail("op `{}` of domain `{}` is unknown", node.op_type, node.domain);
  if (!op) return Fail("op `{}` is unknown", node.op_type);
  Attributes found;
  if (!FindAttributes(node, *op, &found) || !ReadOperands(node, *op, found.cycle)) return false;

  uint32_t scope = 0, attr = 0, field = 0, results = 0;
  PosId pos;
  if (!node_row_.Take(&scope) || !node_row_.Take(&pos.index, true) || !node_row_.Take(&results) ||
      results > node_row_.size())
    return Fail("bad row in table `{}`", kNodeTable);
  results_.resize(results);
  for (PortType& type : results_)
    if (!TakeType(&node_row_, &type)) return Fail("bad row in table `{}`", kNodeTable);
  if (of_onnx && (results != 1 || !g.types.Contains(results_[0].type) || g.types.Kind(results_[0].type) != TypeKind::Tensor))
    return Fail("op `{}` of domain ``: its result is no tensor", node.op_type);
  size_t outputs = results_.size() + (*op == Op::Result);
  if (node.outputs.size() != outputs) return Fail("{} outputs, {} types", node.outputs.size(), results_.size());
  for (size_t port = 0; port < results_.size(); ++port) {
    Edge edge;
    if (!ReadEdge(node.outputs[port], &edge) || edge != Edge{id, static_cast<uint32_t>(port)})
      return Fail("output {} is named `{}`", port, node.outputs[port]);
  }

  if (found.own && !ReadInt(*found.own, &attr)) return false;
  if (found.field) {
    if (!ReadInt(*found.field, &field)) return false;
    if (attr > 0xffff || field > 0xffff) return Fail("no field {} of constructor {}", field, attr);
    attr = attr << 16 | field;
  }
  if (found.value) {
    if (results_.size() != 1) return Fail("{} results", results_.size());
    if (!ReadConstant(*found.value, results_[0].type, &attr)) return false;
  }
  g.AddNode(*op, ScopeId(scope), operands_, results_, attr, pos);
  at_ = nullptr;
  return true;
}

// ---------------------------------------------------------------- the whole

// What stock tools show of the graph's inputs and results has to be what the tables say.
bool Reader::CheckPortNames(const onnx::GraphProto& graph) {
  if (static_cast<size_t>(graph.input_size()) != g.graph_inputs.size() ||
      static_cast<size_t>(graph.output_size()) != g.graph_results.size())
    return Fail("{} inputs and {} results, but the tables have {} and {}", graph.input_size(),
                graph.output_size(), g.graph_inputs.size(), g.graph_results.size());
  for (size_t i = 0; i < g.graph_inputs.size(); ++i)
    if (graph.input(static_cast<int>(i)).name() != g.graph_inputs[i].name)
      return Fail("input {} is named `{}`, and `{}` in the table", i, graph.input(static_cast<int>(i)).name(),
                  g.graph_inputs[i].name);
  return true;
}

bool Reader::Parse(google::protobuf::MessageLite* message, std::string_view bytes) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || Fail("{}", kDamaged);
}

// What is not a node, nor in the tables.
bool Reader::ReadHead(const onnx::ModelProto& model) {
  int64_t version = 0;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import())
    if (opset.domain() == kDomain) version = opset.version();
  if (version == 0) return Fail("an ONNX model without ops of `{}`", kDomain);
  if (version > kGraphFileVersion)
    return Fail("format version {} is newer than this program reads, {}", version, kGraphFileVersion);
  if (version < 1) return Fail("format version {}", version);
  if (model.functions_size() != 0) return Fail("functions of a model are not part of a graph file");
  if (model.training_info_size() != 0) return Fail("training information is not part of a graph file");
  const onnx::GraphProto& graph = model.graph();
  if (graph.initializer_size() != 0 || graph.sparse_initializer_size() != 0)
    return Fail("initializers are not part of a graph file");
  g.name = graph.name();
  if (!g.name.empty() && g.name.front() == '%') g.name.erase(0, 1);

  return true;
}

bool Reader::ReadModel(const SplitModel& split) {
  onnx::ModelProto model;
  if (!Parse(&model, split.rest) || !ReadHead(model)) return false;
  // A node's name is its number; the file has them in another order.
  auto count = static_cast<uint32_t>(split.nodes.size());
  std::vector<std::string_view> nodes(count);
  std::vector<bool> is_there(count);
  bool has_start = false;
  uint32_t start_number = 0;
  for (uint32_t i = 0; i < count; ++i) {
    std::string_view name, op, domain;
    Fields fields(split.nodes[i]);
    while (fields.Next()) {
      if (fields.tag() == FieldTag(onnx::NodeProto::kNameFieldNumber)) name = fields.inner();
      if (fields.tag() == FieldTag(onnx::NodeProto::kOpTypeFieldNumber)) op = fields.inner();
      if (fields.tag() == FieldTag(onnx::NodeProto::kDomainFieldNumber)) domain = fields.inner();
      if (!name.empty() && !op.empty() && op != "Start") break;  // the rest is looked at when its turn comes
    }
    if (op.empty() && !fields.AtEnd()) return Fail("{}", kDamaged);
    uint32_t number = 0;
    const char *at = name.data(), *end = at + name.size();
    if (!TakeNumber(at, end, &number) || at != end || number >= count || is_there[number])
      return Fail("node number {} of the file (op `{}`): bad name `{}`", i, op, name);
    nodes[number] = split.nodes[i];
    is_there[number] = true;
    if (op != "Start" || domain != kDomain) continue;
    if (has_start) return Fail("node {} (Start): there is one already", number);
    has_start = true;
    start_number = number;
  }
  if (!has_start) return Fail("there is no Start");
  onnx::NodeProto start;
  if (!Parse(&start, nodes[start_number]) || !ReadTables(start) || !CheckPortNames(model.graph())) return false;
  NodeView node;
  for (uint32_t i = 0; i < count; ++i) {
    if (!node.Read(nodes[i])) return Fail("{}", kDamaged);
    if (!ReadNode(node, NodeId(i))) return false;
  }
  if (!node_row_.empty()) return Fail("table `{}` has more rows than there are nodes", kNodeTable);
  return true;
}

std::optional<Graph> Reader::Run(std::string_view bytes, std::string* error) {
  SplitModel split;
  if (bytes.size() > INT32_MAX) {
    Fail("larger than 2 GiB");
  } else if (!Split(bytes, &split)) {
    Fail("{}", kDamaged);
  } else if (ReadModel(split)) {
    std::string fault = Verify(g);
    if (fault.empty()) return std::move(g);
    error_ = std::move(fault);
  }
  *error = error_;
  return std::nullopt;
}

}  // namespace

std::optional<Graph> Deserialize(std::string_view bytes, std::string* error) {
  return Reader().Run(bytes, error);
}

// A ModelProto begins with its IR version, field 1: no source text begins with a backspace.
bool LooksLikeGraphFile(std::string_view bytes) { return !bytes.empty() && bytes.front() == '\x08'; }

}  // namespace df::ir
