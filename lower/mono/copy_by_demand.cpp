// Copies of functions for what their callers surely need of their results.
//
//   sizes (Leaf x)   = (x, 1)
//   sizes (Node l r) = let (a, n) = sizes l; (b, m) = sizes r in (a + b, f n + m)
//   main = snd (sizes t)
//
// `f n + m` may not be needed, as far as `sizes` can know, so each call delays it. But who asks for a part is known at each
// call: `main` wants the second. The copy `sizes@2` computes that one at once; so what its own calls give is needed, in it and
// in further copies, until each call has its copy. The first parts have no user in these, and prune.h takes them away.
//
// strictness.h finds what a call's result is needed for, and so what is needed in a copy; this pass only makes copies,
// until nothing changes. A copy is made where some end of the function would delay what is needed.
#include "lang/budget.h"
#include "lower/mono/strictness.h"

namespace df::mono {
namespace {

constexpr size_t kMaxCopies = 4;     // of one function
constexpr uint32_t kMaxSize = 4000;  // of one that is copied
constexpr int kMaxRounds = 16;

class Copies {
 public:
  explicit Copies(Program& program) : p_(program), delays_(program.functions.size()), made_(program.functions.size()) {
    for (uint32_t i = 0; i < p_.functions.size(); ++i) original_.push_back(FunId(i));
  }

  void Run() {
    if (!FindDelays()) return;
    for (int round = 0; round < kMaxRounds; ++round) {
      Strictness strictness = AnalyseStrictness(p_);
      bool changed = false;
      for (const std::vector<FunId>& group : CallGroups(p_))
        for (FunId fun : group) changed |= Redirect(p_.functions[fun].body, strictness);
      if (!changed) break;
    }
    DropUnreachable(p_);
  }

 private:
  // Of each function the fields that some end of it would have to delay: whether there is any.
  bool FindDelays() {
    bool any = false;
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t i = 0; i < p_.functions.size(); ++i) {
        const Function& function = p_.functions[FunId(i)];
        if (!function.body) continue;
        uint32_t before = delays_[i];
        delays_[i] |= DelaysAt(function.body);
        changed |= delays_[i] != before;
        any |= delays_[i] != 0;
      }
    }
    return any;
  }

  // At the ends of an expression.
  uint32_t DelaysAt(const Expr* expr) {
    switch (expr->kind) {
      case Kind::App: return delays_[expr->head->fun.index];  // there are no copies yet
      case Kind::Let:
        for (const Binding& binding : expr->bindings)
          if (Works(binding.value)) working_.insert(binding.var.index);
        return DelaysAt(expr->head);
      case Kind::Case: {
        uint32_t fields = 0;
        for (const Alt& alt : expr->alts) fields |= DelaysAt(alt.body);
        return fields;
      }
      case Kind::Con: {
        if (!p_.IsOnlyConstructor(expr->con)) return 0;
        uint32_t fields = 0;
        for (size_t i = 0; i < expr->args.size() && i < kNeededFields; ++i)
          if (!p_.core.constructors[expr->con].fields[i].strict && Works(expr->args[i])) fields |= 1u << i;
        return fields;
      }
      default: return 0;
    }
  }

  // Whether computing it takes a call, or an op that is not known to be short.
  bool Works(Expr* expr) {
    if (expr->kind == Kind::Var) return working_.contains(expr->var.index);
    if (expr->kind == Kind::App || expr->kind == Kind::Diff) return true;
    if (expr->kind == Kind::Op && p_.BuiltinOf(expr->type) == df::Builtin::Tensor) return true;
    if (expr->kind == Kind::Con) return false;  // built at once, whatever is in it
    bool works = false;
    ForEachChild(expr, [&](Expr* child) { works |= Works(child); });
    return works;
  }

  // Gives each call the copy that is for what is needed of it.
  bool Redirect(Expr* expr, const Strictness& strictness) {
    CheckBudget();
    bool changed = false;
    if (expr->kind == Kind::App) {
      FunId wanted = CopyFor(original_[expr->head->fun.index], strictness.needed.lookup(expr));
      changed = wanted != expr->head->fun;
      expr->head->fun = wanted;
    }
    ForEachChild(expr, [&](Expr* child) { changed |= Redirect(child, strictness); });
    return changed;
  }

  FunId CopyFor(FunId fun, uint32_t needed) {
    needed &= delays_[fun.index];
    if (needed == 0 || fun == p_.main) return fun;
    std::vector<FunId>& copies = made_[fun.index];
    for (FunId copy : copies)
      if (p_.functions[copy].needed == needed) return copy;
    if (copies.size() == kMaxCopies || SizeOf(p_.functions[fun].body, kMaxSize) == kMaxSize) return fun;
    Function copy = p_.functions[fun];
    std::string fields;
    for (size_t i = 0; i < kNeededFields; ++i)
      if (needed >> i & 1) fields += std::to_string(i + 1);
    copy.name = p_.UniqueName(copy.name + "@" + fields);
    copy.needed = needed;
    copy.params.clear();
    copy.body = p_.CloneBody(p_.functions[fun], copy.params, {});
    copies.push_back(p_.functions.Add(std::move(copy)));
    original_.push_back(fun);
    return copies.back();
  }

  Program& p_;
  std::vector<uint32_t> delays_;            // by function of the source
  std::vector<std::vector<FunId>> made_;    // by function of the source
  std::vector<FunId> original_;             // by function
  llvm::DenseSet<uint32_t> working_;        // let-bound variables whose values take work
};

}  // namespace

void CopyByDemand(Program& program) { Copies(program).Run(); }

}  // namespace df::mono
