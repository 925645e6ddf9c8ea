// runtime/engines/tagged/exec/scheduled_frame.h
//
// How a frame goes from scheduled code to event code and back, and what passes between frames of both. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// A frame that was given what it waited for stands behind that, perhaps before what is between two steps (values given up, words moved, jumps) and
// has no state of its own: that is done now. False: something else comes before the next step.
bool GoToStep(Worker& w, Frame* frame);
// Of a frame that will not go on: what it has is known afterwards, or gone.
void GiveUpScheduled(Worker& w, Frame* frame);
// States, masks and ready bits as event code would have them where the frame stands, which is before a step.
const ScheduledState& RestoreStates(Worker& w, Frame* frame);
// Event code takes over where the frame stands. It gives results one by one, and a caller in scheduled code waits for all
// together: with more than one, or late ones, the caller goes over first, and so its callers.
void LeaveScheduled(Worker& w, Frame* frame);
// Nothing goes on in order: frames that wait in scheduled code may have something else to do. False if there are none.
// A run may come here again and again, as with gradients of lazy lists whose elements each wait for a cotangent. All frames are looked at, so event
// code makes as many calls itself before it calls into scheduled code again.
bool LeaveAllScheduled(Worker& w);
// For a call in scheduled code, before which `frame` stands. Null: something else goes first.
Frame* NewCallee(Worker& w, const SiteCode* site, Frame* frame, uint32_t deeper = 1);
// A frame that runs scheduled code, with these flags.
Frame* NewScheduled(Worker& w, const SiteCode* site, Frame* parent, uint32_t depth, uint32_t flags);
// Of the next iteration of a loop, where this one has to stay.
Frame* NextFrame(Worker& w, Frame* frame);
// Writes over what is in the slot, as in a frame that was just made.
void Put(Frame* frame, uint32_t slot, Value value);
// A call out of event code into scheduled code. False if an argument has failed: then event code goes on.
bool CallIn(Worker& w, Frame* frame, const SiteCode& site);
// An iteration that began when there was no scheduled code yet: the next one runs it. False if a value has failed, or this one has
// more to pass on.
bool NextIn(Worker& w, Frame* frame, const SiteCode& site);
// A call out of scheduled code to a callee that has none.
void CallOut(Worker& w, Frame* frame, const SiteCode& site, const uint32_t* operands, const uint64_t* s, const uint8_t* k);
// A result from event code to a frame that waits in scheduled code. False if the frame has gone over to event code.
bool GiveScheduled(Worker& w, Frame* frame, uint32_t slot, Value& value);
// The frame is no longer at work for who waits for it.
void StopListing(Worker& w, Frame* frame);
// The results in Worker::given of a frame that has finished; which ones, `list` says, after each operand. Who goes on in scheduled code, or
// null.
Frame* GiveResults(Worker& w, Frame* frame, const uint32_t* list, uint32_t count);
// Early results of a frame that event code has called, and that stands at Await now. `list` has pairs of operand and result.
void GiveEarly(Worker& w, Frame* frame, const uint32_t* list, uint32_t count);
// A late argument from event code to a frame in scheduled code, which goes on when all have come. False if the frame has gone over
// to event code.
bool DeliverScheduled(Worker& w, Frame* frame, const Delivery& delivery, Value& value);
// Whether the body of a cell that is released can run scheduled code: there is some, and no operand has failed.
bool GoesScheduled(const Worker& w, DelayCell& cell);
// `body` runs the body of a cell, whose operands move there.
void StartBodyScheduled(Worker& w, DelayCell* cell, Value reference, Frame* body);
// A body that was run without a frame counts as a call and as a step of the run.
void CountFilled(Worker& w, DelayCell* cell);
// Puts what a delayed body gives into `slot`, if it can be computed at once. Then what the Delay uses for the last time goes.
bool DelayFrameless(Worker& w, Frame* frame, const SiteCode& site, const uint32_t* operands, uint32_t slot);
// Starts the body of a cell that starts_scheduled for a frame that stands at its Force in scheduled code. No check is due: the
// caller has seen to that.
Frame* EnterBody(Worker& w, DelayCell* cell, Frame* waiter);
// The frame, which stands at a Force, waits for the cell.
void WaitScheduled(Worker& w, Frame* frame, DelayCell* cell);
// A frame that waited in scheduled code for a cell that is full now. The ref of its waiting is given back.
void WakeScheduled(Worker& w, Frame* frame, const Value& value);

// For exec/scheduled_frame.cpp alone.
const ScheduledState& LeaveOne(Worker& w, Frame* frame);
void SendHeld(Worker& w, Frame* frame, const ScheduledState& from);
void Linger(Worker& w, Frame* frame);
bool HasAllLate(Frame* frame);

}  // namespace df::tagged
