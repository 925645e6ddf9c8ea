// Expected and printed text.
#include "driver/test/judge.h"

#include <algorithm>

#include <fmt/format.h>

namespace df::test {
namespace {

// A last line that has no end says so, where `ends` asks for it.
std::vector<std::string> Split(std::string_view text, bool ends = false) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    if (ends && end == text.size()) lines.back() += " (without a newline)";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string WithoutEnd(std::string line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.pop_back();
  return line;
}

// `...` in a line stands for any characters.
bool LineMatches(std::string_view expected, std::string_view printed) {
  const size_t dots = expected.find("...");
  if (dots == std::string_view::npos) return expected == printed;
  if (!printed.starts_with(expected.substr(0, dots))) return false;
  expected.remove_prefix(dots + 3);
  printed.remove_prefix(dots);
  for (size_t next; (next = expected.find("...")) != std::string_view::npos;) {
    const size_t found = printed.find(expected.substr(0, next));
    if (found == std::string_view::npos) return false;
    printed.remove_prefix(found + next);
    expected.remove_prefix(next + 3);
  }
  return printed.ends_with(expected);
}

}  // namespace

bool Matches(const std::vector<std::string>& expected, const std::vector<std::string>& printed) {
  // fits[j]: the lines of `expected` so far match the first j that were printed.
  std::vector<bool> fits(printed.size() + 1, false);
  fits[0] = true;
  for (const std::string& line : expected) {
    const std::string wanted = WithoutEnd(line);
    std::vector<bool> next(printed.size() + 1, false);
    if (wanted == "...") {
      bool any = false;
      for (size_t j = 0; j <= printed.size(); ++j) next[j] = any = any || fits[j];
    } else {
      const std::string plain = wanted == "<BLANKLINE>" ? "" : wanted;
      for (size_t j = 0; j < printed.size(); ++j) next[j + 1] = fits[j] && LineMatches(plain, WithoutEnd(printed[j]));
    }
    fits = std::move(next);
  }
  return fits[printed.size()];
}

std::vector<std::string> ExpectedLines(const Test& test) {
  if (test.error) return {test.error->empty() ? "an error" : fmt::format("an error with `{}`", *test.error)};
  if (test.kind == Kind::Whole) return Split(test.output, /*ends=*/true);
  if (test.kind == Kind::Property && test.expected.empty()) return {"+++ OK, passed .. tests."};
  if (test.kind == Kind::Gradient) return {"the same derivatives by reverse mode, forward mode and differences"};
  return test.expected;
}

std::vector<std::string> PrintedLines(const Test& test, const Outcome& outcome) {
  std::vector<std::string> lines = Split(outcome.printed, /*ends=*/test.kind == Kind::Whole);
  if (!outcome.error.empty()) {
    std::vector<std::string> message = Split(outcome.error);
    message[0] = (test.kind == Kind::Example && !outcome.fatal ? "*** Exception: " : "error: ") + message[0];
    lines.insert(lines.end(), message.begin(), message.end());
  }
  if (outcome.ended && outcome.exit != 0 && !JudgesItself(test.kind))
    lines.push_back(fmt::format("(it ended with exit code {})", outcome.exit));
  return lines;
}

bool Passes(const Test& test, const Outcome& outcome) {
  if (outcome.fatal) return false;
  switch (test.kind) {
    case Kind::Case:
      if (test.error) return !outcome.ended && (outcome.error + "\n" + outcome.path).find(*test.error) != std::string::npos;
      return outcome.ended && outcome.exit == 0 && outcome.printed == test.expected[0] + "\n";
    case Kind::Whole: return outcome.ended && outcome.exit == 0 && outcome.printed == test.output;
    case Kind::Example: {
      std::vector<std::string> expected = test.expected;
      // GHC's list of calls below an exception is not that of dfc.
      for (size_t i = 1; i < expected.size(); ++i)
        if (expected[i].starts_with("CallStack (from HasCallStack)")) expected.resize(i);
      return Matches(expected, PrintedLines(test, outcome));
    }
    case Kind::Property:
    case Kind::Gradient:
    case Kind::Bench:
    case Kind::Suite: return outcome.ended && outcome.exit == 0;
  }
  return false;
}

std::vector<std::string> Difference(const std::vector<std::string>& expected, const std::vector<std::string>& printed) {
  constexpr size_t kAround = 3, kMostLines = 2000;
  std::vector<std::string> out;
  size_t begin = 0;
  while (begin < expected.size() && begin < printed.size() && expected[begin] == printed[begin]) ++begin;
  size_t ends = 0;
  while (ends < expected.size() - begin && ends < printed.size() - begin && expected[expected.size() - 1 - ends] == printed[printed.size() - 1 - ends]) ++ends;
  const size_t rows = expected.size() - begin - ends, columns = printed.size() - begin - ends;
  auto same = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) out.push_back("  " + expected[i]);
  };
  if (begin > kAround) out.push_back(fmt::format("  ... {} lines", begin - kAround));
  same(begin - std::min(begin, kAround), begin);
  if (rows > kMostLines || columns > kMostLines) {
    for (size_t i = 0; i < rows; ++i) out.push_back("- " + expected[begin + i]);
    for (size_t j = 0; j < columns; ++j) out.push_back("+ " + printed[begin + j]);
  } else {
    // length[i][j]: of the longest common sequence of what is behind i and j.
    std::vector<std::vector<uint32_t>> length(rows + 1, std::vector<uint32_t>(columns + 1, 0));
    for (size_t i = rows; i-- > 0;)
      for (size_t j = columns; j-- > 0;)
        length[i][j] = expected[begin + i] == printed[begin + j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    for (size_t i = 0, j = 0; i < rows || j < columns;) {
      if (i < rows && j < columns && expected[begin + i] == printed[begin + j]) same(begin + i, begin + i + 1), ++i, ++j;
      else if (i < rows && (j == columns || length[i + 1][j] >= length[i][j + 1])) out.push_back("- " + expected[begin + i++]);
      else out.push_back("+ " + printed[begin + j++]);
    }
  }
  const size_t end = expected.size() - ends;
  same(end, end + std::min(ends, kAround));
  if (ends > kAround) out.push_back(fmt::format("  ... {} lines", ends - kAround));
  return out;
}

}  // namespace df::test
