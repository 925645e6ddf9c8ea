// lower/mono/simplify.h
//
// Rewrites one function of a mono::Program: applied lambdas become lets, variables that stand for variables, constants
// or partial applications are replaced, small functions are inlined, matches on known constructors are taken, code that
// nothing uses goes. Meaning, errors and places stay: what is inlined remembers where (ir::Pos::inlined_at).
// Without `optimize` only what first order needs: lambdas and functions as values. Internal to this folder.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "lower/mono/mono.h"

namespace df::mono {

class Simplifier {
 public:
  Simplifier(Program& program, const LowerOptions& options)
      : p_(program), options_(options), optimize_(options.optimize) {}
  // `recursive` says of each function whether it can reach itself: those are never inlined.
  void Run(FunId fun, const std::vector<bool>& recursive);

  // The functions that are mentioned in one place alone; what is there by default says nothing.
  void SetCalledOnce(const llvm::DenseSet<uint32_t>* functions) { called_once_ = functions; }

  static constexpr uint32_t kSmall = 12;        // nodes of a body that is inlined anywhere
  static constexpr uint32_t kSmallHigher = 60;  // the same if it takes or is given functions
  static constexpr uint32_t kSmallTensor = 40;  // the same if it takes or gives a tensor: ops that stand together are batched together
  static constexpr uint32_t kOnlyCall = 120;    // the same if there is no other call of it
  static constexpr uint32_t kSmallTest = 40;    // the same if a match on its result, which has no fields, waits for it
  static constexpr uint32_t kSmallCase = 16;    // of alternatives that may be copied into those of an inner case
  static constexpr int kRounds = 100;
  static constexpr uint32_t kGrowth = 20000;    // nodes that inlining may add to one function

 private:
  struct Uses {
    uint32_t count = 0;
    uint32_t bound_at = 0;    // number of enclosing lambdas where it is bound
    bool in_lambda = false;   // some use is inside of a further lambda
  };
  void CountUses(const Expr* expr, uint32_t lambdas);
  Uses UsesOf(VarId var) const;

  Expr* Simplify(Expr* expr);
  Expr* SimplifyVar(Expr* expr, bool called);
  void SetCallPlace(Expr* value, ir::PosId pos);
  Expr* SimplifyLet(Expr* expr);
  using Body = llvm::function_ref<Expr*()>;
  Expr* Bind(VarId var, Expr* value, ir::PosId pos, Body body);
  Expr* BindAll(llvm::ArrayRef<Binding> bindings, ir::PosId pos, Body body);
  Expr* SimplifyCase(Expr* expr);
  Expr* CaseOf(Expr* scrutinee, Expr* expr);
  Expr* TakeAlternative(Expr* scrutinee, Expr* known, Expr* expr);
  bool IsCaseOfKnown(const Expr* inner, const Expr* expr) const;
  Expr* CaseOfCase(Expr* inner, Expr* expr);
  Expr* Apply(Expr* head, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos);
  Expr* ApplyToLiteral(FunId fun, llvm::ArrayRef<Expr*> args, ir::PosId pos);
  Expr* Beta(llvm::ArrayRef<VarId> params, Expr* body, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos);
  Expr* SimplifyOp(Expr* expr);    // simplify_op.cpp
  Expr* FoldBinary(Expr* expr);
  Expr* FoldConstants(Expr* expr);
  Expr* FoldCaseOfConstants(Expr* expr);
  Expr* CopyAtom(const Expr* atom);
  Expr* Inline(FunId fun, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos);
  bool ShouldInline(FunId fun, llvm::ArrayRef<Expr*> args) const;
  bool IsSmallTest(const Expr* scrutinee) const;
  bool IsKnown(const Expr* expr) const;
  bool MovesValues(const Expr* expr) const;
  const Alt* Choose(const Expr* known, const Expr* expr) const;

  Program& p_;
  const LowerOptions& options_;
  bool optimize_;
  const llvm::DenseSet<uint32_t>* called_once_ = nullptr;
  const std::vector<bool>* recursive_ = nullptr;
  FunId fun_;
  bool changed_ = false;
  uint32_t growth_ = 0;
  llvm::DenseMap<uint32_t, Uses> uses_;
  llvm::DenseMap<uint32_t, Expr*> atoms_;   // variable -> what it stands for, copied at each use
  llvm::DenseMap<uint32_t, Expr*> once_;    // variable -> its value, moved to its only use
  llvm::DenseMap<uint32_t, Expr*> known_;   // variable -> the constructor on atoms that it is
  llvm::DenseMap<uint32_t, Expr*> lambdas_; // variable -> its small lambda
  llvm::DenseSet<uint32_t> parts_;          // variables that were made for fields of constructors, in any round
};

}  // namespace df::mono
