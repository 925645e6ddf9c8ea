// The reference engine on graphs built by hand.
#include "runtime/engines/engines.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/graphs.h"

using namespace df;
using namespace df::test;

TEST_CASE("fact runs under any schedule and leaves nothing behind") {
  ir::Graph graph = FactGraph(10);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RunOptions options;
    options.seed = seed;
    options.run_dry = true;
    Stats stats;
    CHECK(RunAndShow(MakeReferenceExecution(graph, options), graph, &stats) == "3628805");
    CHECK(stats.calls == 11);
    CHECK(stats.max_depth == 10);
  }
}

TEST_CASE("a firing is a line of the trace") {
  std::string trace;
  llvm::raw_string_ostream out(trace);
  RunOptions options;
  options.trace = &out;
  ir::Graph graph = FactGraph(3);
  CHECK(RunAndShow(MakeReferenceExecution(graph, options), graph) == "11");
  CHECK(trace.find("Sub  tag [1 0]  2 1 -> 1\n") != std::string::npos);
  CHECK(trace.find("Mul  tag [0]  3 2 -> 6\n") != std::string::npos);
}
