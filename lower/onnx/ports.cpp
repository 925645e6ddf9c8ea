// See ports.h.
#include "lower/onnx/ports.h"

#include "fmt/format.h"
#include "tagged_ir/entries.h"

namespace df::to_onnx {
namespace {

constexpr uint32_t kDeepestPart = 100;

void Add(const fg::Program& program, const std::string& name, ir::TypeId id, bool input, uint32_t depth, std::vector<ModelPort>& ports) {
  const ir::Type& type = program.types[id];
  if (type.kind == ir::TypeKind::Unit) return;
  if (type.kind != ir::TypeKind::Data) {
    const std::optional<Element> element = PortElement(type);
    if (!element) RefusePort(program, name, id, "ONNX's tensors hold numbers and Bools", input);
    ports.push_back({name, *element, DimsOf(type)});
    return;
  }
  if (type.constructors.size() > 1 && name.empty()) throw Refusal{"several entries", "a model is one function", "`--export` one of them", program.functions[program.main].pos};
  if (type.constructors.size() != 1 || depth > kDeepestPart) RefusePort(program, name, id, "its values have several forms", input);
  for (size_t i = 0; i < type.constructors[0].fields.size(); ++i)
    Add(program, PartName(name, type.constructors[0], i), type.constructors[0].fields[i].type.type, input, depth + 1, ports);
}

}  // namespace

std::string PartName(const std::string& name, const ir::Constructor& constructor, size_t field) {
  const std::string& own = constructor.fields[field].name;
  const std::string part = own.empty() ? std::to_string(field) : own;
  return name.empty() ? part : name + "." + part;
}

void RefusePort(const fg::Program& program, const std::string& name, ir::TypeId type, const char* why, bool input) {
  throw Refusal{fmt::format("the {} `{}` of type `{}`", input ? "input" : "output", name, program.types.Print({type, false})), why,
                "numbers, Bools, tensors, and tuples and records of these go in and out of a model", program.functions[program.main].pos};
}

std::optional<Element> PortElement(const ir::Type& type) {
  return type.kind == ir::TypeKind::Char || type.kind == ir::TypeKind::Alt ? std::nullopt : ElementOf(type);
}

std::vector<ModelPort> InputsOf(const fg::Program& program) {
  std::vector<ModelPort> ports;
  for (const fg::Param& param : program.functions[program.main].params)
    Add(program, param.name == ir::kEntryCall ? "" : param.name, param.type.type, true, 0, ports);
  return ports;
}

std::vector<ModelPort> OutputsOf(const fg::Program& program) {
  const fg::Function& main = program.functions[program.main];
  if (program.action) throw Refusal{"a program that acts", "a model is a function of its inputs", "export a definition of it: `--export NAME`", main.pos};
  std::vector<ModelPort> ports;
  const bool entry = !main.params.empty() && main.params[0].name == ir::kEntryCall;
  for (size_t i = 0; i < main.results.size(); ++i) {
    ir::TypeId type = main.results[i].type;
    if (entry && !program.types[type].constructors.empty()) type = program.types[type].constructors[0].fields[0].type.type;
    Add(program, main.results.size() == 1 ? "result" : fmt::format("result.{}", i), type, false, 0, ports);
  }
  if (ports.empty()) throw Refusal{"the result", "there is no number and no tensor in it", "", main.pos};
  return ports;
}

}  // namespace df::to_onnx
