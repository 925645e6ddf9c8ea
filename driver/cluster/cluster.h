// driver/cluster/cluster.h
//
// The other processes of a run: `--local-workers`, `--workers`. docs/distributed.md.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/members/node_peers.h"
#include "backends/net/address.h"
#include "backends/zmq/zmq_net.h"
#include "driver/cluster/local_members.h"
#include "driver/options.h"
#include "driver/place.h"
#include "driver/system/console.h"
#include "tagged_ir/graph.h"

namespace df {

// What has to be the same in all processes of a run, as far as it does not depend on the program.
net::NodeOptions NodeOptionsHere();

// The options with which a root compiled its program, as far as its workers have to have them, by name; and back: false if one of them
// means nothing here.
std::string SharedOptionsText(const Options& options, const CutRun* cut);
bool ReadSharedOptions(const std::string& text, Options& options);

// Computes for the root of a run until that is over, or a limit of this process ends it: what others give it, or, of a run whose spine runs
// everywhere, all that the root evaluates. `options`: as the root has them, as far as it has told; `traced`: it tells the root what it has done
// when; `cut`: of a graph that is cut, null otherwise.
Outcome ServeRun(NodePeers& peers, const ir::Graph& graph, const Options& options, RunOptions run, bool traced, CutRun* cut);

// How many processes the options ask for, this one among them.
uint32_t ProcessesOf(const Options& options);

// What a link may have on its way, of a process that may take so much memory (0: what is usual).
uint64_t LinkWindow(uint64_t max_memory);

// Where others can reach who listens there: an address that stands for all of this machine's becomes its name.
std::string ReachableAddress(const std::string& address);

class Cluster {
 public:
  // What the options ask for: other processes that work on the run, all of which are there and serve; `run` has them then. An exit code if this
  // process is to end: after a message, or since it was launched to compute for another one, and has done so.
  static std::optional<ExitCode> Start(const ir::Graph& graph, const std::vector<Value>& inputs, const Options& options, RunOptions& run, Console& console,
                                       CutRun* cut, std::unique_ptr<Cluster>& cluster);
  ~Cluster();
  // The process ends without End: what was made for it goes.
  void Abandon();

  // The run is over: the others tell what they have done, if that is wanted, and go. Says what happened to them. `hurry`: whoever does not
  // tell at once tells nothing.
  void End(Console& console, bool hurry);
  // Of all processes, as far as they have told; complete after End.
  std::vector<PeerReport> Reports() const;

 private:
  Cluster() = default;
  static bool IsWanted(const Options& options) { return options.local_workers > 1 || !options.workers.empty() || options.launched; }
  // Threads of this process, which shares the machine with its local workers.
  static uint32_t ThreadsOf(const Options& options);
  // What of the options does not go with other processes; empty if all does.
  static std::string Unfit(const Options& options);
  bool Call(const ir::Graph& graph, const std::vector<Value>& inputs, const Options& options, net::ZmqOptions& sockets,
            const std::atomic<bool>* interrupt, const CutRun* cut, Console& console);
  ExitCode Serve(const ir::Graph& graph, const Options& options, const RunOptions& run, CutRun* cut, Console& console);
  bool CallLaunched(const Options& options, net::ZmqOptions& sockets, SharedProgram program, const std::atomic<bool>* interrupt, Console& console);
  bool StartLocal(const Options& options, std::vector<std::string>& addresses, std::string* why);

  std::unique_ptr<NodePeers> peers_;
  std::unique_ptr<LocalMembers> members_;  // instead: `--members`
  std::vector<PeerReport> reports_;        // once the peers are gone
  bool is_root_ = true;
  std::string place_;           // the shared file that says where the root is
  std::unique_ptr<net::IpcFolder> folder_;  // of the local workers' addresses
  std::vector<pid_t> workers_;  // that were started here
  int alive_ = -1;              // they end when this is closed
};

}  // namespace df
