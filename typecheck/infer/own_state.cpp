// See own_state.h.
#include "typecheck/infer/own_state.h"

#include "typecheck/explain/explain.h"

namespace df::check {
namespace {

bool Has(State& s, TypeId type, TypeId part) {
  type = s.unify.Prune(type);
  if (type == part) return true;
  return s.types.Kind(type) == TypeKind::App && (Has(s, s.types.FnOf(type), part) || Has(s, s.types.ArgOf(type), part));
}

}  // namespace

bool RunsState(const State& s, VarId id) {
  const core::Var& var = s.program.vars[id];
  return var.from_library && (Text(var.name) == "runST" || Text(var.name) == "runSTArray" || Text(var.name) == "runSTUArray");
}

TyConId OwnState(State& s, TypeId arg) {
  TyCon con;
  con.name = Intern("s");
  TyConId own = s.types.cons.Add(std::move(con));
  s.env.SetKind(own, s.env.kinds.Star());
  s.unify.Solve(s.types.MetaOf(arg), s.types.Con(own));
  return own;
}

void ReportEscapes(State& s) {
  for (const StateUse& at : s.state_uses) {
    TypeId own = s.types.Con(at.own);
    for (TypeId arg : llvm::ArrayRef(at.use->type_args).drop_front()) {
      if (!Has(s, arg, own)) continue;
      s.Error(Diag::StateEscapes, at.use->span, Text(s.program.vars[at.use->var].name), PrintType(s, arg))
          .Hint("a reference or an array is of use only to actions of the same `runST`: let that give the value that is in it");
      break;
    }
  }
}

}  // namespace df::check
