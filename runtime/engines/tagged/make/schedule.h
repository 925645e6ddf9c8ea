// runtime/engines/tagged/make/schedule.h
//
// The order in which the engine does what one activation of a scope has to do, worked out when the graph is loaded.
//
// The engine's own rules decide it (docs/tagged-engine/regions.md): ready regions, lowest first; then what enters other frames, in
// program order, each followed at once by what its results wake. All that is not known beforehand is which side of a branch
// is taken, so the order is a flow graph of blocks: followed here once, it need not be found again by events and masks in
// each activation. A scope whose order depends on more than that has no schedule and is run by event code.
#pragma once

#include <vector>

#include "runtime/engines/tagged/code/code.h"

namespace df::tagged {

// Where a frame stands, as event code sees it: what it needs to go on from here.
struct Standing {
  uint32_t pc = kNone;           // in the middle of a region, if not kNone
  std::vector<uint8_t> masks;
  std::vector<uint32_t> ready;   // regions
  std::vector<uint32_t> tails;   // pcs
  Stage stage = Stage::First;
  std::vector<uint32_t> children;  // slots of the callees that have given their early results, and wait for late arguments
  std::vector<std::pair<uint32_t, uint32_t>> held;  // results that are there and go later, with the others; and their operands
};

enum class StepKind : uint8_t { Op, Check, Defer, Construct, Delay, Capture, Merge, Mark, Force, Call, Resume, Next, Yield, Return, Branch, Jump };

struct Step {
  StepKind kind;
  uint32_t pc = kNone;           // its instruction; of a Force that of its Wait
  uint32_t before = kNone;       // Standing, before the step; Yield: when the late arguments have come
  uint32_t after = kNone;        // Call, Resume: while the callee works; Yield: while the frame waits for late arguments
  std::vector<uint32_t> operands;  // Delay: what it captures, kNone what a Capture brings; Next: what goes round; Yield, Return: by result, or kNone
  std::vector<uint32_t> targets;   // Branch: a block per side; Jump
};

struct Block {
  std::vector<Step> steps;  // the last one is a Branch, Jump, Next or Return
};

struct Schedule {
  std::vector<Block> blocks;  // the first one is the entry
  std::vector<Standing> standings;
  uint32_t entry = kNone;     // Standing, before anything was done
  std::vector<bool> early;    // of a scope with late parameters, by result: whether it is there before they come, on each path
};

// False if the order of the scope's work is not known beforehand. ScopeCode::early of the scope and its callees is what is
// supposed; Schedule::early what follows from that. With `probing` only this is asked for: then more orders will do.
bool MakeSchedule(const Program& program, const ScopeCode& scope, bool probing, Schedule* schedule);

}  // namespace df::tagged
