// driver/local_members.h
//
// Members of a run as threads of this process, each with an execution of its own: `--members`, for tests of what several processes do.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "runtime/peers/local_peers.h"
#include "runtime/run/engine.h"

namespace df {

class LocalMembers {
 public:
  // So many, the root among them, whose options are `run`. The others begin to ask for work.
  LocalMembers(const ir::Graph& graph, const RunOptions& run, uint32_t members);
  // The root's run is over.
  ~LocalMembers() { End(); }
  void End();
  Peers& root() { return peers_.member(0); }

 private:
  LocalPeers peers_;
  std::vector<std::thread> threads_;
};

}  // namespace df
