#include "typecheck/types/dimension.h"

#include <algorithm>

#include "lang/budget.h"

namespace df {
namespace {

bool Before(const DimTerm& a, const DimTerm& b) {
  if (a.atoms.size() != b.atoms.size()) return a.atoms.size() > b.atoms.size();
  return a.atoms < b.atoms;
}

}  // namespace

Dimension Dimension::Constant(int64_t value) {
  Dimension dim;
  if (value != 0) dim.terms_.push_back({value, {}});
  return dim;
}

Dimension Dimension::Atom(TypeId atom) {
  Dimension dim;
  dim.terms_.push_back({1, {atom}});
  return dim;
}

std::optional<int64_t> Dimension::Literal() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].atoms.empty()) return terms_[0].coefficient;
  return std::nullopt;
}

std::optional<TypeId> Dimension::SingleAtom() const {
  if (terms_.size() == 1 && terms_[0].coefficient == 1 && terms_[0].atoms.size() == 1) return terms_[0].atoms[0];
  return std::nullopt;
}

void Dimension::Normalise() {
  for (DimTerm& term : terms_) std::sort(term.atoms.begin(), term.atoms.end());
  std::sort(terms_.begin(), terms_.end(), Before);
  std::vector<DimTerm> sums;
  bool too_large = false;
  for (DimTerm& term : terms_) {
    if (!sums.empty() && sums.back().atoms == term.atoms)
      too_large |= __builtin_add_overflow(sums.back().coefficient, term.coefficient, &sums.back().coefficient);
    else sums.push_back(std::move(term));
  }
  std::erase_if(sums, [](const DimTerm& term) { return term.coefficient == 0; });
  if (sums.size() > kMaxTerms || too_large) sums = {{kTooLarge, {}}};
  terms_ = std::move(sums);
}

Dimension operator+(const Dimension& a, const Dimension& b) {
  Dimension sum = a;
  sum.terms_.insert(sum.terms_.end(), b.terms_.begin(), b.terms_.end());
  sum.Normalise();
  return sum;
}

Dimension operator-(const Dimension& a, const Dimension& b) { return a + b * Dimension::Constant(-1); }

Dimension operator*(const Dimension& a, const Dimension& b) {
  Dimension product;
  for (const DimTerm& x : a.terms_)
    for (const DimTerm& y : b.terms_) {
      CheckBudget();
      DimTerm term{0, x.atoms};
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient) ||
          x.atoms.size() + y.atoms.size() > Dimension::kMaxTerms)
        return Dimension::Constant(Dimension::kTooLarge);
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      product.terms_.push_back(std::move(term));
    }
  product.Normalise();
  return product;
}

Dimension Dimension::Substitute(llvm::function_ref<Dimension(TypeId)> of) const {
  Dimension sum;
  for (const DimTerm& term : terms_) {
    Dimension product = Constant(term.coefficient);
    for (TypeId atom : term.atoms) product = product * of(atom);
    sum = sum + product;
  }
  return sum;
}

std::optional<Dimension> Dimension::DividedBy(int64_t divisor) const {
  Dimension quotient = *this;
  for (DimTerm& term : quotient.terms_) {
    if (divisor == 0 || (divisor == -1 && term.coefficient == INT64_MIN) || term.coefficient % divisor != 0)
      return std::nullopt;
    term.coefficient /= divisor;
  }
  return quotient;
}

Dimension Dimension::WithoutCommonFactors(llvm::function_ref<bool(TypeId)> is_factor) const {
  Dimension rest = *this;
  if (terms_.empty()) return rest;
  for (TypeId atom : terms_[0].atoms) {
    if (!is_factor(atom)) continue;
    auto has = [&](const DimTerm& term) { return std::find(term.atoms.begin(), term.atoms.end(), atom) != term.atoms.end(); };
    if (!std::all_of(rest.terms_.begin(), rest.terms_.end(), has)) continue;
    for (DimTerm& term : rest.terms_) term.atoms.erase(std::find(term.atoms.begin(), term.atoms.end(), atom));
  }
  rest.Normalise();
  return rest;
}

bool Dimension::IsCompound() const {
  return terms_.size() > 1 || (terms_.size() == 1 && (terms_[0].coefficient < 0 || terms_[0].atoms.size() + (terms_[0].coefficient != 1) > 1));
}

std::string Dimension::Print(llvm::function_ref<std::string(TypeId)> print) const {
  if (terms_.empty()) return "0";
  std::string out;
  std::vector<DimTerm> terms = terms_;  // `5 - n`, not `-n + 5`
  std::stable_partition(terms.begin(), terms.end(), [](const DimTerm& term) { return term.coefficient > 0; });
  for (const DimTerm& term : terms) {
    bool negative = term.coefficient < 0;
    if (!out.empty()) out += negative ? " - " : " + ";
    else if (negative) out += "-";
    std::string size = std::to_string(term.coefficient);
    if (negative) size.erase(0, 1);
    bool number = term.atoms.empty() || size != "1";
    if (number) out += size;
    for (size_t i = 0; i < term.atoms.size(); ++i) {
      if (number || i > 0) out += " * ";
      out += print(term.atoms[i]);
    }
  }
  return out;
}

std::vector<int64_t> Dimension::Key() const {
  std::vector<int64_t> key;
  for (const DimTerm& term : terms_) {
    key.push_back(static_cast<int64_t>(term.atoms.size()));
    key.push_back(term.coefficient);
    for (TypeId atom : term.atoms) key.push_back(atom.index);
  }
  return key;
}

}  // namespace df
