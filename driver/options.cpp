#include "driver/options.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "backends/devices.h"
#include "driver/cut_options.h"
#include "driver/pages/option_pages.h"
#include "driver/read_option.h"
#include "driver/test/test_options.h"
#include "driver/usage.h"
#include "driver/version.h"
#include "lang/render.h"
#include "runtime/engines/engines.h"
#include "runtime/run/limits.h"
#include "tagged_ir/file.h"

namespace df {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 fine, 1 the program failed or did not compile, 2 wrong usage, 3 a limit was hit,\n"
    "4 not a valid graph, 70 internal error, 130 interrupted.";

// Splits "name=text"; throws what CLI11 reports as wrong usage.
InputArgument SplitInput(const char* option, const std::string& argument) {
  size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0)
    throw CLI::ValidationError(option, "`" + argument + "` is not of the form NAME=VALUE");
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

// Splits "name=@file" or "@file".
OutputArgument SplitOutput(const std::string& argument) {
  size_t at = argument.find('@');
  bool whole = at == 0, part = at != std::string::npos && at > 1 && argument[at - 1] == '=';
  if ((!whole && !part) || at + 1 == argument.size())
    throw CLI::ValidationError("--output", "`" + argument + "` is not of the form NAME=@FILE or @FILE");
  return {whole ? "" : argument.substr(0, at - 1), argument.substr(at + 1)};
}

// Of --resume: the file that it names, or the one that the run writes its state to.
std::string StateFile(const std::string& named, const std::vector<OutputArgument>& outputs) {
  if (!named.empty()) return named;
  for (const OutputArgument& output : outputs)
    if (output.name == "state") return output.file;
  throw CLI::ValidationError("--resume", "without a file it goes on from that of `--output state=@FILE`, which is not given");
}

bool ParseQueue(std::string_view text, bool& last_first) {
  last_first = text == "lifo";
  return last_first || text == "fifo";
}

// 0: no batching.
bool ParseBatch(std::string_view text, uint32_t& batch) {
  constexpr uint64_t kMostRows = 1 << 20;
  uint64_t count = 0;
  if (text == "auto") batch = RunOptions::kUsualBatch;
  else if (text == "off") batch = 0;
  else if (ParseCount(text, count) && count <= kMostRows) batch = static_cast<uint32_t>(count);
  else return false;
  return true;
}

// An option, or a positional, that takes one of a few words.
CLI::Option* AddChoice(CLI::App& app, const char* name, const std::vector<std::string>& words, std::function<void(const std::string&)> take, const char* text) {
  CLI::Option* option = app.add_option_function<std::string>(name, std::move(take), text)->check(CLI::IsMember(words));
  WordsOfOptions()[option] = words;
  return option;
}

void AddLowerOptions(CLI::App& app, Options& options) {
  app.add_option_function<int>("-O", [&](int level) { options.lower.optimize = level != 0; },
                               "0 translates plainly: no inlining, results as tuples; default: 1")
      ->check(CLI::Range(0, 1))
      ->type_name("LEVEL");
  app.add_flag_callback("--no-optimize", [&] { options.lower.optimize = false; }, "the same as -O0");
  std::vector<std::string> names;
  for (const OptimisationInfo& row : Optimisations()) names.push_back(row.name);
  for (const SwitchInfo& row : Switches()) names.push_back(row.name);
  WordsOfOptions()[app.add_option_function<std::vector<std::string>>(
         "--without",
         [&](const std::vector<std::string>& off) {
           for (const OptimisationInfo& row : Optimisations())
             if (std::find(off.begin(), off.end(), row.name) != off.end()) options.lower.SwitchOff(row.id);
           options.without.insert(options.without.end(), off.begin(), off.end());
         },
         "leaves these optimisations out (docs/lowering.md lists them)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names))
      ->type_name("NAMES")] = names;
  app.add_flag_callback("--no-loops", [&] { options.lower.loops = false; }, "self tail calls stay calls");
  AddRead(app, "--gradient", options.lower.gradient, ParseGradient, "`paired`, `recompute` or `table`",
          "paired (default); to compare with: recompute (gradients compute the forward pass anew), table (a hash table has it)")
      ->type_name("KIND");
}

void AddWarningOption(CLI::App& app, Options& options) {
  app.add_flag_callback("--no-warnings", [&] { options.warnings = false; }, "no warnings");
}

void AddErrorFormat(CLI::App& app, Options& options) {
  AddChoice(app, "--error-format", {"text", "json"}, [&](const std::string& format) { options.json_errors = format == "json"; },
            "text (default), or json: one object a line on standard error (docs/errors.md)")
      ->type_name("FORMAT");
}

void AddLimits(CLI::App& app, Options& options, bool runs) {
  AddRead(app, "--max-memory", options.max_memory, ParseBytes, "bytes, such as `2G`, `512M`, `64K` or `1000`",
          runs ? "bytes that the compilation, and then the run, may take; default: 80% of the memory there is"
               : "bytes that the compilation may take; default: 80% of the memory there is")
      ->type_name("SIZE");
  AddRead(app, "--timeout", options.timeout, ParseDuration, "a time, such as `10s`, `500ms` or `2m`",
          runs ? "how long compilation and run may take together; default: no limit"
               : "how long the compilation may take; default: no limit")
      ->type_name("TIME");
}

void AddRunOptions(CLI::App& app, Options& options, CLI::Option*& engine) {
  engine = AddRead(app, "--engine", options.engine, ParseEngine, "`reference`, `tagged`, `demand` or `expanding`",
                   "which engine runs the graph: tagged (default), reference, demand or expanding")
               ->type_name("NAME");
  AddRead(app, "--queue", options.last_first, ParseQueue, "`fifo` or `lifo`",
          "expanding engine: which ready node goes first, the oldest (fifo, default) or the newest")
      ->type_name("ORDER");
  AddLimits(app, options, /*runs=*/true);
  AddRead(app, "--max-frames", options.max_frames, ParseCount, "a whole number from 1 on, such as `1000`",
          "calls that may be live at once; default: no limit")
      ->type_name("N");
  AddRead(app, "--threads", options.threads, ParseThreads, "a number from 1 to 256, such as `4`",
          "how many threads the tagged engine runs on; default: one per processor")
      ->type_name("N");
  AddRead(app, "--batch", options.batch, ParseBatch, "`off`, `auto` or a number from 1 to 1048576, such as `64`",
          "tagged engine: how many activations have their ops on tensors computed together; default: auto")
      ->type_name("N");
  app.add_option("--device", options.device, "tagged engine: what computes batches of ops on tensors: cpu (default), cuda, or simulated")
      ->type_name("NAME")
      ->check([](const std::string& name) { return IsDevice(name) ? "" : fmt::format("there is no device `{}`; this build has {}", name, DeviceNames()); });
  AddRead(app, "--max-device-memory", options.max_device_memory, ParseBytes, "bytes, such as `2G`, `512M`, `64K` or `1000`",
          "bytes of a device's own memory that the run may take; default: what it has")
      ->type_name("SIZE");
  app.add_option("--allow-read", options.grants.read, "a graph file, or a source with --deny, may read files beneath this folder; may be repeated")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory)
      ->allow_extra_args(false);
  app.add_option("--allow-write", options.grants.write, "the same for writing, making and removing files")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory)
      ->allow_extra_args(false);
  app.add_flag("--allow-env", options.grants.environment, "it may read the variables of the environment");
  app.add_flag("--deny", options.deny, "a source may do no more than a graph file");
  AddRead(app, "--stress", options.stress, ParseCount, "a whole number from 1 on, such as `7`")->group("");  // for tests: RunOptions::stress
  app.add_option("--members", options.members)->group("");  // for tests: LocalMembers
  AddWordFlag(app, "--stats", "text", options.stats, ParseStatsFormat, "`text`, `json` or `times`",
              "afterwards, say on standard error what the run did; --stats=json: as a JSON object;\n--stats=times: times alone, counting nothing");
}

// What may be meant by a misspelt command.
const std::vector<std::string_view>& CommandNames() {
  static const std::vector<std::string_view> kNames = {"run", "check", "repl", "explain", "keygen", "worker", "place", "test", "bench", "import", "completion", "manual"};
  return kNames;
}

// "frob x.df" reads as two files; who writes that meant a command.
std::string UnknownCommandText(const std::string& word) {
  std::string text = fmt::format("there is no command `{}`", word);
  std::string_view near = NearestName(word, CommandNames());
  if (!near.empty()) text += fmt::format("; did you mean `{}`?", near);
  return text;
}

// A name without a dot or a slash, of which there is no file.
bool LooksLikeCommand(const std::string& word) {
  return !word.empty() && word.find_first_of("./") == std::string::npos && word != "-" && ::access(word.c_str(), F_OK) != 0;
}

}  // namespace

bool ParseEngine(std::string_view text, EngineKind& engine) {
  if (text == "reference") engine = EngineKind::Reference;
  else if (text == "tagged") engine = EngineKind::Tagged;
  else if (text == "demand") engine = EngineKind::Demand;
  else if (text == "expanding") engine = EngineKind::Expanding;
  else return false;
  return true;
}

bool ParseStatsFormat(std::string_view text, StatsFormat& format) {
  if (text == "text") format = StatsFormat::Text;
  else if (text == "json") format = StatsFormat::Json;
  else if (text == "times") format = StatsFormat::Times;
  else return false;
  return true;
}

bool ParseGradient(std::string_view text, GradientKind& kind) {
  if (text == "paired") kind = GradientKind::Paired;
  else if (text == "recompute") kind = GradientKind::Recompute;
  else if (text == "table") kind = GradientKind::Table;
  else return false;
  return true;
}

std::string_view EngineName(EngineKind engine) {
  switch (engine) {
    case EngineKind::Reference: return "reference";
    case EngineKind::Tagged: return "tagged";
    case EngineKind::Demand: return "demand";
    case EngineKind::Expanding: return "expanding";
  }
  return "";
}

namespace {

const std::map<std::string, Emit>& Emits() {
  static const std::map<std::string, Emit> kEmits = {
      {"tokens", Emit::Tokens}, {"ast", Emit::Ast}, {"core", Emit::Core},       {"functions", Emit::Functions},
      {"tagged", Emit::Tagged}, {"dot", Emit::Dot}, {"regions", Emit::Regions}, {"lazy", Emit::Lazy},
      {"onnx", Emit::Onnx}};
  return kEmits;
}

// The command line while it is read: what is asked about when all of it is there, and what is read as text first.
struct CommandLine {
  explicit CommandLine(Options& options) : options(options) {}

  CLI::App app{"Compiles a Haskell-like language to one static dataflow graph, and runs it.\n\n"
               "  dfc FILE.df [-o OUT.graph]       compile; the graph is written beside FILE.df unless -o says where\n"
               "  dfc run FILE.df|FILE.graph       compile if need be, run, and print the value of `main`; what\n"
               "                                   follows `--` are the arguments of a `main :: IO ()`\n"
               "  dfc check FILE.df                report errors and warnings only\n"
               "  dfc repl [FILE.df]               type definitions and expressions\n"
               "  dfc explain CODE                 what a diagnostic means\n"
               "  dfc worker --listen ADDRESS      compute for the runs of other processes\n"
               "  dfc keygen [-o FILE]             a key for the processes of a cluster\n"
               "  dfc place FILE --parts N         the graph cut into parts\n"
               "  dfc import MODEL.onnx -o NET.df  an ONNX model as a module, its weights beside it\n"
               "  dfc test [FILE|FOLDER..]         run the tests in sources\n"
               "  dfc completion SHELL, dfc manual what completes this line in a shell; the manual page\n\n"
               "FILE may be `-`, the standard input.\n",
               "dfc"};
  Options& options;
  CLI::App* run = nullptr;
  CLI::App* check = nullptr;
  CLI::App* repl = nullptr;
  CLI::App* explain = nullptr;
  CLI::App* worker = nullptr;
  CLI::App* place = nullptr;
  CLI::App* completion = nullptr;
  CLI::App* manual = nullptr;
  CLI::App* test = nullptr;
  CLI::App* bench = nullptr;
  CLI::App* import = nullptr;
  // To compile:
  CLI::Option* file = nullptr;
  CLI::Option* emit = nullptr;
  CLI::Option* dfc_op = nullptr;
  bool with_dfc_op = false;
  // To run:
  CLI::Option* engine = nullptr;
  CLI::Option* repl_engine = nullptr;
  CLI::Option* resumes = nullptr;
  CLI::Option* save_every = nullptr;
  CLI::Option* trace = nullptr;
  CLI::Option* seed = nullptr;
  CLI::Option* run_dry = nullptr;
  std::vector<CLI::Option*> cut;
  std::vector<std::string> inputs, outputs;
  std::string resume, trace_word, shell;
};

// What stands before a command, or without one.
void AddCompile(CommandLine& line) {
  line.app.footer(kFooter);
  line.app.set_help_flag("-h,--help", "print this, or with a command what it takes");
  line.app.set_version_flag("--version", VersionText(), "print the version");
  line.app.require_subcommand(0, 1);

  line.file = line.app.add_option("FILE", line.options.file, "the source to compile");
  line.app.add_option("-o,--output", line.options.output, "where the graph or the dump goes; `-` is standard output")
      ->type_name("OUT");
  line.emit = line.app.add_option("--emit", "print what a phase makes instead of writing a graph:\n"
                                        "tokens, ast, core, functions, lazy (what is delayed, and why), tagged, dot,\n"
                                        "or regions (what the tagged engine makes of the graph); or onnx: a model\n"
                                        "of standard ONNX ops, in a file beside FILE unless -o says where");
  line.emit->type_name("PHASE");
  for (const auto& [name, phase] : Emits()) WordsOfOptions()[line.emit].push_back(name);
  line.dfc_op = line.app.add_flag("--with-dfc-op", line.with_dfc_op, "with --emit=onnx: what standard ops cannot say becomes one op that the Python package dfc computes");
  line.dfc_op->needs(line.emit);
  auto* only = line.app.add_option("--only", line.options.only, "with --emit: the function of this name only");
  only->type_name("NAME")->needs(line.emit);
  line.app.add_option("--export", line.options.exports, "the graph's entries, definitions of the source: one graph for all of them, in place of `main`")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  AddLimits(line.app, line.options, /*runs=*/false);
  AddLowerOptions(line.app, line.options);
  AddModuleFolders(line.app, line.options);
  AddWarningOption(line.app, line.options);
  AddErrorFormat(line.app, line.options);
}

// The other processes of a run.
void AddClusterOptions(CLI::App& app, Options& options) {
  app.add_option("--local-workers", options.local_workers, "so many processes of this machine work on the run, this one among them: of a graph that is cut each has a part")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  app.add_option("--workers", options.workers, "the `dfc worker`s of other machines that work on the run, such as tcp://a:7000,tcp://b:7000")
      ->type_name("ADDRESSES")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--key", options.key, "the key file of the cluster, from `dfc keygen`")->type_name("FILE");
  app.add_flag_callback("--launched", [&] { options.launched = true; },
                        "this is one of the processes that srun, torchrun, mpirun or an indexed Job has started for the run");
  app.add_option("--rendezvous", options.rendezvous, "with --launched: where the first process can be reached, HOST:PORT, or a file that all of them see")
      ->type_name("PLACE");
}

void AddPlace(CommandLine& line) {
  line.place = line.app.add_subcommand("place", "show a graph cut into parts, before it runs");
  line.place->add_option("FILE", line.options.file, "a source (.df) or a compiled graph")->required();
  AddCutOptions(*line.place, line.options, "--seed");
  AddEmitCut(*line.place, line.options);
  line.place->add_option("-o,--output", line.options.output, "where it goes; default: standard output")->type_name("OUT");
  AddLimits(*line.place, line.options, /*runs=*/false);
  AddLowerOptions(*line.place, line.options);
  AddModuleFolders(*line.place, line.options);
  AddWarningOption(*line.place, line.options);
  AddErrorFormat(*line.place, line.options);
}

void AddRun(CommandLine& line) {
  line.run = line.app.add_subcommand("run", "run a program or a graph and print its value");
  line.run->add_option("FILE", line.options.file, "a source (.df) or a compiled graph")->required();
  line.run->add_option("--entry", line.options.entry, "what is run in place of `main`: an entry of the graph, or a definition of the source")
      ->type_name("NAME");
  line.run->add_option("--input", line.inputs, "the value of one of main's parameters; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  line.run->add_option("--output", line.outputs,
                  "writes a part of the result, or with @FILE all of it, and prints nothing of it; FILE is named .npy,\n"
                  ".npz, .safetensors, .packet, .txt or .json; may be repeated")
      ->type_name("PART=@FILE")
      ->allow_extra_args(false);
  line.run->add_option("--log", line.options.log, "list of records: writes each as a line of FILE, .csv or .jsonl")
      ->type_name("FILE")
      ->check([](const std::string& file) {
        std::string_view name = file;
        return name.ends_with(".csv") || name.ends_with(".jsonl") ? "" : "`" + file + "` is neither .csv nor .jsonl";
      });
  line.resumes = line.run->add_option("--resume", line.resume, "the input `state` from FILE, or from that of `--output state=@FILE`, and records\n"
                                                      "added to the log: goes on with an earlier run")
                      ->type_name("[FILE]")
                      ->expected(0, 1);
  line.save_every = AddRead(*line.run, "--save-every", line.options.save_every, ParseDuration, "`30s`, `500ms` or `10m`",
                             "list of records: how often the files of --output are written; default: 60s")
      ->type_name("TIME");
  AddRunOptions(*line.run, line.options, line.engine);
  AddClusterOptions(*line.run, line.options);
  line.trace = AddWordFlag(*line.run, "--trace", "", line.trace_word, [](const std::string& word, std::string& to) {
                              to = word;
                              return true;
                            }, "",
                            "print each firing with its tag on standard error (reference and demand engines);\n"
                            "--trace=FILE: write what the run did when, for Perfetto or chrome://tracing (every engine)");
  line.seed = AddRead(*line.run, "--seed", line.options.seed, ParseCount, "a whole number from 1 on, such as `7`",
                       "take waiting tokens in a random order (reference engine)");
  line.seed->type_name("N");
  line.run_dry = line.run->add_flag("--run-dry", line.options.run_dry,
                                "go on after the result until no token is left, and check that none waits that may\n"
                                "not (reference engine)");
  line.cut = AddCutRun(*line.run, line.options);
  AddLowerOptions(*line.run, line.options);
  AddModuleFolders(*line.run, line.options);
  AddWarningOption(*line.run, line.options);
  AddErrorFormat(*line.run, line.options);
}

void AddOtherCommands(CommandLine& line) {
  line.check = line.app.add_subcommand("check", "report errors and warnings, compile nothing");
  line.check->add_option("FILE", line.options.file, "the source to check")->required();
  AddLimits(*line.check, line.options, /*runs=*/false);
  AddModuleFolders(*line.check, line.options);
  AddWarningOption(*line.check, line.options);
  AddErrorFormat(*line.check, line.options);

  line.repl = line.app.add_subcommand("repl", "read definitions and expressions, and evaluate them");
  line.repl->add_option("FILE", line.options.file, "a source to load first");
  AddChoice(*line.repl, "--protocol", {"json"}, [&](const std::string& name) { line.options.protocol = name == "json"; },
            "json: requests and answers, one object a line, for a program that talks to the prompt (docs/repl.md)")
      ->type_name("NAME");
  AddModuleFolders(*line.repl, line.options);
  AddRunOptions(*line.repl, line.options, line.repl_engine);
  AddLowerOptions(*line.repl, line.options);

  line.explain = line.app.add_subcommand("explain", "say what a diagnostic means");
  line.explain->add_option("CODE", line.options.file, "its code, like DF0201")->required();
}

void AddWorker(CommandLine& line) {
  line.worker = line.app.add_subcommand("worker", "compute for the runs of other processes, one after the other");
  line.worker->add_option("--listen", line.options.listen, "where roots connect to, such as tcp://0.0.0.0:7000, or tcp://0.0.0.0:* for any port")
      ->type_name("ADDRESS")
      ->required();
  line.worker->add_option("--key", line.options.key, "the key file of the cluster, from `dfc keygen`")->type_name("FILE");
  AddRead(*line.worker, "--max-memory", line.options.max_memory, ParseBytes, "bytes, such as `2G`, `512M`, `64K` or `1000`",
          "bytes that it may take; at more it leaves the run, which goes on without it; default: 80% of the memory there is")
      ->type_name("SIZE");
  AddRead(*line.worker, "--threads", line.options.threads, ParseThreads, "a number from 1 to 256, such as `4`",
          "how many threads it runs on; default: one per processor")
      ->type_name("N");
  line.worker->add_flag("--owned", line.options.owned, "ends when its standard input does: of a program that has started it, however that one ends");
  line.worker->add_option("--alive", line.options.alive)->group("");  // started by a run: Cluster
}

// What is made of the tables of options themselves.
void AddPages(CommandLine& line) {
  line.completion = line.app.add_subcommand("completion", "print what completes the options of dfc in a shell: source <(dfc completion bash)");
  AddChoice(*line.completion, "SHELL", {"bash", "zsh", "fish"}, [&](const std::string& shell) { line.shell = shell; }, "bash, zsh or fish")->required();
  line.manual = line.app.add_subcommand("manual", "print the manual page, as troff: dfc manual | man -l -");
}

std::string PageOf(const CommandLine& line) {
  if (*line.completion) return CompletionScript(line.app, WordsOfOptions(), line.shell);
  return ManualPage(line.app, VersionText(), kFooter);
}

void AddImport(CommandLine& line) {
  line.import = line.app.add_subcommand("import", "write an ONNX model as a module of the language, and its weights as an array file beside it");
  line.import->add_option("FILE", line.options.file, "the model (.onnx)")->required();
  line.import->add_option("-o,--output", line.options.output, "the module; the weights are written beside it, as .safetensors")
      ->type_name("OUT.df")
      ->required()
      ->check([](const std::string& file) { return std::string_view(file).ends_with(".df") ? "" : "`" + file + "` is no name of a module: it ends in `.df`"; });
  line.import->add_option("--size", line.inputs, "how large a dimension is that the model leaves open; may be repeated")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  AddLimits(*line.import, line.options, /*runs=*/false);
  AddErrorFormat(*line.import, line.options);
}

void FinishRun(CommandLine& line) {
  line.options.command = Command::Run;
  line.options.lower.own_show = line.options.outputs.empty() && line.options.exports.empty() && line.options.entry.empty();
  line.options.lower.records = true;
  line.options.trace = *line.trace && line.trace_word.empty();
  line.options.timeline = line.trace_word;
  if (line.options.trace || *line.seed || *line.run_dry) {
    bool demand = *line.engine && line.options.engine == EngineKind::Demand && !*line.seed && !*line.run_dry;
    if (*line.engine && line.options.engine != EngineKind::Reference && !demand)
      throw CLI::ValidationError("`--seed` and `--run-dry` are for --engine=reference, `--trace` for it and demand");
    if (!demand) line.options.engine = EngineKind::Reference;
  }
  FinishCut(line.options, line.cut, line.engine->count() > 0, line.seed->count() > 0);
}

void FinishCompile(CommandLine& line) {
  line.options.lower.records = true;
  if (!*line.file) throw CLI::RequiredError("FILE");
  if (LooksLikeCommand(line.options.file) && !NearestName(line.options.file, CommandNames()).empty())
    throw CLI::ValidationError(UnknownCommandText(line.options.file));
  if (*line.emit) {
    const auto found = Emits().find(line.emit->as<std::string>());
    std::vector<std::string_view> names;
    for (const auto& [name, phase] : Emits()) names.push_back(name);
    if (std::string_view near = NearestName(line.emit->as<std::string>(), names); found == Emits().end() && !near.empty())
      throw CLI::ValidationError("--emit", fmt::format("there is no phase `{}`; did you mean `{}`?",
                                                       line.emit->as<std::string>(), near));
    if (found == Emits().end())
      throw CLI::ValidationError("--emit", "`" + line.emit->as<std::string>() +
                                               "` is not one of tokens, ast, core, functions, lazy, tagged, dot, regions, onnx");
    line.options.emit = found->second;
    if (*line.dfc_op && line.options.emit != Emit::Onnx) throw CLI::ValidationError("--with-dfc-op", "it is for --emit=onnx");
    if (line.options.emit == Emit::Onnx && !line.options.only.empty())
      throw CLI::ValidationError("--only", "a model is of `main`, or of what `--export NAME` names");
    if (line.options.emit == Emit::Onnx && line.options.file == "-" && line.options.output.empty())
      throw CLI::ValidationError("the source is standard input: say with -o where the model goes");
    if (*line.dfc_op) line.options.emit = Emit::OnnxOp;
  } else if (line.options.file == "-" && line.options.output.empty()) {
    throw CLI::ValidationError("the source is standard input: say with -o where the graph goes");
  }
}

}  // namespace

std::optional<ExitCode> ParseCommandLine(int argc, const char* const* argv, Options& options) {
  CommandLine line(options);
  CLI::App& app = line.app;
  AddCompile(line);
  AddRun(line);
  AddOtherCommands(line);
  AddWorker(line);
  AddPlace(line);
  AddPages(line);
  line.test = AddTestOptions(line.app, line.options);
  line.bench = AddBenchOptions(line.app, line.options);
  AddImport(line);

  auto* keygen = app.add_subcommand("keygen", "make the key by which the processes of a cluster know each other, in a file that only you can read");
  keygen->add_option("-o,--output", options.output, "the file, which must not be there yet; default: cluster.key")
      ->type_name("FILE")
      ->check([](const std::string& file) { return file == "-" || file.empty() ? "a key is for a file, which nobody else can read" : ""; });

  // What follows `--` is the program's, whatever it looks like.
  int own = static_cast<int>(std::find(argv, argv + argc, std::string_view("--")) - argv);
  if (own < argc) options.arguments.assign(argv + own + 1, argv + argc);

  try {
    app.parse(own, argv);
    if (own < argc && !*line.run) throw CLI::ValidationError("`--` begins the arguments of a program that runs: `dfc run FILE -- ...`");
    for (const std::string& input : line.inputs) options.inputs.push_back(SplitInput(*line.import ? "--size" : "--input", input));
    for (const std::string& output : line.outputs) options.outputs.push_back(SplitOutput(output));
    if (options.resumes = line.resumes->count() > 0; options.resumes) options.inputs.push_back({"state", "@" + StateFile(line.resume, options.outputs)});
    options.saves = line.save_every->count() > 0;
    if (*line.run) {
      FinishRun(line);
    } else if (*line.check) {
      options.command = Command::Check;
    } else if (*line.repl) {
      options.command = Command::Repl;
    } else if (*line.explain) {
      options.command = Command::Explain;
    } else if (*line.worker) {
      options.command = Command::Worker;
    } else if (*keygen) {
      options.command = Command::Keygen;
    } else if (*line.place) {
      options.command = Command::Place;
    } else if (*line.import) {
      options.command = Command::Import;
    } else if (*line.test) {
      FinishTestOptions(options);
    } else if (*line.bench) {
      FinishTestOptions(options);
      options.test.bench = true;
    } else if (*line.completion || *line.manual) {
      // Printed below.
    } else {
      FinishCompile(line);
    }
    if (!*line.completion && !*line.manual) return std::nullopt;
    errno = 0;
    if (std::cout << PageOf(line) << std::flush) return ExitCode::Fine;
    std::fprintf(stderr, "error: cannot write to standard output: %s\n", std::strerror(errno));
    return ExitCode::Failed;
  } catch (const CLI::Success& success) {  // help or version was asked for
    errno = 0;
    app.exit(success);
    if (std::cout.flush()) return ExitCode::Fine;
    std::fprintf(stderr, "error: cannot write to standard output: %s\n", std::strerror(errno));
    return ExitCode::Failed;
  } catch (const CLI::ParseError& error) {
    const std::string unused = UnusedWordsText(app, std::vector<std::string>(argv + 1, argv + own));
    const bool command = !unused.empty() && app.get_subcommands().empty() && LooksLikeCommand(options.file);
    std::fprintf(stderr, "dfc: %s\ntry `dfc --help`\n",
                 command ? UnknownCommandText(options.file).c_str() : unused.empty() ? error.what() : unused.c_str());
    return ExitCode::Usage;
  }
  return std::nullopt;
}

}  // namespace df
