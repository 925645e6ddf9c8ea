// runtime/engines/tagged/exec/far.h
//
// The workers of other processes, as those of this one see them: somebody who asks at a mailbox, and somebody to be asked. Private to the
// tagged engine; docs/distributed.md.
//
// The thread that calls Receive touches no value and no frame: it leaves messages, whose packets a worker writes and reads itself. So values
// are not shared because of another process.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/engines/tagged/exec/mailbox.h"
#include "runtime/packet/packet_types.h"
#include "runtime/peers/peers.h"

namespace df::tagged {

class Team;
struct Worker;
struct Program;

// Stands for another process: at the mailbox of a worker it asks for work, as the home of a proxy it gets what that one gives.
struct FarPeer : Asker {
  explicit FarPeer(PeerId i) : Asker(/*far=*/true), id(i) {}
  const PeerId id;
};

// A call, or a delayed one, of another process that is computed here.
struct FarCall {
  FarPeer& home;
  uint64_t ticket;                                // there
  std::chrono::steady_clock::time_point began;
  Value reference;                                // of a delayed one
  bool returned = false;                          // nothing more is sent: whoever gave it computes it
};

// The types of what sites bring into the frames that they make: by site of the program, in the order of SiteCode::together.
struct FarTypes {
  FarTypes(const Program& program, const ir::Graph& graph);
  const Program& program;
  PacketTypes types;
  std::vector<std::vector<ir::PortType>> operands;
  llvm::ArrayRef<ir::PortType> OperandsOf(const SiteCode& site) const;
  // What the Delay of a site gives.
  ir::PortType ReferenceOf(const SiteCode& site) const;
};

// Counted over a run, by any thread.
struct FarStats {
  std::atomic<uint64_t> given{0}, taken{0}, lost{0}, kept_back{0};
};

class Far final : public Peers::Receiver {
 public:
  Far(Peers& peers, Team& team, const Program& program, const ir::Graph& graph, uint64_t seed)
      : peers_(peers), team_(team), types_(program, graph), random_(seed * 2 + 1) {}
  void Begin() { peers_.Begin(*this); }
  // Afterwards nothing is left in a mailbox any more by other processes.
  void End() { peers_.End(); }
  bool over() const { return over_.load(std::memory_order_acquire); }

  // A worker here that has nothing to do: one of the others is asked, unless one is already, or it is too early.
  void AskFor(Worker& worker);
  // A worker that was asked has nothing to give.
  void Refuse(FarPeer& peer) { peers_.Send(peer.id, {PeerMessage::Kind::Refuse}); }
  void Send(FarPeer& peer, PeerMessage message) { peers_.Send(peer.id, std::move(message)); }
  void Fault(FarPeer& peer, const std::string& what) { peers_.Fault(peer.id, what); }
  // What another process gave took so long: who asks for less than a message costs waits longer before it asks again.
  void NoteGrain(std::chrono::steady_clock::duration took);

  const FarTypes& types() const { return types_; }
  // Stands for this process as the home of what others did not do.
  FarPeer& here() { return here_; }
  // Of others, that are computed here, by any worker.
  void BeginCall() { calls_.fetch_add(1); }
  void EndCall() { calls_.fetch_sub(1); }
  uint64_t calls() const { return calls_.load(); }

  FarStats stats;

  // The thread of the peers.
  void Receive(PeerId from, PeerMessage message) override;
  void Gone(PeerId peer) override;
  void Over() override;

  // Tickets say which worker has them.
  static constexpr uint64_t kMostWorkers = 1 << 10;

 private:
  using Clock = std::chrono::steady_clock;
  FarPeer& PeerOf(PeerId id);
  uint64_t Random();  // under the mutex
  void Leave(Worker& worker, Message::Kind kind, FarPeer& from, std::unique_ptr<PeerMessage> far);

  Peers& peers_;
  Team& team_;
  const FarTypes types_;
  FarPeer here_{UINT32_MAX};
  std::atomic<bool> over_{false};
  std::atomic<uint64_t> calls_{0};
  std::mutex mutex_;  // of what follows
  std::map<PeerId, std::unique_ptr<FarPeer>> known_;
  bool asked_ = false;  // somebody, who has not answered:
  PeerId whom_ = 0;
  Worker* asker_ = nullptr;
  Clock::time_point ask_at_{};
  Clock::duration pause_{};
  uint64_t random_;
};

}  // namespace df::tagged
