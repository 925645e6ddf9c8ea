#include "driver/evaluate.h"

#include <unistd.h>

#include <optional>

#include "backends/devices.h"
#include "driver/cluster/cluster.h"
#include "driver/outputs.h"
#include "driver/place.h"
#include "driver/pipeline.h"
#include "driver/records.h"
#include "driver/report_stats.h"
#include "driver/run_graph.h"
#include "driver/system/files.h"
#include "driver/system/signals.h"
#include "driver/system/standard_streams.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "runtime/base/object_census.h"
#include "runtime/engines/engines.h"
#include "runtime/packet/timeline_packet.h"
#include "runtime/run/limits.h"
#include "runtime/run/timeline.h"
#include "runtime/text/describe.h"
#include "runtime/text/show.h"
#include "tagged_ir/action.h"

namespace df {
namespace {

// A described error without the word that the console puts in front.
std::string_view Body(std::string_view description) {
  constexpr std::string_view kPrefix = "error: ";
  if (description.starts_with(kPrefix)) description.remove_prefix(kPrefix.size());
  return description;
}

// Where a run was when it was told to end: it did nothing wrong, and who ended it asks for the place and not for the calls around it.
std::string DescribePlace(const RuntimeError& error, const ir::Graph& graph) {
  const std::string path = DescribePath(error, graph);
  llvm::StringRef rest = path;
  while (!rest.empty()) {
    auto [line, behind] = rest.split('\n');
    rest = behind;
    line = line.ltrim();
    line.consume_front("called ");
    if (line.starts_with("at ")) return fmt::format("{} {}", error.message, std::string_view(line));
  }
  return error.message;
}

// As text the call path stands below the message; as JSON it is a list of its own, beside the place.
void ReportFailure(const RuntimeError& error, const ir::Graph& graph, Console& console, bool was_ended = false) {
  if (!console.json()) {
    const std::string text = was_ended ? DescribePlace(error, graph) : Describe(error, graph);
    return console.Error(Body(text));
  }
  auto clean = [](std::string_view part) { return llvm::json::fixUTF8(llvm::StringRef(part.data(), part.size())); };
  llvm::json::Object object{{"severity", "error"}, {"phase", "run"}, {"message", clean(error.message)}};
  if (graph.positions.Contains(error.pos) && graph.positions[error.pos].line != 0) {
    const ir::Pos& pos = graph.positions[error.pos];
    if (pos.file < graph.files.size()) object["file"] = clean(graph.files[pos.file]);
    object["line"] = pos.line;
    object["column"] = pos.column;
  }
  llvm::json::Array path;
  llvm::SmallVector<llvm::StringRef> lines;
  std::string calls = DescribePath(error, graph);
  llvm::StringRef(calls).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) path.push_back(clean(line.trim().str()));
  if (!path.empty()) object["path"] = std::move(path);
  console.ErrorObject(std::move(object), was_ended ? DescribePlace(error, graph) : Describe(error, graph));
}

void Explain(const Outcome& outcome, const ir::Graph& graph, Console& console) {
  switch (outcome.stop) {
    case Stop::Done:
      return;
    case Stop::Failed:
      if (outcome.error.message.empty()) return;  // nothing can be written: Console::Finish says so
      ReportFailure(outcome.error, graph, console);
      return;
    case Stop::Internal:
      throw InternalError(outcome.detail);
    case Stop::MemoryLimit:
    case Stop::FrameLimit:
    case Stop::Timeout:
    case Stop::Interrupted: {
      // Where the run was is told as the call path of an error whose message is the limit.
      RuntimeError where = outcome.error;
      if (where.message.empty())
        where.message = !outcome.detail.empty() ? outcome.detail
                        : outcome.stop == Stop::Interrupted ? "interrupted"
                                                            : "a limit was hit";
      ReportFailure(where, graph, console, outcome.stop == Stop::Timeout || outcome.stop == Stop::Interrupted);
      return;
    }
  }
}

}  // namespace

ExitCode ProgramExit(int64_t code) {
  constexpr int64_t kLargest = 255;  // what a process can end with
  return static_cast<ExitCode>(code < 0 || code > kLargest ? kLargest : code);
}

ExitCode CodeOf(Stop stop) {
  switch (stop) {
    case Stop::Done: return ExitCode::Fine;
    case Stop::Failed: return ExitCode::Failed;
    case Stop::MemoryLimit:
    case Stop::FrameLimit:
    case Stop::Timeout: return ExitCode::Limit;
    case Stop::Interrupted: return ExitCode::Interrupted;
    case Stop::Internal: return ExitCode::Internal;
  }
  return ExitCode::Internal;
}

namespace {

// The inputs, with those that come from outside.
std::vector<Value> AllInputs(const ir::Graph& graph, std::vector<Value> all, const Options& options,
                             Performance& performance) {
  for (size_t i = 0; i < graph.graph_inputs.size(); ++i) {
    const ir::Port& port = graph.graph_inputs[i];
    if (!ir::IsHostInput(port.name)) continue;
    if (all.size() <= i) all.resize(i + 1);
    all[i] = performance.HostInput(port.type, port.name, graph.name, options.arguments);
  }
  return all;
}

// What other processes have told of what they did, on this one's clock. Who has sent none of this graph is left out, with a note.
std::vector<ProcessTimeline> OtherTimelines(const Timeline& timeline, const ir::Graph& graph, const std::vector<PeerReport>& processes, Console& console) {
  std::vector<ProcessTimeline> others;
  const int64_t began = timeline.begin().time_since_epoch() / std::chrono::nanoseconds(1);
  for (const PeerReport& process : processes) {
    if (&process == processes.data()) continue;
    std::optional<ProcessTimeline> other = process.trace.empty() || !process.clock_ahead ? std::nullopt : ReadTimeline(graph, process.trace);
    if (!other) {
      console.err() << fmt::format("note: the trace does not have what process {} did: {}\n", process.rank,
                                   !process.lost.empty() ? "it was lost" : process.trace.empty() ? "it has told nothing"
                                   : !process.clock_ahead ? "how its clock goes is not known" : "what it has told is no trace");
      continue;
    }
    other->rank = process.rank;
    other->name = fmt::format("process {}: {}", process.rank, process.where);
    other->error = process.clock_error;
    // Clocks are what their owners say: nothing here may overflow.
    other->began = static_cast<int64_t>(process.began - static_cast<uint64_t>(*process.clock_ahead) - static_cast<uint64_t>(began));
    others.push_back(std::move(*other));
  }
  return others;
}

bool WriteTimeline(const Timeline& timeline, ProcessTimeline here, const ir::Graph& graph, const std::vector<PeerReport>& processes, const std::string& path,
                   Console& console) {
  std::string text;
  llvm::raw_string_ostream out(text);
  here.name = "process 0: here";
  timeline.Write(graph, here, OtherTimelines(timeline, graph, processes, console), out);
  out.flush();
  SourceManager sources;
  Diagnostics diags(sources);
  bool written = WriteFile(path, text, diags);
  console.Show(diags);
  return written;
}

// Finds the parts of the result that files are to get, and refuses options that mean nothing for it and files that cannot be written.
ExitCode PrepareOutputs(const ir::Graph& graph, llvm::ArrayRef<ir::Port> parts, const Options& options, bool records,
                        std::optional<Outputs>& outputs, Console& console) {
  SourceManager sources;  // what the program was read from, which is not to be written over
  for (const std::string& file : graph.files) sources.Add(file, "");
  sources.Add(options.file, "");
  Diagnostics diags(sources);
  std::string type = graph.action ? "an action" : fmt::format("of type `{}`", graph.types.Print({graph.graph_results[0].type.type}));
  if (!records && !options.log.empty()) diags.Report(Diag::NoRecords, {}, "--log", type);
  if (!records && options.saves) diags.Report(Diag::NoRecords, {}, "--save-every", type);
  if (graph.action && !options.outputs.empty())
    diags.Report(Diag::NoParts, {}, options.outputs[0].file, "the program is an action, and has no result");
  if (graph.unshown && options.outputs.empty())
    diags.Report(Diag::OnlyArrays, {}, options.file, graph.types.Print({graph.graph_results[0].type.type}))
        .Hint("it can be written to a file: `--output @FILE.npz`");
  if (!diags.has_errors()) outputs = Outputs::Make(graph, parts, graph.action ? std::vector<OutputArgument>() : options.outputs, diags);
  ExitCode code = outputs ? ExitCode::Fine : ExitCode::Usage;
  if (outputs) {
    for (const OutputArgument& argument : options.outputs)
      if (!CanWriteFile(argument.file, diags)) code = ExitCode::Failed;
    if (!options.timeline.empty() && !CanWriteFile(options.timeline, diags)) code = ExitCode::Failed;
  }
  console.Show(diags);
  return code;
}

bool WriteOutputs(Outputs& outputs, Console& console) {
  SourceManager sources;
  Diagnostics diags(sources);
  bool written = outputs.Write(diags);
  console.Show(diags);
  return written;
}

}  // namespace

void Switch(const Options& options, RunOptions& run) {
  for (const SwitchInfo& row : Switches())
    run.*row.field = (row.kept || options.lower.optimize) && !llvm::is_contained(options.without, row.name);
}

namespace {

#ifdef DFC_VERIFY
constexpr bool kVerifies = true;
#else
constexpr bool kVerifies = false;
#endif

// What computes the batches of a run.
class RunDevices {
 public:
  // All that the options, and a cut between devices, ask for; nothing after a message.
  static std::optional<RunDevices> Make(const Options& options, const DeviceCut* cut, Console& console) {
    RunDevices devices;
    std::vector<std::string> names = {options.device};
    if (cut) names.insert(names.end(), cut->names.begin(), cut->names.end());
    for (const std::string& name : names) {
      std::string error;
      devices.all_.push_back(MakeDevice(name, options.max_device_memory, &error));
      if (!error.empty()) return console.Error(error), std::nullopt;
    }
    if (cut) devices.placed_.of_node = cut->of_node;
    return devices;
  }
  // It does not outlive this.
  void Give(RunOptions& run) {
    run.device = all_[0].get();
    for (size_t i = 1; i < all_.size(); ++i) placed_.devices.push_back(all_[i].get());
    if (!placed_.devices.empty()) run.placed = &placed_;
  }
  // Whether one has memory of its own.
  bool away() const {
    return llvm::any_of(all_, [](const auto& device) { return device && !device->is_host(); });
  }
  // As Device::Left.
  std::string Left() const {
    for (const auto& device : all_)
      if (std::string left = device ? device->Left() : ""; !left.empty()) return left;
    return "";
  }

 private:
  std::vector<std::unique_ptr<Device>> all_;  // the first is the run's own; null: the host
  PlacedDevices placed_;
};

// What the command line says of the run, without the device.
RunOptions OptionsOfRun(const Options& options, const std::atomic<bool>* interrupt, Console& console, const RunContext& context) {
  RunOptions run;
  run.limits.max_memory = options.max_memory;
  run.limits.in_use = context.in_use;
  run.limits.max_frames = options.max_frames;
  run.limits.before = context.spent;
  if (options.timeout.count() > 0) run.limits.timeout = std::max(options.timeout - context.spent, std::chrono::milliseconds(1));
  run.limits.interrupt = interrupt;
  run.trace = options.trace ? &console.err() : nullptr;
  run.seed = options.seed;
  run.last_first = options.last_first;
  run.count = options.stats == StatsFormat::Text || options.stats == StatsFormat::Json;
  run.threads = options.threads;
  Switch(options, run);
  run.batch = options.batch;
  run.stress = options.stress;
  run.run_dry = options.run_dry;
  return run;
}

// The execution, made within the limits of the run. `last`: the process may end here.
std::unique_ptr<Execution> MakeInTime(EngineKind engine, const ir::Graph& graph, const RunOptions& run, bool last, CutRun* cut) {
  std::optional<EndAtOnceScope> at_once;
  std::optional<LastResort> at_once_in_time;
  if (last) {
    at_once.emplace();
    at_once_in_time.emplace(run.limits, std::chrono::milliseconds(0));
  }
  if (!cut) return MakeExecution(engine, graph, run);
  return run.peers ? MakePartExecution(graph, run, cut->options, &cut->counts) : MakeCutExecution(graph, run, cut->options, &cut->counts);
}

// Whether output that nobody reads, in a pipe, is not waited for any more; then the process ends here.
bool GivesUpWriting(const RunOptions& run, std::chrono::steady_clock::time_point began, Execution& execution) {
  const bool interrupted = run.limits.interrupt && run.limits.interrupt->load();
  const bool late = run.limits.timeout.count() > 0 && std::chrono::steady_clock::now() >= began + run.limits.timeout;
  if (interrupted || late) run.leave(execution.GiveUp(interrupted ? Stop::Interrupted : Stop::Timeout));
  return interrupted || late;
}

// The timeline of this process, of a run with `--trace=FILE`.
struct OwnTimeline {
  OwnTimeline(const Options& options, const RunOptions& run)
      : timeline(options.engine != EngineKind::Tagged ? 1 : run.threads ? run.threads : DefaultThreads()) {}
  // The run is over; its peers are still there.
  void End(const Peers* peers) {
    timeline.End();
    spans = timeline.Spans(/*root=*/true, [&](uint32_t peer) { return peers ? peers->RankOf(peer) : peer; });
  }
  bool Write(const ir::Graph& graph, const std::vector<PeerReport>& processes, const std::string& path, Console& console) {
    if (!spans) End(nullptr);  // it is given up in the middle
    return WriteTimeline(timeline, std::move(*spans), graph, processes, path, console);
  }
  Timeline timeline;
  std::optional<ProcessTimeline> spans;
};

// What became of the action that was entered.
void TellPrompt(PromptAction& prompt, const Outcome& outcome, const ir::Graph& graph, Performance& performance) {
  prompt.done = outcome.ok() && performance.done();
  prompt.exited = outcome.ok() && graph.action && !performance.done();
  prompt.left = performance.left();
  prompt.log = performance.log();
  if (prompt.keeps_log) prompt.kept = performance.TakeLog();
}

// A source may do what its user may, if he does not say otherwise.
Grants GrantsOf(const Options& options, GraphOrigin origin) {
  Grants grants = options.grants;
  grants.all = origin == GraphOrigin::Source && !options.deny;
  return grants;
}

// Of a graph that is cut: a process was lost, and its part with it.
bool LostPart(const RunContext& context) { return context.cut && !context.cut->counts.lost_part.empty(); }

void ExplainEnd(const Outcome& outcome, const ir::Graph& graph, const RunContext& context, Console& console) {
  if (LostPart(context)) console.Error(context.cut->counts.lost_part);
  else Explain(outcome, graph, console);
}

ExitCode EvaluateCounted(const ir::Graph& graph, std::vector<Value> inputs, const Options& options,
                         const std::atomic<bool>* interrupt, Console& console, RunContext context) {
  using Clock = std::chrono::steady_clock;
  PassScope pass("run");
  RunOptions run = OptionsOfRun(options, interrupt, console, context);
  std::optional<RunDevices> devices = RunDevices::Make(options, context.devices, console);
  if (!devices) return ExitCode::Usage;
  devices->Give(run);
  std::unique_ptr<Cluster> cluster;  // outlives the execution
  if (std::optional<ExitCode> code = Cluster::Start(graph, inputs, options, run, console, context.cut, cluster)) return *code;

  // What the result is given out as, and to which files.
  bool records = options.command == Command::Run && RecordOf(graph);
  std::optional<Outputs> outputs;
  std::vector<ir::Port> parts = graph.graph_results;
  if (records) parts = {RecordPort(graph)};
  std::optional<RecordRun> record_run;
  if (ExitCode code = PrepareOutputs(graph, parts, options, records, outputs, console); code != ExitCode::Fine) return code;
  if (records && !record_run.emplace(graph, options, *outputs, console).Open()) return ExitCode::Failed;
  if (record_run && cluster) record_run->ShowPace([&] { return DescribePace(cluster->Reports()); });

  // The process ends with the run. At a prompt there is a person, who can press Ctrl-C again.
  const bool last = options.command == Command::Run;
  PromptAction* prompt = context.prompt;
  StandardStreams streams(console, interrupt, run.limits.timeout, prompt ? prompt->source : nullptr, GrantsOf(options, context.origin));
  Performance performance(graph, streams);
  if (prompt && (prompt->wants_value || prompt->keeps_log)) performance.KeepLog();
  if (prompt) performance.Redo(prompt->redone);
  std::optional<OwnTimeline> timeline;
  if (!options.timeline.empty()) run.timeline = &timeline.emplace(options, run).timeline;
  RunTimes times;
  times.load = context.load;
  Clock::time_point began = Clock::now();
  std::unique_ptr<Execution> execution;
  auto conclude = [&](const Outcome& outcome) {
    ExplainEnd(outcome, graph, context, console);
    const std::vector<PeerReport> processes = cluster ? cluster->Reports() : std::vector<PeerReport>();
    bool written = !timeline || timeline->Write(graph, processes, options.timeline, console);
    if (context.stats) *context.stats = execution->stats();
    PrintStats(graph, execution->stats(), times, options.engine, options.stats, processes, context.cut ? &context.cut->counts : nullptr, console.err());
    return written;
  };
  bool leaving = false;
  if (last && !record_run)
    run.leave = [&](const Outcome& outcome) {
      leaving = true;
      times.run = Clock::now() - began - times.prepare;
      times.run_cpu = ProcessorTime() - times.run_cpu;
      console.out().flush();
      conclude(outcome);
      if (cluster) cluster->Abandon();
      ::_exit(static_cast<int>(console.Finish(CodeOf(outcome.stop))));
    };
  std::optional<RunTimer> timer(std::in_place, run.limits);
  execution = MakeInTime(options.engine, graph, run, last, context.cut);
  std::optional<LastResort> last_resort;
  if (last) last_resort.emplace(run.limits);
  times.prepare = Clock::now() - began;
  times.run_cpu = ProcessorTime();
  if (run.leave) console.GiveUpWhen([&] { return leaving || GivesUpWriting(run, began, *execution); });
  std::vector<Value> all = AllInputs(graph, std::move(inputs), options, performance);
  Outcome outcome = RunGraph(graph, *execution, std::move(all), performance, record_run, outputs, console);
  execution->Finish();
  console.out().flush();
  timer.reset();
  console.GiveUpWhen(nullptr);
  if (timeline) timeline->End(run.peers);
  times.run = Clock::now() - began - times.prepare;
  times.run_cpu = ProcessorTime() - times.run_cpu;
  if (cluster) cluster->End(console, /*hurry=*/outcome.stop == Stop::Interrupted || outcome.stop == Stop::Timeout);
  if (outcome.stop == Stop::Internal && context.origin == GraphOrigin::File && !LostPart(context)) {
    console.Error(fmt::format("not a valid graph: {}\n  it breaks this rule while it runs; if dfc wrote the file, please report it",
                              outcome.detail));
    return ExitCode::BadGraph;
  }
  bool written = conclude(outcome);
  bool stopped = outcome.stop != Stop::Done && outcome.stop != Stop::Failed;
  if (last_resort) last_resort->Reported();
  last_resort.reset();  // writing a large state may take as long as it takes
  if (record_run) written &= record_run->Finish(outcome);
  else if (outcome.ok() && outputs->pending()) written &= WriteOutputs(*outputs, console);
  if (prompt) TellPrompt(*prompt, outcome, graph, performance);
  ExitCode code = LostPart(context) ? ExitCode::Workers : !written && outcome.ok() ? ExitCode::Failed
                  : outcome.ok() && graph.action ? ProgramExit(performance.exit_code()) : CodeOf(outcome.stop);
  // What is left may take seconds to give back piece by piece; the system does it at once. Builds that verify count it.
  bool checks = kVerifies || devices->away();
  if (last && (stopped || !checks)) {
    cluster.reset();
    ::_exit(static_cast<int>(console.Finish(code)));
  }
  record_run.reset();
  outputs.reset();
  execution.reset();
  if (std::string left = stopped ? "" : devices->Left(); !left.empty()) {
    console.Error("internal error: the run is over and has left behind: " + left);
    return ExitCode::Internal;
  }
  return code;
}

}  // namespace

ExitCode Evaluate(const ir::Graph& graph, std::vector<Value> inputs, const Options& options,
                  const std::atomic<bool>* interrupt, Console& console, RunContext context) {
  alive::Counts before = context.before ? *context.before : alive::Now();
  ExitCode code = EvaluateCounted(graph, std::move(inputs), options, interrupt, console, context);
  // A run that was stopped may have been left by a jump out of a big operation (runtime/base/long_operation.h).
  if (code == ExitCode::Limit || code == ExitCode::Interrupted) return code;
  std::string left = alive::Left(before, alive::Now());
  if (left.empty()) return code;
  console.Error("internal error: the run is over and has left behind: " + left);
  return ExitCode::Internal;
}

}  // namespace df
