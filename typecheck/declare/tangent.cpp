// What tangents the module's types have, and equations with tangents that wait (typecheck/types/tangent.cpp says what a tangent is).
#include "typecheck/declare/tangent.h"

#include "typecheck/state/state.h"

namespace df::check {

void ClassifyTangents(State& s) {
  for (const auto& [data, id] : s.data) {
    s.types.cons[id].tangent = TangentForm::Unit;
    s.types.cons[id].measures.clear();
    KindId kind = s.env.KindOf(id), from, to;
    for (; s.env.kinds.IsArrow(kind, &from, &to); kind = to) {
      from = s.env.kinds.Prune(from);
      s.types.cons[id].measures.push_back(from == s.env.kinds.Dim() || from == s.env.kinds.Shape());
    }
  }
  TypeId unit = s.types.Scalar(Builtin::Unit);
  auto fits = [&](TyConId id) {
    llvm::SmallVector<TypeId> tangents;
    for (size_t i = 0; i < s.types.cons[id].params.size(); ++i) {
      TypeId param = s.types.Var(s.types.cons[id].params[i]);
      tangents.push_back(s.types.cons[id].measures[i] ? param : s.types.Tangent(param));
    }
    for (ConId con : s.types.cons[id].constructors)
      for (const core::Field& field : s.program.constructors[con].fields) {
        TypeId type = s.types.Reduced(field.type);
        TypeId wanted = s.types.cons[id].tangent == TangentForm::Unit
                            ? unit
                            : s.types.Substitute(type, s.types.cons[id].params, tangents);
        if (s.types.Tangent(type) != wanted) return false;
      }
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [data, id] : s.data) {
      TangentForm& form = s.types.cons[id].tangent;
      if (form == TangentForm::Own || (!s.types.cons[id].packs && fits(id))) continue;
      form = s.types.cons[id].packs ? TangentForm::Own : form == TangentForm::Unit ? TangentForm::Same : TangentForm::Own;
      changed = true;
    }
  }
  // Fields were read before this was known.
  for (const auto& [data, id] : s.data)
    for (ConId con : s.types.cons[id].constructors)
      for (core::Field& field : s.program.constructors[con].fields) field.type = s.types.Reduced(field.type);
}

}  // namespace df::check
