// parser/lex_literal.cpp
//
// The lexer's literals: numbers, characters and strings (Haskell 2010 sections 2.5 and 2.6).
#include <algorithm>

#include "parser/lexer.h"

namespace df {
namespace {

// Longer ones could only come from a generator gone wrong; the base conversion below takes quadratic time.
constexpr size_t kMaxDecimalDigits = 1'000'000;
constexpr size_t kMaxBasedDigits = 20'000;

constexpr char32_t kLastChar = 0x10FFFF;

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

bool IsDigit(char c, unsigned base) { return DigitValue(c) < static_cast<int>(base); }

// Digits of a power-of-two base as decimal text.
std::string ToDecimal(std::string_view digits, unsigned base) {
  constexpr uint64_t kLimb = 1'000'000'000;
  std::vector<uint32_t> limbs{0};  // least significant first
  for (char c : digits) {
    uint64_t carry = static_cast<uint64_t>(DigitValue(c));
    for (uint32_t& limb : limbs) {
      carry += static_cast<uint64_t>(limb) * base;
      limb = static_cast<uint32_t>(carry % kLimb);
      carry /= kLimb;
    }
    if (carry) limbs.push_back(static_cast<uint32_t>(carry));
  }
  std::string text = fmt::format("{}", limbs.back());
  for (size_t i = limbs.size() - 1; i-- > 0;) text += fmt::format("{:09}", limbs[i]);
  return text;
}

// The ASCII control characters by their Haskell names, at their codes; DEL and SP stand apart.
constexpr std::string_view kControlNames[] = {"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS",
                                              "HT",  "LF",  "VT",  "FF",  "CR",  "SO",  "SI",  "DLE", "DC1",
                                              "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM",  "SUB",
                                              "ESC", "FS",  "GS",  "RS",  "US",  "SP"};

}  // namespace

void Lexer::LexDigits(unsigned base) {
  size_t begin = pos_ - 2;
  std::string digits;
  for (; IsDigit(Here(), base) || Here() == '_'; ++pos_)
    if (Here() != '_') digits += Here();
  if (digits.size() > kMaxBasedDigits) {
    Bad(Diag::NumberTooLong, SpanFrom(begin), digits.size(), kMaxBasedDigits);
    digits.resize(1);
  }
  Emit(TokenKind::Integer, begin, Intern(ToDecimal(digits, base)));
}

void Lexer::LexNumber() {
  size_t begin = pos_;
  if (Here() == '0') {
    char mark = At(pos_ + 1) | 0x20;
    unsigned base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    size_t first = pos_ + 2;
    while (At(first) == '_') ++first;
    if (base != 0 && IsDigit(At(first), base)) {
      pos_ += 2;
      return LexDigits(base);
    }
  }
  std::string digits;
  // Underscores stand between digits.
  auto read = [&] {
    for (;; ++pos_) {
      if (IsDigit(Here(), 10)) {
        digits += Here();
      } else {
        size_t next = pos_;
        while (At(next) == '_') ++next;
        if (next == pos_ || !IsDigit(At(next), 10)) return;
        pos_ = next - 1;
      }
    }
  };
  TokenKind kind = TokenKind::Integer;
  read();
  if (Here() == '.' && IsDigit(At(pos_ + 1), 10)) {
    kind = TokenKind::Fractional;
    digits += '.';
    ++pos_;
    read();
  }
  size_t exponent = pos_ + 1;
  if (At(exponent) == '+' || At(exponent) == '-') ++exponent;
  if ((Here() | 0x20) == 'e' && IsDigit(At(exponent), 10)) {
    kind = TokenKind::Fractional;
    digits += 'e';
    if (At(exponent - 1) == '-') digits += '-';
    pos_ = exponent;
    read();
  }
  if (digits.size() > kMaxDecimalDigits) {
    Bad(Diag::NumberTooLong, SpanFrom(begin), digits.size(), kMaxDecimalDigits);
    digits = "0";
  }
  if (kind == TokenKind::Integer) digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  Emit(kind, begin, Intern(digits));
}

// At a backslash. Appends what the escape stands for; reports and skips a bad one.
bool Lexer::ReadEscape(std::string& to) {
  size_t begin = pos_++;
  char c = Here();
  static constexpr std::string_view kLetters = "abfnrtv\\\"'";
  static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\\"'";
  if (size_t which = kLetters.find(c); c != '\0' && which != std::string_view::npos) {
    ++pos_;
    to += kMeanings[which];
    return true;
  }
  unsigned base = IsDigit(c, 10) ? 10 : c == 'x' || c == 'X' ? 16 : c == 'o' || c == 'O' ? 8 : 0;
  if (base != 0 && (base == 10 || IsDigit(At(pos_ + 1), base))) {
    if (base != 10) ++pos_;
    char32_t code = 0;
    for (; IsDigit(Here(), base); ++pos_)
      code = std::min<char32_t>(code * base + static_cast<char32_t>(DigitValue(Here())), kLastChar + 1);
    if (code > kLastChar) {
      Bad(Diag::EscapeOutOfRange, SpanFrom(begin), text_.substr(begin, std::min<size_t>(pos_ - begin, 20)));
      return false;
    }
    AppendUtf8(to, code);
    return true;
  }
  if (c == '^' && At(pos_ + 1) >= '@' && At(pos_ + 1) <= '_') {
    to += static_cast<char>(At(pos_ + 1) - '@');
    pos_ += 2;
    return true;
  }
  // The longest name wins: `\SOH` is one character.
  size_t best = 0;
  char value = 0;
  auto consider = [&](std::string_view name, char code) {
    if (name.size() > best && text_.substr(pos_, name.size()) == name) best = name.size(), value = code;
  };
  for (size_t i = 0; i < std::size(kControlNames); ++i) consider(kControlNames[i], static_cast<char>(i));
  consider("DEL", '\x7F');
  if (best != 0) {
    pos_ += best;
    to += value;
    return true;
  }
  if (!AtEnd() && Here() != '\n') pos_ += std::max(1u, DecodeUtf8(text_, pos_).length);
  std::string_view escape = text_.substr(begin, pos_ - begin);
  Bad(Diag::BadEscape, SpanFrom(begin), escape)
      .Hint(escape == "\\x" ? "hexadecimal digits follow `\\x`; a backslash itself is written `\\\\`" : "a backslash itself is written `\\\\`");
  return false;
}

void Lexer::LexChar() {
  size_t begin = pos_++;
  std::string value;
  if (Here() == '\\' && At(pos_ + 1) == '&') {
    pos_ += 2;  // `\&` is no character
  } else if (Here() == '\\' && At(pos_ + 1) != '\n' && At(pos_ + 1) != '\r' && pos_ + 1 < text_.size()) {
    if (!ReadEscape(value)) value = "?";
  } else if (Decoded c = DecodeUtf8(text_, pos_); c.length != 0 && c.code != '\n' && c.code != '\'') {
    pos_ += c.length;
    AppendUtf8(value, c.code);
  }
  if (Here() == '\'' && !value.empty()) {
    ++pos_;
    return Emit(TokenKind::Char, begin, Intern(value));
  }
  // Find the quote that the author may have meant to close it.
  size_t close = pos_;
  while (close < text_.size() && close - begin < 200 && text_[close] != '\n' && text_[close] != '\'') ++close;
  bool closed = At(close) == '\'' && close > begin + 1;
  bool empty = !closed && Here() == '\'';
  if (closed || empty) pos_ = close + 1;
  auto& report = Bad(Diag::BadCharLiteral, SpanFrom(begin),
                     closed            ? "a character literal holds exactly one character"
                     : empty            ? "a character literal is empty"
                                       : "a character literal is not closed");
  std::string_view inside = closed ? text_.substr(begin + 1, close - begin - 1) : "";
  // `7 'div' 2`
  size_t left = begin;
  while (left > 0 && text_[left - 1] == ' ') --left;
  bool operand = left > 0 && left < begin && (std::isalnum(static_cast<unsigned char>(text_[left - 1])) || text_[left - 1] == ')') &&
                 At(close + 1) == ' ' && (std::isalnum(static_cast<unsigned char>(At(close + 2))) || At(close + 2) == '(');
  bool name = !inside.empty() && std::islower(static_cast<unsigned char>(inside[0])) &&
              llvm::all_of(inside, [](unsigned char c) { return std::isalnum(c); });
  if (closed && operand && name)
    report.Hint(fmt::format("a function between its arguments stands in backquotes, `` `{0}` ``, a string in double quotes, `\"{0}\"`", inside));
  else if (closed) report.Hint("a string is written between double quotes");
  Emit(TokenKind::Char, begin, Intern(value.empty() ? "?" : value));
}

void Lexer::LexString() {
  size_t begin = pos_++;
  std::string value;
  bool moved_line = false;
  size_t line_begin = 0;
  while (Here() != '"') {
    if (AtEnd() || Here() == '\n') {
      if (!given_up_) Bad(Diag::UnterminatedString, SpanOf(begin, moved_line ? begin + 1 : pos_));
      break;
    }
    if (Here() != '\\') {
      Decoded c = DecodeUtf8(text_, pos_);
      if (c.length == 0) {
        size_t bad = pos_;
        while (!AtEnd() && DecodeUtf8(text_, pos_).length == 0) ++pos_;
        Bad(Diag::InvalidUtf8, SpanFrom(bad),
            fmt::format("0x{:02X}", static_cast<unsigned char>(text_[bad])));
        continue;
      }
      if (c.code < 0x20 && c.code != '\t') {
        ++pos_;
        Bad(Diag::UnexpectedCharacter, SpanOf(pos_ - 1, pos_),
            fmt::format("U+{:04X}", static_cast<uint32_t>(c.code)));
        continue;
      }
      value.append(text_, pos_, c.length);
      pos_ += c.length;
      continue;
    }
    if (At(pos_ + 1) == '&') {
      pos_ += 2;
      continue;
    }
    char next = At(pos_ + 1);
    if (next != ' ' && !(next >= '\t' && next <= '\r')) {
      ReadEscape(value);
      continue;
    }
    // A gap: white space, over lines too, up to the next backslash.
    ++pos_;
    for (; Here() == ' ' || (Here() >= '\t' && Here() <= '\r'); ++pos_)
      if (Here() == '\n') moved_line = true, line_begin = pos_ + 1;
    if (Here() == '\\') {
      ++pos_;
    } else if (!AtEnd()) {
      size_t bad = pos_;
      pos_ += std::max(1u, DecodeUtf8(text_, pos_).length);
      Bad(Diag::BadStringGap, SpanFrom(bad), fmt::format("`{}`", text_.substr(bad, pos_ - bad)));
    }
  }
  if (Here() == '"') ++pos_;
  Emit(TokenKind::String, begin, Intern(value));
  if (moved_line) {
    // The string's own place is on its first line; columns go on from the line on which it ends.
    column_from_ = line_begin;
    column_ = 1;
  }
}

}  // namespace df
