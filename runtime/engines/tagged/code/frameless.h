// runtime/engines/tagged/code/frameless.h
//
// Delayed bodies that are computed without a frame, where the Delay stands or where their cell is forced, if what they need is
// there by then: frameless code, and its interpreter (docs/tagged-engine/delayed-calls.md).
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/engines/tagged/code/code.h"

namespace df::tagged {

struct DelayCell;

// Sets SiteCode::ahead of the delayed calls whose bodies are short and do nothing but look at values, compute with words, and make
// constructors and delayed calls; and SiteCode::frameless of those that make no delayed calls. Makes the frameless code of all these.
void MakeFrameless(Program& program);

// What the body of a frameless site gives, into `result`; or false if some value is missing, has failed, or is too large for a word.
// `constants` are the run's. The operands are those of its Delay in scheduled code, in a frame with these slots and states; they stay as they are. May throw
// std::bad_alloc.
bool RunFrameless(const Program& program, const std::vector<Value>& constants, const SiteCode& site, const uint32_t* operands,
                  const uint64_t* slots, const uint8_t* states, Value* result);

// The same of a cell that nobody has asked for: if its body can be computed at once by now, the cell is full afterwards, and
// what it captured is given up. While nothing else runs.
bool FillIfReady(const Program& program, const std::vector<Value>& constants, DelayCell& cell, DeadObjects& dead);

}  // namespace df::tagged
