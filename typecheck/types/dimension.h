// typecheck/types/dimension.h
//
// Tensor dimensions in types: polynomials with whole coefficients over type variables, in a normal form, so that equal
// dimensions are equal however they were written: m + n is n + m, 2 * (m + 1) is 2 * m + 2. Types hash-conses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/id.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace df {

using TypeId = Id<struct TypeTag>;

// coefficient * atom * atom * ...; an atom is a type variable or meta, repeated for its powers; sorted by index.
struct DimTerm {
  int64_t coefficient;
  std::vector<TypeId> atoms;
  friend bool operator==(const DimTerm&, const DimTerm&) = default;
};

// A sum of terms with different atoms: of more atoms first, then by the atoms; the constant, if it is not 0, last. No
// coefficient is 0, so that the dimension 0 has no term.
class Dimension {
 public:
  Dimension() = default;
  static Dimension Constant(int64_t value);
  static Dimension Atom(TypeId atom);

  const std::vector<DimTerm>& terms() const { return terms_; }
  bool IsZero() const { return terms_.empty(); }
  std::optional<int64_t> Literal() const;  // if it is a number
  std::optional<TypeId> SingleAtom() const;  // if it is just that
  bool IsCompound() const;  // a sum, a product or a negative number: in parentheses where an argument stands

  friend Dimension operator+(const Dimension& a, const Dimension& b);
  friend Dimension operator-(const Dimension& a, const Dimension& b);
  friend Dimension operator*(const Dimension& a, const Dimension& b);
  friend bool operator==(const Dimension&, const Dimension&) = default;

  // Each atom replaced by a dimension, all at once.
  Dimension Substitute(llvm::function_ref<Dimension(TypeId)> of) const;
  // All coefficients divided, if that leaves no rest.
  std::optional<Dimension> DividedBy(int64_t divisor) const;
  // Less the atoms that `is_factor` accepts and all terms have in common: m * n + m is n + 1 times m.
  Dimension WithoutCommonFactors(llvm::function_ref<bool(TypeId)> is_factor) const;
  // "2 * m + n + 1", atoms printed by `print`.
  std::string Print(llvm::function_ref<std::string(TypeId)> print) const;
  // The same dimensions, and no others, have the same key.
  std::vector<int64_t> Key() const;

  // What is larger than this many terms, or has a coefficient beyond 64 bits, becomes the constant kTooLarge.
  static constexpr size_t kMaxTerms = 256;
  static constexpr int64_t kTooLarge = INT64_MAX;

 private:
  void Normalise();
  std::vector<DimTerm> terms_;
};

}  // namespace df
