#include "parser/directives.h"

#include <array>
#include <cctype>
#include <cstdint>

#include <fmt/format.h>

namespace df {
namespace {

// Names, numbers and operators of a condition, by recursive descent in the order of C's precedences.
class Condition {
 public:
  using Macros = std::map<std::string, std::string, std::less<>>;
  Condition(const Macros& macros, std::string_view text, int depth) : macros_(macros), text_(text), depth_(depth) {}

  int64_t Value() {
    const int64_t value = Or();
    Space();
    if (at_ < text_.size()) bad_ = true;
    return value;
  }
  bool bad() const { return bad_; }

 private:
  static constexpr int kMostMacros = 50;  // within each other
  static constexpr int kMostNesting = 200;

  void Space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool Take(std::string_view op) {
    Space();
    if (text_.substr(at_, op.size()) != op) return false;
    at_ += op.size();
    return true;
  }
  std::string_view Word() {
    Space();
    const size_t from = at_;
    auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '\''; };
    while (at_ < text_.size() && part(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  int64_t Or() {
    int64_t left = And();
    while (Take("||")) {
      const int64_t right = And();
      left = left || right;
    }
    return left;
  }
  int64_t And() {
    int64_t left = Compare();
    while (Take("&&")) {
      const int64_t right = Compare();
      left = left && right;
    }
    return left;
  }
  int64_t Compare() {
    int64_t left = Sum();
    for (;;) {
      if (Take("==")) left = left == Sum();
      else if (Take("!=")) left = left != Sum();
      else if (Take("<=")) left = left <= Sum();
      else if (Take(">=")) left = left >= Sum();
      else if (Take("<")) left = left < Sum();
      else if (Take(">")) left = left > Sum();
      else return left;
    }
  }
  int64_t Sum() {
    uint64_t left = static_cast<uint64_t>(Product());
    for (;;) {
      if (Take("+")) left += static_cast<uint64_t>(Product());
      else if (Take("-")) left -= static_cast<uint64_t>(Product());
      else return static_cast<int64_t>(left);
    }
  }
  int64_t Product() {
    uint64_t left = static_cast<uint64_t>(Unary());
    while (Take("*")) left *= static_cast<uint64_t>(Unary());
    return static_cast<int64_t>(left);
  }
  int64_t Unary() {
    if (++nesting_ > kMostNesting) return bad_ = true, 0;
    const int64_t value = Simple();
    --nesting_;
    return value;
  }
  int64_t Simple() {
    Space();
    if (text_.substr(at_, 2) != "!=" && Take("!")) return !Unary();
    if (Take("-")) return static_cast<int64_t>(0 - static_cast<uint64_t>(Unary()));
    if (Take("(")) {
      const int64_t value = Or();
      bad_ |= !Take(")");
      return value;
    }
    const std::string_view word = Word();
    if (word.empty()) return bad_ = true, at_ = text_.size(), 0;
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return Number(word);
    if (word == "defined") {
      const bool brackets = Take("(");
      const std::string_view name = Word();
      bad_ |= name.empty() || (brackets && !Take(")"));
      return macros_.count(name) != 0 || IsVersionTest(name);
    }
    if (IsVersionTest(word)) return Version(word);
    auto macro = macros_.find(word);
    if (macro == macros_.end() || macro->second.empty()) return 0;
    if (depth_ > kMostMacros) return bad_ = true, 0;
    Condition inner(macros_, macro->second, depth_ + 1);
    const int64_t value = inner.Value();
    bad_ |= inner.bad();
    return value;
  }
  int64_t Number(std::string_view word) {
    uint64_t value = 0;
    for (char c : word) {
      if (std::isalpha(static_cast<unsigned char>(c))) break;  // `1L`
      value = value * 10 + static_cast<uint64_t>(c - '0');
    }
    return static_cast<int64_t>(value);
  }

  static bool IsVersionTest(std::string_view name) { return name.substr(0, 12) == "MIN_VERSION_"; }
  // `MIN_VERSION_base(4,8,0)`: that of GHC 9.0 is 4.15.1; of other packages everything is new enough.
  int64_t Version(std::string_view name) {
    std::array<int64_t, 3> wanted{}, has{INT64_MAX, 0, 0};
    if (name == "MIN_VERSION_base") has = {4, 15, 1};
    if (name == "MIN_VERSION_GLASGOW_HASKELL") has = {9, 0, 2};
    if (!Take("(")) return bad_ = true, 0;
    size_t i = 0;
    do {
      const int64_t part = Sum();
      if (i < wanted.size()) wanted[i] = part;
      ++i;
    } while (Take(","));
    bad_ |= !Take(")");
    return has >= wanted;
  }

  const Macros& macros_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_, nesting_ = 0;
  bool bad_ = false;
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::string_view TakeWord(std::string_view& text) {
  text = Trim(text);
  size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' || text[end] == '\'')) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// Without `/* .. */` and `// ..`, which end a line here.
std::string_view WithoutComment(std::string_view text) {
  for (std::string_view mark : {"/*", "//"})
    if (const size_t at = text.find(mark); at != std::string_view::npos) text = text.substr(0, at);
  return text;
}

}  // namespace

Directives::Directives()
    : macros_{{"__GLASGOW_HASKELL__", "900"}, {"__GLASGOW_HASKELL_FULL_VERSION__", "9.0.2"}, {"linux_HOST_OS", "1"}, {"x86_64_HOST_ARCH", "1"},
              {"WORD_SIZE_IN_BITS", "64"}} {}

const std::string* Directives::ValueOf(std::string_view name) const {
  auto found = macros_.find(name);
  return found == macros_.end() ? nullptr : &found->second;
}

bool Directives::Holds(std::string_view condition, Fault* fault) const {
  Condition parsed(macros_, WithoutComment(condition), 0);
  const bool holds = parsed.Value() != 0;
  if (parsed.bad()) *fault = {"", fmt::format("`{}`", Trim(condition).substr(0, 60)), "a condition"};
  return holds;
}

Directives::Fault Directives::Define(std::string_view rest) {
  const std::string_view name = TakeWord(rest);
  if (name.empty()) return {"", "`#define`", "a name behind it"};
  if (!rest.empty() && rest[0] == '(') return {fmt::format("macros with arguments, as `{}` is one, are", name), "", ""};
  macros_[std::string(name)] = std::string(Trim(WithoutComment(rest)));
  return {};
}

Directives::Fault Directives::Read(std::string_view line) {
  line.remove_prefix(1);
  const std::string_view word = TakeWord(line);
  Fault fault;
  if (word == "if" || word == "ifdef" || word == "ifndef") {
    bool holds = false;
    if (Active() && word == "if") {
      holds = Holds(line, &fault);
    } else if (Active()) {
      std::string_view rest = line;
      const std::string_view name = TakeWord(rest);
      if (name.empty()) fault = {"", fmt::format("`#{}`", word), "a name behind it"};
      holds = (macros_.count(name) != 0 || name.substr(0, 12) == "MIN_VERSION_") == (word == "ifdef");
    }
    branches_.push_back({Active(), Active() && holds, holds});
    return fault;
  }
  if (word == "elif" || word == "else" || word == "endif") {
    if (branches_.empty()) return {"", fmt::format("`#{}`", word), "an `#if` before it"};
    Branch& branch = branches_.back();
    if (word == "endif") {
      branches_.pop_back();
      return {};
    }
    if (branch.last) return {"", fmt::format("`#{}` behind the `#else`", word), "`#endif`"};
    const bool holds = word == "else" || (branch.outer && !branch.taken && Holds(line, &fault));
    branch.active = branch.outer && !branch.taken && holds;
    branch.taken |= holds;
    branch.last = word == "else";
    return fault;
  }
  if (!Active()) return {};
  if (word == "define") return Define(line);
  if (word == "undef") {
    macros_.erase(std::string(TakeWord(line)));
    return {};
  }
  if (word == "error") return {fmt::format("this case, of which `#error` says `{}`, is", Trim(line).substr(0, 200)), "", ""};
  if (word == "warning" || word == "line" || word == "pragma" || word.empty()) return {};
  if (word == "include") return {"`#include` is", "", ""};
  return {"", fmt::format("`#{}`", word.substr(0, 30)), "a directive of the C preprocessor"};
}

}  // namespace df
