// driver/test/run_tests.h
//
// A file's tests on engines and switches, in the process of its own that a file has.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/test/judge.h"
#include "llvm/Support/JSON.h"
#include "runtime/engines/engines.h"
#include "tagged_ir/graph.h"

namespace df::test {

// An example of a suite, as the program told of it.
struct SuitePart {
  enum Outcome : uint8_t { Passed, Failed, Pending };
  Outcome outcome = Passed;
  std::string place;  // FILE:LINE, or ""
  std::string name;
  std::string text;   // what is told of it, lines
};

// Of the runs of a test the one by GHC has this engine.
inline constexpr std::string_view kGhcEngine = "ghc";

// One run of a test.
struct TestRun {
  std::string switches;   // "" or "-O0"
  std::string engine;     // "" of one that could not be compiled
  bool passed = false;
  bool pending = false;   // of an example that says it is not done yet
  std::vector<std::string> printed;  // of one that failed: lines
  std::string path;       // likewise: the call path
  std::optional<std::string> output; // of a whole program that came to its end: all that it printed
  std::vector<SuitePart> parts;      // of a suite
  double seconds = 0;
};

struct TestResult {
  std::string file;
  uint32_t line = 0;
  Kind kind = Kind::Case;
  std::string name;
  std::vector<std::string> expected;
  std::string fault;      // it could not be run at all
  std::string refused;    // why GHC does not answer
  std::string smallest;   // of one that differs: the smallest program that does, as a file
  bool shrunk_late = false;  // the time for it was over first: there may be a smaller one
  bool chosen = true;     // by `--filter`; and it is no definition for others
  std::vector<TestRun> runs;
  bool passed() const;
  // It says itself that it is not done yet.
  bool pending() const;
  // Runs of the test printed different things.
  bool differs() const;
};

// What the process of a file tells, a JSON object a line:
//   {"tests": [..]}         what there is, in order
//   {"begin": INDEX, ..}    a run begins
//   {"run": INDEX, ..}      it is over
//   {"refused": INDEX, ..}  GHC does not answer; without a number: to nothing in the file
//   {"fault": TEXT}         the file cannot be tested
//   {"end": true}
using Tell = std::function<void(llvm::json::Object)>;

// The switches of one way to compile: "-O0", "--no-loops", "--without=NAMES", "--gradient=KIND". False: it is none of them.
bool ApplySwitches(const std::string& switches, Options& options);

// The graph's test of this number, or of Kind::Whole and Suite the program. `code` may be null. `input` is what Kind::Whole reads.
Outcome RunOne(const Options& options, const Test& test, const ir::Graph& graph, size_t number, EngineKind engine, const RunOptions& run,
               const std::shared_ptr<const EngineCode>& code, const std::string& input = "");

// Runs the tests of the file from number `first` on, counted through all switches and engines.
void RunFile(const Options& options, const std::string& path, uint64_t first, const Tell& tell);

}  // namespace df::test
