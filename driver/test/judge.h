// driver/test/judge.h
//
// Whether what a test printed is what it should, and how the two differ.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "driver/test/find_tests.h"

namespace df::test {

// What one run of a test gave.
struct Outcome {
  bool ended = false;     // it came to its end: `exit` is its code
  int64_t exit = 0;
  std::string printed;    // on both streams
  std::string error;      // why it did not end, in one line
  std::string path;       // then: where, and the calls around it, a line each
  bool fatal = false;     // a limit, or a fault of dfc: no message of the program
};

// Whether it is what the test says.
bool Passes(const Test& test, const Outcome& outcome);

// doctest's rules: a line `...` stands for any lines, `...` in a line for any characters, `<BLANKLINE>` for an empty one.
bool Matches(const std::vector<std::string>& expected, const std::vector<std::string>& printed);

// The lines of what was printed; an error is the line that GHCi shows for it.
std::vector<std::string> PrintedLines(const Test& test, const Outcome& outcome);
// What is expected, as lines.
std::vector<std::string> ExpectedLines(const Test& test);

// The lines of both, those that they share once: "  same", "- expected", "+ printed". Long stretches that are the same are left out.
std::vector<std::string> Difference(const std::vector<std::string>& expected, const std::vector<std::string>& printed);

}  // namespace df::test
