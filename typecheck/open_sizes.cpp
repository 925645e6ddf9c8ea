#include "typecheck/open_sizes.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "typecheck/core/parts.h"

namespace df {
namespace {

constexpr size_t kMostNotes = 3;

// The variables with their type arguments in an expression, from left to right.
void VisitUses(const core::Expr* root, llvm::function_ref<void(const core::VarExpr&)> visit) {
  std::vector<const core::Expr*> todo = {root};
  while (!todo.empty()) {
    const core::Expr* expr = todo.back();
    todo.pop_back();
    const size_t first = todo.size();
    if (const auto* var = llvm::dyn_cast<core::VarExpr>(expr)) visit(*var);
    core::ForEachPart(*expr, [&](const core::Expr* part) { todo.push_back(part); });
    std::reverse(todo.begin() + first, todo.end());
  }
}

// What nothing settled stands for () (zonk.h).
bool IsOpen(const Types& types, TypeId size) {
  const Dimension dimension = types.DimensionOf(size);
  return llvm::any_of(dimension.terms(), [&](const DimTerm& term) {
    return llvm::any_of(term.atoms, [&](TypeId atom) { return types.BuiltinOf(atom) == Builtin::Unit; });
  });
}

}  // namespace

void NoteOpenSizes(const core::Program& program, Diagnostics& diags) {
  size_t notes = 0;
  bool of_result = false;
  auto look = [&](const core::VarExpr& use) {
    const core::Var& var = program.vars[use.var];
    if (var.from_library || var.kind != core::VarKind::Top) return;
    for (size_t i = 0; i < std::min(use.type_args.size(), var.scheme.tyvars.size()) && notes < kMostNotes; ++i) {
      const TyVarId size = var.scheme.tyvars[i];
      if (!IsOpen(program.types, use.type_args[i]) || !program.types.IsSize(size, var.scheme.type)) continue;
      diags.Note(use.span, fmt::format("nothing says here what the size `{}` of `{}` is", Text(program.types.vars[size].name), Text(var.name)));
      ++notes;
      llvm::SmallVector<TypeId> params;
      program.types.SplitFun(var.scheme.type, params);
      of_result |= !params.empty() && llvm::none_of(params, [&](TypeId param) { return program.types.IsSize(size, param); });
    }
  };
  for (const core::Definition& definition : program.definitions)
    if (!program.vars[definition.var].from_library) VisitUses(definition.value, look);
  if (of_result) diags.Note({}, "sizes are known before the program runs: no number that it computes is one");
}

}  // namespace df
