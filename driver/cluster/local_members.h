// driver/cluster/local_members.h
//
// Members of a run as threads of this process, each with an execution of its own: `--members`, for tests of what several processes do.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/peers/local_peers.h"
#include "runtime/engines/reference/cut_run.h"
#include "runtime/run/engine.h"

namespace df {

class LocalMembers {
 public:
  // So many, the root among them, whose options are `run`. The others begin to ask for work; or, if their spines run too, to `follow` the root.
  // `traced`: they note what they do when. `cut`: each has a part of the graph, or null.
  LocalMembers(const ir::Graph& graph, const RunOptions& run, uint32_t members, bool traced, std::function<Outcome(Execution&)> follow,
               const CutRunOptions* cut);
  // The root's run is over.
  ~LocalMembers() { End(); }
  void End();
  Peers& root() { return peers_.member(0); }
  // Of all of them; complete after End.
  std::vector<PeerReport> Reports() const;

 private:
  LocalPeers peers_;
  mutable std::mutex mutex_;
  std::map<uint32_t, std::pair<std::string, uint64_t>> traces_;  // by number: PackTimeline, and when it began
  std::vector<std::thread> threads_;
};

}  // namespace df
