// The smallest program that differs.
#include "driver/test/shrink.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "driver/system/files.h"
#include "driver/system/temporary_folder.h"
#include "driver/test/find_tests.h"
#include "driver/test/shrink_edits.h"
#include "llvm/ADT/STLExtras.h"
#include "parser/literate.h"

namespace df::test {
namespace {

using Clock = std::chrono::steady_clock;

// So many tests of a report are made smaller: a fault of an engine shows in many alike.
constexpr size_t kMostShrunk = 3;
// So many expressions are tried at once, in one file; so many programs, in a file each.
constexpr size_t kExpressionsAtOnce = 24, kProgramsAtOnce = 6;

// What two ways gave for a test.
struct Difference {
  const TestRun* one = nullptr;  // by which the other is judged
  const TestRun* other = nullptr;
};

bool Same(const TestRun& a, const TestRun& b) { return a.passed == b.passed && (a.passed || a.printed == b.printed); }

Difference DifferenceOf(const TestResult& test) {
  Difference found;
  for (const TestRun& run : test.runs) {
    if (run.engine.empty()) continue;
    if (!found.one) found.one = &run;
    else if (!found.other && !Same(*found.one, run)) found.other = &run;
  }
  if (found.other && found.other->engine == kGhcEngine) std::swap(found.one, found.other);
  return found;
}

// How a run ended: a smaller program is to differ in the same way.
std::string_view EndOf(const TestRun& run) {
  if (run.passed) return "passed";
  if (run.printed.empty()) return "value";
  for (std::string_view begin : {"error: internal error", "error: it did not end", "error: its process", "error: ", "*** Exception: ", "+++ OK", "*** Failed"})
    for (const std::string& line : run.printed)
      if (line.starts_with(begin)) return begin;
  return "value";
}

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n' && c != '\r') line += c;
    else if (!line.ends_with(' ')) line += ' ';
  }
  return std::string(llvm::StringRef(line).trim());
}

// A line that is a comment by itself. (Within a string it would be one as well; whether what is left still differs is seen when it is tried.)
bool IsComment(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const size_t dashes = std::min(line.find_first_not_of('-'), line.size());
  return dashes >= 2 && (dashes == line.size() || line[dashes] == ' ' || line[dashes] == '|');
}

// The program without its tests and comments.
std::string WithoutTests(std::string text) {
  std::vector<std::string> lines;
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [line, behind] = rest.split('\n');
    lines.push_back(line.str());
    rest = behind;
  }
  for (const Test& test : TestsIn(text))
    for (const char* mark : {"-- CASE", "-- GRAD", "-- BENCH", ">>>", "prop>"})
      if (const size_t at = lines[test.line - 1].find(mark); at != std::string::npos) lines[test.line - 1].erase(at);
  std::string out;
  for (const std::string& line : lines)
    if (!IsComment(line)) out += line + "\n";
  return Without(out, {});
}

class Shrinker {
 public:
  Shrinker(const Options& options, const FileResult& file, const TestResult& test, const std::string& folder)
      : options_(options), test_(test), folder_(folder), end_(Clock::now() + options.timeout), difference_(DifferenceOf(test)) {
    const std::string beside = std::filesystem::path(file.path).parent_path().string();
    options_.module_folders.insert(options_.module_folders.begin(), beside.empty() ? "." : beside);
    TestArguments& arguments = options_.test;
    arguments.engines.clear();
    arguments.also.clear();
    arguments.ghc = false;
    for (const TestRun* run : {difference_.one, difference_.other}) {
      EngineKind engine;
      if (run->engine == kGhcEngine) arguments.ghc = true;
      else if (ParseEngine(run->engine, engine) && !llvm::is_contained(arguments.engines, engine)) arguments.engines.push_back(engine);
      if (!run->switches.empty() && !llvm::is_contained(arguments.also, run->switches)) arguments.also.push_back(run->switches);
    }
    arguments.differential = arguments.coverage = arguments.update = false;
  }

  std::string Run(const std::string& source);
  // Its time was over before all that is smaller had been tried.
  bool late() const { return late_; }

 private:
  struct Tried {
    bool differs = false;
    std::vector<std::string> wanted, got;  // what the two ways printed
  };

  bool Late() const { return Clock::now() > end_; }
  std::string LineOf(const std::string& expression) const;
  // Those with the same program are one file.
  std::vector<Tried> Try(const std::vector<Shrunk>& all);
  Tried Judge(const TestResult& result) const;
  bool Begin(const std::string& source);
  void DropDefinitions();
  bool TakeSmaller(const std::vector<Shrunk>& all, size_t at_once);
  std::string Replay() const;

  Options options_;
  const TestResult& test_;
  const std::string folder_;
  const Clock::time_point end_;
  const Difference difference_;
  std::string before_;  // what stands before the expression in its line
  Shrunk now_;
  Tried last_;
  bool late_ = false;
};

std::string Shrinker::LineOf(const std::string& expression) const {
  return fmt::format("{}{}{}\n", before_, expression, before_.starts_with("-- CASE") ? " => %" : "");
}

std::vector<Shrinker::Tried> Shrinker::Try(const std::vector<Shrunk>& all) {
  std::vector<std::string> paths;
  std::vector<std::pair<size_t, uint32_t>> at;  // of each: the file, and the line in it
  for (size_t i = 0; i < all.size(); ++i) {
    std::string text;
    if (i > 0 && all[i].program == all[i - 1].program) {
      at.push_back({at.back().first, at.back().second + 1});
      std::ofstream(paths.back(), std::ios::binary | std::ios::app) << LineOf(all[i].expression);
      continue;
    }
    paths.push_back(fmt::format("{}/it{}.hs", folder_, paths.size()));
    std::ofstream(paths.back(), std::ios::binary) << all[i].program << LineOf(all[i].expression);
    at.push_back({paths.size() - 1, static_cast<uint32_t>(std::count(all[i].program.begin(), all[i].program.end(), '\n')) + 1});
  }
  Options options = options_;
  options.test.filter = "/it[0-9]+\\.hs:[0-9]+: (?!prop_[^ ]*$|main$|spec$|tests$)";
  const std::vector<FileResult> files = RunFiles(options, paths, [](const FileResult&) {});
  std::vector<Tried> tried;
  for (const auto& [file, line] : at) {
    tried.emplace_back();
    for (const TestResult& result : files[file].tests)
      if (result.chosen && result.line == line) tried.back() = Judge(result);
  }
  return tried;
}

Shrinker::Tried Shrinker::Judge(const TestResult& result) const {
  Tried tried;
  if (!result.fault.empty()) return tried;
  // A way that makes the same graph as one before it was not run.
  auto find = [&](const TestRun& way) {
    const TestRun* found = nullptr;
    for (const TestRun& run : result.runs)
      if (run.engine == way.engine && (run.switches == way.switches || (!found && run.switches.empty()))) found = &run;
    return found;
  };
  const TestRun *one = find(*difference_.one), *other = find(*difference_.other);
  if (!one || !other || Same(*one, *other)) return tried;
  // A test that judged itself may have told other things before.
  const bool alike = EndOf(*one) == EndOf(*difference_.one) && EndOf(*other) == EndOf(*difference_.other);
  tried.differs = alike || difference_.one->passed || difference_.other->passed;
  tried.wanted = one->printed;
  tried.got = other->printed;
  return tried;
}

// The program and the expression as they stand, in a file of their own. False: there they do not differ.
bool Shrinker::Begin(const std::string& source) {
  now_.program = WithoutTests(source);
  std::vector<std::string> first;
  before_ = "-- CASE: ";
  std::string names;  // by examples above it
  for (const Test& test : TestsIn(source)) {
    if (test.line == test_.line && test.kind == test_.kind) {
      first.push_back(OneLine(test.text));
      if (test.kind == Kind::Property) before_ = "-- prop> ";
      break;
    }
    if (test.kind != Kind::Example) continue;
    llvm::StringRef text = llvm::StringRef(test.text).trim();
    if (text.consume_front("let ") && !text.contains(" in ") && !text.contains('\n')) names += text.str() + "\n";
    else if (text.starts_with("import ")) return false;
  }
  if (test_.kind == Kind::Whole) first.push_back("main");
  if (test_.kind == Kind::Gradient && !first.empty()) {
    const size_t at = first[0].rfind(" at ");
    if (at == std::string::npos) return false;
    before_ = fmt::format("-- GRAD: {} at ", first[0].substr(0, at));
    first[0].erase(0, at + 4);
  }
  if (test_.kind == Kind::Property && first.empty()) {
    before_ = "-- prop> ";
    // The values for which it fails, as they were told.
    const TestRun& failed = difference_.one->passed ? *difference_.other : *difference_.one;
    std::string call = test_.name;
    for (size_t i = 1; i < failed.printed.size() && i < 8; ++i) first.push_back(call += fmt::format(" ({})", failed.printed[i]));
    first.push_back(test_.name);
  }
  now_.program += names;
  std::vector<Shrunk> all;
  for (const std::string& expression : first) all.push_back({now_.program, expression});
  const std::vector<Tried> tried = Try(all);
  for (size_t i = 0; i < all.size(); ++i)
    if (tried[i].differs) {
      now_ = all[i];
      last_ = tried[i];
      return true;
    }
  return false;
}

// Half of them at first, then less.
void Shrinker::DropDefinitions() {
  for (size_t parts = 2; !Late();) {
    const std::optional<Edits> edits = EditsOf(now_);
    if (!edits || edits->definitions.empty()) return;
    const size_t count = edits->definitions.size();
    parts = std::min(parts, count);
    std::vector<Shrunk> all;
    if (parts == 2) {  // without any
      std::vector<Piece> pieces;
      for (const auto& group : edits->definitions) pieces.insert(pieces.end(), group.begin(), group.end());
      all.push_back({Without(now_.program, pieces), now_.expression});
    }
    for (size_t part = 0; part < parts; ++part) {
      std::vector<Piece> pieces;
      for (size_t i = part * count / parts; i < (part + 1) * count / parts; ++i)
        pieces.insert(pieces.end(), edits->definitions[i].begin(), edits->definitions[i].end());
      all.push_back({Without(now_.program, pieces), now_.expression});
    }
    if (TakeSmaller(all, kProgramsAtOnce)) continue;
    if (parts == count) return;
    parts *= 2;
  }
}

// The first that differs becomes what is there now. False: none does.
bool Shrinker::TakeSmaller(const std::vector<Shrunk>& all, size_t at_once) {
  for (size_t begin = 0; begin < all.size() && !Late(); begin += at_once) {
    const std::vector<Shrunk> some(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                   all.begin() + static_cast<std::ptrdiff_t>(std::min(begin + at_once, all.size())));
    const std::vector<Tried> tried = Try(some);
    for (size_t i = 0; i < some.size(); ++i) {
      if (!tried[i].differs) continue;
      now_ = some[i];
      last_ = tried[i];
      return true;
    }
  }
  return false;
}

// The program as a file whose test differs: what is expected is what the first way gives.
std::string Shrinker::Replay() const {
  std::string text = now_.program;
  if (!text.empty() && !text.ends_with("\n\n")) text += '\n';
  if (!before_.starts_with("-- CASE")) return fmt::format("{}{}{}\n", text, before_, now_.expression);
  constexpr std::string_view kError = "error: ";
  if (last_.wanted.size() == 1 && last_.wanted[0].starts_with(kError))
    return fmt::format("{}-- CASE: {} => error ({})\n", text, now_.expression, last_.wanted[0].substr(kError.size()));
  if (last_.wanted.size() == 1) return fmt::format("{}-- CASE: {} => {}\n", text, now_.expression, last_.wanted[0]);
  text += fmt::format("-- >>> {}\n", now_.expression);
  for (const std::string& line : last_.wanted) text += line.empty() ? "-- <BLANKLINE>\n" : fmt::format("-- {}\n", line);
  return text;
}

std::string Shrinker::Run(const std::string& source) {
  if (!Begin(source)) return "";
  Shrunk before;
  do {
    before = now_;
    DropDefinitions();
    for (std::optional<Edits> edits; !Late() && (edits = EditsOf(now_)) && TakeSmaller(edits->expression, kExpressionsAtOnce);) {
    }
    for (std::optional<Edits> edits; !Late() && (edits = EditsOf(now_)) && TakeSmaller(edits->program, kProgramsAtOnce);) {
    }
  } while (!Late() && now_ != before);
  late_ = Late();
  return Replay();
}

}  // namespace

void ShrinkDifferences(const Options& options, std::vector<FileResult>& files) {
  size_t done = 0;
  std::optional<TemporaryFolder> folder;  // made for the first one
  for (FileResult& file : files)
    for (TestResult& test : file.tests) {
      if (done == kMostShrunk || !test.chosen || !test.differs() || test.kind == Kind::Suite || IsLiterate(file.path)) continue;
      ++done;
      if (!folder) folder.emplace("differs");
      if (folder->path().empty()) return;
      std::ifstream in(file.path, std::ios::binary);
      const std::string source((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
      Shrinker shrinker(options, file, test, folder->path());
      test.smallest = shrinker.Run(source);
      test.shrunk_late = shrinker.late();
    }
}

}  // namespace df::test
