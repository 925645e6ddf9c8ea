// parser/parse_hint.cpp
//
// What may have been meant where a token was not expected: what the layout rule did with the lines around it, and
// what other languages write there.
#include "parser/parser.h"

namespace df {
namespace {

// What is expected where a declaration is complete.
constexpr std::string_view kDeclarationEnd = "the end of the declaration";

// Hints that are given in several places.
constexpr const char* kNoDeclaration = "an expression by itself is no declaration; `main = ..` is what a program runs";
constexpr const char* kGoesOn = "a line that goes on with the one above must be indented more";
constexpr const char* kLambdaBody = "the body of a lambda follows `->`";
constexpr const char* kAlternativeResult = "the result of an alternative follows `->`";

bool IsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// What another language begins a line with.
std::string_view ForeignBeginning(std::string_view word) {
  if (IsAny(word, {"def", "fun", "fn", "func", "function"})) return "a function is defined without a keyword: `name parameter = ..`";
  if (IsAny(word, {"val", "var", "const"})) return "a name is defined without a keyword: `name = ..`";
  if (IsAny(word, {"for", "foreach", "while"}))
    return "there are no loops: `mapM_` runs an action for each element, and a function that calls itself goes on for as long as it wants";
  if (word == "//") return "a comment begins with `--`";
  if (word == "/*") return "a comment over several lines stands between `{-` and `-}`";
  return {};
}

// Signs that look like one of the language's own.
std::string_view PlainSpelling(std::string_view sign) {
  if (sign == "\u2192") return "->";
  if (sign == "\u2190") return "<-";
  if (sign == "\u21D2") return "=>";
  if (sign == "\u2237") return "::";
  if (sign == "\uFF1D") return "=";
  if (sign == "\uFF5C") return "|";
  return {};
}

}  // namespace

// The line begins as in another language.
bool Parser::HintAtForeign(Diagnostics& report) const {
  if (token().kind == Kind::Comma) return false;  // `func x, y = ..`: a function of this name
  // `from n = ..` is a function; what is imported has a capital.
  const size_t first = LineStart(pos_ > 0 && AtLineEnd() ? pos_ - 1 : pos_);
  if (std::string_view word = diags_.sources().Text(TokenAt(first).span);
      IsAny(word, {"include", "using", "use", "require", "from"})) {
    if (TokenAt(first).column != 1 || TokenAt(first + 1).kind != Kind::ConId) return false;
    report.Hint(fmt::format("a module is imported by `import {}`", diags_.sources().Text(TokenAt(first + 1).span)));
    return true;
  }
  std::string_view hint = ForeignBeginning(diags_.sources().Text(TokenAt(LineStart(pos_)).span));
  if (!hint.empty()) report.Hint(std::string(hint));
  return !hint.empty();
}

size_t Parser::LineStart(size_t i) const {
  while (i > 0 && !TokenAt(i).starts_line) --i;
  return i;
}

// ` check a` above `  x <- ..`: the arrow's line goes on with the one that `token` stands on.
bool Parser::HintAtJoinedLine(Diagnostics& report) const {
  size_t arrow = pos_;
  while (TokenAt(arrow).kind != Kind::LeftArrow && !ItemEndsBefore(arrow)) ++arrow;
  const Token& first = TokenAt(LineStart(arrow));
  if (TokenAt(arrow).kind != Kind::LeftArrow || first.span.begin <= token().span.begin || blocks_.empty()) return false;
  report.Note(first.span, fmt::format("this line begins in column {}, the items of the block in column {}: so it goes on with the line above",
                                      first.column, blocks_.back().column));
  return true;
}

// A statement in the column of the definitions above it: `let x = 1` with `print x` right below the x.
bool Parser::HintAtDefinitions(Diagnostics& report) const {
  const size_t at = pos_ > 0 && (AtLineEnd() || token().starts_line) ? pos_ - 1 : pos_;
  const size_t first = LineStart(at);
  auto block = std::find_if(blocks_.rbegin(), blocks_.rend(), [](const BlockState& state) { return state.column > 0; });
  if (block == blocks_.rend() || (block->keyword != "`let`" && block->keyword != "`where`")) return false;
  if (TokenAt(first).column != block->column || TokenAt(first).span.begin <= block->first.begin || TokenAt(first).kind != Kind::VarId) return false;
  for (size_t i = first; TokenAt(i).kind != Kind::EndOfFile && (i == first || !TokenAt(i).starts_line); ++i)
    if (TokenAt(i).kind == Kind::Equals || TokenAt(i).kind == Kind::Bar || TokenAt(i).kind == Kind::DoubleColon) return false;
  report.Note(block->first, fmt::format("the block after {} begins here, in column {}", block->keyword, block->column));
  report.Hint(fmt::format("the line in column {0} is one more definition of the block; {1}", block->column,
                          block->keyword == "`let`" ? "further left it is a statement" : "what is computed stands before the `where`"));
  return true;
}

// The line that `token` stands on, or the one it begins, is not where it was meant to be.
bool Parser::HintAtLayout(Diagnostics& report, std::string_view expected) const {
  const Token& t = token();
  // It begins a line further left than a block that has just ended there.
  if (t.kind != Kind::EndOfFile && closed_block_.at == pos_ && t.starts_line && t.column < closed_block_.column) {
    report.Note(closed_block_.first, fmt::format("the block after {} begins here, in column {}", closed_block_.keyword,
                                                 closed_block_.column));
    bool in = closed_block_.keyword == "`let`";
    report.Hint(fmt::format("the line in column {} is no item of the block, and ends it{}", t.column,
                            in ? fmt::format("; `in` comes next, or the line begins in column {}", closed_block_.column) : ""));
    return true;
  }
  if (expected == "`<-`") return HintAtJoinedLine(report);
  if (expected != "the end of the declaration") return false;
  if (t.kind != Kind::Equals && t.kind != Kind::RightArrow && t.kind != Kind::LeftArrow &&
      t.kind != Kind::DoubleColon)
    return false;
  // It stands on a line that goes on with the one above, and was meant to begin an item. (A guard's line does go on.)
  size_t first = LineStart(pos_);
  if (TokenAt(first).kind == Kind::Bar) return false;
  uint32_t column = closed_block_.at == pos_ ? closed_block_.column
                    : blocks_.empty()        ? 0
                                             : blocks_.back().column;
  if (first == pos_ || first == 0 || column == 0 || TokenAt(first).column <= column) return false;
  report.Note(TokenAt(first).span, fmt::format("this line begins in column {}, the items of the block in column {}: "
                                               "so it goes on with the line above",
                                               TokenAt(first).column, column));
  if (diags_.sources().Text(TokenAt(first).span) == "otherwise")
    report.Hint("a guard begins with `|`: `| otherwise = ..`");
  else if (t.kind == Kind::Equals && column == 1)
    report.Hint("a local definition stands in a `let`, or under `where`");
  else if (t.kind == Kind::LeftArrow && column == 1)
    report.Hint("`<-` stands among the statements of a `do`: is `do` missing before the first of them?");
  return true;
}

// A keyword or an arrow with nothing behind it.
bool Parser::HintAtMissingValue(Diagnostics& report, std::string_view expected) const {
  if (expected != "an expression" || pos_ == 0) return false;
  switch (TokenAt(pos_ - 1).kind) {
    case Kind::If: report.Hint("a condition follows `if`"); return true;
    case Kind::Then:
    case Kind::Else:
    case Kind::In:
    case Kind::Case:
    case Kind::Equals:
    case Kind::RightArrow:
    case Kind::LeftArrow: report.Hint(fmt::format("a value follows `{}`", diags_.sources().Text(TokenAt(pos_ - 1).span))); return true;
    default: return false;
  }
}

std::string_view Parser::TextOf(size_t i) const { return diags_.sources().Text(TokenAt(i).span); }

std::string_view Parser::TextBefore() const { return pos_ > 0 ? TextOf(pos_ - 1) : std::string_view(); }

bool Parser::LineHas(Kind kind) const {
  for (size_t i = LineStart(pos_); i < pos_; ++i)
    if (TokenAt(i).kind == kind) return true;
  return false;
}

// What ends a line, or breaks one off. False: none of that.
bool Parser::HintAtBrokenLine(Diagnostics& report, std::string_view expected) const {
  const Token& t = token();
  const std::string_view text = TextOf(pos_);
  const bool line_ended = AtLineEnd() && t.kind != Kind::EndOfFile;
  auto say = [&](std::string hint) {
    report.Hint(std::move(hint));
    return true;
  };
  if (TextBefore() == "++" && AtLineEnd()) return say("values do not change; `x + 1` is the next number");
  if (HintAtForeign(report)) return true;
  if (HintAtDefinitions(report)) return true;
  if (expected == "`in`" && AtLineEnd()) return say("`let` in an expression is followed by `in` and the result");
  if (t.kind == Kind::Where && expected == kDeclarationEnd && closed_block_.at == pos_ && closed_block_.keyword == "`where`")
    return say("one `where` holds all the local definitions");
  if (HintAtLayout(report, expected)) return true;
  if (expected == "a field's name" && LineHas(Kind::If) && !LineHas(Kind::Then))
    return say("braces hold the fields of a record; the branches follow `then` and `else`");
  // `[Red..]`: the last two points belong to the name.
  if (text.size() > 2 && std::isupper(static_cast<unsigned char>(text[0])) && text.ends_with(".."))
    return say(fmt::format("`{0}` is the operator `.` of a module `{1}`; a space keeps them apart: `[{1} ..]`", text, text.substr(0, text.size() - 2)));
  if (line_ended && expected == "`=`" && TokenAt(LineStart(pos_ - 1)).kind == Kind::Bar) return say("the result of a guard follows `=`");
  // `putStrLn "hello"` at the top level; a line that begins with `=` goes on.
  if (line_ended && expected.starts_with("`=` after") && t.kind != Kind::Equals && t.kind != Kind::Bar) {
    const Token& first = TokenAt(LineStart(pos_ - 1));
    if (first.kind == Kind::VarId && first.span == TokenAt(pos_ - 1).span)
      return say(fmt::format("a definition gives a value to the name: `{} = ..`", TextBefore()));
    return say(kNoDeclaration);
  }
  // `do { let x = 1; print x }`
  if (t.kind == Kind::RightBrace && expected.starts_with("`=` after") && LineHas(Kind::Let) && LineHas(Kind::LeftBrace))
    return say("what follows the `;` is one more definition of the `let`; braces end it: `let { x = .. }; ..`");
  if (line_ended && t.starts_line && !blocks_.empty() && blocks_.back().column > 0 && t.column <= blocks_.back().column)
    return say(fmt::format("a line that goes on here must be indented more: it begins in column {}, and so do the items of the block around it", t.column));
  if (line_ended) return say("a line that goes on here must be indented more");
  if (std::string_view plain = PlainSpelling(text); !plain.empty()) return say(fmt::format("it is written `{}`", plain));
  return false;
}

// `=`, for `==` or for another sign.
void Parser::HintAtEquals(Diagnostics& report, std::string_view expected) const {
  // `| x = 1 = 2`, `if x = 1`
  const bool earlier = LineHas(Kind::Equals);
  if (closed_block_.at == pos_ && closed_block_.keyword == "`do`") report.Hint("a definition among statements begins with `let`");
  else if (expected == "`::`") report.Hint("a field has its type after `::`");
  else if (expected.starts_with("`->`")) report.Hint("the result of an alternative follows `->`");
  else if (earlier && LineHas(Kind::LeftBracket) && LineHas(Kind::Bar)) report.Hint("a generator is written `x <- xs`");
  else if (earlier && LineHas(Kind::Let)) report.Hint("definitions on one line are separated by `;`");
  else if (earlier || expected == "`then`") report.Hint("`==` compares; `=` defines");
}

// `->`, `<-` and `=>`.
void Parser::HintAtArrow(Diagnostics& report, std::string_view expected) const {
  const bool declaration_ends = expected == kDeclarationEnd;
  if (token().kind == Kind::LeftArrow) {
    if (expected.starts_with("`=` after")) report.Hint("`<-` takes the result of an action among the statements of a `do`");
    return;
  }
  if (token().kind == Kind::FatArrow) {
    if (declaration_ends && LineHas(Kind::Equals)) report.Hint("a function without a name is written `\\x -> ..`");
    if (expected == "`->`") report.Hint(LineHas(Kind::Backslash) ? kLambdaBody : kAlternativeResult);
    return;
  }
  if (expected == "`=`") report.Hint("in a definition the result of a guard follows `=`");
  else if (expected.starts_with("`=`")) report.Hint("a definition has `=`; `->` stands in lambdas and in the alternatives of `case`");
  if (expected == "`of`") report.Hint("a `case` has its `of` before the alternatives");
  if (declaration_ends && LineHas(Kind::Of) && LineHas(Kind::RightArrow)) report.Hint("alternatives on one line are separated by `;`");
  else if (declaration_ends && LineHas(Kind::Equals)) report.Hint("a function without a name is written `\\x -> ..`");
}

void Parser::HintAtBar(Diagnostics& report, std::string_view expected) const {
  if (expected == "an expression") report.Hint("guards come before the `=`: `f x | x > 0 = ..`");
  if (expected.starts_with("`=` and the value")) report.Hint(fmt::format("`{0} {{ x = .. }}` is `{0}` with another field `x`", TextBefore()));
  if (expected == kDeclarationEnd && token().starts_line && TextBefore() == "with")
    report.Hint("`case x of` looks at a value, and alternatives begin without `|`");
}

// A keyword or a bracket that ends something.
void Parser::HintAtClosing(Diagnostics& report, std::string_view expected) const {
  const Token& t = token();
  const bool declaration_ends = expected == kDeclarationEnd;
  auto line_says = [&](std::initializer_list<std::string_view> words) {
    for (size_t i = LineStart(pos_); i < pos_; ++i)
      if (IsAny(TextOf(i), words)) return true;
    return false;
  };
  if (t.kind == Kind::Else && next().kind == Kind::RightArrow) return void(report.Hint("`_ -> ..` is the alternative for all other values"));
  if (t.kind == Kind::Else && TextBefore() == "|") return void(report.Hint("`otherwise` is the guard for all other cases"));
  // `T.where c x y`
  if (t.kind == Kind::Where && TextBefore() == "." && expected == "an expression" && pos_ > 1 && TokenAt(pos_ - 2).kind == Kind::ConId && !t.space_before)
    return void(report.Hint("`where` is a keyword; `select c x y` of `Tensor` takes each element from x where c is True, else from y"));
  if (HintAtMissingValue(report, expected)) return;
  if (t.kind == Kind::In && t.starts_line && t.column > 1 && declaration_ends)
    report.Hint("in a `do` a `let` has no `in`; the `in` of an expression is indented more than its block's lines");
  else if (t.starts_line && t.column == 1) report.Hint(kGoesOn);
  else if (t.kind == Kind::RightParen && declaration_ends) report.Hint("no `(` is open here");
  else if (t.kind == Kind::RightBracket && declaration_ends) report.Hint("no `[` is open here");
  else if (t.kind == Kind::In && declaration_ends && line_says({"for"})) report.Hint(std::string(ForeignBeginning("for")));
  else if (t.kind == Kind::Of && declaration_ends && line_says({"switch", "match", "when"})) report.Hint("`case x of` looks at a value");
  else if (t.kind == Kind::Where && expected.starts_with("`=` after")) report.Hint("`where` follows the right side of the definition");
}

void Parser::HintAtComma(Diagnostics& report, std::string_view expected) const {
  auto line_goes_on_with = [&](Kind kind) {
    size_t i = pos_ + 1;
    while (TokenAt(i).kind != kind && TokenAt(i).kind != Kind::EndOfFile && !TokenAt(i).starts_line) ++i;
    return TokenAt(i).kind == kind && !TokenAt(i).starts_line;
  };
  const Kind first = TokenAt(LineStart(pos_)).kind;
  if (expected == "`=`") report.Hint("parameters stand one after the other, without commas");
  if (expected != kDeclarationEnd) return;
  if (first == Kind::Type) report.Hint("a type of several parts is a tuple: `(a, b)`");
  else if (LineHas(Kind::DoubleColon) && line_goes_on_with(Kind::FatArrow))
    report.Hint("several constraints stand in parentheses: `(Eq a, Show a) => ..`");
  else if (LineHas(Kind::DoubleColon) && !LineHas(Kind::Equals))
    report.Hint("`->` stands between the types of the parameters: `Int -> Int -> Int`");
  else if (first == Kind::Data) report.Hint("constructors are separated by `|`");
  else if (first == Kind::Bar) report.Hint("the fields of a constructor stand one after the other, without commas");
}

void Parser::HintAtVariable(Diagnostics& report, std::string_view expected) const {
  const std::string_view text = TextOf(pos_);
  // `import Data.List sort`, `import Data.List.sort`
  if (expected == kDeclarationEnd && TokenAt(LineStart(pos_)).kind == Kind::Import)
    return void(report.Hint(fmt::format("the names that are imported stand in parentheses: `({})`", text)));
  if (size_t dot = text.rfind('.'); expected == "a module name" && dot != std::string_view::npos && text.find('.') != dot)
    return void(report.Hint(fmt::format("a name is imported by `import {} ({})`; each part of a module's name begins with a capital letter",
                                        text.substr(0, dot), text.substr(dot + 1))));
  if (expected != "a constructor" && expected != "a module name") return;
  // `Data.list`: each part of a module's name does.
  std::string capital(text);
  for (size_t i = 0; i < capital.size(); ++i)
    if (i == 0 || capital[i - 1] == '.') capital[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[i])));
  const char* what = capital[0] == text[0] ? "each part of its name" : "its name";
  report.Hint(fmt::format("{} begins with a capital letter: `{}`", what, capital));
}

void Parser::HintAtOperator(Diagnostics& report, std::string_view expected) const {
  const std::string_view text = TextOf(pos_);
  if (token().kind == Kind::ConSym) {
    if (text == ":" && expected.starts_with("`=` and the value")) report.Hint("`=` gives a field its value");
    if (text == ":" && expected == "`::`") report.Hint("a field has its type after `::`");
    if (text == ":=") report.Hint("`=` defines");
    return;
  }
  const std::string_view before = TextBefore();
  if (expected.starts_with("`=` and the value") && text.size() > 1 && text.ends_with("="))
    report.Hint(fmt::format("the new value is written in full: `{0} = {0} r {1} ..` of a record `r`", before, text.substr(0, text.size() - 1)));
  else if (text == "." && next().kind == Kind::Integer && !token().space_after)
    report.Hint(fmt::format("a number begins with a digit: `0.{}`", diags_.sources().Text(next().span)));
  else if (before == "." && pos_ > 1 && TokenAt(pos_ - 2).kind == Kind::Integer && !TokenAt(pos_ - 1).space_before)
    report.Hint(fmt::format("digits follow the point: `{}.0`", TextOf(pos_ - 2)));
  else if (expected.starts_with("`=` after") && TokenAt(LineStart(pos_)).kind == Kind::Integer) report.Hint(kNoDeclaration);
  else if (text == "!" && expected == "an expression") report.Hint("`not x` is the opposite of `x`");
  else if (expected == "a declaration") report.Hint(text[0] == '#' ? "a comment begins with `--`" : kGoesOn);
}

void Parser::HintAtEndOfFile(Diagnostics& report, std::string_view expected) const {
  auto last_line_has = [&](Kind kind) {
    for (size_t i = pos_ > 0 ? LineStart(pos_ - 1) : 0; i < pos_; ++i)
      if (TokenAt(i).kind == kind) return true;
    return false;
  };
  if (expected.starts_with("`=`")) report.Hint(kNoDeclaration);
  else if (expected == "`->`") report.Hint(last_line_has(Kind::Backslash) ? kLambdaBody : kAlternativeResult);
  else HintAtMissingValue(report, expected);
}

void Parser::HintAtKeyword(Diagnostics& report, std::string_view expected) const {
  const std::string_view text = TextOf(pos_);
  const bool keyword = IsAny(text, {"type", "class", "data", "default", "deriving", "foreign", "import", "infix", "infixl", "infixr",
                                    "instance", "module", "newtype"});
  if (!keyword || token().starts_line) return;
  if (expected == "a module name") report.Hint("the name of a module begins with a capital letter");
  else report.Hint(fmt::format("`{}` is a keyword, and cannot be a name", text));
}

void Parser::HintAtUnexpected(Diagnostics& report, std::string_view expected) const {
  if (HintAtBrokenLine(report, expected)) return;
  switch (token().kind) {
    case Kind::Equals: return HintAtEquals(report, expected);
    case Kind::RightArrow:
    case Kind::LeftArrow:
    case Kind::FatArrow: return HintAtArrow(report, expected);
    case Kind::Let:
      if (expected == "a declaration") report.Hint("a definition at the top level needs no `let`");
      return;
    case Kind::Bar: return HintAtBar(report, expected);
    case Kind::Else:
    case Kind::Where:
    case Kind::Then:
    case Kind::In:
    case Kind::Of:
    case Kind::RightParen:
    case Kind::RightBracket:
    case Kind::RightBrace: return HintAtClosing(report, expected);
    case Kind::Comma: return HintAtComma(report, expected);
    case Kind::VarId: return HintAtVariable(report, expected);
    case Kind::ConSym:
    case Kind::VarSym: return HintAtOperator(report, expected);
    case Kind::LeftBrace:
      // `data Point = { x :: Int }`, `type Point = { x :: Int }`
      if ((expected == "a constructor" || expected == "a type") && TextBefore() == "=" && pos_ > 1 && TokenAt(pos_ - 2).kind == Kind::ConId)
        report.Hint(fmt::format("a constructor stands before its fields: `data {0} = {0} {{ .. }}`", Text(TokenAt(pos_ - 2).text)));
      return;
    case Kind::EndOfFile: return HintAtEndOfFile(report, expected);
    default: HintAtKeyword(report, expected);
  }
}

bool Parser::PragmasName(std::string_view extension) const {
  return llvm::any_of(buffer_.extensions, [&](Symbol name) { return Text(name) == extension; });
}

bool Parser::HasExtension(std::string_view extension) const { return options_.all_extensions || PragmasName(extension); }

bool Parser::IsTurnedOff(std::string_view extension) const { return PragmasName(fmt::format("No{}", extension)); }

// What a pragma of the file, `NoX`, takes out of Haskell 2010.
void Parser::RefuseIfTurnedOff(std::string_view extension, Span span, std::string_view what) {
  if (!IsTurnedOff(extension)) return;
  Complain(Diag::NeedsExtension, span, what, extension)
      .Hint(fmt::format("it is a part of Haskell 2010, which `No{}` turns off", extension));
}

// An extension that GHC's Haskell 2010 does not have without its pragma. What it adds is understood all the same.
void Parser::NeedExtension(std::string_view extension, Span span, std::string_view what) {
  if (HasExtension(extension)) return;
  Complain(Diag::NeedsExtension, span, what, extension)
      .Hint(fmt::format("write `{{-# LANGUAGE {} #-}}` in the first line", extension));
}

// Spellings of numbers that need an extension: `0b101`, `1_000`.
void Parser::CheckNumber(const Token& number) {
  if (options_.all_extensions) return;
  std::string_view text = diags_.sources().Text(number.span);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
    NeedExtension("BinaryLiterals", number.span, "a binary number");
  if (text.find('_') != std::string_view::npos)
    NeedExtension("NumericUnderscores", number.span, "an underscore in a number");
}

}  // namespace df
