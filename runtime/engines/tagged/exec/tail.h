// runtime/engines/tagged/exec/tail.h
//
// Frames that wait only to pass a result on. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

const SiteCode& TakeReturnSite(Worker& w, Frame* frame);
void DropTailCallers(Worker& w, Frame* running);

}  // namespace df::tagged
