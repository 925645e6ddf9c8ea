// parser/lexer.h
//
// The lexer's state, private to parser/lex*.cpp. One pass, no backtracking over more than one token.
#pragma once

#include <string>
#include <string_view>

#include "parser/directives.h"
#include "parser/lex.h"
#include "parser/unicode.h"

namespace df {

class Lexer {
 public:
  Lexer(const SourceManager& sources, FileId file, Diagnostics& diags)
      : text_(sources.Text(file)), file_(file), diags_(diags) {}
  // Of the text that a macro stands for, in that file.
  Lexer(std::string_view text, FileId file, Diagnostics& diags, const Directives& macros)
      : text_(text), file_(file), diags_(diags), directives_(macros) {}

  TokenBuffer Run();

 private:
  // lex.cpp: white space, comments, pragmas, names, operators.
  void SkipBlockComment();
  void ReadPragma(size_t begin, size_t end);
  void LexToken();
  void LexName();
  bool AtPromotion() const;
  void LexOperator();
  bool AtNameStart(size_t at) const;
  size_t NameEnd(size_t at) const;
  size_t OperatorEnd(size_t at) const;
  CharClass ClassAt(size_t at, uint32_t* length) const;
  void Emit(TokenKind kind, size_t begin, Symbol text = {}, Symbol qualifier = {});

  // At the beginning of a line: directives, and the lines that they leave out.
  void ReadDirectives();
  // The tokens of a macro instead of its name, which ends here.
  void EmitMacro(size_t begin, Symbol name, const std::string& value);

  // Instead of a message for each byte: one, and no text.
  void RefuseBinary();

  // lex_literal.cpp: numbers, characters, strings.
  void LexNumber();
  void LexDigits(unsigned base);
  void LexChar();
  void LexString();
  bool ReadEscape(std::string& to);

  // Where to and how far the text is read.
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  char Here() const { return At(pos_); }
  bool AtEnd() const { return pos_ >= text_.size(); }
  Span SpanFrom(size_t begin) const { return SpanOf(begin, pos_); }
  Span SpanOf(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  // Reports a bad character sequence, and gives up the rest of the text after too many of them.
  template <typename... Args>
  Diagnostics& Bad(Diag id, Span span, const Args&... args) {
    Diagnostics& report = diags_.Report(id, span, args...);
    if (++bad_ == kMaxBad) {
      given_up_ = true;
      text_ = text_.substr(0, pos_);
    }
    return report;
  }

  static constexpr uint32_t kMaxBad = 50;

  std::string_view text_;
  FileId file_;
  Diagnostics& diags_;
  TokenBuffer out_;
  size_t pos_ = 0;
  size_t column_from_ = 0;    // the column of this offset ..
  uint32_t column_ = 1;       // .. is this; brought up to date at each token
  bool line_start_ = true;
  uint32_t bad_ = 0;
  bool given_up_ = false;     // text_ now ends here
  Directives directives_;     // CPP
};

}  // namespace df
