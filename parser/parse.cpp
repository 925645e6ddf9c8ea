// parser/parse.cpp
//
// The parser's ground: the current token under the layout rule, blocks, errors and recovery.
#include "parser/parse.h"

#include "lang/budget.h"
#include "parser/parser.h"

namespace df {

Parser::Parser(const TokenBuffer& tokens, Diagnostics& diags, const ParseOptions& options)
    : buffer_(tokens), diags_(diags), muted_(diags.sources()), options_(options) {
  ast_.file = tokens.file;
  muted_.set_error_limit(0);
  // Matching brackets, for looking ahead in constant time. A declaration that begins in the first column
  // cannot close what the one above left open; none begins with a comma.
  match_.assign(tokens.tokens.size(), UINT32_MAX);
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < tokens.tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    auto close = [&](Kind kind) {
      if (open.empty() || tokens.tokens[open.back()].kind != kind) return;
      match_[open.back()] = i;
      open.pop_back();
    };
    switch (token.kind) {
      case Kind::LeftParen:
      case Kind::LeftBracket:
      case Kind::LeftBrace: open.push_back(i); break;
      case Kind::RightParen: close(Kind::LeftParen); break;
      case Kind::RightBracket: close(Kind::LeftBracket); break;
      case Kind::RightBrace: close(Kind::LeftBrace); break;
      default:
        if (token.starts_line && token.column == 1 && token.kind != Kind::Comma) open.clear();
    }
  }
  Refresh();
}

// ---------------------------------------------------------------- tokens

void Parser::Refresh() {
  const Token& t = token();
  kind_ = t.kind;
  if (panic_) {
    kind_ = Kind::Panic;
  } else if (!blocks_.empty() && blocks_.back().column != 0) {
    uint32_t column = blocks_.back().column;
    if (t.kind == Kind::EndOfFile || (t.starts_line && !line_handled_ && t.column < column))
      kind_ = Kind::VirtualClose;
    else if (t.starts_line && !line_handled_ && t.column == column && blocks_.back().separators)
      kind_ = Kind::VirtualSemicolon;
  }
}

// Takes the current token; a virtual semicolon is taken without the token behind it.
void Parser::Advance() {
  CheckBudget();
  if (kind_ == Kind::VirtualSemicolon) {
    line_handled_ = true;
  } else if (kind_ != Kind::VirtualClose && kind_ != Kind::Panic && token().kind != Kind::EndOfFile) {
    ++pos_;
    line_handled_ = false;
  }
  Refresh();
}

bool Parser::Take(Kind kind) {
  if (kind_ != kind) return false;
  Advance();
  return true;
}

bool Parser::Expect(Kind kind, std::string_view expected) {
  if (Take(kind)) return true;
  Fail(expected.empty() ? std::string_view(df::Describe(kind)) : expected);
  return false;
}

bool Parser::Close(Kind kind, Span open) {
  if (Take(kind)) return true;
  if (token().kind == Kind::EndOfFile && !panic_) reached_end_ = true;
  bool line_ended = AtLineEnd() && token().kind != Kind::EndOfFile, brace_left = token().kind == kind;
  if (line_ended) cut_short_ = true;
  std::string_view opening = diags_.sources().Text(open).substr(0, 1);
  auto& report = FailWith(Diag::Unclosed, Place(), DescribeHere(), df::Describe(kind),
                          opening == "`" ? std::string("the one before") : fmt::format("`{}`", opening));
  report.Note(open, "this is still open");
  if (token().kind == Kind::Equals && kind == Kind::RightBrace && TokenAt(pos_ - 1).kind == Kind::VarId)
    report.Hint(fmt::format("fields are separated by commas: `, {} = ..`", Text(TokenAt(pos_ - 1).text)));
  else if (token().kind == Kind::DoubleColon && kind == Kind::RightBrace && TokenAt(pos_ - 1).kind == Kind::VarId)
    report.Hint(fmt::format("fields are separated by commas: `, {} :: ..`", Text(TokenAt(pos_ - 1).text)));
  else if (token().kind == Kind::Equals && opening == "[") report.Hint("`x <- xs` goes through a list");
  else if (token().kind == Kind::Equals && opening != "{") report.Hint("`==` compares; `=` defines");
  if ((token().kind == Kind::In || token().kind == Kind::RightArrow) && opening == "[") report.Hint("`x <- xs` goes through a list");
  if (token().kind == Kind::Where && opening != "{") report.Hint("`where` stands at the end of a definition; within an expression it is `let .. in ..`");
  if (HintAtDefinitions(report)) return false;
  if (line_ended && brace_left) report.Hint("a closing bracket must be indented more than the block around it");
  return false;
}

bool Parser::IsOp(std::string_view op) const {
  return kind_ == Kind::VarSym && !token().qualifier.valid() && Text(token().text) == op;
}

bool Parser::IsWord(std::string_view word) const {
  return kind_ == Kind::VarId && !token().qualifier.valid() && Text(token().text) == word;
}

bool Parser::IsPrefixOccurrence(size_t i) const {
  const Token& t = TokenAt(i);
  if (t.space_after) return false;
  if (t.space_before || i == 0) return true;
  switch (TokenAt(i - 1).kind) {
    case Kind::LeftParen:
    case Kind::LeftBracket:
    case Kind::LeftBrace:
    case Kind::Comma:
    case Kind::Semicolon: return true;
    default: return false;
  }
}

Span Parser::From(Span begin) const {
  Span last = LastSpan();
  return last.end <= begin.begin ? begin : Cover(begin, last);
}

bool Parser::ItemEndsBefore(size_t i) const {
  const Token& t = TokenAt(i);
  if (t.kind == Kind::EndOfFile) return true;
  if (blocks_.empty() || blocks_.back().column == 0 || i == pos_ || !t.starts_line) return false;
  uint32_t column = blocks_.back().column;
  return blocks_.back().separators ? t.column <= column : t.column < column;
}

size_t Parser::SkipBrackets(size_t i) const {
  return i < match_.size() && match_[i] != UINT32_MAX ? match_[i] + 1 : i + 1;
}

// ---------------------------------------------------------------- errors

// Returns whether the error is to stay silent.
bool Parser::EnterPanic() {
  const bool at_end = token().kind == Kind::EndOfFile;
  // What was left out right before this token has been reported, and may be all that is wrong.
  uint32_t before = pos_ == 0 ? 0 : LastSpan().end;
  auto skipped = std::lower_bound(buffer_.skipped.begin(), buffer_.skipped.end(), before);
  bool beside_skipped = skipped != buffer_.skipped.end() && *skipped < token().span.begin;
  bool silent = panic_ || beside_skipped || AtSilentEnd();
  if (at_end && !panic_) reached_end_ = true;
  panic_ = true;
  kind_ = Kind::Panic;
  return silent;
}

bool Parser::AtLineEnd() const {
  return token().kind == Kind::EndOfFile || kind_ == Kind::VirtualSemicolon || kind_ == Kind::VirtualClose;
}

// Where an error at the current token is shown: what is missing at the end of a line is missing there.
Span Parser::Place() const {
  return AtLineEnd() ? Span{buffer_.file, LastSpan().end, LastSpan().end} : token().span;
}

std::string Parser::DescribeHere() const {
  const Token& t = token();
  if (t.kind == Kind::EndOfFile) return "end of file";
  if (kind_ == Kind::VirtualSemicolon || kind_ == Kind::VirtualClose) return df::Describe(kind_);
  std::string_view text = diags_.sources().Text(t.span);
  std::string shown(text.substr(0, text.find('\n')));
  if (shown.size() > 40) {
    size_t cut = 40;
    while (cut > 0 && (static_cast<unsigned char>(shown[cut]) & 0xC0) == 0x80) --cut;
    shown.resize(cut);
    shown += "..";
  }
  return t.kind == Kind::Backquote ? "a backquote" : fmt::format("`{}`", shown);
}

// Within the line that was to be in a block that is empty: that is told.
bool Parser::StandsInMissedLine() const {
  return !panic_ && pos_ > 0 && after_empty_ != 0 && LineStart(pos_) == after_empty_ && pos_ != after_empty_;
}

void Parser::Fail(std::string_view expected) {
  // An alternative of a `case` that was empty because they do not stand further right.
  if (cut_short_ && !panic_ && token().kind == Kind::RightArrow && expected == "the end of the declaration") {
    EnterPanic();
    return;
  }
  if (StandsInMissedLine()) {
    EnterPanic();
    return;
  }
  Span place = Place();
  std::string found = DescribeHere();
  if (AtLineEnd()) cut_short_ = true;
  // Hints look at the token as it stands, so the panic comes after them.
  Diagnostics hints(diags_.sources());
  hints.Report(Diag::UnexpectedToken, place, found, expected);
  HintAtUnexpected(hints, expected);
  auto& report = FailWith(Diag::UnexpectedToken, place, found, expected);
  TakeHints(report, hints);
}

void Parser::TakeHints(Diagnostics& report, const Diagnostics& hints) const {
  for (const DiagNote& note : hints.all()[0].notes) report.Note(note.span, note.text);
  if (!hints.all()[0].hint.empty()) report.Hint(hints.all()[0].hint);
}

void Parser::NotSupported(Span span, std::string_view what) { FailWith(Diag::NotSupported, span, what); }

Parser::Level::Level(Parser& parser) : parser_(parser) {
  too_deep_ = ++parser.depth_ > parser.options_.max_depth;
  if (too_deep_) parser.FailWith(Diag::NestedTooDeeply, parser.token().span, parser.options_.max_depth);
}

// ---------------------------------------------------------------- blocks

void Parser::PushBlock(uint32_t column, bool separators) {
  blocks_.push_back({column, separators});
  line_handled_ = true;
  Refresh();
}

void Parser::PopBlock() {
  blocks_.pop_back();
  Refresh();
}

bool Parser::Block(Span keyword, std::string_view keyword_text, llvm::function_ref<void()> item, bool same_column) {
  if (panic_) return false;
  if (Is(Kind::LeftBrace)) {
    Span open = token().span;
    Advance();
    PushBlock(0);
    bool any = BlockItems(false, item);
    Close(Kind::RightBrace, open);
    PopBlock();
    return any;
  }
  // A block must stand to the right of the one around it; else it is empty.
  uint32_t around = blocks_.empty() ? 0 : blocks_.back().column;
  if (token().kind == Kind::EndOfFile) {
    reached_end_ = true;
    return false;
  }
  if (token().column < around || (token().column == around && !same_column)) return false;
  ClosedBlock closed{0, token().column, token().span, std::string(keyword_text)};
  PushBlock(token().column);
  blocks_.back().first = closed.first;
  blocks_.back().keyword = keyword_text;
  bool any = BlockItems(true, item);
  if (token().kind == Kind::EndOfFile) open_block_ = true;
  PopBlock();
  closed.at = pos_;
  // A line that this block would have taken fell out of the one inside of it.
  // (The token may stand in the midst of that line.)
  bool inner = closed_block_.at == pos_ && TokenAt(LineStart(pos_)).column > (token().starts_line ? closed.column : closed_block_.column);
  if (!inner) closed_block_ = std::move(closed);
  return any;
}

bool Parser::BlockItems(bool closes, llvm::function_ref<void()> item) {
  bool any = false;
  size_t level = blocks_.size();
  for (;;) {
    while (Is(Kind::Semicolon) || Is(Kind::VirtualSemicolon)) Advance();
    if (Is(Kind::VirtualClose) || Is(Kind::EndOfFile) || (Is(Kind::RightBrace) && blocks_.back().column == 0))
      return any;
    size_t before = pos_;
    item();
    if (!panic_) {
      bool taken = pos_ != before;
      any |= taken;
      if (taken && (Is(Kind::Semicolon) || Is(Kind::VirtualSemicolon))) continue;
      if (closes || Is(Kind::VirtualClose) || Is(Kind::EndOfFile) || Is(Kind::RightBrace)) return any;
      Fail("`;` or `}`");
    }
    any = true;
    blocks_.resize(level);
    if (!Recover()) return any;
  }
}

bool Parser::Recover() {
  uint32_t column = blocks_.back().column;
  // Braces around the item hide the layout of what is outside them, but a line further left still ends it.
  uint32_t around = column;
  for (size_t i = blocks_.size(); around == 0 && i-- > 0;) around = blocks_[i].column;
  size_t braces = 0;
  for (;; ++pos_, line_handled_ = false) {
    const Token& t = token();
    if (t.kind == Kind::EndOfFile) return false;
    bool fresh_line = t.starts_line && !line_handled_;
    if (fresh_line && t.column <= around) {
      if (column == 0 || t.column < column) return false;
      break;
    }
    if (column != 0) continue;
    if (t.kind == Kind::LeftBrace) ++braces;
    if (t.kind == Kind::RightBrace && braces-- == 0) break;
    if (t.kind == Kind::Semicolon && braces == 0) break;
  }
  panic_ = false;
  Refresh();
  return true;
}

// ---------------------------------------------------------------- entry

ast::Ast Parse(const TokenBuffer& tokens, Diagnostics& diags, ParseOptions options) {
  return Parser(tokens, diags, options).ParseFile();
}

ReplInput ParseRepl(const TokenBuffer& tokens, Diagnostics& diags, ParseOptions options) {
  return Parser(tokens, diags, options).ParseReplInput();
}

ast::Ast ParseReplType(const TokenBuffer& tokens, Diagnostics& diags, ParseOptions options) {
  return Parser(tokens, diags, options).ParseOneType();
}

uint32_t WidestTuple(const TokenBuffer& buffer) {
  uint32_t widest = 0;
  // For each open bracket the components so far; those of a list have none.
  llvm::SmallVector<uint32_t> open;
  bool in_list = false;
  uint32_t column = 0;  // of the `import`
  for (const Token& token : buffer.tokens) {
    if (open.empty() && (token.kind == TokenKind::Semicolon || (token.starts_line && token.column <= column))) in_list = false;
    switch (token.kind) {
      case TokenKind::Module:
      case TokenKind::Import:
        in_list |= open.empty();
        column = token.column;
        break;
      case TokenKind::LeftParen: open.push_back(in_list ? 0 : 1); break;
      case TokenKind::LeftBracket:
      case TokenKind::LeftBrace: open.push_back(0); break;
      case TokenKind::Comma:
        if (!open.empty() && open.back() > 0) widest = std::max(widest, ++open.back());
        break;
      case TokenKind::RightParen:
      case TokenKind::RightBracket:
      case TokenKind::RightBrace:
        if (!open.empty()) open.pop_back();
        in_list &= !open.empty();
        break;
      default: break;
    }
  }
  return widest;
}

}  // namespace df
