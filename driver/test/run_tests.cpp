// Tests of a file, on every engine and switch that is named.
#include "driver/test/run_tests.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "driver/compile_budget.h"
#include "driver/evaluate.h"
#include "driver/system/files.h"
#include "driver/system/signals.h"
#include "driver/test/bench.h"
#include "driver/test/compile_tests.h"
#include "driver/test/ghc.h"
#include "driver/test/suites.h"
#include "llvm/ADT/StringSet.h"
#include "runtime/base/memory.h"
#include "runtime/base/object_census.h"
#include "runtime/engines/engines.h"
#include "runtime/run/limits.h"
#include "runtime/run/perform.h"
#include "runtime/text/describe.h"
#include "runtime/text/show.h"
#include "tagged_ir/action.h"
#include "tagged_ir/file.h"

namespace df::test {
namespace {

constexpr std::string_view kNotChosen = "not chosen";
constexpr size_t kMostPrinted = size_t{16} << 20;

// The outside of a test: what it prints is kept, its input is a text.
class Capture : public Host {
 public:
  explicit Capture(std::string input) : input_(std::move(input)) {}
  Input Read(std::string& bytes) override {
    if (input_.empty()) return Input::End;
    bytes += std::exchange(input_, {});
    return Input::Some;
  }
  bool Write(std::string_view bytes) override {
    printed.append(bytes.substr(0, kMostPrinted - std::min(kMostPrinted, printed.size())));
    return printed.size() < kMostPrinted;
  }
  bool WriteError(std::string_view bytes) override { return Write(bytes); }
  std::string printed;

 private:
  std::string input_;
};

std::string_view Clean(std::string_view line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// The call path without what chooses the test.
std::string PathText(const RuntimeError& error, const ir::Graph& graph) {
  std::string text;
  const std::string all = DescribePath(error, graph);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(all).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    if (!line.contains(fmt::format("`{}`", kChooser))) text += fmt::format("{}\n", Clean({line.data(), line.size()}));
  return text;
}

// A value that is no action, of a whole program, as `dfc run` prints it.
df::Outcome PrintValue(Execution& execution, const ir::Graph& graph, std::string& printed) {
  llvm::raw_string_ostream out(printed);
  df::Outcome outcome = Show(execution, graph, graph.graph_results[0].type, execution.TakeResult(0), out);
  if (outcome.ok() || out.tell() != 0) out << '\n';
  out.flush();
  return outcome;
}

class FileRunner {
 public:
  FileRunner(const Options& options, const std::string& path, uint64_t first, const Tell& tell)
      : options_(options), path_(path), first_(first), tell_(tell), file_(options) {}

  void Run();

 private:
  bool Chosen(const Test& test) const;
  bool ReadWhole(Test& test);
  void TellTests();
  std::unique_ptr<CompileBudget> Budget() const;
  void RunMode(const std::string& switches);
  void RunGraph(const TestGraph& graph, const Options& options, const std::string& switches);
  void Report(size_t index, const std::string& switches, std::string_view engine, Outcome& outcome, double seconds);
  void ReportFault(size_t index, const std::string& switches, const std::string& why);
  void AskGhc();
  GhcAnswer GhcOn(Ghc& ghc, size_t index) const;

  const Options& options_;
  const std::string path_;
  const uint64_t first_;
  const Tell& tell_;
  TestFile file_;
  std::vector<bool> chosen_;
  std::string input_;            // of the whole program
  uint64_t next_ = 0;            // the number of the run that comes next
  llvm::StringSet<> seen_;       // graphs that were run
};

// Of a suite the examples are chosen, when they are known.
bool FileRunner::Chosen(const Test& test) const { return test.kind == Kind::Suite || Fits(options_, path_, test); }

// The stored output of the program, and its input.
bool FileRunner::ReadWhole(Test& test) {
  auto read = [&](const char* ending, std::string& text) {
    std::filesystem::path path(path_);
    std::ifstream file(path.replace_extension(ending), std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    return !file.bad();
  };
  read(".in", input_);
  return read(".out", test.output);
}

void FileRunner::TellTests() {
  llvm::json::Array tests;
  for (size_t i = 0; i < file_.tests.size(); ++i) {
    const Test& test = file_.tests[i];
    llvm::json::Array expected;
    for (const std::string& line : ExpectedLines(test)) expected.push_back(llvm::json::fixUTF8(line));
    tests.push_back(llvm::json::Object{{"line", test.line}, {"kind", static_cast<int>(test.kind)}, {"name", llvm::json::fixUTF8(test.name)},
                                       {"expected", std::move(expected)}, {"fault", llvm::json::fixUTF8(test.fault)}, {"chosen", chosen_[i] && !test.defines}});
  }
  tell_(llvm::json::Object{{"tests", std::move(tests)}});
}

// What compiles has as much time as a run, and tells when it has begun.
std::unique_ptr<CompileBudget> FileRunner::Budget() const {
  tell_(llvm::json::Object{{"begin", -1}});
  return std::make_unique<CompileBudget>(CompileLimits{options_.timeout, 0, nullptr},
                                         [](const std::string& text) { EndNow(text, false, ExitCode::Limit); });
}

void FileRunner::Run() {
  if (options_.test.coverage) {
    BeginCoverage();
    file_.on_syntax = MarkPlaces;
  }
  std::unique_ptr<CompileBudget> budget = Budget();
  bool loaded = file_.Load(path_);
  if (!loaded && options_.test.coverage) {  // what is wrong is told of the program as it stands
    file_ = TestFile(options_);
    loaded = file_.Load(path_);
  }
  llvm::json::Array sources;
  for (const std::string& source : file_.Sources()) sources.push_back(llvm::json::fixUTF8(source));
  tell_(llvm::json::Object{{"sources", std::move(sources)}});
  if (!loaded) return tell_(llvm::json::Object{{"fault", llvm::json::fixUTF8(file_.fault)}});
  for (Test& test : file_.tests) chosen_.push_back(Chosen(test));
  for (size_t i = 0; i < chosen_.size(); ++i)
    if (file_.tests[i].kind == Kind::Whole && !ReadWhole(file_.tests[i])) file_.tests[i].fault = "its stored output cannot be read";
  // An example that defines something is needed by others.
  for (size_t i = 0; i < chosen_.size(); ++i)
    if (!chosen_[i] && file_.tests[i].kind != Kind::Example && file_.tests[i].fault.empty()) file_.tests[i].fault = kNotChosen;
  if (std::find(chosen_.begin(), chosen_.end(), true) != chosen_.end()) file_.Check();
  if (file_.ended != BudgetEnd::None) {
    for (const Test& test : file_.tests)
      if (!test.fault.empty()) file_.fault = test.fault;
    return tell_(llvm::json::Object{{"fault", llvm::json::fixUTF8(file_.fault)}});
  }
  budget.reset();
  TellTests();
  for (size_t i = 0; i < chosen_.size(); ++i)
    if (!chosen_[i]) file_.tests[i].fault = kNotChosen;
  RunMode("");
  for (const std::string& switches : options_.test.also) RunMode(switches);
  if (options_.test.ghc) AskGhc();
  tell_(llvm::json::Object{{"end", true}});
}

void FileRunner::RunMode(const std::string& switches) {
  Options options = options_;
  ApplySwitches(switches, options);
  std::vector<std::string> faults;
  std::unique_ptr<CompileBudget> budget = Budget();
  std::vector<TestGraph> graphs = file_.Compile(options.lower, faults);
  for (size_t i = 0; i < faults.size(); ++i)
    if (!faults[i].empty()) ReportFault(i, switches, faults[i]);
  for (size_t i = 0; i < file_.tests.size(); ++i) {
    if (file_.tests[i].kind != Kind::Whole || !file_.tests[i].fault.empty()) continue;
    std::string why;
    std::optional<ir::Graph> graph = file_.CompileWhole(options.lower, why);
    if (graph) graphs.push_back({{i}, std::move(*graph)});
    else ReportFault(i, switches, why);
  }
  budget.reset();
  for (TestGraph& graph : graphs) {
    if (!options_.test.also.empty()) {
      // What makes the same graph is not run again; the engine's own switches count, too. And a graph is what its file says.
      std::string bytes = ir::Serialize(graph.graph), error;
      if (options.without.empty() && !seen_.insert(bytes).second) continue;
      std::optional<ir::Graph> read = ir::Deserialize(bytes, &error);
      if (!read) throw InternalError("a graph cannot be read back: " + error);
      graph.graph = std::move(*read);
    }
    RunGraph(graph, options, switches);
    if (options_.test.coverage) tell_(llvm::json::Object{{"coverage", TellCoverage()}});
  }
}

void FileRunner::RunGraph(const TestGraph& graph, const Options& options, const std::string& switches) {
  for (EngineKind engine : options.test.engines) {
    RunOptions run;
    run.threads = options.threads ? options.threads : 1;
    run.batch = options.batch;
    Switch(options, run);
    std::shared_ptr<const EngineCode> code;
    for (size_t i = 0; i < graph.tests.size(); ++i) {
      const size_t index = graph.tests[i];
      const Test& test = file_.tests[index];
      if (!chosen_[index] || (test.only && *test.only != engine)) continue;
      if (next_++ < first_) continue;
      if (!code) code = MakeCode(engine, graph.graph, run);
      tell_(llvm::json::Object{{"begin", static_cast<int64_t>(index)}, {"number", static_cast<int64_t>(next_ - 1)}, {"switches", switches},
                               {"engine", std::string(EngineName(engine))}});
      const auto began = std::chrono::steady_clock::now();
      Outcome outcome = RunOne(options_, test, graph.graph, i, engine, run, code, input_);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
      Report(index, switches, EngineName(engine), outcome, taken.count());
    }
  }
}

void FileRunner::Report(size_t index, const std::string& switches, std::string_view engine, Outcome& outcome, double seconds) {
  const Test& test = file_.tests[index];
  std::vector<SuitePart> parts;
  if (test.kind == Kind::Suite) parts = TakeParts(outcome.printed);
  // A program whose examples have failed may well say so by its exit code.
  if (outcome.ended && std::any_of(parts.begin(), parts.end(), [](const SuitePart& part) { return part.outcome == SuitePart::Failed; })) outcome.exit = 0;
  const bool passed = Passes(test, outcome);
  llvm::json::Object told{{"run", static_cast<int64_t>(index)}, {"switches", switches}, {"engine", std::string(engine)}, {"passed", passed},
                          {"seconds", seconds}};
  if (!passed || test.kind == Kind::Whole || JudgesItself(test.kind)) {
    llvm::json::Array printed;
    for (const std::string& line : PrintedLines(test, outcome)) printed.push_back(llvm::json::fixUTF8(line));
    told["printed"] = std::move(printed);
    told["path"] = llvm::json::fixUTF8(outcome.path);
    if (test.kind == Kind::Whole && outcome.ended && outcome.exit == 0 && llvm::json::isUTF8(outcome.printed)) told["output"] = outcome.printed;
  }
  if (!parts.empty()) {
    llvm::json::Array rows;
    for (const SuitePart& part : parts)
      rows.push_back(llvm::json::Object{{"outcome", static_cast<int>(part.outcome)}, {"place", llvm::json::fixUTF8(part.place)},
                                        {"name", llvm::json::fixUTF8(part.name)}, {"text", llvm::json::fixUTF8(part.text)}});
    told["parts"] = std::move(rows);
  }
  tell_(std::move(told));
}

void FileRunner::ReportFault(size_t index, const std::string& switches, const std::string& why) {
  llvm::json::Array printed;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(why).split(lines, '\n');
  for (llvm::StringRef line : lines) printed.push_back(llvm::json::fixUTF8(line));
  tell_(llvm::json::Object{{"run", static_cast<int64_t>(index)}, {"switches", switches}, {"engine", ""}, {"passed", false}, {"seconds", 0.0},
                           {"printed", std::move(printed)}, {"path", ""}});
}

// The test at GHC's prompt.
GhcAnswer FileRunner::GhcOn(Ghc& ghc, size_t index) const {
  const Test& test = file_.tests[index];
  if (test.kind == Kind::Whole) {
    const std::string input = std::filesystem::path(path_).replace_extension(".in").string();
    std::error_code error;
    return ghc.RunMain(std::filesystem::is_regular_file(input, error) ? input : "");
  }
  std::string text = !test.definition.empty() ? test.definition + "\n" : test.text;
  if (test.kind == Kind::Property) {
    text = fmt::format("Test.QuickCheck.quickCheckWith Test.QuickCheck.stdArgs {{ Test.QuickCheck.replay = Prelude.Just "
                       "(Test.QuickCheck.Random.mkQCGen {}, 0) }} (\n{}  )", options_.test.seed, text);
  } else if (test.kind == Kind::Case && file_.IsAction(index)) {  // of which only the value of an example is printed
    text = fmt::format("(Prelude.>>) (\n{}  ) (Prelude.return ())", text);
  }
  GhcAnswer answer = ghc.Say(text);
  if (test.kind == Kind::Property && answer.outcome.ended && !answer.outcome.printed.starts_with("+++ OK")) answer.outcome.exit = 1;
  return answer;
}

// GHC's answers are runs beside those of the engines. What it refuses is told as that.
void FileRunner::AskGhc() {
  auto asked = [&](const Test& test) { return !test.only && test.kind != Kind::Suite && test.kind != Kind::Gradient; };
  bool any = false;
  for (size_t i = 0; i < chosen_.size(); ++i) any |= chosen_[i] && file_.tests[i].fault.empty() && asked(file_.tests[i]);
  if (!any) return;
  const uint64_t number = next_++;
  if (number < first_) return;  // a process before this one has ended there
  tell_(llvm::json::Object{{"begin", -1}});
  Ghc ghc(options_, path_, file_.source(), file_.ExtensionNames());
  if (const std::string why = ghc.Load(); !why.empty()) return tell_(llvm::json::Object{{"refused", -1}, {"why", llvm::json::fixUTF8(why)}});
  for (size_t i = 0; i < chosen_.size(); ++i) {
    const Test& test = file_.tests[i];
    if (!test.fault.empty() && !(test.fault == kNotChosen && test.defines)) continue;
    if (!asked(test) || !(chosen_[i] || test.defines)) continue;
    tell_(llvm::json::Object{{"begin", -1}});
    const auto began = std::chrono::steady_clock::now();
    GhcAnswer answer = GhcOn(ghc, i);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    if (!answer.refused.empty())
      tell_(llvm::json::Object{{"refused", static_cast<int64_t>(i)}, {"why", llvm::json::fixUTF8(answer.refused)}});
    else if (!test.defines)
      Report(i, "", kGhcEngine, answer.outcome, taken.count());
  }
}

}  // namespace

Outcome RunOne(const Options& options, const Test& test, const ir::Graph& graph, size_t number, EngineKind engine, const RunOptions& given,
               const std::shared_ptr<const EngineCode>& code, const std::string& input) {
  PassScope pass("run a test");
  Outcome result;
  const bool whole = test.kind == Kind::Whole;
  const std::vector<std::string> arguments = test.kind == Kind::Suite ? SuiteArguments(options) : std::vector<std::string>();
  const alive::Counts before = alive::Now();
  Capture host(whole ? input : "");
  RunOptions run = given;
  run.limits.max_memory = options.max_memory;
  run.limits.max_frames = options.max_frames;
  run.limits.timeout = options.timeout;
  df::Outcome outcome;
  int64_t exit = 0;
  {
    Performance performance(graph, host);
    std::unique_ptr<Execution> execution;
    RunTimer timer(run.limits);
    try {
      execution = code ? MakeExecution(engine, graph, run, code) : MakeExecution(engine, graph, run);
      std::vector<Value> inputs;
      for (const ir::Port& port : graph.graph_inputs)
        inputs.push_back(ir::IsHostInput(port.name) ? performance.HostInput(port.type, port.name, graph.name, arguments)
                                                    : Value::Word(static_cast<int64_t>(number)));
      outcome = execution->Start(std::move(inputs));
      if (outcome.ok()) outcome = graph.action ? performance.Run(*execution) : PrintValue(*execution, graph, host.printed);
      execution->Finish();
    } catch (const std::bad_alloc&) {
      outcome.stop = Stop::MemoryLimit;
      outcome.detail = fmt::format("the memory limit of {} is reached", PrintBytes(run.limits.max_memory));
    }
    exit = whole && !graph.action ? 0 : performance.exit_code();
  }
  result.printed = std::move(host.printed);
  result.ended = outcome.ok();
  result.exit = exit;
  if (outcome.ok()) {
    if (std::string left = alive::Left(before, alive::Now()); !left.empty()) {
      result.fatal = true;
      result.error = "internal error: the run is over and has left behind: " + left;
    }
    return result;
  }
  result.fatal = outcome.stop != Stop::Failed;
  result.error = !outcome.error.message.empty() ? outcome.error.message : outcome.detail;
  if (outcome.stop == Stop::Internal) result.error = "internal error: " + outcome.detail;
  if (result.error.empty()) result.error = fmt::format("it has printed more than {}", PrintBytes(kMostPrinted));
  result.path = PathText(outcome.error, graph);
  return result;
}

bool TestResult::passed() const {
  return fault.empty() && !runs.empty() && std::all_of(runs.begin(), runs.end(), [](const TestRun& run) { return run.passed; });
}

bool TestResult::pending() const {
  return passed() && std::any_of(runs.begin(), runs.end(), [](const TestRun& run) { return run.pending; });
}

bool TestResult::differs() const {
  std::set<std::pair<bool, std::vector<std::string>>> all;
  for (const TestRun& run : runs)
    if (!run.engine.empty()) all.insert({run.passed, run.passed ? std::vector<std::string>() : run.printed});
  return all.size() > 1;
}

bool ApplySwitches(const std::string& switches, Options& options) {
  for (llvm::StringRef rest = switches; !rest.empty();) {
    auto [word, behind] = rest.split(' ');
    rest = behind;
    if (word.empty()) continue;
    if (word == "-O0" || word == "--no-optimize") {
      options.lower.optimize = false;
    } else if (word == "--no-loops") {
      options.lower.loops = false;
    } else if (word.consume_front("--gradient=")) {
      if (!ParseGradient({word.data(), word.size()}, options.lower.gradient)) return false;
    } else if (word.consume_front("--without=")) {
      llvm::SmallVector<llvm::StringRef> names;
      word.split(names, ',', -1, /*KeepEmpty=*/false);
      for (llvm::StringRef name : names) {
        bool known = false;
        for (const OptimisationInfo& row : Optimisations())
          if (name == row.name) options.lower.SwitchOff(row.id), known = true;
        for (const SwitchInfo& row : Switches()) known |= name == row.name;
        if (!known) return false;
        options.without.push_back(name.str());
      }
    } else {
      return false;
    }
  }
  return true;
}

bool Fits(const Options& options, const std::string& path, const Test& test) {
  if (options.test.filter.empty()) return true;
  return std::regex_search(fmt::format("{}:{}: {}", path, test.line, test.name), std::regex(options.test.filter));
}

void RunFile(const Options& options, const std::string& path, uint64_t first, const Tell& tell) {
  FileRunner(options, path, first, tell).Run();
}

}  // namespace df::test
