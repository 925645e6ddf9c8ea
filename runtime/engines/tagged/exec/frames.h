// runtime/engines/tagged/exec/frames.h
//
// The lifetime of frames: made, held by `refs` and `pins`, freed when nothing can happen in them any more. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

Frame* NewFrame(Worker& w, const SiteCode* site, Frame* parent);
void Finish(Worker& w, Frame* frame);
void FreeFrame(Worker& w, Frame* frame);
void ReleaseValues(Worker& w, Frame* frame);
void DrainUnpins(Worker& w);
void GiveBackChunks(Worker& w);

// For exec/frames.cpp alone.
void Unpin(Worker& w, Frame* frame);

}  // namespace df::tagged
