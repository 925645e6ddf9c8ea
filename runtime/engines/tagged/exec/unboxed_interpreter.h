// runtime/engines/tagged/exec/unboxed_interpreter.h
//
// Unboxed code (code/unboxed.h): its interpreter, and frames of their own for the activations that were inlined. Private to the engine.
#pragma once

#include "runtime/engines/tagged/code/unboxed.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// exec/unboxed_interpreter.cpp
Frame* RunUnboxed(Worker& w, Frame* frame);
Frame* RunNative(Worker& w, const NativeCode& native, const void* entry, Frame* frame, const ScheduledInstr** at);
// exec/unboxed_frame.cpp
Frame* Outline(Worker& w, Frame* frame, Frame* callee);
void OutlineCaller(Worker& w, Frame* child);
void OutlineAll(Worker& w);

}  // namespace df::tagged
