// Entries of a graph, read from the types of its input and result.
#include "tagged_ir/entries.h"

#include <algorithm>

#include "fmt/format.h"
#include "llvm/ADT/SmallVector.h"

namespace df::ir {

std::string CheckEntries(const Graph& graph) {
  const bool any = std::any_of(graph.graph_inputs.begin(), graph.graph_inputs.end(), [](const Port& port) { return port.name == kEntryCall; });
  if (!any) return "";
  if (graph.graph_inputs.size() != 1 || graph.graph_results.size() != 1 || graph.action)
    return "a graph with entries has one input and one result";
  const Type& call = graph.types[graph.graph_inputs[0].type.type];
  const Type& answer = graph.types[graph.graph_results[0].type.type];
  if (call.kind != TypeKind::Data || answer.kind != TypeKind::Data || call.constructors.empty() ||
      call.constructors.size() != answer.constructors.size())
    return "the input and the result of a graph with entries are data types with as many constructors";
  for (size_t i = 0; i < call.constructors.size(); ++i)
    if (call.constructors[i].name != answer.constructors[i].name || answer.constructors[i].fields.size() != 1)
      return fmt::format("entry {} has no result", i);
  return "";
}

std::vector<Entry> EntriesOf(const Graph& graph) {
  std::vector<Entry> entries;
  if (graph.graph_inputs.size() != 1 || graph.graph_inputs[0].name != kEntryCall) return entries;
  const Type& call = graph.types[graph.graph_inputs[0].type.type];
  const Type& answer = graph.types[graph.graph_results[0].type.type];
  for (size_t i = 0; i < call.constructors.size(); ++i) {
    Entry& entry = entries.emplace_back();
    entry.name = call.constructors[i].name;
    for (const FieldType& field : call.constructors[i].fields) entry.inputs.push_back({field.name, field.type});
    entry.result = answer.constructors[i].fields[0].type;
  }
  return entries;
}

std::string SignatureOf(const Graph& graph, const Entry& entry) {
  std::string text = entry.name + " :: ";
  for (const Port& input : entry.inputs) {
    const std::string type = graph.types.Print({input.type.type, false});
    text += type + " -> ";
  }
  return text + graph.types.Print({entry.result.type, false});
}

// The call is built of the inputs, and the result taken out of the answer.
void LeaveEntry(Graph& graph, size_t index) {
  const Entry entry = EntriesOf(graph)[index];
  const uint32_t nodes = graph.nodes.size();
  const auto constructor = static_cast<uint32_t>(index);
  graph.graph_inputs = entry.inputs;
  for (uint32_t n = 0; n < nodes; ++n) {
    const NodeId id(n);
    const ScopeId scope = graph.nodes[id].scope;
    if (graph.nodes[id].op == Op::Input) {
      llvm::SmallVector<Edge> fields = {graph.InputsOf(id)[0]};
      for (uint32_t i = 0; i < entry.inputs.size(); ++i)
        fields.push_back({graph.AddNode(Op::Input, scope, {fields[0]}, {{entry.inputs[i].type.type, false}}, i, graph.nodes[id].pos), 0});
      graph.nodes[id].op = Op::Construct;
      graph.nodes[id].attr = constructor;
      graph.ReplaceInputs(id, fields);
    } else if (graph.nodes[id].op == Op::Result) {
      Edge answer = graph.InputsOf(id)[0];
      const PortType type = graph.TypeOf(answer);
      if (type.lazy) answer = {graph.AddNode(Op::Force, scope, {answer}, {{type.type, false}}, 0, graph.nodes[id].pos), 0};
      const Edge result{graph.AddNode(Op::Field, scope, {answer}, {entry.result}, constructor << 16, graph.nodes[id].pos), 0};
      graph.SetInput(id, 0, result);
    }
  }
  for (Port& input : graph.graph_inputs) input.type.lazy = false;
  graph.graph_results = {{"", entry.result}};
}

}  // namespace df::ir
