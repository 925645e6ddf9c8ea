#include "runtime/engines/tagged/exec/spread/spread.h"

#include <algorithm>

#include "runtime/engines/tagged/exec/calls.h"
#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/far_packet.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/team.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

namespace {

using Clock = std::chrono::steady_clock;

// Whoever waits makes what does not come for so long, or for some times as long as its own pieces took, if that is longer.
constexpr std::chrono::milliseconds kPatience{2000};
constexpr int kPatienceInOwn = 4;
constexpr std::chrono::microseconds kMostPatienceInStress{20000};
// From so many on processes exchange what they have joined. With fewer it is not less to send.
constexpr size_t kLeastToExchange = 4;

Pieces::Call CallOf(const PieceName& pieces) { return {pieces.call[0], pieces.call[1]}; }

Pieces* PiecesOf(const Worker& w) { return w.team && w.team->far() ? w.team->far()->pieces() : nullptr; }

// n pieces among the processes of these numbers, in order: each has as many as the others, or one less.
std::vector<SpreadRange> Divide(uint64_t from, uint64_t n, llvm::ArrayRef<uint32_t> ranks) {
  std::vector<SpreadRange> ranges;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const uint64_t first = from + n * i / ranks.size(), past = from + n * (i + 1) / ranks.size();
    if (first < past) ranges.push_back({{first, past}, ranks[i]});
  }
  return ranges;
}

// `given`: they are there, and are to be joined.
void Make(Worker& w, const Pieces::Call& name, SpreadCall& call, SpreadRange& range, Value given = {}) {
  range.making = true;
  w.team->far()->NoteMaking(1);
  FarPeer& here = w.team->far()->here();
  Message message(Message::Kind::Call, &here);
  message.site = call.site;
  message.arguments = call.arguments;
  message.arguments[call.site->spread_from] = Value::Word(static_cast<int64_t>(range.range.first));
  message.arguments[call.site->spread_to] = Value::Word(static_cast<int64_t>(range.range.second));
  if (given.kind() == ValueKind::Object) {
    Data* some = Data::New(call.site->given_constructor, 1);
    some->fields()[0] = std::move(given);
    message.arguments[call.site->spread_given] = Value::Adopt(ValueKind::Object, some);
  }
  message.tag = HoldTag(call.tag);
  message.depth = call.depth;
  message.call = *w.far_calls.insert(new FarCall{here, 0, Clock::now(), {}, false, PieceName{{name[0], name[1]}, range.range.first, range.range.second}}).first;
  ReceiveCall(w, message);
}

void MakeAgain(Worker& w, const Pieces::Call& name, SpreadCall& call, SpreadRange& range) {
  w.team->far()->stats.pieces_again += range.range.second - range.range.first;
  Make(w, name, call, range);
}

// Of processes that exchange what they have joined: the next one that has it is asked, or it is made here.
void AskNext(Worker& w, const Pieces::Call& name, SpreadCall& call, SpreadRange& range) {
  Pieces& pieces = *PiecesOf(w);
  const std::vector<uint32_t> there = pieces.Ranks();
  call.waits_since = Clock::now();
  while (!range.others.empty()) {
    range.rank = range.others.front();
    range.others.erase(range.others.begin());
    if (llvm::is_contained(there, range.rank)) return pieces.Want(name, range.range, range.rank);
  }
  MakeAgain(w, name, call, range);
}

// What a process that is lost was to make, all that are left make together; one piece each of them makes, as that takes no longer. Who has heard of other
// losses divides in another way, and says that it lacks what is wanted.
void DivideAnew(Worker& w, const Pieces::Call& name, SpreadCall& call, size_t at) {
  Pieces& pieces = *PiecesOf(w);
  const Pieces::Range whole = call.ranges[at].range;
  std::vector<SpreadRange> parts;
  const bool comes = call.ranges[at].here || call.ranges[at].making;
  if (!comes && whole.second - whole.first > 1) parts = Divide(whole.first, whole.second - whole.first, pieces.Ranks());
  std::vector<Pieces::Range> makes, awaits;
  if (parts.size() > 1)
    for (const SpreadRange& part : parts) (part.rank == pieces.own_rank() ? makes : awaits).push_back(part.range);
  pieces.Divide(name, whole, makes, awaits);
  if (comes) return;
  if (parts.size() < 2) return MakeAgain(w, name, call, call.ranges[at]);
  call.waits_since = Clock::now();
  const size_t count = parts.size();
  call.missing += static_cast<uint32_t>(count - 1);
  call.ranges.erase(call.ranges.begin() + static_cast<ptrdiff_t>(at));
  call.ranges.insert(call.ranges.begin() + static_cast<ptrdiff_t>(at), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  for (size_t i = at; i < at + count; ++i)
    if (call.ranges[i].rank != pieces.own_rank()) pieces.Want(name, call.ranges[i].range, call.ranges[i].rank);
  for (size_t i = at; i < at + count; ++i)
    if (call.ranges[i].rank == pieces.own_rank()) MakeAgain(w, name, call, call.ranges[i]);
}

// The call is over, as far as other processes are concerned. What it held goes.
std::unique_ptr<SpreadCall> Take(Worker& w, const Pieces::Call& name) {
  auto it = w.spread_calls.find(name);
  std::unique_ptr<SpreadCall> call = std::move(it->second);
  w.spread_calls.erase(it);
  for (const SpreadRange& range : call->ranges)
    if (range.making) w.team->far()->NoteMaking(-1);
  PiecesOf(w)->End(name);
  w.team->EndAway();
  return call;
}

// One activation for all pieces. The label of its tag is given at once, so that what it calls is known to be within it.
void MakeAll(Worker& w, Frame* caller, const SiteCode& site, llvm::MutableArrayRef<Value> arguments) {
  Frame* child = NewFrame(w, &site, caller);
  for (size_t i = 0; i < arguments.size(); ++i) child->Set(site.together[i].to, std::move(arguments[i]));
  TagOf(child);
  Enter(w, child, site, site.together);
}

// Who is to have it: nothing is all.
std::optional<std::vector<uint32_t>> TakersOf(const SpreadCall& call, Pieces::Range range) {
  if (!call.joins) return std::nullopt;
  for (const SpreadCall::Gift& gift : call.gifts)
    if (gift.range == range) return gift.to;
  return std::vector<uint32_t>();
}

// Some of it cannot be had, or has failed: an error is that of the whole call, with its path.
void MakeWhole(Worker& w, const Pieces::Call& name) {
  Far& far = *w.team->far();
  ++far.stats.pieces_whole;
  SpreadCall& lacks = *w.spread_calls.at(name);
  for (SpreadRange& range : lacks.ranges)
    if (range.rank == far.pieces()->own_rank()) far.pieces()->PutNothing(name, range.range, TakersOf(lacks, range.range));
  std::unique_ptr<SpreadCall> call = Take(w, name);
  MakeAll(w, call->caller, *call->site, call->arguments);
}

// What a field or a result holds, if it is there.
const Value* Evaluated(const Value& value) {
  const Value* at = &value;
  while (at->is_reference()) {
    if (HostCellIn(at->object())) return nullptr;
    const DelayCell* cell = CellOf(*at);
    if (!cell->IsFull()) return nullptr;
    at = &cell->value();
  }
  return at->is_error() ? nullptr : at;
}

// `front`, a list that is there to its end, with `behind` in the place of that. False: it is not.
bool Append(const Value& front, Value& behind) {
  std::vector<const Data*> cells;
  const Value* at = Evaluated(front);
  for (; at && at->kind() == ValueKind::Object; at = Evaluated(cells.back()->fields()[1])) cells.push_back(static_cast<const Data*>(at->object()));
  if (!at) return false;
  for (size_t i = cells.size(); i-- > 0;) {
    Data* cell = Data::New(cells[i]->constructor, 2);
    cell->fields()[0] = cells[i]->fields()[0];
    cell->fields()[1] = std::move(behind);
    behind = Value::Adopt(ValueKind::Object, cell);
  }
  return true;
}

// As a callee gives its result.
void Give(Worker& w, Frame* caller, const SiteCode& site, Value value) {
  const ReturnTo& to = site.returns[0];
  if (caller->flags & kProxy) {
    SendHome(w, caller, site, 0, std::move(value));
  } else if (!(caller->flags & kScheduled && GiveScheduled(w, caller, to.slot, value))) {
    caller->Set(to.slot, std::move(value));
    w.Fire(caller, to.event);
  }
  w.Unref(caller);
}

// The lists of these ranges, one behind the other, which they do not hold any more. False: one of them is not there to its end.
bool AppendAll(llvm::MutableArrayRef<SpreadRange> ranges, Value& list) {
  list = std::move(ranges.back().list);
  for (size_t i = ranges.size() - 1; i-- > 0;) {
    if (!Append(ranges[i].list, list)) return false;
    ranges[i].list = {};
  }
  return true;
}

void Complete(Worker& w, const Pieces::Call& name) {
  Value list;
  if (!AppendAll(w.spread_calls.at(name)->ranges, list)) return MakeWhole(w, name);
  std::unique_ptr<SpreadCall> call = Take(w, name);
  for (Value& argument : call->arguments) argument = {};
  Give(w, call->caller, *call->site, std::move(list));
}

// Joins what others are to have, if all of it is there: then one range stands in the place of those that were joined. False: nothing is to be joined now.
bool JoinGift(Worker& w, const Pieces::Call& name, SpreadCall& call) {
  for (SpreadCall::Gift& gift : call.gifts) {
    if (gift.begun) continue;
    const auto within = [&](const SpreadRange& range) { return range.range.first >= gift.range.first && range.range.second <= gift.range.second; };
    const auto first = llvm::find_if(call.ranges, within);
    const auto past = std::find_if_not(first, call.ranges.end(), within);
    if (!std::all_of(first, past, [](const SpreadRange& range) { return range.here; })) return false;
    gift.begun = true;
    Value list;
    if (!AppendAll({&*first, static_cast<size_t>(past - first)}, list)) return MakeWhole(w, name), true;
    for (auto range = first; range != past; ++range)
      if (range->making) w.team->far()->NoteMaking(-1);  // it has come meanwhile
    *first = {gift.range, PiecesOf(w)->own_rank()};
    call.ranges.erase(first + 1, past);
    ++call.missing;
    Make(w, name, call, *first, std::move(list));
    return true;
  }
  return false;
}

void Accept(Worker& w, const Pieces::Call& name, SpreadCall& call, SpreadRange& range, Value list) {
  range.here = true;
  range.list = std::move(list);
  --call.missing;
  if (JoinGift(w, name, call)) return;
  if (call.missing == 0) Complete(w, name);
}

}  // namespace

namespace {

// Of a call whose pieces can be joined, and that many make: who gives what to whom.
void PlanSpread(SpreadCall& call, llvm::ArrayRef<uint32_t> ranks, uint32_t own) {
  if (call.site->spread_given == SiteCode::kNoPieces || call.ranges.size() < kLeastToExchange) return;
  call.joins = true;
  std::vector<Maker> makers;
  for (const SpreadRange& range : call.ranges) makers.push_back({range.range, range.rank});
  std::vector<uint32_t> others;
  for (uint32_t rank : ranks)
    if (llvm::none_of(makers, [&](const Maker& maker) { return maker.rank == rank; })) others.push_back(rank);
  Exchange plan = PlanExchange(makers, others, own);
  call.ranges.clear();
  for (Exchange::Need& need : plan.needs) {
    SpreadRange& range = call.ranges.emplace_back(SpreadRange{need.range, need.from.empty() ? own : need.from.front()});
    if (!need.from.empty()) range.others.assign(need.from.begin() + 1, need.from.end());
  }
  for (Exchange::Gift& gift : plan.gifts) {
    const bool own_pieces = llvm::any_of(call.ranges, [&](const SpreadRange& range) { return range.range == gift.range; });
    call.gifts.push_back({{gift.range, std::move(gift.to)}, own_pieces});
  }
}

// Where this process comes to the call. False: it is not shared.
bool Share(Worker& w, Frame* caller, const SiteCode& site, llvm::MutableArrayRef<Value> arguments) {
  Pieces* pieces = PiecesOf(w);
  if (!pieces || site.spread_from == SiteCode::kNoPieces || site.needs_outer || UnboxedOf(caller) || site.returns[0].slot == kNone) return false;
  if (llvm::any_of(arguments, [](const Value& value) { return value.is_error(); })) return false;
  const int64_t from = arguments[site.spread_from].word(), to = arguments[site.spread_to].word();
  if (from < 0 || to - from < 2) return false;
  const std::vector<uint32_t> ranks = pieces->Ranks();
  if (ranks.size() < 2) return false;
  TagNode* tag = TagOf(caller);
  TagName tag_name = NameOf(tag);
  // What is within a piece has the tag that it would have in another process, for another piece: it is that piece's own.
  if (tag_name.spread) return false;
  tag_name.Add(SpreadLabel(site.label), DepthOf(tag) + 1);
  const Pieces::Call name{tag_name.first, tag_name.second};
  auto made = std::make_unique<SpreadCall>();
  SpreadCall& call = *made;
  call.caller = caller;
  call.site = &site;
  call.tag = HoldTag(tag);
  call.depth = caller->depth;
  call.ranges = Divide(static_cast<uint64_t>(from), static_cast<uint64_t>(to - from), ranks);
  call.began = call.waits_since = Clock::now();
  PlanSpread(call, ranks, pieces->own_rank());
  std::vector<Pieces::Range> makes, awaits;
  for (const SpreadRange& range : call.ranges) (range.rank == pieces->own_rank() ? makes : awaits).push_back(range.range);
  for (const SpreadCall::Gift& gift : call.gifts) makes.push_back(gift.range);
  if (call.joins) awaits.clear();  // these are made anew by who needs them
  if (!pieces->Begin(name, w.index, std::move(makes), std::move(awaits))) return false;
  call.arguments.assign(std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  call.missing = static_cast<uint32_t>(call.ranges.size());
  w.spread_calls.emplace(name, std::move(made));
  w.team->BeginAway();
  ++w.team->far()->stats.pieces_calls;
  for (SpreadRange& range : call.ranges)
    if (range.rank != pieces->own_rank()) pieces->Want(name, range.range, range.rank);
  for (SpreadRange& range : call.ranges)
    if (range.rank == pieces->own_rank()) Make(w, name, call, range);
  return true;
}

}  // namespace

void CallSpread(Worker& w, Frame* caller, const SiteCode& site, llvm::MutableArrayRef<Value> arguments) {
  ++w.stats.calls;
  ++caller->refs;
  if (!Share(w, caller, site, arguments)) MakeAll(w, caller, site, arguments);
}

// Left for later: who gives results is in the middle of something.
void SendPieces(Worker& w, const FarCall& call, const Value& list) {
  auto message = std::make_unique<Message>(Message::Kind::Pieces, &call.home);
  message->far = std::make_unique<PeerMessage>(PeerMessage{PeerMessage::Kind::Pieces});
  message->far->pieces = call.pieces;
  message->value = list;
  w.team->Leave(w, std::move(message));
}

void ReceivePieces(Worker& w, Message& message) {
  Far& far = *w.team->far();
  const PieceName& pieces = message.far->pieces;
  const Pieces::Call name = CallOf(pieces);
  const Pieces::Range wanted{pieces.first, pieces.past};
  auto it = w.spread_calls.find(name);
  if (it == w.spread_calls.end()) return;
  SpreadCall& call = *it->second;
  auto range = llvm::find_if(call.ranges, [&](const SpreadRange& each) { return each.range == wanted; });
  if (range == call.ranges.end()) return;
  if (message.from == &far.here()) {
    if (std::exchange(range->making, false)) far.NoteMaking(-1);
    call.waits_since = Clock::now();
    if (message.value.is_error()) return MakeWhole(w, name);
    if (range->rank == far.pieces()->own_rank()) {
      PeerMessage packed;
      if (PackPieces(far.types(), TypeOfResult(far.types(), *call.site, 0), message.value, packed)) {
        ++far.stats.pieces_made;
        far.stats.pieces_bytes += packed.size();
        far.pieces()->Put(name, wanted, std::move(packed.bytes), std::move(packed.parts), TakersOf(call, wanted));
      } else {
        far.pieces()->PutNothing(name, wanted, TakersOf(call, wanted));
      }
    }
    if (!range->here) Accept(w, name, call, *range, std::move(message.value));
    return;
  }
  if (range->here) return;
  if (message.far->kind == PeerMessage::Kind::Lacks) {
    if (call.joins && far.pieces()->RankOf(static_cast<FarPeer&>(*message.from).id) != range->rank) return;  // another one has been asked
    if (!range->making) call.joins ? AskNext(w, name, call, *range) : MakeAgain(w, name, call, *range);
    return;
  }
  auto& peer = static_cast<FarPeer&>(*message.from);
  Value list;
  std::string fault;
  if (!UnpackFarValue(w, peer.id, TypeOfResult(far.types(), *call.site, 0), *message.far, list, fault)) return far.Fault(peer, fault);
  if (list.is_error()) return far.Fault(peer, "it gives an error for pieces");
  ++far.stats.pieces_taken;
  Accept(w, name, call, *range, std::move(list));
}

void LoseSpread(Worker& w, const FarPeer& peer) {
  Far& far = *w.team->far();
  if (!far.pieces()) return;
  const uint32_t rank = far.pieces()->RankOf(peer.id);
  for (auto& [name, call] : w.spread_calls)
    for (size_t i = 0; i < call->ranges.size(); ++i)
      if (SpreadRange& range = call->ranges[i]; range.rank == rank && !call->joins) DivideAnew(w, name, *call, i);
      else if (range.rank == rank && !range.here && !range.making) AskNext(w, name, *call, range);
}

namespace {

bool IsLate(const Worker& w, const SpreadCall& call, Clock::time_point now) {
  Clock::duration patience = std::max<Clock::duration>(kPatience, kPatienceInOwn * (call.waits_since - call.began));
  if (w.run.stress) patience = kMostPatienceInStress * static_cast<int>(call.ranges.size() + w.run.stress % 7) / 8;
  return now - call.waits_since > patience && llvm::none_of(call.ranges, [](const SpreadRange& range) { return range.making; });
}

bool IsStuck(const Worker& w, const SpreadCall& call) {
  return w.team->far()->IsStuckInPieces() && llvm::any_of(call.ranges, [](const SpreadRange& range) { return range.making; });
}

}  // namespace

bool SpreadHasToMove(Worker& w) {
  if (w.spread_calls.empty()) return false;
  PiecesOf(w)->AskAgain();
  const Clock::time_point now = Clock::now();
  bool any = false;
  for (auto& [name, call] : w.spread_calls) {
    call->stuck = call->stuck || IsStuck(w, *call);
    any |= call->stuck || IsLate(w, *call, now);
  }
  return any;
}

bool MoveSpread(Worker& w) {
  if (w.spread_calls.empty()) return false;
  const auto stuck = std::ranges::find_if(w.spread_calls, [](const auto& row) { return row.second->stuck; });
  if (stuck != w.spread_calls.end()) {
    const Pieces::Call name = stuck->first;
    MakeWhole(w, name);
    return true;
  }
  const Clock::time_point now = Clock::now();
  bool any = false;
  for (auto& [name, call] : w.spread_calls) {
    if (!IsLate(w, *call, now)) continue;
    for (SpreadRange& range : call->ranges)
      if (!range.here) MakeAgain(w, name, *call, range), any = true;
  }
  return any;
}

}  // namespace df::tagged
