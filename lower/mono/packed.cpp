// Types whose constructors hide types, or are of some types only: `data Shape = forall a. Area a => Shape a`, GADTs.
//
// The whole program is there, so it is known what is hidden: at each ground type, `Shape` or `Expr Int`, such a type is a data type of its
// own with a constructor for each way in which the program builds its values, `Shape@Circle` and `Shape@Square`. A constructor whose
// equations do not hold at the type is not among them. The specialiser adds constructors as it meets them (Specialiser::Construction).
#include "lower/mono/mono.h"

namespace df::mono {
namespace {

// Whether the type is the pattern with its variables replaced; `bound` says by what.
bool Bind(const df::Types& types, df::TypeId pattern, df::TypeId type, llvm::ArrayRef<TyVarId> vars, llvm::MutableArrayRef<df::TypeId> bound) {
  if (types.Kind(pattern) == TypeKind::Var)
    for (size_t i = 0; i < vars.size(); ++i) {
      if (vars[i] != types.VarOf(pattern)) continue;
      if (bound[i].valid()) return bound[i] == type;
      bound[i] = type;
      return true;
    }
  if (types.Kind(pattern) != TypeKind::App) return pattern == type;
  return types.Kind(type) == TypeKind::App && Bind(types, types.FnOf(pattern), types.FnOf(type), vars, bound) &&
         Bind(types, types.ArgOf(pattern), types.ArgOf(type), vars, bound);
}

}  // namespace

bool Program::Packs(df::TypeId type) const {
  llvm::SmallVector<df::TypeId> args;
  TyConId head = core.types.Head(type, &args);
  return head.valid() && core.types.cons[head].packs && args.size() == core.types.cons[head].params.size();
}

TyConId Program::NewRow(df::TypeId type) {
  TyCon row;
  row.name = df::Intern(core.types.Print(type));
  row.tangent = TangentForm::Open;
  return core.types.cons.Add(std::move(row));
}

uint32_t Program::PackedIndex(df::TypeId type) {
  auto [it, fresh] = packed_of_.try_emplace(type.index, static_cast<uint32_t>(packed.size()));
  const uint32_t index = it->second;
  if (!fresh) return index;
  packed.push_back({NewRow(type), {}});
  llvm::SmallVector<df::TypeId> args;
  const TyConId head = core.types.Head(type, &args);
  for (core::ConId con : std::vector<core::ConId>(core.types.cons[head].constructors)) {
    const core::DataCon data = core.constructors[con];
    std::vector<df::TypeId> hidden(data.exists.size());
    bool holds = true;
    for (const auto& [param, wanted] : data.equations) {
      const std::vector<TyVarId>& params = core.types.cons[head].params;
      const df::TypeId has = args[static_cast<size_t>(llvm::find(params, param) - params.begin())];
      holds = holds && Bind(core.types, core.types.Substitute(wanted, params, args), has, data.exists, hidden);
    }
    if (holds && llvm::all_of(hidden, [](df::TypeId of) { return of.valid(); })) AddVariant(type, con, hidden);
  }
  return index;
}

core::ConId Program::AddVariant(df::TypeId type, core::ConId con, const std::vector<df::TypeId>& hidden, bool* fresh) {
  const uint32_t index = PackedIndex(type);
  for (const PackedType::Variant& variant : packed[index].variants)
    if (variant.of == con && variant.hidden == hidden) return variant.made;
  if (fresh) *fresh = true;
  llvm::SmallVector<df::TypeId> types;
  core::DataCon made = core.constructors[con];
  core.types.Head(type, &types);
  std::vector<TyVarId> vars = core.types.cons[made.tycon].params;
  vars.insert(vars.end(), made.exists.begin(), made.exists.end());
  types.append(hidden.begin(), hidden.end());
  for (core::Field& field : made.fields) field.type = core.types.Substitute(field.type, vars, types);
  std::string name(Text(made.name));
  for (size_t i = 0; i < hidden.size(); ++i) name += (i ? "," : "@") + core.types.Print(hidden[i]);
  made.name = df::Intern(name);
  made.tycon = packed[index].tycon;
  made.index = static_cast<uint32_t>(packed[index].variants.size());
  made.exists.clear();
  made.context.clear();
  made.equations.clear();
  const core::ConId id = core.constructors.Add(std::move(made));
  core.types.cons[packed[index].tycon].constructors.push_back(id);
  packed[index].variants.push_back({con, id, hidden});
  return id;
}

}  // namespace df::mono
