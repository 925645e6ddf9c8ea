#include "driver/repl/input_scan.h"

#include <string>

namespace df {
namespace {

// Opened less closed; what closes more than was opened is the parser's affair.
int64_t Brackets(const TokenBuffer& tokens) {
  int64_t open = 0;
  for (const Token& token : tokens.tokens) switch (token.kind) {
      case TokenKind::LeftParen:
      case TokenKind::LeftBracket:
      case TokenKind::LeftBrace: ++open; break;
      case TokenKind::RightParen:
      case TokenKind::RightBracket:
      case TokenKind::RightBrace: --open; break;
      default: break;
    }
  return open;
}

}  // namespace

void InputScan::Add(std::string_view line) {
  while (comments_ > 0) {
    size_t at = line.find_first_of("{-");
    if (at == std::string_view::npos || at + 1 >= line.size()) return;
    std::string_view pair = line.substr(at, 2);
    if (pair == "{-") ++comments_;
    if (pair == "-}") --comments_;
    line.remove_prefix(at + (pair == "{-" || pair == "-}" ? 2 : 1));
  }
  SourceManager sources;
  FileId file = sources.Add("line", std::string(line));
  Diagnostics ignored(sources);
  TokenBuffer tokens = Lex(sources, file, ignored);
  comments_ = tokens.open_comments;
  if (ignored.error_count() > (comments_ > 0 ? 1u : 0u)) known_ = false;
  brackets_ += Brackets(tokens);
}

void InputScan::Know(const TokenBuffer& all) {
  known_ = true;
  comments_ = all.open_comments;
  brackets_ = Brackets(all);
}

}  // namespace df
