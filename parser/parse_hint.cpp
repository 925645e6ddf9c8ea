// parser/parse_hint.cpp
//
// What may have been meant where a token was not expected: what the layout rule did with the lines around it, and
// what other languages write there.
#include "parser/parser.h"

namespace df {
namespace {

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

void Parser::HintAtUnexpected(Diagnostics& report, std::string_view expected) const {
  const Token& t = token();
  bool line_ended = AtLineEnd() && t.kind != Kind::EndOfFile;
  std::string_view text = diags_.sources().Text(t.span);
  auto text_of = [&](size_t i) { return diags_.sources().Text(TokenAt(i).span); };
  const bool declaration_ends = expected == "the end of the declaration";
  // Whether the line up to here has such a token, or such a word.
  auto line_has = [&](Kind kind) {
    for (size_t i = LineStart(pos_); i < pos_; ++i)
      if (TokenAt(i).kind == kind) return true;
    return false;
  };
  auto last_line_has = [&](Kind kind) {
    for (size_t i = pos_ > 0 ? LineStart(pos_ - 1) : 0; i < pos_; ++i)
      if (TokenAt(i).kind == kind) return true;
    return false;
  };
  auto line_goes_on_with = [&](Kind kind) {
    size_t i = pos_ + 1;
    while (TokenAt(i).kind != kind && TokenAt(i).kind != Kind::EndOfFile && !TokenAt(i).starts_line) ++i;
    return TokenAt(i).kind == kind && !TokenAt(i).starts_line;
  };
  auto line_says = [&](std::initializer_list<std::string_view> words) {
    for (size_t i = LineStart(pos_); i < pos_; ++i)
      if (IsAny(text_of(i), words)) return true;
    return false;
  };
  std::string_view before = pos_ > 0 ? diags_.sources().Text(TokenAt(pos_ - 1).span) : std::string_view();
  if (before == "++" && AtLineEnd()) return void(report.Hint("values do not change; `x + 1` is the next number"));
  if (HintAtForeign(report)) return;
  if (HintAtDefinitions(report)) return;
  if (expected == "`in`" && AtLineEnd())
    return void(report.Hint("`let` in an expression is followed by `in` and the result"));
  if (t.kind == Kind::Where && declaration_ends && closed_block_.at == pos_ && closed_block_.keyword == "`where`")
    return void(report.Hint("one `where` holds all the local definitions"));
  if (HintAtLayout(report, expected)) return;
  if (expected == "a field's name" && line_has(Kind::If) && !line_has(Kind::Then))
    return void(report.Hint("braces hold the fields of a record; the branches follow `then` and `else`"));
  // `[Red..]`: the last two points belong to the name.
  if (text.size() > 2 && std::isupper(static_cast<unsigned char>(text[0])) && text.ends_with(".."))
    return void(report.Hint(fmt::format("`{0}` is the operator `.` of a module `{1}`; a space keeps them apart: `[{1} ..]`", text,
                                        text.substr(0, text.size() - 2))));
  if (line_ended && expected == "`=`" && TokenAt(LineStart(pos_ - 1)).kind == Kind::Bar)
    return void(report.Hint("the result of a guard follows `=`"));
  // `putStrLn "hello"` at the top level; a line that begins with `=` goes on.
  if (line_ended && expected.starts_with("`=` after") && t.kind != Kind::Equals && t.kind != Kind::Bar) {
    const Token& first = TokenAt(LineStart(pos_ - 1));
    if (first.kind == Kind::VarId && first.span == TokenAt(pos_ - 1).span)
      return void(report.Hint(fmt::format("a definition gives a value to the name: `{} = ..`", text_of(pos_ - 1))));
    return void(report.Hint("an expression by itself is no declaration; `main = ..` is what a program runs"));
  }
  // `do { let x = 1; print x }`
  if (t.kind == Kind::RightBrace && expected.starts_with("`=` after") && line_has(Kind::Let) && line_has(Kind::LeftBrace))
    return void(report.Hint("what follows the `;` is one more definition of the `let`; braces end it: `let { x = .. }; ..`"));
  if (line_ended && t.starts_line && !blocks_.empty() && blocks_.back().column > 0 && t.column <= blocks_.back().column)
    return void(report.Hint(fmt::format("a line that goes on here must be indented more: it begins in column {}, and so do the items of the block around it", t.column)));
  if (line_ended) return void(report.Hint("a line that goes on here must be indented more"));
  if (std::string_view plain = PlainSpelling(text); !plain.empty())
    return void(report.Hint(fmt::format("it is written `{}`", plain)));
  switch (t.kind) {
    case Kind::Equals: {
      // `| x = 1 = 2`, `if x = 1`
      const bool earlier = line_has(Kind::Equals);
      if (closed_block_.at == pos_ && closed_block_.keyword == "`do`")
        report.Hint("a definition among statements begins with `let`");
      else if (expected == "`::`") report.Hint("a field has its type after `::`");
      else if (expected.starts_with("`->`")) report.Hint("the result of an alternative follows `->`");
      else if (earlier && line_has(Kind::LeftBracket) && line_has(Kind::Bar)) report.Hint("a generator is written `x <- xs`");
      else if (earlier && line_has(Kind::Let)) report.Hint("definitions on one line are separated by `;`");
      else if (earlier || expected == "`then`") report.Hint("`==` compares; `=` defines");
      return;
    }
    case Kind::RightArrow:
      if (expected == "`=`") report.Hint("in a definition the result of a guard follows `=`");
      else if (expected.starts_with("`=`"))
        report.Hint("a definition has `=`; `->` stands in lambdas and in the alternatives of `case`");
      if (expected == "`of`") report.Hint("a `case` has its `of` before the alternatives");
      if (declaration_ends && line_has(Kind::Of) && line_has(Kind::RightArrow)) report.Hint("alternatives on one line are separated by `;`");
      else if (declaration_ends && line_has(Kind::Equals)) report.Hint("a function without a name is written `\\x -> ..`");
      return;
    case Kind::LeftArrow:
      if (expected.starts_with("`=` after")) report.Hint("`<-` takes the result of an action among the statements of a `do`");
      return;
    case Kind::FatArrow:
      if (declaration_ends && line_has(Kind::Equals)) report.Hint("a function without a name is written `\\x -> ..`");
      if (expected == "`->`") {
        bool lambda = false;
        for (size_t i = LineStart(pos_); i < pos_; ++i) lambda |= TokenAt(i).kind == Kind::Backslash;
        report.Hint(lambda ? "the body of a lambda follows `->`" : "the result of an alternative follows `->`");
      }
      return;
    case Kind::Let:
      if (expected == "a declaration") report.Hint("a definition at the top level needs no `let`");
      return;
    case Kind::Bar:
      if (expected == "an expression") report.Hint("guards come before the `=`: `f x | x > 0 = ..`");
      if (expected.starts_with("`=` and the value"))
        report.Hint(fmt::format("`{0} {{ x = .. }}` is `{0}` with another field `x`", before));
      if (declaration_ends && t.starts_line && before == "with") report.Hint("`case x of` looks at a value, and alternatives begin without `|`");
      return;
    case Kind::Else:
      if (next().kind == Kind::RightArrow) return void(report.Hint("`_ -> ..` is the alternative for all other values"));
      if (before == "|") return void(report.Hint("`otherwise` is the guard for all other cases"));
      [[fallthrough]];
    case Kind::Where:
      // `T.where c x y`
      if (t.kind == Kind::Where && before == "." && expected == "an expression" && pos_ > 1 && TokenAt(pos_ - 2).kind == Kind::ConId && !t.space_before)
        return void(report.Hint("`where` is a keyword; `select c x y` of `Tensor` takes each element from x where c is True, else from y"));
      [[fallthrough]];
    case Kind::Then:
    case Kind::In:
    case Kind::Of:
    case Kind::RightParen:
    case Kind::RightBracket:
    case Kind::RightBrace:
      if (HintAtMissingValue(report, expected)) return;
      if (t.kind == Kind::In && t.starts_line && t.column > 1 && expected == "the end of the declaration")
        report.Hint("in a `do` a `let` has no `in`; the `in` of an expression is indented more than its block's lines");
      else if (t.starts_line && t.column == 1) report.Hint("a line that goes on with the one above must be indented more");
      else if (t.kind == Kind::RightParen && expected == "the end of the declaration")
        report.Hint("no `(` is open here");
      else if (t.kind == Kind::RightBracket && expected == "the end of the declaration")
        report.Hint("no `[` is open here");
      else if (t.kind == Kind::In && declaration_ends && line_says({"for"})) report.Hint(std::string(ForeignBeginning("for")));
      else if (t.kind == Kind::Of && declaration_ends && line_says({"switch", "match", "when"})) report.Hint("`case x of` looks at a value");
      else if (t.kind == Kind::Where && expected.starts_with("`=` after")) report.Hint("`where` follows the right side of the definition");
      return;
    case Kind::Comma:
      if (declaration_ends && TokenAt(LineStart(pos_)).kind == Kind::Type)
        report.Hint("a type of several parts is a tuple: `(a, b)`");
      else if (declaration_ends && line_has(Kind::DoubleColon) && line_goes_on_with(Kind::FatArrow))
        report.Hint("several constraints stand in parentheses: `(Eq a, Show a) => ..`");
      else if (declaration_ends && line_has(Kind::DoubleColon) && !line_has(Kind::Equals))
        report.Hint("`->` stands between the types of the parameters: `Int -> Int -> Int`");
      else if (expected == "the end of the declaration" && TokenAt(LineStart(pos_)).kind == Kind::Data)
        report.Hint("constructors are separated by `|`");
      else if (expected == "the end of the declaration" && TokenAt(LineStart(pos_)).kind == Kind::Bar)
        report.Hint("the fields of a constructor stand one after the other, without commas");
      else if (expected == "`=`")
        report.Hint("parameters stand one after the other, without commas");
      return;
    case Kind::VarId:
      // `import Data.List sort`, `import Data.List.sort`
      if (declaration_ends && TokenAt(LineStart(pos_)).kind == Kind::Import)
        return void(report.Hint(fmt::format("the names that are imported stand in parentheses: `({})`", text)));
      if (size_t dot = text.rfind('.'); expected == "a module name" && dot != std::string_view::npos && text.find('.') != dot)
        return void(report.Hint(fmt::format("a name is imported by `import {} ({})`; each part of a module's name begins with a capital letter",
                                            text.substr(0, dot), text.substr(dot + 1))));
      if (expected == "a constructor" || expected == "a module name") {
        // `Data.list`: each part of a module's name does.
        std::string capital(text);
        for (size_t i = 0; i < capital.size(); ++i)
          if (i == 0 || capital[i - 1] == '.') capital[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[i])));
        const char* what = capital[0] == text[0] ? "each part of its name" : "its name";
        report.Hint(fmt::format("{} begins with a capital letter: `{}`", what, capital));
      }
      return;
    case Kind::ConSym:
      if (text == ":" && expected.starts_with("`=` and the value")) report.Hint("`=` gives a field its value");
      if (text == ":" && expected == "`::`") report.Hint("a field has its type after `::`");
      if (text == ":=") report.Hint("`=` defines");
      return;
    case Kind::VarSym:
      if (expected.starts_with("`=` and the value") && text.size() > 1 && text.ends_with("="))
        report.Hint(fmt::format("the new value is written in full: `{0} = {0} r {1} ..` of a record `r`", before, text.substr(0, text.size() - 1)));
      else if (text == "." && next().kind == Kind::Integer && !t.space_after)
        report.Hint(fmt::format("a number begins with a digit: `0.{}`", diags_.sources().Text(next().span)));
      else if (before == "." && pos_ > 1 && TokenAt(pos_ - 2).kind == Kind::Integer && !TokenAt(pos_ - 1).space_before)
        report.Hint(fmt::format("digits follow the point: `{}.0`", diags_.sources().Text(TokenAt(pos_ - 2).span)));
      else if (const Token& first = TokenAt(LineStart(pos_)); expected.starts_with("`=` after") && first.kind == Kind::Integer)
        report.Hint("an expression by itself is no declaration; `main = ..` is what a program runs");
      else if (text == "!" && expected == "an expression") report.Hint("`not x` is the opposite of `x`");
      else if (expected == "a declaration" && text[0] == '#') report.Hint("a comment begins with `--`");
      else if (expected == "a declaration")
        report.Hint("a line that goes on with the one above must be indented more");
      return;
    case Kind::LeftBrace:
      // `data Point = { x :: Int }`, `type Point = { x :: Int }`
      if ((expected == "a constructor" || expected == "a type") && before == "=" && pos_ > 1 && TokenAt(pos_ - 2).kind == Kind::ConId)
        report.Hint(fmt::format("a constructor stands before its fields: `data {0} = {0} {{ .. }}`", Text(TokenAt(pos_ - 2).text)));
      return;
    case Kind::EndOfFile:
      if (expected.starts_with("`=`"))
        report.Hint("an expression by itself is no declaration; `main = ..` is what a program runs");
      else if (expected == "`->`")
        report.Hint(last_line_has(Kind::Backslash) ? "the body of a lambda follows `->`" : "the result of an alternative follows `->`");
      else HintAtMissingValue(report, expected);
      return;
    default: break;
  }
  if (IsAny(text, {"type", "class", "data", "default", "deriving", "foreign", "import", "infix", "infixl", "infixr",
                   "instance", "module", "newtype"}) &&
      !t.starts_line) {
    if (expected == "a module name") report.Hint("the name of a module begins with a capital letter");
    else report.Hint(fmt::format("`{}` is a keyword, and cannot be a name", text));
  }
}

bool Parser::HasExtension(std::string_view extension) const {
  return options_.all_extensions ||
         llvm::any_of(buffer_.extensions, [&](Symbol name) { return Text(name) == extension; });
}

bool Parser::IsTurnedOff(std::string_view extension) const {
  const std::string off = fmt::format("No{}", extension);
  return llvm::any_of(buffer_.extensions, [&](Symbol name) { return Text(name) == off; });
}

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
