// tests/unit/runtime/engines/reference/model_programs.h
//
// The programs of the executable model of the graph's meaning (tests/model, written by its export.py), with what they give.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/run/engine.h"
#include "runtime/text/show.h"
#include "tagged_ir/text.h"
#include "tests/unit/catch.h"

namespace df::test {

struct ModelProgram {
  std::string name;
  std::vector<std::string> expected;  // of each result: as shown, or "error <code> <message>"
  ir::Graph graph;
};

inline std::vector<std::string> ResultsOf(Execution& execution, const ir::Graph& graph) {
  static constexpr const char* kCodes[] = {"DivideByZero", "Overflow", "User", "NoMatch", "Range", "Loop"};
  std::vector<std::string> results;
  auto failure = [](const Outcome& outcome) {
    if (outcome.stop != Stop::Failed) return "stopped: " + outcome.detail;
    std::string code = kCodes[static_cast<size_t>(outcome.error.code)];
    return "error " + code + (outcome.error.code == ErrorCode::User ? " " + outcome.error.message : "");
  };
  Outcome started = execution.Start({});
  if (!started.ok()) return {failure(started)};
  for (size_t i = 0; i < graph.graph_results.size(); ++i) {
    std::string text;
    llvm::raw_string_ostream out(text);
    Outcome outcome = Show(execution, graph, graph.graph_results[i].type, execution.results()[i], out);
    results.push_back(outcome.ok() ? text : failure(outcome));
  }
  return results;
}

inline std::vector<ModelProgram> ReadPrograms() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DFC_MODEL_DIR))
    if (entry.path().extension() == ".tagged") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<ModelProgram> programs;
  for (const auto& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    std::string source = text.str(), error;
    auto graph = ir::ParseText(source, &error);
    INFO(path.string() << ": " << error);
    REQUIRE(graph.has_value());
    ModelProgram program{path.stem().string(), {}, std::move(*graph)};
    constexpr std::string_view kExpect = "-- EXPECT: ";
    for (size_t at = 0; (at = source.find(kExpect, at)) != std::string::npos;) {
      at += kExpect.size();
      program.expected.push_back(source.substr(at, source.find('\n', at) - at));
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace df::test
