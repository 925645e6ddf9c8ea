// runtime/engines/tagged/exec/calls.h
//
// What goes from frame to frame: calls, results, iterations, values of enclosing scopes. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

void Call(Worker& w, Frame* frame, const SiteCode& site);
void CallLate(Worker& w, Frame* frame, const SiteCode& site, uint32_t index);
void Next(Worker& w, Frame* frame, const SiteCode& site);
void NextLate(Worker& w, Frame* frame, const SiteCode& site, uint32_t index);
void Deliver(Worker& w, Frame* to, const Delivery& delivery, Value value);
void Enter(Worker& w, Frame* frame, const SiteCode& site, llvm::ArrayRef<Delivery> deliveries);
void SendResult(Worker& w, Frame* frame, uint32_t result, Value value);
void ReadOuter(Worker& w, Frame* frame, uint32_t pc);
void AnswerOuters(Worker& w, Frame* frame, uint32_t row);

// For exec/calls.cpp alone.
void ReturnHome(Worker& w, Frame* home, const ReturnTo& to, Value value);
Frame* FindScope(const Worker& w, Frame* frame, ir::ScopeId scope);
void GiveOuter(Worker& w, Frame* frame, uint32_t pc, Value value);

}  // namespace df::tagged
