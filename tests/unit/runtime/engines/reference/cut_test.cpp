// The programs of the executable model, cut at random: whoever carries the tokens, in whatever order, they give the same.
#include "runtime/engines/engines.h"
#include "runtime/engines/reference/cut_run.h"
#include "tests/unit/runtime/engines/reference/model_programs.h"

using namespace df;
using namespace df::test;

namespace {

struct CutResult {
  std::vector<std::string> results;
  CutCounts counts;
  Stats stats;
};

CutResult RunCut(const ModelProgram& program, uint32_t parts, uint64_t seed, CutRunOptions cut) {
  std::string error;
  std::optional<ir::Cut> made = ir::MakeCut(program.graph, {.parts = parts, .seed = seed, .rows = {}}, &error);
  REQUIRE(made.has_value());
  cut.cut = std::move(*made);
  RunOptions options;
  options.seed = seed;
  options.run_dry = true;
  CutResult result;
  auto execution = MakeCutExecution(program.graph, options, std::move(cut), &result.counts);
  result.results = ResultsOf(*execution, program.graph);
  result.stats = execution->stats();
  return result;
}

CutRunOptions With(RecvRule receive, DeadTokens dead = DeadTokens::Sent, uint32_t losses = 0) {
  CutRunOptions options;
  options.receive = receive;
  options.dead = dead;
  options.losses = losses;
  return options;
}

}  // namespace

TEST_CASE("a graph that is cut gives what it gives in one piece") {
  for (const ModelProgram& program : ReadPrograms()) {
    RunOptions options;
    options.run_dry = true;
    auto whole = MakeReferenceExecution(program.graph, options);
    CHECK(ResultsOf(*whole, program.graph) == program.expected);
    for (uint32_t parts : {1, 2, 3, 5})
      for (uint64_t seed = 1; seed <= 6; ++seed)
        for (RecvRule receive : {RecvRule::ByName, RecvRule::Scheduled}) {
          INFO(program.name << " parts " << parts << " seed " << seed << (receive == RecvRule::ByName ? " by name" : " scheduled"));
          CutResult cut = RunCut(program, parts, seed, With(receive));
          CHECK(cut.results == program.expected);
          // The firings are those of one piece, and each dead token is counted once.
          CHECK(cut.stats.firings == whole->stats().firings);
          CHECK(cut.stats.calls == whole->stats().calls);
          CHECK(cut.counts.dead == whole->stats().dead_tokens);
          CHECK((cut.counts.sent > 0) <= (parts > 1));
          if (receive == RecvRule::ByName) CHECK(cut.counts.skeleton_firings == 0);
        }
  }
}

TEST_CASE("skeletons make the tags of the tokens that come, and no others") {
  for (const ModelProgram& program : ReadPrograms())
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      INFO(program.name << " seed " << seed);
      CutResult cut = RunCut(program, 3, seed, With(RecvRule::Scheduled));
      CHECK(cut.counts.untaken == 0);
      if (program.expected[0] != "error Loop") CHECK(cut.counts.receives_left == 0);
    }
}

TEST_CASE("a part that is lost begins anew from what was sent to it") {
  for (const ModelProgram& program : ReadPrograms())
    for (uint64_t seed = 1; seed <= 8; ++seed)
      for (RecvRule receive : {RecvRule::ByName, RecvRule::Scheduled}) {
        INFO(program.name << " seed " << seed);
        CHECK(RunCut(program, 3, seed, With(receive, DeadTokens::Sent, 3)).results == program.expected);
      }
}

TEST_CASE("without dead tokens one program waits for its own error, and by name nothing else is wrong") {
  for (const ModelProgram& program : ReadPrograms())
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      INFO(program.name << " seed " << seed);
      CHECK(RunCut(program, 3, seed, With(RecvRule::ByName, DeadTokens::None)).results == program.expected);
      CHECK(RunCut(program, 3, seed, With(RecvRule::ByName, DeadTokens::None, 2)).results == program.expected);
      if (program.name != "loop_errpred") CHECK(RunCut(program, 3, seed, With(RecvRule::ByName, DeadTokens::Withheld)).results == program.expected);
    }
}
