// The programs of the executable model of the graph's meaning (tests/model) on the tagged engine, with each optimisation
// and without: the model's results, and no frame left over when all work is done.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/tagged/run.h"

using namespace df;
using namespace df::test;

TEST_CASE("the model's programs on the tagged engine", "[tagged]") {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DFC_MODEL_DIR))
    if (entry.path().extension() == ".tagged") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() > 50);
  for (const auto& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    std::string source = text.str();
    ir::Graph graph = Parse(source);
#ifdef DFC_NATIVE
    tagged::Program program;
    if (tagged::Options options; tagged::Compile(graph, options, &program).empty() && !program.direct.code.empty()) {
      INFO(path);
      CHECK(program.native != nullptr);
    }
#endif
    std::vector<std::string> expected;
    constexpr std::string_view kExpect = "-- EXPECT: ";
    for (size_t at = 0; (at = source.find(kExpect, at)) != std::string::npos;) {
      at += kExpect.size();
      expected.push_back(source.substr(at, source.find('\n', at) - at));
    }
    for (bool group : {true, false})
      for (bool direct : {true, false})
        for (bool dry : {false, true}) {
          INFO(path.stem().string() << " group " << group << " direct " << direct << " dry " << dry);
          RunOptions run;
          run.run_dry = dry;
          tagged::TaggedExecution execution(graph, run, tagged::Options{group, direct});
          CHECK(ResultsOf(execution, graph) == expected);
        }
  }
}
