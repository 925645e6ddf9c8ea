// runtime/engines/tagged/exec/frames.h
//
// The lifetime of frames: made, held by `refs` and `pins`, freed when nothing can happen in them any more. Private to the engine.
#pragma once

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// A frame for the callee of a site; its activation is still to come.
Frame* NewFrame(Worker& w, const SiteCode* site, Frame* parent);
// Nothing can happen in the frame any more. It goes on to its parents as long as it was their last ref.
void Finish(Worker& w, Frame* frame);
// A finished frame that nobody names any more, and those whose tags only it named.
void FreeFrame(Worker& w, Frame* frame);
// A new frame, of a call that continues the loop of its caller (SiteCode::continues), is that loop's iteration still: it has the tag of
// `caller`, which has a node for it. Its own loop goes on counting (TagWithin).
void ContinueTag(const Worker& w, Frame* frame, const Frame* caller);
// Its slots give up what they hold.
void ReleaseValues(Worker& w, Frame* frame);
// Values are destroyed in the middle of anything; what they named is freed here, from the main loop, so that neither
// nests in the other.
void DrainUnpins(Worker& w);
// Where memory grows beyond what it was, frames and cells that went leave their chunks to others first. The next time is when it has
// grown by a quarter of what is walked here, and beyond the peak of before.
void GiveBackChunks(Worker& w);

// For exec/frames.cpp alone.
void Unpin(Worker& w, Frame* frame);

}  // namespace df::tagged
