// Asking other processes for work, and what comes from them, before any worker looks at it.
#include "runtime/engines/tagged/exec/far.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "runtime/base/raise_to.h"
#include "runtime/engines/tagged/exec/team.h"

namespace df::tagged {

namespace {

using std::chrono::microseconds;

// A message there and back takes some 30 µs, and to pack a call and to leave scheduled code for it as much.
constexpr microseconds kShortestPause{100}, kLongestPause{100000};
// What was done in less was not worth its messages.
constexpr microseconds kGrain{1000};

// Smaller objects go again each time. Under stress nearly all have names, and there is room for few.
constexpr size_t kLeastNamed = 4096, kLeastNamedInStress = 24;
constexpr uint64_t kKeptInStress = 12000;
constexpr uint64_t kKeptShare = 8;  // of the memory limit: for large objects of others

// A worker of one thread that waits for others looks at its limits, and whether it is to end, so often.
constexpr microseconds kLookWhileAway{50000};
// For a process that has a place and is not known here yet.
constexpr microseconds kFirstMeeting{2000000}, kBetweenLooks{500};

constexpr microseconds kBetweenWaves{100000}, kBetweenWavesInStress{500};

}  // namespace

CountedTicket::CountedTicket(FarStats& stats, uint64_t bytes) : stats_(&stats), bytes_(bytes) {
  RaiseTo(stats.peak_tickets, stats.tickets.fetch_add(1) + 1);
  RaiseTo(stats.peak_ticket_bytes, stats.ticket_bytes.fetch_add(bytes) + bytes);
}

CountedTicket::~CountedTicket() {
  if (!stats_) return;
  stats_->tickets.fetch_sub(1);
  stats_->ticket_bytes.fetch_sub(bytes_);
}

Far::Far(Peers& peers, Team& team, const Program& program, const ir::Graph& graph, FarLimits limits, uint64_t seed, bool shares)
    : peers_(peers), team_(team), types_(program, graph), sent_(types_.types, *this, seed ? kLeastNamedInStress : kLeastNamed),
      keeps_(seed ? kKeptInStress : limits.max_memory / kKeptShare),
      pieces_(shares ? std::make_unique<Pieces>(peers, limits.max_memory / kKeptShare) : nullptr), placed_(program.placed), limits_(limits), polled_(new Polled[team.size()]),
      between_waves_(seed ? kBetweenWavesInStress : kBetweenWaves), random_(seed * 2 + 1) {}

// Messages on their way are no values, and count here: who has no room for more gives nothing away and asks for nothing. Values alone are
// what the run's limit ends.
bool Far::HasRoom() const {
  const InFlight& flying = peers_.in_flight();
  if (flying.IsFull()) return false;
  int64_t used = static_cast<int64_t>(flying.now());
  for (uint32_t i = 0; i < team_.size(); ++i) used += polled_[i].bytes.load(std::memory_order_relaxed) - (i == 0 ? limits_.base : 0);
  return used <= 0 || static_cast<uint64_t>(used) <= limits_.max_memory;
}

PeerFigures Far::Figures() {
  PeerFigures figures;
  figures.given = stats.given;
  figures.taken = stats.taken;
  figures.lost = stats.lost;
  figures.kept_back = stats.kept_back;
  figures.held_back = stats.held_back;
  figures.shared = stats.pieces_calls;
  figures.made = stats.pieces_made;
  figures.came = stats.pieces_taken;
  figures.again = stats.pieces_again;
  figures.peak_memory = team_.peak_memory();
  figures.peak_in_flight = peers_.in_flight().peak();
  figures.peak_tickets = stats.peak_tickets;
  figures.peak_ticket_bytes = stats.peak_ticket_bytes;
  std::lock_guard lock(figures_mutex_);
  const Clock::time_point now = Clock::now();
  Clock::duration still{0};
  for (uint32_t i = 0; i < team_.size(); ++i) {
    Polled& look = polled_[i];
    const uint64_t count = look.count.load(std::memory_order_relaxed);
    if (count != look.seen || look.since == Clock::time_point{} || team_.worker(i).mailbox.idle.load(std::memory_order_relaxed)) {
      look.seen = count;
      look.since = now;
    }
    still = std::max(still, now - look.since);
  }
  longest_still_ = std::max(longest_still_, still);
  const auto milliseconds = [](Clock::duration time) { return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()); };
  figures.still = milliseconds(still);
  figures.longest_still = milliseconds(longest_still_);
  return figures;
}

FarPeer& Far::PeerOf(PeerId id) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<FarPeer>& peer = known_[id];
  if (!peer) peer = std::make_unique<FarPeer>(id);
  return *peer;
}

// When the root begins all are there for it, but two others may not know each other yet.
FarPeer* Far::PeerOfRank(uint32_t rank) {
  auto find = [&]() -> FarPeer* {
    for (PeerId id : peers_.Others())
      if (peers_.RankOf(id) == rank) return &PeerOf(id);
    return nullptr;
  };
  auto known = [&]() -> std::optional<FarPeer*> {
    std::lock_guard lock(mutex_);
    auto it = ranked_.find(rank);
    return it == ranked_.end() ? std::nullopt : std::optional(it->second);
  };
  std::optional<FarPeer*> peer = known();
  if (peer) return *peer;
  for (const auto until = Clock::now() + kFirstMeeting; !(peer = known()) && !over();) {
    if (FarPeer* found = find(); found || Clock::now() > until || team_.ending()) {
      std::lock_guard lock(mutex_);
      return ranked_.try_emplace(rank, found).first->second;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return peer.value_or(nullptr);
}

uint64_t Far::Random() {
  random_ = random_ * 6364136223846793005 + 1442695040888963407;
  return random_ >> 33;
}

microseconds Far::AskFor(Worker& worker) {
  if (pieces_ || placed_ || !HasRoom()) return {};
  // The root of a run looks at more than that, and a worker of several at the others.
  const microseconds longest = serves_ && team_.size() == 1 ? kLookWhileAway : microseconds(0);
  PeerId whom;
  uint64_t keeps;
  {
    std::lock_guard lock(mutex_);
    if (over()) return {};
    if (asked_) return longest;
    if (const auto now = Clock::now(); now < ask_at_) return std::min(longest, std::chrono::ceil<microseconds>(ask_at_ - now));
    std::vector<PeerId> others = peers_.Others();
    if (others.empty()) return {};
    whom = others[Random() % others.size()];
    asked_ = true;
    whom_ = whom;
    asker_ = &worker;
    if (keeps_each_ == 0) keeps_each_ = keeps_ / others.size();
    keeps = keeps_each_;
  }
  peers_.Send(whom, {PeerMessage::Kind::Ask, KnowsOwn(), keeps});
  return longest;
}

void Far::NoteGrain(Clock::duration took) {
  std::lock_guard lock(mutex_);
  if (took >= kGrain) {
    pause_ = {};
    return;
  }
  pause_ = std::clamp<Clock::duration>(2 * pause_, kShortestPause, kLongestPause);
  ask_at_ = Clock::now() + pause_;
}

bool Far::KnowsOwn() const { return team_.size() == 1; }

// What a packet is copied to here the thread of the peers may free.
void Far::Give(PeerId receiver, uint64_t name, Packet object) {
  PeerMessage message{PeerMessage::Kind::Object, 0, name};
  message.bytes.assign(object.bytes.view());
  for (const PacketPart& part : object.parts) message.parts.emplace_back(part.bytes);
  peers_.Send(receiver, std::move(message));
}

// All workers get it, before any of them gets what its sender says later.
void Far::ReceiveObject(FarPeer& peer, PeerMessage message) {
  {
    std::lock_guard lock(mutex_);
    Kept& kept = kept_[peer.id];
    const uint64_t bytes = message.size() + SentObjects::kEntryBytes;
    if (message.kind == PeerMessage::Kind::Object) {
      if (!kept.sizes.try_emplace(message.ticket, bytes).second) return Fault(peer, "it gives two objects one name");
      kept.bytes += bytes;
      if (kept.bytes > keeps_each_) return Fault(peer, "it has more objects kept than there is room for");
    } else {
      auto size = kept.sizes.find(message.ticket);
      if (size == kept.sizes.end()) return Fault(peer, "it drops an object that is not kept");
      kept.bytes -= size->second;
      kept.sizes.erase(size);
    }
  }
  // It may stay unread until a call names it, which would not be taken as long as so much is unread: what is kept counts by itself.
  message.carried = {};
  auto shared = std::make_shared<PeerMessage>(std::move(message));
  for (uint32_t i = 0; i < team_.size(); ++i) Leave(team_.worker(i), Message::Kind::FarObject, peer, shared);
}

void Far::Leave(Worker& worker, Message::Kind kind, FarPeer& from, std::shared_ptr<PeerMessage> far) {
  auto message = std::make_unique<Message>(kind, &from);
  message->far = std::move(far);
  team_.Leave(worker, std::move(message));
}

void Far::Receive(PeerId from, PeerMessage message) {
  FarPeer& peer = PeerOf(from);
  if (placed_) {
    // Nobody asks for calls that have their process. Who is first heard of is told how much of its objects is kept here.
    std::unique_lock lock(mutex_);
    if (kept_.try_emplace(from).second) {
      keeps_each_ = keeps_ / (peers_.Size() - 1);
      lock.unlock();
      peers_.Send(from, {PeerMessage::Kind::Ask, KnowsOwn(), keeps_each_});
    }
  }
  switch (message.kind) {
    case PeerMessage::Kind::Ask: {
      if (pieces_) return Fault(peer, "it asks for calls, and all processes run the spine");
      sent_.SetRoom(from, message.ticket, message.number != 0);
      if (placed_) return;
      if (!HasRoom()) {
        ++stats.held_back;
        return Refuse(peer);
      }
      uint32_t first;
      {
        std::lock_guard lock(mutex_);
        first = static_cast<uint32_t>(Random());
      }
      for (uint32_t i = 0; i < team_.size(); ++i)
        if (team_.AskAt(team_.worker((first + i) % team_.size()), peer)) return;
      return Refuse(peer);
    }
    case PeerMessage::Kind::Refuse: {
      std::lock_guard lock(mutex_);
      if (!asked_ || whom_ != from) return;
      asked_ = false;
      pause_ = std::clamp<Clock::duration>(2 * pause_, kShortestPause, kLongestPause);
      ask_at_ = Clock::now() + pause_ / std::max<size_t>(1, peers_.Others().size());
      if (team_.size() == 1) asker_->mailbox.Wake();
      return;
    }
    case PeerMessage::Kind::Call: {
      Worker* asker;
      {
        std::lock_guard lock(mutex_);
        if (!placed_ && (!asked_ || whom_ != from)) return Fault(peer, "it gives a call that nobody asked for");
        asked_ = false;
        asker = placed_ ? &team_.worker(next_worker_++ % team_.size()) : asker_;
      }
      Leave(*asker, Message::Kind::FarCall, peer, std::make_unique<PeerMessage>(std::move(message)));
      return Arrived(from);
    }
    case PeerMessage::Kind::Result:
    case PeerMessage::Kind::Finished:
    case PeerMessage::Kind::Home: {
      const uint64_t index = message.ticket % kMostWorkers;
      if (index >= team_.size()) return Fault(peer, "it answers for a call that was not given");
      Leave(team_.worker(static_cast<uint32_t>(index)), Message::Kind::FarAnswer, peer, std::make_unique<PeerMessage>(std::move(message)));
      return Arrived(from);
    }
    case PeerMessage::Kind::Object:
    case PeerMessage::Kind::Dropped: return ReceiveObject(peer, std::move(message));
    case PeerMessage::Kind::Wave: return AnswerWave(from, message);
    case PeerMessage::Kind::Counts: return ReceiveCounts(from, message);
    case PeerMessage::Kind::Want:
    case PeerMessage::Kind::Pieces:
    case PeerMessage::Kind::Lacks: return ReceivePieces(peer, std::move(message));
    case PeerMessage::Kind::Token: return Fault(peer, "it sends tokens, and the graph is not cut");
  }
}

void Far::ReceivePieces(FarPeer& peer, PeerMessage message) {
  if (!pieces_) return Fault(peer, "it speaks of pieces, and no call is shared");
  std::string fault;
  const std::optional<uint32_t> worker = pieces_->Receive(peer.id, message, &fault);
  if (!fault.empty()) return Fault(peer, fault);
  if (!worker) return;
  arrivals_.fetch_add(1);
  Leave(team_.worker(*worker), Message::Kind::Pieces, peer, std::make_shared<PeerMessage>(std::move(message)));
}

void Far::Gone(PeerId id) {
  FarPeer& peer = PeerOf(id);
  if (pieces_) pieces_->Gone(id);
  sent_.Forget(id);
  {
    std::lock_guard lock(mutex_);
    kept_.erase(id);
    links_.erase(id);
    for (auto& [rank, known] : ranked_)
      if (known == &peer) known = nullptr;
    ranked_.try_emplace(peers_.RankOf(id), nullptr);
    waves_.open = false;
    waves_.before.clear();
    if (asked_ && whom_ == id) asked_ = false;
  }
  for (uint32_t i = 0; i < team_.size(); ++i) Leave(team_.worker(i), Message::Kind::FarGone, peer, nullptr);
  arrivals_.fetch_add(1);
}

void Far::Over() {
  over_.store(true, std::memory_order_release);
  team_.WakeAll();
}

}  // namespace df::tagged
