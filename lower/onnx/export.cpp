// Inputs and outputs of a model: see export.h.
#include "lower/onnx/export.h"

#include "fmt/format.h"
#include "lower/onnx/functions.h"
#include "lower/onnx/ports.h"
#include "tagged_ir/entries.h"

namespace df {
namespace to_onnx {
namespace {

// A model may have 2 GiB as a file.
constexpr size_t kMostBytes = size_t{1} << 31;

class Exporter {
 public:
  Exporter(const fg::Program& program, const OpenSizes& sizes) : program_(program), writer_(program.name.empty() ? "main" : program.name, sizes) {}

  std::string Run() {
    const fg::Function& main = program_.functions[program_.main];
    OutputsOf(program_);  // which refuses what has no form
    InputsOf(program_);
    std::vector<Value> inputs;
    for (const fg::Param& param : main.params) inputs.push_back(Input(param.name == ir::kEntryCall ? "" : param.name, param.type.type));
    if (std::optional<std::string> name = writer_.Unbound())
      throw Refusal{fmt::format("the open size `{}`", *name), "no input has a dimension that is just this size", "a parameter `Tensor a [.., n, ..]` says what `n` is", main.pos};
    failed_ = writer_.CheckSizes();
    std::vector<Value> results = Functions(writer_, program_).Main(std::move(inputs));
    for (const Value& result : results) FindFailures(result);
    const bool entry = !main.params.empty() && main.params[0].name == ir::kEntryCall;  // its result is in the one field of an answer
    for (size_t i = 0; i < results.size(); ++i) {
      const ir::TypeId type = main.results[i].type;
      const std::string name = results.size() == 1 ? "result" : fmt::format("result.{}", i);
      if (!entry) Output(name, results[i], type);
      else Output(name, results[i]->none ? nullptr : results[i]->fields[0][0], program_.types[type].constructors[0].fields[0].type.type);
    }
    std::string bytes = writer_.Finish(kOnnxModelOpset);
    if (bytes.size() >= kMostBytes) throw Refusal{"this program", "its model would have more than 2 GiB", "", main.pos};
    return bytes;
  }

 private:
  // What InputsOf has allowed.
  Value Input(const std::string& name, ir::TypeId id) {
    const ir::Type& type = program_.types[id];
    auto made = std::make_shared<Rep>();
    made->type = id;
    if (type.kind == ir::TypeKind::Unit) return made;
    if (type.kind == ir::TypeKind::Data) {
      made->kind = RepKind::Data;
      made->constructor = 0;
      made->possible = {true};
      made->fields.emplace_back();
      for (size_t i = 0; i < type.constructors[0].fields.size(); ++i)
        made->fields[0].push_back(Input(PartName(name, type.constructors[0], i), type.constructors[0].fields[i].type.type));
      return made;
    }
    made->kind = RepKind::Plain;
    made->tensor = writer_.Input(*PortElement(type), DimsOf(type), name);
    writer_.BindSizes(made->tensor);
    return made;
  }

  // All of a result is asked for: any failure in it is the run's.
  void FindFailures(const Value& value) {
    if (!value) return;
    failed_ = Or(writer_, failed_, value->failed);
    for (const auto& fields : value->fields)
      for (const Value& field : fields) FindFailures(field);
  }

  // A failure is said by what every runtime has to refuse: an index that there is not.
  Tensor Guarded(const Tensor& tensor) {
    if (!failed_.valid()) return tensor;
    Dims row = {1};
    row.append(tensor.dims.begin(), tensor.dims.end());
    const Tensor index = writer_.Node("Cast", failed_, Element::Int, {}, Attribute{"to", int64_t{onnx::TensorProto::INT64}});
    const Tensor rows = writer_.Node("Reshape", {tensor, writer_.ShapeOf(row)}, tensor.element, row, Attribute{"allowzero", int64_t{1}});
    return writer_.Node("Gather", {rows, index}, tensor.element, tensor.dims, Attribute{"axis", int64_t{0}});
  }

  // By the type, for what is not there since it has failed.
  void Output(const std::string& name, const Value& value, ir::TypeId id) {
    const ir::Type& type = program_.types[id];
    const bool there = value && !value->none;
    if (type.kind == ir::TypeKind::Unit) return;
    if (type.kind == ir::TypeKind::Data) {
      for (size_t i = 0; i < type.constructors[0].fields.size(); ++i)
        Output(PartName(name, type.constructors[0], i), there ? value->fields[0][i] : nullptr, type.constructors[0].fields[i].type.type);
      return;
    }
    writer_.NamedOutput(name, Guarded(there ? value->tensor : writer_.Zero(*PortElement(type), DimsOf(type))));
  }

  const fg::Program& program_;
  Writer writer_;
  Tensor failed_;
};

}  // namespace
}  // namespace to_onnx

OnnxModel ExportOnnx(const fg::Program& program) {
  try {
    const to_onnx::OpenSizes none;
    return {to_onnx::Exporter(program, none).Run(), std::nullopt};
  } catch (const to_onnx::Refusal& refusal) {
    return {"", refusal};
  }
}

OnnxModel ExportOnnx(const SizedPrograms& sized) {
  try {
    const to_onnx::OpenSizes sizes = to_onnx::FindSizes(sized);
    return {to_onnx::Exporter(*sized.programs[0], sizes).Run(), std::nullopt};
  } catch (const to_onnx::Refusal& refusal) {
    return {"", refusal};
  }
}

}  // namespace df
