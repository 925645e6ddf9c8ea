// Results of tests.
#include "driver/test/report.h"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>

#include "llvm/Support/JSON.h"

namespace df::test {
namespace {

std::string Where(const TestRun& run) {
  if (run.engine.empty()) return run.switches.empty() ? "" : run.switches;
  return run.switches.empty() ? run.engine : run.engine + " " + run.switches;
}

// Runs that failed alike, in the order of the first.
struct Group {
  std::vector<std::string> where;
  const TestRun* run;
};
std::vector<Group> GroupsOf(const TestResult& test) {
  std::vector<Group> groups;
  for (const TestRun& run : test.runs) {
    if (run.passed) continue;
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const Group& group) { return group.run->printed == run.printed && group.run->path == run.path; });
    if (same == groups.end()) groups.push_back({{Where(run)}, &run});
    else same->where.push_back(Where(run));
  }
  return groups;
}

// So many ways are named, which is less than all switches.
constexpr size_t kMostNamed = 8;
std::string Named(const std::vector<std::string>& ways) {
  if (ways.size() <= kMostNamed) return fmt::format("{}", fmt::join(ways, ", "));
  return fmt::format("{}, {} and {} others", ways[0], ways[1], ways.size() - 2);
}

// The text of a failure, each line behind two spaces.
std::vector<std::string> Explain(const TestResult& test) {
  std::vector<std::string> lines;
  auto add = [&](const std::string& text, const char* indent) {
    for (llvm::StringRef rest = text; !rest.empty();) {
      auto [line, behind] = rest.split('\n');
      lines.push_back(indent + line.str());
      rest = behind;
    }
  };
  add(test.fault, "  ");
  if (!test.fault.empty()) return lines;
  if (test.runs.empty()) return {"  it was not run"};
  const std::vector<Group> groups = GroupsOf(test);
  size_t failed = 0;
  for (const Group& group : groups) failed += group.where.size();
  const bool several = test.runs.size() > 1;
  for (const Group& group : groups) {
    const bool everywhere = failed == test.runs.size() && groups.size() == 1;
    if (several && !everywhere) lines.push_back(fmt::format("  on {}:", Named(group.where)));
    const char* indent = several && !everywhere ? "    " : "  ";
    if (group.run->engine.empty() || JudgesItself(test.kind)) {
      for (const std::string& line : group.run->printed) lines.push_back(indent + line);
    } else if (test.expected.size() <= 1 && group.run->printed.size() <= 1) {
      lines.push_back(fmt::format("{}expected  {}", indent, test.expected.empty() ? "nothing" : test.expected[0]));
      lines.push_back(fmt::format("{}printed   {}", indent, group.run->printed.empty() ? "nothing" : group.run->printed[0]));
    } else {
      for (const std::string& line : Difference(test.expected, group.run->printed)) lines.push_back(indent + line);
    }
    add(group.run->path, several && !everywhere ? "      " : "    ");
  }
  // `error TEXT`, of a test that did fail: taken as what is printed.
  const std::vector<std::string>& printed = groups[0].run->printed;
  if (test.kind == Kind::Case && test.expected.size() == 1 && test.expected[0].starts_with("error ") && !printed.empty() && printed[0].starts_with("error: "))
    lines.push_back(fmt::format("  hint: a case that fails is written `=> error ({})`", llvm::StringRef(test.expected[0]).drop_front(6).trim().str()));
  if (test.differs()) {
    const bool ghc = std::any_of(test.runs.begin(), test.runs.end(), [](const TestRun& run) { return run.engine == kGhcEngine; });
    const char* what = ghc ? "engines, switches or GHC" : "engines or switches";
    std::vector<std::string> passed;
    for (const TestRun& run : test.runs)
      if (run.passed) passed.push_back(Where(run));
    if (passed.empty()) lines.push_back(fmt::format("  {} differ", what));
    else if (passed.size() > kMostNamed) lines.push_back(fmt::format("  {} differ: the {} others give what is expected", what, passed.size()));
    else lines.push_back(fmt::format("  {} differ: {} {} what is expected", what, fmt::join(passed, ", "), passed.size() == 1 ? "gives" : "give"));
  }
  return lines;
}

std::string Plural(size_t count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::vector<std::string> EngineNames(const Options& options) {
  std::vector<std::string> names;
  for (EngineKind engine : options.test.engines) names.emplace_back(EngineName(engine));
  return names;
}

// The smallest programs that differ, each as a file.
void TellSmallest(const std::vector<FileResult>& files, llvm::raw_ostream& out) {
  for (const FileResult& file : files)
    for (const TestResult& test : file.tests)
      if (!test.smallest.empty())
        out << fmt::format("the smallest program found that differs as {}:{} does{}:\n----\n{}----\n", test.file, test.line,
                           test.shrunk_late ? " (the time for it was over: with a longer `--timeout` there may be a smaller one)" : "", test.smallest);
}

// How much GHC has answered, and what it has refused.
void TellGhc(const std::vector<FileResult>& files, llvm::raw_ostream& out) {
  size_t answered = 0, alike = 0;
  for (const FileResult& file : files) {
    if (!file.refused.empty()) out << fmt::format("GHC refuses {}: {}\n", file.path, file.refused);
    for (const TestResult& test : file.tests) {
      if (!test.refused.empty()) out << fmt::format("GHC refuses {}:{}: {}: {}\n", test.file, test.line, test.name, test.refused);
      if (!test.chosen || std::none_of(test.runs.begin(), test.runs.end(), [](const TestRun& run) { return run.engine == kGhcEngine; })) continue;
      ++answered;
      alike += !test.differs();
    }
  }
  out << fmt::format("GHC answers {}, {} of them as all others do\n", Plural(answered, "test"), alike);
}

void ReportText(const std::vector<FileResult>& files, const Options& options, llvm::raw_ostream& out) {
  for (const FileResult& file : files) {
    if (file.fault.empty()) continue;
    out << "FAIL " << file.path << '\n';
    for (llvm::StringRef rest = file.fault; !rest.empty();) {
      auto [line, behind] = rest.split('\n');
      out << "  " << line << '\n';
      rest = behind;
    }
  }
  for (const FileResult& file : files)
    for (const TestResult& test : file.tests) {
      if (!test.chosen || test.passed()) continue;
      out << fmt::format("FAIL {}:{}: {}\n", test.file, test.line, test.name);
      for (const std::string& line : Explain(test)) out << line << '\n';
    }
  if (options.test.verbose)
    for (const FileResult& file : files)
      for (const TestResult& test : file.tests) {
        if (!test.chosen || !test.passed()) continue;
        out << fmt::format("{} {}:{}: {}\n", test.pending() ? "    " : "ok  ", test.file, test.line, test.name);
        if (JudgesItself(test.kind))
          for (const std::string& line : test.runs[0].printed) out << "  " << line << '\n';
      }
  TellSmallest(files, out);
  if (options.test.ghc) TellGhc(files, out);
  const Summary sum = Sum(files);
  out << fmt::format("{} of {} on {}: {} passed, {} failed", Plural(sum.tests, "test"), Plural(sum.files, "file"), fmt::join(EngineNames(options), ", "),
                     sum.tests - sum.failed - sum.pending, sum.failed);
  if (sum.pending != 0) out << fmt::format(", {} pending", sum.pending);
  if (sum.broken != 0) out << fmt::format("; {} cannot be tested", Plural(sum.broken, "file"));
  out << '\n';
}

void ReportJson(const std::vector<FileResult>& files, const Options& options, llvm::raw_ostream& out) {
  llvm::json::Array tests, broken;
  for (const FileResult& file : files) {
    if (!file.fault.empty()) broken.push_back(llvm::json::Object{{"file", llvm::json::fixUTF8(file.path)}, {"fault", file.fault}});
    for (const TestResult& test : file.tests) {
      if (!test.chosen) continue;
      llvm::json::Array runs;
      for (const TestRun& run : test.runs) {
        llvm::json::Object row{{"engine", run.engine}, {"switches", run.switches}, {"passed", run.passed}, {"seconds", run.seconds}};
        if (!run.printed.empty()) row["printed"] = llvm::json::Array(run.printed);
        if (!run.path.empty()) row["path"] = run.path;
        runs.push_back(std::move(row));
      }
      llvm::json::Object row{{"file", llvm::json::fixUTF8(test.file)}, {"line", test.line}, {"kind", std::string(KindName(test.kind))}, {"name", test.name},
                             {"passed", test.passed()}, {"pending", test.pending()}, {"differs", test.differs()},
                             {"expected", llvm::json::Array(test.expected)}, {"runs", std::move(runs)}};
      if (!test.fault.empty()) row["fault"] = test.fault;
      if (!test.refused.empty()) row["refused"] = test.refused;
      if (!test.smallest.empty()) row["smallest"] = test.smallest, row["shrunk_to_the_end"] = !test.shrunk_late;
      tests.push_back(std::move(row));
    }
  }
  const Summary sum = Sum(files);
  llvm::json::Object all{{"tests", std::move(tests)},
                         {"broken", std::move(broken)},
                         {"engines", llvm::json::Array(EngineNames(options))},
                         {"summary", llvm::json::Object{{"tests", static_cast<int64_t>(sum.tests)}, {"failed", static_cast<int64_t>(sum.failed)},
                                                        {"pending", static_cast<int64_t>(sum.pending)},
                                                        {"files", static_cast<int64_t>(sum.files)}, {"broken", static_cast<int64_t>(sum.broken)}}}};
  out << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << '\n';
}

// XML has no other characters below the blank than these three, and neither U+FFFE nor U+FFFF.
std::string Xml(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view here = text.substr(i, 3);
    if (here == "\xEF\xBF\xBE" || here == "\xEF\xBF\xBF") out += '?', i += 2;
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') out += c;
    else out += '?';
  }
  return out;
}

double SecondsOf(const TestResult& test) {
  double seconds = 0;
  for (const TestRun& run : test.runs) seconds += run.seconds;
  return seconds;
}

void ReportJUnit(const std::vector<FileResult>& files, llvm::raw_ostream& out) {
  const Summary sum = Sum(files);
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out << fmt::format("<testsuites tests=\"{}\" failures=\"{}\" errors=\"{}\">\n", sum.tests, sum.failed, sum.broken);
  for (const FileResult& file : files) {
    const Summary own = Sum({file});
    if (own.tests == 0 && file.fault.empty()) continue;
    double seconds = 0;
    for (const TestResult& test : file.tests) seconds += SecondsOf(test);
    out << fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n", Xml(file.path), own.tests, own.failed,
                       own.broken, seconds);
    if (!file.fault.empty())
      out << fmt::format("    <testcase classname=\"{0}\" name=\"compile\"><error message=\"the file cannot be tested\">{1}</error></testcase>\n",
                         Xml(file.path), Xml(file.fault));
    for (const TestResult& test : file.tests) {
      if (!test.chosen) continue;
      out << fmt::format("    <testcase classname=\"{}\" name=\"{}: {}\" line=\"{}\" time=\"{:.3f}\"", Xml(file.path), test.line, Xml(test.name), test.line,
                         SecondsOf(test));
      if (test.pending()) {
        out << "><skipped/></testcase>\n";
        continue;
      }
      if (test.passed()) {
        out << "/>\n";
        continue;
      }
      const std::vector<std::string> lines = Explain(test);
      out << fmt::format("><failure message=\"{}\">{}</failure></testcase>\n", test.differs() ? "engines or switches differ" : "failed",
                         Xml(fmt::format("{}", fmt::join(lines, "\n"))));
    }
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
}

}  // namespace

Summary Sum(const std::vector<FileResult>& files) {
  Summary sum;
  for (const FileResult& file : files) {
    const size_t before = sum.tests;
    sum.broken += !file.fault.empty();
    for (const TestResult& test : file.tests) {
      if (!test.chosen) continue;
      ++sum.tests;
      sum.failed += !test.passed();
      sum.pending += test.pending();
    }
    sum.files += sum.tests != before || !file.fault.empty();
  }
  return sum;
}

void Report(const std::vector<FileResult>& files, const Options& options, llvm::raw_ostream& out) {
  switch (options.test.format) {
    case TestFormat::Text: return ReportText(files, options, out);
    case TestFormat::Json: return ReportJson(files, options, out);
    case TestFormat::JUnit: return ReportJUnit(files, out);
  }
}

}  // namespace df::test
