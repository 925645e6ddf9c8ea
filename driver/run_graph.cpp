#include "driver/run_graph.h"

#include "runtime/run/thrown.h"
#include "runtime/text/show.h"

namespace df {
namespace {

Outcome ShowResults(Execution& execution, const ir::Graph& graph, llvm::raw_ostream& out) {
  const auto& results = graph.graph_results;
  if (results.size() == 1) return Show(execution, graph, results[0].type, execution.TakeResult(0), out);
  out << '(';
  for (size_t i = 0; i < results.size(); ++i) {
    if (i) out << ',';
    Outcome outcome = Show(execution, graph, results[i].type, execution.TakeResult(i), out);
    if (!outcome.ok()) return outcome;
  }
  out << ')';
  return {};
}

// Starts the graph and prints its value.
Outcome RunValue(Execution& execution, const ir::Graph& graph, std::vector<Value> inputs, Console& console) {
  uint64_t printed_before = console.out().tell();
  Outcome outcome = execution.Start(std::move(inputs));
  console.err().flush();  // the trace so far comes before what is printed now
  if (outcome.ok()) outcome = ShowResults(execution, graph, console.out());
  SayThrown(execution, graph, outcome);
  // Part of a value may have been printed before it failed; the message begins on a line of its own.
  if (outcome.ok() || console.out().tell() != printed_before) console.out() << '\n';
  return outcome;
}

// Starts the graph and keeps its value for files. What cannot be kept in them is a failure of the program's user.
Outcome RunForFiles(Execution& execution, const ir::Graph& graph, std::vector<Value> inputs, Outputs& outputs) {
  Outcome outcome = execution.Start(std::move(inputs));
  std::string fault;
  if (outcome.ok()) outcome = outputs.Take(execution, execution.results(), &fault);
  SayThrown(execution, graph, outcome);
  if (fault.empty()) return outcome;
  outcome.stop = Stop::Failed;
  outcome.error.message = fault;
  return outcome;
}

// Starts the graph and takes the steps that it gives.
Outcome RunAction(Execution& execution, const ir::Graph& graph, std::vector<Value> inputs, Performance& performance) {
  Outcome outcome = execution.Start(std::move(inputs));
  if (outcome.ok()) return performance.Run(execution);
  SayThrown(execution, graph, outcome);
  return outcome;
}

}  // namespace

Outcome RunGraph(const ir::Graph& graph, Execution& execution, std::vector<Value> inputs, Performance& performance,
                 std::optional<RecordRun>& record_run, std::optional<Outputs>& outputs, Console& console) {
  if (graph.action) return RunAction(execution, graph, std::move(inputs), performance);
  if (record_run) {
    Outcome outcome = execution.Start(std::move(inputs));
    if (outcome.ok()) outcome = record_run->Run(execution);
    SayThrown(execution, graph, outcome);
    return outcome;
  }
  return outputs->empty() ? RunValue(execution, graph, std::move(inputs), console) : RunForFiles(execution, graph, std::move(inputs), *outputs);
}

}  // namespace df
