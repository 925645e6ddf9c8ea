// runtime/engines/tagged/exec/scheduled_frame.h
//
// How a frame goes from scheduled code to event code and back, and what passes between frames of both. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

const ScheduledState& RestoreStates(Worker& w, Frame* frame);
void LeaveScheduled(Worker& w, Frame* frame);
bool LeaveAllScheduled(Worker& w);
Frame* NewCallee(Worker& w, const SiteCode* site, Frame* frame, uint32_t deeper = 1);
Frame* NewScheduled(Worker& w, const SiteCode* site, Frame* parent, uint32_t depth, uint32_t flags);
Frame* NextFrame(Worker& w, Frame* frame);
void Put(Frame* frame, uint32_t slot, Value value);
bool CallIn(Worker& w, Frame* frame, const SiteCode& site);
bool NextIn(Worker& w, Frame* frame, const SiteCode& site);
void CallOut(Worker& w, Frame* frame, const SiteCode& site, const uint32_t* operands, const uint64_t* s, const uint8_t* k);
bool GiveScheduled(Worker& w, Frame* frame, uint32_t slot, Value& value);
void StopListing(Worker& w, Frame* frame);
Frame* GiveResults(Worker& w, Frame* frame, const uint32_t* list, uint32_t count);
void GiveEarly(Worker& w, Frame* frame, const uint32_t* list, uint32_t count);
bool DeliverScheduled(Worker& w, Frame* frame, const Delivery& delivery, Value& value);
bool GoesScheduled(const Worker& w, DelayCell& cell);
void StartBodyScheduled(Worker& w, DelayCell* cell, Value reference, Frame* body);
void CountFilled(Worker& w, DelayCell* cell);
bool DelayFrameless(Worker& w, Frame* frame, const SiteCode& site, const uint32_t* operands, uint32_t slot);
Frame* EnterBody(Worker& w, DelayCell* cell, Frame* waiter);
void WaitScheduled(Worker& w, Frame* frame, DelayCell* cell);
void WakeScheduled(Worker& w, Frame* frame, const Value& value);

// For exec/scheduled_frame.cpp alone.
const ScheduledState& LeaveOne(Worker& w, Frame* frame);
void SendHeld(Worker& w, Frame* frame, const ScheduledState& from);
void Linger(Worker& w, Frame* frame);
bool HasAllLate(Frame* frame);

}  // namespace df::tagged
