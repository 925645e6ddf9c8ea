// backends/net/transport.h
//
// What carries datagrams: ZeroMQ, the threads of one process, or a simulation with its own clock. One thread uses a transport; only Wake is
// for any.
//
// A route is one way to one process: a connection that this side made and that comes back by itself (Connect), or one that came in. A route
// keeps order and may lose a rest. A process that connects again comes in on another route.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/net/outbox.h"
#include "backends/net/wire.h"

namespace df::net {

using Route = uint64_t;  // numbers are not used twice; 0 is none

struct Arrival {
  Route route = 0;
  std::string who;  // the key of the sender, as the transport has made sure of it; empty on transports without keys
  Datagram datagram;
};

// A route that this side made, on which no connection ever comes to be, though somebody is there: why, for people.
struct Failure {
  Route route = 0;
  std::string why;
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual Time Now() = 0;
  // A route to who listens at the address, now or later. 0, and why, if there can be none.
  virtual Route Connect(const std::string& address, std::string* why) = 0;
  // Forgets the route.
  virtual void Close(Route route) = 0;
  // Never blocks. False: nobody is there at present, and the datagram is lost.
  virtual bool Send(Route route, Datagram datagram) = 0;
  // Nothing if nothing is there now.
  virtual std::optional<Arrival> Receive() = 0;
  // Until something arrives, somebody calls Wake, or it is `until`.
  virtual void Wait(Time until) = 0;
  virtual void Wake() = 0;
  // What the transport itself refused since the last time, for people: a wrong key, a connection that said nothing sensible.
  virtual std::optional<std::string> TakeNotice() { return std::nullopt; }
  virtual std::optional<Failure> TakeFailure() { return std::nullopt; }
};

}  // namespace df::net
