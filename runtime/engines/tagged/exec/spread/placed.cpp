#include "runtime/engines/tagged/exec/spread/placed.h"

#include <chrono>
#include <memory>

#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/far.h"
#include "runtime/engines/tagged/exec/far_calls.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/team.h"

namespace df::tagged {

namespace {

// Who has so many calls away goes on slowly, so that a run that could make a million at once does not hold them all. It does not stop: what it
// would do next may be what the others wait for.
constexpr size_t kManyAway = 512;
constexpr std::chrono::microseconds kLongestWait{1000};

}  // namespace

FarPeer* FindProcess(Worker& w, const SiteCode& site) {
  if (site.type != SiteType::Call || !w.team) return nullptr;
  Far* far = w.team->far();
  FarPeer* process = far ? far->PeerOfRank(site.callee->process) : nullptr;
  const bool whole = site.child_slot == kNone && site.late.empty() && site.next_late.empty();
  if (process && !whole) ++far->stats.kept_back;
  return whole ? process : nullptr;
}

void CallPlaced(Worker& w, Frame* frame, const SiteCode& site, std::vector<Value> arguments, FarPeer& process) {
  auto message = std::make_unique<Message>(Message::Kind::Call, &w);
  message->tag = HoldTag(TagOf(frame));
  message->depth = frame->depth;
  message->frame = frame;
  message->site = &site;
  message->arguments = std::move(arguments);
  ++frame->refs;  // until it is done
  HandFar(w, process, std::move(message));
  if (w.away.size() < kManyAway) return;
  if (!w.mailbox.HasMail()) w.mailbox.Sleep(kLongestWait);
  w.poll_due = true;
}

void GiveBack(Worker& w, Frame* frame, const ReturnTo& to, Value value) {
  if (frame->flags & kScheduled && GiveScheduled(w, frame, to.slot, value)) return;
  const bool failed = value.is_error();
  frame->Set(to.slot, std::move(value));
  w.Fire(frame, to.event);
  if (failed) PassError(w, frame, {to.node, 0});
}

}  // namespace df::tagged
