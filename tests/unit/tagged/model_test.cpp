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
    // Machine code and the interpreter in one program.
    for (uint32_t most : {0, 6, 15, 40}) {
      INFO(path.stem().string() << " most " << most);
      tagged::Options options;
      options.most_native = most;
      tagged::TaggedExecution execution(graph, RunOptions(), options);
      CHECK(ResultsOf(execution, graph) == expected);
    }
  }
}

#ifdef DFC_NATIVE
TEST_CASE("the scopes with most steps are machine code first", "[tagged]") {
  std::ifstream file(std::filesystem::path(DFC_MODEL_DIR) / "evenodd.tagged");
  std::stringstream text;
  text << file.rdbuf();
  ir::Graph graph = Parse(text.str());
  tagged::Options options;
  options.words = false;
  options.fast_later = true;  // code is made below
  tagged::Program all;
  REQUIRE(tagged::Compile(graph, options, &all) == "");
  tagged::MakeFastCode(all, options, [] {});
  std::vector<uint32_t> begins;
  for (const tagged::ScopeCode& scope : all.scopes)
    if (scope.direct != tagged::kNone) begins.push_back(scope.direct);
  REQUIRE(begins.size() > 1);
  std::sort(begins.begin(), begins.end());
  begins.push_back(all.direct.first_word);
  for (size_t hot = 0; hot < all.scopes.size(); ++hot) {
    if (all.scopes[hot].direct == tagged::kNone) continue;
    CHECK(all.native->EntryAt(&all.direct.code[all.scopes[hot].direct]) != nullptr);
    auto begin = std::find(begins.begin(), begins.end(), all.scopes[hot].direct);
    options.most_native = begin[1] - begin[0];
    tagged::Program program;
    REQUIRE(tagged::Compile(graph, options, &program) == "");
    program.scopes[hot].steps = 1;
    tagged::MakeFastCode(program, options, [] {});
    for (size_t i = 0; i < program.scopes.size(); ++i) {
      INFO("of scope " << hot << ", looked at " << i);
      if (program.scopes[i].direct == tagged::kNone) continue;
      CHECK((program.native->EntryAt(&program.direct.code[program.scopes[i].direct]) != nullptr) == (i == hot));
    }
  }
}
#endif
