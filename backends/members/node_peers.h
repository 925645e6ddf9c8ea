// backends/members/node_peers.h
//
// One process of a run: a thread that has its node and transport, and what the engine asks of its peers. docs/distributed.md.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backends/net/node.h"
#include "runtime/peers/peers.h"

namespace df {

// What a root has its workers compute with: the options that its program was compiled with, by name, and the graph as a file.
struct SharedProgram {
  std::string options, graph;
  // Of a run whose spine runs everywhere: its processes, and the inputs (driver/cluster/follow.h). 0: workers need none.
  uint32_t processes = 0;
  std::string inputs = {};
  std::vector<std::string> input_parts = {};
};

class NodePeers final : public Peers {
 public:
  // The root of a run, which has a program for those that want it.
  NodePeers(std::unique_ptr<net::Transport> transport, net::NodeOptions options, SharedProgram program, const std::vector<std::string>& workers);
  // A worker, which is dialled by the root, or dials it. With `has_program` it asks for the inputs only if it waits for them.
  NodePeers(std::unique_ptr<net::Transport> transport, net::NodeOptions options, const std::string& root = "", bool has_program = false);
  ~NodePeers() override;
  NodePeers(const NodePeers&) = delete;
  NodePeers& operator=(const NodePeers&) = delete;

  // The root: until so many others serve. False: one of them cannot come, or `interrupt` was set; TakeNotices says why.
  // Now and then it is asked whether there is still a reason to wait.
  bool AwaitWorkers(size_t count, const std::atomic<bool>* interrupt, const std::function<bool()>& may_come = [] { return true; });
  // A worker: until a root has sent its program. Nothing if `stop` was set, or the root has gone again.
  // Meanwhile `tell` is called when there are notices to take.
  std::optional<SharedProgram> AwaitProgram(const std::atomic<bool>* stop, const std::function<void()>& tell);
  // A worker whose root's spine runs everywhere: until its inputs have come. Of a run that has begun they do not: then until that is over.
  std::optional<SharedProgram> AwaitInputs(const std::atomic<bool>* stop);
  // A worker: until the run is over, or `stop` is set.
  void AwaitOver(const std::atomic<bool>* stop);
  // A worker: it has the program, and will serve.
  void SetReady();

  // For people, one line each: who was refused and why, who was lost, what came that makes no sense.
  std::vector<std::string> TakeNotices();
  // The root, before the run: at its end it waits a short while for what the others tell of themselves, and a longer one for their traces.
  void WantReports(bool traces);
  // The root: of all processes, this one first. Once Await has come back they are as good as they get.
  std::vector<PeerReport> Reports() const;
  // The root, after End: until all have told what they know, or have had their time, which is at most so long.
  void AwaitReports(std::chrono::milliseconds longest);
  // A worker, which is about to say what it did when: it does not leave before, or not soon. Then: what that was, and when it began.
  void WillTell();
  void Tell(std::string trace, std::chrono::steady_clock::time_point began);
  // A worker: whether there was one, and whether it went without a word.
  bool had_root() const;
  bool lost_root() const;

  void Begin(Receiver& receiver) override;
  void End() override;
  void Send(PeerId to, PeerMessage message) override;
  void Fault(PeerId peer, const std::string& what) override;
  std::vector<PeerId> Others() const override;
  const InFlight& in_flight() const override { return *flying_; }
  uint32_t RankOf(PeerId peer) const override;
  uint32_t Rank() const override { return rank_.load(); }
  uint32_t Size() const override { return size_.load(); }
  PeerId Self() const override { return kSelf; }

 private:
  static constexpr PeerId kSelf = UINT32_MAX;
  void Serve();
  void SendAll();
  net::Message EncodedHere(PeerMessage& message) const;
  std::optional<PeerMessage> DecodedHere(const net::Message& message) const;
  void Handle(net::Event event);
  void HandleMessage(net::MemberNumber from, const net::Message& message);
  void SendProgram(net::MemberNumber to, bool has_graph);
  void LookAtAll();
  void LookNowAndThen();
  void SendStats();
  void SendTrace();
  bool AllHaveTold() const;
  PeerFigures Figures();
  void Notice(std::string text);
  std::string NameOf(net::MemberNumber member) const;

  std::unique_ptr<net::Transport> transport_;
  net::Node node_;                           // the thread's, once it runs
  const bool root_, has_program_;
  const bool launched_ = false;              // a root that dials nobody: the others come
  SharedProgram program_;
  std::thread thread_;
  mutable std::mutex mutex_;                 // of what follows
  std::condition_variable changed_;
  std::deque<std::pair<PeerId, PeerMessage>> out_;
  std::vector<std::pair<PeerId, std::string>> faults_;
  struct Arrived {
    enum class What : uint8_t { Message, Gone, Over } what;
    PeerId from = 0;
    PeerMessage message;
  };
  std::deque<Arrived> early_;                // came before Begin
  Receiver* receiver_ = nullptr;
  bool calling_ = false;                     // the receiver, at this moment
  bool stop_ = false, over_ = false, ready_ = false;
  std::map<PeerId, bool> serving_;           // the others that are there
  std::optional<net::MemberNumber> root_member_;  // of a worker
  bool lost_root_ = false;
  bool wants_ = false;                       // the program is to be asked for
  std::optional<SharedProgram> got_;
  bool has_inputs_ = false;                  // got_ has them
  bool turned_away_ = false;                 // somebody, who has to hear why
  bool failed_ = false;                      // somebody who was dialled does not come
  std::vector<std::string> notices_;
  const std::shared_ptr<InFlight> flying_;
  std::map<PeerId, PeerReport> reports_;     // of the others, also of those that are gone
  std::map<PeerId, PeerLink> links_;         // messages of the run, and bytes of links
  PeerFigures figures_;                      // of this process
  std::map<PeerId, uint32_t> ranks_;         // as they were last seen
  std::atomic<uint32_t> rank_{0}, size_{1};
  bool wants_reports_ = false, wants_traces_ = false, done_ = false;  // of a worker: it will tell one
  std::string trace_;                        // of a worker, to be sent
  uint64_t trace_began_ = 0;
  // The thread's alone.
  bool told_stats_ = false, told_trace_ = false;
  net::Time looked_{0};
  std::string noticed_;  // the last notice
  net::Time noticed_at_{0};
  net::Small still_ = 0;
};

}  // namespace df
