#include "backends/net/local_net.h"

#include <atomic>
#include <thread>

#include "backends/net/node.h"
#include "tests/unit/catch.h"

using namespace df::net;
using namespace std::chrono_literals;

// Nodes on threads of their own, for ThreadSanitizer: each sends each other numbers, and parts that come back to their owner.
TEST_CASE("nodes on threads of one process") {
  constexpr size_t kNodes = 3;
  constexpr uint64_t kMessages = 300;
  LocalNet net;
  std::vector<std::unique_ptr<Transport>> transports;
  for (size_t i = 0; i < kNodes; ++i) transports.push_back(net.Start("end" + std::to_string(i)));
  std::atomic<size_t> done = 0;
  std::atomic<bool> wrong = false;
  const auto run = [&](size_t self) {
    NodeOptions options;
    options.incarnation = {1, self + 1};
    options.root = self == 0;
    options.address = "end" + std::to_string(self);
    options.link.window = 256 << 10;
    Transport& transport = *transports[self];
    Node node(options, transport);
    std::string why;
    if (self != 0) node.Dial("end0", &why);
    node.SetReady();
    ReturnQueue queue;
    std::string tensor(50000, static_cast<char>(self));
    std::vector<uint64_t> got;
    uint64_t lent = 0, sent = 0;
    bool finished = false;
    const Time end = transport.Now() + 60s;
    while (done < kNodes && transport.Now() < end) {
      const Time next = node.Step();
      bool any = false;
      while (auto event = node.Take()) {
        any = true;
        if (event->what == Event::What::Gone) wrong = true;
        if (event->what != Event::What::Message) continue;
        got.resize(node.members().size());
        auto result = Unpack<msg::Result>(event->message);
        if (!result || result->ticket != got[event->member]++) wrong = true;
      }
      if (node.members().size() == kNodes - 1 && sent < kMessages) {
        any = true;
        for (MemberNumber number = 0; number < kNodes - 1; ++number) {
          std::vector<Part> parts;
          if (sent % 8 == 0) parts.push_back({tensor, queue.Keep(lent++)});
          if (!node.Send(number, Pack(msg::Result{sent, 0, std::string(sent % 500, 'x')}, std::move(parts)))) wrong = true;
        }
        ++sent;
      }
      node.Progress(sent, 0, false);
      lent -= queue.Drain().size();
      if (!finished && sent == kMessages && lent == 0 && got.size() == kNodes - 1 && got[0] == kMessages && got[1] == kMessages) {
        finished = true;
        ++done;
        for (auto& other : transports) other->Wake();
      }
      if (!any) transport.Wait(std::min(next, transport.Now() + 20ms));
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kNodes; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
  CHECK(done == kNodes);
  CHECK_FALSE(wrong);
}
