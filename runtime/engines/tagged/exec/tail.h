// runtime/engines/tagged/exec/tail.h
//
// Frames that wait only to pass a result on. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// The call whose result a frame gives, and takes back what is noted of it.
const SiteCode& TakeReturnSite(Worker& w, Frame* frame);
// `running`, in scheduled code or called by it, stands somewhere; the frames between it and the first that needs its result go.
void DropTailCallers(Worker& w, Frame* running);

}  // namespace df::tagged
