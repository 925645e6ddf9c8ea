// The end of a module: every type without metas.
#include "typecheck/zonk.h"

#include "typecheck/infer/nodes.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// The type with every meta replaced; one that nothing settled stands for (), or for lists where it is
// applied.
TypeId Final(State& s, TypeId type) {
  if (!type.valid() || (!s.types.HasMeta(type) && !s.types.HasFamily(type) && s.state_uses.empty())) return type;
  auto known = s.final_types.find(type.index);
  if (known != s.final_types.end()) return known->second;
  TypeId result;
  if (s.types.Kind(type) == TypeKind::Meta) {
    TypeId pruned = s.unify.Prune(type);
    result = s.types.Kind(pruned) == TypeKind::Meta ? s.types.Scalar(Builtin::Unit) : Final(s, pruned);
  } else if (s.types.Kind(type) == TypeKind::Con) {
    auto own = [&](const StateUse& use) { return use.own == s.types.ConOf(type); };
    result = llvm::any_of(s.state_uses, own) ? s.types.Scalar(Builtin::Unit) : type;
  } else if (s.types.Kind(type) == TypeKind::Var) {
    result = type;
  } else if (s.types.Kind(type) == TypeKind::Forall) {
    result = s.types.MapBody(type, [&](TypeId body) { return Final(s, body); });
  } else if (s.types.Kind(type) == TypeKind::Dim) {
    result = s.types.MapAtoms(type, [&](TypeId atom) { return Final(s, atom); });
  } else {
    TypeId fn = s.unify.Prune(s.types.FnOf(type));
    if (s.types.Kind(fn) == TypeKind::Meta) {
      s.unify.Solve(s.types.MetaOf(fn), s.types.Con(s.types.Known(Builtin::List)));
      fn = s.types.Con(s.types.Known(Builtin::List));
    }
    result = Final(s, fn);
    result = s.types.App(result, Final(s, s.types.ArgOf(type)));
  }
  s.final_types[type.index] = result;
  return result;
}

}  // namespace

void ZonkAll(State& s) {
  auto finish_args = [&](core::List<TypeId> args) {
    for (const TypeId& arg : args) const_cast<TypeId&>(arg) = Final(s, arg);
  };
  for (uint32_t i = s.first_var; i < s.program.vars.size(); ++i) {
    core::Scheme& scheme = s.program.vars[VarId(i)].scheme;
    scheme.type = Final(s, scheme.type);
    for (core::Pred& pred : scheme.preds) pred.type = Final(s, pred.type);
  }
  for (core::Expr* expr : s.exprs) {
    expr->type = Final(s, expr->type);
    if (auto* var = llvm::dyn_cast<core::VarExpr>(expr)) finish_args(var->type_args);
    if (auto* con = llvm::dyn_cast<core::ConExpr>(expr)) finish_args(con->type_args);
  }
  VarId equals = KnownVar(s, "==");
  for (size_t i = 0; i < s.pats.size(); ++i) {
    core::Pat* pat = s.pats[i];
    pat->type = Final(s, pat->type);
    finish_args(pat->type_args);
    if (pat->kind != core::PatKind::Literal || !equals.valid()) continue;
    Builtin builtin = s.types.BuiltinOf(pat->type);
    bool text = pat->literal == core::LiteralKind::String;
    if (text ? builtin == Builtin::List : builtin != Builtin::None && builtin != Builtin::Function && builtin != Builtin::Tuple) continue;
    // A number or a string of a type that the compiler does not know: compared by that type's own (==).
    TypeId boolean = s.types.Scalar(Builtin::Bool);
    core::VarExpr use{};
    use.span = pat->span;
    use.var = equals;
    use.type = s.types.Fun({pat->type, pat->type}, boolean);
    use.type_args = s.program.Copy<TypeId>({pat->type});
    core::LiteralExpr literal{};
    literal.span = pat->span;
    literal.type = pat->type;
    literal.literal = pat->literal;
    literal.text = pat->text;
    core::Expr* value = s.Node(literal);
    if (text) {
      value->type = s.types.List(s.types.Scalar(Builtin::Char));
      core::VarExpr from{};
      from.span = pat->span;
      from.var = KnownVar(s, "fromString");
      from.type = s.types.Fun(value->type, pat->type);
      from.type_args = s.program.Copy<TypeId>({pat->type});
      value = AppNode(s, s.Node(from), {value}, pat->span);
    }
    VarId param = s.program.NewLocal(Intern("x"), pat->type, pat->span);
    pat->equals = LambdaNode(s, 
        {param}, AppNode(s, s.Node(use), {VarNode(s, param, pat->span), value}, pat->span), pat->span);
  }
}

}  // namespace df::check
