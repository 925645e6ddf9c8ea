// Frames and their lifetime: made with one ref per result to send, finished at 0 refs, freed when nobody names the tag
// either. docs/tagged-engine/frames.md says why none is freed too early and none is forgotten.
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/tail.h"
#include "runtime/engines/tagged/exec/work_sharing.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

Frame* NewFrame(Worker& w, const SiteCode* site, Frame* parent) {
  if (--w.budget == 0) w.StepCheck();
  Frame* frame = w.pool.New(site);
  frame->parent = parent;
  frame->depth = parent ? parent->depth + 1 : 0;
  if (frame->depth > w.stats.max_depth) w.stats.max_depth = frame->depth;
  return frame;
}

void ContinueTag(const Worker& w, Frame* frame, const Frame* caller) {
  frame->tag = HoldTag(caller->tag);
  frame->flags |= kHasTag;
  // Its loop is as deep as that of the caller.
  frame->depth = caller->depth - (frame->site->caller->kind == ir::ScopeKind::Loop);
  // Labels of inlined activations are not looked at for this.
  if (frame->flags & kScheduled) frame->resume = w.program.scheduled.code.data() + frame->scope().plain;
}

void ReleaseValues(Worker& w, Frame* frame) {
  if (!(frame->flags & kObjects)) return;
  frame->flags &= ~(kObjects | kErrors);
  // Eight states at a time: words, and what is not there, have neither of the two lowest bits.
  const uint8_t* states = frame->states();
  uint32_t slots = frame->state_words;
  for (uint32_t i = 0; i < slots; i += 8) {
    uint64_t kinds;
    std::memcpy(&kinds, states + i, 8);
    kinds &= 0x0303030303030303;
    if (slots - i < 8) kinds &= (uint64_t{1} << (slots - i) * 8) - 1;
    while (kinds) {
      uint32_t slot = i + static_cast<uint32_t>(__builtin_ctzll(kinds)) / 8;
      frame->Take(slot);
      kinds &= ~(uint64_t{0xFF} << (slot - i) * 8);
    }
  }
}

void Finish(Worker& w, Frame* frame) {
  while (frame) {
    if (frame->flags & (kProxy | kListed)) {
      if (frame->flags & kProxy) return FinishProxy(w, frame);
      Unlist(w, frame);
    }
    const SiteCode& site = *frame->site;
    TakeReturnSite(w, frame);
    Frame* parent = frame->parent_frame();
    if (frame->flags & kOuterWaiters) w.outer_waiters.erase(frame);
    if (site.type == SiteType::Delay) {
      CellIn(frame, frame->scope().cell_slot)->body = nullptr;
    }
    if (!(frame->pins && frame->scope().read_by_outers)) ReleaseValues(w, frame);
    if (site.type == SiteType::Delay || !parent) {
      if (frame->pins) return;
      FreeFrame(w, frame);
      return;
    }
    if (site.child_slot != kNone && parent->slots()[site.child_slot] == reinterpret_cast<uint64_t>(frame)) {
      parent->slots()[site.child_slot] = 0;
    }
    if (frame->pins) ++parent->pins;  // its ref becomes a pin
    else w.pool.Free(frame);
    frame = --parent->refs == 0 ? parent : nullptr;
  }
}

void FreeFrame(Worker& w, Frame* frame) {
  while (frame) {
    ReleaseValues(w, frame);
    Frame* parent = frame->parent_frame();
    w.pool.Free(frame);
    frame = parent && --parent->pins == 0 && parent->refs == 0 ? parent : nullptr;
  }
}

void Unpin(Worker& w, Frame* frame) {
  if (--frame->pins == 0 && frame->refs == 0) FreeFrame(w, frame);
}

void DrainUnpins(Worker& w) {
  while (!w.unpins.empty()) {
    Frame* frame = w.unpins.back();
    w.unpins.pop_back();
    Unpin(w, frame);
  }
}

void GiveBackChunks(Worker& w) {
  const int64_t before = memory::counters.current;
  if (!w.now || w.now->IsLive()) w.pool.GiveBack();  // else `now` may still be looked at
  if (!w.team) w.cells.GiveBack(w.live_cells);       // else they are on the list of the worker that freed them
  const auto walked = static_cast<int64_t>(w.pool.bytes() + w.cells.bytes());
  w.give_back_at = std::max(before, memory::counters.current + walked / 4) + static_cast<int64_t>(memory::kLargePage);
}

}  // namespace df::tagged
