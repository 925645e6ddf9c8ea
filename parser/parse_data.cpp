// parser/parse_data.cpp
//
// Declarations of types and classes (Haskell 2010 sections 4.2 and 4.3).
#include "parser/parser.h"

namespace df {

using namespace ast;

bool Parser::SplitTypeHead(Type* head, Name& name, llvm::SmallVectorImpl<Name>& params) {
  Span whole = head->span;
  // `n + m`, which a type family may be called.
  if (auto* op = llvm::dyn_cast<DimOpType>(head); op && op->op != ':') {
    auto* left = llvm::dyn_cast<VarType>(op->left);
    auto* right = llvm::dyn_cast<VarType>(op->right);
    if (left && right) {
      name = NameOf(std::string(1, op->op), whole);
      params.push_back({left->name, {}, left->span});
      params.push_back({right->name, {}, right->span});
      return true;
    }
  }
  for (; auto* app = llvm::dyn_cast<AppType>(head); head = app->fn) {
    auto* var = llvm::dyn_cast<VarType>(app->arg);
    if (!var) {
      FailWith(Diag::BadTypeHead, app->arg->span).Note(whole, "only type variables follow the name");
      return false;
    }
    params.push_back({var->name, {}, var->span});
  }
  std::reverse(params.begin(), params.end());
  auto* con = llvm::dyn_cast<ConType>(head);
  if (!con) {
    auto& report = FailWith(Diag::BadTypeHead, whole);
    if (auto* var = llvm::dyn_cast<VarType>(head)) {
      std::string capital(Text(var->name));
      capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[0])));
      report.Hint(fmt::format("its name begins with a capital letter: `{}`", capital));
    }
    return false;
  }
  name = con->name;
  if (name.qualifier.valid()) {
    Complain(Diag::QualifiedBinder, name.span, diags_.sources().Text(name.span).substr(0, 60));
    name.qualifier = {};
  }
  return true;
}

// data [context =>] T a b [= constructors] [deriving ..]
Decl* Parser::ParseData(bool newtype) {
  Span begin = token().span;
  Advance();
  llvm::SmallVector<Constraint> context;
  llvm::SmallVector<Name> params;
  Name name{};
  Type* head = ParseTypeWithContext(context);
  if (!panic_ && !context.empty())
    NotSupported(context[0].span, "a context of a data type (`DatatypeContexts`) is");
  if (!panic_) SplitTypeHead(head, name, params);
  llvm::SmallVector<ConstructorDecl> constructors;
  llvm::SmallVector<DerivedClass> deriving;
  if (Is(Kind::DoubleColon)) ParseDataKind(params);
  if (Is(Kind::Where)) ParseGadtConstructors(constructors);
  if (Is(Kind::Bar))
    FailWith(Diag::UnexpectedToken, token().span, "`|`", "`=`").Hint("the first constructor follows `=`, the others `|`");
  if (Take(Kind::Equals)) {
    do {
      constructors.push_back(ParseConstructor());
    } while (Take(Kind::Bar));
  }
  while (Is(Kind::Deriving)) ParseDeriving(deriving);
  if (newtype && !panic_) {
    if (constructors.size() != 1)
      Complain(Diag::NewtypeShape, name.span, Text(name.text),
               fmt::format("{} constructors", constructors.size()));
    else if (constructors[0].fields.size() != 1) {
      auto& report = Complain(Diag::NewtypeShape, constructors[0].span, Text(name.text),
                              fmt::format("{} fields", constructors[0].fields.size()));
      if (constructors[0].fields.empty() && constructors[0].name.text != name.text)
        report.Hint(fmt::format("the constructor comes before the type: `{0} {1}`; another name of a type is declared by `type {0} = {1}`",
                                Text(name.text), Text(constructors[0].name.text)));
    }
    else if (constructors[0].fields[0].strict)
      Complain(Diag::NewtypeShape, constructors[0].span, Text(name.text), "a strict field");
  }
  if (!name.text.valid()) return ast_.New<ErrorDecl>(From(begin));
  if (constructors.empty() && !newtype && !panic_) RefuseIfTurnedOff("EmptyDataDecls", name.span, "a type without constructors");
  return ast_.New<DataDecl>(From(begin), newtype, Copy(context), name, Copy(params), Copy(constructors),
                            Copy(deriving));
}

// Whether a `=>` stands before the end of this constructor.
bool Parser::ContextFollows() const {
  for (size_t i = pos_; !panic_ && !ItemEndsBefore(i); i = SkipBrackets(i)) {
    switch (TokenAt(i).kind) {
      case Kind::FatArrow: return true;
      case Kind::Bar:
      case Kind::Deriving:
      case Kind::Equals:
      case Kind::Semicolon:
      case Kind::RightBrace:
      case Kind::EndOfFile: return false;
      default: break;
    }
  }
  return false;
}

// `data T :: Type -> Type where ..`: as many parameters more, which have no name.
void Parser::ParseDataKind(llvm::SmallVectorImpl<Name>& params) {
  NeedExtension("KindSignatures", token().span, "a kind");
  Advance();
  bool outer = std::exchange(in_kind_, true);
  Type* kind = ParseType();
  in_kind_ = outer;
  for (; auto* fun = llvm::dyn_cast<FunType>(kind); kind = fun->to) {
    params.push_back(NameOf(fmt::format("t{}", params.size() + 1), fun->from->span));
    kinds_.push_back({fun->from->span, fun->from});
  }
}

// `where { C, D :: forall a. Show a => a -> T a; E :: { x :: Int } -> T Int }`
void Parser::ParseGadtConstructors(llvm::SmallVectorImpl<ConstructorDecl>& constructors) {
  Span keyword = token().span;
  if (!HasExtension("GADTSyntax")) NeedExtension("GADTs", keyword, "`where` in a declaration of a type");
  Advance();
  Block(keyword, "`where`", [&] {
    if (!Is(Kind::ConId) && !(Is(Kind::LeftParen) && next().kind == Kind::ConSym)) return;
    Span begin = token().span;
    llvm::SmallVector<Name> names, binders;
    do {
      Span open = token().span;
      if (Take(Kind::LeftParen)) {
        names.push_back(TakeBinder());
        Close(Kind::RightParen, open);
      } else if (Is(Kind::ConId)) {
        names.push_back(TakeBinder());
      } else {
        Fail("a constructor");
      }
    } while (Take(Kind::Comma));
    Expect(Kind::DoubleColon, "`::` and the type of the constructor");
    ConstructorDecl con{};
    if (IsWord("forall") || IsOp("∀")) ParseForall(binders);
    llvm::SmallVector<Constraint> context;
    llvm::SmallVector<FieldDecl> fields;
    // A context stands before the fields, which may be a record or have marks of strictness.
    if (ContextFollows()) {
      ToContext(ParseType(), context);
      Expect(Kind::FatArrow);
    }
    if (Is(Kind::LeftBrace)) {
      con.record = true;
      ParseRecordFields(fields);
      Expect(Kind::RightArrow);
      con.result = ParseType();
    } else {
      for (;;) {
        bool strict = IsOp("!");
        if (strict) Advance();
        Type* type = strict ? ParseAType() : ParseDimType();
        if (!Take(Kind::RightArrow)) {
          con.result = type;
          break;
        }
        fields.push_back({{}, type, strict});
        if (panic_) break;
      }
    }
    if (!con.result) con.result = ErrorTypeHere();
    con.forall = Copy(binders);
    con.context = Copy(context);
    con.fields = Copy(fields);
    con.span = From(begin);
    for (const Name& name : names) {
      con.name = name;
      constructors.push_back(con);
    }
  });
}

// `C t1 !t2`, `C { x, y :: t }`, `t1 :+: t2`, `(:+:) t1 t2`, `forall a. Show a => C a`
ConstructorDecl Parser::ParseConstructor() {
  Span begin = token().span;
  ConstructorDecl con{};
  if (IsWord("forall") || IsOp("∀")) {
    if (!HasExtension("GADTs")) NeedExtension("ExistentialQuantification", begin, "`forall` before a constructor");
    llvm::SmallVector<Name> binders;
    ParseForall(binders);
    con.forall = Copy(binders);
  }
  if (ContextFollows()) {
    if (!HasExtension("GADTs")) NeedExtension("ExistentialQuantification", token().span, "a constructor with a context");
    llvm::SmallVector<Constraint> context;
    ToContext(ParseType(), context);
    con.context = Copy(context);
    Expect(Kind::FatArrow);
  }
  // An operator before the end of this constructor makes it infix.
  bool infix = false;
  for (size_t i = pos_; !panic_ && !ItemEndsBefore(i); i = SkipBrackets(i)) {
    const Token& t = TokenAt(i);
    if (t.kind == Kind::ConSym || (t.kind == Kind::Backquote && TokenAt(i + 1).kind == Kind::ConId))
      infix = true;
    if (infix || t.kind == Kind::Bar || t.kind == Kind::Deriving || t.kind == Kind::Equals) break;
  }
  llvm::SmallVector<FieldDecl> fields;
  con.infix = infix;
  if (infix) {
    auto operand = [&] {
      if (IsOp("!")) return ParseField();
      return FieldDecl{{}, ParseBType(), false};
    };
    fields.push_back(operand());
    if (AtConOperator())
      con.name = TakeOperator();
    else
      Fail("a constructor operator");
    fields.push_back(operand());
  } else {
    if (Is(Kind::LeftParen) && next().kind == Kind::ConSym) {
      Span open = token().span;
      Advance();
      con.name = TakeBinder();
      Close(Kind::RightParen, open);
    } else if (Is(Kind::ConId)) {
      con.name = TakeBinder();
    } else {
      Fail("a constructor");
    }
    if (Is(Kind::LeftBrace)) {
      con.record = true;
      ParseRecordFields(fields);
    } else {
      while (AtAType() || IsOp("!") || Is(Kind::Tilde)) fields.push_back(ParseField());
    }
  }
  con.fields = Copy(fields);
  con.span = From(begin);
  return con;
}

// `t` or `!t`
FieldDecl Parser::ParseField() {
  if (Is(Kind::Tilde)) NotSupported(token().span, "laziness marks are");
  bool strict = IsOp("!");
  if (strict) Advance();
  return {{}, ParseAType(), strict};
}

// `{ x, y :: t, z :: !t }`
void Parser::ParseRecordFields(llvm::SmallVectorImpl<FieldDecl>& fields) {
  Span open = token().span;
  RefuseIfTurnedOff("TraditionalRecordSyntax", open, "a record");
  Advance();
  PushBlock(0);
  while (!Is(Kind::RightBrace) && !panic_) {
    llvm::SmallVector<Name> names;
    do {
      if (Is(Kind::VarId)) {
        names.push_back(TakeBinder());
      } else if (Is(Kind::LeftParen) && next().kind == Kind::VarSym) {
        Span paren = token().span;
        Advance();
        names.push_back(TakeBinder());
        Close(Kind::RightParen, paren);
      } else {
        Fail("a field's name");
      }
    } while (Take(Kind::Comma));
    Expect(Kind::DoubleColon);
    bool strict = IsOp("!");
    if (strict) Advance();
    Type* type = ParseType();
    for (const Name& name : names) fields.push_back({name, type, strict});
    if (!Take(Kind::Comma)) break;
    if (Is(Kind::RightBrace)) Complain(Diag::UnexpectedToken, token().span, "`}`", "a field's name").Hint("no comma stands before the `}`");
  }
  Close(Kind::RightBrace, open);
  if (!panic_) PopBlock();
}

// Whether the name is one of the classes that a type usually derives.
static bool IsDerivable(std::string_view name) {
  for (std::string_view cls : {"Eq", "Ord", "Show", "Read", "Enum", "Bounded", "Ix", "Functor", "Foldable", "Traversable", "Num"})
    if (name == cls) return true;
  return false;
}

// `stock`, `newtype` or `anyclass`, if one stands here.
DerivingStrategy Parser::ParseStrategy() {
  const Span begin = token().span;
  DerivingStrategy strategy = DerivingStrategy::None;
  if (Is(Kind::Newtype)) strategy = DerivingStrategy::Newtype;
  else if (IsWord("stock")) strategy = DerivingStrategy::Stock;
  else if (IsWord("anyclass")) strategy = DerivingStrategy::Anyclass;
  else return strategy;
  Advance();
  NeedExtension("DerivingStrategies", begin, "a deriving strategy");
  if (strategy == DerivingStrategy::Anyclass) NeedExtension("DeriveAnyClass", begin, "`deriving anyclass`");
  return strategy;
}

// `deriving Show`, `deriving (Eq, Ord)`, `deriving newtype Num`
void Parser::ParseDeriving(llvm::SmallVectorImpl<DerivedClass>& classes) {
  Advance();
  const DerivingStrategy strategy = ParseStrategy();
  const size_t first = classes.size();
  auto one = [&] {
    if (Is(Kind::ConId)) {
      classes.push_back({NameOf(token()), strategy});
      Advance();
    } else {
      std::string text(diags_.sources().Text(token().span));
      const bool small = Is(Kind::VarId) && std::islower(static_cast<unsigned char>(text[0])), silent = panic_;
      Fail("a class");
      if (small && !silent) {
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
        diags_.Hint(fmt::format("classes begin with a capital letter: `{}`", text));
      }
    }
  };
  Span open = token().span;
  if (Take(Kind::LeftParen)) {
    if (!Is(Kind::RightParen)) {
      do {
        one();
        llvm::SmallVector<Type*> args;
        while (Is(Kind::ConId) || Is(Kind::VarId) || Is(Kind::LeftParen) || Is(Kind::LeftBracket)) args.push_back(ParseAType());
        // `(Eq Show)`: no class that can be derived is a type.
        const auto* second = args.empty() ? nullptr : llvm::dyn_cast<ConType>(args[0]);
        if (second && IsDerivable(Text(second->name.text)))
          FailWith(Diag::UnexpectedToken, second->span, fmt::format("`{}`", Text(second->name.text)), "`,` or `)`")
              .Hint("classes are separated by commas");
        if (!args.empty()) classes.back().args = Copy(args);
      } while (Take(Kind::Comma));
    }
    Close(Kind::RightParen, open);
  } else {
    one();
    if (Is(Kind::Comma))
      FailWith(Diag::UnexpectedToken, token().span, "`,`", "the end of the declaration")
          .Hint(fmt::format("several classes stand in parentheses: `deriving ({}, ..)`", Text(classes.back().cls.text)));
  }
  if (Type* via = ParseVia())
    for (size_t i = first; i < classes.size(); ++i) classes[i].strategy = DerivingStrategy::Via, classes[i].via = via;
}

// `via T`, if it stands here.
Type* Parser::ParseVia() {
  if (!IsWord("via")) return nullptr;
  NeedExtension("DerivingVia", token().span, "`deriving .. via`");
  Advance();
  return ParseBType();
}

// deriving [strategy] instance [context =>] C type
Decl* Parser::ParseStandaloneDeriving() {
  Span begin = token().span;
  Advance();
  NeedExtension("StandaloneDeriving", begin, "a `deriving` by itself");
  DerivingStrategy strategy = ParseStrategy();
  Type* via = ParseVia();
  if (via) strategy = DerivingStrategy::Via;
  Expect(Kind::Instance, "`instance` after `deriving`");
  llvm::SmallVector<Constraint> context, cls;
  ParseInstanceHead(context, cls);
  if (cls.size() != 1) return ast_.New<ErrorDecl>(From(begin));
  return ast_.New<DerivingDecl>(From(begin), DerivedClass{cls[0].cls, strategy, {}, via}, Copy(context), cls[0].type);
}

Decl* Parser::ParseTypeSynonym() {
  Span begin = token().span;
  Advance();
  llvm::SmallVector<Name> params;
  Name name{};
  Type* head = ParseDimType();
  if (!panic_) SplitTypeHead(head, name, params);
  Expect(Kind::Equals);
  Type* type = ParseType();
  if (Is(Kind::FatArrow)) NotSupported(token().span, "type synonyms with a context are");
  if (!name.text.valid()) return ast_.New<ErrorDecl>(From(begin));
  return ast_.New<TypeSynonymDecl>(From(begin), name, Copy(params), type);
}

// class [context =>] C a [where ..]
Decl* Parser::ParseClass() {
  Span begin = token().span;
  Advance();
  llvm::SmallVector<Constraint> context;
  llvm::SmallVector<Name> params;
  Name name{};
  Type* head = ParseTypeWithContext(context);
  if (!panic_) SplitTypeHead(head, name, params);
  llvm::SmallVector<Dependency> dependencies;
  if (Is(Kind::Bar)) ParseDependencies(dependencies);
  if (Is(Kind::DoubleColon)) {
    FailWith(Diag::UnexpectedToken, token().span, "`::`", "`where` before the methods")
        .Note(begin, "of this class");
  }
  if (!panic_ && params.empty()) FailWith(Diag::ClassParameters, head->span, Text(name.text));
  if (!panic_ && params.size() > 1 && dependencies.empty()) NeedExtension("MultiParamTypeClasses", head->span, "a class with several parameters");
  List<Decl*> members;
  if (Is(Kind::Where)) {
    Span keyword = token().span;
    Advance();
    members = ParseDeclBlock(keyword, "`where`", Scope::Class);
  }
  if (!name.text.valid() || params.empty()) return ast_.New<ErrorDecl>(From(begin));
  Span pragma;
  const Minimal* minimal = ParseMinimal(begin, pragma);
  return ast_.New<ClassDecl>(From(begin), Copy(context), name, Copy(params), Copy(dependencies), members, minimal, pragma);
}

// `| m -> s, a b -> c`
void Parser::ParseDependencies(llvm::SmallVectorImpl<Dependency>& dependencies) {
  NeedExtension("FunctionalDependencies", token().span, "a functional dependency");
  Advance();
  auto names = [&] {
    llvm::SmallVector<Name> out;
    while (Is(Kind::VarId)) out.push_back(TakeBinder());
    return Copy(out);
  };
  do {
    List<Name> from = names();
    Expect(Kind::RightArrow, "`->` and what these variables settle");
    dependencies.push_back({from, names()});
  } while (Take(Kind::Comma));
}

// [context =>] C type; `cls` is the class with its type, and empty if there is none.
void Parser::ParseInstanceHead(llvm::SmallVectorImpl<Constraint>& context, llvm::SmallVectorImpl<Constraint>& cls) {
  Span begin = token().span;
  Type* head = ParseTypeWithContext(context);
  // `instance Show T` without its `where`: the line below looks like more of the type.
  llvm::SmallVector<Type*> args;
  Type* fn = head;
  for (; auto* app = llvm::dyn_cast<AppType>(fn); fn = app->fn) args.push_back(app->arg);
  auto line = [&](Span span) { return diags_.sources().Locate(span.file, span.begin).line; };
  for (size_t i = args.size(); i-- > 0 && !panic_ && args.size() > 1;)
    if (line(args[i]->span) > line(fn->span) && args[i]->span.valid()) {
      FailWith(Diag::UnexpectedToken, args[i]->span, fmt::format("`{}`", diags_.sources().Text(args[i]->span)), "`where` before the methods")
          .Note(begin, "of this instance");
      return;
    }
  in_instance_head_ = true;
  if (!panic_) ToContext(head, cls);
  in_instance_head_ = false;
  if (!panic_ && cls.size() != 1) FailWith(Diag::BadContext, head->span);
}

// instance [context =>] C type [where ..]
Decl* Parser::ParseInstance() {
  Span begin = token().span;
  Advance();
  llvm::SmallVector<Constraint> context, cls;
  ParseInstanceHead(context, cls);
  List<Decl*> members;
  if (Is(Kind::Where)) {
    Span keyword = token().span;
    Advance();
    members = ParseDeclBlock(keyword, "`where`", Scope::Instance);
  }
  if (cls.size() != 1) return ast_.New<ErrorDecl>(From(begin));
  return ast_.New<InstanceDecl>(From(begin), Copy(context), cls[0].cls, cls[0].type, cls[0].args, members);
}

}  // namespace df
