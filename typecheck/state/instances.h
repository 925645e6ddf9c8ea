// typecheck/state/instances.h
//
// Constraints by instances and given constraints. Nothing is reported here (solve/constraints.h does).
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

enum class Solved : uint8_t { Yes, No, Stuck };

// Whether an instance's head is of a type, with what its variables then stand for. Later: once more is known of a
// meta. Rigid: at some types that a variable of a signature stands for.
enum class Fit : uint8_t { No, Rigid, Later, Yes };

// Whether `by` gives `cls`: by == cls or cls is a superclass of it.
bool Entails(const State& s, ClassId cls, ClassId by);
// Takes a constraint as given, with its superclasses.
void PushGiven(State& s, ClassId cls, TypeId type);
bool IsGiven(State& s, const Wanted& wanted);
// The variables that a type settles: all but those that stand as arguments of families alone.
void FixedVars(const Types& types, TypeId type, llvm::SmallVectorImpl<TyVarId>& out);
// Functional dependencies: adds the variables that those in `vars` settle.
void AddDetermined(State& s, llvm::ArrayRef<core::Pred> preds, llvm::SmallVectorImpl<TyVarId>& vars);
// Settles what the class's dependencies tell of a constraint by instances and givens. Whether anything was.
bool Improve(State& s, const Wanted& wanted);
// The same of two constraints of one class: where the first arguments agree, the others do.
bool ImprovePair(State& s, const Wanted& one, const Wanted& other);
// Whether the head of an instance with these variables fits the type; `bound` is what they stand for then.
Fit Fits(State& s, TypeId head, TypeId type, llvm::ArrayRef<TyVarId> vars, llvm::MutableArrayRef<TypeId> bound);
// The instance for a type: of several that fit, the one that says most. The result is that of the last case of Fit, or
// of another instance that may fit better.
Fit FindInstance(State& s, ClassId cls, TypeId type, InstanceId& found, llvm::SmallVectorImpl<TypeId>& bound);
// Reduces by instances and givens; what depends on a meta goes to `stuck`. `missing` is the part that has
// no instance.
Solved Solve(State& s, const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing, int depth = 0);
// Whether the class has an instance for this closed type.
bool HasInstance(State& s, ClassId cls, TypeId type);

}  // namespace df::check
