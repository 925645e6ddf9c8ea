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
#include "runtime/packet/sent_objects.h"
#include "runtime/peers/peers.h"
#include "runtime/peers/pieces.h"

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
  PieceName pieces = {};                          // of one that was not given: pieces of a shared call (spread/spread.h)
  bool IsPieces() const { return pieces.first < pieces.past; }
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
  std::atomic<uint64_t> given{0}, taken{0}, lost{0}, kept_back{0}, held_back{0};
  // Calls that are away, and the bytes of their packets; the most of both.
  std::atomic<uint64_t> tickets{0}, ticket_bytes{0}, peak_tickets{0}, peak_ticket_bytes{0};
  // Calls that were shared; packets of pieces that were made for others, and their bytes; that came; that were made here though they are another
  // process's; calls that were made here after all, from the beginning.
  std::atomic<uint64_t> pieces_calls{0}, pieces_made{0}, pieces_bytes{0}, pieces_taken{0}, pieces_again{0}, pieces_whole{0};
};

// Counts a call that is away, as long as this lives.
class CountedTicket {
 public:
  CountedTicket() = default;
  CountedTicket(FarStats& stats, uint64_t bytes);
  CountedTicket(CountedTicket&& other) noexcept : stats_(std::exchange(other.stats_, nullptr)), bytes_(other.bytes_) {}
  CountedTicket& operator=(CountedTicket&& other) noexcept {
    std::swap(stats_, other.stats_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~CountedTicket();

 private:
  FarStats* stats_ = nullptr;
  uint64_t bytes_ = 0;
};

// What a run may take, and what its first thread had before.
struct FarLimits {
  int64_t base = 0;
  uint64_t max_memory = UINT64_MAX;
};

class Far final : public Peers::Receiver, private SentObjects::Line {
 public:
  // A seed that is not 0: under stress. `shares`: all processes run the spine, and share calls; else one gives calls to others.
  Far(Peers& peers, Team& team, const Program& program, const ir::Graph& graph, FarLimits limits, uint64_t seed, bool shares);
  void Begin() { peers_.Begin(*this); }
  // Afterwards nothing is left in a mailbox any more by other processes, and nothing is sent.
  void End() {
    sent_.End();
    peers_.End();
  }
  bool over() const { return over_.load(std::memory_order_acquire); }

  // A worker here that has nothing to do: one of the others is asked, unless one is already, or it is too early. How long it may sleep, if nothing comes: what
  // comes wakes it, an answer that there is nothing as well. None: others of this process may soon have something, or it is to look at more than that.
  std::chrono::microseconds AskFor(Worker& worker);
  // The process of this number; null if it is not there.
  FarPeer* PeerOfRank(uint32_t rank);
  // A worker that was asked has nothing to give.
  void Refuse(FarPeer& peer) { peers_.Send(peer.id, {PeerMessage::Kind::Refuse}); }
  // A call, its results, its end: what may wake somebody.
  void Send(FarPeer& peer, PeerMessage message);
  void Fault(FarPeer& peer, const std::string& what) { peers_.Fault(peer.id, what); }
  // What another process gave took so long: who asks for less than a message costs waits longer before it asks again.
  void NoteGrain(std::chrono::steady_clock::duration took);

  const FarTypes& types() const { return types_; }
  // What others keep of this process's large objects.
  SentObjects& sent() { return sent_; }
  // Whether it knows its own objects by name: all its values are of one thread.
  bool KnowsOwn() const;
  // Null: it shares none.
  Pieces* pieces() { return pieces_.get(); }
  // So many ranges of pieces more, or less, are being made here.
  void NoteMaking(int more) {
    making_.fetch_add(more);
    if (more > 0) arrivals_.fetch_add(1);
  }
  // Some are, and nothing goes on here, also after all frames have left scheduled code.
  bool IsStuckInPieces() const;
  // Stands for this process as the home of what others did not do.
  FarPeer& here() { return here_; }
  // A worker looks at its limits, and has so many bytes.
  void NoteLook(uint32_t index, int64_t bytes) {
    Polled& look = polled_[index];
    look.count.store(look.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    look.bytes.store(bytes, std::memory_order_relaxed);
  }

  // Whether anything goes on in any process (far_waves.cpp). The first worker: it serves a root; a run of the root begins; all frames are
  // about to leave scheduled code; in a process where nothing goes on, whether something may still come.
  void Serve() { serves_ = true; }
  void BeginRun() { stuck_.store(false); }
  void NoteLeaving() { leaving_at_.store(arrivals_.load()); }
  bool Awaits();
  // Of the root: nothing goes on anywhere, and nothing can.
  bool stuck() const { return stuck_.load(); }

  FarStats stats;

  // The thread of the peers.
  void Receive(PeerId from, PeerMessage message) override;
  void Gone(PeerId peer) override;
  void Over() override;
  PeerFigures Figures() override;  // and any other

  // Tickets say which worker has them.
  static constexpr uint64_t kMostWorkers = 1 << 10;

 private:
  using Clock = std::chrono::steady_clock;
  FarPeer& PeerOf(PeerId id);
  uint64_t Random();  // under the mutex
  bool HasRoom() const;
  void Leave(Worker& worker, Message::Kind kind, FarPeer& from, std::shared_ptr<PeerMessage> far);
  void Arrived(PeerId from);
  bool HasLeftAll() const;
  void AnswerWave(PeerId root, const PeerMessage& wave);
  void ReceiveCounts(PeerId from, const PeerMessage& counts);
  void Judge();
  void ReceiveObject(FarPeer& peer, PeerMessage message);
  void ReceivePieces(FarPeer& peer, PeerMessage message);
  void Give(PeerId receiver, uint64_t name, Packet object) override;
  void TakeBack(PeerId receiver, uint64_t name) override { peers_.Send(receiver, {PeerMessage::Kind::Dropped, 0, name}); }

  Peers& peers_;
  Team& team_;
  const FarTypes types_;
  SentObjects sent_;
  const uint64_t keeps_;
  const std::unique_ptr<Pieces> pieces_;
  const bool placed_;  // each call that goes has its process: nobody asks for any (spread/placed.h)
  FarPeer here_{UINT32_MAX};
  const FarLimits limits_;
  // By worker: how often it has looked at its limits, and its bytes then.
  struct alignas(64) Polled {
    std::atomic<uint64_t> count{0};
    std::atomic<int64_t> bytes{0};
    uint64_t seen = 0;           // by Figures,
    Clock::time_point since{};   // so many since then
  };
  const std::unique_ptr<Polled[]> polled_;
  std::mutex figures_mutex_;     // of what Figures sees; nothing else is locked meanwhile
  Clock::duration longest_still_{0};
  std::atomic<bool> over_{false};
  bool serves_ = false;
  std::atomic<bool> stuck_{false};
  std::atomic<uint64_t> arrivals_{0};    // what may wake somebody, and losses
  std::atomic<uint64_t> leaving_at_{UINT64_MAX};  // so many had come when all frames were last told to leave scheduled code
  std::mutex mutex_;  // of what follows
  std::map<PeerId, std::unique_ptr<FarPeer>> known_;
  std::map<uint32_t, FarPeer*> ranked_;  // those that were looked for
  uint32_t next_worker_ = 0;             // that gets a placed call
  uint64_t keeps_each_ = 0;  // of one other process, once that was asked
  struct Kept {
    uint64_t bytes = 0;
    std::map<uint64_t, uint64_t> sizes;  // by name
  };
  std::map<PeerId, Kept> kept_;

  // What one process says in a wave: of the others that it has, by number, what it sent them and what came.
  struct Sample {
    bool quiet = false, left = false;
    std::map<PeerId, std::pair<uint64_t, uint64_t>> links;
    friend bool operator==(const Sample&, const Sample&) = default;
  };
  using Samples = std::map<PeerId, Sample>;
  Sample Look();  // under the mutex
  std::map<PeerId, std::pair<uint64_t, uint64_t>> links_;  // sent, received
  struct Waves {
    uint32_t number = 0;
    bool open = false;           // some have not answered
    bool leave = false;          // the next one tells all frames to leave scheduled code
    std::vector<PeerId> others;
    Clock::time_point began{}, next{};
    Samples now, before;         // the latter complete, quiet, and without messages on their way
  };
  Waves waves_;
  const std::chrono::microseconds between_waves_;
  bool asked_ = false;  // somebody, who has not answered:
  PeerId whom_ = 0;
  Worker* asker_ = nullptr;
  Clock::time_point ask_at_{};
  Clock::duration pause_{};
  uint64_t random_;
  std::atomic<int64_t> making_{0};
};

}  // namespace df::tagged
