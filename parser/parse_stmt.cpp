// parser/parse_stmt.cpp
//
// Statements, guards, alternatives and right sides: what `do`, `case`, `|` and `=` are followed by.
#include "parser/parser.h"

namespace df {

using namespace ast;

// Is there a `<-` in this statement? Only what a pattern may hold is looked through, brackets in one step;
// keywords end the search, and nested statements stand behind keywords or in brackets, so that all searches
// together are linear.
bool Parser::LooksLikeBind() const {
  for (size_t i = pos_; !ItemEndsBefore(i);) {
    const Token& t = TokenAt(i);
    switch (t.kind) {
      case Kind::LeftArrow: return true;
      case Kind::VarId:
      case Kind::ConId:
      case Kind::ConSym:
      case Kind::Integer:
      case Kind::Fractional:
      case Kind::Char:
      case Kind::String:
      case Kind::Underscore:
      case Kind::At:
      case Kind::Tilde:
      case Kind::Backquote:
      case Kind::DoubleColon: ++i; break;
      case Kind::LeftParen:
      case Kind::LeftBracket:
      case Kind::LeftBrace:
        if (match_[i] == UINT32_MAX) return false;
        i = match_[i] + 1;
        break;
      case Kind::VarSym: {
        std::string_view op = Text(t.text);
        if (op != "-" && op != "!") return false;
        ++i;
        break;
      }
      default: return false;
    }
  }
  return false;
}

// `typed`: the expression may have a type; before the `->` of an alternative it may not, since a type takes
// arrows.
Stmt* Parser::ParseStmt(bool typed) {
  Span begin = token().span;
  if (Is(Kind::Let)) {
    Advance();
    List<Decl*> decls = ParseDeclBlock(begin, "`let`", Scope::Local);
    if (!Is(Kind::In)) return ast_.New<LetStmt>(From(begin), decls);
    Advance();
    Expr* body = ParseExpr();
    return ast_.New<ExprStmt>(From(begin), ast_.New<LetExpr>(From(begin), decls, body));
  }
  if (IsWord("rec") && typed && next().kind == Kind::LeftBrace)
    NotSupported(begin, "recursive `do` blocks are");
  if (LooksLikeBind()) {
    Pat* pat = ParseTypedPat();
    Expect(Kind::LeftArrow);
    Expr* expr = typed ? ParseExpr() : ParseInfix();
    return ast_.New<BindStmt>(From(begin), pat, expr);
  }
  Expr* expr = typed ? ParseExpr() : ParseInfix();
  if (Is(Kind::LeftArrow)) {
    FailWith(Diag::ExpressionAsPattern, expr->span, "an expression");
  }
  return ast_.New<ExprStmt>(From(begin), expr);
}

// NondecreasingIndentation, which GHC has on unless a pragma says `Haskell2010`: the statements of a `do` may stand in the column of
// the block around it. Where that is no `do`, there may be no further items of it below: a line that looks like one is no statement.
bool Parser::MayStandInSameColumn() const {
  const auto listed = [&](std::string_view extension) {
    return llvm::any_of(buffer_.extensions, [&](Symbol name) { return Text(name) == extension; });
  };
  if (!listed("NondecreasingIndentation") && (listed("Haskell2010") || listed("NoNondecreasingIndentation"))) return false;
  if (blocks_.empty() || blocks_.back().column == 0 || !token().starts_line || token().column != blocks_.back().column) return false;
  const Kind first = token().kind;
  const bool begins = first == Kind::VarId || first == Kind::ConId || first == Kind::Integer || first == Kind::Fractional ||
                      first == Kind::Char || first == Kind::String || first == Kind::LeftParen || first == Kind::LeftBracket ||
                      first == Kind::Underscore || first == Kind::Backslash || first == Kind::Let || first == Kind::If ||
                      first == Kind::Case || first == Kind::Do;
  if (!begins) return false;
  if (blocks_.back().keyword == "`do`") return true;
  if (!blocks_.back().separators) return false;
  const bool of = blocks_.back().keyword == "`of`" || blocks_.back().keyword == "`\\case`";
  const uint32_t column = token().column;
  bool expression = false;  // an expression has begun that may hold such signs itself
  size_t first_of_line = pos_;
  for (size_t i = pos_; TokenAt(i).kind != Kind::EndOfFile && !(TokenAt(i).starts_line && TokenAt(i).column < column); i = SkipBrackets(i)) {
    if (TokenAt(i).starts_line && TokenAt(i).column == column) first_of_line = i, expression = false;
    switch (TokenAt(i).kind) {
      case Kind::Let:
      case Kind::Backslash:
      case Kind::If:
      case Kind::Case:
      case Kind::Do: expression = true; break;
      case Kind::Data:
      case Kind::Newtype:
      case Kind::Type:
      case Kind::Class:
      case Kind::Instance:
      case Kind::Import:
      case Kind::Infix:
      case Kind::Infixl:
      case Kind::Infixr:
        if (i == first_of_line) return false;
        break;
      case Kind::Equals:
      case Kind::Bar:
        if (!expression) return false;
        break;
      case Kind::RightArrow:
        if (!expression && of) return false;
        break;
      case Kind::Comma:
      case Kind::DoubleColon:
        if (!of && i == first_of_line + 1) return false;
        break;
      default: break;
    }
  }
  return true;
}

Expr* Parser::ParseDo() {
  Span begin = token().span;
  Advance();
  llvm::SmallVector<Stmt*> stmts;
  Block(begin, "`do`", [&] {
    // What cannot begin a statement ends the block.
    if (Is(Kind::Let) || AtAtom() || AtBlockExpr() || IsOp("-") || (IsOp("!") && IsPrefixOccurrence(pos_)) ||
        Is(Kind::Tilde)) {
      action_ = pos_;
      stmts.push_back(ParseStmt(true));
    }
  }, MayStandInSameColumn());
  if (stmts.empty()) {
    if (!panic_) {
      cut_short_ = true;
      after_empty_ = pos_;
      FailWith(Diag::EmptyBlock, begin, "`do`")
          .Hint("its statements stand further right than the block around it");
    }
    return ErrorHere();
  }
  return ast_.New<DoExpr>(From(begin), Copy(stmts));
}

List<Alternative> Parser::ParseAlternatives(Span keyword, std::string_view keyword_text) {
  llvm::SmallVector<Alternative> alternatives;
  Block(keyword, keyword_text, [&] {
    if (!AtAPat() && !IsOp("-") && !IsOp("!")) return;
    Span begin = token().span;
    Pat* pat = ParseTypedPat();
    if (Is(Kind::Equals)) Fail("`->` in an alternative of `case`");
    Rhs rhs = ParseRhs(Kind::RightArrow);
    alternatives.push_back({pat, rhs, From(begin)});
  });
  if (alternatives.empty() && !panic_ && !(HasExtension("EmptyCase") && (!options_.all_extensions || TokenAt(pos_ - 1).kind == Kind::RightBrace))) {
    cut_short_ = true;
    after_empty_ = pos_;
    const bool guard = token().kind == Kind::Bar;
    FailWith(Diag::EmptyBlock, keyword, keyword_text)
        .Hint(guard ? "a guard follows a pattern: `_ | condition -> ..`" : "its alternatives stand further right than the block around it");
  }
  return Copy(alternatives);
}

// `= e`, or guarded ones, and the `where` behind them. `separator` is `=` or `->`.
Rhs Parser::ParseRhs(Kind separator) {
  Span begin = token().span;
  llvm::SmallVector<GuardedExpr> guarded;
  if (Is(Kind::Bar)) {
    while (Is(Kind::Bar)) guarded.push_back(ParseGuarded(separator));
  } else {
    Expect(separator);
    Span at = token().span;
    Expr* body = ParseExpr();
    guarded.push_back({{}, body, From(at)});
  }
  List<Decl*> where;
  if (Is(Kind::Where)) {
    Span keyword = token().span;
    Advance();
    where = ParseDeclBlock(keyword, "`where`", Scope::Local);
  }
  return {Copy(guarded), where, From(begin)};
}

// `| g1, g2 = e`
GuardedExpr Parser::ParseGuarded(Kind separator) {
  Span begin = token().span;
  Advance();
  llvm::SmallVector<Stmt*> guards;
  ParseGuards(guards, separator == Kind::Equals);
  Expect(separator);
  Expr* body = ParseExpr();
  return {Copy(guards), body, From(begin)};
}

void Parser::ParseGuards(llvm::SmallVectorImpl<Stmt*>& guards, bool typed) {
  do {
    guards.push_back(ParseStmt(typed));
  } while (Take(Kind::Comma));
}

}  // namespace df
