// `{-# MINIMAL area, (name | label) #-}` in a class: which methods an instance has to define.
//
// A pragma is a comment to the lexer, which keeps its place: its text is read here. `,` binds more tightly than `|`.
#include "llvm/ADT/StringExtras.h"
#include "parser/parser.h"
#include "parser/unicode.h"

namespace df {
namespace {

using ast::Minimal;

constexpr uint32_t kMaxDepth = 100;

// Reads one formula; `ok` is false after what is none.
class MinimalReader {
 public:
  MinimalReader(std::string_view text, Span whole, ast::Ast& ast) : text_(text), whole_(whole), ast_(ast) {}

  bool ok = true;

  Minimal ReadAll() {
    SkipSpace();
    if (at_ == text_.size()) return {};
    Minimal all = ReadAny(0);
    ok = ok && at_ == text_.size();
    return all;
  }

 private:
  Minimal ReadAny(uint32_t depth) {
    return ReadChain('|', Minimal::Kind::Any, [&] {
      return ReadChain(',', Minimal::Kind::All, [&] { return ReadPart(depth); });
    });
  }

  template <typename Part>
  Minimal ReadChain(char separator, Minimal::Kind kind, Part part) {
    llvm::SmallVector<Minimal, 4> parts{part()};
    while (ok && Take(separator)) parts.push_back(part());
    if (parts.size() == 1) return parts[0];
    return {kind, {}, ast_.Copy<Minimal>(parts)};
  }

  // A method, an operator in parentheses, or a formula in them.
  Minimal ReadPart(uint32_t depth) {
    if (!Take('(')) return ReadName([](char c) { return IsLetter(c); });
    if (depth == kMaxDepth) return Refuse();
    Minimal inside = at_ < text_.size() && IsSymbol(text_[at_]) ? ReadName(IsSymbol) : ReadAny(depth + 1);
    if (!Take(')')) ok = false;
    return inside;
  }

  template <typename Test>
  Minimal ReadName(Test test) {
    const size_t from = at_;
    while (at_ < text_.size() && test(text_[at_])) ++at_;
    if (at_ == from) return Refuse();
    const uint32_t begin = whole_.begin + static_cast<uint32_t>(from);
    Minimal method{Minimal::Kind::Method, {Intern(text_.substr(from, at_ - from)), {}, {whole_.file, begin, whole_.begin + static_cast<uint32_t>(at_)}}, {}};
    SkipSpace();
    return method;
  }

  Minimal Refuse() {
    ok = false;
    return {};
  }

  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    SkipSpace();
    return true;
  }

  void SkipSpace() {
    while (at_ < text_.size() && llvm::isSpace(text_[at_])) ++at_;
  }

  static bool IsLetter(char c) {
    if (static_cast<unsigned char>(c) >= 0x80) return true;
    const CharClass cls = AsciiClass(c);
    return cls == CharClass::Upper || cls == CharClass::Lower || cls == CharClass::Continue;
  }
  static bool IsSymbol(char c) { return AsciiClass(c) == CharClass::Symbol; }

  std::string_view text_;  // without the pragma's brackets
  Span whole_;             // its place
  ast::Ast& ast_;
  size_t at_ = 0;
};

}  // namespace

// The pragma between the class's beginning and what follows it, and its place; null if there is none.
const Minimal* Parser::ParseMinimal(Span cls, Span& span) {
  const Minimal* found = nullptr;
  for (auto it = llvm::lower_bound(buffer_.minimal, cls.begin, [](Span pragma, uint32_t at) { return pragma.begin < at; });
       it != buffer_.minimal.end() && it->begin < token().span.begin; ++it) {
    std::string_view text = diags_.sources().Text(*it);
    const size_t from = llvm::StringRef(text).lower().find("minimal") + 7;
    size_t end = text.size() - 2;
    if (text[end - 1] == '#') --end;
    Span body{it->file, it->begin + static_cast<uint32_t>(from), it->begin + static_cast<uint32_t>(end)};
    MinimalReader reader(text.substr(from, end - from), body, ast_);
    Minimal formula = reader.ReadAll();
    if (!reader.ok) {
      diags_.Report(Diag::BadMinimal, *it);
      continue;
    }
    found = ast_.New<Minimal>(formula);
    span = *it;
  }
  return found;
}

}  // namespace df
