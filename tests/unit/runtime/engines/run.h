// tests/unit/runtime/engines/run.h
//
// Running a graph on the tagged engine and showing what it gives.
#pragma once

#include <string>
#include <vector>

#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/text/show.h"
#include "tagged_ir/text.h"
#include "tests/unit/catch.h"

namespace df::test {

inline std::string Failure(const Outcome& outcome) {
  static constexpr const char* kCodes[] = {"DivideByZero", "Overflow", "User", "NoMatch", "Range", "Loop"};
  if (outcome.stop != Stop::Failed) return "stopped: " + outcome.detail;
  std::string code = kCodes[static_cast<size_t>(outcome.error.code)];
  return "error " + code + (outcome.error.code == ErrorCode::User ? " " + outcome.error.message : "");
}

// Each result as shown, or "error <code> <message>".
inline std::vector<std::string> ResultsOf(Execution& execution, const ir::Graph& graph,
                                          llvm::ArrayRef<Value> inputs = {}) {
  std::vector<std::string> results;
  Outcome started = execution.Start(inputs);
  if (!started.ok()) return {Failure(started)};
  for (size_t i = 0; i < graph.graph_results.size(); ++i) {
    std::string text;
    llvm::raw_string_ostream out(text);
    Outcome outcome = Show(execution, graph, graph.graph_results[i].type, execution.results()[i], out);
    results.push_back(outcome.ok() ? text : Failure(outcome));
  }
  return results;
}

inline ir::Graph Parse(std::string_view text) {
  std::string error;
  std::optional<ir::Graph> graph = ir::ParseText(text, &error);
  INFO(error);
  REQUIRE(graph.has_value());
  return std::move(*graph);
}

}  // namespace df::test
