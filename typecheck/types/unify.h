// typecheck/types/unify.h
//
// Unification variables (metas) with levels, and unification.
//
// A meta of level n belongs to the n-th enclosing binding group: generalisation takes those whose level is
// deeper than the group's surroundings (Remy). Rigid variables have levels too; one that would get into a
// meta of a lesser level escapes its scope. Types are hash-consed, metas are solved by a side table, so a
// type must be pruned before it is looked at, and zonked before it is kept.
#pragma once

#include "typecheck/types/type.h"

namespace df::check {

enum class Clash : uint8_t { None, Mismatch, Infinite, Escape };

// For messages: where a variable got its type, as an index into the checker's places; kNoPlace if nobody said.
using PlaceIndex = uint32_t;
constexpr PlaceIndex kNoPlace = UINT32_MAX;

// The innermost pair that did not fit. Escape: `left` is the rigid variable.
// Of a clash of dimensions, `left_from` and `right_from` are the metas that these stood for, if any: where they got them.
struct UnifyResult {
  Clash clash = Clash::None;
  TypeId left, right;
  TypeId left_from = {}, right_from = {};
  bool ok() const { return clash == Clash::None; }
};

class Unifier {
 public:
  explicit Unifier(Types& types) : types_(&types) {}

  uint32_t level = 0;
  // What is solved from now on is solved because of this place.
  PlaceIndex place = kNoPlace;

  // A new meta of the current level; `name`: what a signature of the program's calls the variable that it stands for.
  TypeId Fresh(Symbol name = Symbol());
  Symbol NameOf(MetaId meta) const { return metas_[meta.index].name; }
  TypeId Prune(TypeId type) const;      // follows solutions at the root, and shortens the way
  TypeId Zonk(TypeId type);             // replaces solved metas everywhere
  UnifyResult Unify(TypeId a, TypeId b);
  // Equations between dimensions that have no single solution yet, such as 6 = m * n for two unknowns. RetryDims looks at
  // them again; false if one cannot hold, which it gives in `clash` and drops.
  struct DimEquation {
    TypeId left, right;
    Span span;  // of the expression that needs it
  };
  std::vector<DimEquation> open_dims;
  Span span;  // what is left open from now on is needed by this expression
  bool RetryDims(UnifyResult* clash, Span* where);
  // Equations with a `Tangent t` of which t is not known yet: they hold until it is (checker: RetryTangents).
  std::vector<std::pair<TypeId, TypeId>> deferred;
  // Equations with a type of a family that nothing computes yet: they are constraints like others (checker: Postponed).
  std::vector<std::pair<TypeId, TypeId>> postponed;
  bool IsFun(TypeId type, TypeId* from, TypeId* to) const;  // through solutions
  // The head of an application through solutions; `args` in order.
  TypeId Head(TypeId type, llvm::SmallVectorImpl<TypeId>* args = nullptr) const;

  uint32_t LevelOf(MetaId meta) const { return metas_[meta.index].level; }
  void Solve(MetaId meta, TypeId type) {
    metas_[meta.index].solution = type;
    metas_[meta.index].place = place;
    ++epoch_;
  }
  void SetRigid(TyVarId var, uint32_t at_level);
  // What a match tells of a rigid variable: it is this type until Forget goes back to where AssumedMark stood.
  void Assume(TyVarId var, TypeId type);
  // The same of a type of a family, which nothing computes.
  void AssumeFamily(TypeId family, TypeId type);
  size_t AssumedMark() const { return assumed_trail_.size(); }
  void Forget(size_t mark);
  // The place that gave the meta `type` a type that is no meta; kNoPlace for anything else.
  PlaceIndex PlaceOf(TypeId type) const;
  // A meta that has to be a number, and the place in the source that says so. It survives unification with other
  // metas; what solves such a meta to a type is kept in `numbers_solved` until the checker has looked at it.
  // A literal tells more than an operator that works on numbers.
  void MarkNumber(MetaId meta, Span origin, bool literal);
  Span NumberOrigin(TypeId type) const;  // invalid if the type is no unsolved number
  struct SolvedNumber {
    MetaId meta;
    Span origin;
  };
  llvm::SmallVector<SolvedNumber, 2> numbers_solved;
  // Metas of what did not compile: whatever is or is not known of them is no fault of its own.
  void MarkAny(TypeId type);
  // Of what is wrong and reported: of any type, and nothing more is said of it.
  TypeId FreshAny() {
    TypeId type = Fresh();
    MarkAny(type);
    return type;
  }
  bool IsAny(MetaId meta) const { return metas_[meta.index].any; }
  // Counts solutions: whether the last unification solved anything.
  uint32_t epoch() const { return epoch_; }
  // Takes a solution back, after the clash that it led to has been reported. Only the last one may be taken back.
  void Unsolve(MetaId meta);
  // Unsolved metas, in order of appearance, each once.
  void FreeMetas(TypeId type, llvm::SmallVectorImpl<MetaId>& out);
  // No meta in `type` stays deeper than `at_level`.
  void Lower(TypeId type, uint32_t at_level);
  bool IsApplied(MetaId meta) const { return metas_[meta.index].applied; }
  void MarkApplied(MetaId meta) { metas_[meta.index].applied = true; }

 private:
  struct Row {
    TypeId solution;
    uint32_t level;
    bool applied = false;  // stands for a type constructor
    PlaceIndex place = kNoPlace;
    Span number;       // what makes it a number
    bool literal = false;  // that is a literal
    Symbol name;       // for messages
    bool any = false;  // of what did not compile: it may be anything, and nobody is to ask what
  };
  UnifyResult UnifyDims(TypeId a, TypeId b);  // dimension_unify.cpp
  UnifyResult UnifyFamilies(TypeId a, TypeId b);
  TypeId PruneFamily(TypeId type) const;
  TypeId PruneTangent(TypeId type) const;
  UnifyResult Bind(MetaId meta, TypeId type);
  Clash Adjust(MetaId meta, TypeId type, uint32_t at_level, TypeId* culprit);
  bool Visit(TypeId type);
  void Collect(TypeId type, llvm::SmallVectorImpl<MetaId>& out);

  Types* types_;
  mutable std::vector<Row> metas_;
  std::vector<uint32_t> rigid_level_;  // by TyVarId
  llvm::DenseMap<uint32_t, TypeId> assumed_;  // by TyVarId
  std::vector<std::pair<TypeId, TypeId>> assumed_families_;
  mutable int rewriting_ = 0;  // types of families that are being looked up, one within the other
  std::vector<TyVarId> assumed_trail_;  // an invalid one is the last of the families
  std::vector<uint32_t> stamps_;       // by TypeId: types seen in this walk, for shared parts
  uint32_t stamp_ = 0;
  std::vector<std::pair<uint32_t, TypeId>> zonked_;  // by TypeId: the result and the epoch it holds for
  uint32_t epoch_ = 1;                 // counts solutions
};

}  // namespace df::check
