// Frames that stand in word code: which activations they are, and how each of these gets a frame of its own.
#include <algorithm>

#include "runtime/engines/tagged/code/words.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

namespace {

// From the outermost inlined one to the innermost.
std::vector<const InlinedActivation*> Inlined(const Frame* frame, const WordCode& words) {
  std::vector<const InlinedActivation*> chain;
  for (uint32_t at = words.PointOf(frame->resume).activation; at != 0; at = words.activations[at].parent)
    chain.push_back(&words.activations[at]);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace

void ForEachInlinedLabel(const Frame* frame, llvm::function_ref<void(const Label& label)> each) {
  const WordCode* words = WordsOf(frame);
  if (!words) return;
  const uint64_t* slots = const_cast<Frame*>(frame)->slots();
  for (uint32_t i = words->PointOf(frame->resume).activation; i != 0; i = words->activations[i].parent) {
    const InlinedActivation& at = words->activations[i];
    bool loop = at.site->type == SiteType::Loop;
    each({at.site->label, loop, loop ? slots[at.slots[at.site->callee->iteration_slot]] : 0});
  }
}

uint32_t InlinedDepth(const Frame* frame) {
  const WordCode* words = WordsOf(frame);
  return words ? words->activations[words->PointOf(frame->resume).activation].depth : 0;
}

const ScopeCode& InnermostScope(const Frame* frame) {
  if (const WordCode* words = WordsOf(frame))
    if (uint32_t at = words->PointOf(frame->resume).activation) return *words->activations[at].site->callee;
  return frame->scope();
}

// The frame stands before an instruction of word code, or waits in it for `callee`. The innermost of the frames that there are now.
Frame* Worker::Outline(Frame* frame, Frame* callee) {
  const WordCode& words = *WordsOf(frame);
  const DirectInstr* code = program_.direct.code.data();
  WordPoint point = words.PointOf(frame->resume);
  std::vector<const InlinedActivation*> chain = Inlined(frame, words);
  std::vector<Frame*> frames{frame};
  frames.reserve(1 + chain.size());  // what was taken from the pool must have its place here
  try {
    for (const InlinedActivation* at : chain) frames.push_back(pool_.Take(at->site));
  } catch (...) {
    for (size_t i = 1; i < frames.size(); ++i) {
      frames[i]->flags_and_words = 0;
      pool_.Free(frames[i]);
    }
    throw;
  }
  for (size_t i = 1; i < frames.size(); ++i) {
    Frame* made = frames[i];
    const SiteCode* site = chain[i - 1]->site;
    made->parent = frames[i - 1];
    made->set_head(HeadOf(kLive | kDirect | kDirectCaller, site->callee->num_slots));
    made->pins = 0;
    made->depth = frame->depth + chain[i - 1]->depth;
    for (uint32_t slot = 0; slot < site->callee->num_slots; ++slot) made->slots()[slot] = frame->slots()[chain[i - 1]->slots[slot]];
    frames[i - 1]->resume = code + chain[i - 1]->return_pc;
  }
  // The frame's own activation: what word code keeps elsewhere.
  const InlinedActivation& own = words.activations[0];
  for (uint32_t slot = 0; slot < own.slots.size(); ++slot)
    if (own.slots[slot] != slot) frame->slots()[slot] = frame->slots()[own.slots[slot]];
  for (size_t i = 0; i < frames.size(); ++i) {
    Frame* made = frames[i];
    for (auto [slot, value] : *(i ? chain[i - 1] : &own)->constants) made->slots()[slot] = static_cast<uint64_t>(value);
    const std::vector<bool>& integers = program_.direct.integers[made->scope().id.index];
    for (uint32_t slot = 0; slot < integers.size(); ++slot)
      if (integers[slot]) made->states()[slot] = kPresent | static_cast<uint8_t>(ValueKind::Word);
  }
  Frame* innermost = frames.back();
  innermost->resume = code + point.pc;
  if (callee) callee->parent = innermost;
  return innermost;
}

// Word code never waits for a callee that is not in direct code: before one leaves, or lingers, its caller is outlined.
void Worker::OutlineCaller(Frame* frame) {
  if (frame->flags & kDirectCaller && WordsOf(frame->parent)) Outline(frame->parent, frame);
}

// Of all frames that wait, or stand, in word code.
void Worker::OutlineAll() {
  std::vector<Frame*> callees;
  for (Item& item : stack_) {
    if (!item.frame || item.pc != kNone || !WordsOf(item.frame)) continue;
    Frame* frame = item.frame;
    item.frame = Outline(frame, nullptr);
    if (item.frame == frame) continue;
    --frame->refs;
    ++item.frame->refs;
  }
  pool_.ForEachLive([&](Frame* frame) {
    if (frame->flags & kDirectCaller) callees.push_back(frame);
  });
  for (Frame* callee : callees) OutlineCaller(callee);
}

}  // namespace df::tagged
