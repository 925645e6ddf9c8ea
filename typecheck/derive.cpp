// deriving Eq, Ord, Enum, Bounded, Show, Read, Ix: instances as syntax, then checked like those that a program writes.
//
// Names of the library are written with a qualifier that no program can write, so that they mean the
// library's whatever the module defines or hides.
#include "typecheck/checker.h"

namespace df::check {
namespace {

// Makes syntax at one span.
class Builder {
 public:
  Builder(ast::Ast& ast, Symbol library, Span span) : ast_(ast), library_(library), span_(span) {}

  Span span() const { return span_; }
  ast::Name Lib(std::string_view name) const { return {Intern(name), library_, span_}; }
  ast::Name Plain(Symbol name) const { return {name, Symbol(), span_}; }
  ast::Expr* Var(std::string_view local) { return ast_.New<ast::VarExpr>(span_, Plain(Intern(local))); }
  ast::Expr* LibVar(std::string_view name) { return ast_.New<ast::VarExpr>(span_, Lib(name)); }
  ast::Expr* LibCon(std::string_view name) { return ast_.New<ast::ConExpr>(span_, Lib(name)); }
  ast::Expr* Con(Symbol name) { return ast_.New<ast::ConExpr>(span_, Plain(name)); }
  ast::Expr* App(ast::Expr* fn, llvm::ArrayRef<ast::Expr*> args) {
    return args.empty() ? fn : ast_.New<ast::AppExpr>(span_, fn, ast_.Copy<ast::Expr*>(args));
  }
  ast::Expr* Call(std::string_view fn, llvm::ArrayRef<ast::Expr*> args) { return App(LibVar(fn), args); }
  ast::Expr* Int(int64_t value) {
    ast::Literal literal{ast::LiteralKind::Integer, Intern(std::to_string(value))};
    ast::QualType type{};
    type.type = ast_.New<ast::ConType>(span_, Lib("Int"));
    type.span = span_;
    return ast_.New<ast::TypedExpr>(span_, ast_.New<ast::LiteralExpr>(span_, literal), type);
  }
  ast::Expr* String(std::string_view text) {
    return ast_.New<ast::LiteralExpr>(span_, ast::Literal{ast::LiteralKind::String, Intern(text)});
  }
  ast::Pat* VarPat(std::string_view name) { return ast_.New<ast::VarPat>(span_, Intern(name)); }
  ast::Pat* Any() { return ast_.New<ast::WildcardPat>(span_); }
  ast::Pat* AnyOf(Symbol con) {
    return ast_.New<ast::RecordPat>(span_, Plain(con), ast::List<ast::FieldPat>());
  }
  ast::Pat* LibConPat(std::string_view con) {
    return ast_.New<ast::ConPat>(span_, Lib(con), ast::List<ast::Pat*>());
  }
  ast::Pat* IntPat(int64_t value) {
    return ast_.New<ast::LiteralPat>(
        span_, ast::Literal{ast::LiteralKind::Integer, Intern(std::to_string(value))}, false);
  }
  ast::Expr* Tuple(ast::Expr* first, ast::Expr* second) {
    return ast_.New<ast::TupleExpr>(span_, ast_.Copy<ast::Expr*>({first, second}));
  }
  ast::Pat* TuplePat(ast::Pat* first, ast::Pat* second) {
    return ast_.New<ast::TuplePat>(span_, ast_.Copy<ast::Pat*>({first, second}));
  }
  ast::Expr* Lambda(llvm::ArrayRef<ast::Pat*> params, ast::Expr* body) {
    return ast_.New<ast::LambdaExpr>(span_, ast_.Copy<ast::Pat*>(params), body);
  }
  // C x1 .. xn
  ast::Pat* ConPat(Symbol con, size_t fields, std::string_view prefix) {
    std::vector<ast::Pat*> args;
    for (size_t i = 0; i < fields; ++i) args.push_back(VarPat(Field(prefix, i)));
    return ast_.New<ast::ConPat>(span_, Plain(con), ast_.Copy<ast::Pat*>(args));
  }
  static std::string Field(std::string_view prefix, size_t i) {
    return std::string(prefix) + std::to_string(i + 1);
  }
  ast::Rhs Body(ast::Expr* body) {
    ast::GuardedExpr only{{}, body, span_};
    return {ast_.Copy<ast::GuardedExpr>({only}), {}, span_};
  }
  ast::Alternative Alt(ast::Pat* pat, ast::Expr* body) { return {pat, Body(body), span_}; }
  ast::Expr* Case(ast::Expr* scrutinee, llvm::ArrayRef<ast::Alternative> alternatives) {
    return ast_.New<ast::CaseExpr>(span_, scrutinee, ast_.Copy<ast::Alternative>(alternatives));
  }
  void Clause(llvm::ArrayRef<ast::Pat*> params, ast::Expr* body) {
    clauses_.push_back({ast_.Copy<ast::Pat*>(params), Body(body), span_});
  }
  // The clauses so far as the method `name`.
  void Method(std::string_view name) {
    methods_.push_back(
        ast_.New<ast::FunctionDecl>(span_, Plain(Intern(name)), ast_.Copy<ast::Clause>(clauses_)));
    clauses_.clear();
  }
  ast::List<ast::Decl*> Methods() { return ast_.Copy<ast::Decl*>(methods_); }

 private:
  ast::Ast& ast_;
  Symbol library_;
  Span span_;
  std::vector<ast::Clause> clauses_;
  std::vector<ast::Decl*> methods_;
};

struct Shape {
  Symbol type;
  std::vector<const core::DataCon*> cons;
  bool enumeration() const {
    for (const core::DataCon* con : cons)
      if (!con->fields.empty()) return false;
    return !cons.empty();
  }
  bool has_nullary() const {
    for (const core::DataCon* con : cons)
      if (con->fields.empty()) return true;
    return false;
  }
};

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
  auto text = [&](std::string_view s) { return make.Call("showString", {make.String(s)}); };
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

// readsPrec d = primReadParens (\e t -> alternatives) d, where an alternative takes its words and fields one by one:
//   primReadUpTo 10 e (primReadField 11 (primReadField 11 (primReadWord "C" (primReadStart C)))) t
void DeriveRead(Builder& make, const Shape& shape, const FixityTable& fixities) {
  ast::Expr* all = nullptr;
  for (size_t row = shape.cons.size(); row-- > 0;) {
    const core::DataCon* con = shape.cons[row];
    ast::Expr* parser = make.Call("primReadStart", {make.Con(con->name)});
    auto word = [&](std::string_view text) { parser = make.Call("primReadWord", {make.String(text), parser}); };
    auto name = [&](Symbol symbol) {
      bool op = IsOperator(symbol);
      if (op) word("(");
      word(Text(symbol));
      if (op) word(")");
    };
    auto field = [&](int precedence) { parser = make.Call("primReadField", {make.Int(precedence), parser}); };
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
    ast::Pat* bounds = make.TuplePat(make.VarPat("a"), make.VarPat("b"));
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
    for (size_t i = fields - 1; i-- > 0;) all = make.Tuple(make.Var(Builder::Field(prefix, i)), all);
    return all;
  };
  ast::Pat* places = make.VarPat(Builder::Field("i", fields - 1));
  std::vector<ast::Expr*> args;
  for (size_t i = fields - 1; i-- > 0;) places = make.TuplePat(make.VarPat(Builder::Field("i", i)), places);
  for (size_t i = 0; i < fields; ++i) args.push_back(make.Var(Builder::Field("i", i)));
  ast::Pat* bounds = make.TuplePat(make.ConPat(con->name, fields, "l"), make.ConPat(con->name, fields, "u"));
  ast::Expr* nested = make.Tuple(nest("l"), nest("u"));
  make.Clause({bounds}, make.Call("map", {make.Lambda({places}, make.App(make.Con(con->name), args)),
                                          make.Call("range", {nested})}));
  make.Method("range");
  for (const char* method : {"primOffset", "inRange"}) {
    make.Clause({bounds, make.ConPat(con->name, fields, "i")}, make.Call(method, {nested, nest("i")}));
    make.Method(method);
  }
}

}  // namespace

void Checker::DeclareDerived(const ast::DataDecl* data) {
  TyConId tycon = scope_->types.Find(data->name.text)->con;
  for (const ast::Name& name : data->deriving) {
    ClassId cls = FindClass(name);
    if (!cls.valid()) continue;
    std::string_view text = Text(program_.classes[cls].name);
    const ClassId* library = env_.library.classes.Find(program_.classes[cls].name);
    bool known = options_.library || (library && *library == cls);
    Shape shape;
    shape.type = data->name.text;
    for (ConId con : types_.cons[tycon].constructors) shape.cons.push_back(&program_.constructors[con]);
    Builder make(generated_, generated_qualifier_, name.span);
    auto has_method = [&](std::string_view method) {
      for (VarId var : program_.classes[cls].methods)
        if (Text(program_.vars[var].name) == method) return true;
      return false;
    };
    auto refuse = [&](const char* reason) {
      reported_.push_back({cls, types_.Con(tycon), kNowhere});
      Error(Diag::CannotDerive, name.span, text, Text(data->name.text)).Note(data->name.span, reason);
    };
    if (known && text == "Eq") {
      DeriveEq(make, shape);
    } else if (known && text == "Ord") {
      DeriveOrd(make, shape);
    } else if (known && text == "Enum") {
      if (!shape.enumeration()) {
        refuse("an enumeration has constructors without fields, and at least one");
        continue;
      }
      DeriveEnum(make, shape, has_method("enumFromThen"));
    } else if (known && text == "Bounded") {
      if (!shape.enumeration() && shape.cons.size() != 1) {
        refuse("only enumerations and types of one constructor have bounds");
        continue;
      }
      DeriveBounded(make, shape);
    } else if (known && text == "Show") {
      if (has_method("showsPrec")) DeriveShow(make, shape, fixities_);
    } else if (known && text == "Read") {
      DeriveRead(make, shape, fixities_);
    } else if (known && text == "Ix") {
      if (!shape.enumeration() && shape.cons.size() != 1) {
        refuse("only enumerations and types of one constructor have indices");
        continue;
      }
      DeriveIx(make, shape);
    } else {
      reported_.push_back({cls, types_.Con(tycon), kNowhere});
      Error(Diag::CannotDerive, name.span, text, Text(data->name.text))
          .Hint(fmt::format("Eq, Ord, Enum, Bounded, Show, Read and Ix can be derived; `instance {} {} where` defines others",
                            text, Text(data->name.text)));
      continue;
    }
    auto* decl = generated_.New<ast::InstanceDecl>(name.span, ast::List<ast::Constraint>(), name, nullptr,
                                                   make.Methods());
    core::Instance row;
    row.cls = cls;
    row.span = name.span;
    row.derived = true;
    row.tyvars = types_.cons[tycon].params;
    llvm::SmallVector<TypeId> params;
    for (TyVarId param : row.tyvars) params.push_back(types_.Var(param));
    row.head = types_.Con(tycon, params);
    InstanceId id = RegisterInstance(std::move(row), tycon, decl);
    if (id.valid()) derived_.push_back({tycon, id});
  }
}

// `data T a = C [a] deriving Eq` gives `instance Eq a => Eq (T a)`: the context is what the fields need,
// and is found by iteration because types may need each other's.
void Checker::InferDerivedContexts() {
  bool changed = true;
  llvm::DenseSet<uint32_t> failed;
  while (changed) {
    changed = false;
    for (const auto& [tycon, id] : derived_) {
      if (failed.count(id.index)) continue;
      const ClassId cls = program_.instances[id].cls;
      const Span span = program_.instances[id].span;
      for (ConId con : types_.cons[tycon].constructors)
        for (const core::Field& field : program_.constructors[con].fields) {
          for (;;) {
            size_t mark = givens_.size();
            for (const core::Pred& pred : program_.instances[id].context) PushGiven(pred.cls, pred.type);
            std::vector<Wanted> stuck;
            Wanted missing;
            Wanted wanted{cls, field.type, {Origin::Deriving, span, program_.classes[cls].name}};
            Solved solved = Solve(wanted, stuck, &missing);
            givens_.resize(mark);
            if (solved != Solved::No) break;
            // A context may have `Show a` and `Show (f a)`, but no variable twice and nothing else (as in GHC).
            llvm::SmallVector<TyVarId> vars;
            types_.FreeVars(missing.type, vars);
            if (vars.size() != types_.SizeOf(missing.type)) {
              ReportMissing(wanted, missing);
              failed.insert(id.index);
              break;
            }
            program_.instances[id].context.push_back({missing.cls, missing.type, span});
            changed = true;
          }
          if (failed.count(id.index)) break;
        }
    }
  }
  // What cannot be derived has no methods to check.
  instances_.erase(std::remove_if(instances_.begin(), instances_.end(),
                                  [&](const auto& entry) { return failed.count(entry.second.index) != 0; }),
                   instances_.end());
}

}  // namespace df::check
