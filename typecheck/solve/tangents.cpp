// Equations with tangents that wait (typecheck/types/tangent.cpp says what a tangent is).
#include "typecheck/solve/tangents.h"

#include "typecheck/solve/expect.h"
#include "typecheck/state/state.h"

namespace df::check {

void NoteDeferred(State& s, Span span, const Reason& why) {
  while (s.deferred.size() < s.unify.deferred.size()) {
    Reason reason = why;
    reason.outer = nullptr;  // it is gone when the equation is looked at
    s.deferred.push_back({span, reason});
  }
}

void RetryTangents(State& s, Guess guess) {
  if (s.unify.deferred.empty()) return;
  NoteDeferred(s, {}, {});
  auto equations = std::exchange(s.unify.deferred, {});
  auto origins = std::exchange(s.deferred, {});
  for (size_t i = 0; i < equations.size(); ++i) {
    auto [a, b] = equations[i];
    a = s.unify.Zonk(a), b = s.unify.Zonk(b);
    TypeId of;
    if (guess != Guess::No && (s.types.IsTangent(a, &of) || s.types.IsTangent(b, &of))) {
      TypeId other = s.types.IsTangent(a) ? b : a;
      if (s.types.IsTangent(b) && !s.types.HasMeta(of)) {
        s.types.IsTangent(b, &of);
        other = a;
      }
      llvm::SmallVector<MetaId> metas;
      s.unify.FreeMetas(of, metas);
      bool ours = guess == Guess::All || llvm::all_of(metas, [&](MetaId meta) { return s.unify.LevelOf(meta) > s.unify.level; });
      if (ours && !metas.empty()) Expect(s, of, other, origins[i].first, origins[i].second);
    }
    Expect(s, a, b, origins[i].first, origins[i].second);
  }
  // What is still open settles at the end; until then nothing in it is generalised.
  if (guess != Guess::No)
    for (auto [a, b] : s.unify.deferred) s.unify.Lower(a, s.unify.level), s.unify.Lower(b, s.unify.level);
}

bool TangentMatters(State& s, MetaId meta) {
  TypeId type = s.types.Meta(meta);
  return llvm::any_of(s.types.tangents_of, [&](TypeId of) { return s.unify.Prune(of) == type; });
}

}  // namespace df::check
