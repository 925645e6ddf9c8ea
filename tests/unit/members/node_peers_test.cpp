#include "backends/members/node_peers.h"

#include <unistd.h>

#include <cstdio>
#include <deque>
#include <fstream>
#include <thread>

#include "backends/net/local_net.h"
#include "tests/unit/catch.h"

using namespace df;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

// What the engine would do with what comes: here it waits until somebody reads it.
class Mail final : public Peers::Receiver {
 public:
  void Receive(PeerId, PeerMessage message) override {
    std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  void Gone(PeerId) override { gone = true; }
  void Over() override { over = true; }
  PeerFigures Figures() override { return figures; }
  std::optional<PeerMessage> Read() {
    std::lock_guard lock(mutex_);
    if (messages_.empty()) return std::nullopt;
    PeerMessage first = std::move(messages_.front());
    messages_.pop_front();
    return first;
  }

  PeerFigures figures;
  std::atomic<bool> gone{false}, over{false};

 private:
  std::mutex mutex_;
  std::deque<PeerMessage> messages_;
};

// A root and a worker, between threads.
struct Pair {
  explicit Pair(uint64_t window = uint64_t{64} << 20) {
    net::NodeOptions options;
    options.link.window = window;
    options.incarnation = {1, 2};
    options.name = "worker";
    worker = std::make_unique<NodePeers>(net.Start("worker"), options);
    options.incarnation = {1, 1};
    options.root = true;
    root = std::make_unique<NodePeers>(net.Start("root"), options, SharedProgram{}, std::vector<std::string>{"worker"});
    worker->SetReady();
    REQUIRE(root->AwaitWorkers(1, nullptr));
    root->Begin(at_root);
    worker->Begin(at_worker);
    while (worker->Others().empty()) std::this_thread::sleep_for(1ms);
  }

  net::LocalNet net;
  Mail at_root, at_worker;  // outlive who calls them
  std::unique_ptr<NodePeers> worker, root;
};

PeerMessage Result(size_t bytes) {
  PeerMessage message{PeerMessage::Kind::Result};
  message.bytes.assign(bytes, 'x');
  return message;
}

void Await(const std::function<bool()>& what) {
  bool there = what();
  for (auto until = Clock::now() + 20s; Clock::now() < until && !there; there = what()) std::this_thread::sleep_for(1ms);
  REQUIRE(there);
}

uint64_t Resident() {
  uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("at the end each process tells what it has done") {
  Pair pair;
  pair.root->WantReports(/*traces=*/true);
  pair.at_worker.figures.taken = 3;
  pair.at_worker.figures.longest_still = 1700;
  pair.at_root.figures.given = 3;
  const PeerId worker = pair.root->Others()[0], root = pair.worker->Others()[0];
  for (size_t i = 0; i < 5; ++i) pair.root->Send(worker, {PeerMessage::Kind::Ask});
  pair.worker->Send(root, Result(100000));
  Await([&] { return pair.at_root.Read().has_value(); });
  std::this_thread::sleep_for(300ms);  // some words of progress, there and back
  pair.worker->WillTell();
  std::thread works([&] {
    Await([&] { return pair.at_worker.over.load(); });
    pair.worker->End();  // as the engine does
    std::this_thread::sleep_for(100ms);
    pair.worker->Tell("what it did", Clock::time_point(5us));
  });
  pair.root->End();
  const auto began = Clock::now();
  pair.root->AwaitReports(10s);
  CHECK(Clock::now() - began < 2900ms);  // the traces' time was not waited for
  works.join();
  const std::vector<PeerReport> reports = pair.root->Reports();
  REQUIRE(reports.size() == 2);
  CHECK((reports[0].where == "here" && reports[0].rank == 0 && reports[0].figures->given == 3));
  const PeerReport& other = reports[1];
  REQUIRE(other.figures);
  CHECK((other.rank == 1 && other.where == "worker" && other.lost.empty()));
  CHECK((other.figures->taken == 3 && other.figures->longest_still == 1700));
  REQUIRE((other.links.size() == 1 && reports[0].links.size() == 1));
  CHECK((other.links[0].rank == 0 && reports[0].links[0].rank == 1));
  CHECK((reports[0].links[0].messages_out == 5 && reports[0].links[0].messages_in == 1));
  CHECK((other.links[0].messages_in == 5 && other.links[0].messages_out == 1));
  CHECK(reports[0].links[0].bytes_in > 100000);
  CHECK((other.links[0].bytes_out > 100000 && other.links[0].bytes_out <= reports[0].links[0].bytes_in));
  CHECK((other.trace == "what it did" && other.began == 5000));
  // Both have the same clock.
  REQUIRE(other.clock_ahead);
  CHECK(static_cast<uint64_t>(std::abs(*other.clock_ahead)) <= other.clock_error);
  CHECK(other.clock_error < 100000000);
}

TEST_CASE("who stands in one operation tells its figures, and not its trace") {
  Pair pair;
  pair.root->WantReports(true);
  pair.at_worker.figures.taken = 1;
  pair.at_worker.figures.still = 123456;
  Await([&] { return pair.root->Reports()[1].still == 123456; });  // which is no reason to count it as lost
  CHECK(DescribePace(pair.root->Reports()) == "2 processes; process 1 in one step for 123 s");
  pair.root->End();
  pair.root->AwaitReports(500ms);
  const std::vector<PeerReport> reports = pair.root->Reports();
  REQUIRE(reports[1].figures);
  CHECK(reports[1].figures->taken == 1);
  CHECK(reports[1].trace.empty());
  CHECK(reports[1].lost.empty());
}

TEST_CASE("a lost worker has told nothing") {
  Pair pair;
  pair.root->WantReports(true);
  pair.root->Fault(pair.root->Others()[0], "a test");
  Await([&] { return pair.at_root.gone.load(); });
  pair.root->End();
  pair.root->AwaitReports(10s);
  const std::vector<PeerReport> reports = pair.root->Reports();
  REQUIRE(reports.size() == 2);
  CHECK_FALSE(reports[1].figures);
  CHECK(reports[1].lost == "it broke the rules: a test");
  CHECK(DescribePace(reports) == "1 of 2 processes");
}

TEST_CASE("a trace that is larger than any is refused") {
  Pair pair;
  pair.root->WantReports(true);
  pair.worker->WillTell();
  pair.worker->End();
  pair.worker->Tell(std::string((1 << 20) + 1, 'x'), {});
  Await([&] { return pair.at_root.gone.load(); });
  CHECK(pair.root->Reports()[1].trace.empty());
}

// As the engine does: who has as much on its way as a link may carry makes nothing more.
TEST_CASE("a consumer ten times slower than the producer holds no more than the credit") {
  constexpr uint64_t kWindow = 4 << 20, kSize = 256 << 10, kCount = 128;
  Pair pair(kWindow);
  const PeerId worker = pair.root->Others()[0], root = pair.worker->Others()[0];
  const uint64_t before = Resident();
  uint64_t resident = 0;
  std::thread produces([&] {
    for (uint64_t made = 0; made < kCount;) {
      std::this_thread::sleep_for(1ms);
      if (pair.worker->in_flight().IsFull()) continue;
      pair.worker->Send(root, Result(kSize));
      ++made;
    }
  });
  for (uint64_t read = 0; read < kCount;) {
    std::this_thread::sleep_for(10ms);
    resident = std::max(resident, Resident());
    read += pair.at_root.Read().has_value();
  }
  produces.join();
  const uint64_t there = pair.worker->in_flight().peak(), here = pair.root->in_flight().peak();
  std::printf("credit %.1f MiB: the producer held %.2f MiB at most, the consumer %.2f MiB, and both %.2f MiB of memory\n", kWindow / 1048576.0,
              static_cast<double>(there) / 1048576, static_cast<double>(here) / 1048576, static_cast<double>(resident - std::min(resident, before)) / 1048576);
  CHECK(there <= (kWindow + kSize) * 105 / 100);
  CHECK(here <= (kWindow + 2 * kSize) * 105 / 100);  // one is put together, one was taken last
  CHECK(there + here >= kWindow);
  Await([&] { return pair.worker->in_flight().now() < kSize && pair.root->in_flight().now() < kSize; });
  CHECK(pair.root->Others() == std::vector<PeerId>{worker});
}
