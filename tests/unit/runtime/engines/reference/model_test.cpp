// The programs of the executable model of the graph's meaning: under any schedule the result that it gives, at most one token per edge and tag, and
// nothing left over.
#include "runtime/engines/engines.h"
#include "tests/unit/runtime/engines/reference/model_programs.h"

using namespace df;
using namespace df::test;

TEST_CASE("the model's programs give the model's results under any schedule") {
  std::vector<ModelProgram> programs = ReadPrograms();
  REQUIRE(programs.size() >= 60);
  for (const ModelProgram& program : programs) {
    Stats first;
    for (uint64_t seed = 0; seed <= 50; ++seed) {
      RunOptions options;
      options.seed = seed;
      options.run_dry = true;
      INFO(program.name << " seed " << seed);
      auto execution = MakeReferenceExecution(program.graph, options);
      CHECK(ResultsOf(*execution, program.graph) == program.expected);
      // What was done does not depend on the schedule either.
      Stats stats = execution->stats();
      if (seed == 0) first = stats;
      CHECK(stats.firings == first.firings);
      CHECK(stats.dead_tokens == first.dead_tokens);
      CHECK(stats.calls == first.calls);
      CHECK(stats.loops == first.loops);
      CHECK(stats.released == first.released);
      CHECK(stats.max_depth == first.max_depth);
    }
  }
}
