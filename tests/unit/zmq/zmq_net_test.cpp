#include <map>

#include "tests/unit/zmq/cluster.h"

using namespace df::net;
using namespace std::chrono_literals;

namespace {

std::string Bytes(uint64_t number) {
  return std::string(number % 7 == 0 ? 300000 : number % 3 == 0 ? 20000 : number % 50, static_cast<char>('a' + number % 26));
}

// Everybody sends everybody messages of all sizes, with parts; all come, in order, and the parts come back to their owner.
void Exchange(Cluster& cluster) {
  constexpr uint64_t kMessages = 60;
  const size_t peers = cluster.processes.size() - 1;
  for (auto& process : cluster.processes) process->node->SetReady();
  REQUIRE(cluster.Until([&] {
    return std::all_of(cluster.processes.begin(), cluster.processes.end(), [&](const auto& p) { return p->Count(Event::What::Ready) == peers; });
  }));
  ReturnQueue queue;
  const std::string tensor(700000, 't');
  uint64_t lent = 0;
  for (auto& process : cluster.processes)
    for (MemberNumber to = 0; to < peers; ++to)
      for (uint64_t i = 0; i < kMessages; ++i) {
        std::vector<Part> parts;
        if (i % 20 == 0) parts.push_back({tensor, queue.Keep(lent++)});
        REQUIRE(process->node->Send(to, Pack(msg::Result{i, 0, Bytes(i)}, std::move(parts))));
      }
  REQUIRE(cluster.Until([&] {
    return std::all_of(cluster.processes.begin(), cluster.processes.end(), [&](const auto& p) { return p->Count(Event::What::Message) == peers * kMessages; });
  }));
  for (auto& process : cluster.processes) {
    std::map<MemberNumber, uint64_t> next;
    bool good = true;
    for (const Event& event : process->events) {
      if (event.what != Event::What::Message) continue;
      auto result = Unpack<msg::Result>(event.message);
      good = good && result && result->ticket == next[event.member]++ && result->value == Bytes(result->ticket);
      if (good && result->ticket % 20 == 0) good = event.message.parts.size() == 1 && event.message.parts[0].bytes == tensor;
    }
    CHECK(good);
  }
  size_t back = 0;
  CHECK(cluster.Until([&] { return (back += queue.Drain().size()) == lent; }));
}

}  // namespace

TEST_CASE("processes over tcp and ipc, with and without keys") {
  IpcFolder folder;
  REQUIRE_FALSE(folder.path().empty());
  for (bool tcp : {false, true})
    for (bool curve : {false, true}) {
      Cluster cluster;
      ZmqOptions options;
      options.open_loopback = true;
      if (curve) options.keys = NewKeys();
      const auto listen = [&](const char* name) { return tcp ? "tcp://127.0.0.1:*" : folder.Address(std::string(name) + (curve ? "-curve" : "")); };
      options.listen = listen("root");
      const std::string root = cluster.Start(options, "").net->address();
      for (const char* name : {"a", "b"}) {
        options.listen = listen(name);
        cluster.Start(options, root);
      }
      INFO((tcp ? "tcp" : "ipc") << (curve ? ", curve" : ""));
      Exchange(cluster);
      if (curve) CHECK(cluster.processes[0]->node->members()[0].who == options.keys->client.public_key);
    }
}

TEST_CASE("a process that ends is gone soon, and one at its address is another") {
  Cluster cluster;
  ZmqOptions options;
  options.open_loopback = true;
  options.listen = "tcp://127.0.0.1:*";
  Process& root = cluster.Start(options, "");
  options.listen = "";
  const std::string address = root.net->address();
  Process& first = cluster.Start(options, address);
  REQUIRE(cluster.Until([&] { return root.Count(Event::What::Joined) == 1 && first.Count(Event::What::Joined) == 1; }));
  first.node.reset();
  first.net.reset();
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(cluster.Until([&] { return root.Count(Event::What::Gone) == 1; }));
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
  CHECK(root.Text(Event::What::Gone) == "its connection ended and did not come back within 1 s\n");
  Process& second = cluster.Start(options, address);
  REQUIRE(cluster.Until([&] { return second.Count(Event::What::Joined) == 1; }));
  // The root goes, and another one comes to its address.
  options.listen = address;
  root.node.reset();
  root.net.reset();
  cluster.Run(50ms);
  cluster.Start(options, "");
  REQUIRE(cluster.Until([&] { return second.Count(Event::What::Gone) == 1; }));
  INFO(second.Text(Event::What::Gone));
  CHECK((second.Text(Event::What::Gone).starts_with("it refuses this process") || second.Text(Event::What::Gone).starts_with("its connection ended")));
}

TEST_CASE("without a key nobody listens where others can come") {
  std::string why;
  ZmqOptions options;
  options.open_loopback = true;
  for (const char* address : {"tcp://0.0.0.0:*", "tcp://*:7000", "tcp://10.1.2.3:7000", "tcp://127.example:7000", "tcp://127.1:7000", "tcp://eth0:7000"}) {
    options.listen = address;
    CHECK_FALSE(ZmqNet::Open(options, &why));
    CHECK(why == "`" + std::string(address) + "` can be reached from other machines: this needs a key (`dfc keygen`, `--key FILE`)");
  }
  for (const char* address : {"udp://127.0.0.1:1", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "tcp://127.0.0.1:70000", "ipc://", "hello"}) {
    options.listen = address;
    CHECK_FALSE(ZmqNet::Open(options, &why));
  }
  options.open_loopback = false;
  options.listen = "tcp://127.0.0.1:*";
  CHECK_FALSE(ZmqNet::Open(options, &why));
  CHECK(why == "`tcp://127.0.0.1:*` is open to everybody who works on this machine: this needs a key (`dfc keygen`, `--key FILE`)");
  options.listen = "ipc:///tmp/open-to-all";
  CHECK_FALSE(ZmqNet::Open(options, &why));
  CHECK(why.find("open to others") != std::string::npos);
  options.listen = "";
  auto net = ZmqNet::Open(options, &why);
  REQUIRE(net);
  CHECK(net->Connect("tcp://10.1.2.3:7000", &why) == 0);
  options.keys = NewKeys();
  options.listen = "tcp://0.0.0.0:*";
  CHECK(ZmqNet::Open(options, &why));
}
