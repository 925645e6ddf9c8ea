// runtime/engines/tagged/exec/scheduled_interpreter.h
//
// Scheduled code (code/scheduled.h): its interpreter, and the steps of it that are more than a few instructions. Private to the engine.
#pragma once

#include "runtime/engines/tagged/code/scheduled.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// exec/scheduled_interpreter.cpp
// Runs `frame` from its `resume` on, and what follows, as long as that is scheduled code.
void RunScheduled(Worker& w, Frame* frame);

// exec/scheduled_apply.cpp
// Any ordinary op, by its kernel. False if it fails; then its operands are still there.
bool ApplyScheduled(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in, uint32_t pc);
// The same of an op with three operands or more.
bool ApplyMany(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in, uint32_t pc);

// exec/scheduled_steps.cpp
// The op before which the frame stands, by its kernel. False: event code goes on.
bool ApplyAny(Worker& w, Frame* frame, uint8_t* k);
// The group of tensor ops before which the frame stands is noted for a batch. False: event code goes on.
bool DeferScheduled(Worker& w, Frame* frame, uint8_t* k);
// The Delay before which the frame stands: tried without a frame, or a cell.
void DelayScheduled(Worker& w, Frame* frame, uint8_t* k);
// Brings a cell what was made after it.
void CaptureScheduled(Worker& w, Frame* frame, uint8_t* k);
// At a Force of a reference that has no value yet.
Frame* ForceScheduled(Worker& w, Frame* frame);
// The value of a frame whose caller is not scheduled code that waits for nothing else.
Frame* ReturnBody(Worker& w, Frame* frame, uint64_t value, uint8_t state);
// The same of several results. The frame that goes on in scheduled code, or null.
Frame* ReturnMany(Worker& w, Frame* frame);
// The next iteration of a loop, where there is more to do than to move values.
Frame* NextScheduled(Worker& w, Frame* frame, uint8_t* k);
// The values of the next iteration take the places of this one's.
void MoveMany(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in);
// What other workers have sent goes first; the frame stands before what it will do then.
Frame* YieldScheduled(Worker& w, Frame* frame);
// Results from `frame` to its caller, which waits in scheduled code; `list` has pairs of operand and result.
void GiveTo(Worker& w, Frame* parent, Frame* frame, const uint32_t* list, uint32_t count);

}  // namespace df::tagged
