// runtime/peers/pieces.h
//
// Pieces of calls that processes share, as packets: what this process has made and others still need, and what it wants of them. The engine
// makes and reads the packets; nothing here looks at a value. docs/spread.md.
//
// Pieces are asked for by name and kept until all others that there are have got them, so nobody's memory is filled by who is ahead. Who is
// asked for what it does not have, and will not make, says so, and the one that asked makes it. So nothing depends on who thinks what of
// whom: processes that do not agree on who is there make something twice, and what they make is the same.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/peers/peers.h"

namespace df {

class Pieces {
 public:
  using Call = std::array<uint64_t, 2>;
  using Range = std::pair<uint64_t, uint64_t>;  // from, up to before

  // Of what is kept for others at most so many bytes; then the oldest goes.
  Pieces(Peers& peers, uint64_t most_kept) : peers_(peers), most_kept_(most_kept) {}

  // ---- any thread of the engine

  // The numbers of the processes that are there, this one among them, in order.
  std::vector<uint32_t> Ranks();
  uint32_t own_rank() const { return peers_.Rank(); }
  uint32_t RankOf(PeerId peer);
  // This process has come to a call, and makes these of its pieces; others make those of `awaits`; `worker` gets what comes for it. False: it is
  // there already.
  bool Begin(const Call& call, uint32_t worker, std::vector<Range> makes, std::vector<Range> awaits = {});
  // Of a call that was begun: `range` is awaited no more. This process makes `makes` of it, and others those of `awaits`.
  void Divide(const Call& call, Range range, std::vector<Range> makes, std::vector<Range> awaits);
  // What another process is to have. Asked once it is there.
  void Want(const Call& call, Range range, uint32_t rank);
  // What was made of that; or it cannot leave this process. `to`: who is to have it, if not all.
  void Put(const Call& call, Range range, std::string bytes, std::vector<std::string> parts, std::optional<std::vector<uint32_t>> to = {});
  void PutNothing(const Call& call, Range range, std::optional<std::vector<uint32_t>> to = {});
  // Nothing more is asked of others for it, or made.
  void End(const Call& call);
  // Now and then, of a process that waits: asks who has come meanwhile.
  void AskAgain();

  // ---- the thread of the peers

  // A Want is answered, now or when there is something. Of the other kinds: the worker that is to get it; nothing: nobody wants it any more.
  // `fault`: it breaks the rules.
  std::optional<uint32_t> Receive(PeerId from, const PeerMessage& message, std::string* fault);
  void Gone(PeerId peer);

  // Bytes that are kept, the most at once; packets that were given out.
  uint64_t peak_kept() const { return peak_kept_.load(std::memory_order_relaxed); }

 private:
  struct Kept {
    bool nothing = false;        // it cannot leave
    std::string bytes;
    std::vector<std::string> parts;
    std::set<uint32_t> owed;     // to whom it has not gone
    uint64_t size() const;
  };
  struct Entry {
    std::optional<uint32_t> worker;  // nothing: the call has not come here, or is done
    bool ended = false;
    std::vector<Range> makes;
    std::vector<Range> awaits;       // of others: parts of these are this process's to make, once one of them is lost
    std::map<Range, Kept> kept;
    bool MayCome(Range range) const;
    std::map<Range, std::vector<PeerId>> wanted;  // that are not there yet
  };
  // All of them under the mutex.
  void See(PeerId peer);
  std::optional<PeerId> PeerWith(uint32_t rank);
  void Keep(const Call& call, Range range, Kept kept, const std::optional<std::vector<uint32_t>>& to);
  // To one of those that it is owed to; the last of them gets the bytes themselves.
  void Answer(const Call& call, Range range, Kept& kept, PeerId to);
  void SayLacks(const Call& call, Range range, PeerId to);
  // Says so to all that want what does not come.
  void TurnAway(const Call& call, Entry& entry);
  // It asks for nothing else of the call.
  void Forget(std::map<Call, Entry>::iterator entry, uint32_t rank);
  void Drop(Entry& entry, std::map<Range, Kept>::iterator kept);
  void EndIfDone(std::map<Call, Entry>::iterator entry);
  void ReceiveWant(PeerId from, const PieceName& pieces, std::string* fault);

  Peers& peers_;
  const uint64_t most_kept_;
  std::mutex mutex_;  // of what follows
  std::map<Call, Entry> calls_;
  std::map<PeerId, uint32_t> ranks_;  // of those that were ever seen
  std::set<uint32_t> gone_;
  struct Unsent {
    uint32_t rank;
    PieceName pieces;
  };
  std::vector<Unsent> unsent_;        // to processes that have not come yet
  std::deque<std::pair<Call, Range>> order_;  // of what is kept, the oldest first
  uint64_t kept_ = 0;
  std::atomic<uint64_t> peak_kept_{0};
  // The calls that were done last: who asks for their pieces has come late.
  std::set<Call> done_;
  std::deque<Call> done_order_;
  std::map<PeerId, uint64_t> waiting_;  // wants that have no answer yet, by who asks
};

}  // namespace df
