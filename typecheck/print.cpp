// Schemes as GHCi prints them.
#include "typecheck/checker.h"

namespace df::check {

std::string PrintScheme(const core::Program& program, const core::Scheme& scheme) {
  Types& types = const_cast<Types&>(program.types);  // naming makes new variables, no more
  llvm::SmallVector<TyVarId> vars;
  types.FreeVars(scheme.type, vars);
  llvm::DenseSet<uint32_t> taken;
  for (TyVarId var : vars)
    if (types.vars[var].span.valid()) taken.insert(types.vars[var].name.index);
  llvm::SmallVector<TypeId> names;
  uint32_t next = 0;
  for (TyVarId var : vars) {
    Symbol name = types.vars[var].name;
    if (!types.vars[var].span.valid()) {
      do {
        std::string text(1, static_cast<char>('a' + next % 26));
        if (next >= 26) text += std::to_string(next / 26);
        name = Intern(text);
        ++next;
      } while (!taken.insert(name.index).second);
    }
    names.push_back(types.Var(types.NewVar(name)));
  }
  std::vector<std::string> preds;
  for (const core::Pred& pred : scheme.preds) {
    TypeId type = types.Substitute(pred.type, vars, names);
    std::string arg = types.Print(type);
    if (types.Kind(type) == TypeKind::App && arg[0] != '[' && arg[0] != '(') arg = "(" + arg + ")";
    preds.push_back(fmt::format("{} {}", Text(program.classes[pred.cls].name), arg));
  }
  std::string out;
  if (preds.size() == 1) out = preds[0] + " => ";
  if (preds.size() > 1) out = fmt::format("({}) => ", fmt::join(preds, ", "));
  return out + types.Print(types.Substitute(scheme.type, vars, names));
}

}  // namespace df::check
