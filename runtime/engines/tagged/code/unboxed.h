// runtime/engines/tagged/code/unboxed.h
//
// Unboxed code (docs/tagged-engine/unboxed-code.md): scheduled code of scopes whose values are all words, with calls inlined. It has an
// interpreter of its own, whose state fits into registers.
//
// A frame that runs unboxed code stands for several activations: its own, and those of the calls that were inlined where it
// stands. Whoever must see them one by one (an error, a thief, a message's call path) finds in UnboxedCode which they are;
// Outline makes frames of them, which go on by the scheduled code of each.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/engines/tagged/code/scheduled.h"
#include "runtime/run/tag.h"

namespace df::tagged {

struct Frame;
struct Options;
struct Program;
struct ScopeCode;
struct SiteCode;

// An activation whose values are in the frame of another one.
struct InlinedActivation {
  uint32_t parent = 0;                // who has called it
  const SiteCode* site = nullptr;
  uint32_t depth = 0;                 // labels above the frame's own
  uint32_t return_pc = 0;             // in the caller's scheduled code: the Got that takes its result
  std::vector<uint16_t> slots;        // by slot of its scope: where the frame has it,
  std::shared_ptr<const std::vector<std::pair<uint16_t, int64_t>>> constants;  // but for these, which are known
};

// Where an instruction of unboxed code stands in scheduled code.
struct UnboxedPoint {
  uint32_t activation;
  uint32_t pc;
};

struct UnboxedCode {
  uint32_t begin = 0, end = 0;                 // in ScheduledCode::code
  const ScheduledInstr* first = nullptr;          // the instruction at `begin`
  std::vector<InlinedActivation> activations;  // the first one is the frame's own
  std::vector<UnboxedPoint> points;               // by instruction

  // A frame that stands at the first one may still take the scope's other scheduled code.
  bool Holds(const ScheduledInstr* at) const { return at > first && at < first + (end - begin); }
  const UnboxedPoint& PointOf(const ScheduledInstr* at) const { return points[static_cast<size_t>(at - first)]; }
};

// Makes unboxed code of the scopes whose scheduled code is fit for it.
void MakeUnboxed(Program& program, const Options& options, llvm::function_ref<void()> pause);

// The labels of the inlined activations in which a frame stands, innermost first.
void ForEachInlinedLabel(const Frame* frame, llvm::function_ref<void(const Label& label)> each);
// How many there are.
uint32_t InlinedDepth(const Frame* frame);
// The scope of the innermost activation.
const ScopeCode& InnermostScope(const Frame* frame);

}  // namespace df::tagged
