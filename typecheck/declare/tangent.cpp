// What tangents the module's types have, and equations with tangents that wait (typecheck/types/tangent.cpp says what a tangent is).
#include "typecheck/checker.h"

namespace df {
namespace check {

// How the tangents of the module's data types look: the greatest solution, so that a type may hold itself.
void Checker::ClassifyTangents() {
  for (const auto& [data, id] : data_) {
    types_.cons[id].tangent = TangentForm::Unit;
    types_.cons[id].measures.clear();
    KindId kind = env_.KindOf(id), from, to;
    for (; env_.kinds.IsArrow(kind, &from, &to); kind = to) {
      from = env_.kinds.Prune(from);
      types_.cons[id].measures.push_back(from == env_.kinds.Dim() || from == env_.kinds.Shape());
    }
  }
  TypeId unit = types_.Scalar(Builtin::Unit);
  auto fits = [&](TyConId id) {
    llvm::SmallVector<TypeId> tangents;
    for (size_t i = 0; i < types_.cons[id].params.size(); ++i) {
      TypeId param = types_.Var(types_.cons[id].params[i]);
      tangents.push_back(types_.cons[id].measures[i] ? param : types_.Tangent(param));
    }
    for (ConId con : types_.cons[id].constructors)
      for (const core::Field& field : program_.constructors[con].fields) {
        TypeId type = types_.Reduced(field.type);
        TypeId wanted = types_.cons[id].tangent == TangentForm::Unit
                            ? unit
                            : types_.Substitute(type, types_.cons[id].params, tangents);
        if (types_.Tangent(type) != wanted) return false;
      }
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [data, id] : data_) {
      TangentForm& form = types_.cons[id].tangent;
      if (form == TangentForm::Own || fits(id)) continue;
      form = form == TangentForm::Unit ? TangentForm::Same : TangentForm::Own;
      changed = true;
    }
  }
  // Fields were read before this was known.
  for (const auto& [data, id] : data_)
    for (ConId con : types_.cons[id].constructors)
      for (core::Field& field : program_.constructors[con].fields) field.type = types_.Reduced(field.type);
}

// Says of the equations that the last unification left where they come from.
void Checker::NoteDeferred(Span span, const Reason& why) {
  while (deferred_.size() < unify_.deferred.size()) {
    Reason reason = why;
    reason.outer = nullptr;  // it is gone when the equation is looked at
    deferred_.push_back({span, reason});
  }
}

// Looks at the equations again whose tangents may be known by now. With `guess` a type that is not, and that nothing
// outside of the definition can settle, is its own tangent; at the end of the module there is nothing outside.
void Checker::RetryTangents(Guess guess) {
  if (unify_.deferred.empty()) return;
  NoteDeferred({}, {});
  auto equations = std::exchange(unify_.deferred, {});
  auto origins = std::exchange(deferred_, {});
  for (size_t i = 0; i < equations.size(); ++i) {
    auto [a, b] = equations[i];
    a = unify_.Zonk(a), b = unify_.Zonk(b);
    TypeId of;
    if (guess != Guess::No && (types_.IsTangent(a, &of) || types_.IsTangent(b, &of))) {
      TypeId other = types_.IsTangent(a) ? b : a;
      if (types_.IsTangent(b) && !types_.HasMeta(of)) {
        types_.IsTangent(b, &of);
        other = a;
      }
      llvm::SmallVector<MetaId> metas;
      unify_.FreeMetas(of, metas);
      bool ours = guess == Guess::All || llvm::all_of(metas, [&](MetaId meta) { return unify_.LevelOf(meta) > unify_.level; });
      if (ours && !metas.empty()) Expect(of, other, origins[i].first, origins[i].second);
    }
    Expect(a, b, origins[i].first, origins[i].second);
  }
  // What is still open settles at the end; until then nothing in it is generalised.
  if (guess != Guess::No)
    for (auto [a, b] : unify_.deferred) unify_.Lower(a, unify_.level), unify_.Lower(b, unify_.level);
}

// Whether the tangent of this type was asked for: then it is a real number rather than an Integer.
bool Checker::TangentMatters(MetaId meta) {
  TypeId type = types_.Meta(meta);
  return llvm::any_of(types_.tangents_of, [&](TypeId of) { return unify_.Prune(of) == type; });
}

}  // namespace check
}  // namespace df
