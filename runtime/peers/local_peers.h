// runtime/peers/local_peers.h
//
// Members of one run within one process: each is an execution with a thread of its own, and messages go through queues. What tests use, and
// what shows the rest of the engine that no process is needed. Under stress messages of different members overtake each other, and members
// are lost.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/peers/peers.h"

namespace df {

class LocalPeers {
 public:
  // Of so many members; number 0 is the root. A `seed` that is not 0 delays messages at random.
  LocalPeers(uint32_t members, uint64_t seed);
  ~LocalPeers();
  LocalPeers(const LocalPeers&) = delete;
  LocalPeers& operator=(const LocalPeers&) = delete;

  Peers& member(uint32_t number) { return *members_[number]; }
  uint32_t size() const { return static_cast<uint32_t>(members_.size()); }
  // Until all but the root have begun, so that a short run has them, too; not for ever, since some graphs are for one process.
  void AwaitBegun();
  // A member that has nothing to do: until the root has ended, or this one is lost.
  void AwaitOver(uint32_t number);
  // The member is lost: nothing comes from it any more, and the others learn so. Not the root.
  void Lose(uint32_t number);
  // Bytes and messages that have gone so far.
  uint64_t messages() const { return messages_.load(); }
  uint64_t bytes() const { return bytes_.load(); }
  // Of all members, the root first; what one has done is known once it has ended.
  std::vector<PeerReport> Reports() const;

 private:
  struct Member : Peers {
    Member(LocalPeers& h, PeerId n) : hub(h), number(n) {}
    void Begin(Receiver& receiver) override;
    void End() override;
    void Send(PeerId to, PeerMessage message) override;
    void Fault(PeerId peer, const std::string& what) override;
    std::vector<PeerId> Others() const override;
    uint32_t RankOf(PeerId peer) const override { return peer; }
    uint32_t Rank() const override { return number; }
    uint32_t Size() const override { return hub.size(); }
    const InFlight& in_flight() const override { return *flying; }
    PeerId Self() const override { return number; }

    LocalPeers& hub;
    const PeerId number;
    Receiver* receiver = nullptr;
    bool ended = false, gone = false, lost = false;  // lost: gone before the end
    std::shared_ptr<InFlight> flying = std::make_shared<InFlight>(kMostInFlight);
    std::map<PeerId, PeerLink> links;       // what it has sent, and what came
    std::optional<PeerFigures> figures;     // once it has ended
  };
  static constexpr uint64_t kMostInFlight = uint64_t{64} << 20;  // as much as a link's credit
  struct Sent {
    PeerId from, to;
    enum class What : uint8_t { Message, Gone, Over } what;
    PeerMessage message;
  };
  void Deliver();
  void LoseLocked(uint32_t number);
  uint64_t Random();
  bool CanTake(const Sent& sent) const;

  std::vector<std::unique_ptr<Member>> members_;
  mutable std::mutex mutex_;  // of all of them
  std::condition_variable changed_;
  std::deque<Sent> queue_;    // the oldest first
  PeerId calling_ = 0;        // whose receiver is called now,
  bool in_call_ = false;      // if one is
  bool reached_root_ = false; // a message
  bool ending_ = false;
  uint64_t random_;
  const bool stress_;
  std::atomic<uint64_t> messages_{0}, bytes_{0};
  std::thread thread_;        // calls receivers
};

}  // namespace df
