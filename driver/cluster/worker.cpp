// `dfc worker`: computes for the runs of others, one after the other (docs/distributed.md).
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include <fmt/format.h>

#include "backends/net/address.h"
#include "backends/zmq/zmq_net.h"
#include "driver/cluster/cluster.h"
#include "driver/commands.h"
#include "driver/evaluate.h"
#include "driver/system/signals.h"
#include "tagged_ir/file.h"

namespace df {
namespace {

// A worker that was started by a run ends with it, however that ends.
void EndWith(int alive, const std::string& socket) {
  ::signal(SIGINT, SIG_IGN);  // of a terminal: meant for the root, which ends this one
  std::thread([alive, socket] {
    char byte;
    while (::read(alive, &byte, 1) != 0) {
    }
    // Its root was killed, perhaps, or went before this process, or another one, had its socket, which may come at any moment still.
    const std::string folder = socket.substr(0, socket.rfind('/'));
    for (int again = 0; !net::RemoveIpcFolder(folder) && again < 100; ++again) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::_exit(0);
  }).detach();
}

// Standard input is a pipe that its owner holds open.
void EndWithInput() {
  std::thread([] {
    char bytes[256];
    for (ssize_t got = 1; got > 0 || (got < 0 && errno == EINTR);) got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    ::_exit(0);
  }).detach();
}

// One run. False: there are to be no more, and nothing is to be waited for.
bool ServeOne(const Options& given, net::ZmqOptions& sockets, bool first, const std::atomic<bool>* stop, Console& console, ExitCode* code) {
  std::string why;
  std::unique_ptr<net::ZmqNet> transport = net::ZmqNet::Open(sockets, &why);
  // The sockets of the run before may take a moment to go.
  for (int again = 0; !transport && !first && again < 100 && !stop->load(); ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    transport = net::ZmqNet::Open(sockets, &why);
  }
  if (!transport) return console.Error(why), *code = ExitCode::Usage, false;
  sockets.listen = transport->address();  // the next time at the same port
  if (first && given.alive < 0) {
    console.out() << "listening on " << sockets.listen << '\n';
    console.out().flush();
  }
  net::NodeOptions node = NodeOptionsHere();
  node.address = ReachableAddress(sockets.listen);
  node.link.window = LinkWindow(given.max_memory);
  NodePeers peers(std::move(transport), std::move(node));
  auto tell = [&] {
    for (const std::string& notice : peers.TakeNotices()) console.err() << "note: " << notice << '\n';
    console.err().flush();
  };
  std::optional<SharedProgram> program = peers.AwaitProgram(stop, tell);
  tell();
  if (stop->load()) return *code = ExitCode::Interrupted, false;
  if (!program) return true;
  Options options = given;
  std::optional<ir::Graph> graph = ir::Deserialize(program->graph, &why);
  if (!graph) return console.Error(fmt::format("the root sent no valid graph: {}", why)), true;
  if (!ReadSharedOptions(program->options, options)) return console.Error("the root sent options that this worker does not know"), true;
  RunOptions run;
  run.limits.max_memory = options.max_memory;
  run.limits.max_frames = options.max_frames;
  run.limits.interrupt = stop;
  run.threads = options.threads;
  run.batch = options.batch;
  Switch(options, run);
  run.peers = &peers;
  std::optional<CutRun> cut;
  if (options.cut.asked && !(cut = SharedCut(*graph, options.cut))) return console.Error("the root sent a cut of another graph"), true;
  const Outcome outcome = ServeRun(peers, *graph, options, run, options.traced, cut ? &*cut : nullptr);
  tell();
  if (outcome.stop == Stop::Interrupted) return *code = ExitCode::Interrupted, false;
  if (outcome.ok()) return true;
  console.err() << "note: left the run: " << outcome.detail << '\n';
  return given.alive < 0;
}

}  // namespace

ExitCode WorkerCommand(const Options& options, Console& console) {
  if (options.alive >= 0) EndWith(options.alive, options.listen.substr(options.listen.find("//") + 2));
  if (options.owned) EndWithInput();
  InterruptScope interrupts;
  net::ZmqOptions sockets;
  sockets.listen = options.listen;
  std::string why;
  if (!options.key.empty()) {
    sockets.keys = net::ReadKeyFile(options.key, &why);
    if (!sockets.keys) return console.Error(why), ExitCode::Usage;
  }
  ExitCode code = ExitCode::Fine;
  bool first = true;
  while (ServeOne(options, sockets, first, interrupts.flag(), console, &code)) {
    first = false;
    // The root may be in such a hurry that it leaves the folder of sockets as it is: EndWith sees to it, once the root has gone.
    while (options.alive >= 0 && !interrupts.interrupted()) ::pause();
    if (options.alive >= 0) break;
  }
  return code;
}

}  // namespace df
