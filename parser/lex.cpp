// parser/lex.cpp
//
// The lexer: white space, comments, pragmas, names and operators (Haskell 2010 chapter 2).
#include "parser/lex.h"

#include <cctype>

#include "lang/budget.h"
#include "lang/render.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "parser/extensions.h"
#include "parser/lexer.h"

namespace df {
namespace {

// A token takes 28 bytes; beyond this many the parser's own structures would no longer fit a usual machine.
constexpr size_t kMaxTokens = 8'000'000;
constexpr size_t kMaxBytes = 1u << 31;

const llvm::StringMap<TokenKind>& FixedSpellings() {
  static const llvm::StringMap<TokenKind>* table = [] {
    auto* map = new llvm::StringMap<TokenKind>;
#define DF_TOKEN(name, text)
#define DF_KEYWORD(name, spelling) (*map)[spelling] = TokenKind::name;
#define DF_RESERVED_OP(name, spelling) (*map)[spelling] = TokenKind::name;
#define DF_PUNCTUATION(name, spelling)
#include "parser/token.def"
    return map;
  }();
  return *table;
}

TokenKind PunctuationKind(char c) {
  switch (c) {
#define DF_TOKEN(name, text)
#define DF_KEYWORD(name, spelling)
#define DF_RESERVED_OP(name, spelling)
#define DF_PUNCTUATION(name, spelling) \
  case spelling[0]: return TokenKind::name;
#include "parser/token.def"
    case '`': return TokenKind::Backquote;
    default: return TokenKind::EndOfFile;
  }
}

// What UnicodeSyntax has another character for, or nothing.
std::string_view UnicodeSpelling(std::string_view op) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
      {"∷", "::"}, {"⇒", "=>"}, {"→", "->"}, {"←", "<-"}, {"∀", "forall"}};
  for (const auto& [spelling, plain] : kSpellings)
    if (op == spelling) return plain;
  return {};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

const char* Describe(TokenKind kind) {
  switch (kind) {
#define DF_TOKEN(name, text) \
  case TokenKind::name: return text;
#include "parser/token.def"
  }
  return "";
}

CharClass Lexer::ClassAt(size_t at, uint32_t* length) const {
  *length = 1;
  if (at >= text_.size()) return CharClass::Other;
  if (static_cast<unsigned char>(text_[at]) < 0x80) return AsciiClass(text_[at]);
  Decoded c = DecodeUtf8(text_, at);
  *length = c.length;
  return c.length == 0 ? CharClass::Other : ClassOf(c.code);
}

bool Lexer::AtNameStart(size_t at) const {
  uint32_t length;
  CharClass cls = ClassAt(at, &length);
  return cls == CharClass::Lower || cls == CharClass::Upper;
}

size_t Lexer::NameEnd(size_t at) const {
  uint32_t length;
  for (;; at += length) {
    CharClass cls = ClassAt(at, &length);
    if (cls != CharClass::Lower && cls != CharClass::Upper && cls != CharClass::Continue) return at;
  }
}

size_t Lexer::OperatorEnd(size_t at) const {
  uint32_t length;
  for (;; at += length)
    if (ClassAt(at, &length) != CharClass::Symbol) return at;
}

void Lexer::Emit(TokenKind kind, size_t begin, Symbol text, Symbol qualifier) {
  // Columns are counted from the last token on, so that a long line costs linear time.
  for (; column_from_ < begin; ++column_from_) {
    char c = text_[column_from_];
    if (c == '\t')
      column_ = (column_ - 1) / 8 * 8 + 9;
    else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      ++column_;
  }
  Token token{kind};
  token.starts_line = line_start_;
  token.column = column_;
  token.span = SpanOf(begin, pos_);
  token.text = text;
  token.qualifier = qualifier;
  auto blank = [&](char c) { return AsciiClass(c) == CharClass::Space; };
  token.space_before = begin == 0 || blank(text_[begin - 1]) ||
                       (begin >= 2 && text_[begin - 1] == '}' && text_[begin - 2] == '-');
  token.space_after = AtEnd() || blank(Here()) || (Here() == '{' && At(pos_ + 1) == '-');
  if (directives_.on && (kind == TokenKind::VarId || kind == TokenKind::ConId) && !qualifier.valid())
    if (const std::string* value = directives_.ValueOf(Text(text))) return EmitMacro(begin, text, *value);
  line_start_ = false;
  out_.tokens.push_back(token);
}

void Lexer::EmitMacro(size_t begin, Symbol name, const std::string& value) {
  Directives inner = directives_.MacrosAlone();
  inner.Undefine(Text(name));  // in its own text it is a name
  Lexer lexer(Text(Intern(value)), file_, diags_, inner);
  for (Token token : lexer.Run().tokens) {
    if (token.kind == TokenKind::EndOfFile) break;
    token.span = SpanOf(begin, pos_);
    token.column = column_;
    token.starts_line = std::exchange(line_start_, false);
    out_.tokens.push_back(token);
  }
}

void Lexer::ReadDirectives() {
  while (!AtEnd() && (Here() == '#' || !directives_.Active())) {
    const size_t begin = pos_;
    const bool directive = Here() == '#';
    size_t end = std::min(text_.find('\n', pos_), text_.size());
    std::string line(text_.substr(begin, end - begin));
    // A backslash at its end joins a line with the next one.
    while (directive && !line.empty() && line.back() == '\\' && end < text_.size()) {
      const size_t next = std::min(text_.find('\n', end + 1), text_.size());
      line.pop_back();
      line += text_.substr(end + 1, next - end - 1);
      end = next;
    }
    pos_ = end;
    if (directive) {
      const Directives::Fault fault = directives_.Read(line);
      if (!fault.unsupported.empty()) Bad(Diag::NotSupported, SpanFrom(begin), fault.unsupported);
      else if (fault.any()) Bad(Diag::UnexpectedToken, SpanFrom(begin), fault.text, fault.expected);
    }
    if (!AtEnd()) ++pos_;
  }
  column_from_ = pos_;
}

// At `{-`. Comments nest; a pragma is a comment whose text is looked at.
void Lexer::SkipBlockComment() {
  size_t begin = pos_;
  uint32_t depth = 0;
  while (!AtEnd()) {
    if (Here() == '{' && At(pos_ + 1) == '-') {
      ++depth;
      pos_ += 2;
    } else if (Here() == '-' && At(pos_ + 1) == '}') {
      pos_ += 2;
      if (--depth == 0) {
        if (At(begin + 2) == '#') ReadPragma(begin + 3, pos_ - 2);
        return;
      }
    } else {
      if (Here() == '\n') {
        line_start_ = true;
        column_from_ = pos_ + 1;
        column_ = 1;
      }
      ++pos_;
    }
  }
  out_.open_comments = depth;
  diags_.Report(Diag::UnterminatedComment, SpanOf(begin, begin + 2));
}

// `LANGUAGE A, B #`, and where `MINIMAL ..` is, which the parser reads with its class, and `PLACE ..`, read by place.cpp; other pragmas say
// nothing that we need.
void Lexer::ReadPragma(size_t begin, size_t end) {
  size_t whole = begin;
  if (end > begin && text_[end - 1] == '#') --end;
  auto skip_space = [&] {
    while (begin < end && AsciiClass(text_[begin]) == CharClass::Space) ++begin;
  };
  auto word = [&]() -> std::string_view {
    skip_space();
    size_t from = begin;
    while (begin < end && (AsciiClass(text_[begin]) <= CharClass::Continue) &&
           AsciiClass(text_[begin]) != CharClass::Other)
      ++begin;
    return text_.substr(from, begin - from);
  };
  const std::string_view keyword = word();
  if (llvm::StringRef(keyword).equals_insensitive("MINIMAL")) out_.minimal.push_back(SpanOf(whole - 3, pos_));
  if (llvm::StringRef(keyword).equals_insensitive("PLACE")) out_.places.push_back(SpanOf(whole - 3, pos_));
  if (!llvm::StringRef(keyword).equals_insensitive("LANGUAGE")) return;
  for (;;) {
    std::string_view name = word();
    if (name.empty()) {
      diags_.Report(Diag::BadPragma, SpanOf(whole - 3, end));
      return;
    }
    size_t from = static_cast<size_t>(name.data() - text_.data());
    directives_.on |= name == "CPP";
    if (!ApplyExtension(name, out_.extensions)) {
      auto& report = diags_.Report(Diag::UnknownExtension, SpanOf(from, begin), name.substr(0, 60));
      // `NoBangPattern`
      const bool off = name.starts_with("No");
      std::string_view near = NearestName(off ? name.substr(2) : name, ExtensionNames());
      if (!near.empty()) report.Hint(fmt::format("perhaps `{}{}` is meant", off ? "No" : "", near));
    }
    skip_space();
    if (begin == end) return;
    if (text_[begin] != ',') {
      size_t at = begin;
      bool more = !word().empty();
      auto& report = diags_.Report(Diag::BadPragma, more ? SpanOf(at, begin) : SpanOf(whole - 3, end));
      if (more) report.Hint("the names are separated by commas");
      return;
    }
    ++begin;
  }
}

// Names, with as many module qualifiers as there are: `Data.Map.insert`, `M..`, `Just`.
void Lexer::LexName() {
  size_t begin = pos_;
  size_t qualifier_end = begin;  // the qualifier is [begin, qualifier_end)
  size_t part = begin;
  for (;;) {
    uint32_t length;
    bool upper = ClassAt(part, &length) == CharClass::Upper;
    pos_ = NameEnd(part);
    std::string_view name = text_.substr(part, pos_ - part);
    // Interned where it is needed only: a chain of n qualifiers has n of them.
    auto qualifier_here = [&] {
      return qualifier_end > begin ? Intern(text_.substr(begin, qualifier_end - begin)) : Symbol();
    };
    if (!upper) {
      bool qualified = qualifier_end > begin;
      auto fixed = FixedSpellings().find(llvm::StringRef(name.data(), name.size()));
      if (fixed == FixedSpellings().end()) {
        Emit(TokenKind::VarId, begin, Intern(name), qualifier_here());
      } else if (!qualified) {
        Emit(fixed->second, begin);
      } else {
        // `M.where` is not a name: the constructor, and what follows by itself.
        pos_ = qualifier_end;
        part = begin;
        size_t last = text_.substr(begin, qualifier_end - begin).rfind('.');
        bool nested = last != std::string_view::npos;
        part = nested ? begin + last + 1 : begin;
        Emit(TokenKind::ConId, begin, Intern(text_.substr(part, qualifier_end - part)),
             nested ? Intern(text_.substr(begin, last)) : Symbol());
      }
      return;
    }
    if (Here() == '.') {
      if (AtNameStart(pos_ + 1)) {
        qualifier_end = pos_;
        part = pos_ + 1;
        continue;
      }
      size_t end = OperatorEnd(pos_ + 1);
      std::string_view op = text_.substr(pos_ + 1, end - pos_ - 1);
      if (!op.empty() && !FixedSpellings().contains(llvm::StringRef(op.data(), op.size()))) {
        Symbol module = Intern(text_.substr(begin, pos_ - begin));
        pos_ = end;
        Emit(op[0] == ':' ? TokenKind::ConSym : TokenKind::VarSym, begin, Intern(op), module);
        return;
      }
    }
    Emit(TokenKind::ConId, begin, Intern(name), qualifier_here());
    return;
  }
}

void Lexer::LexOperator() {
  size_t begin = pos_;
  pos_ = OperatorEnd(pos_);
  std::string_view op = text_.substr(begin, pos_ - begin);
  // UnicodeSyntax: `→` is `->`, and so on.
  const std::string_view plain = UnicodeSpelling(op);
  const bool other = !plain.empty() && llvm::is_contained(out_.extensions, Intern("UnicodeSyntax"));
  const std::string_view spelling = other ? plain : op;
  auto fixed = FixedSpellings().find(llvm::StringRef(spelling.data(), spelling.size()));
  if (fixed != FixedSpellings().end())
    Emit(fixed->second, begin);
  else if (other)
    Emit(TokenKind::VarId, begin, Intern(plain));
  else
    Emit(op[0] == ':' ? TokenKind::ConSym : TokenKind::VarSym, begin, Intern(op));
}

// DataKinds: the quote of `'S n`, `'[a]` and `a ': b`, before a constructor that is a type.
bool Lexer::AtPromotion() const {
  const char next = At(pos_ + 1);
  return (std::isupper(static_cast<unsigned char>(next)) || next == ':' || next == '[') && At(pos_ + 2) != '\'' &&
         llvm::is_contained(out_.extensions, Intern("DataKinds"));
}

void Lexer::LexToken() {
  CheckBudget();
  size_t begin = pos_;
  uint32_t length;
  CharClass cls = ClassAt(pos_, &length);
  if (IsDigit(Here())) return LexNumber();
  if (Here() == '"') return LexString();
  if (Here() == '\'' && AtPromotion()) {
    ++pos_;
    if (Here() != '[') return;
    ++pos_;
    return Emit(TokenKind::LeftBracket, begin, Intern("'"));  // the parser has to know
  }
  if (Here() == '\'') return LexChar();
  if (cls == CharClass::Lower || cls == CharClass::Upper) return LexName();
  if (cls == CharClass::Symbol) return LexOperator();
  if (TokenKind kind = PunctuationKind(Here()); kind != TokenKind::EndOfFile) {
    ++pos_;
    return Emit(kind, begin);
  }
  if (length == 0) {
    // One report for a run of them: what is not UTF-8 is usually another encoding throughout.
    while (!AtEnd() && DecodeUtf8(text_, pos_).length == 0) ++pos_;
    out_.skipped.push_back(static_cast<uint32_t>(begin));
    Bad(Diag::InvalidUtf8, SpanFrom(begin),
        fmt::format("0x{:02X}", static_cast<unsigned char>(text_[begin])));
    return;
  }
  pos_ += length;
  out_.skipped.push_back(static_cast<uint32_t>(begin));
  std::string_view bytes = text_.substr(begin, length);
  char32_t code = DecodeUtf8(text_, begin).code;
  bool visible = code > 0x20 && code != 0x7F && !(code >= 0x80 && code < 0xA0) &&
                 !(code >= 0x2000 && code < 0x2010) && !(code >= 0x2028 && code < 0x2030) && code != 0xFEFF;
  auto& report =
      Bad(Diag::UnexpectedCharacter, SpanFrom(begin),
          visible ? fmt::format("`{}`", bytes) : fmt::format("U+{:04X}", static_cast<uint32_t>(code)));
  if (code == 0x201C || code == 0x201D) report.Hint("strings are written between straight quotes, \"..\"");
  if (code == 0x2018 || code == 0x2019) report.Hint("characters are written between straight quotes, '..'");
}

namespace {

// Whether the text begins like a graph file, a program or an archive: these are full of control characters. What is
// said of each byte would help nobody.
bool LooksBinary(std::string_view text) {
  text = text.substr(0, 4096);
  size_t controls = static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    unsigned char byte = static_cast<unsigned char>(c);
    return byte < 0x20 && !(byte >= '\t' && byte <= '\r');
  }));
  return controls >= 16 && controls >= text.size() / 32;
}

// By its mark, or by every second byte being zero, which a text of ASCII without the mark has.
bool IsUtf16(std::string_view text) {
  if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF") return true;
  text = text.substr(0, 64);
  if (text.size() < 4) return false;
  size_t zeros[2] = {0, 0};
  for (size_t i = 0; i < text.size(); ++i) zeros[i % 2] += text[i] == '\0';
  return (zeros[0] == 0) != (zeros[1] == 0) && std::max(zeros[0], zeros[1]) == (zeros[0] ? (text.size() + 1) / 2 : text.size() / 2);
}

}  // namespace

void Lexer::RefuseBinary() {
  bool utf16 = IsUtf16(text_);
  if (!utf16 && !LooksBinary(text_)) return;
  diags_.Report(Diag::TooManyBadCharacters, SpanOf(0, 0))
      .Hint(utf16 ? "it is UTF-16; save it as UTF-8" : "a compiled graph is run with `dfc run FILE.graph`");
  out_.truncated = true;
  text_ = text_.substr(0, 0);
}

TokenBuffer Lexer::Run() {
  out_.file = file_;
  if (text_.size() > kMaxBytes) {
    diags_.Report(Diag::SourceTooLarge, SpanOf(0, 0), "2 GiB");
    out_.truncated = true;
    text_ = text_.substr(0, 0);
  }
  RefuseBinary();
  out_.tokens.reserve(std::min(text_.size() / 4 + 16, kMaxTokens));
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") column_from_ = pos_ = 3;
  if (text_.substr(pos_, 2) == "#!")
    while (!AtEnd() && Here() != '\n') ++pos_;
  while (!AtEnd()) {
    char c = Here();
    if (c == '\n') {
      line_start_ = true;
      column_from_ = ++pos_;
      column_ = 1;
      if (directives_.on) ReadDirectives();
    } else if (AsciiClass(c) == CharClass::Space) {
      ++pos_;
    } else if (c == '{' && At(pos_ + 1) == '-') {
      SkipBlockComment();
    } else if (c == '-' && At(pos_ + 1) == '-') {
      // Dashes alone begin a comment; `-->` and `--|` are operators.
      size_t dashes = pos_;
      while (At(dashes) == '-') ++dashes;
      if (OperatorEnd(dashes) != dashes) {
        LexToken();
        continue;
      }
      pos_ = std::min(text_.find('\n', dashes), text_.size());
    } else if (uint32_t length; ClassAt(pos_, &length) == CharClass::Space) {
      pos_ += length;
    } else {
      LexToken();
      if (out_.tokens.size() >= kMaxTokens) {
        diags_.Report(Diag::SourceTooLarge, SpanOf(pos_, pos_), fmt::format("{} tokens", kMaxTokens));
        out_.truncated = true;
        break;
      }
    }
  }
  if (directives_.IsOpen() && !given_up_) diags_.Report(Diag::Unclosed, SpanOf(text_.size(), text_.size()), "end of file", "`#endif`", "an `#if`");
  if (given_up_) {
    diags_.Report(Diag::TooManyBadCharacters, SpanOf(pos_, pos_));
    out_.truncated = true;
  }
  // The end stands left of everything, so that it closes every block.
  pos_ = text_.size();
  Token end{TokenKind::EndOfFile, true, true, true};
  end.span = SpanOf(pos_, pos_);
  out_.tokens.push_back(end);
  return std::move(out_);
}

TokenBuffer Lex(const SourceManager& sources, FileId file, Diagnostics& diags) {
  return Lexer(sources, file, diags).Run();
}

}  // namespace df
