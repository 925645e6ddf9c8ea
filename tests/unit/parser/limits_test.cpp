// tests/unit/parser/limits_test.cpp
//
// Input made to hurt: a clear error or the answer, in linear time.
#include "tests/unit/parser/parsing.h"

using namespace df;

namespace {

std::string Times(std::string_view text, size_t n) {
  std::string result;
  result.reserve(text.size() * n);
  for (size_t i = 0; i < n; ++i) result += text;
  return result;
}

// Little enough for the stack that a test program has; the compiler's own thread has more.
constexpr ParseOptions kShallow{.max_depth = 500, .max_chain = 100000};

}  // namespace

TEST_CASE("each way to nest is bounded") {
  const std::pair<const char*, const char*> kNests[] = {
      {"x = ", "("},           {"x = ", "["},          {"x = ", "\\a -> "},    {"x = ", "if a then b else "},
      {"x = ", "do "},         {"x = ", "let a = "},   {"x = ", "a { b = "},   {"x = ", "case a of b -> "},
      {"f = 1 ", "where a = 1 "}, {"f ", "("},         {"f ", "[~"},           {"f ", "x@"},
      {"f :: ", "("},          {"f :: ", "a -> "},     {"f :: ", "["},         {"f = \\case x ", "| \\case x "},
      {"x = ", "if | a -> "},  {"x = ", "- ("},        {"x = ", "(`f` "},      {"x = ", "[a | b <- "},
  };
  for (auto [before, nest] : kNests) {
    INFO(nest);
    Parsed parsed(before + Times(nest, 100000), kShallow);
    REQUIRE(parsed.diags.error_count() == 1);
    CHECK(parsed.diags.all()[0].id == Diag::NestedTooDeeply);
  }
  CHECK(Errors("x = " + Times("(", 400) + "1" + Times(")", 400), kShallow) == "");
}

TEST_CASE("long chains are bounded, long lists are not") {
  CHECK(Errors("x = 1" + Times(" + 1", 200000)) == "ChainTooLong 1:400005");
  CHECK(Errors("x = 1" + Times(" + 1", 90000)) == "");
  CHECK(Errors("x = [1" + Times(", 1", 200000) + "]") == "");
  CHECK(Errors("x = f" + Times(" a", 200000)) == "");
  CHECK(Errors(Times("f 1 = 2\n", 50000)) == "");
}

TEST_CASE("errors on every line are counted and not all kept") {
  Parsed parsed(Times("f = )\n", 10000));
  CHECK(parsed.diags.error_count() == 10000);
  CHECK(parsed.diags.all().size() == 100);
}
