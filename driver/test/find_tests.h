// driver/test/find_tests.h
//
// The tests that a source has in its comments: `-- CASE:` lines, and the examples and properties of doctest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/options.h"

namespace df::test {

enum class Kind : uint8_t {
  Case,      // `-- CASE: expression => value`
  Example,   // `-- >>> input`, with the lines that follow
  Property,  // `-- prop> expression`, or a definition `prop_..`
  Gradient,  // `-- GRAD: function at argument`
  Bench,     // `-- BENCH: expression`, of `dfc bench`
  Suite,     // `spec` or `tests` of the file, or its `main` where that runs tests
  Whole,     // what the program prints, in the file NAME.out
};
std::string_view KindName(Kind kind);
// Its text says what it found, and its exit code whether that is right; nothing is expected of what it prints.
inline bool JudgesItself(Kind kind) { return kind == Kind::Property || kind == Kind::Gradient || kind == Kind::Suite; }

struct Test {
  Kind kind = Kind::Case;
  uint32_t line = 0;
  std::string name;    // as reports show it: the expression
  // What is parsed: the lines of the file from `line` on, blank where the test is not, and the same as they stand there.
  std::string text, shown;
  std::vector<std::string> expected;     // the lines of what is printed
  std::string output;                    // of Kind::Whole: all of it
  std::optional<std::string> error;      // of a Case: it fails with a message that contains this
  std::optional<EngineKind> only;        // `-- CASE tagged: ..`
  std::string definition;                // of a Property or a Suite: its name in the program; "" is that of `text`
  bool defines = false;                  // an Example that gives names to those that follow, and is not run
  std::string fault;                     // why it is no test: it fails with this
};

// In order of place.
std::vector<Test> TestsIn(std::string_view text);

}  // namespace df::test
