#include "tests/unit/typecheck/match/core_eval.h"

#include "tests/unit/catch.h"

namespace df::test {

using namespace core;

// ---------------------------------------------------------------- building

Builder::Builder() {
  Types& types = program.types;
  type_bool = types.Scalar(Builtin::Bool);
  type_int = types.Scalar(Builtin::Int);
  type_char = types.Scalar(Builtin::Char);
  type_string = types.List(type_char);
  program.false_con = AddCon("False", types.Known(Builtin::Bool), {});
  program.true_con = AddCon("True", types.Known(Builtin::Bool), {});
  program.unit_con = AddCon("()", types.Known(Builtin::Unit), {});

  TyConId list = types.Known(Builtin::List);
  TyVarId element = types.NewVar(Intern("a"));
  types.cons[list].params = {element};
  program.nil_con = AddCon("[]", list, {});
  program.cons_con = AddCon(":", list, {types.Var(element), types.List(types.Var(element))});

  TyConId t = types.cons.Add({Intern("T")});
  type_t = types.Con(t);
  a = AddCon("A", t, {});
  b = AddCon("B", t, {type_t, type_t});
  c = AddCon("C", t, {type_int});

  TyConId tuple = types.TupleCon(2);
  TyVarId x = types.NewVar(Intern("x")), y = types.NewVar(Intern("y"));
  types.cons[tuple].params = {x, y};
  pair = AddCon("(,)", tuple, {types.Var(x), types.Var(y)});
  type_pair = types.Tuple({type_t, type_int});
}

ConId Builder::AddCon(const char* name, TyConId type, std::vector<TypeId> fields) {
  DataCon con{Intern(name), type, static_cast<uint32_t>(program.types.cons[type].constructors.size())};
  for (TypeId field : fields) con.fields.push_back({field, {}, false});
  ConId id = program.constructors.Add(con);
  program.types.cons[type].constructors.push_back(id);
  return id;
}

const Expr* Builder::Use(VarId var) {
  return program.New(VarExpr{ExprKind::Var, program.vars[var].scheme.type, {}, var, {}});
}
const Expr* Builder::Number(int64_t value) {
  return program.New(
      LiteralExpr{ExprKind::Literal, type_int, {}, LiteralKind::Integer, Intern(std::to_string(value))});
}
const Expr* Builder::Truth(bool value) {
  return program.New(ConExpr{ExprKind::Con, type_bool, {}, value ? program.true_con : program.false_con, {}});
}
const Expr* Builder::Fall(TypeId type) { return program.New(FallExpr{ExprKind::Fall, type, {}}); }
const Expr* Builder::Let(VarId var, const Expr* value, const Expr* body) {
  return program.New(
      LetExpr{ExprKind::Let, body->type, {}, false, program.Copy<Binding>({{var, value}}), body});
}
const Expr* Builder::FatBar(const Expr* first, const Expr* second) {
  return program.New(FatBarExpr{ExprKind::FatBar, first->type, {}, first, second});
}
const Expr* Builder::If(const Expr* scrutinee, const Expr* yes, const Expr* no) {
  Alt on_false{AltKind::Con, program.false_con}, on_true{AltKind::Con, program.true_con};
  on_false.body = no;
  on_true.body = yes;
  return program.New(
      CaseExpr{ExprKind::Case, yes->type, {}, scrutinee, {}, program.Copy<Alt>({on_false, on_true})});
}
const Expr* Builder::IfEqual(const Expr* scrutinee, int64_t value, const Expr* yes, const Expr* no) {
  Alt same{AltKind::Literal}, other{AltKind::Default};
  same.literal = LiteralKind::Integer;
  same.text = Intern(std::to_string(value));
  same.body = yes;
  other.body = no;
  return program.New(CaseExpr{ExprKind::Case, yes->type, {}, scrutinee, {}, program.Copy<Alt>({same, other})});
}
const Expr* Builder::Match(MatchContext context, llvm::ArrayRef<VarId> scrutinees, llvm::ArrayRef<core::Row> rows,
                           TypeId type) {
  return program.New(MatchExpr{ExprKind::Match, type, {}, context, Intern("f"), program.Copy<VarId>(scrutinees),
                               program.Copy<core::Row>(rows)});
}
core::Row Builder::Row(llvm::ArrayRef<const Pat*> pats, const Expr* body) {
  static uint32_t next = 0;  // rows have places of their own, so that reports of them differ
  return {program.Copy<const Pat*>(pats), body, Span{FileId(0), next, ++next}};
}

const Pat* Builder::MakePat(PatKind kind, TypeId type) { return program.NewPat(Pat{kind, type, {}}); }
const Pat* Builder::Any(TypeId type) { return MakePat(PatKind::Wildcard, type); }
const Pat* Builder::Name(VarId var) {
  Pat pat{PatKind::Var, program.vars[var].scheme.type, {}, var};
  return program.NewPat(pat);
}
const Pat* Builder::As(VarId var, const Pat* inner) {
  Pat pat{PatKind::As, inner->type, {}, var};
  pat.args = program.Copy<const Pat*>({inner});
  return program.NewPat(pat);
}
const Pat* Builder::Bang(const Pat* inner) {
  Pat pat{PatKind::Bang, inner->type, {}};
  pat.args = program.Copy<const Pat*>({inner});
  return program.NewPat(pat);
}
const Pat* Builder::Lazy(const Pat* inner) {
  Pat pat{PatKind::Lazy, inner->type, {}};
  pat.args = program.Copy<const Pat*>({inner});
  return program.NewPat(pat);
}
const Pat* Builder::Int(int64_t value) {
  Pat pat{PatKind::Literal, type_int, {}};
  pat.literal = LiteralKind::Integer;
  pat.text = Intern(std::to_string(value));
  return program.NewPat(pat);
}
const Pat* Builder::IntByTest(int64_t value) {
  Pat pat = *Int(value);
  VarId param = Local("n", type_int);
  const Expr* body = IfEqual(Use(param), value, Truth(true), Truth(false));
  pat.equals = program.New(LambdaExpr{ExprKind::Lambda, program.types.Fun(type_int, type_bool), {},
                                      program.Copy<VarId>({param}), body});
  return program.NewPat(pat);
}
const Pat* Builder::String(const char* text) {
  Pat pat{PatKind::Literal, type_string, {}};
  pat.literal = LiteralKind::String;
  pat.text = Intern(text);
  return program.NewPat(pat);
}
const Pat* Builder::Con(ConId con, llvm::ArrayRef<const Pat*> args) {
  TyConId tycon = program.constructors[con].tycon;
  llvm::SmallVector<TypeId> type_args;
  if (con == pair)
    for (const Pat* arg : args) type_args.push_back(arg->type);
  if (con == program.nil_con || con == program.cons_con) type_args.push_back(type_char);
  Pat pat{PatKind::Con, program.types.Con(tycon, type_args), {}};
  pat.con = con;
  pat.type_args = program.Copy<TypeId>(type_args);
  pat.args = program.Copy<const Pat*>(args);
  return program.NewPat(pat);
}

const Expr* Builder::Compile(llvm::ArrayRef<VarId> params, const Expr* body, Diagnostics& diags, bool warnings) {
  llvm::SmallVector<TypeId> types;
  for (VarId param : params) types.push_back(program.vars[param].scheme.type);
  TypeId type = program.types.Fun(types, body->type);
  Var var;
  var.name = Intern("f");
  var.scheme.type = type;
  var.kind = VarKind::Top;
  VarId top = program.vars.Add(var);
  const Expr* lambda =
      program.New(LambdaExpr{ExprKind::Lambda, type, {}, program.Copy<VarId>(params), body});
  program.Define(top, lambda);
  REQUIRE(Verify(program, false) == "");
  const Expr* compiled = CompileMatches(program, lambda, diags, warnings);
  program.Define(top, compiled);
  std::string fault = Verify(program, true);
  if (!fault.empty()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    Dump(program, out);
    FAIL(fault << "\n" << text);
  }
  return llvm::cast<LambdaExpr>(compiled)->body;
}

// ---------------------------------------------------------------- evaluating

ValuePtr Bottom() { return std::make_shared<Value>(); }
ValuePtr Number(int64_t number) {
  auto value = std::make_shared<Value>();
  value->kind = Value::Kind::Number;
  value->number = number;
  return value;
}
ValuePtr Data(ConId con, std::vector<ValuePtr> fields) {
  auto value = std::make_shared<Value>();
  value->kind = Value::Kind::Data;
  value->con = con;
  value->fields = std::move(fields);
  return value;
}

namespace {

struct Stop {
  std::string why;
};
struct Fallen {};
struct Thunk;
using Cell = std::shared_ptr<Thunk>;
using Env = std::map<uint32_t, Cell>;
// An input, or an expression with its environment; lambdas are never evaluated but applied.
struct Thunk {
  ValuePtr input;
  const Expr* expr = nullptr;
  Env env;
};
struct Result {
  ValuePtr input;              // a number or data whose fields are inputs
  std::vector<Cell> fields;    // of data that core built
  const LambdaExpr* lambda = nullptr;
  Env env;
};

class Machine {
 public:
  explicit Machine(const Program& program) : program_(program) {}

  // `in_fat_bar`: a Match that fails falls to the second part, whatever its context.
  Result Run(const Expr* expr, const Env& env, bool in_fat_bar = false) {
    switch (expr->kind) {
      case ExprKind::Var: return Force(env.at(llvm::cast<VarExpr>(expr)->var.index));
      case ExprKind::Con: return {Data(llvm::cast<ConExpr>(expr)->con), {}, nullptr, {}};
      case ExprKind::Literal: {
        std::string text(Text(llvm::cast<LiteralExpr>(expr)->text));
        return {Number(std::stoll(text)), {}, nullptr, {}};
      }
      case ExprKind::Lambda: return {nullptr, {}, llvm::cast<LambdaExpr>(expr), env};
      case ExprKind::App: {
        const auto* app = llvm::cast<AppExpr>(expr);
        Result fn = Run(app->fn, env);
        Env inner = fn.env;
        for (size_t i = 0; i < app->args.size(); ++i)
          inner[fn.lambda->params[i].index] = std::make_shared<Thunk>(Thunk{nullptr, app->args[i], env});
        return Run(fn.lambda->body, inner);
      }
      case ExprKind::Let: {
        const auto* let = llvm::cast<LetExpr>(expr);
        Env inner = env;
        for (const Binding& binding : let->bindings)
          inner[binding.var.index] = std::make_shared<Thunk>(Thunk{nullptr, binding.value, env});
        return Run(let->body, inner);
      }
      case ExprKind::Case: return RunCase(*llvm::cast<CaseExpr>(expr), env);
      case ExprKind::Fail: throw Stop{"fail: " + std::string(Text(llvm::cast<FailExpr>(expr)->message))};
      case ExprKind::Fall: throw Fallen{};
      case ExprKind::FatBar:
        try {
          return Run(llvm::cast<FatBarExpr>(expr)->first, env, true);
        } catch (Fallen&) {
          return Run(llvm::cast<FatBarExpr>(expr)->second, env);
        }
      case ExprKind::Match: {
        const auto* match = llvm::cast<MatchExpr>(expr);
        for (const Row& row : match->rows) {
          Env inner = env;
          bool fits = true;
          for (size_t i = 0; fits && i < row.pats.size(); ++i)
            fits = Fits(row.pats[i], env.at(match->scrutinees[i].index), inner);
          if (!fits) continue;
          try {
            return Run(row.body, inner);
          } catch (Fallen&) {
          }
        }
        if (match->context == MatchContext::Guard || in_fat_bar) throw Fallen{};
        throw Stop{"fail: no alternative of `case` fits"};
      }
    }
    throw Stop{"unknown node"};
  }

 private:
  Result Force(const Cell& cell) {
    if (!cell->input) return Run(cell->expr, cell->env);
    if (cell->input->kind == Value::Kind::Bottom) throw Stop{"bottom"};
    Result result{cell->input, {}, nullptr, {}};
    for (const ValuePtr& field : cell->input->fields) result.fields.push_back(std::make_shared<Thunk>(Thunk{field}));
    return result;
  }

  Result RunCase(const CaseExpr& node, const Env& env) {
    Env inner = env;
    Cell scrutinee = std::make_shared<Thunk>(Thunk{nullptr, node.scrutinee, env});
    Result value = Force(scrutinee);
    if (node.binder.valid()) inner[node.binder.index] = scrutinee;
    for (const Alt& alt : node.alts) {
      if (alt.kind == AltKind::Literal && LiteralValue(alt.literal, alt.text) != value.input->number) continue;
      if (alt.kind == AltKind::Con && alt.con != value.input->con) continue;
      for (size_t i = 0; i < alt.vars.size(); ++i) inner[alt.vars[i].index] = value.fields[i];
      return Run(alt.body, inner);
    }
    throw Stop{"a case without an alternative"};
  }

  static int64_t LiteralValue(LiteralKind kind, Symbol text) {
    return kind == LiteralKind::Char ? Text(text)[0] : std::stoll(std::string(Text(text)));
  }

  // Haskell 2010, section 3.17.2.
  bool Fits(const Pat* pat, const Cell& cell, Env& env) {
    switch (pat->kind) {
      case PatKind::Wildcard: return true;
      case PatKind::Var: env[pat->var.index] = cell; return true;
      case PatKind::As: env[pat->var.index] = cell; return Fits(pat->args[0], cell, env);
      case PatKind::Bang: Force(cell); return Fits(pat->args[0], cell, env);
      case PatKind::Lazy: {
        // Each variable is bound to what a match of its own would bind it to.
        std::vector<VarId> vars;
        Collect(pat->args[0], vars);
        for (VarId var : vars) {
          auto select = std::make_shared<Select>();
          select->use.kind = ExprKind::Var;
          select->use.var = var;
          select->row = {llvm::ArrayRef<const Pat*>(pat->args), &select->use, {}};
          select->match.kind = ExprKind::Match;
          select->match.context = MatchContext::PatternBinding;
          select->match.rows = llvm::ArrayRef<Row>(select->row);
          select->match.scrutinees = llvm::ArrayRef<VarId>(select->scrutinee);
          env[var.index] =
              std::make_shared<Thunk>(Thunk{nullptr, &select->match, Env{{select->scrutinee.index, cell}}});
          kept_.push_back(std::move(select));
        }
        return true;
      }
      case PatKind::Literal:
        if (pat->literal == LiteralKind::String) return FitsString(Text(pat->text), cell);
        return Force(cell).input->number == LiteralValue(pat->literal, pat->text);
      case PatKind::View: throw Stop{"a view is not among the random patterns"};
      case PatKind::Con: {
        Result value = Force(cell);
        if (value.input->con != pat->con) return false;
        for (size_t i = 0; i < pat->args.size(); ++i)
          if (!Fits(pat->args[i], value.fields[i], env)) return false;
        return true;
      }
    }
    return false;
  }

  bool FitsString(std::string_view text, const Cell& cell) {
    Result value = Force(cell);
    if (value.input->con != (text.empty() ? program_.nil_con : program_.cons_con)) return false;
    return text.empty() ||
           (Force(value.fields[0]).input->number == text[0] && FitsString(text.substr(1), value.fields[1]));
  }

  static void Collect(const Pat* pat, std::vector<VarId>& vars) {
    if (pat->kind == PatKind::Var || pat->kind == PatKind::As) vars.push_back(pat->var);
    for (const Pat* arg : pat->args) Collect(arg, vars);
  }

  // `case scrutinee of { pat -> var }`
  struct Select {
    VarExpr use;
    VarId scrutinee = VarId(UINT32_MAX - 1);
    Row row;
    MatchExpr match;
  };

  const Program& program_;
  std::vector<std::shared_ptr<Select>> kept_;
};

}  // namespace

std::string Evaluate(const Program& program, const Expr* expr,
                     const std::vector<std::pair<VarId, ValuePtr>>& inputs) {
  Env env;
  for (const auto& [var, value] : inputs) env[var.index] = std::make_shared<Thunk>(Thunk{value});
  try {
    return std::to_string(Machine(program).Run(expr, env).input->number);
  } catch (Stop& stop) {
    return stop.why;
  } catch (Fallen&) {
    return "fall";
  }
}

size_t Size(const Expr* expr) {
  size_t size = 1;
  if (const auto* app = llvm::dyn_cast<AppExpr>(expr)) {
    size += Size(app->fn);
    for (const Expr* arg : app->args) size += Size(arg);
  } else if (const auto* lambda = llvm::dyn_cast<LambdaExpr>(expr)) {
    size += Size(lambda->body);
  } else if (const auto* let = llvm::dyn_cast<LetExpr>(expr)) {
    for (const Binding& binding : let->bindings) size += Size(binding.value);
    size += Size(let->body);
  } else if (const auto* node = llvm::dyn_cast<CaseExpr>(expr)) {
    size += Size(node->scrutinee);
    for (const Alt& alt : node->alts) size += Size(alt.body);
  }
  return size;
}

}  // namespace df::test
