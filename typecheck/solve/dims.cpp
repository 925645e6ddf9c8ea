// Equations of dimensions that wait, and sizes that several uses share.
#include "typecheck/solve/dims.h"

#include "typecheck/explain/explain.h"
#include "typecheck/state/state.h"

namespace df::check {

void ShareSizes(State& s, TypeId type, Sizes sizes) {
  if (!s.types.HasMeta(type) || s.unify.IsFun(type, nullptr, nullptr)) return;
  llvm::SmallVector<TypeId> args;
  TypeId head = s.unify.Head(type, &args);
  if (s.types.Kind(head) == TypeKind::Dim) return s.unify.Lower(head, s.unify.level);
  const bool known = s.types.Kind(head) == TypeKind::Con;
  const Builtin builtin = known ? s.types.cons[s.types.ConOf(head)].builtin : Builtin::None;
  const std::vector<bool> measures = known ? s.types.cons[s.types.ConOf(head)].measures : std::vector<bool>{};
  for (size_t i = 0; i < args.size(); ++i) {
    const bool size = builtin == Builtin::Tensor ? i == 1 : i < measures.size() && measures[i];
    if (size && sizes == Sizes::Shared) s.unify.Lower(args[i], s.unify.level);
    else ShareSizes(s, args[i], sizes);
  }
}

void SettleDims(State& s) {
  UnifyResult clash;
  Span where;
  while (!s.unify.RetryDims(&clash, &where)) ReportMismatch(s, clash, clash.left, clash.right, where, Reason{});
}

void ReportOpenDims(State& s, const llvm::SmallVectorImpl<MetaId>* metas) {
  std::vector<Unifier::DimEquation> open = std::exchange(s.unify.open_dims, {});
  for (const Unifier::DimEquation& equation : open) {
    llvm::SmallVector<MetaId> found;
    s.unify.FreeMetas(equation.left, found);
    s.unify.FreeMetas(equation.right, found);
    if (metas && !llvm::any_of(found, [&](MetaId meta) { return llvm::is_contained(*metas, meta); })) {
      s.unify.open_dims.push_back(equation);
      continue;
    }
    std::vector<std::string> text = PrintTypes(s, {equation.left, equation.right});
    s.Error(Diag::OpenDimension, equation.span, text[0], text[1])
        .Hint("a type signature that names the dimensions settles them");
  }
}

}  // namespace df::check
