// backends/zmq/zmq_net.h
//
// Datagrams over ZeroMQ: one ROUTER where the process listens, one DEALER for each process that it connects to.
//
// A DEALER has no name of its own, so the ROUTER gives each connection another one, and a process is known by what its batches say, under
// the key that the connection has. (With a name that stays, a connection that comes back before the old one has ended would be taken for a
// second process of that name, and be ignored with all that it sends.)
//
// Buffers: what is sent is not copied. libzmq lets go of it on a thread of its own, so a part's holder must be one that may end there
// (ReturnQueue).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/net/keys.h"
#include "backends/net/transport.h"
#include "backends/zmq/zap.h"

namespace df::net {

struct ZmqOptions {
  std::string listen;               // tcp://host:port, where port may be *, ipc://path, or empty: nobody can connect to this process
  std::optional<ClusterKeys> keys;  // without them only ipc in a folder that is the user's alone
  bool open_loopback = false;       // and, for tests, loopback addresses
  uint64_t largest_frame = 1 << 20; // links send less; who sends more is cut off
};

class ZmqNet : public Transport {
 public:
  // Null, and why, if it cannot listen there.
  static std::unique_ptr<ZmqNet> Open(const ZmqOptions& options, std::string* why);
  ~ZmqNet() override;

  // Where it listens, with the port that it got.
  const std::string& address() const { return address_; }

  Time Now() override;
  Route Connect(const std::string& address, std::string* why) override;
  void Close(Route route) override;
  bool Send(Route route, Datagram datagram) override;
  std::optional<Arrival> Receive() override;
  void Wait(Time until) override;
  void Wake() override;
  std::optional<std::string> TakeNotice() override;
  std::optional<Failure> TakeFailure() override;

 private:
  struct Socket {
    void* handle = nullptr;
    void* monitor = nullptr;
    Route route = 0;  // 0: the ROUTER
    std::string address;
    std::optional<Time> refused_since;  // its handshakes have failed, all of them
    std::string noted;                  // what was said of them
  };

  explicit ZmqNet(const ZmqOptions& options);
  bool Listen(std::string* why);
  bool Prepare(Socket& socket, bool server);
  void CloseSocket(Socket& socket);
  std::optional<Arrival> ReceiveFrom(Socket& socket);
  Route RouteOf(const std::string& name);
  void ReadMonitor(Socket& socket);
  void Note(std::string text);
  void NoteRefusal(Socket& socket, std::string text, std::string why);

  ZmqOptions options_;
  void* context_ = nullptr;
  int wake_ = -1;
  std::unique_ptr<ZapHandler> zap_;
  std::vector<Socket> sockets_;  // the ROUTER first, if there is one
  size_t turn_ = 0, in_turn_ = 0;
  std::unordered_map<std::string, Route> routes_;  // of who came in, by the ROUTER's name for it
  std::unordered_map<Route, std::string> names_;
  Route next_route_ = 1;
  std::string address_;
  std::deque<std::string> notices_;
  std::deque<Failure> failures_;
  uint64_t monitors_ = 0;
};

}  // namespace df::net
