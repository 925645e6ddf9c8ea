// backends/members/node_peers.h
//
// One process of a run: a thread that has its node and transport, and what the engine asks of its peers. docs/distributed.md.
#pragma once

#include <atomic>
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
};

// Of all links together, and by member.
struct PeerTraffic {
  std::string name;
  uint64_t messages_out = 0, bytes_out = 0, messages_in = 0, bytes_in = 0;
};

class NodePeers final : public Peers {
 public:
  // The root of a run, which has a program for those that want it.
  NodePeers(std::unique_ptr<net::Transport> transport, net::NodeOptions options, SharedProgram program, const std::vector<std::string>& workers);
  // A worker, which is dialled by the root, or dials it. With `has_program` it does not ask for one.
  NodePeers(std::unique_ptr<net::Transport> transport, net::NodeOptions options, const std::string& root = "", bool has_program = false);
  ~NodePeers() override;
  NodePeers(const NodePeers&) = delete;
  NodePeers& operator=(const NodePeers&) = delete;

  // The root: until so many others serve. False: one of them cannot come, or `interrupt` was set; TakeNotices says why.
  // Now and then it is asked whether there is still a reason to wait.
  bool AwaitWorkers(size_t count, const std::atomic<bool>* interrupt, const std::function<bool()>& may_come = [] { return true; });
  // A worker: until a root has sent its program. Nothing if `stop` was set, or the root has gone again.
  std::optional<SharedProgram> AwaitProgram(const std::atomic<bool>* stop);
  // A worker: until the run is over, or `stop` is set.
  void AwaitOver(const std::atomic<bool>* stop);
  // A worker: it has the program, and will serve.
  void SetReady();

  // For people, one line each: who was refused and why, who was lost, what came that makes no sense.
  std::vector<std::string> TakeNotices();
  std::vector<PeerTraffic> traffic() const;
  // A worker: whether there was one.
  bool had_root() const;

  void Begin(Receiver& receiver) override;
  void End() override;
  void Send(PeerId to, PeerMessage message) override;
  void Fault(PeerId peer, const std::string& what) override;
  std::vector<PeerId> Others() const override;
  PeerId Self() const override { return kSelf; }

 private:
  static constexpr PeerId kSelf = UINT32_MAX;
  void Serve();
  void SendAll();
  net::Message EncodedHere(PeerMessage& message) const;
  std::optional<PeerMessage> DecodedHere(const net::Message& message) const;
  void Handle(net::Event event);
  void HandleMessage(net::MemberNumber from, const net::Message& message);
  void Over();
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
  bool wants_ = false;                       // the program is to be asked for
  std::optional<SharedProgram> got_;
  bool turned_away_ = false;                 // somebody, who has to hear why
  bool failed_ = false;                      // somebody who was dialled does not come
  std::vector<std::string> notices_;
  std::map<PeerId, PeerTraffic> traffic_;
};

}  // namespace df
