#include "tagged_ir/graph.h"

#include "lang/budget.h"
#include "tagged_ir/tensor_type.h"

namespace df::ir {

TypeTable::TypeTable() {
  static constexpr const char* kNames[] = {"Trigger", "Alt",     "Unit",  "Bool",   "Char",
                                           "Int",     "Integer", "Float", "Double", "Text", "ActivationTable", "PrimState", "PrimStore", "PrimFrozen"};
  for (size_t i = 0; i < std::size(kNames); ++i) rows_.Add({static_cast<TypeKind>(i), kNames[i], {}});
}

TypeId TypeTable::AddData(std::string name) { return rows_.Add({TypeKind::Data, std::move(name), {}}); }

bool TypeTable::HasTensors() const {
  for (uint32_t t = 0; t < size(); ++t)
    if (Kind(TypeId(t)) == TypeKind::Tensor) return true;
  return false;
}

TypeId TypeTable::Find(std::string_view data_name) const {
  for (uint32_t i = 0; i < rows_.size(); ++i)
    if (rows_[TypeId(i)].kind == TypeKind::Data && rows_[TypeId(i)].name == data_name) return TypeId(i);
  return {};
}

TypeId TypeTable::Tensor(TypeKind element, llvm::ArrayRef<int64_t> dims) {
  std::string name = TensorName(element, dims);
  for (uint32_t i = static_cast<uint32_t>(TypeKind::Data); i < rows_.size(); ++i)
    if (rows_[TypeId(i)].kind == TypeKind::Tensor && rows_[TypeId(i)].name == name) return TypeId(i);
  return rows_.Add({TypeKind::Tensor, std::move(name), {}, element, dims.vec()});
}

TypeId TypeTable::FindBuiltin(std::string_view name) const {
  for (uint32_t i = 0; i < static_cast<uint32_t>(TypeKind::Data); ++i)
    if (rows_[TypeId(i)].name == name) return TypeId(i);
  return {};
}

std::string TypeTable::Print(PortType type) const {
  std::string name = rows_.Contains(type.type) ? rows_[type.type].name : "<bad type>";
  return type.lazy ? "lazy " + name : name;
}

NodeId Graph::AddNode(Op op, ScopeId scope, llvm::ArrayRef<Edge> in, llvm::ArrayRef<PortType> out,
                      uint32_t attr, PosId pos) {
  CheckBudget();
  Node node;
  node.op = op;
  node.scope = scope;
  node.attr = attr;
  node.pos = pos;
  node.first_input = static_cast<uint32_t>(inputs.size());
  node.num_inputs = static_cast<uint32_t>(in.size());
  node.first_result = static_cast<uint32_t>(results.size());
  node.num_results = static_cast<uint32_t>(out.size());
  inputs.insert(inputs.end(), in.begin(), in.end());
  results.insert(results.end(), out.begin(), out.end());
  return nodes.Add(node);
}

bool IsLibraryFile(std::string_view file) {
  for (bool first = true; char c : file) {
    bool upper = c >= 'A' && c <= 'Z';
    if (first ? !upper : !(upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) return false;
    first = c == '.';
  }
  return !file.empty();
}

void Graph::ReplaceInputs(NodeId node, llvm::ArrayRef<Edge> in) {
  nodes[node].first_input = static_cast<uint32_t>(inputs.size());
  nodes[node].num_inputs = static_cast<uint32_t>(in.size());
  inputs.insert(inputs.end(), in.begin(), in.end());
}

}  // namespace df::ir
