// Runs whatever graphs a file may hold, on every engine, within small limits: a graph that the verifier
// accepts ends with a result, an error or a limit, whatever it is; it never crashes the engine and never
// breaks its limits.

#include <chrono>
#include <string>

#include "runtime/engines/engines.h"
#include "runtime/run/engine.h"
#include "runtime/text/describe.h"
#include "runtime/text/show.h"
#include "tagged_ir/file.h"
#include "tagged_ir/text.h"

using namespace df;

namespace {

Value SomeValue(const ir::Graph& graph, ir::PortType type) {
  std::string error;
  for (const char* text : {"3", "True", "'c'", "()", "\"s\""})
    if (auto value = ParseInput(graph, type, text, &error)) return std::move(*value);
  return Value::Word(0);
}

// Inputs of data types have no value that would do for all of them.
bool HasInputsOfDataType(const ir::Graph& graph) {
  for (const ir::Port& port : graph.graph_inputs)
    if (graph.types.Kind(port.type.type) == ir::TypeKind::Data) return true;
  return false;
}

void Run(const ir::Graph& graph, EngineKind engine) {
  RunOptions options;
  options.limits.max_memory = 32 << 20;
  options.limits.max_frames = 2000;
  options.limits.timeout = std::chrono::milliseconds(50);
  std::unique_ptr<Execution> execution = MakeExecution(engine, graph, options);
  std::vector<Value> inputs;
  for (const ir::Port& port : graph.graph_inputs) inputs.push_back(SomeValue(graph, port.type));
  Outcome outcome = execution->Start(inputs);
  std::string text;
  llvm::raw_string_ostream out(text);
  for (size_t i = 0; outcome.ok() && i < graph.graph_results.size(); ++i)
    outcome = Show(*execution, graph, graph.graph_results[i].type, execution->results()[i], out);
  if (outcome.stop == Stop::Failed) Describe(outcome.error, graph);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string error;
  std::optional<ir::Graph> graph =
      ir::LooksLikeGraphFile(bytes) ? ir::Deserialize(bytes, &error) : ir::ParseText(bytes, &error);
  if (!graph || HasInputsOfDataType(*graph)) return 0;
  Run(*graph, EngineKind::Reference);
  Run(*graph, EngineKind::Tagged);
  Run(*graph, EngineKind::Demand);
  return 0;
}
