// Equations between dimensions. One that is linear in an unknown has a most general solution; one that is not waits until
// more is known.
#include "typecheck/types/unify.h"

namespace df::check {
namespace {

// Whether no natural numbers make it 0: a constant, and all terms of its sign.
bool NeverZero(const Dimension& dim) {
  const std::vector<DimTerm>& terms = dim.terms();
  if (terms.empty() || !terms.back().atoms.empty()) return false;
  for (const DimTerm& term : terms)
    if ((term.coefficient < 0) != (terms.back().coefficient < 0)) return false;
  return true;
}

bool AllPositive(const Dimension& dim) {
  for (const DimTerm& term : dim.terms())
    if (term.coefficient < 0) return false;
  return true;
}

}  // namespace

// With the difference brought to 0 = c * x + rest, where the unknown x is in no other term, x is rest / -c: most general if c
// is 1 or -1, and the only solution otherwise if rest holds no unknowns. A solution without subtraction is preferred, so that
// ?m + ?n = ?k settles ?k.
UnifyResult Unifier::UnifyDims(TypeId a, TypeId b) {
  for (TypeId side : {a, b}) {
    TypeKind kind = types_->Kind(side);
    if (kind != TypeKind::Dim && kind != TypeKind::Meta && kind != TypeKind::Var) return {Clash::Mismatch, a, b};
  }
  auto zonked = [&](TypeId type) { return types_->DimensionOf(Zonk(type)); };
  Dimension difference = (zonked(a) - zonked(b)).WithoutCommonFactors([&](TypeId atom) {
    return types_->Kind(atom) == TypeKind::Var;
  });
  if (difference.IsZero()) return {};
  if (NeverZero(difference)) return {Clash::Mismatch, a, b};

  llvm::SmallVector<TypeId> unknowns;
  for (const DimTerm& term : difference.terms())
    for (TypeId atom : term.atoms)
      if (types_->Kind(atom) == TypeKind::Meta && !llvm::is_contained(unknowns, atom)) unknowns.push_back(atom);
  if (unknowns.empty()) return {Clash::Mismatch, a, b};

  TypeId best;
  Dimension solution;
  for (TypeId unknown : unknowns) {
    const DimTerm* own = nullptr;
    size_t terms = 0;
    for (const DimTerm& term : difference.terms()) {
      if (!llvm::is_contained(term.atoms, unknown)) continue;
      ++terms;
      if (term.atoms.size() == 1) own = &term;
    }
    if (terms != 1 || !own) continue;
    int64_t c = own->coefficient;
    Dimension rest = difference - Dimension::Constant(c) * Dimension::Atom(unknown);
    if (c != 1 && c != -1 && unknowns.size() > 1) continue;
    std::optional<Dimension> quotient = (rest * Dimension::Constant(-1)).DividedBy(c);
    if (!quotient) return {Clash::Mismatch, a, b};  // 2 * x = 5
    if (!best.valid() || (AllPositive(*quotient) && !AllPositive(solution))) best = unknown, solution = *quotient;
  }
  if (!best.valid()) {
    open_dims.push_back({a, b, span});
    return {};
  }
  return Bind(types_->MetaOf(best), types_->Dim(solution));
}

bool Unifier::RetryDims(UnifyResult* clash, Span* where) {
  // A solution may settle what came before it.
  for (bool again = true; again;) {
    std::vector<DimEquation> open = std::exchange(open_dims, {});
    uint32_t before = epoch_;
    for (size_t i = 0; i < open.size(); ++i) {
      span = open[i].span;
      UnifyResult result = UnifyDims(Prune(open[i].left), Prune(open[i].right));
      if (result.ok()) continue;
      open_dims.insert(open_dims.end(), open.begin() + static_cast<ptrdiff_t>(i) + 1, open.end());
      result.left = open[i].left;
      result.right = open[i].right;
      *clash = result;
      *where = open[i].span;
      return false;
    }
    again = epoch_ != before && !open_dims.empty();
  }
  return true;
}

}  // namespace df::check
