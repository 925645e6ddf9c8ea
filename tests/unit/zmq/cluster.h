// tests/unit/zmq/cluster.h
//
// A few nodes over real sockets, driven by one thread.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/net/address.h"
#include "backends/net/node.h"
#include "backends/zmq/new_keys.h"
#include "backends/zmq/zmq_net.h"
#include "tests/unit/catch.h"

namespace df::net {

struct Process {
  std::unique_ptr<ZmqNet> net;
  std::unique_ptr<Node> node;
  std::vector<Event> events;

  size_t Count(Event::What what) const {
    return std::count_if(events.begin(), events.end(), [&](const Event& event) { return event.what == what; });
  }
  std::string Text(Event::What what) const {
    std::string text;
    for (const Event& event : events)
      if (event.what == what) text += event.text + "\n";
    return text;
  }
};

class Cluster {
 public:
  // `listen`: may be empty. `root`: the address of the root; empty: this one is it.
  Process& Start(const ZmqOptions& zmq, const std::string& root, std::function<void(NodeOptions&)> change = {}) {
    Process& process = *processes.emplace_back(std::make_unique<Process>());
    std::string why;
    process.net = ZmqNet::Open(zmq, &why);
    INFO(why);
    REQUIRE(process.net);
    NodeOptions options;
    options.incarnation = RandomName();
    options.root = root.empty();
    options.address = process.net->address();
    options.times.gone = std::chrono::seconds(20);  // tests run on loaded machines
    if (change) change(options);
    process.node = std::make_unique<Node>(options, *process.net);
    if (!root.empty()) REQUIRE(process.node->Dial(root, &why));
    return process;
  }

  // Until it is so; false if it is not within the time.
  bool Until(std::function<bool()> so, std::chrono::milliseconds most = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      bool any = false;
      for (auto& process : processes) {
        if (!process->node) continue;
        process->node->Step();
        while (auto event = process->node->Take()) any = true, process->events.push_back(std::move(*event));
      }
      if (!any) ::usleep(200);
      for (auto& process : processes)
        if (process->net) process->net->Wait(Time{0});  // monitors
    }
    return true;
  }
  void Run(std::chrono::milliseconds time) {
    Until([] { return false; }, time);
  }

  std::vector<std::unique_ptr<Process>> processes;
};

inline ClusterKeys NewKeys() {
  std::string why;
  auto keys = NewClusterKeys(&why);
  INFO(why);
  REQUIRE(keys);
  return *keys;
}

}  // namespace df::net
