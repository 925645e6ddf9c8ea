// typecheck/explain/origin.h
//
// Where the other half of a clash comes from, as notes of the message that was reported last.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// A note of the last message, unless that speaks of this place already.
void NoteOnce(State& s, Span span, std::string text);
// Remembers the place for what is solved next.
void RecordPlace(State& s, TypeId type, Span span, const Reason& why);
// The type of what is applied, and where it says so.
void ExplainCallee(State& s, VarId id, ConId con);
// What gave the variable its type.
void ExplainVariable(State& s, VarId id, Span use);
// What gave the type to a meta.
void ExplainPlace(State& s, TypeId type, Span not_in, std::string_view what = "this");
// Where the meta that stands for a dimension got it.
void ExplainDimension(State& s, TypeId from, const std::string& dimension, Span not_in);
// What has to be a number.
void ExplainNumber(State& s, Span origin);
// Notes: where the expectation came from.
void Explain(State& s, const Reason& why);

}  // namespace df::check
