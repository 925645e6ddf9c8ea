// See dfc_op.h.
#include "lower/onnx/dfc_op.h"

#include "fmt/format.h"
#include "lower/onnx/ports.h"

namespace df {
namespace {

// FNV-1a: ops of different graphs are different ones within a process.
uint64_t HashOf(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

void Describe(onnx::ValueInfoProto* info, const to_onnx::ModelPort& port) {
  constexpr int32_t kCodes[] = {onnx::TensorProto::INT64, onnx::TensorProto::BOOL, onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE};
  info->set_name(port.name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(kCodes[static_cast<size_t>(port.element)]);
  auto* shape = type->mutable_shape();
  for (int64_t dim : port.dims) shape->add_dim()->set_dim_value(dim);
}

}  // namespace

OnnxModel ExportDfcOp(const fg::Program& program, const std::string& graph) {
  try {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.set_producer_name("dfc");
    for (const auto& [domain, version] : {std::pair<const char*, int64_t>{"", kOnnxModelOpset}, {kPythonOpDomain, 1}}) {
      auto* import = model.add_opset_import();
      import->set_domain(domain);
      import->set_version(version);
    }
    model.mutable_graph()->set_name(program.name.empty() ? "main" : program.name);
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type(fmt::format("Dfc{:016x}", HashOf(graph)));
    node->set_name(node->op_type());
    node->set_domain(kPythonOpDomain);
    auto* bytes = node->add_attribute();
    bytes->set_name("graph");
    bytes->set_type(onnx::AttributeProto::STRING);
    bytes->set_s(graph);
    for (const to_onnx::ModelPort& port : to_onnx::InputsOf(program)) {
      Describe(model.mutable_graph()->add_input(), port);
      node->add_input(port.name);
    }
    for (const to_onnx::ModelPort& port : to_onnx::OutputsOf(program)) {
      Describe(model.mutable_graph()->add_output(), port);
      node->add_output(port.name);
    }
    return {model.SerializeAsString(), std::nullopt};
  } catch (const to_onnx::Refusal& refusal) {
    return {"", refusal};
  }
}

}  // namespace df
