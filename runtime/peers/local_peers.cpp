#include "runtime/peers/local_peers.h"

#include <algorithm>
#include <chrono>

namespace df {
namespace {

// Under stress a member is lost at one message in so many.
constexpr uint64_t kLoss = 512;

}  // namespace

LocalPeers::LocalPeers(uint32_t members, uint64_t seed) : random_(seed * 2 + 1), stress_(seed != 0) {
  for (uint32_t i = 0; i < members; ++i) members_.push_back(std::make_unique<Member>(*this, i));
  thread_ = std::thread([this] { Deliver(); });
}

LocalPeers::~LocalPeers() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LocalPeers::AwaitBegun() {
  constexpr std::chrono::seconds kPatience{2};
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPatience, [this] {
    return std::all_of(members_.begin() + 1, members_.end(), [](const auto& member) { return member->receiver || member->ended || member->gone; });
  });
}

void LocalPeers::AwaitOver(uint32_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return members_[0]->ended || members_[number]->gone; });
}

void LocalPeers::Lose(uint32_t number) {
  {
    std::lock_guard lock(mutex_);
    LoseLocked(number);
  }
  changed_.notify_all();
}

void LocalPeers::LoseLocked(uint32_t number) {
  Member& lost = *members_[number];
  if (lost.gone) return;
  lost.gone = true;
  lost.lost = !members_[0]->ended;
  for (const auto& member : members_)
    if (!member->gone) queue_.push_back({lost.number, member->number, Sent::What::Gone, {}});
  queue_.push_back({lost.number, lost.number, Sent::What::Over, {}});
}

uint64_t LocalPeers::Random() {
  random_ = random_ * 6364136223846793005 + 1442695040888963407;
  return random_ >> 33;
}

void LocalPeers::Member::Begin(Receiver& to) {
  std::unique_lock lock(hub.mutex_);
  receiver = &to;
  hub.changed_.notify_all();
  // Under stress somebody has asked the root before it goes on, or most runs are over by then.
  constexpr std::chrono::milliseconds kPatience{20};
  if (number == 0 && hub.stress_) hub.changed_.wait_for(lock, kPatience, [this] { return hub.reached_root_ && !hub.in_call_; });
}

void LocalPeers::Member::End() {
  std::unique_lock lock(hub.mutex_);
  if (ended) return;
  if (receiver) figures = receiver->Figures();
  ended = true;
  if (number == 0)
    for (const auto& member : hub.members_)
      if (member->number != 0) hub.queue_.push_back({0, member->number, Sent::What::Over, {}});
  hub.changed_.notify_all();
  hub.changed_.wait(lock, [this] { return !hub.in_call_ || hub.calling_ != number; });
  receiver = nullptr;
}

void LocalPeers::Member::Send(PeerId to, PeerMessage message) {
  hub.messages_.fetch_add(1);
  hub.bytes_.fetch_add(message.size());
  message.carried = Carried(flying, InFlight::Way::Sent, message.size());
  {
    std::lock_guard lock(hub.mutex_);
    if (gone || hub.members_[to]->gone) return;
    PeerLink& link = links[to];
    ++link.messages_out;
    link.bytes_out += message.size();
    hub.queue_.push_back({number, to, Sent::What::Message, std::move(message)});
  }
  hub.changed_.notify_all();
}

// Within one process nobody else writes packets.
void LocalPeers::Member::Fault(PeerId peer, const std::string& what) { hub.Lose(peer); }

std::vector<PeerId> LocalPeers::Member::Others() const {
  std::lock_guard lock(hub.mutex_);
  std::vector<PeerId> others;
  for (const auto& member : hub.members_)
    if (member->number != number && !member->gone && !member->ended) others.push_back(member->number);
  return others;
}

std::vector<PeerReport> LocalPeers::Reports() const {
  std::lock_guard lock(mutex_);
  std::vector<PeerReport> reports;
  for (const auto& member : members_) {
    PeerReport& report = reports.emplace_back();
    report.rank = member->number;
    report.where = member->number == 0 ? "here" : "a thread";
    if (member->lost) report.lost = "before the end";
    report.figures = member->figures;
    for (const auto& [rank, link] : member->links) {
      report.links.push_back(link);
      report.links.back().rank = rank;
    }
  }
  return reports;
}

bool LocalPeers::CanTake(const Sent& sent) const {
  const Member& to = *members_[sent.to];
  return to.ended || to.receiver || (to.gone && sent.what == Sent::What::Message);
}

void LocalPeers::Deliver() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stress_ && members_.size() > 2 && !queue_.empty() && Random() % kLoss == 0) LoseLocked(static_cast<uint32_t>(1 + Random() % (members_.size() - 1)));
    auto next = std::find_if(queue_.begin(), queue_.end(), [this](const Sent& sent) { return CanTake(sent); });
    if (next == queue_.end()) {
      if (ending_) return;
      changed_.wait(lock);
      continue;
    }
    if (stress_ && next + 1 != queue_.end()) {
      // What another member has sent goes first, sometimes; what one has sent to another stays in order.
      auto other = queue_.begin() + static_cast<ptrdiff_t>(Random() % queue_.size());
      bool first = std::none_of(queue_.begin(), other, [&](const Sent& s) { return s.from == other->from && s.to == other->to; });
      if (first && CanTake(*other)) next = other;
    }
    Sent sent = std::move(*next);
    queue_.erase(next);
    Member& to = *members_[sent.to];
    if (to.ended || (to.gone && sent.what != Sent::What::Over) || (sent.what == Sent::What::Message && members_[sent.from]->gone)) continue;
    if (sent.what == Sent::What::Message) {
      PeerLink& link = to.links[sent.from];
      ++link.messages_in;
      link.bytes_in += sent.message.size();
      sent.message.carried = Carried(to.flying, InFlight::Way::Come, sent.message.size());
    }
    calling_ = to.number;
    in_call_ = true;
    reached_root_ = reached_root_ || to.number == 0;
    Peers::Receiver& receiver = *to.receiver;
    lock.unlock();
    switch (sent.what) {
      case Sent::What::Message: receiver.Receive(sent.from, std::move(sent.message)); break;
      case Sent::What::Gone: receiver.Gone(sent.from); break;
      case Sent::What::Over: receiver.Over(); break;
    }
    lock.lock();
    in_call_ = false;
    changed_.notify_all();
  }
}

}  // namespace df
