// parser/parse_synonym.cpp
//
// Pattern synonyms. One becomes functions as it is read: `%P`, which takes a value apart, and `P`, which makes it. So
//
//   pattern P x y = C (Just x) y
//
// is  %P (C (Just x) y) = Just (x, y);  %P _ = Nothing  and  P x y = C (Just x) y.  A pattern `P p q` is then `(%P -> Just (p, q))`, which the
// checker makes of it (typecheck/infer/pat.cpp), and the expression `P` is the function. Of one part `%P` gives Right x or Left (), so that it
// is told from a tuple.
#include "parser/parser.h"

namespace df {

using namespace ast;

namespace {

Name Library(const char* name, Span span) { return {Intern(name), Intern(kLibraryQualifier), span}; }
Symbol MatcherOf(Symbol synonym) { return Intern("%" + std::string(Text(synonym))); }

}  // namespace

// `P a b`, or `a :> b`: the name and what stands at its parameters.
bool Parser::SplitSynonymHead(Pat* head, Name& name, llvm::SmallVectorImpl<Pat*>& params) {
  if (auto* con = llvm::dyn_cast<ConPat>(head)) {
    name = con->name;
    params.append(con->args.begin(), con->args.end());
    return true;
  }
  if (auto* infix = llvm::dyn_cast<InfixPat>(head); infix && infix->ops.size() == 1) {
    name = infix->ops[0];
    params.append(infix->operands.begin(), infix->operands.end());
    return true;
  }
  if (!panic_) FailWith(Diag::UnexpectedToken, head->span, fmt::format("`{}`", diags_.sources().Text(head->span).substr(0, 40)), "a constructor's name and variables");
  return false;
}

// The value that a pattern is written as; null, and reported, if it makes none.
Expr* Parser::PatternAsValue(Symbol synonym, const Pat* pat) {
  auto refuse = [&](std::string_view what) -> Expr* {
    Complain(Diag::PatternMakesNothing, pat->span, Text(synonym), what)
        .Hint("with `<-` in place of `=` it takes values apart alone; a `where` behind that says how it makes them");
    return nullptr;
  };
  auto all = [&](List<Pat*> pats, llvm::SmallVectorImpl<Expr*>& out) {
    for (const Pat* part : pats) {
      Expr* made = PatternAsValue(synonym, part);
      if (!made) return false;
      out.push_back(made);
    }
    return true;
  };
  llvm::SmallVector<Expr*> parts;
  switch (pat->kind) {
    case PatKind::Var: return ast_.New<VarExpr>(pat->span, Name{llvm::cast<VarPat>(pat)->name, {}, pat->span});
    case PatKind::Literal: {
      const auto* literal = llvm::cast<LiteralPat>(pat);
      Expr* value = ast_.New<LiteralExpr>(pat->span, literal->value);
      return literal->negative ? ast_.New<NegateExpr>(pat->span, value) : value;
    }
    case PatKind::Con: {
      const auto* con = llvm::cast<ConPat>(pat);
      if (!all(con->args, parts)) return nullptr;
      Expr* fn = ast_.New<ConExpr>(con->name.span, con->name);
      return parts.empty() ? fn : ast_.New<AppExpr>(pat->span, fn, Copy(parts));
    }
    case PatKind::Infix: {
      const auto* infix = llvm::cast<InfixPat>(pat);
      llvm::SmallVector<Expr*> ops;
      if (!all(infix->operands, parts)) return nullptr;
      for (const Name& op : infix->ops) ops.push_back(ast_.New<ConExpr>(op.span, op));
      return ast_.New<InfixExpr>(pat->span, Copy(parts), Copy(ops));
    }
    case PatKind::Tuple:
      if (!all(llvm::cast<TuplePat>(pat)->elements, parts)) return nullptr;
      if (parts.empty()) return ast_.New<ConExpr>(pat->span, Library("()", pat->span));
      return ast_.New<TupleExpr>(pat->span, Copy(parts));
    case PatKind::List:
      if (!all(llvm::cast<ListPat>(pat)->elements, parts)) return nullptr;
      return ast_.New<ListExpr>(pat->span, Copy(parts));
    case PatKind::Paren: {
      Expr* inner = PatternAsValue(synonym, llvm::cast<ParenPat>(pat)->pat);
      return inner ? ast_.New<ParenExpr>(pat->span, inner) : nullptr;
    }
    case PatKind::Bang: return PatternAsValue(synonym, llvm::cast<BangPat>(pat)->pat);
    case PatKind::Typed: return PatternAsValue(synonym, llvm::cast<TypedPat>(pat)->pat);
    case PatKind::Wildcard: return refuse("a wildcard is no value");
    case PatKind::View: return refuse("a view pattern is no value");
    case PatKind::Record: return refuse("a record in it is no value");
    case PatKind::As: return refuse("an as-pattern is no value");
    case PatKind::Lazy: return refuse("a lazy pattern is no value");
    case PatKind::Error: return nullptr;
  }
  return nullptr;
}

Decl* Parser::SynonymFunction(Symbol name, Span span, llvm::ArrayRef<Clause> clauses) {
  return ast_.New<FunctionDecl>(span, Name{name, {}, span}, ast_.Copy<Clause>(clauses));
}

Rhs Parser::PlainRhs(Expr* body) {
  return {ast_.Copy<GuardedExpr>({GuardedExpr{{}, body, body->span}}), {}, body->span};
}

// pattern P a b = p;  pattern P a b <- p [where { P a b = e }];  pattern P, Q :: T
void Parser::ParsePatternSynonym(llvm::SmallVectorImpl<Decl*>& decls) {
  const Span begin = token().span;
  NeedExtension("PatternSynonyms", begin, "a pattern synonym");
  Advance();
  if (LookAtDecl().shape == Shape::Signature) {
    llvm::SmallVector<Name> names;
    do {
      const Span open = token().span;
      const bool bracket = Take(Kind::LeftParen);
      if (Is(Kind::ConId) || Is(Kind::ConSym)) names.push_back(TakeBinder());
      else Fail("the name of a pattern synonym");
      if (bracket) Close(Kind::RightParen, open);
    } while (Take(Kind::Comma));
    Expect(Kind::DoubleColon);
    const QualType type = ParseQualType();
    for (const Name& name : names) synonym_types_.push_back({name, type});
    return;
  }
  if (Is(Kind::ConId) && next().kind == Kind::LeftBrace) return NotSupported(next().span, "pattern synonyms with fields are");
  Pat* head = ParsePat();
  Name name{};
  llvm::SmallVector<Pat*> params;
  if (panic_ || !SplitSynonymHead(head, name, params)) return;
  name.qualifier = {};
  for (const Pat* param : params)
    if (!llvm::isa<VarPat>(param)) return void(FailWith(Diag::NotAllowedHere, param->span, "a pattern", "the head of a pattern synonym").Hint("its parameters are variables"));
  const bool makes = Is(Kind::Equals);
  if (!makes && !Is(Kind::LeftArrow)) return Fail("`=` or `<-` after the head of a pattern synonym");
  Advance();
  Pat* pat = ParsePat();
  if (panic_) return;
  // The function that takes apart.
  const Span span = From(begin);
  auto value_of = [&](const Pat* param) { return ast_.New<VarExpr>(param->span, Name{llvm::cast<VarPat>(param)->name, {}, param->span}); };
  const bool one = params.size() == 1;
  llvm::SmallVector<Expr*> parts;
  for (const Pat* param : params) parts.push_back(value_of(param));
  Expr* unit = ast_.New<ConExpr>(span, Library("()", span));
  Expr* given = one ? parts[0] : parts.empty() ? unit : ast_.New<TupleExpr>(span, Copy(parts));
  Expr* found = ast_.New<AppExpr>(span, ast_.New<ConExpr>(span, Library(one ? "Right" : "Just", span)), ast_.Copy<Expr*>({given}));
  Expr* missed = ast_.New<ConExpr>(span, Library(one ? "Left" : "Nothing", span));
  if (one) missed = ast_.New<AppExpr>(span, missed, ast_.Copy<Expr*>({unit}));
  Pat* any = ast_.New<WildcardPat>(span);
  decls.push_back(SynonymFunction(MatcherOf(name.text), name.span,
                                  {Clause{ast_.Copy<Pat*>({pat}), PlainRhs(found), span}, Clause{ast_.Copy<Pat*>({any}), PlainRhs(missed), span}}));
  synonym_arity_.push_back({name.text, static_cast<uint32_t>(params.size())});
  // The one that makes.
  if (makes) {
    if (Expr* value = PatternAsValue(name.text, pat))
      decls.push_back(SynonymFunction(name.text, name.span, {Clause{Copy(params), PlainRhs(value), span}}));
    return;
  }
  if (!Is(Kind::Where)) return;
  const Span keyword = token().span;
  Advance();
  llvm::SmallVector<Clause> clauses;
  Block(keyword, "`where`", [&] {
    const Span at = token().span;
    Name own{};
    llvm::SmallVector<Pat*> own_params;
    Pat* left = ParsePat();
    if (panic_ || !SplitSynonymHead(left, own, own_params)) return;
    if (own.text != name.text || own_params.size() != params.size())
      return void(FailWith(Diag::UnexpectedToken, own.span, fmt::format("`{}`", Text(own.text)), fmt::format("`{}` with as many parameters", Text(name.text))));
    Rhs rhs = ParseRhs(Kind::Equals);
    clauses.push_back({Copy(own_params), rhs, From(at)});
  });
  if (!clauses.empty()) decls.push_back(SynonymFunction(name.text, name.span, clauses));
}

// The types of the functions, once all synonyms of the module are read.
void Parser::AddSynonymTypes(llvm::SmallVectorImpl<Decl*>& decls) {
  auto has = [&](Symbol name) {
    return llvm::any_of(decls, [&](const Decl* decl) {
      const auto* function = llvm::dyn_cast<FunctionDecl>(decl);
      return function && function->name.text == name;
    });
  };
  llvm::SmallVector<Decl*> types;
  for (const auto& [name, type] : synonym_types_) {
    const Symbol text = name.text;
    const auto arity = llvm::find_if(synonym_arity_, [&](const auto& row) { return row.first == text; });
    if (arity == synonym_arity_.end()) {
      Complain(Diag::UnexpectedToken, name.span, fmt::format("a type of `{}`", Text(text)), "the pattern synonym itself as well");
      continue;
    }
    // Of `C => D => t` the second context is what the pattern tells, which is known of the parts anyway.
    llvm::SmallVector<Type*> parts;
    Type* rest = type.type;
    for (auto* fun = llvm::dyn_cast<FunType>(rest); fun && parts.size() < arity->second; fun = llvm::dyn_cast<FunType>(rest)) {
      parts.push_back(fun->from);
      rest = fun->to;
    }
    const Span span = type.span;
    const bool one = parts.size() == 1;
    Type* held = one ? parts[0] : ast_.New<TupleType>(span, Copy(parts));
    Type* result = ast_.New<ConType>(span, Library(one ? "Either" : "Maybe", span));
    if (one) result = ast_.New<AppType>(span, result, ast_.New<TupleType>(span, List<Type*>()));
    result = ast_.New<AppType>(span, result, held);
    QualType matcher = type;
    matcher.type = ast_.New<FunType>(span, rest, result);
    types.push_back(ast_.New<SignatureDecl>(name.span, ast_.Copy<Name>({Name{MatcherOf(text), {}, name.span}}), matcher));
    if (has(text)) types.push_back(ast_.New<SignatureDecl>(name.span, ast_.Copy<Name>({name}), type));
  }
  decls.append(types.begin(), types.end());
}

}  // namespace df
