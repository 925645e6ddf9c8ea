#include "runtime/peers/pieces.h"

#include <algorithm>

#include "runtime/base/raise_to.h"

namespace df {
namespace {

// Names of calls that are done, which take 16 bytes each.
constexpr size_t kMostDone = 1 << 14;
// Wants of one process that wait for an answer: it comes to the next call when it has the pieces of this one, unless calls do not wait for each other.
constexpr uint64_t kMostWaiting = 1 << 16;

PieceName NameOf(const Pieces::Call& call, Pieces::Range range) { return {{call[0], call[1]}, range.first, range.second}; }

}  // namespace

uint64_t Pieces::Kept::size() const {
  uint64_t all = bytes.size();
  for (const std::string& part : parts) all += part.size();
  return all;
}

// Who asks for a part of what a third process makes has heard that this one is lost, which is soon known here, too.
bool Pieces::Entry::MayCome(Range range) const {
  if (ended) return false;
  if (!worker || std::ranges::count(makes, range)) return true;
  return std::ranges::any_of(awaits, [&](Range of) { return of != range && of.first <= range.first && range.second <= of.second; });
}

// ---------------------------------------------------------------- who is there

void Pieces::See(PeerId peer) {
  uint32_t& rank = ranks_.try_emplace(peer, UINT32_MAX).first->second;
  if (rank == UINT32_MAX) rank = peers_.RankOf(peer);
}

std::optional<PeerId> Pieces::PeerWith(uint32_t rank) {
  for (PeerId peer : peers_.Others()) See(peer);
  for (auto [peer, number] : ranks_)
    if (number == rank && !gone_.contains(rank)) return peer;
  return std::nullopt;
}

uint32_t Pieces::RankOf(PeerId peer) {
  std::lock_guard lock(mutex_);
  See(peer);
  return ranks_[peer];
}

std::vector<uint32_t> Pieces::Ranks() {
  std::lock_guard lock(mutex_);
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < peers_.Size(); ++rank)
    if (!gone_.contains(rank)) ranks.push_back(rank);
  return ranks;
}

// ---------------------------------------------------------------- what others want of this process

void Pieces::Answer(const Call& call, Range range, Kept& kept, PeerId to) {
  kept.owed.erase(ranks_[to]);
  if (kept.nothing) return SayLacks(call, range, to);
  PeerMessage message{PeerMessage::Kind::Pieces};
  message.pieces = NameOf(call, range);
  if (kept.owed.empty()) {
    message.bytes = std::move(kept.bytes);
    message.parts = std::move(kept.parts);
  } else {
    message.bytes = kept.bytes;
    message.parts = kept.parts;
  }
  peers_.Send(to, std::move(message));
}

void Pieces::SayLacks(const Call& call, Range range, PeerId to) {
  PeerMessage message{PeerMessage::Kind::Lacks};
  message.pieces = NameOf(call, range);
  peers_.Send(to, std::move(message));
}

void Pieces::ReceiveWant(PeerId from, const PieceName& pieces, std::string* fault) {
  const Call call{pieces.call[0], pieces.call[1]};
  const Range range{pieces.first, pieces.past};
  if (done_.contains(call)) return SayLacks(call, range, from);
  auto entry = calls_.try_emplace(call).first;
  auto kept = entry->second.kept.find(range);
  if (kept != entry->second.kept.end()) {
    const uint64_t size = kept->second.size();
    Answer(call, range, kept->second, from);
    kept_ -= size - kept->second.size();
    if (kept->second.owed.empty()) Drop(entry->second, kept);
    return EndIfDone(entry);
  }
  if (entry->second.MayCome(range)) {
    if (++waiting_[from] > kMostWaiting) *fault = "it wants more pieces at once than there may be";
    else entry->second.wanted[range].push_back(from);
    return;
  }
  SayLacks(call, range, from);
  Forget(entry, ranks_[from]);  // it divides the call in another way
}

void Pieces::Forget(std::map<Call, Entry>::iterator entry, uint32_t rank) {
  for (auto kept = entry->second.kept.begin(); kept != entry->second.kept.end();) {
    kept->second.owed.erase(rank);
    auto next = std::next(kept);
    if (kept->second.owed.empty()) Drop(entry->second, kept);
    kept = next;
  }
  EndIfDone(entry);
}

void Pieces::TurnAway(const Call& call, Entry& entry) {
  std::erase_if(entry.wanted, [&](const auto& wanted) {
    if (entry.MayCome(wanted.first)) return false;
    for (PeerId peer : wanted.second) --waiting_[peer], SayLacks(call, wanted.first, peer);
    return true;
  });
}

bool Pieces::Begin(const Call& call, uint32_t worker, std::vector<Range> makes, std::vector<Range> awaits) {
  std::lock_guard lock(mutex_);
  Entry& entry = calls_[call];
  if (entry.worker || entry.ended) return false;
  entry.worker = worker;
  entry.makes = std::move(makes);
  entry.awaits = std::move(awaits);
  TurnAway(call, entry);
  return true;
}

void Pieces::Divide(const Call& call, Range range, std::vector<Range> makes, std::vector<Range> awaits) {
  std::lock_guard lock(mutex_);
  auto entry = calls_.find(call);
  if (entry == calls_.end()) return;
  std::erase(entry->second.awaits, range);
  entry->second.makes.insert(entry->second.makes.end(), makes.begin(), makes.end());
  entry->second.awaits.insert(entry->second.awaits.end(), awaits.begin(), awaits.end());
  TurnAway(call, entry->second);
}

void Pieces::Put(const Call& call, Range range, std::string bytes, std::vector<std::string> parts, std::optional<std::vector<uint32_t>> to) {
  std::lock_guard lock(mutex_);
  Keep(call, range, {false, std::move(bytes), std::move(parts), {}}, to);
}

void Pieces::PutNothing(const Call& call, Range range, std::optional<std::vector<uint32_t>> to) {
  std::lock_guard lock(mutex_);
  Keep(call, range, {true, {}, {}, {}}, to);
}

void Pieces::Keep(const Call& call, Range range, Kept made, const std::optional<std::vector<uint32_t>>& to) {
  auto entry = calls_.find(call);
  if (entry == calls_.end() || entry->second.kept.contains(range)) return;
  for (uint32_t rank = 0; rank < peers_.Size(); ++rank)
    if (rank != peers_.Rank() && !gone_.contains(rank) && (!to || std::ranges::count(*to, rank))) made.owed.insert(rank);
  if (auto wanted = entry->second.wanted.find(range); wanted != entry->second.wanted.end()) {
    for (PeerId peer : wanted->second) {
      --waiting_[peer];
      Answer(call, range, made, peer);
    }
    entry->second.wanted.erase(wanted);
  }
  if (made.owed.empty()) return EndIfDone(entry);
  kept_ += made.size();
  entry->second.kept.emplace(range, std::move(made));
  order_.emplace_back(call, range);
  while (kept_ > most_kept_ && order_.size() > 1) {
    auto [oldest, which] = order_.front();
    order_.pop_front();
    auto old = calls_.find(oldest);
    if (old == calls_.end()) continue;
    if (auto kept = old->second.kept.find(which); kept != old->second.kept.end()) Drop(old->second, kept);
    EndIfDone(old);
  }
  RaiseTo(peak_kept_, kept_, std::memory_order_relaxed);
}

void Pieces::Drop(Entry& entry, std::map<Range, Kept>::iterator kept) {
  kept_ -= kept->second.size();
  entry.kept.erase(kept);
  while (!order_.empty()) {
    auto call = calls_.find(order_.front().first);
    if (call != calls_.end() && call->second.kept.contains(order_.front().second)) break;
    order_.pop_front();
  }
}

void Pieces::End(const Call& call) {
  std::lock_guard lock(mutex_);
  auto entry = calls_.find(call);
  if (entry == calls_.end()) return;
  entry->second.worker.reset();
  entry->second.ended = true;
  TurnAway(call, entry->second);
  std::erase_if(unsent_, [&](const Unsent& unsent) { return unsent.pieces.call[0] == call[0] && unsent.pieces.call[1] == call[1]; });
  EndIfDone(entry);
}

void Pieces::EndIfDone(std::map<Call, Entry>::iterator entry) {
  if (!entry->second.ended || !entry->second.kept.empty()) return;
  done_.insert(entry->first);
  done_order_.push_back(entry->first);
  if (done_order_.size() > kMostDone) {
    done_.erase(done_order_.front());
    done_order_.pop_front();
  }
  calls_.erase(entry);
}

// ---------------------------------------------------------------- what this process wants of others

void Pieces::Want(const Call& call, Range range, uint32_t rank) {
  std::lock_guard lock(mutex_);
  unsent_.push_back({rank, NameOf(call, range)});
  if (std::optional<PeerId> peer = PeerWith(rank)) {
    PeerMessage message{PeerMessage::Kind::Want};
    message.pieces = unsent_.back().pieces;
    unsent_.pop_back();
    peers_.Send(*peer, std::move(message));
  }
}

void Pieces::AskAgain() {
  std::lock_guard lock(mutex_);
  std::erase_if(unsent_, [&](const Unsent& unsent) {
    std::optional<PeerId> peer = PeerWith(unsent.rank);
    if (!peer) return false;
    PeerMessage message{PeerMessage::Kind::Want};
    message.pieces = unsent.pieces;
    peers_.Send(*peer, std::move(message));
    return true;
  });
}

// ---------------------------------------------------------------- the thread of the peers

std::optional<uint32_t> Pieces::Receive(PeerId from, const PeerMessage& message, std::string* fault) {
  std::lock_guard lock(mutex_);
  See(from);
  if (message.pieces.first >= message.pieces.past) return *fault = "it speaks of no pieces", std::nullopt;
  if (message.kind == PeerMessage::Kind::Want) {
    ReceiveWant(from, message.pieces, fault);
    return std::nullopt;
  }
  auto entry = calls_.find({message.pieces.call[0], message.pieces.call[1]});
  return entry == calls_.end() ? std::nullopt : entry->second.worker;
}

void Pieces::Gone(PeerId peer) {
  std::lock_guard lock(mutex_);
  See(peer);
  const uint32_t rank = ranks_[peer];
  gone_.insert(rank);
  waiting_.erase(peer);
  for (auto entry = calls_.begin(); entry != calls_.end();) {
    auto next = std::next(entry);
    Entry& of = entry->second;
    for (auto& [range, peers] : of.wanted) std::erase(peers, peer);
    for (auto kept = of.kept.begin(); kept != of.kept.end();) {
      auto other = std::next(kept);
      kept->second.owed.erase(rank);
      if (kept->second.owed.empty()) Drop(of, kept);
      kept = other;
    }
    EndIfDone(entry);
    entry = next;
  }
}

}  // namespace df
