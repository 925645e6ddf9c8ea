// See strictness.h.
#include "lower/strictness.h"

namespace df::mono {
namespace {

// The variables that are surely evaluated; `all` if there is no value at all.
struct Demand {
  bool all = false;
  llvm::DenseSet<uint32_t> vars;

  bool Has(VarId var) const { return all || vars.contains(var.index); }
  // Both happen. The smaller set moves into the larger one.
  void And(Demand other) {
    all |= other.all;
    if (vars.size() < other.vars.size()) std::swap(vars, other.vars);
    for (uint32_t var : other.vars) vars.insert(var);
  }
  // One of both happens. What has no value says nothing.
  void Or(Demand other) {
    if (other.all) return;
    if (all) {
      *this = std::move(other);
      return;
    }
    if (vars.size() > other.vars.size()) std::swap(vars, other.vars);
    llvm::SmallVector<uint32_t> gone;
    for (uint32_t var : vars)
      if (!other.vars.contains(var)) gone.push_back(var);
    for (uint32_t var : gone) vars.erase(var);
  }
};

class Analysis {
 public:
  explicit Analysis(const Program& program) : p_(const_cast<Program&>(program)) {}

  Strictness Run() {
    for (const Function& function : p_.functions) {
      out_.params.emplace_back(function.params.size(), true);
      out_.fails.push_back(true);
    }
    std::vector<std::vector<FunId>> groups = CallGroups(p_);
    for (const std::vector<FunId>& group : groups) {
      // Each round only takes away; a group settles after as many rounds as it has parameters, at worst.
      for (bool changed = true; changed;) {
        changed = false;
        for (FunId fun : group) changed |= Update(fun);
      }
    }
    recording_ = true;
    for (const std::vector<FunId>& group : groups)
      for (FunId fun : group) Visit(p_.functions[fun].body);
    return std::move(out_);
  }

 private:
  bool Update(FunId fun) {
    const Function& function = p_.functions[fun];
    if (!function.body) return false;
    Demand demand = Visit(function.body);
    bool changed = false;
    for (size_t i = 0; i < function.params.size(); ++i) {
      if (!out_.params[fun.index][i] || demand.Has(function.params[i])) continue;
      out_.params[fun.index][i] = false;
      changed = true;
    }
    if (out_.fails[fun.index] && !demand.all) {
      out_.fails[fun.index] = false;
      changed = true;
    }
    return changed;
  }

  Demand Visit(const Expr* expr) {
    Demand demand;
    switch (expr->kind) {
      case Kind::Var: demand.vars.insert(expr->var.index); return demand;
      case Kind::Const: return demand;
      case Kind::Lambda: return demand;  // none is left
      case Kind::Fun:
        demand.all = p_.functions[expr->fun].params.empty() && out_.fails[expr->fun.index];
        return demand;
      case Kind::Op:
        for (const Expr* arg : expr->args) demand.And(Visit(arg));
        if (expr->op == ir::Op::Fail) demand.all = true;
        return demand;
      case Kind::Con:
        for (size_t i = 0; i < expr->args.size(); ++i) {
          Demand arg = Visit(expr->args[i]);
          if (p_.core.constructors[expr->con].fields[i].strict) demand.And(std::move(arg));
        }
        return demand;
      case Kind::App: {
        FunId fun = expr->head->fun;
        for (size_t i = 0; i < expr->args.size(); ++i) {
          Demand arg = Visit(expr->args[i]);
          if (i < out_.params[fun.index].size() && out_.params[fun.index][i]) demand.And(std::move(arg));
        }
        demand.all |= out_.fails[fun.index];
        return demand;
      }
      case Kind::Let: return VisitLet(expr);
      case Kind::Case: return VisitCase(expr);
      case Kind::Diff: return VisitDiff(expr);
    }
    return demand;
  }

  // It gives the value of what it differentiates, so it needs what that needs. The value of the binding is needed if its
  // variable is; what the derivative is multiplied with says nothing here.
  Demand VisitDiff(const Expr* expr) {
    Demand demand = Visit(expr->head);
    for (const Expr* arg : expr->args) Visit(arg);
    for (const Binding& binding : expr->bindings) {
      Demand value = Visit(binding.value);
      if (demand.vars.contains(binding.var.index)) {
        if (recording_) out_.strict_lets.insert(binding.var.index);
        demand.And(std::move(value));
      }
      demand.vars.erase(binding.var.index);
    }
    return demand;
  }

  Demand VisitLet(const Expr* expr) {
    Demand demand = Visit(expr->head);
    std::vector<Demand> values;
    for (const Binding& binding : expr->bindings) values.push_back(Visit(binding.value));
    std::vector<bool> done(values.size());
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < values.size(); ++i) {
        if (done[i] || !demand.Has(expr->bindings[i].var)) continue;
        done[i] = true;
        again = expr->recursive;
        // With `all` the body fails by itself: the value may be computed, but nothing says that it is.
        if (recording_ && !expr->recursive && demand.vars.contains(expr->bindings[i].var.index))
          out_.strict_lets.insert(expr->bindings[i].var.index);
        demand.And(std::move(values[i]));
      }
    }
    for (const Binding& binding : expr->bindings) demand.vars.erase(binding.var.index);
    return demand;
  }

  Demand VisitCase(const Expr* expr) {
    Demand demand = Visit(expr->head);
    Demand branches;
    for (size_t i = 0; i < expr->alts.size(); ++i) {
      const Alt& alt = expr->alts[i];
      Demand body = Visit(alt.body);
      if (recording_ && expr->alts.size() == 1 && !body.all) {
        bool implied = expr->head->kind == Kind::Var && body.Has(expr->head->var);
        if (expr->var.valid()) implied |= body.Has(expr->var);
        for (VarId var : alt.vars) implied |= body.Has(var);
        if (implied) out_.implied.insert(expr);
      }
      for (VarId var : alt.vars) body.vars.erase(var.index);
      if (expr->var.valid()) body.vars.erase(expr->var.index);
      if (i == 0) branches = std::move(body);
      else branches.Or(std::move(body));
    }
    demand.And(std::move(branches));
    return demand;
  }

  Program& p_;
  Strictness out_;
  bool recording_ = false;
};

}  // namespace

Strictness AnalyseStrictness(const Program& program) { return Analysis(program).Run(); }

}  // namespace df::mono
