// runtime/engines/tagged/exec/unboxed_interpreter.h
//
// Unboxed code (code/unboxed.h): its interpreter, and frames of their own for the activations that were inlined. Private to the engine.
#pragma once

#include "runtime/engines/tagged/code/unboxed.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// exec/unboxed_interpreter.cpp
// Runs `frame` from its `resume` on, and what follows, as long as that is unboxed code. The frame that goes on in scheduled code from
// its `resume`, or null.
Frame* RunUnboxed(Worker& w, Frame* frame);
// The frame that native code comes to, and what is to be done there; null: nothing.
Frame* RunNative(Worker& w, const NativeCode& native, const void* entry, Frame* frame, const ScheduledInstr** at);

// exec/unboxed_frame.cpp
// The frame stands before an instruction of unboxed code, or waits in it for `callee`. The innermost of the frames that there are now.
Frame* Outline(Worker& w, Frame* frame, Frame* callee);
// Unboxed code never waits for a callee that is not in scheduled code: before one leaves, or lingers, its caller is outlined.
void OutlineCaller(Worker& w, Frame* child);
// Of all frames that wait, or stand, in unboxed code.
void OutlineAll(Worker& w);

}  // namespace df::tagged
