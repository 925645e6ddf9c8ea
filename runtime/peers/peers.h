// runtime/peers/peers.h
//
// What an engine asks of the other processes that work on the same run, as device.h is what it asks of a device: who has nothing to do
// asks, who has much gives a call away, and its results come back. docs/distributed.md.
//
// All members have the same graph, compiled with the same options, so a site has the same number everywhere, and what a packet means
// follows from the site alone. A message is complete but for what Object said before: nothing in it refers to another process. Messages of
// one member come in the order in which it has sent them, each once, until it is gone.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/peers/in_flight.h"
#include "runtime/peers/report.h"

namespace df {

using PeerId = uint32_t;

// Some pieces of a call that processes share (docs/spread.md): the name of its activation, which is the same in all of them, and which ones.
struct PieceName {
  uint64_t call[2] = {0, 0};
  uint64_t first = 0, past = 0;
  friend auto operator<=>(const PieceName&, const PieceName&) = default;
};

// What one member has sent to another, and got from it: messages that may wake somebody.
struct PeerCount {
  PeerId peer = 0;
  uint64_t sent = 0, received = 0;
};

struct PeerMessage {
  enum class Kind : uint8_t {
    Ask,       // nothing to do: give me something; `ticket` bytes of large objects are kept for whoever is asked;
               // `number`: 1 if it knows its own by their names
    Refuse,    // the answer, where nothing can be given
    Call,      // the other answer: a call with its arguments, or a delayed call, under `ticket`
    Result,    // of `ticket`, its result `number`
    Finished,  // no more results of `ticket` come
    Home,      // whoever gave `ticket` has to compute it
    Object,    // a large object that packets name from now on: `ticket` is its name
    Dropped,   // they do not any more
    Wave,      // of the root: does anything go on? `ticket`: 1 if all frames are to leave scheduled code first
    Counts,    // the answer to Wave `number`: `ticket` is 1 if nothing goes on, plus 2 if no frame was left in scheduled code; `links`
    Want,      // `pieces`, of who is to have them
    Pieces,    // the answer: `pieces`, as a list in a packet
    Lacks,     // the other answer: it does not have them, and will not
    Token,     // of a graph that is cut (docs/cut.md): from part `number`, tokens and what else goes between parts; none: it says its number
  };
  Kind kind = Kind::Ask;
  uint32_t number = 0;
  uint64_t ticket = 0;  // of whoever gave it away
  // Of Call, Result, Object, Pieces and Token: a packet (runtime/packet) whose bytes nobody counts any more.
  std::string bytes;
  std::vector<std::string> parts;
  Carried carried = {};  // counts them while they are on their way
  std::vector<PeerCount> links;  // of Counts
  PieceName pieces = {};
  size_t size() const {
    size_t all = bytes.size();
    for (const std::string& part : parts) all += part.size();
    return all;
  }
};

class Peers {
 public:
  // The engine's side. Called on one thread, which is none of the engine's, and touches no value.
  class Receiver {
   public:
    virtual void Receive(PeerId from, PeerMessage message) = 0;
    // Nothing more comes from there; what it has was lost.
    virtual void Gone(PeerId peer) = 0;
    // The run is over at its root, or the root is gone.
    virtual void Over() = 0;
    // What it has done so far.
    virtual PeerFigures Figures() = 0;

   protected:
    ~Receiver() = default;
  };

  virtual ~Peers() = default;
  // Messages that have come before wait until then.
  virtual void Begin(Receiver& receiver) = 0;
  // Afterwards nobody is called. At the root it ends the run of the others.
  virtual void End() = 0;
  // Any thread of the engine. To a member that is gone: nothing.
  virtual void Send(PeerId to, PeerMessage message) = 0;
  // What came from there breaks the rules: it is a member no more.
  virtual void Fault(PeerId peer, const std::string& what) = 0;
  // The others that are there now.
  virtual std::vector<PeerId> Others() const = 0;
  // The number that all processes have for it; UINT32_MAX: it has none.
  virtual uint32_t RankOf(PeerId peer) const = 0;
  // The number of this process, and how many there were when the run began, this one among them.
  virtual uint32_t Rank() const = 0;
  virtual uint32_t Size() const = 0;
  // What this process holds of messages on their way.
  virtual const InFlight& in_flight() const = 0;
  // This one, as it is called in Counts.
  virtual PeerId Self() const = 0;
};

}  // namespace df
