// parser/parse_decl.cpp
//
// Declarations of values: signatures, fixities, equations and pattern bindings (Haskell 2010 section 4.4).
#include "parser/parser.h"

namespace df {

using namespace ast;

// Looks over the left side, brackets in one step, up to the `=`, `|` or `::` that ends it.
Parser::Lookahead Parser::LookAtDecl() const {
  const Token& first = token();
  bool con_operator = false;
  size_t var_operator = 0;
  bool bind_end = false;
  bool signature = false;
  bool operand = false;  // an operand stands before token i
  for (size_t i = pos_; !ItemEndsBefore(i);) {
    const Token& t = TokenAt(i);
    bool stop = false;
    switch (t.kind) {
      case Kind::Equals:
      case Kind::Bar: bind_end = stop = true; break;
      case Kind::DoubleColon: signature = stop = true; break;
      case Kind::VarSym: {
        std::string_view op = Text(t.text);
        bool prefix = (op == "!" && IsPrefixOccurrence(i)) || (op == "-" && !operand);
        if (!prefix && var_operator == 0) var_operator = i;
        operand = false;
        ++i;
        break;
      }
      case Kind::ConSym:
        con_operator = true;
        operand = false;
        ++i;
        break;
      case Kind::Backquote:
        if (TokenAt(i + 1).kind == Kind::VarId && var_operator == 0) var_operator = i;
        if (TokenAt(i + 1).kind == Kind::ConId) con_operator = true;
        operand = false;
        i += TokenAt(i + 2).kind == Kind::Backquote ? 3 : 1;
        break;
      case Kind::LeftParen:
      case Kind::LeftBracket:
      case Kind::LeftBrace:
        operand = true;
        if (match_[i] == UINT32_MAX)
          stop = true;
        else
          i = match_[i] + 1;
        break;
      case Kind::VarId:
      case Kind::ConId:
      case Kind::Integer:
      case Kind::Fractional:
      case Kind::Char:
      case Kind::String:
      case Kind::Underscore:
      case Kind::At:
      case Kind::Tilde:
      case Kind::Comma:
        operand = true;
        ++i;
        break;
      default: stop = true;
    }
    if (stop) break;
  }
  if (signature) return {Shape::Signature};
  if (!bind_end) return {Shape::Nothing};
  if (var_operator == pos_ && var_operator != 0 && first.kind == Kind::VarSym) return {Shape::Nothing};
  if (var_operator != 0) return {Shape::Infix, var_operator};
  if (con_operator) return {Shape::Pattern};
  if (first.kind == Kind::VarId && next().kind != Kind::At) return {Shape::Function};
  if (first.kind == Kind::LeftParen && match_[pos_] != UINT32_MAX && !AtPrefixConstructor()) {
    size_t close = match_[pos_];
    if (next().kind == Kind::VarSym && close == pos_ + 2) return {Shape::Function};
    Kind after = TokenAt(close + 1).kind;
    if (after != Kind::Equals && after != Kind::Bar) return {Shape::ParenFunction};
  }
  return {Shape::Pattern};
}

List<Decl*> Parser::ParseDeclBlock(Span keyword, std::string_view keyword_text, Scope scope) {
  Level level(*this);
  if (level.too_deep()) return {};
  llvm::SmallVector<Decl*> decls;
  Block(keyword, keyword_text, [&] {
    // What cannot begin a declaration ends the block; some of it is worth a better message.
    switch (kind()) {
      case Kind::RightParen:
      case Kind::RightBracket:
      case Kind::RightBrace:
      case Kind::Comma:
      case Kind::In:
      case Kind::Of:
      case Kind::Then:
      case Kind::Else:
      case Kind::Where:
      case Kind::EndOfFile: return;
      default: ParseDecl(scope, decls);
    }
  });
  return GroupClauses(decls);
}

void Parser::ParseDecl(Scope scope, llvm::SmallVectorImpl<Decl*>& decls) {
  Span begin = token().span;
  auto only_at_top = [&](std::string_view what) {
    if (scope == Scope::Module) return true;
    std::string_view where = scope == Scope::Class      ? "a class"
                             : scope == Scope::Instance ? "an instance"
                                                        : "a local block of declarations";
    FailWith(Diag::NotAllowedHere, begin, what, where);
    return false;
  };
  // `class = 3`: a keyword as a name.
  if (next().kind == Kind::Equals && (Is(Kind::Data) || Is(Kind::Type) || Is(Kind::Class) || Is(Kind::Newtype) ||
                                      Is(Kind::Instance) || Is(Kind::Default) || Is(Kind::Deriving))) {
    std::string_view text = diags_.sources().Text(begin);
    FailWith(Diag::UnexpectedToken, begin, fmt::format("`{}`", text), "a name")
        .Hint(fmt::format("`{}` is a keyword, and cannot be a name", text));
    return;
  }
  switch (kind()) {
    case Kind::Infix:
    case Kind::Infixl:
    case Kind::Infixr: decls.push_back(ParseFixity()); return;
    case Kind::Data:
      if (scope == Scope::Class || scope == Scope::Instance) return NotSupported(begin, "type families are");
      if (next().kind == Kind::VarId && SameSpelling(next(), "family"))
        return NotSupported(begin, "type families are");
      if (next().kind == Kind::Instance) return NotSupported(begin, "type families are");
      if (only_at_top("`data`")) decls.push_back(ParseData(false));
      return;
    case Kind::Newtype:
      if (only_at_top("`newtype`")) decls.push_back(ParseData(true));
      return;
    case Kind::Type:
      if (scope == Scope::Class || scope == Scope::Instance) return NotSupported(begin, "type families are");
      if (TokenAt(pos_ + (next().kind == Kind::LeftParen ? 4 : 2)).kind == Kind::DoubleColon) return ParseKindSignature();
      if (only_at_top("`type`")) decls.push_back(ParseTypeSynonym());
      return;
    case Kind::Class:
      if (only_at_top("`class`")) decls.push_back(ParseClass());
      return;
    case Kind::Instance:
      if (only_at_top("`instance`")) decls.push_back(ParseInstance());
      return;
    case Kind::Foreign:
      if (only_at_top("`foreign`")) decls.push_back(ParseForeign());
      return;
    case Kind::Import: only_at_top("`import`"); return;
    case Kind::Default:
      if (scope == Scope::Class) {
        NeedExtension("DefaultSignatures", begin, "a default signature");
        Advance();
        if (Decl* decl = ParseSignature()) {
          if (auto* signature = llvm::dyn_cast<SignatureDecl>(decl)) signature->is_default = true;
          decls.push_back(decl);
        }
        return;
      }
      if (only_at_top("`default`")) decls.push_back(ParseDefault());
      return;
    case Kind::Deriving:
      if (only_at_top("`deriving`")) decls.push_back(ParseStandaloneDeriving());
      return;
    default: break;
  }
  const bool infix_synonym = next().kind == Kind::VarId && (TokenAt(pos_ + 2).kind == Kind::ConSym || TokenAt(pos_ + 2).kind == Kind::Backquote);
  const bool bracketed = next().kind == Kind::LeftParen && TokenAt(pos_ + 2).kind == Kind::ConSym;
  if (IsWord("pattern") && (next().kind == Kind::ConId || ((infix_synonym || bracketed) && HasExtension("PatternSynonyms")))) {
    if (only_at_top("a pattern synonym")) ParsePatternSynonym(decls);
    return;
  }
  if (LookAtDecl().shape == Shape::Signature) {
    if (scope == Scope::Instance) NeedExtension("InstanceSigs", begin, "a signature in an instance");
    cut_short_ = false;
    decls.push_back(ParseSignature());
    return;
  }
  if (Decl* decl = ParseEquation()) decls.push_back(decl);
}

// `type T :: Type -> Type`: kinds are inferred, and what is written here says no more.
void Parser::ParseKindSignature() {
  NeedExtension("StandaloneKindSignatures", token().span, "the kind of a type by itself");
  Advance();
  const Span open = token().span;
  const bool bracket = Take(Kind::LeftParen);
  if (!Is(Kind::ConId) && !Is(Kind::ConSym) && !Is(Kind::VarSym)) Fail("the name of a type");
  Advance();
  if (bracket) Close(Kind::RightParen, open);
  Expect(Kind::DoubleColon);
  const bool outer = std::exchange(in_kind_, true);
  ParseType();
  in_kind_ = outer;
}

Decl* Parser::ParseSignature() {
  Span begin = token().span;
  llvm::SmallVector<Name> names;
  do {
    if (Is(Kind::VarId)) {
      names.push_back(TakeBinder());
    } else if (Is(Kind::LeftParen) && (next().kind == Kind::VarSym || next().kind == Kind::ConSym)) {
      Span open = token().span;
      Advance();
      names.push_back(TakeBinder());
      Close(Kind::RightParen, open);
    } else {
      Fail("a name before `::`");
    }
  } while (Take(Kind::Comma));
  Expect(Kind::DoubleColon, "`::` after the names of a type signature");
  QualType type = ParseQualType();
  if (Is(Kind::Equals)) NotSupported(token().span, "a type and a definition in one line (`x :: T = e`) are");
  return ast_.New<SignatureDecl>(From(begin), Copy(names), type);
}

Decl* Parser::ParseFixity() {
  Span begin = token().span;
  Associativity assoc = Is(Kind::Infixl)   ? Associativity::Left
                        : Is(Kind::Infixr) ? Associativity::Right
                                           : Associativity::None;
  Advance();
  uint8_t precedence = 9;
  if (Is(Kind::Integer)) {
    std::string_view digits = Text(token().text);
    if (digits.size() == 1)
      precedence = static_cast<uint8_t>(digits[0] - '0');
    else
      Complain(Diag::BadPrecedence, token().span, digits.substr(0, 20));
    Advance();
  }
  llvm::SmallVector<Name> ops;
  do {
    if (!AtOperator()) {
      Fail("an operator");
      break;
    }
    ops.push_back(TakeOperator());
  } while (Take(Kind::Comma));
  return ast_.New<FixityDecl>(From(begin), assoc, precedence, Copy(ops));
}

// A clause of a function, or a pattern binding.
Decl* Parser::ParseEquation() {
  Span begin = token().span;
  Lookahead look = LookAtDecl();
  // The rest of a declaration that its line cut short was reported with it.
  if (cut_short_ && (look.shape == Shape::Nothing || Is(Kind::Bar))) {
    EnterPanic();
    return ast_.New<ErrorDecl>(From(begin));
  }
  cut_short_ = false;
  if (look.shape == Shape::Nothing || Is(Kind::Bar)) {
    // Say what it is, if it is something that other Haskells have, or an expression out of place.
    if (IsOp("$") || (Is(Kind::VarSym) && Text(token().text).substr(0, 1) == "$"))
      NotSupported(begin, "Template Haskell splices are");
    else if (!AtAPat())
      Fail("a declaration");
    else if (Is(Kind::VarId) && next().kind == Kind::ConSym && SameSpelling(next(), ":"))
      FailWith(Diag::UnexpectedToken, next().span, "`:`", "`::` and a type, or `=`")
          .Hint("`::` gives a type; `:` puts an element before a list");
    else {
      // Parse it as a left side, so that the error stands where it stops being one.
      ParsePat();
      while (AtAPat()) ParseAPat();
      Fail("`=` after the left side of a definition");
    }
    return ast_.New<ErrorDecl>(From(begin));
  }
  if (look.shape == Shape::Pattern) {
    // `f x : xs = ..`
    if (Is(Kind::VarId) && (next().kind == Kind::VarId || next().kind == Kind::Underscore) && !next().starts_line) {
      FailWith(Diag::UnexpectedToken, next().span, fmt::format("`{}`", diags_.sources().Text(next().span)), "`=`")
          .Hint("a pattern with an operator stands in parentheses: `f (x : xs)`");
      return ast_.New<ErrorDecl>(From(begin));
    }
    Pat* pat = ParsePat();
    Rhs rhs = ParseRhs(Kind::Equals);
    return ast_.New<PatBindDecl>(From(begin), pat, rhs);
  }
  Name name{};
  llvm::SmallVector<Pat*> params;
  ParseFunLhs(name, params);
  if (!name.text.valid()) {
    if (!panic_) Fail("the name of a function");
    return ast_.New<ErrorDecl>(From(begin));
  }
  Rhs rhs = ParseRhs(Kind::Equals);
  Clause clause{Copy(params), rhs, From(begin)};
  return ast_.New<FunctionDecl>(From(begin), name, ast_.Copy<Clause>({clause}));
}

// `f p q`, `p <+> q`, `(p <+> q) r`, `(<+>) p q`
void Parser::ParseFunLhs(Name& name, llvm::SmallVectorImpl<Pat*>& params) {
  Level level(*this);
  if (level.too_deep()) return;
  Lookahead look = LookAtDecl();
  // Inside parentheses the left side ends at the closing one and not at `=`.
  if (look.shape == Shape::Nothing) {
    for (size_t i = pos_; !ItemEndsBefore(i) && TokenAt(i).kind != Kind::RightParen; i = SkipBrackets(i)) {
      const Token& t = TokenAt(i);
      bool op = (t.kind == Kind::VarSym && !(Text(t.text) == "!" && IsPrefixOccurrence(i)) &&
                 !(Text(t.text) == "-" && i == pos_)) ||
                (t.kind == Kind::Backquote && TokenAt(i + 1).kind == Kind::VarId);
      if (op) {
        look = {Shape::Infix, i};
        break;
      }
    }
    if (look.shape == Shape::Nothing) look.shape = Is(Kind::VarId) ? Shape::Function : Shape::ParenFunction;
  }
  switch (look.shape) {
    case Shape::Infix: {
      params.push_back(ParsePat());
      if (pos_ != look.op) return Fail("an operator");
      name = TakeOperator();
      if (name.qualifier.valid())
        Complain(Diag::QualifiedBinder, name.span, diags_.sources().Text(name.span).substr(0, 60));
      name.qualifier = {};
      params.push_back(ParsePat());
      return;
    }
    case Shape::Function:
      if (Is(Kind::LeftParen)) {
        Span open = token().span;
        Advance();
        name = TakeBinder();
        Close(Kind::RightParen, open);
      } else {
        name = TakeBinder();
      }
      break;
    default: {
      Span open = token().span;
      if (!Take(Kind::LeftParen)) return Fail("a function's left side");
      ParseFunLhs(name, params);
      Close(Kind::RightParen, open);
      break;
    }
  }
  while (AtAPat()) params.push_back(ParseAPat());
}

// `area Circle r = ..`: of the equation with more parameters than the other.
void Parser::HintAtBareConstructor(const Clause& clause) {
  for (size_t i = 0; i + 1 < clause.params.size(); ++i) {
    const auto* con = llvm::dyn_cast<ConPat>(clause.params[i]);
    std::string_view name = con ? diags_.sources().Text(con->span) : std::string_view();
    if (!con || !con->args.empty() || name[0] == '(') continue;
    diags_.Hint(fmt::format("if that is meant, a constructor and its fields stand in parentheses: `({} {})`", name,
                            diags_.sources().Text(clause.params[i + 1]->span)));
    return;
  }
}

// Neighbouring clauses of one name become one function.
List<Decl*> Parser::GroupClauses(llvm::ArrayRef<Decl*> decls) {
  llvm::SmallVector<Decl*> grouped;
  for (size_t i = 0; i < decls.size();) {
    auto* first = llvm::dyn_cast<FunctionDecl>(decls[i]);
    size_t end = i + 1;
    if (!first) {
      grouped.push_back(decls[i]);
      i = end;
      continue;
    }
    llvm::SmallVector<Clause> clauses{first->clauses[0]};
    size_t arity = clauses[0].params.size();
    bool differ = false;
    for (; end < decls.size(); ++end) {
      auto* more = llvm::dyn_cast<FunctionDecl>(decls[end]);
      if (!more || more->name.text != first->name.text) break;
      const Clause& clause = more->clauses[0];
      // Two definitions of a variable are not clauses of it: the renamer reports them.
      if (arity == 0 && clause.params.empty()) break;
      if (clause.params.size() != arity) {
        Complain(Diag::ArityDiffers, more->name.span, Text(first->name.text).substr(0, 60), arity,
                    clause.params.size())
            .Note(first->name.span, fmt::format("the first equation has {}", arity));
        HintAtBareConstructor(clause.params.size() > arity ? clause : clauses[0]);
        differ = true;
        continue;
      }
      clauses.push_back(clause);
    }
    if (differ)  // of whatever type
      clauses = {Clause{{}, {Copy(llvm::SmallVector<GuardedExpr>{{{}, ast_.New<ErrorExpr>(first->span), first->span}}), {}, first->span}, first->span}};
    if (clauses.size() == 1 && !differ)
      grouped.push_back(first);
    else
      grouped.push_back(
          ast_.New<FunctionDecl>(Cover(first->span, clauses.back().span), first->name, Copy(clauses)));
    i = end;
  }
  return Copy(grouped);
}

// `default (Int, Double)`
Decl* Parser::ParseDefault() {
  Span begin = token().span;
  Advance();
  Span open = token().span;
  llvm::SmallVector<Type*> types;
  Expect(Kind::LeftParen, "`(` and types");
  while (!panic_ && !Is(Kind::RightParen)) {
    types.push_back(ParseType());
    if (!Take(Kind::Comma)) break;
  }
  Close(Kind::RightParen, open);
  return ast_.New<DefaultDecl>(From(begin), Copy(types));
}

// `foreign import prim "Add" primAdd :: Int -> Int -> Int`
Decl* Parser::ParseForeign() {
  Span begin = token().span;
  Advance();
  if (IsWord("export")) NotSupported(token().span, "foreign exports are");
  Expect(Kind::Import);
  if (!IsWord("prim")) {
    if (Is(Kind::VarId))
      NotSupported(token().span, "foreign functions are");
    else
      Fail("`prim`");
  }
  Advance();
  Symbol op = token().text;
  Expect(Kind::String, "the name of an op, as a string");
  Name name{};
  if (Is(Kind::VarId))
    name = TakeBinder();
  else
    Fail("the name that is declared");
  Expect(Kind::DoubleColon);
  QualType type = ParseQualType();
  return ast_.New<ForeignDecl>(From(begin), op, name, type);
}

}  // namespace df
