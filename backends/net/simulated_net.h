// backends/net/simulated_net.h
//
// A network and a clock in one thread, made of one seed: tests run years of bad luck in it, and any run of it again.
//
// Processes are hosts at addresses. A connection keeps order, as TCP's does, and else does what it wants: it delays, has its own speed,
// duplicates, loses one datagram (as a reset does with what was under way), is stalled, is cut with or without its ends noticing, and comes
// back, at the accepting side as another route. Who is stopped is the test's affair: it does not step that process.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "backends/net/transport.h"

namespace df::net {

struct SimulatedLine {
  Time delay_least = std::chrono::microseconds(20), delay_most = std::chrono::milliseconds(2);
  uint64_t bytes_per_second = uint64_t{1} << 30;
  double duplicate = 0, lose = 0;  // of a datagram
};

class SimulatedNet {
 public:
  using HostNumber = size_t;

  SimulatedNet(uint64_t seed, SimulatedLine line) : random_(seed), line_(line) {}

  // A process at an address where none is. The network outlives the transport.
  std::unique_ptr<Transport> Start(const std::string& address, HostNumber* number);
  // The process ends. `noticed`: its system still closes its connections.
  void Kill(HostNumber host, bool noticed);
  // Between two hosts nothing passes until then. `noticed`: both see their connection end at once.
  void Cut(HostNumber a, HostNumber b, Time until, bool noticed);
  // What is sent between them arrives after that.
  void Stall(HostNumber a, HostNumber b, Time until);

  Time now() const { return now_; }
  // When the network has something to do next.
  Time NextEvent() const { return events_.empty() ? Time::max() : events_.top().time; }
  // Sets the clock and does all that is due. `reached`: hosts that something came to.
  void Advance(Time to, std::vector<HostNumber>* reached);

 private:
  friend class SimulatedTransport;
  enum class Side : uint8_t { Dialler, Acceptor };
  enum class State : uint8_t { Down, Up, Silent };  // Silent: cut, and nobody knows

  struct Host {
    std::string address;
    bool alive = true;
    std::deque<Arrival> inbox;
    std::map<Route, std::pair<size_t, Side>> routes;
    Route next_route = 1;
  };
  struct Connection {
    HostNumber dialler = 0, acceptor = 0;
    std::string address;       // of who is dialled
    Route routes[2] = {0, 0};  // by side
    State state = State::Down;
    bool closed = false;       // by the dialler, for ever
    uint64_t generation = 0;   // what was under way in an earlier one is lost
    Time last[2] = {Time{0}, Time{0}}, stalled_until{0}, cut_until{0};
  };
  struct Pending {
    Time time;
    uint64_t serial;
    size_t connection;
    uint64_t generation;
    Side to;
    bool connect;  // not a datagram: the connection is tried
    std::shared_ptr<Datagram> datagram;
    bool operator<(const Pending& other) const { return std::tie(time, serial) > std::tie(other.time, other.serial); }
  };

  Route Connect(HostNumber host, const std::string& address);
  void Close(HostNumber host, Route route);
  bool Send(HostNumber host, Route route, Datagram datagram);
  void Push(Time time, size_t connection, bool connect, Side to, std::shared_ptr<Datagram> datagram);
  void TryConnect(size_t connection);
  void Disconnect(Connection& connection, bool noticed);
  double Chance() { return std::uniform_real_distribution<>(0, 1)(random_); }
  Time Delay();

  std::mt19937_64 random_;
  SimulatedLine line_;
  Time now_{0};
  uint64_t serial_ = 0;
  std::deque<Host> hosts_;
  std::deque<Connection> connections_;
  std::map<std::string, HostNumber> at_;  // who is alive, by address
  std::priority_queue<Pending> events_;
};

}  // namespace df::net
