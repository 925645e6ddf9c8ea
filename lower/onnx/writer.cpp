// See writer.h.
#include "lower/onnx/writer.h"

#include <cstring>
#include <set>

#include "fmt/format.h"
#include "lang/budget.h"

namespace df::to_onnx {
namespace {

int32_t CodeOf(Element element) {
  switch (element) {
    case Element::Int: return onnx::TensorProto::INT64;
    case Element::Bool: return onnx::TensorProto::BOOL;
    case Element::Float: return onnx::TensorProto::FLOAT;
    case Element::Double: return onnx::TensorProto::DOUBLE;
  }
  return 0;
}

template <typename T>
std::string BytesOfValue(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

void SetAttribute(onnx::AttributeProto* to, const Attribute& from) {
  to->set_name(from.name);
  if (const auto* number = std::get_if<int64_t>(&from.value)) {
    to->set_type(onnx::AttributeProto::INT);
    to->set_i(*number);
  } else if (const auto* real = std::get_if<float>(&from.value)) {
    to->set_type(onnx::AttributeProto::FLOAT);
    to->set_f(*real);
  } else if (const auto* all = std::get_if<std::vector<int64_t>>(&from.value)) {
    to->set_type(onnx::AttributeProto::INTS);
    for (int64_t each : *all) to->add_ints(each);
  } else if (const auto* word = std::get_if<const char*>(&from.value)) {
    to->set_type(onnx::AttributeProto::STRING);
    to->set_s(*word);
  } else {
    to->set_type(onnx::AttributeProto::GRAPH);
    to->mutable_g()->Swap(&std::get<Subgraph*>(from.value)->proto);
  }
}

}  // namespace

size_t BytesOf(Element element) { return element == Element::Bool ? 1 : element == Element::Float ? 4 : 8; }

Tensor Writer::Make(const Subgraph* home, Element element, llvm::ArrayRef<int64_t> dims, std::string name) {
  Tensor tensor;
  tensor.id = static_cast<uint32_t>(names_.size());
  tensor.element = element;
  tensor.dims.assign(dims.begin(), dims.end());
  names_.push_back(name.empty() ? fmt::format("%{}", tensor.id) : std::move(name));
  homes_.push_back(home);
  return tensor;
}

void Writer::Describe(onnx::ValueInfoProto* info, const std::string& name, const Tensor& tensor) const {
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(CodeOf(tensor.element));
  auto* shape = type->mutable_shape();
  for (int64_t dim : tensor.dims) {
    const auto open = sizes_.sizes.find(dim);
    if (open == sizes_.sizes.end()) shape->add_dim()->set_dim_value(dim);
    else shape->add_dim()->set_dim_param(PrintSize(open->second, sizes_.names));
  }
}

Tensor Writer::Input(Element element, llvm::ArrayRef<int64_t> dims, const std::string& name) {
  Tensor tensor = Make(current_, element, dims, name);
  Describe(current_->proto.add_input(), names_[tensor.id], tensor);
  return tensor;
}

// A graph gives what its own nodes made, each once; anything else is passed through a node.
void Writer::Output(Subgraph* graph, const Tensor& tensor) {
  Subgraph* before = current_;
  current_ = graph;
  bool own = homes_[tensor.id] == graph;
  for (const auto& input : graph->proto.input()) own &= input.name() != names_[tensor.id];
  for (const auto& output : graph->proto.output()) own &= output.name() != names_[tensor.id];
  if (graph == &root_) own &= !llvm::any_of(graph->proto.initializer(), [&](const auto& all) { return all.name() == names_[tensor.id]; });
  const Tensor out = own ? tensor : Node("Identity", tensor, tensor.element, tensor.dims);
  Describe(graph->proto.add_output(), names_[out.id], out);
  current_ = before;
}

void Writer::NamedOutput(const std::string& name, const Tensor& tensor) {
  const Tensor out = Make(&root_, tensor.element, tensor.dims, name);
  auto* node = root_.proto.add_node();
  node->set_op_type("Identity");
  node->add_input(names_[tensor.id]);
  node->add_output(name);
  Describe(root_.proto.add_output(), name, out);
}

Tensor Writer::Constant(Element element, llvm::ArrayRef<int64_t> dims, std::string bytes) {
  std::string key = fmt::format("{}", static_cast<int>(element));
  for (int64_t dim : dims) key += fmt::format(",{}", dim);
  key += ':';
  key += bytes;
  auto [at, is_new] = constants_.try_emplace(std::move(key));
  if (!is_new) return at->second;
  Tensor tensor = Make(&root_, element, dims);
  if (dims.empty() && element == Element::Bool) tensor.known = bytes[0] != 0;
  if (dims.empty() && element == Element::Int) std::memcpy(&tensor.known.emplace(), bytes.data(), 8);
  constant_bytes_ += bytes.size();
  auto* all = root_.proto.add_initializer();
  all->set_name(names_[tensor.id]);
  all->set_data_type(CodeOf(element));
  for (int64_t dim : dims) all->add_dims(dim);
  all->set_raw_data(std::move(bytes));
  at->second = tensor;
  return tensor;
}

Tensor Writer::Int(int64_t value) { return Constant(Element::Int, {}, BytesOfValue(value)); }
Tensor Writer::Bool(bool value) { return Constant(Element::Bool, {}, std::string(1, value ? '\1' : '\0')); }

Tensor Writer::Ints(llvm::ArrayRef<int64_t> values) {
  std::string bytes;
  for (int64_t value : values) bytes += BytesOfValue(value);
  return Constant(Element::Int, {static_cast<int64_t>(values.size())}, bytes);
}

Tensor Writer::Real(Element element, double value) {
  return Constant(element, {}, element == Element::Float ? BytesOfValue(static_cast<float>(value)) : BytesOfValue(value));
}

// Large ones are made when the model runs.
Tensor Writer::Zero(Element element, llvm::ArrayRef<int64_t> dims) {
  const Tensor one = Constant(element, {}, std::string(BytesOf(element), '\0'));
  if (dims.empty()) return one;
  return Node("Expand", {one, ShapeOf(dims)}, element, dims);
}

Tensor Writer::Node(const char* op, llvm::ArrayRef<Tensor> operands, Element element, llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<Attribute> attributes) {
  Tensor result;
  result.element = element;
  result.dims.assign(dims.begin(), dims.end());
  return Nodes(op, operands, result, attributes)[0];
}

std::vector<Tensor> Writer::Nodes(const char* op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<Tensor> results,
                                  llvm::ArrayRef<Attribute> attributes) {
  std::vector<Tensor> made;
  for (const Tensor& result : results) made.push_back(Make(current_, result.element, result.dims));
  NodeInto(op, operands, made, attributes);
  return made;
}

void Writer::NodeInto(const char* op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<Tensor> results, llvm::ArrayRef<Attribute> attributes) {
  CheckBudget();
  auto* node = current_->proto.add_node();
  node->set_op_type(op);
  node->set_name(fmt::format("{}_{}", op, nodes_++));
  for (const Tensor& operand : operands) node->add_input(operand.valid() ? names_[operand.id] : "");
  for (const Tensor& result : results) node->add_output(names_[result.id]);
  for (const Attribute& attribute : attributes) SetAttribute(node->add_attribute(), attribute);
}

bool Writer::Visible(const Tensor& tensor, const Subgraph* graph) const {
  for (; graph; graph = graph->outer)
    if (homes_[tensor.id] == graph) return true;
  return false;
}

namespace {

// Drops the nodes of which nobody uses a result. Names are unique in a model.
void DropUnused(onnx::GraphProto& graph, std::set<std::string>& used) {
  for (const auto& output : graph.output()) used.insert(output.name());
  std::vector<bool> kept(static_cast<size_t>(graph.node_size()));
  for (int i = graph.node_size(); i-- > 0;) {
    auto* node = graph.mutable_node(i);
    if (!llvm::any_of(node->output(), [&](const std::string& name) { return used.contains(name); })) continue;
    kept[static_cast<size_t>(i)] = true;
    for (const std::string& name : node->input()) used.insert(name);
    for (auto& attribute : *node->mutable_attribute())
      if (attribute.has_g()) DropUnused(*attribute.mutable_g(), used);
  }
  int to = 0;
  for (int i = 0; i < graph.node_size(); ++i)
    if (kept[static_cast<size_t>(i)]) graph.mutable_node()->SwapElements(to++, i);
  graph.mutable_node()->DeleteSubrange(to, graph.node_size() - to);
}

}  // namespace

// ---------------------------------------------------------------- open sizes

// In the model's own graph: all others see it there.
Tensor Writer::Computed(const Size& size) {
  Subgraph* before = std::exchange(current_, &root_);
  Tensor sum;
  for (const SizeTerm& term : size) {
    Tensor product;
    for (uint32_t variable : term.variables)
      product = product.valid() ? Node("Mul", {product, bound_[variable]}, Element::Int, {}) : bound_[variable];
    if (!product.valid()) product = Int(term.factor);
    else if (term.factor != 1) product = Node("Mul", {product, Int(term.factor)}, Element::Int, {});
    sum = sum.valid() ? Node("Add", {sum, product}, Element::Int, {}) : product;
  }
  current_ = before;
  return sum;
}

Tensor Writer::SizeOf(int64_t dim) {
  const auto open = sizes_.sizes.find(dim);
  if (open == sizes_.sizes.end()) return Int(dim);
  auto [at, is_new] = computed_.try_emplace(dim);
  if (is_new) at->second = Computed(open->second);
  return at->second;
}

Tensor Writer::CountOf(llvm::ArrayRef<int64_t> dims) {
  int64_t known = 1;
  Tensor count;
  Subgraph* before = std::exchange(current_, &root_);
  for (int64_t dim : dims) {
    if (!IsOpen(dim)) known *= dim;
    else count = count.valid() ? Node("Mul", {count, SizeOf(dim)}, Element::Int, {}) : SizeOf(dim);
  }
  if (!count.valid()) count = Int(known);
  else if (known != 1) count = Node("Mul", {count, Int(known)}, Element::Int, {});
  current_ = before;
  return count;
}

Tensor Writer::ShapeOf(llvm::ArrayRef<int64_t> dims) {
  if (!IsOpen(dims)) return Ints(dims);
  auto [at, is_new] = shapes_.try_emplace(std::vector<int64_t>(dims.begin(), dims.end()));
  if (!is_new) return at->second;
  Subgraph* before = std::exchange(current_, &root_);
  std::vector<Tensor> parts;
  for (int64_t dim : dims) parts.push_back(IsOpen(dim) ? Node("Reshape", {SizeOf(dim), Ints({1})}, Element::Int, {1}) : Ints({dim}));
  const auto count = static_cast<int64_t>(dims.size());
  at->second = count == 1 ? parts[0] : Node("Concat", parts, Element::Int, {count}, Attribute{"axis", int64_t{0}});
  current_ = before;
  return at->second;
}

void Writer::BindSizes(const Tensor& input) {
  Tensor shape;
  for (size_t k = 0; k < input.dims.size(); ++k) {
    const auto open = sizes_.sizes.find(input.dims[k]);
    if (open == sizes_.sizes.end()) continue;
    if (!shape.valid()) shape = Node("Shape", input, Element::Int, {static_cast<int64_t>(input.dims.size())});
    const Tensor given = Node("Gather", {shape, Int(static_cast<int64_t>(k))}, Element::Int, {}, Attribute{"axis", int64_t{0}});
    const Size& size = open->second;
    if (size.size() == 1 && size[0].factor == 1 && size[0].variables.size() == 1 && !bound_[size[0].variables[0]].valid()) bound_[size[0].variables[0]] = given;
    else given_.emplace_back(input.dims[k], given);
  }
}

std::optional<std::string> Writer::Unbound() const {
  for (size_t i = 0; i < bound_.size(); ++i)
    if (!bound_[i].valid()) return sizes_.names[i];
  return std::nullopt;
}

Tensor Writer::CheckSizes() {
  Tensor failed;
  auto also = [&](const Tensor& bad) { failed = failed.valid() ? Node("Or", {failed, bad}, Element::Bool, {}) : bad; };
  for (const Tensor& each : bound_) also(Node("Less", {each, Int(1)}, Element::Bool, {}));
  for (const auto& [dim, given] : given_) also(Node("Not", Node("Equal", {SizeOf(dim), given}, Element::Bool, {}), Element::Bool, {}));
  for (const auto& [dim, size] : sizes_.sizes)
    if (llvm::any_of(size, [](const SizeTerm& term) { return term.factor < 0; })) also(Node("Less", {SizeOf(dim), Int(1)}, Element::Bool, {}));
  return failed;
}

std::optional<Tensor> Writer::NumberOf(uint32_t constant, Element element) {
  const auto at = sizes_.numbers.find(constant);
  if (at == sizes_.numbers.end()) return std::nullopt;
  const Tensor whole = Computed(at->second.size);
  if (element == Element::Int) return whole;
  const Tensor real = Node("Cast", whole, element, {}, Attribute{"to", int64_t{CodeOf(element)}});
  return at->second.inverse ? Node("Div", {Real(element, 1), real}, element, {}) : real;
}

std::string Writer::Finish(int64_t opset) {
  std::set<std::string> used;
  DropUnused(root_.proto, used);
  int to = 0;
  auto* constants = root_.proto.mutable_initializer();
  for (int i = 0; i < constants->size(); ++i)
    if (used.contains(constants->Get(i).name())) constants->SwapElements(to++, i);
  constants->DeleteSubrange(to, constants->size() - to);
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("dfc");
  auto* import = model.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  model.mutable_graph()->Swap(&root_.proto);
  return model.SerializeAsString();
}

}  // namespace df::to_onnx
