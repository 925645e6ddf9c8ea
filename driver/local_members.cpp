#include "driver/local_members.h"

#include "runtime/engines/engines.h"

namespace df {

LocalMembers::LocalMembers(const ir::Graph& graph, const RunOptions& run, uint32_t members) : peers_(members, run.stress) {
  for (uint32_t number = 1; number < members; ++number) {
    RunOptions options = run;
    options.peers = &peers_.member(number);
    options.stress = run.stress ? run.stress + number : 0;
    options.limits.timeout = {};
    options.trace = nullptr;
    options.timeline = nullptr;
    options.leave = nullptr;
    threads_.emplace_back([this, &graph, options, number] {
      {
        auto execution = MakeExecution(EngineKind::Tagged, graph, options);
        execution->Serve();
      }
      peers_.Lose(number);  // at a limit of its own; after the end nobody is told
      peers_.member(number).End();
    });
  }
  if (run.stress) peers_.AwaitBegun();
}

void LocalMembers::End() {
  peers_.member(0).End();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace df
