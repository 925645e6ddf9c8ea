// Whether anything goes on in any process: docs/far-calls.md. A process whose calls are all away waits for others, and these may wait for what
// was given to it; only all together can tell that nothing will come.
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/far.h"
#include "runtime/engines/tagged/exec/team.h"

namespace df::tagged {

namespace {

// An answer may have been dropped, because members came and went meanwhile.
constexpr std::chrono::milliseconds kAnswerWithin{500};

}  // namespace

// Counted before anybody can have it.
void Far::Send(FarPeer& peer, PeerMessage message) {
  {
    std::lock_guard lock(mutex_);
    ++links_[peer.id].first;
  }
  peers_.Send(peer.id, std::move(message));
}

// It was left in a mailbox: this process is not quiet until it has been read.
void Far::Arrived(PeerId from) {
  arrivals_.fetch_add(1);
  std::lock_guard lock(mutex_);
  ++links_[from].second;
}

Far::Sample Far::Look() {
  Sample sample;
  sample.quiet = team_.active() == 0;
  sample.left = sample.quiet && leaving_at_.load() == arrivals_.load() && !team_.worker(0).execution.HasLeft();
  for (PeerId other : peers_.Others()) sample.links[other] = links_[other];
  return sample;
}

bool Far::HasLeftAll() const { return leaving_at_.load() == arrivals_.load() && !team_.worker(0).execution.HasLeft(); }

bool Far::IsStuckInPieces() const { return making_.load() != 0 && team_.active() == 0 && HasLeftAll(); }

bool Far::Awaits() {
  // What does not come is made here. Where pieces are made, and nothing goes on, frames leave scheduled code first.
  if (pieces_) return team_.AnyAway() && (making_.load() == 0 || HasLeftAll());
  if (serves_) return true;
  if (!team_.AnyAway() || stuck()) return false;
  const Clock::time_point now = Clock::now();
  bool leave;
  std::vector<PeerId> others;
  uint32_t number;
  {
    std::lock_guard lock(mutex_);
    if (waves_.open ? now - waves_.began < kAnswerWithin : now < waves_.next) return true;
    waves_.others = others = peers_.Others();
    if (others.empty()) return true;  // that they are lost is about to be told
    number = ++waves_.number;
    leave = std::exchange(waves_.leave, false);
    waves_.open = true;
    waves_.began = now;
    waves_.now.clear();
  }
  for (PeerId other : others) peers_.Send(other, {PeerMessage::Kind::Wave, number, leave});
  return !leave;
}

void Far::AnswerWave(PeerId root, const PeerMessage& wave) {
  PeerMessage answer{PeerMessage::Kind::Counts, wave.number};
  if (wave.ticket) Leave(team_.worker(0), Message::Kind::FarLeave, PeerOf(root), nullptr);
  {
    std::lock_guard lock(mutex_);
    const Sample sample = Look();
    answer.ticket = uint64_t{sample.quiet} | uint64_t{sample.left} << 1;
    for (const auto& [peer, counts] : sample.links) answer.links.push_back({peer, counts.first, counts.second});
  }
  peers_.Send(root, std::move(answer));
}

void Far::ReceiveCounts(PeerId from, const PeerMessage& counts) {
  {
    std::lock_guard lock(mutex_);
    if (serves_ || !waves_.open || counts.number != waves_.number) return;
    Sample& sample = waves_.now[from];
    sample.quiet = counts.ticket & 1;
    sample.left = counts.ticket & 2;
    for (const PeerCount& row : counts.links) sample.links[row.peer] = {row.sent, row.received};
    if (waves_.now.size() < waves_.others.size()) return;
    waves_.now[peers_.Self()] = Look();
    Judge();
  }
  team_.worker(0).mailbox.Wake();
}

// All have answered. If two waves in a row find everybody quiet, with the same counts, and nothing on its way, then nothing went on anywhere
// when the first had ended (Mattern 1987). Only then do frames leave scheduled code, and it begins anew; if no process has any left: stuck.
void Far::Judge() {
  waves_.open = false;
  waves_.next = Clock::now();
  bool quiet = true, left = true;
  for (const auto& [process, sample] : waves_.now) {
    quiet &= sample.quiet;
    left &= sample.left;
    for (const auto& [other, counts] : sample.links) {
      auto there = waves_.now.find(other);
      if (there == waves_.now.end()) quiet = false;  // one knows a member that the other does not
      else if (auto back = there->second.links.find(process); back == there->second.links.end() || back->second.second != counts.first) quiet = false;
    }
  }
  if (!quiet) {
    // Frames that have just left scheduled code may soon have nothing to do, and many may have to leave one after the other.
    constexpr int kSooner = 50;
    const bool soon = leaving_at_.load() == arrivals_.load();
    waves_.before.clear();
    waves_.next += soon ? between_waves_ / kSooner : between_waves_;
  } else if (waves_.now != waves_.before) {
    waves_.before = waves_.now;
  } else if (left) {
    stuck_.store(true);
  } else {
    waves_.before.clear();
    waves_.leave = true;
  }
}

}  // namespace df::tagged
