#include "driver/cluster/local_members.h"

#include <optional>

#include "runtime/engines/engines.h"
#include "runtime/packet/timeline_packet.h"
#include "runtime/run/limits.h"

namespace df {

LocalMembers::LocalMembers(const ir::Graph& graph, const RunOptions& run, uint32_t members, bool traced, std::function<Outcome(Execution&)> follow,
                           const CutRunOptions* cut)
    : peers_(members, run.stress) {
  for (uint32_t number = 1; number < members; ++number) {
    RunOptions options = run;
    options.peers = &peers_.member(number);
    options.stress = run.stress ? run.stress + number : 0;
    options.limits.timeout = {};
    options.trace = nullptr;
    options.leave = nullptr;
    threads_.emplace_back([this, &graph, options, number, traced, follow, cut]() mutable {
      std::optional<Timeline> timeline;
      if (traced) options.timeline = &timeline.emplace(options.threads ? options.threads : DefaultThreads());
      {
        CutCounts counts;
        auto execution = cut ? MakePartExecution(graph, options, *cut, &counts) : MakeExecution(EngineKind::Tagged, graph, options);
        if (!follow) {
          execution->Serve();
        } else if (follow(*execution).ok()) {
          peers_.AwaitOver(number);  // until then it gives others what they still need
        }
        if (follow) execution->Finish();
      }
      if (timeline) {
        timeline->End();
        std::string packed = PackTimeline(timeline->Spans(/*root=*/false));
        std::lock_guard lock(mutex_);
        traces_[number] = {std::move(packed), static_cast<uint64_t>(timeline->begin().time_since_epoch() / std::chrono::nanoseconds(1))};
      }
      peers_.Lose(number);  // at a limit of its own; after the end nobody is told
      peers_.member(number).End();
    });
  }
  if (run.stress) peers_.AwaitBegun();
}

std::vector<PeerReport> LocalMembers::Reports() const {
  std::vector<PeerReport> reports = peers_.Reports();
  std::lock_guard lock(mutex_);
  for (const auto& [number, trace] : traces_) {
    reports[number].trace = trace.first;
    reports[number].began = trace.second;
    reports[number].clock_ahead = 0;
  }
  return reports;
}

void LocalMembers::End() {
  peers_.member(0).End();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace df
