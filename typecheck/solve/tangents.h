// typecheck/solve/tangents.h
//
// Equations with tangents that wait (typecheck/types/tangent.cpp says what a tangent is).
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Which types whose tangents are not known are taken to be their own: none, those that nothing outside of the definition can settle, all.
enum class Guess : uint8_t { No, Ours, All };

// Says of the equations that the last unification left where they come from.
void NoteDeferred(State& s, Span span, const Reason& why);
// Looks at the equations again whose tangents may be known by now. With `guess` a type that is not, and that nothing
// outside of the definition can settle, is its own tangent; at the end of the module there is nothing outside.
void RetryTangents(State& s, Guess guess);
// Whether the tangent of this type was asked for: then it is a real number rather than an Integer.
bool TangentMatters(State& s, MetaId meta);

}  // namespace df::check
