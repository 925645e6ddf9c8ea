// lower/mono/placed.h
//
// Which functions the source puts on a part of a cut graph: `{-# PLACE f worker 2 #-}` (parser/place.h, docs/cut.md). Internal to this folder.
#pragma once

#include "lower/mono/mono.h"

namespace df::mono {

// A function at the top of a module, or a copy of one: its calls stay calls.
bool IsPlaced(const Program& program, const Function& function);

}  // namespace df::mono
