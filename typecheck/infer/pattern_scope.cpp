// What the patterns of a row tell of types.
#include "typecheck/infer/pattern_scope.h"

#include "typecheck/solve/constraints.h"
#include "typecheck/solve/tangents.h"
#include "typecheck/state/equality.h"
#include "typecheck/state/looks.h"

namespace df::check {
PatternScope::PatternScope(State& s)
    : s_(s), level_(s.unify.level), wanted_(s.wanted.size()), givens_(s.givens.size()), assumed_(s.unify.AssumedMark()), may_open_(s.may_open) {
  s.may_open = true;
}

void PatternScope::Close() {
  if (s_.unify.level != level_) {
    SolveFrom(s_, wanted_);
    s_.unify.level = level_;
    RetryTangents(s_, Guess::Ours);
    DefaultAll(s_, wanted_, true, level_ + 1);
  }
  Restore();
}

void PatternScope::Restore() {
  if (std::exchange(closed_, true)) return;
  s_.may_open = may_open_;
  s_.unify.level = level_;
  s_.givens.resize(givens_);
  s_.unify.Forget(assumed_);
}

std::vector<TyVarId> VariablesOf(const State& s, ConId con) {
  const core::DataCon& row = s.program.constructors[con];
  std::vector<TyVarId> vars = s.types.cons[row.tycon].params;
  vars.insert(vars.end(), row.exists.begin(), row.exists.end());
  return vars;
}

bool OpenConstructor(State& s, ConId con, Span span, llvm::ArrayRef<TypeId> args, llvm::SmallVectorImpl<TyVarId>& hidden) {
  const core::DataCon row = s.program.constructors[con];
  if (!s.may_open) {
    s.Error(Diag::HiddenType, span, Text(row.name), "a binding or a lazy pattern").Hint("`case` takes it apart");
    return false;
  }
  ++s.unify.level;
  const std::vector<TyVarId> vars = VariablesOf(s, con);
  TypeArgs types(args.begin(), args.end());
  for (TyVarId var : row.exists) {
    hidden.push_back(s.types.NewVar(s.types.vars[var].name, s.types.vars[var].span));
    s.unify.SetRigid(hidden.back(), s.unify.level);
    types.push_back(s.types.Var(hidden.back()));
  }
  for (const auto& [param, type] : row.equations)
    AssumeEqual(s, types[static_cast<size_t>(llvm::find(vars, param) - vars.begin())], s.types.Substitute(type, vars, types), hidden);
  for (const core::Pred& pred : row.context) PushGiven(s, pred.cls, s.types.Substitute(pred.type, vars, types));
  return true;
}

}  // namespace df::check
