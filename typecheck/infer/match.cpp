// Clauses, alternatives and guards: rows of patterns whose bodies may fall to the next row.
#include "typecheck/checker.h"

namespace df::check {
namespace {

// What the first guard of a right side gives.
Span BodySpan(const ast::Rhs& rhs) { return rhs.guarded.empty() ? rhs.span : rhs.guarded[0].body->span; }

}  // namespace

core::Expr* Checker::MatchNode(core::MatchContext context, Symbol name, llvm::ArrayRef<VarId> scrutinees,
                               llvm::ArrayRef<core::Row> rows, TypeId type, Span span) {
  core::MatchExpr node{};
  node.type = type;
  node.span = span;
  node.context = context;
  node.name = name;
  node.scrutinees = program_.Copy<VarId>(scrutinees);
  node.rows = program_.Copy<core::Row>(rows);
  return Node(node);
}

core::Expr* Checker::FallNode(TypeId type, Span span) {
  core::FallExpr node{};
  node.type = type;
  node.span = span;
  return Node(node);
}

VarId Checker::Scrutinee(const core::Expr* value, bool* fresh) {
  *fresh = false;
  if (const auto* use = llvm::dyn_cast<core::VarExpr>(value)) {
    const core::Var& var = program_.vars[use->var];
    if (var.kind == core::VarKind::Local && var.scheme.tyvars.empty() && !group_uses_.count(use->var.index) &&
        !broken_.count(use->var.index))
      return use->var;
  }
  *fresh = true;
  return program_.NewLocal(Intern("scrutinee"), value->type, value->span);
}

// `area Circle r`, of one parameter: that the constructor misses its fields says it all.
bool Checker::MissesParentheses(llvm::ArrayRef<ast::Pat*> params, size_t wanted) {
  return llvm::any_of(params, [&](const ast::Pat* param) {
    const auto* pattern = llvm::dyn_cast<ast::ConPat>(param);
    ConId con = pattern && pattern->args.empty() ? FindConstructor(pattern->name, false) : ConId();
    return con.valid() && program_.constructors[con].fields.size() + wanted == params.size();
  });
}

// f p1 .. pn | g = e; ..: a lambda over n variables and a match of them against the clauses.
core::Expr* Checker::CheckClauses(Symbol name, llvm::ArrayRef<ast::Clause> clauses, Span span,
                                  TypeId expected, const Reason& why) {
  size_t arity = clauses[0].params.size();
  if (arity == 0) {
    core::Expr* body = CheckRhs(clauses[0].rhs, expected, why);
    bool plain = clauses[0].rhs.guarded.size() == 1 && clauses[0].rhs.guarded[0].guards.empty();
    if (plain) return body;
    core::Row row{{}, body, clauses[0].span};
    return MatchNode(core::MatchContext::Function, name, {}, {row}, expected, span);
  }
  std::vector<TypeId> params;
  TypeId result = expected;
  for (size_t i = 0; i < arity; ++i) {
    TypeId from, to;
    if (!unify_.IsFun(result, &from, &to)) {
      bool open = types_.Kind(unify_.Prune(result)) == TypeKind::Meta;
      from = unify_.Fresh(), to = unify_.Fresh();
      if (open) {
        unify_.Unify(result, types_.Fun(from, to));
      } else {
        if (!MissesParentheses(clauses[0].params, i)) {
          Error(Diag::TooManyParameters, clauses[0].params[i]->span, Text(name), arity,
                arity == 1 ? "parameter" : "parameters", i);
          Explain(why);
          if (i == 1 && types_.IsTuple(params[0])) {
            std::vector<std::string_view> parts;
            for (const ast::Pat* param : clauses[0].params) parts.push_back(diags_.sources().Text(param->span));
            diags_.Hint(fmt::format("its parameter is one tuple: `{} ({})`", Text(name), fmt::join(parts, ", ")));
          }
          // Calls with as many arguments as the clauses have would only say it again.
          if (VarId var = FindValue({name, {}, span}, false); var.valid() && why.kind == Reason::Signature) broken_.insert(var.index);
        }
        result = unify_.Fresh();  // the rest of the clauses is checked against anything
        unify_.Unify(result, types_.Fun(from, to));
        // Which parameter was forgotten in the signature is not known.
        params.assign(arity, TypeId());
        for (TypeId& param : params) param = unify_.FreshAny();
        result = unify_.FreshAny();
        break;
      }
    }
    params.push_back(from);
    result = to;
  }
  bool open = types_.Kind(unify_.Prune(result)) == TypeKind::Meta;
  bool simple = clauses.size() == 1;
  std::vector<core::Row> rows;
  std::vector<std::vector<const core::Pat*>> all_pats;
  for (const ast::Clause& clause : clauses) {
    size_t mark = LocalMark();
    std::vector<Bound> bound;
    std::vector<const core::Pat*> pats;
    for (size_t i = 0; i < clause.params.size() && i < arity; ++i) {
      Reason reason = why;
      if (why.kind == Reason::None && &clause != &clauses[0])
        reason = {Reason::Parameter, clauses[0].span, name};
      pats.push_back(CheckOuterPat(clause.params[i], params[i], reason, bound));
      simple &= pats.back()->kind == core::PatKind::Var || pats.back()->kind == core::PatKind::Wildcard;
    }
    CheckDistinct(bound);
    BindAll(bound);
    Reason reason = why;
    if (why.kind == Reason::None && open && &clause != &clauses[0])
      reason = {Reason::Clause, BodySpan(clauses[0].rhs), name};
    core::Expr* body = CheckRhs(clause.rhs, result, reason);
    UnbindTo(mark);
    rows.push_back({program_.Copy<const core::Pat*>(pats), body, clause.span});
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
    if (first && first->var.valid()) param = program_.vars[first->var].name;
    vars.push_back(program_.NewLocal(param, params[i], clauses[0].params[i]->span));
  }
  const core::Expr* body;
  if (simple) {
    bool plain = clauses[0].rhs.guarded.size() == 1 && clauses[0].rhs.guarded[0].guards.empty();
    core::Row row{{}, rows[0].body, rows[0].span};
    body = plain ? rows[0].body : MatchNode(core::MatchContext::Function, name, {}, {row}, result, span);
  } else {
    body = MatchNode(core::MatchContext::Function, name, vars, rows, result, span);
  }
  return LambdaNode(vars, body, span);
}

core::Expr* Checker::CheckRhs(const ast::Rhs& rhs, TypeId expected, const Reason& why) {
  if (rhs.where.empty()) return CheckGuarded(rhs.guarded, expected, why);
  return CheckLet(rhs.where, rhs.span, [&] { return CheckGuarded(rhs.guarded, expected, why); });
}

bool Checker::IsAlwaysTrue(const ast::Expr* guard) {
  if (const auto* con = llvm::dyn_cast<ast::ConExpr>(guard))
    return FindConstructor(con->name, false) == program_.true_con;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(guard)) {
    VarId otherwise = KnownVar("otherwise");
    return otherwise.valid() && FindValue(var->name, false) == otherwise;
  }
  return false;
}

// The guarded expressions in order; where no guard holds, it falls.
core::Expr* Checker::CheckGuarded(llvm::ArrayRef<ast::GuardedExpr> guarded, TypeId expected,
                                  const Reason& why) {
  struct Arm {
    core::Expr* cond = nullptr;  // of a single boolean guard
    core::Expr* body = nullptr;  // falls by itself if there is no cond
    bool always = false;
  };
  bool open = types_.Kind(unify_.Prune(expected)) == TypeKind::Meta;
  std::vector<Arm> arms;
  Span outer_region = region_;
  for (const ast::GuardedExpr& alternative : guarded) {
    Reason reason = why;
    if (open && &alternative != &guarded[0]) reason = {Reason::Alternative, guarded[0].body->span};
    Arm arm;
    const ast::ExprStmt* only =
        alternative.guards.size() == 1 ? llvm::dyn_cast<ast::ExprStmt>(alternative.guards[0]) : nullptr;
    region_ = alternative.body->span;
    if (alternative.guards.empty()) {
      arm.always = true;
      arm.body = Check(alternative.body, expected, reason);
    } else if (only) {
      region_ = only->expr->span;
      arm.cond = Check(only->expr, types_.Scalar(Builtin::Bool), {Reason::Guard, only->expr->span});
      arm.always = IsAlwaysTrue(only->expr);
      region_ = alternative.body->span;
      arm.body = Check(alternative.body, expected, reason);
    } else {
      region_ = alternative.span;
      arm.body = CheckGuard(alternative.guards, alternative.body, expected, reason);
    }
    arms.push_back(arm);
  }
  region_ = outer_region;
  for (size_t i = 0; i + 1 < arms.size(); ++i)
    if (arms[i].always && options_.warnings && !options_.library && unreached_.insert(guarded[i + 1].span.begin).second) {
      diags_.Report(Diag::NeverReached, guarded[i + 1].span, "guard").Note(guarded[i].guards[0]->span, "this is always true");
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
      rest = IfNode(arms[i].cond, arms[i].body, rest ? rest : FallNode(expected, span), span);
    } else if (!rest) {
      rest = arms[i].body;
    } else {
      core::FatBarExpr node{};
      node.type = expected;
      node.span = span;
      node.first = arms[i].body;
      node.second = rest;
      rest = Node(node);
    }
  }
  return rest ? rest : ErrorNode(expected, Span());
}

// g1, p <- e, let ds: from left to right, each in scope of those before it; falls where one does not hold.
core::Expr* Checker::CheckGuard(llvm::ArrayRef<ast::Stmt*> guards, const ast::Expr* body, TypeId expected,
                                const Reason& why) {
  if (guards.empty()) return Check(body, expected, why);
  const ast::Stmt* first = guards[0];
  auto rest = [&] { return CheckGuard(guards.drop_front(), body, expected, why); };
  if (const auto* let = llvm::dyn_cast<ast::LetStmt>(first)) return CheckLet(let->decls, first->span, rest);
  if (const auto* test = llvm::dyn_cast<ast::ExprStmt>(first)) {
    core::Expr* cond = Check(test->expr, types_.Scalar(Builtin::Bool), {Reason::Guard, test->expr->span});
    core::Expr* then_ = rest();
    if (IsAlwaysTrue(test->expr)) return then_;
    return IfNode(cond, then_, FallNode(expected, first->span), first->span);
  }
  const auto* bind = llvm::cast<ast::BindStmt>(first);
  core::Expr* value = Infer(bind->expr);
  size_t mark = LocalMark();
  std::vector<Bound> bound;
  const core::Pat* pat = CheckOuterPat(bind->pat, value->type, {Reason::Scrutinee, bind->expr->span}, bound);
  CheckDistinct(bound);
  BindAll(bound);
  core::Expr* inner = rest();
  UnbindTo(mark);
  bool fresh;
  VarId scrutinee = Scrutinee(value, &fresh);
  core::Row row{program_.Copy<const core::Pat*>({pat}), inner, first->span};
  core::Expr* match =
      MatchNode(core::MatchContext::Guard, Symbol(), {scrutinee}, {row}, expected, first->span);
  return fresh ? LetNode(scrutinee, value, match) : match;
}

core::Expr* Checker::CheckCase(const ast::Expr* scrutinee, llvm::ArrayRef<ast::Alternative> alternatives,
                               Span span, TypeId expected, const Reason& why) {
  core::Expr* value = Infer(scrutinee);
  bool fresh;
  VarId var = Scrutinee(value, &fresh);
  core::Expr* match = CheckAlternatives(var, value->type, scrutinee->span, alternatives, span, expected, why);
  return fresh ? LetNode(var, value, match) : match;
}

core::Expr* Checker::CheckAlternatives(VarId scrutinee, TypeId type, Span scrutinee_span,
                                       llvm::ArrayRef<ast::Alternative> alternatives, Span span,
                                       TypeId expected, const Reason& why) {
  bool open = types_.Kind(unify_.Prune(expected)) == TypeKind::Meta;
  std::vector<core::Row> rows;
  for (const ast::Alternative& alternative : alternatives) {
    size_t mark = LocalMark();
    std::vector<Bound> bound;
    const core::Pat* pat = CheckOuterPat(alternative.pat, type, {Reason::Scrutinee, scrutinee_span}, bound);
    CheckDistinct(bound);
    BindAll(bound);
    Reason reason = why;
    if (open && &alternative != &alternatives[0]) reason = {Reason::Alternative, BodySpan(alternatives[0].rhs)};
    core::Expr* body = CheckRhs(alternative.rhs, expected, reason);
    UnbindTo(mark);
    rows.push_back({program_.Copy<const core::Pat*>({pat}), body, alternative.span});
  }
  return MatchNode(core::MatchContext::Case, Symbol(), {scrutinee}, rows, expected, span);
}

core::Expr* Checker::CheckLambdaCase(const ast::LambdaCaseExpr* expr, TypeId expected, const Reason& why) {
  TypeId from = unify_.Fresh(), to = unify_.Fresh();
  bool ok = Expect(expected, types_.Fun(from, to), expr->span, why);
  VarId param = program_.NewLocal(Intern("x"), from, expr->span);
  core::Expr* body = CheckAlternatives(param, from, expr->span, expr->alternatives, expr->span, to, Reason{});
  return ok ? LambdaNode({param}, body, expr->span) : ErrorNode(expected, expr->span);
}

}  // namespace df::check
