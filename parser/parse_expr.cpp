// parser/parse_expr.cpp
//
// Expressions (Haskell 2010 chapter 3). Chains of operators stay flat here; parser/fixity.h makes trees of
// them.
#include "parser/parser.h"

namespace df {

using namespace ast;

// infixexp [:: type]
Expr* Parser::ParseExpr() {
  Span begin = token().span;
  Expr* expr = ParseInfix();
  if (Take(Kind::DoubleColon)) {
    QualType type = ParseQualType();
    expr = ast_.New<TypedExpr>(From(begin), expr, type);
  }
  return expr;
}

bool Parser::AtOperator() const { return Is(Kind::VarSym) || Is(Kind::ConSym) || Is(Kind::Backquote); }

Expr* Parser::TakeOperatorExpr() {
  bool con = Is(Kind::ConSym) || (Is(Kind::Backquote) && next().kind == Kind::ConId);
  Name name = TakeOperator();
  Span span = name.span.valid() ? name.span : token().span;
  if (con) return ast_.New<ConExpr>(span, name);
  return ast_.New<VarExpr>(span, name);
}

// Every cycle of the functions here passes through this one, which therefore counts the depth.
Expr* Parser::ParseInfix(Expr** section) {
  Level level(*this);
  if (level.too_deep()) return ErrorHere();
  Span begin = token().span;
  llvm::SmallVector<Expr*> operands;
  llvm::SmallVector<Expr*> ops;
  for (;;) {
    if (ops.size() >= options_.max_chain) {
      FailWith(Diag::ChainTooLong, token().span, options_.max_chain);
      break;
    }
    if (IsOp("-")) {
      // Prefix negation: no operand stands before it.
      operands.push_back(nullptr);
      ops.push_back(TakeOperatorExpr());
      continue;
    }
    operands.push_back(ParseExp10());
    if (!AtOperator()) break;
    Expr* op = TakeOperatorExpr();
    if (section && Is(Kind::RightParen)) {
      *section = op;
      break;
    }
    ops.push_back(op);
  }
  if (operands.size() == ops.size()) operands.push_back(ErrorHere());
  if (ops.empty()) return operands[0];
  Span end = operands.back()->span;
  return ast_.New<InfixExpr>(Cover(begin, end), Copy(operands), Copy(ops));
}

// Does an expression begin here that is closed by no bracket?
bool Parser::AtBlockExpr() const {
  switch (kind()) {
    case Kind::Backslash:
    case Kind::Let:
    case Kind::If:
    case Kind::Case:
    case Kind::Do: return true;
    default: return false;
  }
}

Expr* Parser::ParseBlockExpr() {
  switch (kind()) {
    case Kind::Backslash: return ParseLambda();
    case Kind::Let: return ParseLet();
    case Kind::If: return ParseIf();
    case Kind::Case: return ParseCase();
    default: return ParseDo();
  }
}

Expr* Parser::ParseExp10() {
  if (!AtBlockExpr()) return ParseApplication();
  Span begin = token().span;
  Expr* block = ParseBlockExpr();
  // BlockArguments: `do { f } x`
  return (AtAtom() || AtBlockExpr()) && HasExtension("BlockArguments") ? ParseArguments(block, begin) : block;
}

Expr* Parser::ParseApplication() {
  Span begin = token().span;
  if ((IsWord("mdo") || IsWord("proc")) && !next().starts_line &&
      (next().kind == Kind::LeftBrace || (IsWord("proc") && next().kind == Kind::VarId &&
                                          TokenAt(pos_ + 2).kind == Kind::RightArrow)))
    NotSupported(begin, IsWord("mdo") ? "`mdo` blocks are" : "arrows (`proc`) are");
  Expr* fn = ParseAtom();
  if ((llvm::isa<VarExpr>(fn) || llvm::isa<ConExpr>(fn)) && Is(Kind::At) && IsPrefixOccurrence(pos_))
    fn = ParseTypeArguments(fn);
  return ParseArguments(fn, begin);
}

// What a function is applied to, if anything follows.
Expr* Parser::ParseArguments(Expr* fn, Span begin) {
  llvm::SmallVector<Expr*> args;
  const bool blocks = HasExtension("BlockArguments");
  while (AtAtom() || (blocks && AtBlockExpr())) args.push_back(AtAtom() ? ParseAtom() : ParseBlockExpr());
  if (AtBlockExpr()) {
    std::string_view before = diags_.sources().Text(From(begin)), word = diags_.sources().Text(token().span);
    Diagnostics& report = FailWith(Diag::NeedsExtension, token().span,
                                   fmt::format("{} as an argument without `$` or parentheses", DescribeHere()), "BlockArguments");
    if (token().starts_line && !blocks_.empty() && blocks_.back().column > 0)
      report.Hint(fmt::format("this line begins in column {}, the items of the block in column {}: so it goes on with the line above",
                              token().column, blocks_.back().column));
    else if (!HintAtForeign(report) && before.size() <= 40 && before.find('\n') == std::string_view::npos)
      report.Hint(fmt::format("`$` makes it the last argument: `{} $ {}..`", before, word == "\\" ? "\\x -> " : fmt::format("{} ", word)));
  }
  if (Is(Kind::At)) {
    const bool product = token().space_before && token().space_after;  // as Python writes it
    if (IsPrefixOccurrence(pos_)) {
      NotSupported(token().span, "a type argument that does not follow a name at once is");
    } else {
      Diagnostics& report = FailWith(Diag::PatternInExpression, token().span, "an as-pattern");
      if (product) report.Hint("a product of matrices is `matmul a b` of the module `Tensor`");
    }
  }
  if (Is(Kind::Tilde)) FailWith(Diag::PatternInExpression, token().span, "a lazy pattern");
  if (args.empty()) return fn;
  return ast_.New<AppExpr>(From(begin), fn, Copy(args));
}

// `@Int @_` after its function
Expr* Parser::ParseTypeArguments(Expr* fn) {
  NeedExtension("TypeApplications", token().span, "a type argument");
  llvm::SmallVector<Type*> types;
  while (Is(Kind::At) && IsPrefixOccurrence(pos_)) {
    Advance();
    types.push_back(Take(Kind::Underscore) ? nullptr : ParseAType());
  }
  return ast_.New<TypeAppExpr>(From(fn->span), fn, Copy(types));
}

bool Parser::AtAtom() const {
  switch (kind()) {
    case Kind::VarId:
    case Kind::ConId:
    case Kind::Integer:
    case Kind::Fractional:
    case Kind::Char:
    case Kind::String:
    case Kind::LeftParen:
    case Kind::LeftBracket:
    case Kind::Underscore: return true;
    default: return AtSplice() && token().space_before;
  }
}

// An atom with as many record braces as follow it; they bind more tightly than application.
Expr* Parser::ParseAtom() {
  Expr* expr = ParseAtomBase();
  uint32_t count = 0;
  while (Is(Kind::LeftBrace)) {
    if (++count > options_.max_depth) FailWith(Diag::NestedTooDeeply, token().span, options_.max_depth);
    expr = ParseRecordBraces(expr);
  }
  return expr;
}

Expr* Parser::ParseAtomBase() {
  const Token& t = token();
  Span begin = t.span;
  auto literal = [&](LiteralKind literal_kind) {
    Advance();
    return ast_.New<LiteralExpr>(begin, Literal{literal_kind, t.text});
  };
  switch (kind()) {
    case Kind::VarId: Advance(); return ast_.New<VarExpr>(begin, NameOf(t));
    case Kind::ConId: Advance(); return ast_.New<ConExpr>(begin, NameOf(t));
    case Kind::Integer: CheckNumber(t); return literal(LiteralKind::Integer);
    case Kind::Fractional: CheckNumber(t); return literal(LiteralKind::Fractional);
    case Kind::Char: return literal(LiteralKind::Char);
    case Kind::String: return literal(LiteralKind::String);
    case Kind::LeftParen: return ParseParen();
    case Kind::LeftBracket: return ParseBracket();
    case Kind::Underscore: {
      // A typed hole.
      Name name = NameOf("_", begin);
      Advance();
      return ast_.New<VarExpr>(begin, name);
    }
    default:
      if (AtSplice()) return ParseSplice();
      if (IsOp("?") && next().kind == Kind::VarId && !t.space_after)
        NotSupported(begin, "implicit parameters are");
      else if (IsOp("#") && next().kind == Kind::VarId && !t.space_after)
        NotSupported(begin, "overloaded labels are");
      else if (Is(Kind::Then) && pos_ > 0 && (TokenAt(pos_ - 1).kind == Kind::Comma || TokenAt(pos_ - 1).kind == Kind::Bar))
        NotSupported(begin, "`then` in a comprehension (`TransformListComp`) is");
      else
        Fail("an expression");
      return ErrorHere();
  }
}

// `()`, `(,)`, `(+)`, `(+ x)`, `(x +)`, `(e)`, `(a, b)`, `(a, , c)`
Expr* Parser::ParseParen() {
  Span open = token().span;
  Advance();
  if (IsOp("#") && !TokenAt(pos_).space_before && next().kind != Kind::RightParen)
    NotSupported(open, "unboxed tuples are");
  if (Take(Kind::RightParen)) return ast_.New<ConExpr>(From(open), NameOf("()", From(open)));
  if (AtOperator() && !AtSplice() && (!IsOp("-") || next().kind == Kind::RightParen)) {
    Span at = token().span;
    bool backquoted = Is(Kind::Backquote);
    Expr* op = TakeOperatorExpr();
    if (Is(Kind::RightParen) && backquoted) {
      Complain(Diag::PatternInExpression, at, "an operator in backquotes inside parentheses")
          .Hint("write the name alone");
    }
    if (Take(Kind::RightParen)) {
      op->span = From(open);
      return op;
    }
    Expr* operand = ParseInfix();
    Close(Kind::RightParen, open);
    return ast_.New<RightSectionExpr>(From(open), op, operand);
  }
  if (Is(Kind::DotDot)) NotSupported(token().span, "`..` in an expression is");
  llvm::SmallVector<Expr*> elements;
  bool missing = false, commas = false;
  for (;;) {
    if (Is(Kind::Comma) || Is(Kind::RightParen)) {
      elements.push_back(nullptr);
      missing = true;
    } else {
      Span begin = token().span;
      Expr* section = nullptr;
      Expr* expr = ParseInfix(&section);
      if (section) {
        expr = ast_.New<LeftSectionExpr>(Cover(begin, section->span), expr, section);
      } else if (Take(Kind::DoubleColon)) {
        QualType type = ParseQualType();
        expr = ast_.New<TypedExpr>(From(begin), expr, type);
      }
      if (Is(Kind::RightArrow))
        FailWith(Diag::UnexpectedToken, token().span, "`->`", "`)`")
            .Hint(fmt::format("a lambda begins with a backslash: `\\{} -> ..`",
                              llvm::isa<VarExpr>(expr) ? diags_.sources().Text(expr->span) : "x"));
      elements.push_back(expr);
      if (section) {
        Close(Kind::RightParen, open);
        if (elements.size() == 1) {
          expr->span = From(open);
          return expr;
        }
        break;
      }
    }
    if (!Take(Kind::Comma)) {
      Close(Kind::RightParen, open);
      break;
    }
    commas = true;
  }
  if (panic_) return ast_.New<ErrorExpr>(open);
  if (!commas) return ast_.New<ParenExpr>(From(open), elements[0]);
  bool all_missing = std::all_of(elements.begin(), elements.end(), [](Expr* e) { return e == nullptr; });
  if (all_missing) {
    std::string name = "(" + std::string(elements.size() - 1, ',') + ")";
    return ast_.New<ConExpr>(From(open), NameOf(name, From(open)));
  }
  if (missing) NeedExtension("TupleSections", From(open), "a tuple with a part left out");
  if (missing) return ast_.New<TupleSectionExpr>(From(open), Copy(elements));
  return ast_.New<TupleExpr>(From(open), Copy(elements));
}

// `[]`, `[a, b]`, `[a ..]`, `[a, b .. c]`, `[e | stmts]`
Expr* Parser::ParseBracket() {
  Span open = token().span;
  if (next().kind == Kind::Bar && !token().space_after && IsSplicing()) NotSupported(open, "Template Haskell quotations are");
  Advance();
  if (Take(Kind::RightBracket)) return ast_.New<ConExpr>(From(open), NameOf("[]", From(open)));
  llvm::SmallVector<Expr*> elements{ParseExpr()};
  if (Take(Kind::Bar)) {
    llvm::SmallVector<Stmt*> stmts;
    ParseGuards(stmts, true);
    llvm::SmallVector<List<Stmt*>> beside;
    while (Is(Kind::Bar) && !panic_) {
      if (next().kind == Kind::RightBracket && !token().space_after) {
        NotSupported(open, "quasi-quotations are");
        break;
      }
      NeedExtension("ParallelListComp", token().span, "a second list of generators");
      Advance();
      llvm::SmallVector<Stmt*> branch;
      ParseGuards(branch, true);
      beside.push_back(Copy(branch));
    }
    const bool bare_sequence = Is(Kind::DotDot);
    if (!Close(Kind::RightBracket, open) && bare_sequence) diags_.Hint("a sequence has brackets of its own: `x <- [1 .. n]`");
    return ast_.New<ComprehensionExpr>(From(open), elements[0], Copy(stmts), Copy(beside));
  }
  while (Take(Kind::Comma)) elements.push_back(ParseExpr());
  if (Is(Kind::DotDot) && elements.size() <= 2) {
    Advance();
    Expr* to = Is(Kind::RightBracket) ? nullptr : ParseExpr();
    Close(Kind::RightBracket, open);
    return ast_.New<SequenceExpr>(From(open), elements[0], elements.size() == 2 ? elements[1] : nullptr, to);
  }
  Close(Kind::RightBracket, open);
  return ast_.New<ListExpr>(From(open), Copy(elements));
}

// `C { x = 1 }` and `r { x = 1 }` after C or r.
Expr* Parser::ParseRecordBraces(Expr* head) {
  Span open = token().span;
  auto* con = llvm::dyn_cast<ConExpr>(head);
  Span wildcard;
  auto fields = ParseFieldsInBraces<FieldBinding>(
      [&] { return ParseExpr(); },
      [&](const Name& field) { return ast_.New<VarExpr>(field.span, Name{field.text, {}, field.span}); },
      con ? &wildcard : nullptr);
  if (con) return ast_.New<RecordConExpr>(From(head->span), con->name, Copy(fields), wildcard);
  if (fields.empty() && !panic_) Complain(Diag::EmptyRecordUpdate, From(open));
  return ast_.New<RecordUpdateExpr>(From(head->span), head, Copy(fields));
}

Expr* Parser::ParseLambda() {
  Span begin = token().span;
  Advance();
  if (Is(Kind::Case)) {
    NeedExtension("LambdaCase", Cover(begin, token().span), "`\\case`");
    Advance();
    List<Alternative> alternatives = ParseAlternatives(From(begin), "`\\case`");
    return ast_.New<LambdaCaseExpr>(From(begin), alternatives);
  }
  llvm::SmallVector<Pat*> params;
  while (AtAPat()) params.push_back(ParseAPat());
  if (params.empty()) Fail("a parameter of the lambda");
  bool comma = Is(Kind::Comma);
  if (!Expect(Kind::RightArrow) && comma && !params.empty())
    diags_.Hint("the parameters of a lambda stand one after the other: `\\x y -> ..`");
  Expr* body = ParseExpr();
  return ast_.New<LambdaExpr>(From(begin), Copy(params), body);
}

Expr* Parser::ParseLet() {
  Span begin = token().span;
  Advance();
  List<Decl*> decls = ParseDeclBlock(begin, "`let`", Scope::Local);
  if (!Take(Kind::In)) FailWithout(begin, "let", Kind::In);
  Expr* body = ParseExpr();
  return ast_.New<LetExpr>(From(begin), decls, body);
}

Expr* Parser::ParseIf() {
  Span begin = token().span;
  const bool action = action_ == pos_;
  Advance();
  if (Is(Kind::Bar)) {
    NeedExtension("MultiWayIf", begin, "an `if` with guards");
    return ParseMultiIf(begin);
  }
  // In a `do` block `then` and `else` may stand in its column: an optional semicolon before them.
  auto expect = [&](Kind word) {
    if ((Is(Kind::VirtualSemicolon) && token().kind == word) || (Is(Kind::Semicolon) && next().kind == word)) {
      RefuseIfTurnedOff("DoAndIfThenElse", token().span, fmt::format("`{}` in the column of its `if`", word == Kind::Then ? "then" : "else"));
      Advance();
    }
    if (!Take(word)) FailWithoutBranch(begin, word, action);
  };
  // What stands where an action does is one: then an `if` in a branch is one, too.
  auto branch = [&] {
    if (action) action_ = pos_;
    return ParseExpr();
  };
  Expr* cond = ParseExpr();
  // The line of the first branch went on with the condition: `else` comes next.
  if (!panic_ && (Is(Kind::Else) || (Is(Kind::VirtualSemicolon) && token().kind == Kind::Else))) {
    Complain(Diag::MissingElse, begin, "then").Note(token().span, "`then` and a branch are expected before this");
    expect(Kind::Else);
    ParseExpr();
    return ast_.New<ErrorExpr>(From(begin));  // the branch may be a part of what was read as the condition
  }
  expect(Kind::Then);
  Expr* then_branch = branch();
  const bool reported = panic_;
  expect(Kind::Else);
  if (auto* inner = llvm::dyn_cast<IfExpr>(then_branch); inner && panic_ && !reported && !AtSilentEnd())
    diags_.Note(Span{inner->span.file, inner->span.begin, inner->span.begin + 2}, "the `else` before is that of this `if`");
  Expr* else_branch = branch();
  return ast_.New<IfExpr>(From(begin), cond, then_branch, else_branch);
}

// `if | g1 -> e1 | g2 -> e2`. The column of the first bar opens a block, so that nested ones end where they
// should.
Expr* Parser::ParseMultiIf(Span begin) {
  llvm::SmallVector<GuardedExpr> alternatives;
  uint32_t around = blocks_.empty() ? 0 : blocks_.back().column;
  bool block = token().column > around;
  if (block) PushBlock(token().column, false);
  while (Is(Kind::Bar)) alternatives.push_back(ParseGuarded(Kind::RightArrow));
  if (block && !panic_) PopBlock();
  return ast_.New<MultiIfExpr>(From(begin), Copy(alternatives));
}

Expr* Parser::ParseCase() {
  Span begin = token().span;
  Advance();
  Expr* scrutinee = ParseExpr();
  Span keyword = token().span;
  if (!Take(Kind::Of)) FailWithout(begin, "case", Kind::Of);
  if (panic_) return ErrorHere();
  List<Alternative> alternatives = ParseAlternatives(keyword, "`of`");
  return ast_.New<CaseExpr>(From(begin), scrutinee, alternatives);
}

}  // namespace df
