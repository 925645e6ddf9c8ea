// driver/test/run_tests.h
//
// A file's tests on engines and switches, in the process of its own that a file has.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/test/judge.h"
#include "llvm/Support/JSON.h"

namespace df::test {

// One run of a test.
struct TestRun {
  std::string switches;   // "" or "-O0"
  std::string engine;     // "" of one that could not be compiled
  bool passed = false;
  std::vector<std::string> printed;  // of one that failed: lines
  std::string path;       // likewise: the call path
  std::optional<std::string> output; // of a whole program that came to its end: all that it printed
  double seconds = 0;
};

struct TestResult {
  std::string file;
  uint32_t line = 0;
  Kind kind = Kind::Case;
  std::string name;
  std::vector<std::string> expected;
  std::string fault;      // it could not be run at all
  bool chosen = true;     // by `--filter`; and it is no definition for others
  std::vector<TestRun> runs;
  bool passed() const;
  // Runs of the test printed different things.
  bool differs() const;
};

// What the process of a file tells, a JSON object a line:
//   {"tests": [..]}         what there is, in order
//   {"begin": INDEX, ..}    a run begins
//   {"run": INDEX, ..}      it is over
//   {"fault": TEXT}         the file cannot be tested
//   {"end": true}
using Tell = std::function<void(llvm::json::Object)>;

// The switches of one way to compile: "-O0", "--no-loops", "--without=NAMES", "--gradient=KIND". False: it is none of them.
bool ApplySwitches(const std::string& switches, Options& options);

// Runs the tests of the file from number `first` on, counted through all switches and engines.
void RunFile(const Options& options, const std::string& path, uint64_t first, const Tell& tell);

}  // namespace df::test
