// Examples of suites.
#include "driver/test/suites.h"

#include <algorithm>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "llvm/ADT/StringRef.h"

namespace df::test {
namespace {

std::vector<std::string> TextLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// FILE:LINE. A suite's own place where there is none.
void SetPlace(const std::string& place, TestResult& test) {
  auto [file, line] = llvm::StringRef(place).rsplit(':');
  uint32_t number = 0;
  if (line.empty() || line.getAsInteger(10, number)) return;
  test.file = file.str();
  test.line = number;
}

// The examples of a suite, in the order in which they were told of first.
std::vector<TestResult> ExamplesOf(const TestResult& suite) {
  std::vector<TestResult> examples;
  std::map<std::pair<std::string, size_t>, size_t> index;  // by name, and which one of that name
  for (const TestRun& run : suite.runs) {
    std::map<std::string, size_t> seen;
    for (const SuitePart& part : run.parts) {
      const auto key = std::pair(part.name, seen[part.name]++);
      auto [it, is_new] = index.insert({key, examples.size()});
      if (is_new) {
        TestResult& example = examples.emplace_back();
        example.file = suite.file;
        example.line = suite.line;
        example.kind = suite.kind;
        example.name = part.name;
        SetPlace(part.place, example);
      }
      TestRun own;
      own.switches = run.switches;
      own.engine = run.engine;
      own.passed = part.outcome != SuitePart::Failed;
      own.pending = part.outcome == SuitePart::Pending;
      own.printed = TextLines(part.text);
      examples[it->second].runs.push_back(std::move(own));
    }
  }
  // A run that came to its end without the example.
  for (TestResult& example : examples)
    for (const TestRun& run : suite.runs) {
      if (!run.passed || std::any_of(example.runs.begin(), example.runs.end(), [&](const TestRun& own) {
            return own.engine == run.engine && own.switches == run.switches;
          }))
        continue;
      TestRun missing;
      missing.switches = run.switches;
      missing.engine = run.engine;
      missing.printed = {"this example was not run"};
      example.runs.push_back(std::move(missing));
    }
  return examples;
}

}  // namespace

std::vector<std::string> SuiteArguments(const Options& options) {
  return {"--format=dfc-test", fmt::format("--seed={}", options.test.seed)};
}

std::vector<SuitePart> TakeParts(std::string& printed) {
  std::vector<SuitePart> parts;
  std::string rest;
  for (size_t at = 0;;) {
    const size_t begin = printed.find('\1', at);
    const size_t end = begin == std::string::npos ? begin : printed.find('\1', begin + 1);
    llvm::SmallVector<llvm::StringRef, 4> fields;
    if (end != std::string::npos) llvm::StringRef(printed).slice(begin + 1, end).split(fields, '\2');
    if (fields.size() != 4 || fields[0].size() != 1) {  // a record that is not whole is printed text
      rest += printed.substr(at);
      break;
    }
    rest += printed.substr(at, begin - at);
    const SuitePart::Outcome outcome = fields[0] == "P" ? SuitePart::Passed : fields[0] == "S" ? SuitePart::Pending : SuitePart::Failed;
    parts.push_back({outcome, fields[1].str(), fields[2].str(), fields[3].str()});
    at = end + 1;
    if (at < printed.size() && printed[at] == '\n') ++at;
  }
  printed = std::move(rest);
  return parts;
}

void ExpandSuites(FileResult& file, const std::string& filter) {
  std::vector<TestResult> tests;
  for (TestResult& suite : file.tests) {
    if (suite.kind != Kind::Suite) {
      tests.push_back(std::move(suite));
      continue;
    }
    auto fits = [&](const TestResult& test) {
      return filter.empty() || std::regex_search(fmt::format("{}:{}: {}", test.file, test.line, test.name), std::regex(filter));
    };
    const bool whole = fits(suite);
    std::vector<TestResult> examples = ExamplesOf(suite);
    const bool fine = suite.passed();
    if (examples.empty() || !fine) {
      suite.chosen = whole || !fine;
      tests.push_back(std::move(suite));
    }
    for (TestResult& example : examples) {
      example.chosen = whole || fits(example);
      tests.push_back(std::move(example));
    }
  }
  file.tests = std::move(tests);
}

}  // namespace df::test
