// Functions whose recursion nothing but an error ends. See runaway.h.
#include "lower/mono/runaway.h"

namespace df::mono {
namespace {

class Runaways {
 public:
  Runaways(const Program& program, const Strictness& strictness) : p_(program), strictness_(strictness) {}

  std::vector<bool> Run(const std::vector<std::vector<FunId>>& groups) {
    std::vector<bool> found(p_.functions.size());
    group_of_.assign(p_.functions.size(), UINT32_MAX);
    for (uint32_t i = 0; i < groups.size(); ++i)
      for (FunId fun : groups[i]) group_of_[fun.index] = i;
    for (uint32_t i = 0; i < groups.size(); ++i)
      for (FunId fun : groups[i])
        if (p_.functions[fun].body) found[fun.index] = Calls(p_.functions[fun].body, i);
    return found;
  }

 private:
  // Whether what surely runs when `expr` is evaluated calls a function of the group.
  bool Calls(const Expr* expr, uint32_t group) const {
    auto calls = [&](const Expr* child) { return Calls(child, group); };
    switch (expr->kind) {
      case Kind::App: {
        FunId fun = expr->head->fun;
        if (group_of_[fun.index] == group) return true;
        const std::vector<bool>& strict = strictness_.params[fun.index];
        for (size_t i = 0; i < std::min(expr->args.size(), strict.size()); ++i)
          if (strict[i] && calls(expr->args[i])) return true;
        return false;
      }
      case Kind::Op: return llvm::any_of(expr->args, calls);
      case Kind::Con:
        for (size_t i = 0; i < expr->args.size(); ++i)
          if (p_.core.constructors[expr->con].fields[i].strict && calls(expr->args[i])) return true;
        return false;
      case Kind::Let:
        for (const Binding& binding : expr->bindings)
          if (strictness_.strict_lets.contains(binding.var.index) && calls(binding.value)) return true;
        return calls(expr->head);
      case Kind::Case: return calls(expr->head) || (expr->alts.size() == 1 && calls(expr->alts[0].body));
      default: return false;
    }
  }

  const Program& p_;
  const Strictness& strictness_;
  std::vector<uint32_t> group_of_;
};

}  // namespace

std::vector<bool> FindRunaways(const Program& program, const std::vector<std::vector<FunId>>& groups, const Strictness& strictness) {
  return Runaways(program, strictness).Run(groups);
}

}  // namespace df::mono
