// The expanding engine: the programs of the executable model (tests/model), oldest first and newest first, what it counts, and
// that everything is given back.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/engines/engines.h"
#include "tests/unit/runtime/engines/run.h"

using namespace df;
using namespace df::test;

namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Stats StatsOf(const char* program, int64_t n, bool last_first) {
  ir::Graph graph = Parse(Read(std::filesystem::path(DFC_BENCH_DIR) / program));
  RunOptions run;
  run.last_first = last_first;
  auto execution = MakeExpandingExecution(graph, run);
  Value input = Value::Word(n);
  REQUIRE(execution->Start({input}).ok());
  return execution->stats();
}

}  // namespace

TEST_CASE("the model's programs on the expanding engine", "[expanding]") {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DFC_MODEL_DIR))
    if (entry.path().extension() == ".tagged") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() > 50);
  for (const auto& path : paths) {
    std::string source = Read(path);
    ir::Graph graph = Parse(source);
    std::vector<std::string> expected;
    constexpr std::string_view kExpect = "-- EXPECT: ";
    for (size_t at = 0; (at = source.find(kExpect, at)) != std::string::npos;) {
      at += kExpect.size();
      expected.push_back(source.substr(at, source.find('\n', at) - at));
    }
    for (bool last_first : {false, true}) {
      INFO(path.stem().string() << " last first " << last_first);
      int64_t before = memory::counters.current;
      {
        RunOptions run;
        run.last_first = last_first;
        auto execution = MakeExpandingExecution(graph, run);
        CHECK(ResultsOf(*execution, graph) == expected);
      }
      CHECK(memory::counters.current == before);
    }
  }
}

TEST_CASE("a copy per call, a copy per iteration, and as many at once as the order of the queue makes", "[expanding]") {
  Stats first = StatsOf("fib.tagged", 15, false), last = StatsOf("fib.tagged", 15, true);
  CHECK(first.calls == 1974);  // 1973 of fib, and the root
  CHECK(last.calls == first.calls);
  CHECK(last.firings == first.firings);
  CHECK(last.peak_frames < 20);
  CHECK(first.peak_frames > 400);
  Stats loop = StatsOf("loop.tagged", 100000, false);
  CHECK(loop.loops == 100001);
  CHECK(loop.peak_frames < 10);
}

TEST_CASE("the parts of the time are shares of a whole", "[expanding]") {
  ir::Graph graph = Parse(Read(std::filesystem::path(DFC_BENCH_DIR) / "loop.tagged"));
  RunOptions run;
  run.count = true;
  auto execution = MakeExpandingExecution(graph, run);
  Value input = Value::Word(1000000);
  REQUIRE(execution->Start({input}).ok());
  double sum = 0;
  std::vector<Stats::Part> parts = execution->stats().parts;
  REQUIRE(parts.size() == 4);
  for (const Stats::Part& part : parts) sum += part.share;
  CHECK(sum > 0.999);
  CHECK(sum < 1.001);
}
