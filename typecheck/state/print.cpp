// Schemes and names as GHCi prints them.
#include "typecheck/state/print.h"

#include <cctype>

#include "lang/render.h"
#include "llvm/ADT/DenseSet.h"

namespace df::check {

namespace {

// The variables that are applied to something: `t` in `t a -> Int`.
void CollectApplied(const Types& types, TypeId type, llvm::DenseSet<uint32_t>& found) {
  if (types.Kind(type) != TypeKind::App) return;
  if (types.Kind(types.FnOf(type)) == TypeKind::Var) found.insert(types.VarOf(types.FnOf(type)).index);
  CollectApplied(types, types.FnOf(type), found);
  CollectApplied(types, types.ArgOf(type), found);
}

// As the library calls what stands for a type constructor: by the class that it is in.
std::string_view NameOfConstructor(const core::Program& program, const core::Scheme& scheme, TypeId var) {
  std::string_view name = "f";
  for (const core::Pred& pred : scheme.preds) {
    std::string_view cls = Text(program.classes[pred.cls].name);
    if (pred.type != var) continue;
    if (cls == "Foldable" || cls == "Traversable") return "t";
    if (cls.starts_with("Monad")) name = "m";
  }
  return name;
}

}  // namespace

std::string PrintScheme(const core::Program& program, const core::Scheme& scheme) {
  Types& types = const_cast<Types&>(program.types);  // naming makes new variables, no more
  llvm::SmallVector<TyVarId> vars;
  types.FreeVars(scheme.type, vars);
  for (const core::Pred& pred : scheme.preds) types.FreeVars(pred.type, vars);
  llvm::DenseSet<uint32_t> taken;
  for (TyVarId var : vars)
    if (types.vars[var].span.valid()) taken.insert(types.vars[var].name.index);
  llvm::SmallVector<TypeId> names;
  llvm::DenseSet<uint32_t> applied;
  CollectApplied(types, scheme.type, applied);
  uint32_t next = 0;
  for (TyVarId var : vars) {
    Symbol name = types.vars[var].name;
    bool named = types.vars[var].span.valid();
    if (!named && applied.contains(var.index)) {
      const Symbol constructor = Intern(NameOfConstructor(program, scheme, types.Var(var)));
      if (taken.insert(constructor.index).second) name = constructor, named = true;
    }
    if (!named) {
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
    preds.push_back(core::PrintPred(program, pred.cls, type));
  }
  std::string out;
  if (preds.size() == 1) out = preds[0] + " => ";
  if (preds.size() > 1) out = fmt::format("({}) => ", fmt::join(preds, ", "));
  return out + types.Print(types.Substitute(scheme.type, vars, names));
}

std::string PrintName(Symbol name) {
  std::string text(Text(name));
  unsigned char first = text.empty() ? '_' : static_cast<unsigned char>(text[0]);
  bool word = std::isalnum(first) || first == '_' || first == '(' || first == '[' || first >= 0x80;
  return word ? text : "(" + text + ")";
}

core::Scheme SchemeOf(const core::Program& program, core::ConId con) {
  const core::DataCon& row = program.constructors[con];
  Types& types = const_cast<Types&>(program.types);
  core::Scheme scheme;
  scheme.tyvars = types.cons[row.tycon].params;
  llvm::SmallVector<TypeId> params;
  for (TyVarId param : scheme.tyvars) params.push_back(types.Var(param));
  scheme.tyvars.insert(scheme.tyvars.end(), row.exists.begin(), row.exists.end());
  scheme.preds = row.context;
  for (TypeId& param : params)
    for (const auto& [var, type] : row.equations)
      if (param == types.Var(var)) param = type;
  scheme.type = types.Con(row.tycon, params);
  for (size_t i = row.fields.size(); i-- > 0;) scheme.type = types.Fun(row.fields[i].type, scheme.type);
  return scheme;
}

}  // namespace df::check
