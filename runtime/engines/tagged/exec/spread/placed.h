// runtime/engines/tagged/exec/spread/placed.h
//
// Calls of functions that stand on a part, where several processes work on a run: one process computes all of them (docs/cut.md, "Calls that have
// their process"). They are calls in other processes as any (docs/far-calls.md), but nobody asks for them. Private to the engine.
#pragma once

#include <vector>

#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

struct FarPeer;

// The other process that computes this call; null: it is computed here. That may be because there is no such process any more, or since an argument
// comes later, as a cotangent does, and a call goes whole.
FarPeer* FindProcess(Worker& w, const SiteCode& site);
inline FarPeer* ProcessOf(Worker& w, const SiteCode& site) {
  if (site.callee->process == kNone) [[likely]] return nullptr;
  return FindProcess(w, site);
}

// Gives the call of `frame` to that process. Its results come to the frame, which may be in scheduled code.
void CallPlaced(Worker& w, Frame* frame, const SiteCode& site, std::vector<Value> arguments, FarPeer& process);

// What a call of `frame` that went elsewhere has given.
void GiveBack(Worker& w, Frame* frame, const ReturnTo& to, Value value);

}  // namespace df::tagged
