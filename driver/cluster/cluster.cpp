#include "driver/cluster/cluster.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "backends/net/fingerprint.h"
#include "backends/net/keys.h"
#include "driver/cluster/follow.h"
#include "driver/cluster/launch.h"
#include "llvm/Support/JSON.h"
#include "runtime/engines/engines.h"
#include "runtime/ops/fingerprint.h"
#include "runtime/packet/timeline_packet.h"
#include "runtime/run/limits.h"
#include "tagged_ir/action.h"
#include "tagged_ir/file.h"

extern char** environ;

namespace df {
namespace {

// What a worker is given besides the standard streams: the end of a pipe that closes with the root.
constexpr int kAliveDescriptor = 3;

std::string HostName() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

net::NodeOptions NodeOptionsHere() {
  net::NodeOptions node;
  node.incarnation = net::RandomName();
  node.facts.build = DFC_VERSION;
  node.facts.kernels = KernelFingerprint();
  node.facts.libm = net::LibmFingerprint();
  node.name = fmt::format("{}/{}", HostName(), ::getpid());
  node.cores = DefaultThreads();
  return node;
}

uint32_t ProcessesOf(const Options& options) {
  std::string ignored;
  if (options.members > 1) return options.members;
  if (!options.launched) return static_cast<uint32_t>(options.workers.size()) + options.local_workers;
  const std::optional<LaunchPlace> place = FindLaunchPlaceHere(&ignored);  // what is wrong with it is told by who calls the others
  return place ? place->size : 1;
}

namespace {

llvm::StringRef NameOf(DeadTokens dead) { return dead == DeadTokens::Sent ? "sent" : dead == DeadTokens::Withheld ? "withheld" : "none"; }

// A graph that is cut: which part each node is on, and by which rules it runs. Of others null.
llvm::json::Value SharedCutOf(const Options& options, const CutRun* cut) {
  if (!cut) return nullptr;
  return llvm::json::Object{{"parts", ir::WriteCut(cut->options.cut)},
                            {"scheduled", cut->options.receive == RecvRule::Scheduled},
                            {"dead", NameOf(cut->options.dead).str()},
                            {"seed", static_cast<int64_t>(options.seed)}};
}

bool ReadSharedCut(const llvm::json::Value& value, Options& options) {
  options.cut = {};
  options.seed = 0;
  if (value.getAsNull()) return true;
  const llvm::json::Object* cut = value.getAsObject();
  if (!cut || cut->size() != 4) return false;
  const std::optional<llvm::StringRef> parts = cut->getString("parts"), dead = cut->getString("dead");
  const std::optional<bool> scheduled = cut->getBoolean("scheduled");
  const std::optional<int64_t> seed = cut->getInteger("seed");
  if (!parts || !dead || !scheduled || !seed) return false;
  options.cut.asked = true;
  options.cut.shared = parts->str();
  options.cut.receive = *scheduled ? RecvRule::Scheduled : RecvRule::ByName;
  options.cut.dead = *dead == "withheld" ? DeadTokens::Withheld : *dead == "none" ? DeadTokens::None : DeadTokens::Sent;
  options.seed = static_cast<uint64_t>(*seed);
  return *dead == NameOf(options.cut.dead);
}

}  // namespace

std::string SharedOptionsText(const Options& options, const CutRun* cut) {
  llvm::json::Array without;
  for (const std::string& name : options.without) without.push_back(name);
  // What the root looks at of the result, which processes that run the spine look at too.
  llvm::json::Array outputs;
  for (const OutputArgument& output : options.outputs)
    outputs.push_back(llvm::json::Array{llvm::json::fixUTF8(output.name), llvm::json::fixUTF8(output.file)});
  const bool trace = !options.timeline.empty(), records = options.command == Command::Run;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::json::Value(llvm::json::Object{{"optimize", options.lower.optimize}, {"batch", options.batch}, {"trace", trace}, {"records", records},
                                              {"outputs", std::move(outputs)}, {"without", std::move(without)},
                                              {"cut", SharedCutOf(options, cut)}});
  return out.str();
}

bool ReadSharedOptions(const std::string& text, Options& options) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) return llvm::consumeError(value.takeError()), false;
  const llvm::json::Object* object = value->getAsObject();
  if (!object || object->size() != 7) return false;
  std::optional<bool> optimize = object->getBoolean("optimize");
  std::optional<int64_t> batch = object->getInteger("batch");
  std::optional<bool> trace = object->getBoolean("trace");
  std::optional<bool> records = object->getBoolean("records");
  const llvm::json::Array* outputs = object->getArray("outputs");
  const llvm::json::Array* without = object->getArray("without");
  if (const llvm::json::Value* cut = object->get("cut"); !cut || !ReadSharedCut(*cut, options)) return false;
  if (!optimize || !batch || *batch < 0 || *batch > 1 << 20 || !trace || !records || !outputs || !without) return false;
  options.traced = *trace;
  options.command = *records ? Command::Run : Command::Repl;
  options.outputs.clear();
  for (const llvm::json::Value& value : *outputs) {
    const llvm::json::Array* output = value.getAsArray();
    if (!output || output->size() != 2 || !(*output)[0].getAsString() || !(*output)[1].getAsString()) return false;
    options.outputs.push_back({(*output)[0].getAsString()->str(), (*output)[1].getAsString()->str()});
  }
  options.lower.optimize = *optimize;
  options.without.clear();
  options.batch = static_cast<uint32_t>(*batch);
  for (const llvm::json::Value& name : *without) {
    std::optional<llvm::StringRef> wanted = name.getAsString();
    if (!wanted || !llvm::any_of(Switches(), [&](const SwitchInfo& row) { return *wanted == row.name; })) return false;
    options.without.push_back(wanted->str());
  }
  return true;
}

uint32_t Cluster::ThreadsOf(const Options& options) {
  if (options.threads || options.local_workers < 2) return options.threads;
  return std::max(1u, DefaultThreads() / options.local_workers);
}

bool Cluster::StartLocal(const Options& options, std::vector<std::string>& addresses, std::string* why) {
  folder_ = std::make_unique<net::IpcFolder>();
  if (folder_->path().empty()) return *why = fmt::format("there is no folder for sockets: {}", std::strerror(errno)), false;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return *why = std::strerror(errno), false;
  alive_ = ends[1];
  const uint64_t memory = (options.max_memory ? options.max_memory : DefaultMemoryLimit()) / options.local_workers;
  for (uint32_t i = 1; i < options.local_workers; ++i) {
    addresses.push_back(folder_->Address(std::to_string(i)));
    std::vector<std::string> words = {"dfc", "worker", "--listen", addresses.back(), "--threads", std::to_string(ThreadsOf(options)),
                                      "--max-memory", std::to_string(memory), "--alive", std::to_string(kAliveDescriptor)};
    if (words[5] == "0") words[5] = "1";
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[0], kAliveDescriptor);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed) {
      *why = fmt::format("a worker cannot be started: {}", std::strerror(failed));
      break;
    }
    workers_.push_back(pid);
  }
  ::close(ends[0]);
  return workers_.size() + 1 == options.local_workers;
}

std::string Cluster::Unfit(const Options& options) {
  if (options.engine != EngineKind::Tagged && !options.cut.asked) return fmt::format("the engine {} runs in one process; other processes work with the tagged engine", EngineName(options.engine));
  if (options.trace) return "`--trace` without a file prints each firing of one process";
  if (options.device != "cpu") return fmt::format("other processes do not use this one's device `{}`", options.device);
  if (options.launched && (options.local_workers > 1 || !options.workers.empty())) return "`--launched` is for processes that somebody else has started";
  return "";
}

namespace {

net::NodeOptions NodeWith(const SharedProgram& program, const Options& options) {
  net::NodeOptions node = NodeOptionsHere();
  node.link.window = LinkWindow(options.max_memory);
  node.facts.graph = net::Sha256(program.graph);
  node.facts.options = net::Sha256(program.options);
  return node;
}

// How long processes that were launched wait for each other.
constexpr std::chrono::seconds kPatience{60};

// The first line of the file, once it is there.
std::string AwaitPlace(const std::string& file, const std::atomic<bool>* interrupt) {
  constexpr std::chrono::milliseconds kPause{20};
  for (auto until = std::chrono::steady_clock::now() + kPatience; std::chrono::steady_clock::now() < until && !(interrupt && interrupt->load());) {
    std::ifstream in(file);
    if (std::string line; std::getline(in, line) && !in.eof()) return line;
    std::this_thread::sleep_for(kPause);
  }
  return "";
}

}  // namespace

std::string ReachableAddress(const std::string& address) {
  for (const char* any : {"tcp://0.0.0.0:", "tcp://*:", "tcp://[::]:"})
    if (address.starts_with(any)) return fmt::format("tcp://{}:{}", HostName(), address.substr(std::strlen(any)));
  return address;
}

// One of several that were launched. False after a message.
bool Cluster::CallLaunched(const Options& options, net::ZmqOptions& sockets, SharedProgram program, const std::atomic<bool>* interrupt,
                            Console& console) {
  std::string why;
  const std::optional<LaunchPlace> place = FindLaunchPlaceHere(&why);
  if (!place) return console.Error(why), false;
  is_root_ = place->rank == 0;
  const bool by_file = options.rendezvous.find('/') != std::string::npos;
  // Where nothing is said, the port that a run of the same program by the same launcher would take.
  constexpr int kPort = 7117;
  std::string root = by_file ? "" : options.rendezvous;
  if (!by_file && root.empty() && place->size > 1) {
    if (place->root.empty())
      return console.Error(fmt::format("{} does not say where process 0 runs: add `--rendezvous HOST:PORT`, or a file that all of them see", place->launcher)), false;
    root = fmt::format("{}:{}", place->root, kPort);
  }
  const std::string port = root.substr(root.rfind(':') + 1);
  if (!by_file && place->size > 1 && root.find(':') == std::string::npos) return console.Error(fmt::format("`--rendezvous {}`: expected HOST:PORT or a path", root)), false;
  // Without a key nobody but this machine's own processes may come.
  const std::string any = sockets.keys ? "0.0.0.0" : "127.0.0.1";
  sockets.listen = fmt::format("tcp://{}:{}", any, is_root_ && !by_file ? port : "*");
  std::unique_ptr<net::ZmqNet> transport = net::ZmqNet::Open(sockets, &why);
  if (!transport) return console.Error(why), false;
  net::NodeOptions node = NodeWith(program, options);
  node.rank = place->rank;
  node.address = ReachableAddress(transport->address());
  node.root = is_root_;
  if (is_root_) {
    if (by_file) {
      place_ = options.rendezvous;
      const std::string half = fmt::format("{}.{}", place_, ::getpid());
      std::ofstream(half) << node.address << '\n';
      std::error_code error;
      std::filesystem::rename(half, place_, error);
      if (error) return console.Error(fmt::format("`--rendezvous {}`: {}", place_, error.message())), false;
    }
    peers_ = std::make_unique<NodePeers>(std::move(transport), std::move(node), std::move(program), std::vector<std::string>());
    // As long as they look for this one; who was ended before it came is not waited for without end.
    const auto until = std::chrono::steady_clock::now() + kPatience;
    if (peers_->AwaitWorkers(place->size - 1, interrupt, [&] { return std::chrono::steady_clock::now() < until; })) return true;
  } else {
    const std::string address = by_file ? AwaitPlace(options.rendezvous, interrupt) : "tcp://" + root;
    if (address.empty()) return console.Error(fmt::format("process 0 has not written where it is to {}", options.rendezvous)), false;
    peers_ = std::make_unique<NodePeers>(std::move(transport), std::move(node), address, /*has_program=*/true);
    return true;
  }
  return false;
}

uint64_t LinkWindow(uint64_t max_memory) {
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  const uint64_t usual = net::LinkOptions().window;
  return max_memory ? std::clamp(max_memory / 8, kLeast, usual) : usual;
}

// Whether functions stand on parts, so that each process has to know its number and how many there are (docs/cut.md).
static bool HasPlaces(const ir::Graph& graph, const Options& options) {
  return !options.cut.asked && !options.trace && llvm::any_of(graph.scopes, [](const ir::Scope& scope) { return scope.place != ir::kAnywhere; });
}

Outcome ServeRun(NodePeers& peers, const ir::Graph& graph, const Options& options, RunOptions run, bool traced, CutRun* cut) {
  const bool follows = RunsEverywhere(graph, options);
  std::optional<SharedProgram> given;
  if ((follows || cut || HasPlaces(graph, options)) && !(given = peers.AwaitInputs(run.limits.interrupt))) return {};
  if (cut && peers.Rank() >= cut->options.cut.parts) {
    Outcome outcome;
    outcome.stop = Stop::Internal;
    outcome.detail = fmt::format("process {} has no part of the graph", peers.Rank());
    return outcome;
  }
  if (cut && options.seed) run.seed = options.seed + peers.Rank();
  std::optional<Timeline> timeline;
  if (traced) {
    peers.WillTell();
    run.timeline = &timeline.emplace(run.threads ? run.threads : DefaultThreads());
  }
  std::unique_ptr<Execution> execution = cut ? MakePartExecution(graph, run, cut->options, &cut->counts) : MakeExecution(EngineKind::Tagged, graph, run);
  peers.SetReady();
  Outcome outcome;
  if (follows) {
    outcome = Follow(graph, options, {std::move(given->inputs), std::move(given->input_parts)}, run.limits.interrupt, *execution);
    if (outcome.ok()) peers.AwaitOver(run.limits.interrupt);  // until then it gives others what they still need
    execution->Finish();
  } else {
    outcome = execution->Serve();
  }
  if (timeline) {
    timeline->End();
    peers.Tell(PackTimeline(timeline->Spans(/*root=*/false, [&](uint32_t peer) { return peers.RankOf(peer); })), timeline->begin());
  }
  if (outcome.ok()) peers.AwaitOver(run.limits.interrupt);
  peers.End();
  return outcome;
}

ExitCode Cluster::Serve(const ir::Graph& graph, const Options& options, const RunOptions& run, CutRun* cut, Console& console) {
  const Outcome outcome = ServeRun(*peers_, graph, options, run, !options.timeline.empty(), cut);
  const bool met_root = peers_->had_root();
  for (const std::string& notice : peers_->TakeNotices()) console.err() << (met_root ? "note: " : "error: ") << notice << '\n';
  if (outcome.stop == Stop::Interrupted) return ExitCode::Interrupted;
  if (!outcome.ok()) console.err() << "note: left the run: " << outcome.detail << '\n';
  if (peers_->lost_root()) console.err() << "note: the root is lost, and the run with it\n";
  return met_root && !peers_->lost_root() ? ExitCode::Fine : ExitCode::Workers;
}

// Workers that are started here, or listen where the options say. False if not all have come; after a message if there are no peers.
bool Cluster::Call(const ir::Graph& graph, const std::vector<Value>& inputs, const Options& options, net::ZmqOptions& sockets,
                   const std::atomic<bool>* interrupt, const CutRun* cut, Console& console) {
  SharedProgram program{SharedOptionsText(options, cut), ir::Serialize(graph)};
  std::string why;
  const uint32_t processes = ProcessesOf(options);
  uint32_t rank = 0;
  if (options.launched) {
    const std::optional<LaunchPlace> place = FindLaunchPlaceHere(&why);
    if (!place) return console.Error(why), false;
    rank = place->rank;
  }
  if (rank == 0 && (cut || HasPlaces(graph, options))) program.processes = processes;
  if (rank == 0 && processes > 1 && RunsEverywhere(graph, options)) {
    PackedInputs packed = PackInputs(graph, inputs, options.arguments);
    program.processes = processes;
    program.inputs = std::move(packed.bytes);
    program.input_parts = std::move(packed.parts);
  }
  if (options.launched) return CallLaunched(options, sockets, std::move(program), interrupt, console);
  std::vector<std::string> addresses = options.workers;
  if (options.local_workers > 1 && !StartLocal(options, addresses, &why)) return console.Error(why), false;
  std::unique_ptr<net::ZmqNet> transport = net::ZmqNet::Open(sockets, &why);
  if (!transport) return console.Error(why), false;
  net::NodeOptions node = NodeWith(program, options);
  node.root = true;
  const size_t count = addresses.size();
  peers_ = std::make_unique<NodePeers>(std::move(transport), std::move(node), std::move(program), addresses);
  return peers_->AwaitWorkers(count, interrupt, [&] {
    for (pid_t pid : workers_) {
      siginfo_t ended = {};
      if (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid) return false;
    }
    return true;
  });
}

std::optional<ExitCode> Cluster::Start(const ir::Graph& graph, const std::vector<Value>& inputs, const Options& options, RunOptions& run, Console& console,
                                       CutRun* cut, std::unique_ptr<Cluster>& to) {
  const std::atomic<bool>* interrupt = run.limits.interrupt;
  std::unique_ptr<Cluster> cluster(new Cluster);
  if (options.members > 1) {
    std::function<Outcome(Execution&)> follow;
    if (RunsEverywhere(graph, options))
      follow = [&graph, &options, interrupt, packed = PackInputs(graph, inputs, options.arguments)](Execution& execution) {
        return Follow(graph, options, packed, interrupt, execution);
      };
    cluster->members_ = std::make_unique<LocalMembers>(graph, run, options.members, !options.timeline.empty(), std::move(follow), cut ? &cut->options : nullptr);
    run.peers = &cluster->members_->root();
  }
  if (IsWanted(options)) {
    if (std::string unfit = Unfit(options); !unfit.empty()) return console.Error(unfit), ExitCode::Usage;
    // An action that goes on with an answer is a closure, and holds the token of what comes after it: no packet takes that.
    if (cut && llvm::any_of(graph.graph_inputs, [](const ir::Port& port) { return port.name == ir::kReplies; }))
      return console.Error("a program that asks its surroundings (reads lines or files, catches failures) is cut within one process only: leave out the workers"), ExitCode::Usage;
    net::ZmqOptions sockets;
    if (std::string why; !options.key.empty() && !(sockets.keys = net::ReadKeyFile(options.key, &why))) return console.Error(why), ExitCode::Usage;
    if (!cluster->Call(graph, inputs, options, sockets, interrupt, cut, console)) {
      const bool interrupted = interrupt && interrupt->load();
      if (cluster->peers_) {
        const std::vector<std::string> notices = cluster->peers_->TakeNotices();
        for (const std::string& notice : notices) console.Error(notice);
        if (notices.empty()) console.Error(interrupted ? "interrupted while the workers are waited for" : "not all of the workers have come");
      }
      return interrupted ? ExitCode::Interrupted : ExitCode::Workers;
    }
    if (options.stats != StatsFormat::None || !options.timeline.empty()) cluster->peers_->WantReports(!options.timeline.empty());
    run.peers = cluster->peers_.get();
    run.threads = ThreadsOf(options);
    if (!cluster->is_root_) return cluster->Serve(graph, options, run, cut, console);
  }
  if (run.peers) to = std::move(cluster);
  return std::nullopt;
}

void Cluster::End(Console& console, bool hurry) {
  constexpr std::chrono::milliseconds kHurry{200}, kPatience{5000};  // peers do not wait that long
  if (members_) members_->End();
  if (!peers_) return;
  peers_->End();  // a short run has not begun with them
  peers_->AwaitReports(hurry ? kHurry : kPatience);
  reports_ = peers_->Reports();
  for (const std::string& notice : peers_->TakeNotices()) console.err() << "note: " << notice << '\n';
  peers_.reset();
}

std::vector<PeerReport> Cluster::Reports() const {
  if (members_) return members_->Reports();
  return peers_ ? peers_->Reports() : reports_;
}

void Cluster::Abandon() {
  std::error_code ignored;
  folder_.reset();
  if (!place_.empty() && is_root_) std::filesystem::remove(std::exchange(place_, ""), ignored);
}

Cluster::~Cluster() {
  peers_.reset();
  if (alive_ >= 0) ::close(alive_);
  // They end by themselves when the pipe is closed; one that does not is ended.
  constexpr std::chrono::milliseconds kPatience{3000}, kPause{2};
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (pid_t pid : workers_) {
    while (::waitpid(pid, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > until) ::kill(pid, SIGKILL);
      std::this_thread::sleep_for(kPause);
    }
  }
  Abandon();
}

}  // namespace df
