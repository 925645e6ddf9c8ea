// See strictness.h.
#include "lang/budget.h"
#include "lower/mono/strictness.h"

namespace df::mono {
namespace {

// The variables that are surely evaluated; `all` if there is no value at all. Of a variable whose value has only one
// constructor its fields stand there as variables do.
struct Demand {
  bool all = false;
  llvm::DenseSet<uint32_t> vars;

  bool Has(VarId var) const { return all || vars.contains(var.index); }
  static uint32_t FieldOf(VarId var, size_t i) { return 1u << 31 | var.index << 3 | static_cast<uint32_t>(i); }
  static_assert(kNeededFields == 8);
  static bool HasFields(VarId var) { return var.valid() && var.index < 1u << 27; }
  void AddFields(VarId var, uint32_t fields) {
    for (size_t i = 0; i < kNeededFields && HasFields(var); ++i)
      if (fields >> i & 1) vars.insert(FieldOf(var, i));
  }
  // Removes a variable that is bound here; its fields that are needed if it is itself.
  uint32_t Take(VarId var) {
    if (!vars.erase(var.index)) return 0;
    uint32_t fields = 0;
    for (size_t i = 0; i < kNeededFields && HasFields(var); ++i)
      if (vars.erase(FieldOf(var, i))) fields |= 1u << i;
    return all ? 0 : fields;
  }
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
      for (FunId fun : group) Visit(p_.functions[fun].body, p_.functions[fun].needed);
    return std::move(out_);
  }

 private:
  bool Update(FunId fun) {
    const Function& function = p_.functions[fun];
    if (!function.body) return false;
    Demand demand = Visit(function.body, function.needed);
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

  // `needed`: the fields of its value that are needed if that is.
  Demand Visit(const Expr* expr, uint32_t needed = 0) {
    CheckBudget();
    Demand demand;
    switch (expr->kind) {
      case Kind::Var:
        demand.vars.insert(expr->var.index);
        demand.AddFields(expr->var, needed);
        return demand;
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
        if (!p_.IsOnlyConstructor(expr->con)) needed = 0;
        if (recording_ && needed) out_.needed[expr] = needed;
        for (size_t i = 0; i < expr->args.size(); ++i) {
          Demand arg = Visit(expr->args[i]);
          bool is_needed = i < kNeededFields && (needed >> i & 1);
          if (is_needed || p_.core.constructors[expr->con].fields[i].strict) demand.And(std::move(arg));
        }
        return demand;
      case Kind::App: {
        FunId fun = expr->head->fun;
        if (recording_ && needed) out_.needed[expr] = needed;
        for (size_t i = 0; i < expr->args.size(); ++i) {
          Demand arg = Visit(expr->args[i]);
          if (i < out_.params[fun.index].size() && out_.params[fun.index][i]) demand.And(std::move(arg));
        }
        demand.all |= out_.fails[fun.index];
        return demand;
      }
      case Kind::Let: return VisitLet(expr, needed);
      case Kind::Case: return VisitCase(expr, needed);
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

  Demand VisitLet(const Expr* expr, uint32_t needed) {
    Demand demand = Visit(expr->head, needed);
    if (!expr->recursive) {
      // With `all` the body fails by itself: the values may be computed, but nothing says that they are.
      Demand values;
      for (const Binding& binding : expr->bindings) {
        bool is_needed = demand.Has(binding.var);
        if (recording_ && demand.vars.contains(binding.var.index)) out_.strict_lets.insert(binding.var.index);
        Demand value = Visit(binding.value, demand.Take(binding.var));
        if (is_needed) values.And(std::move(value));
      }
      demand.And(std::move(values));
      return demand;
    }
    std::vector<Demand> values;
    for (const Binding& binding : expr->bindings) values.push_back(Visit(binding.value));
    std::vector<bool> done(values.size());
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < values.size(); ++i) {
        if (done[i] || !demand.Has(expr->bindings[i].var)) continue;
        done[i] = again = true;
        demand.And(std::move(values[i]));
      }
    }
    for (const Binding& binding : expr->bindings) demand.Take(binding.var);
    return demand;
  }

  Demand VisitCase(const Expr* expr, uint32_t needed) {
    Demand branches;
    uint32_t fields = 0;  // of the scrutinee
    for (size_t i = 0; i < expr->alts.size(); ++i) {
      const Alt& alt = expr->alts[i];
      Demand body = Visit(alt.body, needed);
      if (recording_ && expr->alts.size() == 1 && !body.all) {
        bool implied = expr->head->kind == Kind::Var && body.Has(expr->head->var);
        if (expr->var.valid()) implied |= body.Has(expr->var);
        for (VarId var : alt.vars) implied |= body.Has(var);
        if (implied) out_.implied.insert(expr);
      }
      bool only = !alt.vars.empty() && p_.IsOnlyConstructor(alt.con) && !body.all;
      for (size_t k = 0; k < alt.vars.size(); ++k) {
        if (only && k < kNeededFields && body.vars.contains(alt.vars[k].index)) fields |= 1u << k;
        body.Take(alt.vars[k]);
      }
      if (i == 0) branches = std::move(body);
      else branches.Or(std::move(body));
    }
    if (expr->var.valid()) fields |= branches.Take(expr->var);
    Demand demand = Visit(expr->head, fields);
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
