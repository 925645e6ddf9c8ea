// runtime/engines/tagged/exec/frameless_interpreter.h
//
// Attempts at delayed bodies without a frame (code/frameless.h). Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// Computes the value of a cell that could be entered without a frame. False if that cannot be done now.
bool RunAhead(Worker& w, DelayCell* cell);

}  // namespace df::tagged
