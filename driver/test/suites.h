// driver/test/suites.h
//
// Programs that run tests of their own, of HUnit or Hspec: the examples that such a program tells of, each a test by itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/test/children.h"
#include "driver/test/run_tests.h"

namespace df::test {

// The arguments by which a program is asked for records instead of a report.
std::vector<std::string> SuiteArguments(const Options& options);
// The records in what a program printed (stdlib/Test/HUnit/Internal.df, primRecord), which are taken out of it.
std::vector<SuitePart> TakeParts(std::string& printed);
// Each suite becomes its examples. It stays a test itself where it told of none, or went wrong beside them.
void ExpandSuites(FileResult& file, const std::string& filter);

}  // namespace df::test
