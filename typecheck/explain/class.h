// typecheck/explain/class.h
//
// Missing instances and ambiguous types as messages.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// The constraint as a program writes it; `type` is how the type `of` is called.
std::string PrintPred(State& s, ClassId cls, const std::string& type, TypeId of);
// That there is no instance for `missing`, a part of what is wanted.
void ReportMissing(State& s, const Wanted& wanted, const Wanted& missing);
// Whether it was reported that the type has no such instance.
bool IsRefused(State& s, ClassId cls, TypeId type);
// That nothing settles the type of which these are wanted.
void ReportAmbiguous(State& s, llvm::ArrayRef<Wanted> preds);

}  // namespace df::check
