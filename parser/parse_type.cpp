// parser/parse_type.cpp
//
// Types, contexts and tensor dimensions (Haskell 2010 section 4.1).
#include "parser/parser.h"

namespace df {

using namespace ast;

// btype [-> type]
Type* Parser::ParseType() {
  Level level(*this);
  if (level.too_deep()) return ErrorTypeHere();
  if (IsWord("forall") || IsOp("∀")) return ParseForallType();
  Span begin = token().span;
  Type* type = ParseDimType();
  if (Is(Kind::Tilde)) {
    if (!HasExtension("GADTs")) NeedExtension("TypeFamilies", token().span, "an equality of types (`~`)");
    const Span at = token().span;
    Advance();
    Type* right = ParseDimType();
    return ast_.New<AppType>(From(begin), ast_.New<AppType>(From(begin), ast_.New<ConType>(at, NameOf("~", at)), type), right);
  }
  if (Take(Kind::RightArrow)) {
    Type* to = ParseType();
    type = ast_.New<FunType>(From(begin), type, to);
  }
  return type;
}

// `forall a. C a => t` within a type.
Type* Parser::ParseForallType() {
  Span begin = token().span;
  if (!HasExtension("QuantifiedConstraints")) NeedExtension("RankNTypes", begin, "`forall` inside a type");
  llvm::SmallVector<Name> binders;
  ParseForall(binders);
  llvm::SmallVector<Constraint> context;
  Type* type = ParseTypeWithContext(context);
  return ast_.New<ForallType>(From(begin), QualType{Copy(context), type, From(begin), Copy(binders)});
}

// Sums and products of dimensions, `*` first: `2 * m + 1`. Other operators are names of types.
Type* Parser::ParseDimType() {
  auto is_product = [&] { return IsOp("*"); };
  auto is_sum = [&] { return IsOp("+") || IsOp("-"); };
  auto product = [&] {
    Span begin = token().span;
    Type* left = ParseBType();
    while (is_product()) {
      Advance();
      Type* right = ParseBType();
      left = ast_.New<DimOpType>(From(begin), '*', left, right);
    }
    return left;
  };
  Span begin = token().span;
  Type* left = product();
  uint32_t count = 0;
  while (is_sum()) {
    if (++count > options_.max_depth) FailWith(Diag::ChainTooLong, token().span, options_.max_depth);
    char op = IsOp("+") ? '+' : '-';
    Advance();
    Type* right = product();
    left = ast_.New<DimOpType>(From(begin), op, left, right);
  }
  if (IsOp("%") && !token().space_after) NotSupported(token().span, "linear types are");
  if (IsOp("<")) {
    NotSupported(token().span, "operators on types are");
    if (!diags_.all().empty()) diags_.Hint("the arguments of a type follow it: `Maybe Int`; a list of `Int`s is `[Int]`");
  }
  // A shape that begins with a dimension: `n : s`.
  if (Is(Kind::ConSym) && !token().qualifier.valid() && Text(token().text) == ":") {
    Level level(*this);
    if (level.too_deep()) return ErrorTypeHere();
    Advance();
    Type* right = ParseDimType();
    return ast_.New<DimOpType>(From(begin), ':', left, right);
  }
  if (!Is(Kind::VarSym) && !Is(Kind::ConSym) && !Is(Kind::Backquote)) return left;
  // `f :+: g`. All of them associate to the right, whatever their fixity.
  Level level(*this);
  if (level.too_deep()) return ErrorTypeHere();
  NeedExtension("TypeOperators", token().span, "an operator on types");
  const Name op = TakeOperator();
  Type* right = ParseDimType();
  Type* first = ast_.New<AppType>(From(begin), ast_.New<ConType>(op.span, op), left);
  return ast_.New<AppType>(From(begin), first, right);
}

bool Parser::AtAType() const {
  switch (kind()) {
    case Kind::ConId:
    case Kind::LeftParen:
    case Kind::LeftBracket:
    case Kind::Integer: return true;
    case Kind::Underscore: return in_equation_;
    case Kind::VarId: return !IsWord("forall");
    default: return false;
  }
}

Type* Parser::ParseBType() {
  Span begin = token().span;
  Type* type = ParseAType();
  uint32_t count = 0;
  while (AtAType()) {
    if (++count > options_.max_depth) FailWith(Diag::NestedTooDeeply, token().span, options_.max_depth);
    Type* arg = ParseAType();
    type = ast_.New<AppType>(From(begin), type, arg);
  }
  return type;
}

Type* Parser::ParseAType() {
  Span begin = token().span;
  const Token& t = token();
  switch (kind()) {
    case Kind::ConId: {
      Name name = NameOf(t);
      Advance();
      return ast_.New<ConType>(begin, name);
    }
    case Kind::VarId: {
      if (IsWord("forall")) {
        FailWith(Diag::NotAllowedHere, begin, "`forall`", "an argument of a type").Hint("a type with `forall` stands in parentheses: `(forall a. a -> a)`");
        return ErrorTypeHere();
      }
      if (t.qualifier.valid())
        FailWith(Diag::QualifiedBinder, begin, diags_.sources().Text(begin).substr(0, 60));
      Symbol name = t.text;
      Advance();
      return ast_.New<VarType>(begin, name);
    }
    case Kind::Integer: {
      Symbol digits = t.text;
      Advance();
      return ast_.New<DimType>(begin, digits);
    }
    case Kind::LeftBracket: {
      const bool promoted = t.text.valid() && Text(t.text) == "'";
      Advance();
      if (Take(Kind::RightBracket)) {
        if (promoted) {
          auto* none = ast_.New<ListType>(From(begin), List<Type*>());
          none->promoted = true;
          return none;
        }
        return ast_.New<ConType>(From(begin), NameOf("[]", From(begin)));
      }
      llvm::SmallVector<Type*> elements;
      do {
        elements.push_back(ParseType());
      } while (Take(Kind::Comma));
      Close(Kind::RightBracket, begin);
      auto* list = ast_.New<ListType>(From(begin), Copy(elements));
      list->promoted = promoted;
      return list;
    }
    case Kind::LeftParen: {
      Advance();
      if (Take(Kind::RightParen)) return ast_.New<TupleType>(From(begin), List<Type*>());
      if ((Is(Kind::ConSym) || Is(Kind::VarSym)) && next().kind == Kind::RightParen && HasExtension("TypeOperators")) {
        Name name = NameOf(token());
        Advance();
        Close(Kind::RightParen, begin);
        return ast_.New<ConType>(From(begin), name);
      }
      if (Take(Kind::RightArrow)) {
        Close(Kind::RightParen, begin);
        return ast_.New<ConType>(From(begin), NameOf("(->)", From(begin)));
      }
      if (Is(Kind::Comma)) {
        std::string name = "(";
        while (Take(Kind::Comma)) name += ',';
        Close(Kind::RightParen, begin);
        return ast_.New<ConType>(From(begin), NameOf(name + ")", From(begin)));
      }
      llvm::SmallVector<Type*> elements;
      do {
        elements.push_back(ParseType());
        if (Is(Kind::DoubleColon)) ParseKind(elements.back());
        if (Is(Kind::FatArrow)) NotSupported(token().span, "types with a context inside (`RankNTypes`) are");
      } while (Take(Kind::Comma));
      Close(Kind::RightParen, begin);
      if (elements.size() == 1) return elements[0];
      return ast_.New<TupleType>(From(begin), Copy(elements));
    }
    case Kind::Underscore:
      if (in_equation_) {
        Advance();
        return ast_.New<VarType>(begin, Intern(fmt::format("_{}", begin.begin)));
      }
      NotSupported(begin, "type holes are");
      return ErrorTypeHere();
    case Kind::Tilde: NotSupported(begin, "type equalities and laziness marks are"); return ErrorTypeHere();
    case Kind::VarSym:
      if (in_kind_ && IsOp("*")) {
        if (IsTurnedOff("StarIsType"))
          Complain(Diag::NeedsExtension, begin, "`*` as a kind", "StarIsType").Hint("`Type` of the module `Data.Kind` is the same kind");
        Advance();
        return ast_.New<ConType>(begin, NameOf("*", begin));
      }
      if (IsOp("!")) {
        FailWith(Diag::NotAllowedHere, begin, "a strictness mark",
                 "a type that is not a constructor's field");
        return ErrorTypeHere();
      }
      [[fallthrough]];
    default: Fail("a type"); return ErrorTypeHere();
  }
}

// `:: kind` behind a type variable in parentheses.
void Parser::ParseKind(Type* variable) {
  Span colons = token().span;
  if (!llvm::isa<VarType>(variable)) return NotSupported(colons, "kinds of types that are no variables are");
  NeedExtension("KindSignatures", colons, "a kind");
  Advance();
  bool outer = std::exchange(in_kind_, true);
  kinds_.push_back({variable->span, ParseType()});
  in_kind_ = outer;
}

void Parser::ParseForall(llvm::SmallVectorImpl<Name>& binders) {
  Advance();
  for (;;) {
    Span open = token().span;
    bool kinded = Take(Kind::LeftParen);
    if (!Is(Kind::VarId) || token().qualifier.valid()) break;
    binders.push_back(NameOf(token()));
    Advance();
    if (!kinded) continue;
    if (Is(Kind::DoubleColon)) ParseKind(ast_.New<VarType>(binders.back().span, binders.back().text));
    Close(Kind::RightParen, open);
  }
  if (!IsOp(".")) Fail("a type variable or `.`");
  else Advance();
}

// [forall a b.] [context =>] type; the `forall` brings its variables into scope of the definition as well
// (ScopedTypeVariables).
QualType Parser::ParseQualType() {
  Span begin = token().span;
  llvm::SmallVector<Name> binders;
  if (IsWord("forall") || IsOp("∀")) {
    if (!HasExtension("ExplicitForAll"))
      NeedExtension("ScopedTypeVariables", token().span, "`forall` in a signature");
    ParseForall(binders);
  }
  llvm::SmallVector<Constraint> context;
  Type* type = ParseTypeWithContext(context);
  return {Copy(context), type, From(begin), Copy(binders)};
}

// A context looks like a type until its `=>`.
Type* Parser::ParseTypeWithContext(llvm::SmallVectorImpl<Constraint>& context) {
  Type* type = ParseType();
  while (Is(Kind::FatArrow)) {
    ToContext(type, context);
    Advance();
    type = ParseType();
  }
  return type;
}

void Parser::ToContext(Type* type, llvm::SmallVectorImpl<Constraint>& context) {
  if (auto* tuple = llvm::dyn_cast<TupleType>(type)) {
    for (Type* element : tuple->elements) ToContext(element, context);
    return;
  }
  if (llvm::isa<ForallType>(type)) return NotSupported(type->span, "quantified constraints are");
  if (auto* app = llvm::dyn_cast<AppType>(type)) {
    if (auto* cls = llvm::dyn_cast<ConType>(app->fn)) {
      Type* head = app->arg;
      while (auto* inner = llvm::dyn_cast<AppType>(head)) head = inner->fn;
      if (!llvm::isa<VarType>(head) && !llvm::isa<ErrorType>(head) && !in_instance_head_)
        NeedExtension("FlexibleContexts", app->arg->span, "a constraint on a type that is no variable");
      context.push_back({cls->name, app->arg, type->span});
      return;
    }
    // `MArray a e m`: which array it is, and that its actions are those of the monad m (stdlib/Data/Array/Mutable.df).
    if (auto* last = llvm::dyn_cast<AppType>(app->fn))
      if (auto* first = llvm::dyn_cast<AppType>(last->fn))
        if (auto* cls = llvm::dyn_cast<ConType>(first->fn); cls && Text(cls->name.text) == "MArray") {
          context.push_back({cls->name, first->arg, type->span});
          Name monad = cls->name;
          monad.text = Intern("PrimStateMonad");
          context.push_back({monad, app->arg, type->span});
          return;
        }
    if (llvm::isa<AppType>(app->fn)) {
      // Of a class with several parameters. How many it has the checker knows.
      llvm::SmallVector<Type*> args;
      Type* of = type;
      for (; auto* inner = llvm::dyn_cast<AppType>(of); of = inner->fn) args.push_back(inner->arg);
      std::reverse(args.begin(), args.end());
      if (auto* cls = llvm::dyn_cast<ConType>(of)) {
        auto ends_in_variable = [](Type* head) {
          while (auto* inner = llvm::dyn_cast<AppType>(head)) head = inner->fn;
          return llvm::isa<VarType>(head) || llvm::isa<ErrorType>(head);
        };
        if (!in_instance_head_ && Text(cls->name.text) != "~")
          if (auto odd = llvm::find_if(args, [&](Type* arg) { return !ends_in_variable(arg); }); odd != args.end())
            NeedExtension("FlexibleContexts", (*odd)->span, "a constraint on a type that is no variable");
        context.push_back({cls->name, args.back(), type->span, Copy(args)});
        return;
      }
    }
  }
  FailWith(Diag::BadContext, type->span).Hint("a constraint is a class and a type: `Eq a`");
}

}  // namespace df
