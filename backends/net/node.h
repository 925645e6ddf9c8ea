// backends/net/node.h
//
// One process of a run: it greets others, keeps a link to each, knows who is there, and carries messages both ways. It is a state machine
// over a Transport, without a thread of its own: whoever has the thread calls Step, takes events, and waits in the transport until the time
// that Step said.
//
//   while (...) {
//     const Time next = node.Step();
//     bool any = false;
//     while (auto event = node.Take()) any = true, ...
//     if (!any) transport.Wait(next);  // what was taken gives the other side credit: it is told by another Step
//   }
//
// Of all processes one is the root: it counts epochs, gives ranks, tells everybody who is there, and judges by progress. The others connect to
// whom the root names, the higher rank to the lower one, so that each has a link to each.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/net/link.h"
#include "backends/net/member.h"
#include "backends/net/transport.h"

namespace df::net {

struct NodeOptions {
  Name128 incarnation;                 // RandomName(), of each process and start anew
  bool root = false;
  Facts facts;                         // its wire version is filled in
  bool allow_different_libm = false;
  std::string name, address;           // where others may connect to; empty: nowhere
  Small rank = kNoRank;                // as a launcher gave it
  Small cores = 1;
  LinkOptions link;
  MemberTimes times;
  Time greet_first = std::chrono::milliseconds(2), greet_every = std::chrono::milliseconds(200);  // twice as long each time, at most the latter
  Time answer_within = std::chrono::seconds(30);  // of who is dialled
  Time join_within = std::chrono::seconds(5);     // from a greeting to the first word on its link
  Time busy_within = std::chrono::seconds(3);     // for who works for another run
  size_t most_joining = 64, most_members = 4096;
};

struct Event {
  enum class What : uint8_t {
    Joined,    // a link is there
    Ready,     // it has the graph and serves
    Suspect, Back,
    Gone,      // for ever; `text` says why
    Refused,   // of who was dialled; `text`: who, and what differs
    NoAnswer,  // of an address that was dialled
    Notice,    // something for the log: who sent what makes no sense
    Message,
  };
  What what;
  MemberNumber member = kNobody;
  std::string text;
  Message message;
};

struct NodeCounts {
  uint64_t garbage = 0;     // datagrams that are no batch
  uint64_t strangers = 0;   // of processes that are no members
  uint64_t stale = 0;       // to a process that was here before, or recorded: their stamp is old, from another route
  uint64_t other_epoch = 0; // waves and counts
  uint64_t refused = 0;
};

// 128 bits from the system.
Name128 RandomName();

class Node {
 public:
  Node(NodeOptions options, Transport& transport);

  // Connects to a process, now or when it comes. False, and why, if the address is none.
  bool Dial(const std::string& address, std::string* why);
  // Queues a message. False if it may not be sent: the member is gone, it is too large for it, or it is not legal now.
  bool Send(MemberNumber to, Message message);
  // The same of fields, for small messages: nothing is allocated.
  template <typename M>
  bool Send(MemberNumber to, const M& fields) {
    if (!MaySend(to, M::kKind)) return false;
    scratch_.clear();
    Encode(fields, scratch_);
    return peers_[to].link->Send(M::kKind, scratch_);
  }
  // This process has all that it needs, and serves.
  void SetReady();
  // From whoever holds the sockets, often: is told to others at most every 100 ms. `busy`: in one operation that tells nothing until it ends; `still`:
  // milliseconds since what computes has looked at anything, for people.
  void Progress(uint64_t steps, Small queue, bool busy, Small still = 0);
  // What came from there breaks the rules of who reads it: a member no more.
  void Expel(MemberNumber number, const std::string& why);
  // Says Bye once all is sent. Left(): everybody has it, or a second has passed.
  void Leave(std::string why);
  bool Left() const;

  // Receives, sends, looks at the clock. When to be called again, if nothing arrives before.
  Time Step();
  // The next event: who is there and control messages first, then data, one of each member in turn. Without `data` that stays, and its senders get no
  // credit for it.
  std::optional<Event> Take(bool data = true);

  const Members& members() const { return members_; }
  // Of this process, as the root gave it.
  Small rank() const { return rank_; }
  // Null when it is gone.
  const Link* link(MemberNumber number) const { return peers_[number].link.get(); }
  // Also of a link that has ended.
  const LinkCounts& counts(MemberNumber number) const { return peers_[number].link ? peers_[number].link->counts() : peers_[number].counts; }
  // Bytes that links hold in copies of their own: what is not acknowledged, and what came and was not taken. What is large is held by its parts' holders.
  uint64_t held() const;
  const NodeCounts& counts() const { return counts_; }
  const NodeOptions& options() const { return options_; }

 private:
  struct Peer {
    std::unique_ptr<Link> link;
    Route route = 0;
    bool dialled = false;
    std::optional<Time> retry;  // its route was closed; when to try again
    size_t control_events = 0;  // in events_
    bool said_bye = false;
    LinkCounts counts;          // of a link that has ended
  };
  // Somebody whose greeting was answered.
  struct Joining {
    Member member;
    PeerLimits limits;
    Route route;
    Time until;
  };
  struct Dialling {
    std::string address;
    Route route;
    Small number;  // the root gives who is there the rank of its turn
    Time next, until;
    Time pause;
    std::optional<Time> busy_until;  // it works for another run, which may be over
  };

  void OnArrival(Arrival arrival, Time now);
  void OnGreeting(const Head& head, const Arrival& arrival, Time now);
  void OnHello(const Head& head, const msg::Hello& hello, const Arrival& arrival, Time now);
  void OnWelcome(const Head& head, const msg::Welcome& welcome, const Arrival& arrival, Time now);
  void OnRefused(const Head& head, const msg::Refused& refused, const Arrival& arrival, Time now);
  void OnBatch(MemberNumber number, const Head& head, Arrival& arrival, Time now);
  void OnControl(MemberNumber number, Message message, Time now);
  void OnMembers(const msg::Members& message, Time now);
  bool MaySend(MemberNumber to, Kind kind) const;
  void TellProgress(MemberNumber number);
  bool HasRoot() const;  // that is there, or is about to be
  bool HadRoot() const;
  bool IsLegal(MemberNumber number, const Message& message) const;

  MemberNumber AddPeer(Member member, const PeerLimits& limits, Route route, bool dialled, Time now);
  void SetGone(MemberNumber number, const std::string& why);
  void TellGone(MemberNumber number);
  void TellMembers();
  void Greet(Time now);
  void Flush(MemberNumber number, Time now);
  void SendBye();
  template <typename M>
  M Greeting() const;
  template <typename M>
  void SendGreeting(Route route, const Name128& to, const M& message);
  void Refuse(const Arrival& arrival, const Head& head, msg::Refused refused, Time now);
  void Notice(std::string text, Time now);
  void ForgetRoute(Route route);
  Dialling* DialOf(Route route);
  void EndDial(Route route, bool close);

  NodeOptions options_;
  Transport& transport_;
  Members members_;
  std::vector<Peer> peers_;  // by member number
  std::vector<Joining> joining_;
  std::vector<Dialling> dialling_;
  std::deque<Event> events_;
  std::string scratch_;
  NodeCounts counts_;
  Small rank_, next_rank_ = 1, dialled_ = 0;
  bool ready_ = false, progress_known_ = false, leaving_ = false;
  msg::Progress progress_;
  Time progress_told_{0};
  std::string bye_;
  std::optional<Time> leave_by_;
  MemberNumber turn_ = 0;
  size_t unjudged_ = 0;
  std::optional<Time> step_by_;  // when Step was to be called again
  uint64_t told_epoch_ = 0;
  std::vector<MemberNumber> gone_untold_;
  std::optional<Time> noticed_, refused_at_;
};

}  // namespace df::net
