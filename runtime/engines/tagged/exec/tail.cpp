// Tail calls in scheduled code: frames that wait only to pass a result on.
//
// A call in tail position is made like any other, and its caller's frame waits at a Got whose value the next instruction
// returns. Nothing of that frame will be looked at but its label. So now and then, when the limits are looked at, a row of such
// frames goes: the callee at its end gets the tag that it has, as a node (bounded_tag.h), and gives its result where the first
// of them would have. Call paths stay as they were, and even and odd by mutual recursion run in bounded memory.
#include "runtime/engines/tagged/code/unboxed.h"
#include "runtime/engines/tagged/exec/tail.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

namespace {

constexpr uint32_t kFewTailCallers = 64;  // are left alone

// Whether it only moves something before a return: nothing that anybody sees, but for Stats.
bool OnlyMoves(const ScheduledInstr* in) {
  return in->op == Scheduled::Load || in->op == Scheduled::Move || in->op == Scheduled::MoveOpen || in->op == Scheduled::Jump || in->op == Scheduled::Count;
}
const ScheduledInstr* Behind(const ScheduledInstr* in, const ScheduledCode& code) {
  if (in->op != Scheduled::Jump) return in + 1;
  if (in < code.code.data() + code.first_unboxed) return code.code.data() + in->x;
  // In unboxed code a jump has bytes.
  return reinterpret_cast<const ScheduledInstr*>(reinterpret_cast<const char*>(in) + static_cast<int32_t>(in->x));
}

// Whether all that a frame in scheduled code does with the result it waits for is to return it.
bool PassesOn(const Frame* frame, const ScheduledCode& code) {
  uint32_t flags = frame->flags & ~(kHasTag | kTailed);
  if (frame->refs != 1 || flags != (kLive | kScheduled | kScheduledCaller)) return false;
  const ScheduledInstr* got = frame->resume;
  uint32_t result = got->d;
  // The result may be moved first, and so may words that nobody reads, as a merge that says whether a loop goes on.
  const ScheduledInstr* next = got + 1;
  for (; OnlyMoves(next); next = Behind(next, code)) {
    if (next->op == Scheduled::Count || next->op == Scheduled::Jump) continue;
    if (next->op != Scheduled::Load && next->a == result) result = next->d;
    else if (next->op == Scheduled::MoveOpen || next->d == result) return false;
  }
  switch (got->op) {
    case Scheduled::Got:
    case Scheduled::GotWord: return next->op == Scheduled::Return && next->a == result;
    case Scheduled::GotOpen: return next->op == Scheduled::ReturnOpen && next->a == result;
    default: return false;
  }
}

// Whether the caller of a frame passes its result on.
bool HasTailCaller(const Frame* frame, const ScheduledCode& code) { return frame->flags & kScheduledCaller && PassesOn(frame->parent, code); }

}  // namespace

const SiteCode& TakeReturnSite(Worker& w, Frame* frame) {
  if (!(frame->flags & kTailed)) return *frame->site;
  auto it = w.tailed.find(frame);
  const SiteCode* site = it->second;
  w.tailed.erase(it);
  frame->flags &= ~kTailed;
  return *site;
}

void DropTailCallers(Worker& w, Frame* running) {
  const ScheduledCode& code = w.program.scheduled;
  // The tag of a loop's frame changes with each iteration, so it needs the frame around it.
  Frame* last = running;
  while (last->site->type == SiteType::Loop && HasTailCaller(last, code)) last = last->parent;
  if (last->site->type != SiteType::Call || last->flags & (kListed | kExamined)) return;
  uint32_t count = 0;
  Frame* first = nullptr;
  for (Frame* at = last; HasTailCaller(at, code); at = at->parent, ++count) first = at->parent;
  if (count < kFewTailCallers) return;
  if (w.run.far_tags) GiveFarTag(last, first);
  else TagOf(last);
  auto [noted, is_new] = w.tailed.try_emplace(last, nullptr);
  noted->second = &TakeReturnSite(w, first);
  for (Frame* caller = last->parent;;) {
    Frame* next = caller->parent;
    last->parent = next;
    bool done = caller == first;
    if (!done) TakeReturnSite(w, caller);
    for (const ScheduledInstr* in = caller->resume + 1; OnlyMoves(in); in = Behind(in, code))
      if (in->op == Scheduled::Count) {
        w.stats.firings += in->x;
        ++w.stats.regions;
      }
    w.pool.Free(caller);
    if (done) break;
    caller = next;
  }
  last->flags |= kTailed;
}

}  // namespace df::tagged
