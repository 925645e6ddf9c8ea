// parser/lex.h
//
// Source text -> tokens. The layout rule of Haskell 2010 section 10.3 is applied later, by the parser.
// In: one buffer of the SourceManager. Out: TokenBuffer. Look at it: dfc --emit=tokens.
#pragma once

#include <vector>

#include "lang/diagnostics.h"
#include "lang/interner.h"
#include "llvm/Support/raw_ostream.h"

namespace df {

enum class TokenKind : uint8_t {
#define DF_TOKEN(name, text) name,
#include "parser/token.def"
};

// "`case`", "a name": as diagnostics print a kind.
const char* Describe(TokenKind kind);

// One token. Layout tokens are not stored: `column` and `starts_line` let the parser apply the rule,
// with parse-error(t), where it knows what may follow.
struct Token {
  TokenKind kind;
  bool starts_line = false;   // the first token of its line
  bool space_before = false;  // white space, a comment or nothing before it: for `!x`, `~x`, `f @x`, `-x`
  bool space_after = false;
  uint32_t column = 0;        // from 1, tabs to multiples of 8
  Span span;
  Symbol text;                // name, or a literal's value as ast::Literal describes
  Symbol qualifier;           // of a qualified name
};

struct TokenBuffer {
  FileId file;
  std::vector<Token> tokens;       // ends with EndOfFile
  std::vector<Symbol> extensions;  // what LANGUAGE pragmas turn on or off (extensions.h)
  std::vector<Span> minimal;       // MINIMAL pragmas, `{-# .. #-}` and all, in order
  std::vector<Span> places;        // PLACE pragmas, likewise
  std::vector<uint32_t> skipped;   // where characters that cannot be a token were left out, in order
  bool truncated = false;          // the lexer gave up before the end of the text, and said so
  uint32_t open_comments = 0;      // the text ends inside so many comments, one in the other
};

// Never fails: what cannot be a token is reported and skipped. Invalid UTF-8 is reported with its place.
TokenBuffer Lex(const SourceManager& sources, FileId file, Diagnostics& diags);
void Dump(const TokenBuffer& tokens, const SourceManager& sources, llvm::raw_ostream& out);

}  // namespace df
