// Tests in comments.
#include "driver/test/find_tests.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace df::test {
namespace {

struct Line {
  std::string_view text;
  // Where what is written begins, behind blanks and the mark of a comment; npos: the line is no comment.
  size_t content = std::string_view::npos;
  bool begins = false;  // the first line of a comment
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsSymbol(char c) { return std::string_view("!#$%&*+./<=>?@\\^|-~:").find(c) != std::string_view::npos; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<Line> LinesOf(std::string_view text) {
  std::vector<Line> lines;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({line});
    at = end + 1;
  }
  return lines;
}

// Marks the lines that are comments. What stands in a string or behind code on its line is none.
class CommentFinder {
 public:
  explicit CommentFinder(std::vector<Line>& lines) : lines_(lines) {}

  void Run() {
    bool comment_before = false;
    for (Line& line : lines_) {
      const size_t first = line.text.find_first_not_of(" \t");
      if (depth_ > 0) {
        line.content = std::min(first, line.text.size());
        comment_before = true;
      } else if (first != std::string_view::npos && IsLineComment(line.text, first)) {
        size_t at = first;
        while (at < line.text.size() && line.text[at] == '-') ++at;
        line.content = std::min(std::min(line.text.find_first_not_of(" \t", at), line.text.size()), line.text.size());
        // Haddock's marks.
        if (line.content < line.text.size() && (line.text[line.content] == '|' || line.text[line.content] == '^'))
          line.content = std::min(line.text.find_first_not_of(" \t", line.content + 1), line.text.size());
        line.begins = !comment_before;
        comment_before = true;
        continue;
      } else {
        comment_before = false;
      }
      Scan(line);
    }
  }

 private:
  static bool IsLineComment(std::string_view text, size_t at) {
    const size_t dashes = std::min(text.find_first_not_of('-', at), text.size()) - at;
    return dashes >= 2 && (at + dashes == text.size() || !IsSymbol(text[at + dashes]));
  }

  // Goes over a line's code and comments in braces.
  void Scan(Line& line) {
    std::string_view text = line.text;
    bool code = false;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i, 2) == "{-") {
        if (++depth_ == 1 && !code && line.content == std::string_view::npos) {
          size_t at = std::min(text.find_first_not_of(" \t", i + 2), text.size());
          if (at < text.size() && (text[at] == '|' || text[at] == '^')) at = std::min(text.find_first_not_of(" \t", at + 1), text.size());
          line.content = at;
          line.begins = true;
        }
        ++i;
      } else if (depth_ > 0) {
        if (text.substr(i, 2) == "-}") --depth_, ++i;
      } else if (text[i] == '"') {
        for (++i; i < text.size() && text[i] != '"'; ++i)
          if (text[i] == '\\') ++i;
        code = true;
      } else if (text[i] == '\'' && i + 2 < text.size() && (text[i + 1] == '\\' || text[i + 2] == '\'')) {
        i = text[i + 1] == '\\' ? std::min(text.find('\'', i + 3), text.size()) : i + 2;
        code = true;
      } else if (text[i] == '-' && IsLineComment(text, i)) {
        return;
      } else if (!IsBlank(text[i])) {
        code = true;
      }
    }
  }

  std::vector<Line>& lines_;
  uint32_t depth_ = 0;
};

// The lines [begin, end), blank but for what each has from `from` on.
void TakeText(const std::vector<Line>& lines, size_t begin, size_t end, size_t from, size_t to, Test& test) {
  for (size_t i = begin; i < end; ++i) {
    std::string line(lines[i].text);
    test.shown += line + "\n";
    const size_t first = i == begin ? from : std::min(lines[i].content == std::string_view::npos ? 0 : lines[i].content, line.size());
    std::fill(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(std::min(first, line.size())), ' ');
    if (i == begin && to < line.size()) std::fill(line.begin() + static_cast<std::ptrdiff_t>(to), line.end(), ' ');
    test.text += line + "\n";
  }
}

// `error`, `error DF0901`, `error (divide by zero)`: what the message is to contain.
std::optional<std::string> ErrorIn(std::string_view value) {
  if (!value.starts_with("error")) return std::nullopt;
  std::string_view rest = Trimmed(value.substr(5));
  if (rest.size() == value.size() - 5 && !rest.empty()) return std::nullopt;  // `errors`, `error(..)`
  if (rest.starts_with("DF")) rest = Trimmed(rest.substr(std::min(rest.find_first_not_of("0123456789", 2), rest.size())));
  if (rest.empty()) return "";
  if (rest.front() != '(' || rest.back() != ')') return std::nullopt;
  return std::string(rest.substr(1, rest.size() - 2));
}

std::optional<Test> CaseIn(const std::vector<Line>& lines, size_t index) {
  std::string_view line = lines[index].text;
  constexpr std::string_view kMark = "-- CASE";
  if (!line.starts_with(kMark)) return std::nullopt;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view engine = Trimmed(line.substr(kMark.size(), colon - kMark.size()));
  if (std::any_of(engine.begin(), engine.end(), [](unsigned char c) { return !std::isalpha(c); })) return std::nullopt;
  Test test;
  test.line = static_cast<uint32_t>(index) + 1;
  EngineKind kind;
  if (!engine.empty() && ParseEngine(engine, kind)) test.only = kind;
  else if (!engine.empty()) test.fault = fmt::format("there is no engine `{}`: tagged, reference, demand or expanding", engine);
  // The last arrow separates: the expression may hold one in a type.
  const size_t arrow = line.rfind(" => ");
  const bool open = line.ends_with(" =>");
  const size_t end = arrow != std::string_view::npos && arrow > colon ? arrow : open ? line.size() - 3 : std::string_view::npos;
  if (end == std::string_view::npos) {
    test.name = std::string(Trimmed(line.substr(colon + 1)));
    test.fault = "`-- CASE: expression => value` is wanted";
    return test;
  }
  test.name = std::string(Trimmed(line.substr(colon + 1, end - colon - 1)));
  const std::string value(open && arrow == std::string_view::npos ? "" : Trimmed(line.substr(end + 4)));
  test.error = ErrorIn(value);
  test.expected = {value};
  TakeText(lines, index, index + 1, colon + 1, end, test);
  return test;
}

// What stands behind a mark at the beginning of a line, and where; npos: the mark is not there.
size_t BehindMark(std::string_view line, std::string_view mark) { return line.starts_with(mark) ? mark.size() : std::string_view::npos; }

// Where ` at ` stands in the text, outside of brackets and texts; npos: nowhere.
size_t FindAt(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (depth == 0 && IsBlank(c) && text.substr(i + 1, 2) == "at" && i + 3 < text.size() && IsBlank(text[i + 3])) {
      return i;
    }
  }
  return std::string_view::npos;
}

// A test at a line, called as what stands behind its mark.
Test NamedBy(Kind kind, size_t index, std::string_view text) {
  Test test;
  test.kind = kind;
  test.line = static_cast<uint32_t>(index) + 1;
  test.name = std::string(Trimmed(text));
  return test;
}

// `-- GRAD: function at argument` is the call `(function) (argument)`, of which the parts are taken apart again when it is checked.
std::optional<Test> GradientIn(const std::vector<Line>& lines, size_t index) {
  std::string_view line = lines[index].text;
  const size_t from = BehindMark(line, "-- GRAD:");
  if (from == std::string_view::npos) return std::nullopt;
  Test test = NamedBy(Kind::Gradient, index, line.substr(from));
  const size_t at = FindAt(line.substr(from));
  if (at == std::string_view::npos || Trimmed(line.substr(from, at)).empty() || Trimmed(line.substr(from + at + 3)).empty()) {
    test.fault = "`-- GRAD: function at argument` is wanted";
    return test;
  }
  TakeText(lines, index, index + 1, from, line.size(), test);
  test.text[from - 1] = '(';
  test.text.replace(from + at, 4, ") (");
  test.text.insert(from + at + 3, " ");
  test.text.insert(test.text.size() - 1, ")");
  test.shown.insert(test.shown.size() - 1, " ");
  return test;
}

std::optional<Test> BenchIn(const std::vector<Line>& lines, size_t index) {
  std::string_view line = lines[index].text;
  const size_t from = BehindMark(line, "-- BENCH:");
  if (from == std::string_view::npos) return std::nullopt;
  Test test = NamedBy(Kind::Bench, index, line.substr(from));
  if (test.name.empty()) test.fault = "there is nothing to evaluate";
  TakeText(lines, index, index + 1, from, line.size(), test);
  return test;
}

// The test at a line of a comment that begins with `>>>` or `prop>`; `next` is the line behind it.
std::optional<Test> ExampleIn(const std::vector<Line>& lines, size_t index, size_t& next) {
  const Line& first = lines[index];
  if (first.content == std::string_view::npos) return std::nullopt;
  std::string_view content = first.text.substr(first.content);
  const bool property = content.starts_with("prop>");
  if (!property && !content.starts_with(">>>")) return std::nullopt;
  Test test;
  test.kind = property ? Kind::Property : Kind::Example;
  test.line = static_cast<uint32_t>(index) + 1;
  size_t from = first.content + (property ? 5 : 3);
  next = index + 1;
  auto goes_on = [&](size_t i) { return i < lines.size() && lines[i].content != std::string_view::npos && !lines[i].begins; };
  auto content_of = [&](size_t i) { return lines[i].text.substr(std::min(lines[i].content, lines[i].text.size())); };
  if (Trimmed(first.text.substr(from)) == ":{") {
    size_t last = next;
    // The lines of the block may have the prompt in front as well, as GHCi shows them.
    while (goes_on(last) && Trimmed(content_of(last)) != ":}" && Trimmed(content_of(last)) != ">>> :}") ++last;
    if (!goes_on(last)) {
      test.name = ":{";
      test.fault = "`:{` has no line `:}` in its comment";
      next = last;
      return test;
    }
    std::vector<Line> inside(lines.begin() + static_cast<std::ptrdiff_t>(next), lines.begin() + static_cast<std::ptrdiff_t>(last));
    for (Line& line : inside) {
      if (line.text.substr(std::min(line.content, line.text.size())).starts_with(">>>")) line.content += 3;
      if (test.name.empty()) test.name = std::string(Trimmed(line.text.substr(std::min(line.content, line.text.size()))));
    }
    if (inside.size() > 1) test.name += " ..";
    test.line = static_cast<uint32_t>(next) + 1;
    if (!inside.empty()) TakeText(inside, 0, inside.size(), inside[0].content, std::string_view::npos, test);
    next = last + 1;
  } else {
    test.name = std::string(Trimmed(first.text.substr(from)));
    TakeText(lines, index, index + 1, from, first.text.size(), test);
  }
  if (test.name.empty()) test.fault = "there is nothing to evaluate";
  if (property) return test;
  // What is printed: the lines that follow, without the blanks that stand before the prompt.
  const size_t indent = first.text.substr(0, first.content).size() - first.text.substr(0, first.content).find_last_not_of(" \t") - 1;
  for (; goes_on(next); ++next) {
    std::string_view line = content_of(next);
    if (Trimmed(line).empty() || line.starts_with(">>>") || line.starts_with("prop>") || Trimmed(line) == "-}") break;
    const size_t content_at = lines[next].content;
    const size_t blanks = content_at - (lines[next].text.substr(0, content_at).find_last_not_of(" \t") + 1);
    std::string expected(blanks > indent ? blanks - indent : 0, ' ');
    expected += line;
    if (expected.ends_with("-}")) expected.resize(expected.size() - 2);
    while (!expected.empty() && IsBlank(expected.back())) expected.pop_back();
    test.expected.push_back(expected);
  }
  return test;
}

}  // namespace

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::Case: return "case";
    case Kind::Example: return "example";
    case Kind::Property: return "property";
    case Kind::Gradient: return "gradient";
    case Kind::Bench: return "bench";
    case Kind::Suite: return "suite";
    case Kind::Whole: return "output";
  }
  return "";
}

std::vector<Test> TestsIn(std::string_view text) {
  std::vector<Line> lines = LinesOf(text);
  CommentFinder(lines).Run();
  std::vector<Test> tests;
  for (size_t i = 0; i < lines.size();) {
    size_t next = i + 1;
    std::optional<Test> found = CaseIn(lines, i);
    if (!found) found = GradientIn(lines, i);
    if (!found) found = BenchIn(lines, i);
    if (!found) found = ExampleIn(lines, i, next);
    if (found) tests.push_back(std::move(*found));
    i = next;
  }
  return tests;
}

}  // namespace df::test
