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

Pieces::Call CallOf(const PieceName& pieces) { return {pieces.call[0], pieces.call[1]}; }

Pieces* PiecesOf(const Worker& w) { return w.team && w.team->far() ? w.team->far()->pieces() : nullptr; }

// n pieces among the processes of these numbers, in order: each has as many as the others, or one less.
std::vector<SpreadRange> Divide(uint64_t from, uint64_t n, llvm::ArrayRef<uint32_t> ranks) {
  std::vector<SpreadRange> ranges;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const uint64_t first = from + n * i / ranks.size(), past = from + n * (i + 1) / ranks.size();
    if (first < past) ranges.push_back({{first, past}, ranks[i], false, false, {}});
  }
  return ranges;
}

void Make(Worker& w, const Pieces::Call& name, SpreadCall& call, SpreadRange& range) {
  range.making = true;
  w.team->far()->NoteMaking(1);
  FarPeer& here = w.team->far()->here();
  Message message(Message::Kind::Call, &here);
  message.site = call.site;
  message.arguments = call.arguments;
  message.arguments[call.site->spread_from] = Value::Word(static_cast<int64_t>(range.range.first));
  message.arguments[call.site->spread_to] = Value::Word(static_cast<int64_t>(range.range.second));
  message.tag = HoldTag(call.tag);
  message.depth = call.depth;
  message.call = *w.far_calls.insert(new FarCall{here, 0, Clock::now(), {}, false, PieceName{{name[0], name[1]}, range.range.first, range.range.second}}).first;
  ReceiveCall(w, message);
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

// Some of it cannot be had, or has failed: an error is that of the whole call, with its path.
void MakeWhole(Worker& w, const Pieces::Call& name) {
  Far& far = *w.team->far();
  ++far.stats.pieces_whole;
  for (SpreadRange& range : w.spread_calls.at(name)->ranges)
    if (range.rank == far.pieces()->own_rank()) far.pieces()->PutNothing(name, range.range);
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

void Complete(Worker& w, const Pieces::Call& name) {
  std::vector<SpreadRange>& ranges = w.spread_calls.at(name)->ranges;
  Value list = std::move(ranges.back().list);
  for (size_t i = ranges.size() - 1; i-- > 0;) {
    if (!Append(ranges[i].list, list)) return MakeWhole(w, name);
    ranges[i].list = {};
  }
  std::unique_ptr<SpreadCall> call = Take(w, name);
  for (Value& argument : call->arguments) argument = {};
  Give(w, call->caller, *call->site, std::move(list));
}

void Accept(Worker& w, const Pieces::Call& name, SpreadCall& call, SpreadRange& range, Value list) {
  range.here = true;
  range.list = std::move(list);
  if (--call.missing == 0) Complete(w, name);
}

}  // namespace

namespace {

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
  std::vector<Pieces::Range> makes;
  for (const SpreadRange& range : call.ranges)
    if (range.rank == pieces->own_rank()) makes.push_back(range.range);
  if (!pieces->Begin(name, w.index, std::move(makes))) return false;
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
        far.pieces()->Put(name, wanted, std::move(packed.bytes), std::move(packed.parts));
      } else {
        far.pieces()->PutNothing(name, wanted);
      }
    }
    if (!range->here) Accept(w, name, call, *range, std::move(message.value));
    return;
  }
  if (range->here) return;
  if (message.far->kind == PeerMessage::Kind::Lacks) {
    if (!range->making) {
      ++far.stats.pieces_again;
      Make(w, name, call, *range);
    }
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
    for (SpreadRange& range : call->ranges)
      if (range.rank == rank && !range.here && !range.making) {
        ++far.stats.pieces_again;
        Make(w, name, *call, range);
      }
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
  Far& far = *w.team->far();
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
      if (!range.here) {
        ++far.stats.pieces_again;
        Make(w, name, *call, range);
        any = true;
      }
  }
  return any;
}

}  // namespace df::tagged
