// The programs of the executable model with each part in a member of its own, as in a process of its own: they give what they give in one piece.
#include <thread>

#include "runtime/engines/reference/cut_run.h"
#include "runtime/peers/local_peers.h"
#include "tests/unit/runtime/engines/reference/model_programs.h"

using namespace df;
using namespace df::test;

namespace {

struct Members {
  std::vector<std::string> results;
  CutCounts counts;  // of the root
  uint64_t messages = 0;
};

// Each member runs its part; `lose` is lost before it does anything (0: nobody).
Members RunParts(const ModelProgram& program, uint32_t parts, uint64_t seed, RecvRule receive, DeadTokens dead = DeadTokens::Sent, uint32_t lose = 0) {
  std::string error;
  std::optional<ir::Cut> cut = ir::MakeCut(program.graph, {.parts = parts, .seed = seed + 5, .rows = {}}, &error);
  REQUIRE(cut.has_value());
  CutRunOptions options;
  options.cut = std::move(*cut);
  options.receive = receive;
  options.dead = dead;
  LocalPeers peers(parts, seed);
  auto options_of = [&](uint32_t number) {
    RunOptions run;
    run.peers = &peers.member(number);
    run.seed = seed;
    run.limits.timeout = std::chrono::seconds(60);
    return run;
  };
  std::vector<std::thread> threads;
  for (uint32_t number = 1; number < parts; ++number)
    threads.emplace_back([&, number] {
      CutCounts counts;
      if (number == lose) {
        peers.Lose(number);
        return;
      }
      MakePartExecution(program.graph, options_of(number), options, &counts)->Serve();
    });
  Members members;
  {
    auto root = MakePartExecution(program.graph, options_of(0), options, &members.counts);
    members.results = ResultsOf(*root, program.graph);
    root->Finish();
  }
  for (std::thread& thread : threads) thread.join();
  members.messages = peers.messages();
  return members;
}

}  // namespace

TEST_CASE("parts in processes of their own give what one process gives") {
  size_t runs = 0, lost = 0;  // members are lost at random now and then, and that is said
  for (const ModelProgram& program : ReadPrograms())
    for (uint32_t parts : {2, 4})
      for (uint64_t seed : {3, 8}) {
        INFO(program.name << " parts " << parts << " seed " << seed);
        const Members members = RunParts(program, parts, seed, seed == 3 ? RecvRule::ByName : RecvRule::Scheduled);
        ++runs;
        if (!members.counts.lost_part.empty()) ++lost;
        else CHECK(members.results == program.expected);
      }
  CHECK(lost < runs / 4);
}

TEST_CASE("in processes too nothing hangs on dead tokens") {
  for (const ModelProgram& program : ReadPrograms()) {
    INFO(program.name);
    const Members members = RunParts(program, 3, 0, RecvRule::ByName, DeadTokens::None);
    CHECK(members.counts.lost_part.empty());
    CHECK(members.results == program.expected);
  }
}

TEST_CASE("a part that is lost with its process ends the run, which says so") {
  const std::vector<ModelProgram> programs = ReadPrograms();
  for (size_t i = 0; i < programs.size(); i += 8) {
    INFO(programs[i].name);
    const Members members = RunParts(programs[i], 3, 0, RecvRule::ByName, DeadTokens::Sent, 2);
    if (members.results == programs[i].expected) continue;  // it needed nothing from there
    CHECK(!members.counts.lost_part.empty());
  }
}
