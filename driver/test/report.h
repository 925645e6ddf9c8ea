// driver/test/report.h
//
// What `dfc test` says: for people, as JSON, and as JUnit's XML.
#pragma once

#include <vector>

#include "driver/options.h"
#include "driver/test/children.h"
#include "llvm/Support/raw_ostream.h"

namespace df::test {

struct Summary {
  size_t tests = 0, failed = 0, pending = 0, files = 0, broken = 0;  // broken: files that cannot be tested
  bool fine() const { return tests > 0 && failed == 0 && broken == 0; }
};
Summary Sum(const std::vector<FileResult>& files);

void Report(const std::vector<FileResult>& files, const Options& options, llvm::raw_ostream& out);

}  // namespace df::test
