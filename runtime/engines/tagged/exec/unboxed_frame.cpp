// Frames that stand in unboxed code: which activations they are, and how each of these gets a frame of its own.
#include <algorithm>

#include "runtime/engines/tagged/code/unboxed.h"
#include "runtime/engines/tagged/exec/unboxed_interpreter.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

namespace {

// From the outermost inlined one to the innermost.
std::vector<const InlinedActivation*> Inlined(const Frame* frame, const UnboxedCode& unboxed) {
  std::vector<const InlinedActivation*> chain;
  for (uint32_t at = unboxed.PointOf(frame->resume).activation; at != 0; at = unboxed.activations[at].parent)
    chain.push_back(&unboxed.activations[at]);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace

void ForEachInlinedLabel(const Frame* frame, llvm::function_ref<void(const Label& label)> each) {
  const UnboxedCode* unboxed = UnboxedOf(frame);
  if (!unboxed) return;
  const uint64_t* slots = const_cast<Frame*>(frame)->slots();
  for (uint32_t i = unboxed->PointOf(frame->resume).activation; i != 0; i = unboxed->activations[i].parent) {
    const InlinedActivation& at = unboxed->activations[i];
    bool loop = at.site->type == SiteType::Loop;
    each({at.site->label, loop, loop ? slots[at.slots[at.site->callee->iteration_slot]] : 0});
  }
}

uint32_t InlinedDepth(const Frame* frame) {
  const UnboxedCode* unboxed = UnboxedOf(frame);
  return unboxed ? unboxed->activations[unboxed->PointOf(frame->resume).activation].depth : 0;
}

const ScopeCode& InnermostScope(const Frame* frame) {
  if (const UnboxedCode* unboxed = UnboxedOf(frame))
    if (uint32_t at = unboxed->PointOf(frame->resume).activation) return *unboxed->activations[at].site->callee;
  return frame->scope();
}

Frame* Outline(Worker& w, Frame* frame, Frame* callee) {
  const UnboxedCode& unboxed = *UnboxedOf(frame);
  const ScheduledInstr* code = w.program.scheduled.code.data();
  UnboxedPoint point = unboxed.PointOf(frame->resume);
  std::vector<const InlinedActivation*> chain = Inlined(frame, unboxed);
  std::vector<Frame*> frames{frame};
  frames.reserve(1 + chain.size());  // what was taken from the pool must have its place here
  try {
    for (const InlinedActivation* at : chain) frames.push_back(w.pool.Take(at->site));
  } catch (...) {
    for (size_t i = 1; i < frames.size(); ++i) {
      frames[i]->flags_and_words = 0;
      w.pool.Free(frames[i]);
    }
    throw;
  }
  for (size_t i = 1; i < frames.size(); ++i) {
    Frame* made = frames[i];
    const SiteCode* site = chain[i - 1]->site;
    made->parent = frames[i - 1];
    made->set_head(HeadOf(kLive | kScheduled | kScheduledCaller, site->callee->num_slots));
    made->pins = 0;
    made->depth = frame->depth + chain[i - 1]->depth;
    for (uint32_t slot = 0; slot < site->callee->num_slots; ++slot) made->slots()[slot] = frame->slots()[chain[i - 1]->slots[slot]];
    frames[i - 1]->resume = code + chain[i - 1]->return_pc;
  }
  // The frame's own activation: what unboxed code keeps elsewhere.
  const InlinedActivation& own = unboxed.activations[0];
  for (uint32_t slot = 0; slot < own.slots.size(); ++slot)
    if (own.slots[slot] != slot) frame->slots()[slot] = frame->slots()[own.slots[slot]];
  for (size_t i = 0; i < frames.size(); ++i) {
    Frame* made = frames[i];
    for (auto [slot, value] : *(i ? chain[i - 1] : &own)->constants) made->slots()[slot] = static_cast<uint64_t>(value);
    const std::vector<bool>& integers = w.program.scheduled.integers[made->scope().id.index];
    for (uint32_t slot = 0; slot < integers.size(); ++slot)
      if (integers[slot]) made->states()[slot] = kPresent | static_cast<uint8_t>(ValueKind::Word);
  }
  Frame* innermost = frames.back();
  innermost->resume = code + point.pc;
  if (callee) callee->parent = innermost;
  return innermost;
}

void OutlineCaller(Worker& w, Frame* frame) {
  if (frame->flags & kScheduledCaller && UnboxedOf(frame->parent)) Outline(w, frame->parent, frame);
}

void OutlineAll(Worker& w) {
  std::vector<Frame*> callees;
  for (Worker::Item& item : w.stack) {
    if (!item.frame || item.pc != kNone || !UnboxedOf(item.frame)) continue;
    Frame* frame = item.frame;
    item.frame = Outline(w, frame, nullptr);
    if (item.frame == frame) continue;
    --frame->refs;
    ++item.frame->refs;
  }
  w.pool.ForEachLive([&](Frame* frame) {
    if (frame->flags & kScheduledCaller) callees.push_back(frame);
  });
  for (Frame* callee : callees) OutlineCaller(w, callee);
}

}  // namespace df::tagged
