// Classes with several parameters, and constructors whose types hide or settle something.
#include "llvm/ADT/STLExtras.h"
#include "typecheck/core/core.h"

namespace df::core {
namespace {

// Whether the two may be one type, whatever their variables stand for. A variable that stands twice is not looked at twice.
bool MayBeOne(const Types& types, TypeId a, TypeId b) {
  if (a == b) return true;
  const TypeKind ka = types.Kind(a), kb = types.Kind(b);
  if (ka == TypeKind::App && kb == TypeKind::App)
    return MayBeOne(types, types.FnOf(a), types.FnOf(b)) && MayBeOne(types, types.ArgOf(a), types.ArgOf(b));
  const auto fixed = [](TypeKind kind) { return kind == TypeKind::Con || kind == TypeKind::App; };
  return !fixed(ka) || !fixed(kb);
}

}  // namespace

bool MayBuild(const Program& program, ConId con, TypeId type) {
  const DataCon& row = program.constructors[con];
  if (row.equations.empty()) return true;
  const std::vector<TyVarId>& params = program.types.cons[row.tycon].params;
  llvm::SmallVector<TypeId> args;
  if (program.types.Head(type, &args) != row.tycon || args.size() != params.size()) return true;
  return llvm::all_of(row.equations, [&](const auto& equation) {
    return MayBeOne(program.types, args[static_cast<size_t>(llvm::find(params, equation.first) - params.begin())], equation.second);
  });
}

llvm::SmallVector<TypeId, 4> ClassArguments(const Program& program, ClassId cls, TypeId type) {
  llvm::SmallVector<TypeId, 4> args;
  if (!program.classes[cls].args.valid()) args.push_back(type);
  else program.types.Head(type, &args);
  return args;
}

TypeId ClassType(Program& program, ClassId cls, llvm::ArrayRef<TypeId> args) {
  return program.classes[cls].args.valid() ? program.types.Con(program.classes[cls].args, args) : args[0];
}

std::string PrintPred(const Program& program, ClassId cls, TypeId type) {
  if (program.classes[cls].args.valid()) return program.types.Print(type);
  return std::string(Text(program.classes[cls].name)) + " " + program.types.PrintArgument(type);
}

}  // namespace df::core
