// backends/net/link.h
//
// One peer, as a state machine over a clock: no thread, no socket. What is given to Send comes out of the peer's Take*, once, and in the
// order of its lane, whatever datagrams are lost on the way, come twice, or go with a connection that ends.
//
//   Send(message) -> [queue] -> Poll(now) -> datagram ~~~> Receive(datagram, now) -> [queue] -> Take*()
//
// The one thing asked of the transport is that datagrams of one route do not overtake each other; where they do, batches are sent twice.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "backends/net/inbox.h"
#include "backends/net/messages.h"
#include "backends/net/outbox.h"

namespace df::net {

// The two processes of a link. A restarted process has another incarnation, and so is another peer.
struct Ends {
  Name128 self, peer;
};

struct LinkCounts {
  uint64_t datagrams_sent = 0, datagrams_received = 0, bytes_sent = 0, bytes_received = 0;
  uint64_t again = 0;       // batches sent again
  uint64_t duplicates = 0;  // datagrams that had come before
  uint64_t gaps = 0;        // batches that came before one that was missing
};

class Link {
 public:
  // `peer`: what the peer's greeting said it takes.
  Link(const LinkOptions& options, Ends ends, PeerLimits peer, Time now);

  // Queues it. False: it is larger than the peer takes, or, on the control lane, than a batch.
  bool Send(Message message) { return outbox_.Push(std::move(message)); }
  bool Send(Kind kind, std::string_view body) { return outbox_.Push(kind, body); }
  // A datagram whose head was read. What the peer did wrong, if anything: then the link is of no use any more.
  std::optional<std::string> Receive(const Head& head, Datagram datagram, Time now);
  // The next datagram to send now, if there is one; to be asked until there is none.
  std::optional<Datagram> Poll(Time now);
  // When Poll has something to send though nothing happens.
  Time Deadline() const;
  // The next message that came on the lane.
  std::optional<Message> TakeControl() { return inbox_.TakeControl(); }
  std::optional<Message> TakeData() { return inbox_.TakeData(); }
  // The next Poll acknowledges what has come.
  void AcknowledgeNow(Time now) { acknowledge_by_ = now; }
  // The transport has a new connection: what was sent on the old one may be lost.
  void Reconnected();

  // Everything that was sent has come.
  bool Idle() const { return outbox_.Idle(); }
  // Bytes of messages that wait here to be sent.
  uint64_t Queued() const { return outbox_.queued(); }
  uint64_t seen() const { return seen_; }  // the last stamp that came
  const LinkCounts& counts() const { return counts_; }
  const Outbox& outbox() const { return outbox_; }
  const Inbox& inbox() const { return inbox_; }

 private:
  Datagram Dispatch(const Batch* batch, Time now);
  bool OwesAcknowledgement(Time now) const;

  LinkOptions options_;
  Ends ends_;
  Outbox outbox_;
  Inbox inbox_;
  uint64_t stamp_ = 0, seen_ = 0;         // of the datagrams sent and received
  uint64_t unacknowledged_ = 0;           // bytes that came since the last datagram was sent
  std::optional<Time> acknowledge_by_;
  Time sent_;
  bool returns_ = false;                  // its connection is made anew, and nothing was said on it
  LinkCounts counts_;
};

}  // namespace df::net
