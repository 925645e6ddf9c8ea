// Clauses, alternatives and guards: rows of patterns whose bodies may fall to the next row.
#include "typecheck/infer/match.h"

#include "typecheck/explain/origin.h"
#include "typecheck/infer/bind.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/infer/pat.h"
#include "typecheck/infer/pattern_scope.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// What the first guard of a right side gives.
Span BodySpan(const ast::Rhs& rhs) { return rhs.guarded.empty() ? rhs.span : rhs.guarded[0].body->span; }

// `area Circle r`, of one parameter: that the constructor misses its fields says it all.
bool MissesParentheses(State& s, llvm::ArrayRef<ast::Pat*> params, size_t wanted) {
  return llvm::any_of(params, [&](const ast::Pat* param) {
    const auto* pattern = llvm::dyn_cast<ast::ConPat>(param);
    ConId con = pattern && pattern->args.empty() ? LookUpConstructor(s, pattern->name) : ConId();
    return con.valid() && s.program.constructors[con].fields.size() + wanted == params.size();
  });
}

bool IsAlwaysTrue(State& s, const ast::Expr* guard) {
  if (const auto* con = llvm::dyn_cast<ast::ConExpr>(guard))
    return LookUpConstructor(s, con->name) == s.program.true_con;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(guard)) {
    VarId otherwise = KnownVar(s, "otherwise");
    return otherwise.valid() && LookUpValue(s, var->name) == otherwise;
  }
  return false;
}

// g1, p <- e, let ds: from left to right, each in scope of those before it; falls where one does not hold.
core::Expr* CheckGuard(State& s, llvm::ArrayRef<ast::Stmt*> guards, const ast::Expr* body, TypeId expected, const Reason& why) {
  if (guards.empty()) return Check(s, body, expected, why);
  const ast::Stmt* first = guards[0];
  auto rest = [&] { return CheckGuard(s, guards.drop_front(), body, expected, why); };
  if (const auto* let = llvm::dyn_cast<ast::LetStmt>(first)) return CheckLet(s, let->decls, first->span, rest);
  if (const auto* test = llvm::dyn_cast<ast::ExprStmt>(first)) {
    core::Expr* cond = Check(s, test->expr, s.types.Scalar(Builtin::Bool), {Reason::Guard, test->expr->span});
    core::Expr* then_ = rest();
    if (IsAlwaysTrue(s, test->expr)) return then_;
    return IfNode(s, cond, then_, FallNode(s, expected, first->span), first->span);
  }
  const auto* bind = llvm::cast<ast::BindStmt>(first);
  core::Expr* value = Infer(s, bind->expr);
  size_t mark = s.LocalMark();
  PatternScope scope(s);
  std::vector<Bound> bound;
  const core::Pat* pat = CheckOuterPat(s, bind->pat, value->type, {Reason::Scrutinee, bind->expr->span}, bound);
  CheckDistinct(s, bound);
  BindAll(s, bound);
  core::Expr* inner = rest();
  UnbindTo(s, mark);
  scope.Close();
  bool fresh;
  VarId scrutinee = Scrutinee(s, value, &fresh);
  core::Row row{s.program.Copy<const core::Pat*>({pat}), inner, first->span};
  core::Expr* match =
      MatchNode(s, core::MatchContext::Guard, Symbol(), {scrutinee}, {row}, expected, first->span);
  return fresh ? LetNode(s, scrutinee, value, match) : match;
}

core::Expr* CheckAlternatives(State& s, VarId scrutinee, TypeId type, Span scrutinee_span, llvm::ArrayRef<ast::Alternative> alternatives,
                              Span span, TypeId expected, const Reason& why) {
  bool open = s.types.Kind(s.unify.Prune(expected)) == TypeKind::Meta;
  std::vector<core::Row> rows;
  if (alternatives.empty()) {
    // EmptyCase: it looks at the value, which there is none of.
    rows.push_back(FailRow(s, type, expected, "no alternative of `case` fits", span));
    rows.back().pats = s.program.Copy<const core::Pat*>({BangPat(s, rows.back().pats[0])});
  }
  for (const ast::Alternative& alternative : alternatives) {
    size_t mark = s.LocalMark();
    PatternScope scope(s);
    std::vector<Bound> bound;
    const core::Pat* pat = CheckOuterPat(s, alternative.pat, type, {Reason::Scrutinee, scrutinee_span}, bound);
    CheckDistinct(s, bound);
    BindAll(s, bound);
    Reason reason = why;
    if (open && &alternative != &alternatives[0]) reason = {Reason::Alternative, BodySpan(alternatives[0].rhs)};
    core::Expr* body = CheckRhs(s, alternative.rhs, expected, reason);
    UnbindTo(s, mark);
    scope.Close();
    rows.push_back({s.program.Copy<const core::Pat*>({pat}), body, alternative.span});
  }
  return MatchNode(s, core::MatchContext::Case, Symbol(), {scrutinee}, rows, expected, span);
}

}  // namespace

VarId Scrutinee(State& s, const core::Expr* value, bool* fresh) {
  *fresh = false;
  if (const auto* use = llvm::dyn_cast<core::VarExpr>(value)) {
    const core::Var& var = s.program.vars[use->var];
    if (var.kind == core::VarKind::Local && var.scheme.tyvars.empty() && use->type_args.empty() && !s.group_uses.count(use->var.index) &&
        !s.broken.count(use->var.index))
      return use->var;
  }
  *fresh = true;
  return s.program.NewLocal(Intern("scrutinee"), value->type, value->span);
}

core::Expr* CheckClauses(State& s, Symbol name, llvm::ArrayRef<ast::Clause> clauses, Span span, TypeId expected, const Reason& why) {
  size_t arity = clauses[0].params.size();
  if (arity == 0) {
    core::Expr* body = CheckRhs(s, clauses[0].rhs, expected, why);
    bool plain = clauses[0].rhs.guarded.size() == 1 && clauses[0].rhs.guarded[0].guards.empty();
    if (plain) return body;
    core::Row row{{}, body, clauses[0].span};
    return MatchNode(s, core::MatchContext::Function, name, {}, {row}, expected, span);
  }
  std::vector<TypeId> params;
  TypeId result = expected;
  for (size_t i = 0; i < arity; ++i) {
    TypeId from, to;
    if (!s.unify.IsFun(result, &from, &to)) {
      bool open = s.types.Kind(s.unify.Prune(result)) == TypeKind::Meta;
      from = s.unify.Fresh(), to = s.unify.Fresh();
      if (open) {
        s.unify.Unify(result, s.types.Fun(from, to));
      } else {
        if (!MissesParentheses(s, clauses[0].params, i)) {
          s.Error(Diag::TooManyParameters, clauses[0].params[i]->span, Text(name), arity,
                arity == 1 ? "parameter" : "parameters", i);
          Explain(s, why);
          if (i == 1 && s.types.IsTuple(params[0])) {
            std::vector<std::string_view> parts;
            for (const ast::Pat* param : clauses[0].params) parts.push_back(s.diags.sources().Text(param->span));
            s.diags.Hint(fmt::format("its parameter is one tuple: `{} ({})`", Text(name), fmt::join(parts, ", ")));
          }
          // Calls with as many arguments as the clauses have would only say it again.
          if (VarId var = LookUpValue(s, {name, {}, span}); var.valid() && why.kind == Reason::Signature) s.broken.insert(var.index);
        }
        result = s.unify.Fresh();  // the rest of the clauses is checked against anything
        s.unify.Unify(result, s.types.Fun(from, to));
        // Which parameter was forgotten in the signature is not known.
        params.assign(arity, TypeId());
        for (TypeId& param : params) param = s.unify.FreshAny();
        result = s.unify.FreshAny();
        break;
      }
    }
    params.push_back(from);
    result = to;
  }
  bool open = s.types.Kind(s.unify.Prune(result)) == TypeKind::Meta;
  bool simple = clauses.size() == 1;
  std::vector<core::Row> rows;
  std::vector<std::vector<const core::Pat*>> all_pats;
  for (const ast::Clause& clause : clauses) {
    size_t mark = s.LocalMark();
    PatternScope scope(s);
    std::vector<Bound> bound;
    std::vector<const core::Pat*> pats;
    for (size_t i = 0; i < clause.params.size() && i < arity; ++i) {
      Reason reason = why;
      if (why.kind == Reason::None && &clause != &clauses[0])
        reason = {Reason::Parameter, clauses[0].span, name};
      pats.push_back(CheckOuterPat(s, clause.params[i], params[i], reason, bound));
      simple &= pats.back()->kind == core::PatKind::Var || pats.back()->kind == core::PatKind::Wildcard;
    }
    CheckDistinct(s, bound);
    BindAll(s, bound);
    Reason reason = why;
    if (why.kind == Reason::None && open && &clause != &clauses[0])
      reason = {Reason::Clause, BodySpan(clauses[0].rhs), name};
    core::Expr* body = CheckRhs(s, clause.rhs, result, reason);
    UnbindTo(s, mark);
    scope.Close();
    rows.push_back({s.program.Copy<const core::Pat*>(pats), body, clause.span});
    all_pats.push_back(std::move(pats));
  }
  // Parameters are called what the first clause calls them.
  std::vector<VarId> vars;
  for (size_t i = 0; i < arity; ++i) {
    const core::Pat* first = i < all_pats[0].size() ? all_pats[0][i] : nullptr;
    if (simple && first && first->kind == core::PatKind::Var) {
      vars.push_back(first->var);
      continue;
    }
    Symbol param = Intern("x" + std::to_string(i + 1));
    while (first && (first->kind == core::PatKind::Bang || first->kind == core::PatKind::Lazy))
      first = first->args[0];
    if (first && first->var.valid()) param = s.program.vars[first->var].name;
    vars.push_back(s.program.NewLocal(param, params[i], clauses[0].params[i]->span));
  }
  const core::Expr* body;
  if (simple) {
    bool plain = clauses[0].rhs.guarded.size() == 1 && clauses[0].rhs.guarded[0].guards.empty();
    core::Row row{{}, rows[0].body, rows[0].span};
    body = plain ? rows[0].body : MatchNode(s, core::MatchContext::Function, name, {}, {row}, result, span);
  } else {
    body = MatchNode(s, core::MatchContext::Function, name, vars, rows, result, span);
  }
  return LambdaNode(s, vars, body, span);
}

core::Expr* CheckRhs(State& s, const ast::Rhs& rhs, TypeId expected, const Reason& why) {
  if (rhs.where.empty()) return CheckGuarded(s, rhs.guarded, expected, why);
  return CheckLet(s, rhs.where, rhs.span, [&] { return CheckGuarded(s, rhs.guarded, expected, why); });
}

core::Expr* CheckGuarded(State& s, llvm::ArrayRef<ast::GuardedExpr> guarded, TypeId expected, const Reason& why) {
  struct Arm {
    core::Expr* cond = nullptr;  // of a single boolean guard
    core::Expr* body = nullptr;  // falls by itself if there is no cond
    bool always = false;
  };
  bool open = s.types.Kind(s.unify.Prune(expected)) == TypeKind::Meta;
  std::vector<Arm> arms;
  Span outer_region = s.region;
  for (const ast::GuardedExpr& alternative : guarded) {
    Reason reason = why;
    if (open && &alternative != &guarded[0]) reason = {Reason::Alternative, guarded[0].body->span};
    Arm arm;
    const ast::ExprStmt* only =
        alternative.guards.size() == 1 ? llvm::dyn_cast<ast::ExprStmt>(alternative.guards[0]) : nullptr;
    s.region = alternative.body->span;
    if (alternative.guards.empty()) {
      arm.always = true;
      arm.body = Check(s, alternative.body, expected, reason);
    } else if (only) {
      s.region = only->expr->span;
      arm.cond = Check(s, only->expr, s.types.Scalar(Builtin::Bool), {Reason::Guard, only->expr->span});
      arm.always = IsAlwaysTrue(s, only->expr);
      s.region = alternative.body->span;
      arm.body = Check(s, alternative.body, expected, reason);
    } else {
      s.region = alternative.span;
      arm.body = CheckGuard(s, alternative.guards, alternative.body, expected, reason);
    }
    arms.push_back(arm);
  }
  s.region = outer_region;
  for (size_t i = 0; i + 1 < arms.size(); ++i)
    if (arms[i].always && s.options.warnings && !s.options.library && s.unreached.insert(guarded[i + 1].span.begin).second) {
      s.diags.Report(Diag::NeverReached, guarded[i + 1].span, "guard").Note(guarded[i].guards[0]->span, "this is always true");
      break;
    }
  core::Expr* rest = nullptr;
  for (size_t i = arms.size(); i-- > 0;) {
    Span span = guarded[i].span;
    if (arms[i].always) {
      rest = arms[i].body;
      continue;
    }
    if (arms[i].cond) {
      rest = IfNode(s, arms[i].cond, arms[i].body, rest ? rest : FallNode(s, expected, span), span);
    } else if (!rest) {
      rest = arms[i].body;
    } else {
      core::FatBarExpr node{};
      node.type = expected;
      node.span = span;
      node.first = arms[i].body;
      node.second = rest;
      rest = s.Node(node);
    }
  }
  return rest ? rest : ErrorNode(s, expected, Span());
}

core::Expr* CheckCase(State& s, const ast::Expr* scrutinee, llvm::ArrayRef<ast::Alternative> alternatives, Span span, TypeId expected,
                      const Reason& why) {
  core::Expr* value = Infer(s, scrutinee);
  bool fresh;
  VarId var = Scrutinee(s, value, &fresh);
  core::Expr* match = CheckAlternatives(s, var, value->type, scrutinee->span, alternatives, span, expected, why);
  return fresh ? LetNode(s, var, value, match) : match;
}

core::Expr* CheckLambdaCase(State& s, const ast::LambdaCaseExpr* expr, TypeId expected, const Reason& why) {
  TypeId from = s.unify.Fresh(), to = s.unify.Fresh();
  bool ok = Expect(s, expected, s.types.Fun(from, to), expr->span, why);
  VarId param = s.program.NewLocal(Intern("x"), from, expr->span);
  core::Expr* body = CheckAlternatives(s, param, from, expr->span, expr->alternatives, expr->span, to, Reason{});
  return ok ? LambdaNode(s, {param}, body, expr->span) : ErrorNode(s, expected, expr->span);
}

}  // namespace df::check
