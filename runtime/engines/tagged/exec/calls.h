// runtime/engines/tagged/exec/calls.h
//
// What goes from frame to frame: calls, results, iterations, values of enclosing scopes. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// At the Call of a tail: the child, with the arguments that go together.
void Call(Worker& w, Frame* frame, const SiteCode& site);
// The tail that makes the child may still be waiting on the stack: then it is made now.
void CallLate(Worker& w, Frame* frame, const SiteCode& site, uint32_t index);
// The next iteration of a loop, in this frame if nothing else is left of it.
void Next(Worker& w, Frame* frame, const SiteCode& site);
// A late value of the next iteration.
void NextLate(Worker& w, Frame* frame, const SiteCode& site, uint32_t index);
// A late argument or value comes in `to`.
void Deliver(Worker& w, Frame* to, const Delivery& delivery, Value value);
// The activation of a new frame, after its parameters are set.
void Enter(Worker& w, Frame* frame, const SiteCode& site, llvm::ArrayRef<Delivery> deliveries);
// A result of `frame` goes to its caller, or to the cell whose body it runs.
void SendResult(Worker& w, Frame* frame, uint32_t result, Value value);
// At an Outer: the value is read where it is there, or waited for.
void ReadOuter(Worker& w, Frame* frame, uint32_t pc);
// The value of `row` has come in this frame.
void AnswerOuters(Worker& w, Frame* frame, uint32_t row);

// For exec/calls.cpp alone.
void ReturnHome(Worker& w, Frame* home, const ReturnTo& to, Value value);
Frame* FindScope(const Worker& w, Frame* frame, ir::ScopeId scope);
void GiveOuter(Worker& w, Frame* frame, uint32_t pc, Value value);

}  // namespace df::tagged
