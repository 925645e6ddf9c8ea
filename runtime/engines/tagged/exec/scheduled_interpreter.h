// runtime/engines/tagged/exec/scheduled_interpreter.h
//
// Scheduled code (code/scheduled.h): its interpreter, and the steps of it that are more than a few instructions. Private to the engine.
#pragma once

#include "runtime/engines/tagged/code/scheduled.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// exec/scheduled_interpreter.cpp
void RunScheduled(Worker& w, Frame* frame);
// exec/scheduled_apply.cpp
bool ApplyScheduled(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in, uint32_t pc);
bool ApplyMany(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in, uint32_t pc);
// exec/scheduled_steps.cpp
bool ApplyAny(Worker& w, Frame* frame, uint8_t* k);
bool DeferScheduled(Worker& w, Frame* frame, uint8_t* k);
void DelayScheduled(Worker& w, Frame* frame, uint8_t* k);
Frame* ForceScheduled(Worker& w, Frame* frame);
Frame* ReturnBody(Worker& w, Frame* frame, uint64_t value, uint8_t state);
Frame* ReturnMany(Worker& w, Frame* frame);
Frame* NextScheduled(Worker& w, Frame* frame, uint8_t* k);
void MoveMany(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in);
Frame* YieldScheduled(Worker& w, Frame* frame);
void GiveTo(Worker& w, Frame* parent, Frame* frame, const uint32_t* list, uint32_t count);

}  // namespace df::tagged
