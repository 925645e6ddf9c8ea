// `dfc bench`: how long the `-- BENCH:` expressions of sources take, on engines, under switches, in versions of a file.
#include "driver/test/bench.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/ranges.h>

#include "driver/compile_budget.h"
#include "driver/evaluate.h"
#include "driver/system/signals.h"
#include "driver/test/compile_tests.h"
#include "driver/test/run_tests.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "runtime/engines/engines.h"

namespace df {
namespace {

// Instructions of this process in user space, of threads begun later too. Where the system has no such counter there are none.
class InstructionCounter {
 public:
  InstructionCounter() {
    perf_event_attr event{};
    event.type = PERF_TYPE_HARDWARE;
    event.size = sizeof event;
    event.config = PERF_COUNT_HW_INSTRUCTIONS;
    event.exclude_kernel = 1;
    event.exclude_hv = 1;
    event.inherit = 1;
    file_ = static_cast<int>(::syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
  }
  ~InstructionCounter() {
    if (file_ >= 0) ::close(file_);
  }
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  std::optional<uint64_t> Now() const {
    uint64_t count = 0;
    if (file_ < 0 || ::read(file_, &count, sizeof count) != sizeof count) return std::nullopt;
    return count;
  }

 private:
  int file_ = -1;
};

// One way to run an expression.
struct Variant {
  std::string file, switches, engine;
  uint32_t line = 0;
  std::string fault;
  std::vector<double> seconds;        // of each run
  std::vector<uint64_t> instructions; // likewise, or none
  std::function<std::string()> run;   // "", or why it failed
};

struct Bench {
  std::string name;
  std::vector<Variant> variants;
};

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const size_t low = static_cast<size_t>(at);
  if (low + 1 == values.size()) return values[low];
  return values[low] + (at - static_cast<double>(low)) * (values[low + 1] - values[low]);
}
double Median(const std::vector<double>& values) { return Quantile(values, 0.5); }
// Half of what the middle half of the runs spans, as a part of the median.
double Spread(const std::vector<double>& values) {
  const double median = Median(values);
  return median > 0 ? (Quantile(values, 0.75) - Quantile(values, 0.25)) / 2 / median : 0;
}
std::optional<uint64_t> Instructions(const Variant& variant) {
  if (variant.instructions.empty()) return std::nullopt;
  std::vector<uint64_t> all = variant.instructions;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

std::string TimeText(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

class BenchRunner {
 public:
  BenchRunner(const Options& options, std::vector<std::string> paths) : options_(options), paths_(std::move(paths)) {}

  // The files' expressions. False: one cannot be compiled, which `faults` says.
  void Compile();
  void Measure();
  void ReportText(llvm::raw_ostream& out) const;
  void ReportJson(llvm::raw_ostream& out) const;
  bool Fine() const;
  size_t size() const { return benches_.size(); }

  std::vector<std::string> faults;

 private:
  void CompileFile(const std::string& path);
  void AddVariants(std::shared_ptr<test::TestFile> file, const std::string& path, const std::string& switches);
  Bench& BenchNamed(const std::string& name);
  std::string NameOf(const Variant& variant) const;

  const Options& options_;
  std::vector<std::string> paths_;
  std::vector<Bench> benches_;
  InstructionCounter counter_;
};

Bench& BenchRunner::BenchNamed(const std::string& name) {
  for (Bench& bench : benches_)
    if (bench.name == name) return bench;
  benches_.push_back({name, {}});
  return benches_.back();
}

void BenchRunner::Compile() {
  for (const std::string& path : paths_) CompileFile(path);
}

void BenchRunner::CompileFile(const std::string& path) {
  auto file = std::make_shared<test::TestFile>(options_);
  if (!file->Load(path)) {
    faults.push_back(fmt::format("{}\n{}", path, file->fault));
    return;
  }
  for (test::Test& test : file->tests)
    if (test.fault.empty() && !test::Fits(options_, path, test)) test.fault = "not chosen";
  const std::vector<bool> chosen = [&] {
    std::vector<bool> all;
    for (const test::Test& test : file->tests) all.push_back(test.fault != "not chosen");
    return all;
  }();
  file->Check();
  for (size_t i = 0; i < file->tests.size(); ++i) {
    const test::Test& test = file->tests[i];
    if (chosen[i] && !test.fault.empty()) faults.push_back(fmt::format("{}:{}: {}\n{}", path, test.line, test.name, test.fault));
  }
  AddVariants(file, path, "");
  for (const std::string& switches : options_.test.also) AddVariants(file, path, switches);
}

// A graph for each expression: none shares its code with another one.
void BenchRunner::AddVariants(std::shared_ptr<test::TestFile> file, const std::string& path, const std::string& switches) {
  Options options = options_;
  test::ApplySwitches(switches, options);
  for (size_t i = 0; i < file->tests.size(); ++i) {
    const test::Test& test = file->tests[i];
    if (!test.fault.empty()) continue;
    std::string why;
    std::optional<test::TestGraph> compiled = file->CompileOne(i, options.lower, why);
    for (EngineKind engine : options.test.engines) {
      Variant variant;
      variant.file = path;
      variant.switches = switches;
      variant.engine = std::string(EngineName(engine));
      variant.line = test.line;
      if (!compiled) {
        variant.fault = why;
      } else {
        auto graph = std::make_shared<const ir::Graph>(compiled->graph);
        RunOptions run;
        run.threads = options.threads ? options.threads : 1;
        run.batch = options.batch;
        Switch(options, run);
        std::shared_ptr<const EngineCode> code = MakeCode(engine, *graph, run);
        variant.run = [this, graph, run, code, engine, test] {
          test::Outcome outcome = test::RunOne(options_, test, *graph, 0, engine, run, code);
          return outcome.ended ? std::string() : outcome.error;
        };
      }
      BenchNamed(test.name).variants.push_back(std::move(variant));
    }
  }
}

// Each way once, then each once more, until there is enough of all: what the machine does meanwhile is shared by all of them.
void BenchRunner::Measure() {
  constexpr size_t kLeast = 5, kMost = 1000;
  for (Bench& bench : benches_) {
    const std::chrono::duration<double> wanted = options_.test.bench_time;
    for (size_t round = 0; round <= kMost; ++round) {
      bool more = false;
      for (Variant& variant : bench.variants) {
        double spent = 0;
        for (double seconds : variant.seconds) spent += seconds;
        if (!variant.fault.empty() || (variant.seconds.size() >= kLeast && spent >= wanted.count())) continue;
        more = true;
        const std::optional<uint64_t> before = counter_.Now();
        const auto began = std::chrono::steady_clock::now();
        variant.fault = variant.run();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
        const std::optional<uint64_t> after = counter_.Now();
        if (round == 0) continue;  // to be warm
        variant.seconds.push_back(taken.count());
        if (before && after) variant.instructions.push_back(*after - *before);
      }
      if (!more) break;
    }
  }
}

std::string BenchRunner::NameOf(const Variant& variant) const {
  std::vector<std::string> parts;
  if (paths_.size() > 1) parts.push_back(variant.file);
  parts.push_back(variant.engine);
  if (!variant.switches.empty()) parts.push_back(variant.switches);
  return fmt::format("{}", fmt::join(parts, " "));
}

void BenchRunner::ReportText(llvm::raw_ostream& out) const {
  for (const Bench& bench : benches_) {
    out << fmt::format("{}:{}: {}\n", bench.variants[0].file, bench.variants[0].line, bench.name);
    size_t width = 0;
    for (const Variant& variant : bench.variants) width = std::max(width, NameOf(variant).size());
    const Variant& first = bench.variants[0];
    for (const Variant& variant : bench.variants) {
      out << fmt::format("  {:<{}}", NameOf(variant), width);
      if (!variant.fault.empty()) {
        out << fmt::format("  failed: {}\n", llvm::StringRef(variant.fault).split('\n').first.str());
        continue;
      }
      out << fmt::format("  {:>11}  +-{:>3.0f}%  {:>4} runs", TimeText(Median(variant.seconds)), 100 * Spread(variant.seconds), variant.seconds.size());
      if (std::optional<uint64_t> count = Instructions(variant)) out << fmt::format("  {:>13} instructions", *count);
      if (&variant != &first && first.fault.empty()) out << fmt::format("  x{:.2f}", Median(variant.seconds) / Median(first.seconds));
      out << '\n';
    }
  }
}

void BenchRunner::ReportJson(llvm::raw_ostream& out) const {
  llvm::json::Array all;
  for (const Bench& bench : benches_) {
    llvm::json::Array rows;
    for (const Variant& variant : bench.variants) {
      llvm::json::Object row{{"file", llvm::json::fixUTF8(variant.file)}, {"line", variant.line}, {"engine", variant.engine}, {"switches", variant.switches}};
      if (!variant.fault.empty()) {
        row["fault"] = llvm::json::fixUTF8(variant.fault);
      } else {
        row["runs"] = static_cast<int64_t>(variant.seconds.size());
        row["median"] = Median(variant.seconds);
        row["least"] = *std::min_element(variant.seconds.begin(), variant.seconds.end());
        row["spread"] = Spread(variant.seconds);
        if (std::optional<uint64_t> count = Instructions(variant)) row["instructions"] = static_cast<int64_t>(*count);
        if (bench.variants[0].fault.empty()) row["ratio"] = Median(variant.seconds) / Median(bench.variants[0].seconds);
      }
      rows.push_back(std::move(row));
    }
    all.push_back(llvm::json::Object{{"name", llvm::json::fixUTF8(bench.name)}, {"ways", std::move(rows)}});
  }
  out << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object{{"benches", std::move(all)}})) << '\n';
}

bool BenchRunner::Fine() const {
  return faults.empty() && llvm::all_of(benches_, [](const Bench& bench) {
    return llvm::all_of(bench.variants, [](const Variant& variant) { return variant.fault.empty(); });
  });
}

}  // namespace

ExitCode test::BenchCommand(const Options& options, Console& console) {
  std::vector<std::string> files;
  if (!FilesOf(options, files, console)) return ExitCode::Usage;
  BenchRunner runner(options, std::move(files));
  {
    CompileBudget budget(CompileLimits{options.timeout, 0, nullptr}, [](const std::string& text) { EndNow(text, false, ExitCode::Limit); });
    runner.Compile();
  }
  for (const std::string& fault : runner.faults) console.Error(fault);
  if (runner.size() == 0) {
    if (runner.faults.empty())
      console.Error(options.test.filter.empty() ? "there is no line `-- BENCH: expression`" : "the filter leaves no `-- BENCH:` line");
    return ExitCode::Failed;
  }
  runner.Measure();
  if (options.test.format == TestFormat::Json) runner.ReportJson(console.out());
  else runner.ReportText(console.out());
  return runner.Fine() ? ExitCode::Fine : ExitCode::Failed;
}

}  // namespace df
