#include "backends/net/local_net.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

namespace df::net {

// One lock for all: this is for tests, and small.
struct LocalNet::Hub {
  struct End {
    std::string address;
    std::deque<Arrival> inbox;
    std::map<Route, std::pair<size_t, Route>> routes;  // to which end, and what that calls the way back
    Route next_route = 1;
    bool alive = true, woken = false;
    std::condition_variable changed;
  };

  std::mutex mutex;
  std::deque<End> ends;
  std::map<std::string, size_t> at;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

class LocalTransport : public Transport {
 public:
  LocalTransport(std::shared_ptr<LocalNet::Hub> hub, const std::string& address) : hub_(std::move(hub)) {
    std::lock_guard lock(hub_->mutex);
    number_ = hub_->ends.size();
    hub_->ends.emplace_back().address = address;
    hub_->at[address] = number_;
  }

  ~LocalTransport() override {
    std::lock_guard lock(hub_->mutex);
    Me().alive = false;
    Me().inbox.clear();
    if (hub_->at[Me().address] == number_) hub_->at.erase(Me().address);
  }

  Time Now() override { return std::chrono::steady_clock::now() - hub_->begin; }

  Route Connect(const std::string& address, std::string*) override {
    std::lock_guard lock(hub_->mutex);
    const Route route = Me().next_route++;
    dialled_[route] = address;
    return route;
  }

  void Close(Route route) override {
    std::lock_guard lock(hub_->mutex);
    if (dialled_.erase(route)) Me().routes.erase(route);
  }

  bool Send(Route route, Datagram datagram) override {
    std::lock_guard lock(hub_->mutex);
    auto way = Me().routes.find(route);
    if (way != Me().routes.end() && !hub_->ends[way->second.first].alive) {
      Me().routes.erase(way);
      way = Me().routes.end();
    }
    if (way == Me().routes.end()) {
      const auto dialled = dialled_.find(route);
      if (dialled == dialled_.end()) return false;
      const auto there = hub_->at.find(dialled->second);
      if (there == hub_->at.end()) return false;
      LocalNet::Hub::End& end = hub_->ends[there->second];
      const Route back = end.next_route++;
      end.routes[back] = {number_, route};
      way = Me().routes.emplace(route, std::pair(there->second, back)).first;
    }
    LocalNet::Hub::End& end = hub_->ends[way->second.first];
    end.inbox.push_back({way->second.second, "", std::move(datagram)});
    end.changed.notify_one();
    return true;
  }

  std::optional<Arrival> Receive() override {
    std::lock_guard lock(hub_->mutex);
    if (Me().inbox.empty()) return std::nullopt;
    Arrival arrival = std::move(Me().inbox.front());
    Me().inbox.pop_front();
    return arrival;
  }

  void Wait(Time until) override {
    std::unique_lock lock(hub_->mutex);
    const auto deadline = hub_->begin + std::min<Time>(until, Now() + std::chrono::hours(1));
    Me().changed.wait_until(lock, deadline, [&] { return !Me().inbox.empty() || Me().woken; });
    Me().woken = false;
  }

  void Wake() override {
    std::lock_guard lock(hub_->mutex);
    Me().woken = true;
    Me().changed.notify_one();
  }

 private:
  LocalNet::Hub::End& Me() { return hub_->ends[number_]; }

  std::shared_ptr<LocalNet::Hub> hub_;
  size_t number_ = 0;
  std::map<Route, std::string> dialled_;
};

LocalNet::LocalNet() : hub_(std::make_shared<Hub>()) {}
LocalNet::~LocalNet() = default;

std::unique_ptr<Transport> LocalNet::Start(const std::string& address) { return std::make_unique<LocalTransport>(hub_, address); }

}  // namespace df::net
