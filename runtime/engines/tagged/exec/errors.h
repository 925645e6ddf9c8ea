// runtime/engines/tagged/exec/errors.h
//
// Errors overtake what other operands are waited for. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// Whether the token of `edge` is there: its slot has a value, and every Switch on the way has taken this side.
bool IsAvailable(const Worker& w, Frame* frame, ir::Edge edge);
// The error on `edge`, which is there, goes to all who can fail by it at once.
void PassError(Worker& w, Frame* frame, ir::Edge edge);
// A side has been taken: errors that waited before its Switches and merges go on.
void PassSwitches(Worker& w, Frame* frame, const Branch& branch, uint32_t side);

// For exec/errors.cpp alone.
bool Chosen(const Worker& w, Frame* frame, ir::Edge predicate, uint32_t* side);
void PassErrorToUser(Worker& w, Frame* frame, ir::Edge use, const Value& error, std::vector<ir::Edge>& todo);

}  // namespace df::tagged
