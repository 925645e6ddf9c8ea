// deriving: Eq, Ord, Enum, Bounded, Show, Read, Ix, and which way the instance of a class is derived.
#include "typecheck/derive/deriving.h"

#include "typecheck/declare/class.h"
#include "typecheck/derive/derive.h"
#include "typecheck/explain/class.h"
#include "typecheck/explain/explain.h"
#include "typecheck/resolve/find.h"
#include "typecheck/resolve/types.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// The constructor's number, by a case.
ast::Expr* Tag(Builder& make, const Shape& shape, std::string_view of) {
  std::vector<ast::Alternative> alternatives;
  for (const core::DataCon* con : shape.cons)
    alternatives.push_back(make.Alt(make.AnyOf(con->name), make.Int(con->index)));
  return make.Case(make.Var(of), alternatives);
}

void DeriveEq(Builder& make, const Shape& shape) {
  for (const core::DataCon* con : shape.cons) {
    if (con->fields.empty()) continue;
    ast::Expr* all = nullptr;
    for (size_t i = con->fields.size(); i-- > 0;) {
      ast::Expr* test = make.Call("==", {make.Var(Builder::Field("x", i)), make.Var(Builder::Field("y", i))});
      all = all ? make.Call("&&", {test, all}) : test;
    }
    make.Clause(
        {make.ConPat(con->name, con->fields.size(), "x"), make.ConPat(con->name, con->fields.size(), "y")},
        all);
  }
  if (shape.cons.size() <= 1) {
    if (shape.cons.empty() || shape.has_nullary()) make.Clause({make.Any(), make.Any()}, make.LibCon("True"));
  } else if (shape.has_nullary()) {
    make.Clause({make.VarPat("a"), make.VarPat("b")},
                make.Call("==", {Tag(make, shape, "a"), Tag(make, shape, "b")}));
  } else {
    make.Clause({make.Any(), make.Any()}, make.LibCon("False"));
  }
  make.Method("==");
}

void DeriveOrd(Builder& make, const Shape& shape) {
  for (const core::DataCon* con : shape.cons) {
    if (con->fields.empty()) continue;
    ast::Expr* result = nullptr;
    for (size_t i = con->fields.size(); i-- > 0;) {
      ast::Expr* first =
          make.Call("compare", {make.Var(Builder::Field("x", i)), make.Var(Builder::Field("y", i))});
      result = result ? make.Case(first, {make.Alt(make.LibConPat("EQ"), result),
                                          make.Alt(make.VarPat("r"), make.Var("r"))})
                      : first;
    }
    make.Clause(
        {make.ConPat(con->name, con->fields.size(), "x"), make.ConPat(con->name, con->fields.size(), "y")},
        result);
  }
  if (shape.cons.size() <= 1) {
    if (shape.cons.empty() || shape.has_nullary()) make.Clause({make.Any(), make.Any()}, make.LibCon("EQ"));
  } else {
    make.Clause({make.VarPat("a"), make.VarPat("b")},
                make.Call("compare", {Tag(make, shape, "a"), Tag(make, shape, "b")}));
  }
  make.Method("compare");
}

void DeriveEnum(Builder& make, const Shape& shape, bool sequences) {
  // The messages are GHC's.
  auto bad = [&](bool up) {
    const char* name = up ? "succ" : "pred";
    return make.Call("errorWithoutStackTrace",
                     {make.String(fmt::format("{}{{{}}}: tried to take `{}' of {} tag in enumeration", name, Text(shape.type),
                                              name, up ? "last" : "first"))});
  };
  ast::Expr* range = make.String(fmt::format(") is outside of enumeration's range (0,{})", shape.cons.size() - 1));
  ast::Expr* tag = make.Call("++", {make.Call("show", {make.Var("n")}), range});
  ast::Expr* no_tag = make.Call(
      "errorWithoutStackTrace",
      {make.Call("++", {make.String(fmt::format("toEnum{{{}}}: tag (", Text(shape.type))), tag})});
  make.Clause({make.VarPat("a")}, Tag(make, shape, "a"));
  make.Method("fromEnum");
  std::vector<ast::Alternative> alternatives;
  for (const core::DataCon* con : shape.cons)
    alternatives.push_back(make.Alt(make.IntPat(con->index), make.Con(con->name)));
  alternatives.push_back(make.Alt(make.Any(), no_tag));
  make.Clause({make.VarPat("n")}, make.Case(make.Var("n"), alternatives));
  make.Method("toEnum");
  for (bool up : {true, false}) {
    std::vector<ast::Alternative> next;
    for (size_t i = 0; i < shape.cons.size(); ++i) {
      bool last = up ? i + 1 == shape.cons.size() : i == 0;
      next.push_back(
          make.Alt(make.AnyOf(shape.cons[i]->name),
                   last ? bad(up) : make.Con(shape.cons[up ? i + 1 : i - 1]->name)));
    }
    make.Clause({make.VarPat("a")}, make.Case(make.Var("a"), next));
    make.Method(up ? "succ" : "pred");
  }
  if (!sequences) return;
  ast::Expr* first = make.Con(shape.cons.front()->name);
  ast::Expr* last = make.Con(shape.cons.back()->name);
  make.Clause({make.VarPat("a")}, make.Call("enumFromTo", {make.Var("a"), last}));
  make.Method("enumFrom");
  ast::Expr* upwards = make.Call(">=", {Tag(make, shape, "b"), Tag(make, shape, "a")});
  ast::Expr* limit =
      make.Case(upwards, {make.Alt(make.LibConPat("True"), last), make.Alt(make.Any(), first)});
  make.Clause({make.VarPat("a"), make.VarPat("b")},
              make.Call("enumFromThenTo", {make.Var("a"), make.Var("b"), limit}));
  make.Method("enumFromThen");
}

void DeriveBounded(Builder& make, const Shape& shape) {
  for (bool low : {true, false}) {
    const char* name = low ? "minBound" : "maxBound";
    const core::DataCon* con = low ? shape.cons.front() : shape.cons.back();
    std::vector<ast::Expr*> args(con->fields.size(), make.LibVar(name));
    make.Clause({}, make.App(make.Con(con->name), args));
    make.Method(name);
  }
}

bool IsOperator(Symbol name) {
  char c = Text(name)[0];
  return !(std::isalpha(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80);
}

// showsPrec d (C x y) = showParen (d > 10) (showString "C " . showsPrec 11 x . showString " " . showsPrec
// 11 y)
void DeriveShow(Builder& make, const Shape& shape, const FixityTable& fixities) {
  auto text = [&](std::string_view shown) { return make.Call("showString", {make.String(shown)}); };
  auto shows = [&](int precedence, size_t field) {
    return make.Call("showsPrec", {make.Int(precedence), make.Var(Builder::Field("x", field))});
  };
  for (const core::DataCon* con : shape.cons) {
    std::vector<ast::Expr*> parts;
    int limit = 10;
    bool record = !con->fields.empty() && con->fields[0].name.valid();
    bool op = IsOperator(con->name);
    std::string name = op ? "(" + std::string(Text(con->name)) + ")" : std::string(Text(con->name));
    if (con->fields.empty()) {
      parts.push_back(text(name));
    } else if (record) {
      parts.push_back(text(name + " {"));
      for (size_t i = 0; i < con->fields.size(); ++i) {
        std::string field(Text(con->fields[i].name));
        if (IsOperator(con->fields[i].name)) field = "(" + field + ")";
        parts.push_back(text((i ? ", " : "") + field + " = "));
        parts.push_back(shows(0, i));
      }
      parts.push_back(text("}"));
    } else if (con->infix) {
      auto it = fixities.find(con->name.index);
      limit = it == fixities.end() ? 9 : it->second.precedence;
      std::string between = op ? name.substr(1, name.size() - 2) : "`" + name + "`";
      parts = {shows(limit + 1, 0), text(" " + between + " "), shows(limit + 1, 1)};
    } else {
      for (size_t i = 0; i < con->fields.size(); ++i) {
        parts.push_back(text(i ? " " : name + " "));
        parts.push_back(shows(11, i));
      }
    }
    ast::Expr* all = parts.back();
    for (size_t i = parts.size() - 1; i-- > 0;) all = make.Call(".", {parts[i], all});
    if (!con->fields.empty())
      all = make.Call("showParen", {make.Call(">", {make.Var("d"), make.Int(limit)}), all});
    make.Clause({con->fields.empty() ? make.Any() : make.VarPat("d"),
                 make.ConPat(con->name, con->fields.size(), "x")},
                all);
  }
  if (shape.cons.empty()) make.Clause({make.Any(), make.Any()}, make.LibVar("undefined"));
  make.Method("showsPrec");
}

// readsPrec d = primReadParens (\e t -> alternatives) d, where an alternative takes its fields one by one, each behind words:
//   primReadUpTo 10 e (primReadField 11 "" (primReadField 11 "C" (primReadStart C))) t
void DeriveRead(Builder& make, const Shape& shape, const FixityTable& fixities) {
  ast::Expr* all = nullptr;
  for (size_t row = shape.cons.size(); row-- > 0;) {
    const core::DataCon* con = shape.cons[row];
    ast::Expr* parser = make.Call("primReadStart", {make.Con(con->name)});
    std::string words;
    auto word = [&](std::string_view text) {
      if (!words.empty()) words += ' ';
      words += text;
    };
    auto name = [&](Symbol symbol) {
      bool op = IsOperator(symbol);
      if (op) word("(");
      word(Text(symbol));
      if (op) word(")");
    };
    auto field = [&](int precedence) {
      parser = make.Call("primReadField", {make.Int(precedence), make.String(words), parser});
      words.clear();
    };
    int limit = 10;
    if (!con->fields.empty() && con->fields[0].name.valid()) {
      limit = 11;
      name(con->name);
      for (size_t i = 0; i < con->fields.size(); ++i) {
        word(i ? "," : "{");
        name(con->fields[i].name);
        word("=");
        field(0);
      }
      word("}");
    } else if (con->infix) {
      auto it = fixities.find(con->name.index);
      limit = it == fixities.end() ? 9 : it->second.precedence;
      field(limit + 1);
      bool op = IsOperator(con->name);
      if (!op) word("`");
      word(Text(con->name));
      if (!op) word("`");
      field(limit + 1);
    } else {
      name(con->name);
      for (size_t i = 0; i < con->fields.size(); ++i) field(11);
    }
    if (!words.empty()) parser = make.Call("primReadWords", {make.String(words), parser});
    if (!con->fields.empty()) parser = make.Call("primReadUpTo", {make.Int(limit), make.Var("e"), parser});
    parser = make.App(parser, {make.Var("t")});
    all = all ? make.Call("++", {parser, all}) : parser;
  }
  if (!all) all = make.LibCon("[]");
  make.Clause({make.VarPat("d")},
              make.Call("primReadParens", {make.Lambda({make.VarPat("e"), make.VarPat("t")}, all), make.Var("d")}));
  make.Method("readsPrec");
}

// An enumeration has the indices of its numbers; the fields of a single constructor those of nested pairs.
void DeriveIx(Builder& make, const Shape& shape) {
  if (shape.enumeration()) {
    std::vector<ast::Alternative> cons;
    for (const core::DataCon* con : shape.cons) {
      bool last = con == shape.cons.back();
      cons.push_back(make.Alt(last ? make.Any() : make.IntPat(con->index), make.Con(con->name)));
    }
    ast::Expr* nth = make.Lambda({make.VarPat("n")}, make.Case(make.Var("n"), cons));
    ast::Pat* bounds = make.TuplePat({make.VarPat("a"), make.VarPat("b")});
    make.Clause({bounds}, make.Call("map", {nth, make.Call("enumFromTo", {Tag(make, shape, "a"), Tag(make, shape, "b")})}));
    make.Method("range");
    make.Clause({bounds, make.VarPat("i")}, make.Call("-", {Tag(make, shape, "i"), Tag(make, shape, "a")}));
    make.Method("primOffset");
    make.Clause({bounds, make.VarPat("i")},
                make.Call("&&", {make.Call("<=", {Tag(make, shape, "a"), Tag(make, shape, "i")}),
                                 make.Call("<=", {Tag(make, shape, "i"), Tag(make, shape, "b")})}));
    return make.Method("inRange");
  }
  const core::DataCon* con = shape.cons.front();
  size_t fields = con->fields.size();
  auto nest = [&](std::string_view prefix) {
    ast::Expr* all = make.Var(Builder::Field(prefix, fields - 1));
    for (size_t i = fields - 1; i-- > 0;) all = make.Tuple({make.Var(Builder::Field(prefix, i)), all});
    return all;
  };
  ast::Pat* places = make.VarPat(Builder::Field("i", fields - 1));
  std::vector<ast::Expr*> args;
  for (size_t i = fields - 1; i-- > 0;) places = make.TuplePat({make.VarPat(Builder::Field("i", i)), places});
  for (size_t i = 0; i < fields; ++i) args.push_back(make.Var(Builder::Field("i", i)));
  ast::Pat* bounds = make.TuplePat({make.ConPat(con->name, fields, "l"), make.ConPat(con->name, fields, "u")});
  ast::Expr* nested = make.Tuple({nest("l"), nest("u")});
  make.Clause({bounds}, make.Call("map", {make.Lambda({places}, make.App(make.Con(con->name), args)),
                                          make.Call("range", {nested})}));
  make.Method("range");
  for (const char* method : {"primOffset", "inRange"}) {
    make.Clause({bounds, make.ConPat(con->name, fields, "i")}, make.Call(method, {nested, nest("i")}));
    make.Method(method);
  }
}

bool DerivesAnyClass(State& s, const ast::DerivedClass& derived, ClassId cls, TyConId tycon);

// `deriving C via T`: the variables of T are those of the type, whose arguments are `args`.
TypeId ConvertVia(State& s, const ast::Type* via, TyConId tycon, llvm::ArrayRef<TypeId> args, KindId kind) {
  TypeVarScope scope;
  scope.implicit = false;
  KindId rest = s.env.KindOf(tycon), of;
  for (size_t i = 0; i < args.size() && s.env.kinds.IsArrow(rest, &of, &rest); ++i)
    if (s.types.Kind(args[i]) == TypeKind::Var) scope.names.push_back({s.types.vars[s.types.VarOf(args[i])].name, {args[i], of}});
  return ConvertType(s, via, scope, kind);
}

bool IsStockClass(std::string_view name) {
  for (std::string_view stock : {"Eq", "Ord", "Show", "Read", "Enum", "Bounded", "Ix", "Functor", "Foldable", "Traversable"})
    if (name == stock) return true;
  return false;
}

// `deriving C via T`: as DeriveMethods. `args` are without the parameters that the class leaves open.
bool DeriveByType(State& s, Builder& make, const ast::DerivedClass& derived, ClassId cls, bool known, TyConId tycon, llvm::ArrayRef<TypeId> args,
                  std::vector<TypeId>& needs) {
  const TypeId whole = s.types.Con(tycon, args);
  const std::string_view text = Text(s.program.classes[cls].name), type = Text(s.types.cons[tycon].name);
  const uint32_t errors = s.diags.error_count();
  const TypeId via = ConvertVia(s, derived.via, tycon, args, ParameterKinds(s, cls).back());
  if (s.diags.error_count() != errors) return false;
  needs = {via};
  VarId obstacle;
  const ViaResult result = DeriveVia(make, s.program, s.program.classes[cls], known, whole, via, derived.via, KnownVar(s, "coerce").valid(), obstacle);
  if (result == ViaResult::Made) return true;
  s.reported.push_back({cls, s.types.Con(tycon), kNowhere});
  if (result == ViaResult::Mismatch)
    s.Error(Diag::ViaMismatch, derived.via->span, text, PrintType(s, via), type)
        .Hint("one of the two is a newtype around the other, or both are newtypes around one type");
  else
    s.Error(Diag::CannotDerive, derived.cls.span, text, type)
        .Note(Shown(s, s.types.cons[tycon].span), fmt::format("the type of `{}` stands in the way", Text(s.program.vars[obstacle].name)));
  return false;
}

// Makes the methods of the instance that `deriving` asks for. `needs` are the types that have to have the class as well,
// if the context is to be found. False, and reported, if there is no such instance.
// `args` are what the type's parameters are, in an instance of its own at particular types.
bool DeriveMethods(State& s, Builder& make, const ast::DerivedClass& derived, ClassId cls, TyConId tycon, llvm::ArrayRef<TypeId> args, uint32_t dropped,
                   std::vector<TypeId>& needs) {
  using Strategy = ast::DerivingStrategy;
  const core::Class& row = s.program.classes[cls];
  const std::string_view text = Text(row.name), type = Text(s.types.cons[tycon].name);
  const ClassId* library = s.env.library.classes.Find(row.name);
  const bool known = s.options.library || (library && *library == cls);
  const Span declared = Shown(s, s.types.cons[tycon].span);
  Shape shape;
  shape.type = s.types.cons[tycon].name;
  for (ConId con : s.types.cons[tycon].constructors) shape.cons.push_back(&s.program.constructors[con]);
  for (const core::DataCon* con : shape.cons)
    for (const core::Field& field : con->fields) needs.push_back(field.type);
  auto has_method = [&](std::string_view method) {
    return llvm::any_of(row.methods, [&](VarId var) { return Text(s.program.vars[var].name) == method; });
  };
  auto refuse = [&](std::string_view reason) {
    s.reported.push_back({cls, s.types.Con(tycon), kNowhere});
    s.Error(Diag::CannotDerive, derived.cls.span, text, type).Note(declared, std::string(reason));
    return false;
  };
  if (DerivesAnyClass(s, derived, cls, tycon)) {
    needs.clear();
    return true;
  }
  if (derived.strategy == Strategy::Via) return DeriveByType(s, make, derived, cls, known, tycon, args.drop_back(dropped), needs);
  const bool anything = s.options.library || s.options.repl;  // needs no pragma
  const bool by_newtype =
      s.types.cons[tycon].is_newtype && (anything || HasExtension(s, "GeneralizedNewtypeDeriving"));
  const bool along_last = known && (text == "Functor" || text == "Foldable" || text == "Traversable");
  if (derived.strategy != Strategy::Newtype) {
    bool one_constructor = shape.enumeration() || shape.cons.size() == 1;
    if (known && text == "Eq") return DeriveEq(make, shape), true;
    if (known && text == "Ord") return DeriveOrd(make, shape), true;
    if (known && text == "Enum" && (shape.enumeration() || !by_newtype)) {
      if (!shape.enumeration()) return refuse("an enumeration has constructors without fields, and at least one");
      return DeriveEnum(make, shape, has_method("enumFromThen")), true;
    }
    if (known && text == "Bounded") {
      if (!one_constructor) return refuse("only enumerations and types of one constructor have bounds");
      return DeriveBounded(make, shape), true;
    }
    if (known && text == "Show") {
      if (has_method("showsPrec")) DeriveShow(make, shape, s.fixities);
      return true;
    }
    if (known && text == "Read") return DeriveRead(make, shape, s.fixities), true;
    if (known && text == "Ix") {
      if (!one_constructor) return refuse("only enumerations and types of one constructor have indices");
      return DeriveIx(make, shape), true;
    }
  }
  // The parameters that the class leaves open: one of Functor, none of Num.
  llvm::ArrayRef<TyVarId> params = s.types.cons[tycon].params;
  if (along_last && derived.strategy != Strategy::Newtype) {
    std::string extension = fmt::format("Derive{}", text);
    bool allowed = anything || HasExtension(s, extension);
    if (allowed || !by_newtype) {
      if (!allowed)
        s.Error(Diag::NeedsExtension, derived.cls.span, fmt::format("`deriving {}`", text), extension)
            .Hint(fmt::format("write `{{-# LANGUAGE {} #-}}` in the first line", extension));
      needs.clear();
      TypeId obstacle;
      if (DeriveFunctorLike(make, s.types, shape, text, params.back(), needs, obstacle)) return true;
      return refuse(fmt::format("a field of the type `{}` stands in the way", PrintType(s, obstacle)));
    }
  }
  if (by_newtype && shape.cons.size() == 1 && shape.cons[0]->fields.size() == 1) {
    // `newtype App a = App (State Int a)`: what the class is needed of is `State Int`.
    TypeId inside = shape.cons[0]->fields[0].type;
    for (uint32_t i = 0; i < dropped; ++i) {
      TypeId var = s.types.Var(params[params.size() - 1 - i]);
      llvm::SmallVector<TyVarId> rest;
      if (s.types.Kind(inside) == TypeKind::App) s.types.FreeVars(s.types.FnOf(inside), rest);
      if (s.types.Kind(inside) != TypeKind::App || s.types.ArgOf(inside) != var || llvm::is_contained(rest, s.types.VarOf(var)))
        return refuse(fmt::format("the type inside, `{}`, does not end in the parameter `{}`", PrintType(s, inside),
                                  Text(s.types.vars[s.types.VarOf(var)].name)));
      inside = s.types.FnOf(inside);
    }
    inside = s.types.Substitute(inside, params, args);
    needs = {inside};
    VarId obstacle;
    if (DeriveVia(make, s.program, row, known, s.types.Con(tycon, args.drop_back(dropped)), inside, nullptr, false, obstacle) == ViaResult::Made) return true;
    return refuse(fmt::format("the type of `{}` stands in the way", Text(s.program.vars[obstacle].name)));
  }
  s.reported.push_back({cls, s.types.Con(tycon), kNowhere});
  Diagnostics& diag = s.Error(Diag::CannotDerive, derived.cls.span, text, type);
  if (derived.strategy == Strategy::Newtype && !s.types.cons[tycon].is_newtype)
    return diag.Note(declared, "only a newtype has the instances of the type inside"), false;
  if (s.types.cons[tycon].is_newtype && derived.strategy != Strategy::Stock)
    return diag.Hint("with `{-# LANGUAGE GeneralizedNewtypeDeriving #-}` in the first line it is that of the type inside"), false;
  diag.Hint(fmt::format("Eq, Ord, Enum, Bounded, Show, Read, Ix, Functor, Foldable and Traversable can be derived; "
                        "`instance {} {} where` defines others",
                        text, type));
  const core::Class& last = s.program.classes[cls];
  const bool by_defaults = llvm::any_of(last.defaults, [](VarId method) { return method.valid(); });
  if (derived.strategy == Strategy::None && !known && by_defaults)
    diag.Hint("with `{-# LANGUAGE DeriveAnyClass #-}` in the first line the methods are the class's defaults");
  return false;
}

// Whether the instance has no methods of its own: the defaults of the class are all. Where a pragma allows this and the
// instance of the type inside, GHC takes this and warns.
bool DerivesAnyClass(State& s, const ast::DerivedClass& derived, ClassId cls, TyConId tycon) {
  using Strategy = ast::DerivingStrategy;
  if (derived.strategy != Strategy::None) return derived.strategy == Strategy::Anyclass;
  const std::string_view name = Text(s.program.classes[cls].name);
  if (name == "Typeable") return true;  // of which every type is: the instance says nothing
  const ClassId* library = s.env.library.classes.Find(s.program.classes[cls].name);
  if (s.options.library || (library && *library == cls && IsStockClass(name))) return false;
  const bool is_newtype = s.types.cons[tycon].is_newtype;
  if (!HasExtension(s, "DeriveAnyClass")) return s.options.repl && !is_newtype;
  if (is_newtype && HasExtension(s, "GeneralizedNewtypeDeriving") && s.options.warnings)
    s.diags.Report(Diag::DerivingChoice, derived.cls.span, name, Text(s.types.cons[tycon].name))
        .Hint(fmt::format("`deriving anyclass ({0})` or `deriving newtype ({0})`, with `DerivingStrategies`, says which is meant", name));
  return true;
}

// How many of the type's parameters an instance of the class leaves open: one of Functor, none of Eq. Reports a type
// that has not as many, or of another kind.
std::optional<uint32_t> OpenParameters(State& s, const ast::Name& name, ClassId cls, TyConId tycon) {
  const KindId wanted = ParameterKinds(s, cls).back();
  const uint32_t open = s.env.kinds.Params(wanted);
  const size_t params = s.types.cons[tycon].params.size();
  KindId kind = s.env.KindOf(tycon);
  for (size_t i = open; i < params; ++i) s.env.kinds.IsArrow(kind, nullptr, &kind);
  if (open <= params && s.env.kinds.Unify(kind, wanted)) return open;
  s.reported.push_back({cls, s.types.Con(tycon), kNowhere});
  s.Error(Diag::CannotDerive, name.span, Text(s.program.classes[cls].name), Text(s.types.cons[tycon].name))
      .Note(Shown(s, s.types.cons[tycon].span), fmt::format("its kind is `{}`, and the class is of types of the kind `{}`",
                                                        s.env.kinds.Print(s.env.KindOf(tycon)), s.env.kinds.Print(wanted)));
  return std::nullopt;
}

// `deriving (MonadState Int)`: what the class has before its last parameter. Reports what are not as many, or of another kind.
std::optional<TypeArgs> OtherArguments(State& s, const ast::DerivedClass& derived, ClassId cls, const ast::DataDecl* data, TyConId tycon) {
  const std::vector<KindId> kinds = ParameterKinds(s, cls);
  const std::string_view name = Text(s.program.classes[cls].name);
  if (derived.args.size() + 1 != kinds.size()) {
    s.Error(Diag::ClassArity, derived.cls.span, name, kinds.size(), kinds.size() == 1 ? "parameter" : "parameters", derived.args.size() + 1);
    return std::nullopt;
  }
  TypeVarScope scope;
  scope.implicit = false;
  KindId kind = s.env.KindOf(tycon), of;
  for (size_t i = 0; i < data->params.size() && s.env.kinds.IsArrow(kind, &of, &kind); ++i)
    scope.names.push_back({data->params[i].text, {s.types.Var(s.types.cons[tycon].params[i]), of}});
  TypeArgs others;
  const uint32_t errors = s.diags.error_count();
  for (size_t i = 0; i < derived.args.size(); ++i) others.push_back(ConvertType(s, derived.args[i], scope, kinds[i]));
  if (s.diags.error_count() != errors) return std::nullopt;
  return others;
}

const ast::InstanceDecl* DerivedDecl(State& s, Builder& make, const ast::Name& cls, ast::Type* type) {
  return s.generated.New<ast::InstanceDecl>(make.span(), ast::List<ast::Constraint>(), cls, type, ast::List<ast::Type*>(), make.Methods());
}

// Adds to the instance's context what `cls type` asks for. False, and reported if `report`, if no context can give it.
bool WidenContext(State& s, InstanceId id, ClassId cls, TypeId type, bool report, bool& changed) {
  const Span span = s.program.instances[id].span;
  for (;;) {
    size_t mark = s.givens.size(), assumed_mark = s.unify.AssumedMark();
    for (const core::Pred& pred : s.program.instances[id].context) PushGiven(s, pred.cls, pred.type);
    std::vector<Wanted> stuck;
    Wanted missing;
    Wanted wanted{cls, type, {Origin::Deriving, span, s.program.classes[cls].name}};
    Solved solved = Solve(s, wanted, stuck, &missing);
    s.givens.resize(mark);
    s.unify.Forget(assumed_mark);
    if (solved != Solved::No) return true;
    // A context may have `Show a` and `Show (f a)`, but no variable twice and nothing else (as in GHC).
    llvm::SmallVector<TyVarId> vars;
    s.types.FreeVars(missing.type, vars);
    if (vars.size() != s.types.SizeOf(missing.type)) {
      if (report) ReportMissing(s, wanted, missing);
      return false;
    }
    s.program.instances[id].context.push_back({missing.cls, missing.type, span});
    s.solved.clear();  // what needs this instance needs more now
    changed = true;
  }
}

}  // namespace

void DeclareDerived(State& s, const ast::DataDecl* data) {
  const TyConId tycon = s.scope->types.Find(data->name.text)->con;
  for (const ast::DerivedClass& derived : data->deriving) {
    ClassId cls = FindClass(s, derived.cls);
    if (!cls.valid()) {
      if (ClassId near = NearestClass(s, derived.cls); near.valid()) s.reported.push_back({near, s.types.Con(tycon), kNowhere});
      continue;
    }
    std::optional<TypeArgs> others = OtherArguments(s, derived, cls, data, tycon);
    if (!others) continue;
    std::optional<uint32_t> open = OpenParameters(s, derived.cls, cls, tycon);
    if (!open) continue;
    // What a constructor hides has the instances that its context says, and no clause finds these.
    if (s.types.cons[tycon].packs && !DerivesAnyClass(s, derived, cls, tycon)) {
      s.reported.push_back({cls, s.types.Con(tycon), kNowhere});
      s.Error(Diag::CannotDerive, derived.cls.span, Text(s.program.classes[cls].name), Text(s.types.cons[tycon].name))
          .Hint("a constructor hides a type or tells one: `deriving instance` by itself, with its context, may do it");
      continue;
    }
    Builder make(s.generated, s.generated_qualifier, derived.cls.span);
    DerivedContext context;
    TypeArgs own;
    for (TyVarId param : s.types.cons[tycon].params) own.push_back(s.types.Var(param));
    if (!DeriveMethods(s, make, derived, cls, tycon, own, *open, context.needs)) continue;
    if (!s.options.library) context.superclasses = s.program.classes[cls].superclasses;
    core::Instance row;
    row.cls = cls;
    row.span = derived.cls.span;
    row.derived = true;
    row.tyvars.assign(s.types.cons[tycon].params.begin(), s.types.cons[tycon].params.end() - *open);
    llvm::SmallVector<TypeId> params;
    for (TyVarId param : row.tyvars) params.push_back(s.types.Var(param));
    // Of a class with several parameters it is the last one that is derived for.
    auto with_others = [&](TypeId type) {
      TypeArgs all = *others;
      all.push_back(type);
      return core::ClassType(s.program, cls, all);
    };
    row.head = with_others(s.types.Con(tycon, params));
    for (TypeId& need : context.needs) need = with_others(need);
    const TyConId head = s.types.Head(row.head);
    context.instance = RegisterInstance(s, std::move(row), head, DerivedDecl(s, make, derived.cls, nullptr));
    if (context.instance.valid()) s.derived.push_back(std::move(context));
  }
}

void DeclareStandalone(State& s, const ast::DerivingDecl* decl) {
  core::Instance row;
  TyConId tycon = ConvertInstanceHead(s, decl->derived.cls, decl->context, decl->type, {}, decl->span, row);
  if (!tycon.valid()) return;
  std::optional<uint32_t> open = OpenParameters(s, decl->derived.cls, row.cls, tycon);
  if (!open) return;
  Builder make(s.generated, s.generated_qualifier, decl->derived.cls.span);
  std::vector<TypeId> needs;
  TypeArgs own;
  s.types.Head(core::ClassArguments(s.program, row.cls, row.head).back(), &own);
  for (size_t i = own.size(); i < s.types.cons[tycon].params.size(); ++i) own.push_back(s.types.Var(s.types.cons[tycon].params[i]));
  if (!DeriveMethods(s, make, decl->derived, row.cls, tycon, own, *open, needs)) return;
  row.derived = true;
  RegisterInstance(s, std::move(row), tycon, DerivedDecl(s, make, decl->derived.cls, decl->type));
}

void InferDerivedContexts(State& s) {
  bool changed = true;
  llvm::DenseSet<uint32_t> failed;
  while (changed) {
    changed = false;
    for (const DerivedContext& derived : s.derived) {
      const InstanceId id = derived.instance;
      if (failed.count(id.index)) continue;
      const ClassId cls = s.program.instances[id].cls;
      const TypeId head = s.program.instances[id].head;
      bool ok = true;
      for (TypeId need : derived.needs) ok = ok && WidenContext(s, id, cls, need, true, changed);
      // A superclass without an instance is reported with the instance's methods.
      for (ClassId super : derived.superclasses) WidenContext(s, id, super, head, false, changed);
      if (!ok) failed.insert(id.index);
    }
  }
  // What cannot be derived has no methods to check.
  s.instances.erase(std::remove_if(s.instances.begin(), s.instances.end(),
                                  [&](const auto& entry) { return failed.count(entry.second.index) != 0; }),
                   s.instances.end());
}

}  // namespace df::check
