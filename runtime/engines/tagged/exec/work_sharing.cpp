// How a worker gives work away, and what it does when it has none: docs/parallel.md.
#include <algorithm>

#include "runtime/engines/tagged/exec/calls.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/far_calls.h"
#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/event_interpreter.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/spread/placed.h"
#include "runtime/engines/tagged/exec/spread/spread.h"
#include "runtime/engines/tagged/exec/team.h"
#include "runtime/engines/tagged/exec/unboxed_interpreter.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds kShortestPause{50}, kLongestPause{5000};
constexpr microseconds kLongestRefused{20000};  // to look for work costs the one who is asked something
// Work that was stolen and done in less was not worth it.
constexpr microseconds kGrain{50};
constexpr size_t kMostContinued = 1 << 14;  // loops that a worker has taken over from others, and has not ended
constexpr microseconds kPatience{1000};  // with a victim that does not answer, while there are others
constexpr microseconds kLimitsGlance{20000};
// A walk that found nothing is not done again before so many times as long has passed, or the longest time.
constexpr int kWalkShare = 400;
constexpr microseconds kLongestBetweenWalks{1000000};

enum class TailKind : uint8_t { Bound, Done, Givable };
enum : uint8_t { kNotThere, kWordThere, kOpenThere };

// What a reference stands for, which is known.
const Value& ValueOf(const Value& reference) {
  const HostCell* host = HostCellIn(reference.object());
  return host ? host->value : CellOf(reference)->value();
}

}  // namespace

thread_local Worker* Worker::helper = nullptr;

// ---------------------------------------------------------------- what can be given away

// A step of a tail that can be given away: it enters a frame that needs nothing of this one but its arguments, or starts a
// delayed call. Done: nothing of it is left but to pass a value on. `has`: whether a slot holds something.
template <typename Has>
TailKind KindOfTail(const Worker& w, Frame* frame, uint32_t pc, Has has) {
  const Instr& in = w.program.code[pc];
  if (in.code == Code::Call) {
    const SiteCode& site = w.program.sites[in.b];
    // What stands on a part goes to its process, from here.
    bool alone = site.child_slot == kNone && site.late.empty() && site.next_late.empty() && site.callee->process == kNone;
    return alone ? TailKind::Givable : TailKind::Bound;
  }
  if (in.code == Code::Offer) return has(in.a) ? TailKind::Done : TailKind::Bound;
  if (in.code != Code::Wait) return TailKind::Bound;
  if (has(in.a) || IsConstant(in.b)) return TailKind::Done;
  switch (has(in.b)) {
    case kWordThere: return TailKind::Done;
    case kOpenThere: break;
    default: return TailKind::Bound;
  }
  if (frame->KindOf(in.b) == ValueKind::Error) return TailKind::Bound;
  if (frame->KindOf(in.b) != ValueKind::Reference) return TailKind::Done;
  Object* object = ObjectIn(frame, in.b);
  if (HostCellIn(object)) return TailKind::Bound;
  auto* cell = static_cast<DelayCell*>(object);
  CellLock lock(cell);
  if (cell->IsFull()) return cell->value().is_error() ? TailKind::Bound : TailKind::Done;
  return cell->Now() == DelayCell::State::Kept && !cell->missing ? TailKind::Givable : TailKind::Bound;
}

// The Offer in a tail to which nobody has come yet; kNone: there is none.
template <typename Has>
uint32_t OfferIn(const Worker& w, uint32_t pc, Has has) {
  for (; w.program.code[pc].code != Code::End; ++pc)
    if (w.program.code[pc].code == Code::Offer && has(w.program.code[pc].a) == kNotThere) return pc;
  return kNone;
}

// The tail, after steps of which nothing is left.
template <typename Has>
Work WorkInTail(const Worker& w, Frame* frame, uint32_t pc, Has has) {
  uint32_t next = pc;
  while (w.program.code[next].code != Code::End && KindOfTail(w, frame, next, has) == TailKind::Done) ++next;
  if (w.program.code[next].code != Code::End && KindOfTail(w, frame, next, has) == TailKind::Givable) return Work::Ready;
  return OfferIn(w, next, has) == kNone ? Work::None : Work::Offered;
}

// Of a frame that waits in scheduled code.
Work WorkOf(const Worker& w, Frame* frame) {
  if (UnboxedOf(frame)) return Work::None;
  return WorkAt(w, frame, static_cast<uint32_t>(frame->resume - w.program.scheduled.code.data()));
}

// Of one that waits in unboxed code, with all activations that it stands for. Their values are words, so only where they stand
// matters.
Work WorkInUnboxed(const Worker& w, Frame* frame) {
  const UnboxedCode& unboxed = *UnboxedOf(frame);
  const UnboxedPoint& point = unboxed.PointOf(frame->resume);
  Work most = WorkAt(w, frame, point.pc);
  for (uint32_t at = point.activation; at != 0 && most != Work::Ready; at = unboxed.activations[at].parent)
    most = std::max(most, WorkAt(w, frame, unboxed.activations[at].return_pc));
  return most;
}

// Of a frame that waits at this instruction of scheduled code.
Work WorkAt(const Worker& w, Frame* frame, uint32_t resume) {
  const ScheduledCode& scheduled = w.program.scheduled;
  const ScheduledState& state = scheduled.states[scheduled.state_of[resume]];
  Work most = Work::None;
  if (state.pc != kNone) return most;
  auto has = [&](uint32_t slot) -> uint8_t { return state.states[slot] == kKept ? kOpenThere : state.states[slot] ? kWordThere : kNotThere; };
  for (uint32_t pc : state.tails) most = std::max(most, WorkInTail(w, frame, pc, has));
  return most;
}

// In this entry of the stack.
Work WorkIn(const Worker& w, const Worker::Item& item) {
  if (!item.frame || item.pc == kNone) return Work::None;
  auto has = [&](uint32_t slot) -> uint8_t { return item.frame->Has(slot) ? kOpenThere : kNotThere; };
  return WorkInTail(w, item.frame, item.pc, has);
}

// Who cannot go on before this frame gives its result; null: nobody here.
Frame* WaiterOf(Frame* frame) {
  if (frame->flags & kProxy) return nullptr;
  if (frame->site->type != SiteType::Delay) return frame->parent_frame();
  return CellIn(frame, frame->scope().cell_slot)->waiter;
}

// From the frame that runs to those that wait for it, and for them, up to where that was done before: whose callers have work is
// noted in Worker::candidates. Some of the frames on the way are marked, so that the next time most are left out; the marks go with
// the frames. They are twice as far apart each time: who has returned past some of them has as many frames to look at as he has left.
void Examine(Worker& w, Frame* running) {
  constexpr uint32_t kMostFrames = 1 << 22, kMostCandidates = 4096, kFirstMark = 63;
  std::vector<std::pair<uint32_t, Frame*>> found;  // the youngest first
  std::vector<std::pair<uint32_t, Frame*>> marks;
  Frame* below = running;
  uint32_t next_mark = kFirstMark;
  for (uint32_t n = 0; n < kMostFrames && !(below->flags & kExamined); ++n) {
    Frame* at = WaiterOf(below);
    if (!at) break;
    if (below->flags & kScheduledCaller && UnboxedOf(at) && WorkInUnboxed(w, at) != Work::None) {  // the others stay in unboxed code
      OutlineCaller(w, below);
      at = WaiterOf(below);
    }
    if (at->flags & kScheduled && WorkOf(w, at) != Work::None) found.push_back({n, below});
    if (n == next_mark) {
      marks.push_back({n, below});
      next_mark = 2 * n + 1;
    }
    below = at;
  }
  size_t first = found.size() > kMostCandidates ? found.size() - kMostCandidates : 0;
  for (auto [n, frame] : marks)
    if (found.empty() || first == 0 || n >= found[first].first) frame->flags |= kExamined;
  for (size_t i = found.size(); i-- > first;) {
    found[i].second->flags |= kListed;
    w.candidates.push_back(found[i].second);
  }
}

void Unlist(Worker& w, Frame* frame) {
  while (!w.candidates.empty()) {
    Frame* youngest = w.candidates.back();
    w.candidates.pop_back();
    youngest->flags &= ~kListed;
    if (w.offered == youngest) w.offered = nullptr;
    if (youngest == frame) return;
  }
}

// The frame below the oldest one in scheduled code that has work and waits for it.
Frame* OldestCandidate(Worker& w, Frame* running) {
  if (w.candidates.empty() && (w.run.stress || Clock::now() >= w.examine_at)) {
    auto began = Clock::now();
    Examine(w, running);
    auto now = Clock::now();
    if (w.candidates.empty()) w.examine_at = now + std::min<Clock::duration>(kWalkShare * (now - began), kLongestBetweenWalks);
  }
  while (!w.candidates.empty()) {
    Frame* below = w.candidates.front();
    Frame* at = WaiterOf(below);
    if (at && at != running && at->flags & kScheduled && WorkOf(w, at) != Work::None) return below;
    w.candidates.pop_front();
    below->flags &= ~kListed;
    if (w.offered == below) w.offered = nullptr;
  }
  return nullptr;
}

// Whether it is worth it to give away what is left of a loop that waits for `below`: not while elements follow each other quickly, nor
// beyond so many that wait for each other's sums.
bool IsDue(Worker& w, Frame* below) {
  if (w.run.stress || WorkOf(w, WaiterOf(below)) == Work::Ready) return true;
  if (w.proxies.size() >= kMostContinued) return false;
  Clock::time_point now = Clock::now();
  if (w.offered != below) w.offered_at = now;
  w.offered = below;
  return now - w.offered_at >= kGrain;
}

// ---------------------------------------------------------------- giving away

// `running` stands before a call in scheduled code; null: between two entries of the stack. Nobody gives away all it has.
bool GiveWork(Worker& w, Asker& thief, Frame* running) {
  constexpr size_t kMostEntries = 64;
  size_t entries = running ? w.stack.size() : w.stack.size() - 1;
  size_t entry = 0;
  auto has_work = [&](const Worker::Item& item) { return WorkIn(w, item) >= (w.run.stress ? Work::Offered : Work::Ready); };
  while (entry < std::min(entries, kMostEntries) && !has_work(w.stack[entry])) ++entry;
  bool has_entry = entry < std::min(entries, kMostEntries);
  Frame* from = running ? running : w.stack.back().frame;
  Frame* below = from ? OldestCandidate(w, from) : nullptr;
  if (below && !IsDue(w, below)) below = nullptr;
  if (below && (!has_entry || WaiterOf(below)->depth <= w.stack[entry].frame->depth)) {
    w.candidates.pop_front();
    below->flags &= ~kListed;
    if (GiveFrom(w, below, thief)) return true;
    has_entry = false;  // the stack has changed
  }
  return has_entry && GiveEntry(w, entry, thief);
}

// The frame that waits for `below` leaves scheduled code. What it has still to do goes onto the stack as far down as its age asks.
bool GiveFrom(Worker& w, Frame* below, Asker& thief) {
  Frame* frame = WaiterOf(below);
  size_t base = w.stack.size();
  if (below->flags & kScheduledCaller) {
    below->flags &= ~kScheduledCaller;
    ++frame->refs;  // event code counts its callees
  }
  LeaveScheduled(w, frame);
  bool given = false;
  for (size_t i = base; i < w.stack.size() && !given; ++i) given = WorkIn(w, w.stack[i]) != Work::None && GiveEntry(w, i, thief);
  size_t at = base;
  while (at > 0 && w.stack[at - 1].frame && w.stack[at - 1].frame->depth > frame->depth) --at;
  std::rotate(w.stack.begin() + static_cast<ptrdiff_t>(at), w.stack.begin() + static_cast<ptrdiff_t>(base), w.stack.end());
  return given;
}

// The loop of this frame ends with what is there, and the thief goes on with what is left of it.
bool TakeOffer(Worker& w, Frame* frame, uint32_t pc, Asker& thief) {
  if (frame->flags & kQueued) return false;
  const Instr& in = w.program.code[pc];
  frame->Set(in.a, Value::Word(1));
  frame->flags |= kQueued;
  ++frame->refs;
  w.Fire(frame, in.c);
  w.now = frame;
  RunReady(w, frame, kNone, /*on=*/false);
  bool given = false;
  for (size_t i = w.stack.size(); i-- > 0 && !given;)
    given = w.stack[i].frame == frame && WorkIn(w, w.stack[i]) == Work::Ready && GiveEntry(w, i, thief);
  w.Unref(frame);
  return given;
}

// The next step of the tail in this entry of the stack, or what it offers: there is one of both (WorkIn).
bool GiveEntry(Worker& w, size_t index, Asker& thief) {
  auto [frame, none, pc] = w.stack[index];
  auto has = [frame = frame](uint32_t slot) -> uint8_t { return frame->Has(slot) ? kOpenThere : kNotThere; };
  for (; KindOfTail(w, frame, pc, has) == TailKind::Done; w.stack[index].pc = ++pc) {
    const Instr& done = w.program.code[pc];
    if (!frame->Has(done.a)) TryForce(w, frame, done, w.program.node_of[pc]);
    else if (done.aux & kLastB) w.Use(frame, done.b, true);
    if (w.program.code[pc + 1].code == Code::End) return false;  // others have changed what WorkIn saw; its last step stays
  }
  if (uint32_t offer = OfferIn(w, pc, has); offer != kNone && KindOfTail(w, frame, pc, has) != TailKind::Givable)
    return TakeOffer(w, frame, offer, thief);
  const Instr& in = w.program.code[pc];
  std::unique_ptr<Message> message;
  if (in.code == Code::Call) {
    const SiteCode& site = w.program.sites[in.b];
    message = std::make_unique<Message>(Message::Kind::Call, &w);
    message->tag = HoldTag(TagOf(frame));
    message->depth = frame->depth;
    message->frame = frame;
    message->site = &site;
    message->arguments.reserve(site.together.size());
    for (const Delivery& d : site.together) message->arguments.push_back(w.Use(frame, d.from, d.last));
  } else {
    message = std::make_unique<Message>(Message::Kind::Cell, &w);
    DelayCell* cell = CellIn(frame, in.b);
    CellLock lock(cell);
    if (!Release(w, cell)) return false;
    w.team->AddWaiter(cell, &w, {frame, pc});
    cell->more_waiters = true;
    lock.Unlock();
    message->value = w.Use(frame, in.b, in.aux & kLastB);
  }
  ++frame->refs;  // for the call, or for the Force that waits
  if (w.program.code[pc + 1].code != Code::End) {
    ++w.stack[index].pc;
  } else {
    w.stack.erase(w.stack.begin() + static_cast<ptrdiff_t>(index));
    --frame->refs;
  }
  if (thief.is_far) return HandFar(w, static_cast<FarPeer&>(thief), std::move(message));
  w.team->Send(static_cast<Worker&>(thief), std::move(message));
  return true;
}

void AnswerThief(Worker& w, Frame* running) {
  Asker* thief = w.mailbox.TakeAsking();
  if (!thief) return;
  if (GiveWork(w, *thief, running)) {
    ++w.stats.steals;
    return;
  }
  Refuse(w, *thief);
}

void Refuse(const Worker& w, Asker& thief) {
  if (thief.is_far) return w.team->far()->Refuse(static_cast<FarPeer&>(thief));
  thief.mailbox.refused.store(true);
  thief.mailbox.Wake();
}

// ---------------------------------------------------------------- every so many steps

bool PollInScheduled(Worker& w, Frame* frame) {
  w.poll_due = false;
  AnswerThief(w, frame);
  if (!w.mailbox.HasMail()) return false;
  w.interrupted = frame;
  return true;
}

size_t OfferTails(Worker& w, Frame* frame, size_t base) {
  if (base == 0 || w.stack[base - 1].frame != w.interrupted) return base;
  auto rest = std::stable_partition(w.tails.begin(), w.tails.end(), [&](uint32_t pc) { return WorkIn(w, Worker::Item{frame, nullptr, pc}) == Work::Ready; });
  std::vector<uint32_t> bound(rest, w.tails.end());
  w.tails.erase(rest, w.tails.end());
  size_t offered = w.tails.size();
  if (offered) PushTails(w, frame, base - 1);
  w.tails = std::move(bound);
  return base + offered;
}

void Poll(Worker& w) {
  w.poll_due = false;
  ReadMail(w, false);
  if (!w.stack.empty()) AnswerThief(w, nullptr);
}

void CheckTeam(Worker& w) {
  if (w.index != 0 && w.team->ending()) throw Ending{};
  if (w.index == 0 && w.team->failed()) w.team->Rethrow();
  if (w.index == 0 && w.team->far() && w.team->far()->over()) throw Ending{};
  if (w.index != 0 && w.team->wants_hold_up()) {
    w.team->EnterSafe();
    w.team->LeaveSafe();
  }
  memory::counters.budget->Publish();
  if (Far* far = w.team->far()) far->NoteLook(w.index, memory::counters.current);
  w.team->EndSharingIfAlone();
  w.poll_due = true;
}

// ---------------------------------------------------------------- messages

// The mail is read. With `all`; else the stress mode may leave it for later.
bool ReadMail(Worker& w, bool all) {
  if (!w.mailbox.HasMail() || (!all && w.run.stress && Random(w) % 4 != 0)) return false;
  // The rest is kept if one of them fails, so that it goes with the worker.
  for (w.mail.reset(w.mailbox.TakeAll()); w.mail;) {
    std::unique_ptr<Message> message = std::move(w.mail);
    w.mail.reset(std::exchange(message->next, nullptr));
    w.StandAt(nullptr);
    Receive(w, *message);
    message.reset();
    w.team->EndWork();
  }
  return true;
}

void Receive(Worker& w, Message& message) {
  if (message.kind == Message::Kind::Call || message.kind == Message::Kind::Cell) {
    if (message.from == w.victim) w.victim = nullptr;
    w.stolen = true;
    w.stolen_at = Clock::now();
  }
  switch (message.kind) {
    case Message::Kind::Call: return ReceiveCall(w, message);
    case Message::Kind::Cell: return StartCell(w, CellOf(message.value));
    case Message::Kind::Result: return GiveBack(w, message.frame, message.site->returns[message.number], std::move(message.value));
    case Message::Kind::Finished: return w.Unref(message.frame);
    case Message::Kind::Forced:
      // Without a frame: the run waits for it, and looks itself.
      if (message.frame || message.call) Answer(w, {message.frame, message.number, message.call}, ValueOf(message.value));
      return;
    case Message::Kind::Operand: {
      DelayCell* cell = CellOf(message.reference);
      if (cell->body) Deliver(w, cell->body, cell->site->together[message.number], std::move(message.value));
      return;
    }
    case Message::Kind::AskHost: w.questions.push_back({std::move(message.value), static_cast<Worker*>(message.from), {message.frame, message.number}}); return;
    case Message::Kind::LeaveScheduled:
      if (LeaveAllScheduled(w)) w.execution.NoteLeft();
      return;
    case Message::Kind::FarCall: return ReceiveFarCall(w, message);
    case Message::Kind::FarAnswer:
      ReceiveFarAnswer(w, message);
      // The stress mode has all frames leave scheduled code just when some have been given what they waited for.
      if (w.run.stress && Random(w) % 8 == 0) LeaveAllScheduled(w);
      return;
    case Message::Kind::FarGone: return LoseFar(w, *static_cast<FarPeer*>(message.from));
    case Message::Kind::FarLeave: return LeaveForFar(w);
    case Message::Kind::FarObject: return ReceiveFarObject(w, message);
    case Message::Kind::Pieces: return ReceivePieces(w, message);
  }
}

// The activation of a call that was given away, as if its caller were here.
void ReceiveCall(Worker& w, Message& message) {
  const SiteCode& site = *message.site;
  auto made = std::make_unique<Proxy>();
  w.proxies.insert(made.get());
  Proxy* proxy = made.release();
  proxy->site = &site;
  proxy->refs = 1;
  proxy->depth = message.depth;
  proxy->flags = kLive | kProxy | kTagParent | kHasTag;
  proxy->tag = std::exchange(message.tag, nullptr);
  proxy->home = message.from;
  if (message.from->is_far) proxy->call = message.call;
  else proxy->caller = message.frame;
  if (site.spread_from != SiteCode::kNoPieces && !(message.from->is_far && message.call->IsPieces())) {
    CallSpread(w, proxy, site, message.arguments);
    return w.Unref(proxy);
  }
  Frame* caller = proxy;
  bool scheduled = site.callee->scheduled != kNone && std::none_of(message.arguments.begin(), message.arguments.end(),
                                                             [](const Value& v) { return v.is_error(); });
  ++(site.type == SiteType::Loop ? w.stats.loops : w.stats.calls);
  Frame* child = scheduled ? NewScheduled(w, &site, proxy, proxy->depth + 1, kLive | kScheduled) : NewFrame(w, &site, proxy);
  if (site.continues) ContinueTag(w, child, caller);
  ++proxy->refs;
  auto set = [&](uint32_t slot, Value value) { scheduled ? Put(child, slot, std::move(value)) : child->Set(slot, std::move(value)); };
  for (size_t i = 0; i < site.together.size(); ++i) set(site.together[i].to, std::move(message.arguments[i]));
  if (site.type == SiteType::Loop) set(site.callee->iteration_slot, Value::Word(0));
  if (site.callee->spread) TagOf(child);
  if (scheduled) w.Push(child, kNone);
  else Enter(w, child, site, site.together);
  w.Unref(proxy);
}

void SendHome(Worker& w, Frame* parent, const SiteCode& site, uint32_t result, Value value) {
  auto* proxy = static_cast<Proxy*>(parent);
  if (proxy->home->is_far) return SendFar(w, *proxy->call, site, result, value);
  auto message = std::make_unique<Message>(Message::Kind::Result, &w);
  message->frame = proxy->caller;
  message->site = &site;
  message->number = result;
  message->value = std::move(value);
  w.team->Send(static_cast<Worker&>(*proxy->home), std::move(message));
}

void FinishProxy(Worker& w, Frame* frame) {
  auto* proxy = static_cast<Proxy*>(frame);
  Asker& home = *proxy->home;
  Frame* caller = home.is_far ? nullptr : proxy->caller;
  FarCall* call = home.is_far ? proxy->call : nullptr;
  DropTag(proxy->tag);
  w.proxies.erase(proxy);
  delete proxy;
  if (call) return FinishFar(w, call);
  auto message = std::make_unique<Message>(Message::Kind::Finished, &w);
  message->frame = caller;
  w.team->Send(static_cast<Worker&>(home), std::move(message));
}

// ---------------------------------------------------------------- nothing to do

bool FindWork(Worker& w) {
  if (ReadMail(w, true) || MoveSpread(w)) return true;
  if (!w.questions.empty()) {
    AnswerQuestion(w);
    return true;
  }
  memory::counters.budget->Publish();
  if (Far* far = w.team->far()) far->NoteLook(w.index, memory::counters.current);
  Clock::time_point now = Clock::now();
  if (w.stolen && now - w.stolen_at < kGrain) w.pause = std::min(2 * w.pause, kLongestPause);
  else if (w.stolen) w.pause = kShortestPause;
  bool rest = w.stolen && w.pause > kShortestPause;
  w.stolen = false;
  BeIdle(w);
  bool some = true;
  try {
    for (; !w.mailbox.HasMail() && !(w.index != 0 && w.team->ending()); rest = false) {
      if (w.index == 0) {
        if (w.team->failed()) w.team->Rethrow();
        // Calls that the root of a run has do not come back when the run is over.
        Far* far = w.team->far();
        if ((w.team->active() == 0 && !w.mailbox.HasMail() && !(far && far->Awaits())) || (far && far->over())) {
          some = false;
          break;
        }
        w.execution.CheckLimits();
        w.execution.CollectIfDue();
      }
      if (SpreadHasToMove(w)) break;
      if (rest && !w.run.stress) w.mailbox.Sleep(w.pause);
      else Steal(w);
    }
  } catch (...) {
    w.team->BeginWork();
    w.mailbox.idle.store(false);
    throw;
  }
  w.team->BeginWork();
  w.mailbox.idle.store(false);
  if (w.index != 0) w.team->LeaveSafe();
  return some;
}

void BeIdle(Worker& w) {
  w.StandAt(nullptr);
  w.execution.NoteRest(w.index);
  if (Asker* thief = w.mailbox.TakeAsking()) Refuse(w, *thief);
  w.mailbox.idle.store(true);
  // Who has asked meanwhile may not have seen it.
  if (Asker* thief = w.mailbox.TakeAsking()) Refuse(w, *thief);
  if (w.index != 0) w.team->EnterSafe();
  w.team->EndWork(&w);
}

// One attempt, and a wait.
void Steal(Worker& w) {
  if (w.victim) {
    if (w.mailbox.refused.exchange(false)) {
      w.victim = nullptr;
      if (w.run.stress) return;
      w.mailbox.Sleep(w.pause);
      w.pause = std::min(2 * w.pause, kLongestRefused);
      return;
    }
    w.mailbox.Sleep(w.team->size() > 2 ? kPatience : kLimitsGlance);
    if (w.mailbox.HasMail() || w.mailbox.refused.load()) return;
    if (w.victim->mailbox.Retract(&w)) w.victim = nullptr;
    return;
  }
  uint32_t size = w.team->size(), start = static_cast<uint32_t>(Random(w) % size);
  for (uint32_t i = 0; i < size; ++i) {
    Worker& other = w.team->worker((start + i) % size);
    if (&other == &w || other.mailbox.idle.load() || !other.mailbox.Ask(&w)) continue;
    w.victim = &other;
    // Nobody answers there any more.
    if (other.mailbox.idle.load() && other.mailbox.Retract(&w)) w.victim = nullptr;
    else return;
  }
  // Nobody has anything here.
  Far* far = w.team->far();
  const microseconds quiet = far ? far->AskFor(w) : microseconds(0);
  if (quiet == microseconds(0) || w.run.stress) return Rest(w);
  w.mailbox.Sleep(quiet);
}

void Rest(Worker& w) {
  w.mailbox.Sleep(w.pause);
  w.pause = std::min(2 * w.pause, kLongestPause);
}

void Serve(Worker& w) {
  try {
    while (!w.team->ending()) {
      while (!w.stack.empty()) w.Step();
      FindWork(w);
    }
  } catch (const Ending&) {
  }
}

uint64_t Random(Worker& w) {
  // xorshift64*
  w.random ^= w.random >> 12;
  w.random ^= w.random << 25;
  w.random ^= w.random >> 27;
  return w.random * 0x2545F4914F6CDD1D;
}

}  // namespace df::tagged
