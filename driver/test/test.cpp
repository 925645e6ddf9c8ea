// `dfc test`: which files, and what is done with the results.
#include <algorithm>
#include <filesystem>
#include <set>

#include "driver/commands.h"
#include "driver/evaluate.h"
#include "driver/system/files.h"
#include "driver/test/bench.h"
#include "driver/test/children.h"
#include "driver/test/ghc.h"
#include "driver/test/report.h"
#include "driver/test/shrink.h"
#include "driver/test/watch.h"
#include "llvm/ADT/STLExtras.h"

namespace df {
namespace {

bool IsSource(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return llvm::any_of(kSourceEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// The sources below a folder, in order of their names. Hidden folders are left out.
void AddFolder(const std::filesystem::path& folder, std::vector<std::string>& files) {
  std::vector<std::filesystem::path> inside;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (!it->path().filename().string().starts_with('.')) inside.push_back(it->path());
  std::sort(inside.begin(), inside.end());
  for (const std::filesystem::path& path : inside) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) AddFolder(path, files);
    else if (IsSource(path)) files.push_back(path.string());
  }
}

// A file in a folder is one of tests if it says so: whether it has any, but for definitions, is known from its text.
bool MayHaveTests(const std::string& path) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::optional<std::string> text = ReadFile(path, kMaxSourceBytes, diags);
  if (!text) return true;  // to be reported
  if (!test::TestsIn(*text).empty() || text->find("Test.") != std::string::npos) return true;
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::path(path).replace_extension(".out"), error);
}

// Every engine, and beside the usual way to compile each with one thing less.
void AddAllWays(Options& options) {
  if (options.test.engines.size() == 1)
    options.test.engines = {EngineKind::Tagged, EngineKind::Reference, EngineKind::Demand, EngineKind::Expanding};
  std::vector<std::string>& also = options.test.also;
  also.insert(also.end(), {"-O0", "--no-loops"});
  for (const OptimisationInfo& row : Optimisations()) also.push_back(fmt::format("--without={}", row.name));
  for (const SwitchInfo& row : Switches()) also.push_back(fmt::format("--without={}", row.name));
}

// As text behind the report, or where that is for a program on standard error; and as a page.
bool TellCoverage(const std::vector<test::FileResult>& results, const Options& options, Console& console) {
  const std::vector<test::CoveredPlace> places = test::AllPlaces(results);
  test::ReportCoverage(places, options.test.format == TestFormat::Text ? static_cast<llvm::raw_ostream&>(console.out()) : console.err());
  std::string fault;
  const std::string& page = options.test.coverage_html;
  if (page.empty() || test::WriteCoverageHtml(places, page, fault)) return true;
  console.err() << fault;
  return false;
}

// What the program printed becomes its stored output.
bool UpdateOutputs(const std::vector<test::FileResult>& files, Console& console) {
  bool fine = true;
  for (const test::FileResult& file : files)
    for (const test::TestResult& row : file.tests) {
      if (row.kind != test::Kind::Whole || !row.chosen || row.passed() || row.runs.empty()) continue;
      const std::optional<std::string>& printed = row.runs[0].output;
      if (!printed || !llvm::all_of(row.runs, [&](const test::TestRun& run) { return run.output == printed; })) continue;
      SourceManager sources;
      Diagnostics diags(sources);
      const std::string path = std::filesystem::path(file.path).replace_extension(".out").string();
      fine &= WriteFile(path, *printed, diags);
      console.Show(diags);
      console.err() << fmt::format("note: `{}` is written anew\n", path);
    }
  return fine;
}

}  // namespace

namespace test {

bool FilesOf(const Options& options, std::vector<std::string>& files, Console& console) {
  for (const std::string& path : options.test.paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      console.Error(fmt::format("there is no file or folder `{}`", path));
      return false;
    }
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    AddFolder(path, inside);
    llvm::erase_if(inside, [](const std::string& file) { return !MayHaveTests(file); });
    files.insert(files.end(), inside.begin(), inside.end());
  }
  std::set<std::string> seen;
  llvm::erase_if(files, [&](const std::string& file) { return !seen.insert(file).second; });
  return true;
}

}  // namespace test

ExitCode TestCommand(const Options& given, Console& console) {
  Options options = given;
  if (options.timeout.count() == 0) options.timeout = std::chrono::seconds(60);
  if (options.max_memory == 0) options.max_memory = uint64_t{2} << 30;
  std::vector<std::string> files;
  if (options.test.differential) {
    AddAllWays(options);
    options.test.ghc = test::HasGhc();
  }
  if (options.test.bench) return test::BenchCommand(options, console);
  if (!test::FilesOf(options, files, console)) return ExitCode::Usage;
  if (options.test.watch) {
    return test::Watch(options, [&] {
      // A file that somebody is just writing anew is not there for a moment.
      std::error_code error;
      std::vector<std::string> found;
      const bool there = llvm::all_of(options.test.paths, [&](const std::string& path) { return std::filesystem::exists(path, error); });
      return there && test::FilesOf(options, found, console) ? found : files;
    }, console);
  }
  console.out().flush();
  std::vector<test::FileResult> results = test::RunFiles(options, files, [](const test::FileResult&) {});
  if (options.test.differential) test::ShrinkDifferences(options, results);
  test::Report(results, options, console.out());
  if (options.test.coverage && !TellCoverage(results, options, console)) return ExitCode::Failed;
  if (options.test.update) return UpdateOutputs(results, console) ? ExitCode::Fine : ExitCode::Failed;
  if (const test::Summary sum = test::Sum(results); sum.tests == 0 && sum.broken == 0) {
    console.Error(options.test.filter.empty() ? "there are no tests" : "the filter leaves no test");
    return ExitCode::Failed;
  }
  return test::Sum(results).fine() ? ExitCode::Fine : ExitCode::Failed;
}

}  // namespace df
