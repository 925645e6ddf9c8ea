// parser/parse_missing.cpp
//
// Expressions that have no second half: `if` without `then` or `else`, `case` without `of`, `let` without `in`. The message
// stands at their beginning, wherever the text goes on, and the same way at the end of the file.
#include "parser/parser.h"

namespace df {

void Parser::FailWithout(Span begin, std::string_view keyword, Kind word) {
  if (panic_) return;
  if (StandsInMissedLine()) {
    EnterPanic();
    return;
  }
  // Hints look at the token as it stands, so the panic comes after them.
  Diagnostics hints(diags_.sources());
  hints.Report(Diag::UnexpectedToken, Place(), DescribeHere(), df::Describe(word));
  HintAtUnexpected(hints, df::Describe(word));
  if (hints.all()[0].hint.empty())
    hints.Hint(word == Kind::Of ? "`of` and the alternatives follow the value: `case x of ..`"
                                : "`let` in an expression is followed by `in` and the result");
  if (AtLineEnd()) cut_short_ = true;
  const bool ends = token().kind == Kind::EndOfFile;
  const Span here = token().span;
  Diagnostics& report = FailWith(Diag::MissingKeyword, begin, keyword, llvm::StringRef(df::Describe(word)).trim('`').str());
  if (!ends && hints.all()[0].notes.empty()) report.Note(here, fmt::format("{} is expected before this", df::Describe(word)));
  TakeHints(report, hints);
}

void Parser::FailWithoutBranch(Span begin, Kind word, bool action) {
  if (panic_) return;
  if (StandsInMissedLine()) {
    EnterPanic();
    return;
  }
  const bool ends = token().kind == Kind::EndOfFile;
  const Span here = token().span;
  if (word == Kind::Then) {
    Diagnostics hints(diags_.sources());
    hints.Report(Diag::UnexpectedToken, Place(), DescribeHere(), "`then`");
    // Of a line that only ends there is nothing to say but that.
    if (!AtLineEnd()) HintAtUnexpected(hints, "`then`");
    if (hints.all()[0].hint.empty()) hints.Hint("an `if` is written `if condition then value else value`");
    if (AtLineEnd()) cut_short_ = true;
    Diagnostics& report = FailWith(Diag::MissingElse, begin, "then");
    if (!ends) report.Note(here, "`then` is expected before this");
    return TakeHints(report, hints);
  }
  auto& report = FailWith(Diag::MissingElse, begin, "else");
  if (!ends) report.Note(here, "`else` is expected before this");
  for (size_t i = pos_; i-- > 0 && !TokenAt(i + 1).starts_line;)
    if (TokenAt(i).kind == Kind::VarId &&
        (SameSpelling(TokenAt(i), "elif") || SameSpelling(TokenAt(i), "elsif") || SameSpelling(TokenAt(i), "elseif")))
      return void(report.Hint("`else if` goes on with another condition"));
  report.Hint(action ? "both branches give a value, so neither can be left out; `when condition action` of `Control.Monad` has one"
                     : "both branches give a value, so neither can be left out");
}

}  // namespace df
