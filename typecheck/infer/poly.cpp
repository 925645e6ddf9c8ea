// See poly.h. How core writes these values: core::VarExpr.
#include "typecheck/infer/poly.h"

#include "typecheck/infer/bind.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/solve/constraints.h"

namespace df::check {
namespace {

// `value` is a use of a variable of the type `poly` at just the variables of `scheme`: the variable itself will do. Otherwise invalid.
VarId SameValue(State& s, const core::Expr* value, const core::Scheme& scheme, TypeId poly) {
  const auto* use = llvm::dyn_cast<core::VarExpr>(value);
  if (!use || use->type_args.size() != scheme.tyvars.size()) return VarId();
  const core::Scheme& own = s.program.vars[use->var].scheme;
  if (!own.tyvars.empty() || s.unify.Zonk(own.type) != s.unify.Zonk(poly)) return VarId();
  for (size_t i = 0; i < use->type_args.size(); ++i)
    if (s.unify.Prune(use->type_args[i]) != s.types.Var(scheme.tyvars[i])) return VarId();
  return use->var;
}

}  // namespace

bool IsPoly(const State& s, TypeId type) { return s.types.Kind(s.unify.Prune(type)) == TypeKind::Forall; }

void Instantiate(State& s, core::VarExpr& node) {
  const TypeId poly = s.unify.Prune(node.type);
  TypeArgs args;
  for (Symbol name : s.types.BinderNames(poly)) args.push_back(s.unify.Fresh(name));
  std::vector<core::Pred> preds;
  node.type = core::TakeContext(s.types, s.types.Instantiate(poly, args), &preds);
  node.type_args = s.program.Copy<TypeId>(args);
  for (const core::Pred& pred : preds) Require(s, pred.cls, pred.type, {Origin::Use, node.span, s.program.vars[node.var].name, node.var, Span()});
}

core::Expr* Instantiated(State& s, core::Expr* expr) {
  if (!IsPoly(s, expr->type)) return expr;
  core::VarExpr node{};
  node.var = s.program.NewLocal(Intern("%poly"), expr->type, expr->span);
  node.type = expr->type;
  node.span = expr->span;
  Instantiate(s, node);
  return LetNode(s, node.var, expr, s.Node(node));
}

core::Expr* CheckPoly(State& s, const ast::Expr* expr, TypeId poly, const Reason& why) {
  poly = s.unify.Zonk(poly);
  const core::Scheme scheme = core::OpenPoly(s.program, poly);
  const VarId var = s.program.NewLocal(Intern("%poly"), scheme.type, expr->span);
  const core::Expr* value = CheckAgainst(s, scheme, why.span, why.name, {}, [&](TypeId type, const Reason&) { return Check(s, expr, type, why); });
  if (const VarId same = SameValue(s, value, scheme, poly); same.valid()) return VarNode(s, same, expr->span);
  s.program.vars[var].scheme = scheme;
  core::VarExpr node{};
  node.var = var;
  node.type = poly;
  node.span = expr->span;
  return LetNode(s, var, value, s.Node(node));
}

}  // namespace df::check
