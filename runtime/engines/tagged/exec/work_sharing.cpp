// How a worker gives work away, and what it does when it has none: docs/parallel.md.
#include <algorithm>

#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/team.h"

namespace df::tagged {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds kShortestPause{50}, kLongestPause{5000};
constexpr microseconds kLongestRefused{20000};  // to look for work costs the one who is asked something
// Work that was stolen and done in less was not worth it.
constexpr microseconds kGrain{50};
constexpr microseconds kPatience{1000};  // with a victim that does not answer, while there are others
constexpr microseconds kLimitsGlance{20000};
// A walk that found nothing is not done again before so many times as long has passed, or the longest time.
constexpr int kWalkShare = 400;
constexpr microseconds kLongestBetweenWalks{1000000};

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
Worker::StepKind Worker::KindOfStep(Frame* frame, uint32_t pc, Has has) const {
  const Instr& in = program_.code[pc];
  if (in.code == Code::Call) {
    const SiteCode& site = program_.sites[in.b];
    bool alone = site.child_slot == kNone && site.late.empty() && site.next_late.empty();
    return alone ? StepKind::Givable : StepKind::Bound;
  }
  if (in.code != Code::Wait) return StepKind::Bound;
  if (has(in.a) || IsConstant(in.b)) return StepKind::Done;
  switch (has(in.b)) {
    case kWordThere: return StepKind::Done;
    case kOpenThere: break;
    default: return StepKind::Bound;
  }
  if (frame->KindOf(in.b) == ValueKind::Error) return StepKind::Bound;
  if (frame->KindOf(in.b) != ValueKind::Reference) return StepKind::Done;
  Object* object = ObjectIn(frame, in.b);
  if (HostCellIn(object)) return StepKind::Bound;
  auto* cell = static_cast<DelayCell*>(object);
  CellLock lock(cell);
  if (cell->IsFull()) return cell->value().is_error() ? StepKind::Bound : StepKind::Done;
  return cell->Now() == DelayCell::State::Kept && !cell->missing ? StepKind::Givable : StepKind::Bound;
}

// Of a frame that waits in direct code.
bool Worker::HasWork(Frame* frame) const {
  if (WordsOf(frame)) return false;
  return HasWorkAt(frame, static_cast<uint32_t>(frame->resume - program_.direct.code.data()));
}

// Of one that waits in word code, with all activations that it stands for. Their values are words, so only where they stand
// matters.
bool Worker::HasWorkInWords(Frame* frame) const {
  const WordCode& words = *WordsOf(frame);
  const WordPoint& point = words.PointOf(frame->resume);
  bool has = HasWorkAt(frame, point.pc);
  for (uint32_t at = point.activation; at != 0 && !has; at = words.activations[at].parent)
    has = HasWorkAt(frame, words.activations[at].return_pc);
  return has;
}

// Of a frame that waits at this instruction of direct code.
bool Worker::HasWorkAt(Frame* frame, uint32_t resume) const {
  const DirectCode& direct = program_.direct;
  const DirectState& state = direct.states[direct.state_of[resume]];
  if (state.pc != kNone) return false;
  auto has = [&](uint32_t slot) -> uint8_t { return state.states[slot] == kKept ? kOpenThere : state.states[slot] ? kWordThere : kNotThere; };
  return std::any_of(state.tails.begin(), state.tails.end(), [&](uint32_t pc) {
    while (program_.code[pc].code != Code::End && KindOfStep(frame, pc, has) == StepKind::Done) ++pc;
    return program_.code[pc].code != Code::End && KindOfStep(frame, pc, has) == StepKind::Givable;
  });
}

// The tail in this entry of the stack, after steps of which nothing is left.
bool Worker::HasWork(const Item& item) const {
  if (!item.frame || item.pc == kNone) return false;
  auto has = [&](uint32_t slot) -> uint8_t { return item.frame->Has(slot) ? kOpenThere : kNotThere; };
  uint32_t pc = item.pc;
  while (program_.code[pc].code != Code::End && KindOfStep(item.frame, pc, has) == StepKind::Done) ++pc;
  return program_.code[pc].code != Code::End && KindOfStep(item.frame, pc, has) == StepKind::Givable;
}

// Who cannot go on before this frame gives its result; null: nobody here.
Frame* Worker::WaiterOf(Frame* frame) {
  if (frame->flags & kProxy) return nullptr;
  if (frame->site->type != SiteType::Delay) return frame->parent_frame();
  return CellIn(frame, frame->scope().cell_slot)->waiter;
}

// From the frame that runs to those that wait for it, and for them, up to where that was done before: whose callers have work is
// noted in candidates_. Some of the frames on the way are marked, so that the next time most are left out; the marks go with
// the frames.
void Worker::Examine(Frame* running) {
  constexpr uint32_t kMostFrames = 1 << 22, kMostCandidates = 4096, kPeriod = 64;
  std::vector<std::pair<uint32_t, Frame*>> found;  // the youngest first
  std::vector<std::pair<uint32_t, Frame*>> marks;
  Frame* below = running;
  for (uint32_t n = 0; n < kMostFrames && !(below->flags & kExamined); ++n) {
    Frame* at = WaiterOf(below);
    if (!at) break;
    if (below->flags & kDirectCaller && WordsOf(at) && HasWorkInWords(at)) {  // the others stay in word code
      OutlineCaller(below);
      at = WaiterOf(below);
    }
    if (at->flags & kDirect && HasWork(at)) found.push_back({n, below});
    if (n % kPeriod == kPeriod - 1) marks.push_back({n, below});
    below = at;
  }
  size_t first = found.size() > kMostCandidates ? found.size() - kMostCandidates : 0;
  for (auto [n, frame] : marks)
    if (found.empty() || first == 0 || n >= found[first].first) frame->flags |= kExamined;
  for (size_t i = found.size(); i-- > first;) {
    found[i].second->flags |= kListed;
    candidates_.push_back(found[i].second);
  }
}

// The frame gives its results, so the one that waited for it goes on; and so have all younger ones.
void Worker::Unlist(Frame* frame) {
  while (!candidates_.empty()) {
    Frame* youngest = candidates_.back();
    candidates_.pop_back();
    youngest->flags &= ~kListed;
    if (youngest == frame) return;
  }
}

// The frame below the oldest one in direct code that has work and waits for it.
Frame* Worker::OldestCandidate(Frame* running) {
  if (candidates_.empty() && (run_.stress || Clock::now() >= examine_at_)) {
    auto began = Clock::now();
    Examine(running);
    auto now = Clock::now();
    if (candidates_.empty()) examine_at_ = now + std::min<Clock::duration>(kWalkShare * (now - began), kLongestBetweenWalks);
  }
  while (!candidates_.empty()) {
    Frame* below = candidates_.front();
    Frame* at = WaiterOf(below);
    if (at && at != running && at->flags & kDirect && HasWork(at)) return below;
    candidates_.pop_front();
    below->flags &= ~kListed;
  }
  return nullptr;
}

// ---------------------------------------------------------------- giving away

// `running` stands before a call in direct code; null: between two entries of the stack. Nobody gives away all it has.
bool Worker::GiveWork(Worker& thief, Frame* running) {
  constexpr size_t kMostEntries = 64;
  size_t entries = running ? stack_.size() : stack_.size() - 1;
  size_t entry = 0;
  while (entry < std::min(entries, kMostEntries) && !HasWork(stack_[entry])) ++entry;
  bool has_entry = entry < std::min(entries, kMostEntries);
  Frame* from = running ? running : stack_.back().frame;
  Frame* below = from ? OldestCandidate(from) : nullptr;
  if (below && (!has_entry || WaiterOf(below)->depth <= stack_[entry].frame->depth)) {
    candidates_.pop_front();
    below->flags &= ~kListed;
    if (GiveFrom(below, thief)) return true;
    has_entry = false;  // the stack has changed
  }
  return has_entry && GiveEntry(entry, thief);
}

// The frame that waits for `below` leaves direct code. What it has still to do goes onto the stack as far down as its age asks.
bool Worker::GiveFrom(Frame* below, Worker& thief) {
  Frame* frame = WaiterOf(below);
  size_t base = stack_.size();
  if (below->flags & kDirectCaller) {
    below->flags &= ~kDirectCaller;
    ++frame->refs;  // the general code counts its callees
  }
  LeaveDirect(frame);
  bool given = false;
  for (size_t i = base; i < stack_.size() && !given; ++i) given = HasWork(stack_[i]) && GiveEntry(i, thief);
  size_t at = base;
  while (at > 0 && stack_[at - 1].frame && stack_[at - 1].frame->depth > frame->depth) --at;
  std::rotate(stack_.begin() + static_cast<ptrdiff_t>(at), stack_.begin() + static_cast<ptrdiff_t>(base), stack_.end());
  return given;
}

// The next step of the tail in this entry of the stack, which HasWork.
bool Worker::GiveEntry(size_t index, Worker& thief) {
  auto [frame, none, pc] = stack_[index];
  auto has = [frame = frame](uint32_t slot) -> uint8_t { return frame->Has(slot) ? kOpenThere : kNotThere; };
  for (; KindOfStep(frame, pc, has) == StepKind::Done; stack_[index].pc = ++pc) {
    const Instr& done = program_.code[pc];
    if (!frame->Has(done.a)) TryForce(frame, done, program_.node_of[pc]);
    else if (done.aux & kLastB) Use(frame, done.b, true);
    if (program_.code[pc + 1].code == Code::End) return false;  // others have changed what HasWork saw; its last step stays
  }
  const Instr& in = program_.code[pc];
  std::unique_ptr<Message> message;
  if (in.code == Code::Call) {
    const SiteCode& site = program_.sites[in.b];
    message = std::make_unique<Message>(Message::Kind::Call, this);
    message->tag = HoldTag(TagOf(frame));
    message->depth = frame->depth;
    message->frame = frame;
    message->site = &site;
    message->arguments.reserve(site.together.size());
    for (const Delivery& d : site.together) message->arguments.push_back(Use(frame, d.from, d.last));
  } else {
    message = std::make_unique<Message>(Message::Kind::Cell, this);
    DelayCell* cell = CellIn(frame, in.b);
    CellLock lock(cell);
    if (!Release(cell)) return false;
    team_->AddWaiter(cell, this, {frame, pc});
    cell->more_waiters = true;
    lock.Unlock();
    message->value = Use(frame, in.b, in.aux & kLastB);
  }
  ++frame->refs;  // for the call, or for the Force that waits
  if (program_.code[pc + 1].code != Code::End) {
    ++stack_[index].pc;
  } else {
    stack_.erase(stack_.begin() + static_cast<ptrdiff_t>(index));
    --frame->refs;
  }
  team_->Send(thief, std::move(message));
  return true;
}

void Worker::AnswerThief(Frame* running) {
  Worker* thief = door_.TakeAsking();
  if (!thief) return;
  if (GiveWork(*thief, running)) {
    ++stats_.steals;
    return;
  }
  Refuse(*thief);
}

void Worker::Refuse(Worker& thief) {
  thief.door_.refused.store(true);
  thief.door_.Wake();
}

// ---------------------------------------------------------------- every so many steps

// Before a call or an iteration in direct code. True: something has come that goes first.
bool Worker::PollInDirect(Frame* frame) {
  poll_due_ = false;
  AnswerThief(frame);
  if (!door_.HasMail()) return false;
  interrupted_ = frame;
  return true;
}

// Regions of `frame`, which a message woke, have run where the stack was `base` high: what others may take of what they left to do waits below
// the frame that was interrupted, which they cannot take. Returns where the rest belongs.
size_t Worker::OfferTails(Frame* frame, size_t base) {
  if (base == 0 || stack_[base - 1].frame != interrupted_) return base;
  auto rest = std::stable_partition(tails_.begin(), tails_.end(), [&](uint32_t pc) { return HasWork(Item{frame, nullptr, pc}); });
  std::vector<uint32_t> bound(rest, tails_.end());
  tails_.erase(rest, tails_.end());
  size_t offered = tails_.size();
  if (offered) PushTails(frame, base - 1);
  tails_ = std::move(bound);
  return base + offered;
}

void Worker::Poll() {
  poll_due_ = false;
  ReadMail(false);
  if (!stack_.empty()) AnswerThief(nullptr);
}

// What one has to do for the others, from StepCheck.
void Worker::CheckTeam() {
  if (index_ != 0 && team_->ending()) throw Ending{};
  if (index_ == 0 && team_->failed()) team_->Rethrow();
  if (index_ != 0 && team_->wants_hold_up()) {
    team_->EnterSafe();
    team_->LeaveSafe();
  }
  memory::counters.budget->Publish();
  team_->EndSharingIfAlone();
  poll_due_ = true;
}

// ---------------------------------------------------------------- messages

// The mail is read. With `all`; else the stress mode may leave it for later.
bool Worker::ReadMail(bool all) {
  if (!door_.HasMail() || (!all && run_.stress && Random() % 4 != 0)) return false;
  // The rest is kept if one of them fails, so that it goes with the worker.
  for (mail_.reset(door_.TakeAll()); mail_;) {
    std::unique_ptr<Message> message = std::move(mail_);
    mail_.reset(std::exchange(message->next, nullptr));
    StandAt(nullptr);
    Receive(*message);
    message.reset();
    team_->EndWork();
  }
  return true;
}

void Worker::Receive(Message& message) {
  if (message.kind == Message::Kind::Call || message.kind == Message::Kind::Cell) {
    if (message.from == victim_) victim_ = nullptr;
    stolen_ = true;
    stolen_at_ = Clock::now();
  }
  switch (message.kind) {
    case Message::Kind::Call: return ReceiveCall(message);
    case Message::Kind::Cell: return StartCell(CellOf(message.value));
    case Message::Kind::Result: {
      Frame* frame = message.frame;
      const ReturnTo& to = message.site->returns[message.number];
      bool failed = message.value.is_error();
      frame->Set(to.slot, std::move(message.value));
      Fire(frame, to.event);
      if (failed) PassError(frame, {to.node, 0});
      return;
    }
    case Message::Kind::Finished: return Unref(message.frame);
    case Message::Kind::Forced:
      // Without a frame: the run waits for it, and looks itself.
      if (message.frame) Answer({message.frame, message.number}, ValueOf(message.value));
      return;
    case Message::Kind::Operand: {
      DelayCell* cell = CellOf(message.reference);
      if (cell->body) Deliver(cell->body, cell->site->together[message.number], std::move(message.value));
      return;
    }
    case Message::Kind::AskHost: questions_.push_back({std::move(message.value), message.from, {message.frame, message.number}}); return;
    case Message::Kind::LeaveDirect:
      if (LeaveAllDirect()) execution_.left_direct_.store(true);
      return;
  }
}

// The activation of a call that was given away, as if its caller were here.
void Worker::ReceiveCall(Message& message) {
  const SiteCode& site = *message.site;
  auto made = std::make_unique<Proxy>();
  proxies_.insert(made.get());
  Proxy* proxy = made.release();
  proxy->site = &site;
  proxy->refs = 1;
  proxy->depth = message.depth;
  proxy->flags = kLive | kProxy | kTagParent | kHasTag;
  proxy->tag = std::exchange(message.tag, nullptr);
  proxy->home = message.from;
  proxy->caller = message.frame;
  bool direct = site.callee->direct != kNone && std::none_of(message.arguments.begin(), message.arguments.end(),
                                                             [](const Value& v) { return v.is_error(); });
  ++(site.type == SiteType::Loop ? stats_.loops : stats_.calls);
  Frame* child = direct ? NewDirect(&site, proxy, proxy->depth + 1, kLive | kDirect) : NewFrame(&site, proxy);
  ++proxy->refs;
  auto set = [&](uint32_t slot, Value value) { direct ? Put(child, slot, std::move(value)) : child->Set(slot, std::move(value)); };
  for (size_t i = 0; i < site.together.size(); ++i) set(site.together[i].to, std::move(message.arguments[i]));
  if (site.type == SiteType::Loop) set(site.callee->iteration_slot, Value::Word(0));
  if (direct) Push(child, kNone);
  else Enter(child, site, site.together);
  Unref(proxy);
}

// A result of a call whose caller is elsewhere.
void Worker::SendHome(Frame* parent, const SiteCode& site, uint32_t result, Value value) {
  auto* proxy = static_cast<Proxy*>(parent);
  auto message = std::make_unique<Message>(Message::Kind::Result, this);
  message->frame = proxy->caller;
  message->site = &site;
  message->number = result;
  message->value = std::move(value);
  team_->Send(*proxy->home, std::move(message));
}

void Worker::FinishProxy(Frame* frame) {
  auto* proxy = static_cast<Proxy*>(frame);
  auto message = std::make_unique<Message>(Message::Kind::Finished, this);
  message->frame = proxy->caller;
  Worker& home = *proxy->home;
  DropTag(proxy->tag);
  proxies_.erase(proxy);
  delete proxy;
  team_->Send(home, std::move(message));
}

// ---------------------------------------------------------------- nothing to do

// Until something has come. False, of the first worker: nothing can come.
bool Worker::FindWork() {
  if (ReadMail(true)) return true;
  if (!questions_.empty()) {
    AnswerQuestion();
    return true;
  }
  memory::counters.budget->Publish();
  Clock::time_point now = Clock::now();
  if (stolen_ && now - stolen_at_ < kGrain) pause_ = std::min(2 * pause_, kLongestPause);
  else if (stolen_) pause_ = kShortestPause;
  bool rest = stolen_ && pause_ > kShortestPause;
  stolen_ = false;
  BeIdle();
  bool some = true;
  try {
    for (; !door_.HasMail() && !(index_ != 0 && team_->ending()); rest = false) {
      if (index_ == 0) {
        if (team_->failed()) team_->Rethrow();
        if (team_->active() == 0 && !door_.HasMail()) {
          some = false;
          break;
        }
        execution_.CheckLimits();
        execution_.CollectIfDue();
      }
      if (rest && !run_.stress) door_.Sleep(pause_);
      else Steal();
    }
  } catch (...) {
    team_->BeginWork();
    door_.idle.store(false);
    throw;
  }
  team_->BeginWork();
  door_.idle.store(false);
  if (index_ != 0) team_->LeaveSafe();
  return some;
}

void Worker::BeIdle() {
  StandAt(nullptr);
  execution_.NoteRest(index_);
  if (Worker* thief = door_.TakeAsking()) Refuse(*thief);
  door_.idle.store(true);
  // Who has asked meanwhile may not have seen it.
  if (Worker* thief = door_.TakeAsking()) Refuse(*thief);
  if (index_ != 0) team_->EnterSafe();
  team_->EndWork();
}

// One attempt, and a wait.
void Worker::Steal() {
  if (victim_) {
    if (door_.refused.exchange(false)) {
      victim_ = nullptr;
      if (run_.stress) return;
      door_.Sleep(pause_);
      pause_ = std::min(2 * pause_, kLongestRefused);
      return;
    }
    door_.Sleep(team_->size() > 2 ? kPatience : kLimitsGlance);
    if (door_.HasMail() || door_.refused.load()) return;
    if (victim_->door_.Retract(this)) victim_ = nullptr;
    return;
  }
  uint32_t size = team_->size(), start = static_cast<uint32_t>(Random() % size);
  for (uint32_t i = 0; i < size; ++i) {
    Worker& other = team_->worker((start + i) % size);
    if (&other == this || other.door_.idle.load() || !other.door_.Ask(this)) continue;
    victim_ = &other;
    // Nobody answers there any more.
    if (other.door_.idle.load() && other.door_.Retract(this)) victim_ = nullptr;
    else return;
  }
  door_.Sleep(pause_);
  pause_ = std::min(2 * pause_, kLongestPause);
}

// What a helper does from the beginning to the end.
void Worker::Serve() {
  try {
    while (!team_->ending()) {
      while (!stack_.empty()) Step();
      FindWork();
    }
  } catch (const Ending&) {
  }
}

uint64_t Worker::Random() {
  // xorshift64*
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return random_ * 0x2545F4914F6CDD1D;
}

}  // namespace df::tagged
