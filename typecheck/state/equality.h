// typecheck/state/equality.h
//
// What is known of types that are one: `a ~ b` as given and as wanted, and `Coercible a b`.
#pragma once

#include "typecheck/state/instances.h"

namespace df::check {

// From here on the two are one type, until Unifier::Forget goes back. What a constructor hides, `hidden`, is told by what is around it,
// and not the other way round.
void AssumeEqual(State& s, TypeId a, TypeId b, llvm::ArrayRef<TyVarId> hidden = {});
// Equations that the unifier has put off are wanted from here on, because of `origin`.
void WantPostponed(State& s, const Origin& origin);
// The two types of `a ~ b`.
std::pair<TypeId, TypeId> SidesOf(const State& s, TypeId equality);
Solved SolveEquality(State& s, const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing);
// Whether the class is the library's `Coercible`, which has no instances.
bool IsCoercible(const State& s, ClassId cls);
// `obstacle`: of a No, what stands in the way.
Solved SolveCoercible(State& s, const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing, std::string* obstacle = nullptr);

}  // namespace df::check
