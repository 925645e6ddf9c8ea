#include "tagged_ir/text_lex.h"

#include <algorithm>
#include <charconv>

#include "tagged_ir/text_format.h"

namespace df::ir::text {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '\n') ++line_;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at_;
    } else if (c == '-' && Peek(1) == '-') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

bool Lexer::Number(uint32_t* value) {
  size_t begin = at_;
  while (IsDigit(Peek())) ++at_;
  auto [end, status] = std::from_chars(text_.data() + begin, text_.data() + at_, *value);
  return status == std::errc() && end == text_.data() + at_;
}

bool Lexer::Hex(size_t digits, uint32_t* value) {
  size_t end = std::min(at_ + digits, text_.size());
  auto [last, status] = std::from_chars(text_.data() + at_, text_.data() + end, *value, 16);
  bool good = status == std::errc() && last != text_.data() + at_;
  at_ = static_cast<size_t>(last - text_.data());
  return good;
}

Token Lexer::QuotedToken() {
  Token token{Tok::Quoted, "", line_};
  for (++at_; Peek() != '"'; ++at_) {
    if (at_ >= text_.size() || Peek() == '\n') return Bad("a quotation mark is missing");
    char c = Peek();
    if (c != '\\') {
      token.text += c;
      continue;
    }
    char escape = Peek(1);
    at_ += 1;
    uint32_t code = 0;
    switch (escape) {
      case '\\':
      case '"': token.text += escape; break;
      case 'n': token.text += '\n'; break;
      case 'x':
        ++at_;
        if (!Hex(2, &code)) return Bad("bad escape in a quoted text");
        token.text += static_cast<char>(code);
        --at_;
        break;
      default: return Bad("bad escape in a quoted text");
    }
  }
  ++at_;
  return token;
}

Token Lexer::CharToken() {
  Token token{Tok::Char, "", line_};
  ++at_;
  if (Peek() == '\\' && Peek(1) == 'u' && Peek(2) == '{') {
    at_ += 3;
    uint32_t code = 0;
    if (!Hex(8, &code) || Peek() != '}') return Bad("bad character");
    token.code = code;
  } else {
    token.code = static_cast<unsigned char>(Peek());
  }
  ++at_;
  if (Peek() != '\'') return Bad("bad character");
  ++at_;
  return token;
}

// @line:column or @file:line:column
Token Lexer::PositionToken() {
  Token token{Tok::Position, "", line_};
  uint32_t numbers[3];
  size_t count = 0;
  do {
    ++at_;
    if (count == 3 || !Number(&numbers[count++])) return Bad("bad position");
  } while (Peek() == ':' && IsDigit(Peek(1)));
  if (count < 2) return Bad("bad position");
  for (size_t i = 0; i < count; ++i) token.numbers[3 - count + i] = numbers[i];
  return token;
}

Token Lexer::Next() {
  SkipBlanks();
  if (at_ >= text_.size()) return {Tok::End, "", line_};
  char c = Peek();
  size_t begin = at_;
  auto rest = [&] { return std::string(text_.substr(begin, at_ - begin)); };
  if (IsNameStart(c)) {
    while (IsNameChar(Peek())) ++at_;
    return {Tok::Name, rest(), line_};
  }
  if (c == '"') return QuotedToken();
  if (c == '\'') return CharToken();
  if (c == '@') return PositionToken();
  if (c == '%') {
    ++at_;
    while (IsNameChar(Peek()) && Peek() != '.') ++at_;
    Token token{Tok::Node, rest(), line_};
    if (token.text.size() == 1) return Bad("`%` without a name");
    if (Peek() == '.') {
      ++at_;
      if (!Number(&token.port)) return Bad("bad result number");
    }
    return token;
  }
  if (IsDigit(c) || (c == '-' && Peek(1) != '>')) {
    for (++at_; IsNameChar(Peek()) || Peek() == '+' || Peek() == '-';) ++at_;
    return {Tok::Number, rest(), line_};
  }
  at_ += (c == '-' && Peek(1) == '>') || (c == '(' && Peek(1) == ')') ? 2 : 1;
  return {Tok::Symbol, rest(), line_};
}

}  // namespace df::ir::text
