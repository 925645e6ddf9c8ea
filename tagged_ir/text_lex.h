// tagged_ir/text_lex.h
//
// Tokens of the text form of a tagged graph; for text_parse.cpp only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace df::ir::text {

enum class Tok : uint8_t { End, Bad, Name, Quoted, Number, Char, Node, Position, Symbol };

struct Token {
  Tok kind = Tok::End;
  std::string
      text;  // Name, Number, Node, Symbol: as written; Quoted: without quotes and escapes; Bad: the message
  uint32_t line = 1;
  int64_t code = 0;                 // Char
  uint32_t numbers[3] = {0, 0, 0};  // Position: file, line, column
  uint32_t port = 0;                // Node
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token Next();

 private:
  Token Bad(std::string message) {
    at_ = text_.size();
    return {Tok::Bad, std::move(message), line_};
  }
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void SkipBlanks();
  Token QuotedToken();
  Token CharToken();
  Token PositionToken();
  bool Number(uint32_t* value);
  bool Hex(size_t digits, uint32_t* value);

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

}  // namespace df::ir::text
