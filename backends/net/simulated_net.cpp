#include "backends/net/simulated_net.h"

#include <algorithm>

namespace df::net {
namespace {

constexpr Time kConnectEvery = std::chrono::milliseconds(50);

}  // namespace

class SimulatedTransport : public Transport {
 public:
  SimulatedTransport(SimulatedNet& net, SimulatedNet::HostNumber host) : net_(net), host_(host) {}

  Time Now() override { return net_.now_; }
  Route Connect(const std::string& address, std::string*) override { return net_.Connect(host_, address); }
  void Close(Route route) override { net_.Close(host_, route); }
  bool Send(Route route, Datagram datagram) override { return net_.Send(host_, route, std::move(datagram)); }
  std::optional<Arrival> Receive() override {
    std::deque<Arrival>& inbox = net_.hosts_[host_].inbox;
    if (inbox.empty()) return std::nullopt;
    Arrival arrival = std::move(inbox.front());
    inbox.pop_front();
    return arrival;
  }
  void Wait(Time) override {}  // the test steps processes when something reached them, or their time has come
  void Wake() override {}

 private:
  SimulatedNet& net_;
  SimulatedNet::HostNumber host_;
};

std::unique_ptr<Transport> SimulatedNet::Start(const std::string& address, HostNumber* number) {
  *number = hosts_.size();
  hosts_.push_back({address});
  at_[address] = *number;
  return std::make_unique<SimulatedTransport>(*this, *number);
}

Time SimulatedNet::Delay() {
  const double most = static_cast<double>((line_.delay_most - line_.delay_least).count());
  const double chance = Chance();
  return line_.delay_least + Time(static_cast<int64_t>(most * chance * chance * chance));
}

void SimulatedNet::Push(Time time, size_t connection, bool connect, Side to, std::shared_ptr<Datagram> datagram) {
  events_.push({time, ++serial_, connection, connections_[connection].generation, to, connect, std::move(datagram)});
}

Route SimulatedNet::Connect(HostNumber host, const std::string& address) {
  Connection connection;
  connection.dialler = host;
  connection.address = address;
  connection.routes[0] = hosts_[host].next_route++;
  connections_.push_back(connection);
  hosts_[host].routes[connection.routes[0]] = {connections_.size() - 1, Side::Dialler};
  Push(now_ + Delay(), connections_.size() - 1, true, Side::Acceptor, nullptr);
  return connection.routes[0];
}

void SimulatedNet::Disconnect(Connection& connection, bool noticed) {
  if (connection.state == State::Down) return;
  ++connection.generation;
  connection.last[0] = connection.last[1] = now_;  // what is lost takes no more time of the line
  connection.state = noticed ? State::Down : State::Silent;
  if (noticed && connection.routes[1] != 0) {
    hosts_[connection.acceptor].routes.erase(connection.routes[1]);
    connection.routes[1] = 0;
  }
}

void SimulatedNet::Close(HostNumber host, Route route) {
  const auto found = hosts_[host].routes.find(route);
  if (found == hosts_[host].routes.end()) return;
  const auto [number, side] = found->second;
  if (side == Side::Acceptor) return;  // the connection stays; its peer may speak again
  Connection& connection = connections_[number];
  hosts_[host].routes.erase(found);
  Disconnect(connection, true);
  connection.closed = true;
}

void SimulatedNet::TryConnect(size_t number) {
  Connection& connection = connections_[number];
  if (connection.closed || connection.state == State::Up || !hosts_[connection.dialler].alive) return;
  const auto found = at_.find(connection.address);
  if (now_ < connection.cut_until || found == at_.end()) {
    Push(std::max(now_ + kConnectEvery, connection.cut_until), number, true, Side::Acceptor, nullptr);
    return;
  }
  if (connection.state == State::Silent) Disconnect(connection, true);
  connection.acceptor = found->second;
  connection.routes[1] = hosts_[connection.acceptor].next_route++;
  hosts_[connection.acceptor].routes[connection.routes[1]] = {number, Side::Acceptor};
  connection.state = State::Up;
}

bool SimulatedNet::Send(HostNumber host, Route route, Datagram datagram) {
  const auto found = hosts_[host].routes.find(route);
  if (found == hosts_[host].routes.end()) return false;
  const auto [number, side] = found->second;
  Connection& connection = connections_[number];
  if (connection.state == State::Down) {
    if (side == Side::Dialler) Push(now_ + Delay(), number, true, Side::Acceptor, nullptr);
    return false;
  }
  if (connection.state == State::Silent || Chance() < line_.lose) return true;
  const Side to = side == Side::Dialler ? Side::Acceptor : Side::Dialler;
  Time& last = connection.last[static_cast<size_t>(to)];
  // The line sends one datagram after the other.
  const Time takes(static_cast<int64_t>(1e9 * static_cast<double>(datagram.size()) / static_cast<double>(line_.bytes_per_second)));
  last = std::max({last, now_ + Delay(), connection.stalled_until}) + takes;
  auto shared = std::make_shared<Datagram>(std::move(datagram));
  Push(last, number, false, to, shared);
  if (Chance() < line_.duplicate) Push(last, number, false, to, shared);
  return true;
}

void SimulatedNet::Kill(HostNumber host, bool noticed) {
  hosts_[host].alive = false;
  hosts_[host].inbox.clear();
  at_.erase(hosts_[host].address);
  for (size_t number = 0; number < connections_.size(); ++number) {
    Connection& connection = connections_[number];
    if (connection.dialler == host) {
      Disconnect(connection, noticed);
      connection.closed = true;
    } else if (connection.state != State::Down && connection.acceptor == host) {
      Disconnect(connection, noticed);
      // A silent end is found out when somebody else is at the address.
      Push(now_ + kConnectEvery, number, true, Side::Acceptor, nullptr);
    }
  }
}

void SimulatedNet::Cut(HostNumber a, HostNumber b, Time until, bool noticed) {
  for (size_t number = 0; number < connections_.size(); ++number) {
    Connection& connection = connections_[number];
    if (connection.state != State::Up || !((connection.dialler == a && connection.acceptor == b) || (connection.dialler == b && connection.acceptor == a)))
      continue;
    Disconnect(connection, noticed);
    connection.cut_until = std::max(connection.cut_until, until);
    Push(until, number, true, Side::Acceptor, nullptr);
  }
}

void SimulatedNet::Stall(HostNumber a, HostNumber b, Time until) {
  for (Connection& connection : connections_)
    if ((connection.dialler == a && connection.acceptor == b) || (connection.dialler == b && connection.acceptor == a))
      connection.stalled_until = std::max(connection.stalled_until, until);
}

void SimulatedNet::Advance(Time to, std::vector<HostNumber>* reached) {
  now_ = std::max(now_, to);
  while (!events_.empty() && events_.top().time <= now_) {
    const Pending event = events_.top();
    events_.pop();
    Connection& connection = connections_[event.connection];
    if (event.connect) {
      TryConnect(event.connection);
      continue;
    }
    if (event.generation != connection.generation) continue;
    const bool dialler = event.to == Side::Dialler;
    const HostNumber host = dialler ? connection.dialler : connection.acceptor;
    if (!hosts_[host].alive) continue;
    hosts_[host].inbox.push_back({connection.routes[dialler ? 0 : 1], "", *event.datagram});
    reached->push_back(host);
  }
}

}  // namespace df::net
