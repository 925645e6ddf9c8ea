// tests/unit/tagged_ir/graphs.h
//
// Graphs that the tests of this folder work on: the programs of the executable model, and one small graph as
// text.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "llvm/Support/raw_ostream.h"
#include "tagged_ir/graph.h"
#include "tagged_ir/text.h"
#include "tests/unit/catch.h"

namespace df::ir::test {

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::vector<std::filesystem::path> ModelGraphs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DFC_MODEL_DIR))
    if (entry.path().extension() == ".tagged") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline std::string ToText(const Graph& graph, const PrintOptions& options = {}) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Print(graph, out, options);
  return text;
}

inline Graph Parsed(const std::string& text) {
  std::string error;
  std::optional<Graph> graph = ParseText(text, &error);
  INFO(error);
  REQUIRE(graph.has_value());
  return std::move(*graph);
}

}  // namespace df::ir::test
