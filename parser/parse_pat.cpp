// parser/parse_pat.cpp
//
// Patterns (Haskell 2010 section 3.17).
#include "parser/parser.h"

namespace df {

using namespace ast;

bool Parser::AtConOperator() const {
  return Is(Kind::ConSym) || (Is(Kind::Backquote) && next().kind == Kind::ConId);
}

// At a VarSym, a ConSym or a name in backquotes.
Name Parser::TakeOperator() {
  if (!Is(Kind::Backquote)) {
    Name name = NameOf(token());
    Advance();
    return name;
  }
  Span begin = token().span;
  Advance();
  Name name{};
  if (Is(Kind::VarId) || Is(Kind::ConId)) {
    name = NameOf(token());
    Advance();
  } else {
    Fail("a name between backquotes");
  }
  Close(Kind::Backquote, begin);
  if (name.text.valid()) name.span = From(begin);
  return name;
}

bool Parser::AtPrefixConstructor() const {
  if (!Is(Kind::LeftParen)) return false;
  size_t end = pos_ + 1;
  if (next().kind == Kind::ConSym) ++end;
  else while (TokenAt(end).kind == Kind::Comma) ++end;
  return end > pos_ + 1 && TokenAt(end).kind == Kind::RightParen;
}

Name Parser::TakePrefixConstructor() {
  Span begin = token().span;
  Advance();
  Name name = NameOf(token());
  std::string commas;
  while (Take(Kind::Comma)) commas += ',';
  if (commas.empty()) Advance();
  Close(Kind::RightParen, begin);
  return commas.empty() ? name : NameOf("(" + commas + ")", From(begin));
}

Name Parser::TakeBinder() {
  Name name = NameOf(token());
  if (name.qualifier.valid()) {
    Complain(Diag::QualifiedBinder, name.span, diags_.sources().Text(name.span).substr(0, 60));
    name.qualifier = {};
  }
  Advance();
  return name;
}

Pat* Parser::ParseTypedPat() {
  Span begin = token().span;
  Pat* pat = ParsePat();
  if (Take(Kind::DoubleColon)) {
    NeedExtension("ScopedTypeVariables", From(begin), "a pattern with a type");
    QualType type = ParseQualType();
    pat = ast_.New<TypedPat>(From(begin), pat, type);
  }
  return pat;
}

// Whether a `->` follows within the brackets that this stands in: then it is `e -> p`. (In a type `->` stands behind `::`.)
Pat* Parser::ParseElementPat() {
  Span begin = token().span;
  bool view = false;
  for (size_t i = pos_; !view && !ItemEndsBefore(i); i = SkipBrackets(i)) {
    const Kind kind = TokenAt(i).kind;
    if (kind == Kind::Comma || kind == Kind::RightParen || kind == Kind::RightBracket || kind == Kind::RightBrace ||
        kind == Kind::DoubleColon || kind == Kind::EndOfFile)
      break;
    view = kind == Kind::RightArrow;
  }
  if (!view) return ParseTypedPat();
  Level level(*this);
  if (level.too_deep()) return ErrorPatHere();
  Expr* function = ParseInfix();
  NeedExtension("ViewPatterns", From(begin), "a view pattern");
  Expect(Kind::RightArrow);
  Pat* pat = ParseElementPat();
  return ast_.New<ViewPat>(From(begin), function, pat);
}

Pat* Parser::ParsePat() {
  Span begin = token().span;
  Pat* first = ParsePat10();
  if (!AtConOperator()) return first;
  llvm::SmallVector<Pat*> operands{first};
  llvm::SmallVector<Name> ops;
  while (AtConOperator()) {
    if (ops.size() >= options_.max_chain) {
      FailWith(Diag::ChainTooLong, token().span, options_.max_chain);
      break;
    }
    ops.push_back(TakeOperator());
    operands.push_back(ParsePat10());
  }
  return ast_.New<InfixPat>(From(begin), Copy(operands), Copy(ops));
}

Pat* Parser::ParsePat10() {
  Span begin = token().span;
  if (IsOp("-")) {
    Advance();
    if (!Is(Kind::Integer) && !Is(Kind::Fractional)) {
      Fail("a number after `-` in a pattern");
      return ErrorPatHere();
    }
    LiteralKind literal = Is(Kind::Integer) ? LiteralKind::Integer : LiteralKind::Fractional;
    Symbol text = token().text;
    Advance();
    return ast_.New<LiteralPat>(From(begin), Literal{literal, text}, true);
  }
  Name name{};
  if (AtPrefixConstructor()) {
    name = TakePrefixConstructor();
    if (Is(Kind::LeftBrace)) return ParseRecordPat(name);
  } else if (Is(Kind::ConId) && next().kind != Kind::LeftBrace) {
    name = NameOf(token());
    Advance();
  } else {
    return ParseAPat();
  }
  llvm::SmallVector<Pat*> args;
  while (AtAPat()) args.push_back(ParseAPat());
  return ast_.New<ConPat>(From(begin), name, Copy(args));
}

bool Parser::AtAPat() const {
  switch (kind()) {
    case Kind::VarId:
    case Kind::ConId:
    case Kind::Underscore:
    case Kind::Integer:
    case Kind::Fractional:
    case Kind::Char:
    case Kind::String:
    case Kind::LeftParen:
    case Kind::LeftBracket:
    case Kind::Tilde: return true;
    case Kind::VarSym: return IsOp("!") && IsPrefixOccurrence(pos_);
    default: return false;
  }
}

Pat* Parser::ParseAPat() {
  Level level(*this);
  if (level.too_deep()) return ErrorPatHere();
  const Token& t = token();
  Span begin = t.span;
  auto literal = [&](LiteralKind literal_kind) {
    Advance();
    return ast_.New<LiteralPat>(begin, Literal{literal_kind, t.text}, false);
  };
  switch (kind()) {
    case Kind::Integer: CheckNumber(t); return literal(LiteralKind::Integer);
    case Kind::Fractional: CheckNumber(t); return literal(LiteralKind::Fractional);
    case Kind::Char: return literal(LiteralKind::Char);
    case Kind::String: return literal(LiteralKind::String);
    case Kind::Underscore: Advance(); return ast_.New<WildcardPat>(begin);
    case Kind::VarId: {
      Name name = TakeBinder();
      if (!Take(Kind::At)) return ast_.New<VarPat>(begin, name.text);
      Pat* pat = ParseAPat();
      return ast_.New<AsPat>(From(begin), name.text, name.span, pat);
    }
    case Kind::ConId: {
      Name name = NameOf(t);
      Advance();
      if (Is(Kind::LeftBrace)) return ParseRecordPat(name);
      return ast_.New<ConPat>(begin, name, List<Pat*>());
    }
    case Kind::Tilde: {
      Advance();
      Pat* pat = ParseAPat();
      return ast_.New<LazyPat>(From(begin), pat);
    }
    case Kind::VarSym: {
      if (IsOp("!")) {
        NeedExtension("BangPatterns", begin, "a strict pattern");
        Advance();
        Pat* pat = ParseAPat();
        return ast_.New<BangPat>(From(begin), pat);
      }
      FailWith(Diag::ExpressionAsPattern, begin, fmt::format("the operator {}", DescribeHere()));
      return ErrorPatHere();
    }
    case Kind::LeftParen: {
      if (!AtPrefixConstructor()) return ParseParenPat();
      Name name = TakePrefixConstructor();
      if (Is(Kind::LeftBrace)) return ParseRecordPat(name);
      return ast_.New<ConPat>(From(begin), name, List<Pat*>());
    }
    case Kind::LeftBracket: {
      Advance();
      llvm::SmallVector<Pat*> elements;
      if (!Is(Kind::RightBracket)) {
        do {
          elements.push_back(ParseElementPat());
        } while (Take(Kind::Comma));
      }
      Close(Kind::RightBracket, begin);
      return ast_.New<ListPat>(From(begin), Copy(elements));
    }
    default: Fail("a pattern"); return ErrorPatHere();
  }
}

Pat* Parser::ParseParenPat() {
  Span begin = token().span;
  Advance();
  if (Take(Kind::RightParen)) return ast_.New<TuplePat>(From(begin), List<Pat*>());
  // `(+)` as a parameter.
  if (Is(Kind::VarSym) && next().kind == Kind::RightParen) {
    Name name = TakeBinder();
    Close(Kind::RightParen, begin);
    return ast_.New<VarPat>(From(begin), name.text);
  }
  llvm::SmallVector<Pat*> elements;
  do {
    elements.push_back(ParseElementPat());
    if (!panic_ && llvm::isa<VarPat>(elements.back()) && AtAPat()) {
      std::string_view name = diags_.sources().Text(elements.back()->span);
      Diagnostics& report = FailWith(Diag::ExpressionAsPattern, elements.back()->span, fmt::format("the function `{}`", name));
      if (!HintAtDefinitions(report)) report.Hint("a pattern is made of constructors, names and literals");
    }
    if (IsOp("+") && next().kind == Kind::Integer) NotSupported(token().span, "patterns `n + k` are");
  } while (Take(Kind::Comma));
  Close(Kind::RightParen, begin);
  if (elements.size() == 1) return ast_.New<ParenPat>(From(begin), elements[0]);
  return ast_.New<TuplePat>(From(begin), Copy(elements));
}

// `C { x = p, y = q }` after its constructor.
Pat* Parser::ParseRecordPat(Name name) {
  Span wildcard;
  auto fields = ParseFieldsInBraces<FieldPat>(
      [&] { return ParseElementPat(); }, [&](const Name& field) { return ast_.New<VarPat>(field.span, field.text); },
      &wildcard);
  return ast_.New<RecordPat>(From(name.span), name, Copy(fields), wildcard);
}

}  // namespace df
