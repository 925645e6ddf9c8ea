// driver/test/children.h
//
// Files tested side by side, each in a process of its own: one that crashes, or does not come to its end, is one failed test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/test/coverage.h"
#include "driver/test/run_tests.h"

namespace df::test {

struct FileResult {
  std::string path;
  std::string fault;  // why it cannot be tested
  std::string refused;  // why GHC answers nothing
  std::vector<std::string> sources;  // the file and the modules of the program that it is made of
  std::vector<TestResult> tests;
  std::vector<CoveredPlace> places;  // of `--coverage`; one may be there several times
};

// In the order of the paths. `done` is called when a file is.
std::vector<FileResult> RunFiles(const Options& options, const std::vector<std::string>& paths, const std::function<void(const FileResult&)>& done);

}  // namespace df::test
