// typecheck/unify.h
//
// Unification variables (metas) with levels, and unification.
//
// A meta of level n belongs to the n-th enclosing binding group: generalisation takes those whose level is
// deeper than the group's surroundings (Remy). Rigid variables have levels too; one that would get into a
// meta of a lesser level escapes its scope. Types are hash-consed, metas are solved by a side table, so a
// type must be pruned before it is looked at, and zonked before it is kept.
#pragma once

#include "typecheck/type.h"

namespace df::check {

enum class Clash : uint8_t { None, Mismatch, Infinite, Escape };

// The innermost pair that did not fit. Escape: `left` is the rigid variable.
struct UnifyResult {
  Clash clash = Clash::None;
  TypeId left, right;
  bool ok() const { return clash == Clash::None; }
};

class Unifier {
 public:
  explicit Unifier(Types& types) : types_(&types) {}

  uint32_t level = 0;

  TypeId Fresh();                       // a new meta of the current level
  TypeId Prune(TypeId type) const;      // follows solutions at the root, and shortens the way
  TypeId Zonk(TypeId type);             // replaces solved metas everywhere
  UnifyResult Unify(TypeId a, TypeId b);
  bool IsFun(TypeId type, TypeId* from, TypeId* to) const;  // through solutions
  // The head of an application through solutions; `args` in order.
  TypeId Head(TypeId type, llvm::SmallVectorImpl<TypeId>* args = nullptr) const;

  uint32_t LevelOf(MetaId meta) const { return metas_[meta.index].level; }
  void Solve(MetaId meta, TypeId type) {
    metas_[meta.index].solution = type;
    ++epoch_;
  }
  void SetRigid(TyVarId var, uint32_t at_level);
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
  };
  UnifyResult Bind(MetaId meta, TypeId type);
  Clash Adjust(MetaId meta, TypeId type, uint32_t at_level, TypeId* culprit);
  bool Visit(TypeId type);
  void Collect(TypeId type, llvm::SmallVectorImpl<MetaId>& out);

  Types* types_;
  mutable std::vector<Row> metas_;
  std::vector<uint32_t> rigid_level_;  // by TyVarId
  std::vector<uint32_t> stamps_;       // by TypeId: types seen in this walk, for shared parts
  uint32_t stamp_ = 0;
  std::vector<std::pair<uint32_t, TypeId>> zonked_;  // by TypeId: the result and the epoch it holds for
  uint32_t epoch_ = 1;                 // counts solutions
};

}  // namespace df::check
