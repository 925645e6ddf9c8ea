// Classes with several parameters, constructors whose types hide or settle something, and polymorphic types.
#include "llvm/ADT/STLExtras.h"
#include "typecheck/core/core.h"

namespace df::core {
namespace {

// Whether the two may be one type, whatever their variables stand for. A variable that stands twice is not looked at twice.
bool MayBeOne(const Types& types, TypeId a, TypeId b) {
  if (a == b || types.IsFamily(a) || types.IsFamily(b)) return true;
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

TypeId PolyType(Program& program, const Scheme& scheme) {
  TypeId body = scheme.type;
  for (const Pred& pred : llvm::reverse(scheme.preds)) {
    Class& cls = program.classes[pred.cls];
    if (!cls.qualifier.valid()) {
      TyCon row;
      row.name = cls.name;
      row.arity = 2;
      row.tangent = TangentForm::Unit;
      row.qualifies = pred.cls.index;
      cls.qualifier = program.types.cons.Add(std::move(row));
    }
    body = program.types.Con(cls.qualifier, {pred.type, body});
  }
  return program.types.Forall(scheme.tyvars, body);
}

TypeId TakeContext(const Types& types, TypeId body, std::vector<Pred>* preds) {
  for (;;) {
    llvm::SmallVector<TypeId> args;
    const TyConId head = types.Head(body, &args);
    if (!head.valid() || types.cons[head].qualifies == UINT32_MAX || args.size() != 2) return body;
    if (preds) preds->push_back({ClassId(types.cons[head].qualifies), args[0], Span()});
    body = args[1];
  }
}

Scheme OpenPoly(Program& program, TypeId poly) {
  Scheme scheme;
  llvm::SmallVector<TypeId, 2> args;
  for (Symbol name : program.types.BinderNames(poly)) {
    scheme.tyvars.push_back(program.types.NewVar(name));
    args.push_back(program.types.Var(scheme.tyvars.back()));
  }
  scheme.type = TakeContext(program.types, program.types.Instantiate(poly, args), &scheme.preds);
  return scheme;
}

std::string PrintPred(const Program& program, ClassId cls, TypeId type) {
  if (program.classes[cls].args.valid()) return program.types.Print(type);
  return std::string(Text(program.classes[cls].name)) + " " + program.types.PrintArgument(type);
}

}  // namespace df::core
