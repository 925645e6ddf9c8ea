#include "backends/net/node.h"

#include <functional>

#include "backends/net/fingerprint.h"
#include "backends/net/simulated_net.h"
#include "tests/unit/catch.h"

using namespace df::net;
using namespace std::chrono_literals;

namespace {

struct Process {
  SimulatedNet::HostNumber host = 0;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Node> node;
  std::vector<Event> events;
};

class Cluster {
 public:
  Cluster() : net_(1, {}) {}

  Process& Start(const std::string& address, bool root, std::function<void(NodeOptions&)> change = {}, bool dials = true) {
    Process& process = *processes_.emplace_back(std::make_unique<Process>());
    process.transport = net_.Start(address, &process.host);
    NodeOptions options;
    options.incarnation = {1, processes_.size()};
    options.root = root;
    options.name = options.address = address;
    if (change) change(options);
    process.node = std::make_unique<Node>(options, *process.transport);
    std::string why;
    if (!root && dials) process.node->Dial("root", &why);
    return process;
  }

  void Run(Time time) {
    std::vector<SimulatedNet::HostNumber> reached;
    for (const Time until = net_.now() + time; net_.now() < until;) {
      net_.Advance(net_.now() + 1ms, &reached);
      for (auto& process : processes_) {
        if (!process->node) continue;
        process->node->Step();
        while (auto event = process->node->Take()) process->events.push_back(std::move(*event));
      }
    }
  }

  SimulatedNet& net() { return net_; }

 private:
  SimulatedNet net_;
  std::vector<std::unique_ptr<Process>> processes_;
};

std::string TextOf(const Process& process, Event::What what) {
  std::string text;
  for (const Event& event : process.events)
    if (event.what == what) text += (text.empty() ? "" : " | ") + event.text;
  return text;
}
size_t CountOf(const Process& process, Event::What what) {
  return std::count_if(process.events.begin(), process.events.end(), [&](const Event& event) { return event.what == what; });
}

// A datagram of a stranger, as he likes.
Datagram Forged(Head head, const Message* message = nullptr) {
  std::string bytes;
  head.count = message ? 1 : 0;
  PutHead(bytes, head);
  if (message) {
    bytes += static_cast<char>(message->kind);
    PutSized(bytes, message->body);
  }
  return {OwnPart(std::move(bytes)), {}};
}

}  // namespace

TEST_CASE("members have links to each other, ranks and one epoch") {
  Cluster cluster;
  Process& root = cluster.Start("root", true);
  std::vector<Process*> workers;
  for (const char* name : {"a", "b", "c"}) workers.push_back(&cluster.Start(name, false));
  for (Process* worker : workers) worker->node->SetReady();
  cluster.Run(2s);
  CHECK(CountOf(root, Event::What::Joined) == 3);
  CHECK(CountOf(root, Event::What::Ready) == 3);
  std::vector<Small> ranks;
  for (Process* worker : workers) {
    CHECK(CountOf(*worker, Event::What::Joined) == 3);
    CHECK(worker->node->members().epoch() == root.node->members().epoch());
    ranks.push_back(worker->node->rank());
  }
  std::sort(ranks.begin(), ranks.end());
  CHECK(ranks == std::vector<Small>{1, 2, 3});
  CHECK(root.node->rank() == 0);
}

TEST_CASE("a root connects to workers that listen, also when they connect to it") {
  for (bool both : {false, true}) {
    Cluster cluster;
    Process& root = cluster.Start("root", true, [](NodeOptions& options) { options.answer_within = 3s; });
    std::vector<Process*> workers;
    for (const char* name : {"a", "b", "c"}) workers.push_back(&cluster.Start(name, false, [](NodeOptions& options) { options.answer_within = 3s; }, both));
    std::string why;
    for (const char* name : {"a", "b", "c"}) REQUIRE(root.node->Dial(name, &why));
    cluster.Run(5s);
    CHECK(CountOf(root, Event::What::Joined) == 3);
    CHECK(CountOf(root, Event::What::NoAnswer) == 0);
    for (Process* worker : workers) {
      CHECK(CountOf(*worker, Event::What::Joined) == 3);
      CHECK(CountOf(*worker, Event::What::NoAnswer) == 0);
      CHECK(CountOf(*worker, Event::What::Gone) == 0);
    }
  }
}

TEST_CASE("a root that greets again before it is answered is the same root") {
  Cluster cluster;
  Process& root = cluster.Start("root", true, [](NodeOptions& options) { options.greet_first = options.greet_every = 100us; });
  Process& worker = cluster.Start("a", false, {}, /*dials=*/false);
  std::string why;
  REQUIRE(root.node->Dial("a", &why));
  cluster.Run(1s);
  CHECK(CountOf(root, Event::What::Joined) == 1);
  CHECK(CountOf(worker, Event::What::Joined) == 1);
  CHECK(TextOf(root, Event::What::Refused).empty());
  CHECK(CountOf(root, Event::What::Gone) == 0);
}

TEST_CASE("a worker is waited for while the run before is ending there, and not longer") {
  for (bool ends : {true, false}) {
    Cluster cluster;
    Process& before = cluster.Start("before", true);
    Process& worker = cluster.Start("a", false, {}, /*dials=*/false);
    std::string why;
    REQUIRE(before.node->Dial("a", &why));
    cluster.Run(1s);
    REQUIRE(CountOf(worker, Event::What::Joined) == 1);
    Process& next = cluster.Start("next", true);
    REQUIRE(next.node->Dial("a", &why));
    cluster.Run(500ms);
    CHECK(CountOf(next, Event::What::Refused) == 0);
    if (ends) before.node->Leave("the run is over");
    cluster.Run(4s);
    // The node of the run before takes no other root.
    CHECK(CountOf(next, Event::What::Joined) == 0);
    CHECK(CountOf(next, Event::What::Refused) == (ends ? 0 : 1));
  }
}

TEST_CASE("who differs is refused by the name of what differs, on both sides") {
  const auto refused = [](std::function<void(NodeOptions&)> change) {
    Cluster cluster;
    Process& root = cluster.Start("root", true, [](NodeOptions& options) {
      options.facts.build = "dfc 1";
      for (Digest Facts::*digest : {&Facts::graph, &Facts::options, &Facts::parts, &Facts::kernels, &Facts::libm}) (options.facts.*digest).fill(1);
    });
    Process& other = cluster.Start("a", false, change);
    cluster.Run(2s);
    CHECK(CountOf(root, Event::What::Joined) == 0);
    CHECK(CountOf(other, Event::What::Joined) == 0);
    CHECK(TextOf(root, Event::What::Notice).find("refused 0000000000000001") == 0);
    return TextOf(other, Event::What::Refused);
  };
  CHECK(refused([](NodeOptions& options) { options.facts.build = "dfc 2"; }) == "root refuses this process: build: there dfc 1, here dfc 2");
  const std::pair<const char*, Digest Facts::*> digests[] = {
      {"graph", &Facts::graph}, {"options", &Facts::options}, {"parts", &Facts::parts}, {"kernels", &Facts::kernels}, {"libm", &Facts::libm}};
  for (const auto& row : digests) {
    const std::string said = refused([&row](NodeOptions& options) {
      options.facts.build = "dfc 1";
      (options.facts.*row.second).fill(2);
    });
    CHECK(said == std::string("root refuses this process: ") + row.first + ": there 0101010101010101, here 0202020202020202");
  }
  CHECK(refused([](NodeOptions& options) {
          options.facts.build = "dfc 1";
          options.root = true;
        }) == "root refuses this process: root: there there is one, here another one");
}

TEST_CASE("another version of the wire is refused by a message that all versions have") {
  Cluster cluster;
  Process& root = cluster.Start("root", true);
  SimulatedNet::HostNumber host;
  auto stranger = cluster.net().Start("x", &host);
  std::string why;
  const Route route = stranger->Connect("root", &why);
  cluster.Run(10ms);
  Head head;
  head.version = kWireVersion + 1;
  head.flags = Head::kGreeting;
  head.from = {9, 9};
  const Message hello{Kind::Hello, "something new", {}, nullptr};
  stranger->Send(route, Forged(head, &hello));
  cluster.Run(100ms);
  auto answer = stranger->Receive();
  REQUIRE(answer);
  Reader in(answer->datagram.head.bytes);
  REQUIRE(ReadHead(in, head));
  CHECK(in.Fixed<uint8_t>() == static_cast<uint8_t>(Kind::Refused));
  msg::Refused refused;
  REQUIRE(Decode(in.Sized(), refused));
  CHECK((refused.field == "wire version" && refused.here == std::to_string(kWireVersion) && refused.there == std::to_string(kWireVersion + 1)));
  CHECK(TextOf(root, Event::What::Notice).find("wire version") != std::string::npos);
}

TEST_CASE("who dials another version of the wire is told its number, whatever that one answers") {
  const std::string here = std::to_string(kWireVersion), there = std::to_string(kWireVersion + 1);
  for (bool refuses : {true, false}) {
    Cluster cluster;
    SimulatedNet::HostNumber host;
    auto stranger = cluster.net().Start("x", &host);
    Process& root = cluster.Start("root", true);
    std::string why;
    REQUIRE(root.node->Dial("x", &why));
    cluster.Run(50ms);
    auto hello = stranger->Receive();
    REQUIRE(hello);
    Reader in(hello->datagram.head.bytes);
    Head head;
    REQUIRE(ReadHead(in, head));
    CHECK(head.version == kWireVersion);
    // Refused is the same in every version; of a Welcome only the head is.
    const Message refused = Pack(msg::Refused{"wire version", there, here}), welcome{Kind::Welcome, "something new", {}, nullptr};
    head.to = std::exchange(head.from, {9, 9});
    head.version = kWireVersion + 1;
    stranger->Send(hello->route, Forged(head, refuses ? &refused : &welcome));
    cluster.Run(100ms);
    CHECK(CountOf(root, Event::What::Refused) == 1);
    const std::string text = TextOf(root, Event::What::Refused);
    CHECK(text.find("wire version") != std::string::npos);
    CHECK(text.find(refuses ? "there " + there + ", here " + here : "here " + here + ", there " + there) != std::string::npos);
    CHECK(CountOf(root, Event::What::Joined) == 0);
    cluster.Run(40s);
    CHECK(CountOf(root, Event::What::NoAnswer) == 0);
  }
}

TEST_CASE("a root that greets again before it has the answer is the same one") {
  Cluster cluster;
  Process& worker = cluster.Start("a", false, {}, /*dials=*/false);
  const auto answer_to = [&](Name128 from, int times) {
    SimulatedNet::HostNumber host;
    auto root = cluster.net().Start("root" + std::to_string(from.low), &host);
    std::string why;
    const Route route = root->Connect("a", &why);
    cluster.Run(10ms);
    msg::Hello hello;
    hello.facts.wire = kWireVersion;
    hello.root = true;
    const Message message = Pack(hello);
    Head head;
    head.flags = Head::kGreeting;
    head.from = from;
    std::string answers;
    for (int i = 0; i < times; ++i) {
      root->Send(route, Forged(head, &message));
      cluster.Run(50ms);
      while (auto answer = root->Receive()) answers += answer->datagram.head.bytes[Head::kSize] == static_cast<char>(Kind::Welcome) ? 'W' : 'R';
    }
    return answers;
  };
  CHECK(answer_to({9, 9}, 3) == "WWW");
  CHECK(answer_to({8, 8}, 1) == "R");
  CHECK(TextOf(worker, Event::What::Notice).find("works for another run") != std::string::npos);
}

TEST_CASE("garbage, strangers and recordings are counted, and change nothing") {
  Cluster cluster;
  Process& root = cluster.Start("root", true);
  Process& worker = cluster.Start("a", false);
  cluster.Run(1s);
  REQUIRE(CountOf(root, Event::What::Joined) == 1);
  SimulatedNet::HostNumber host;
  auto stranger = cluster.net().Start("x", &host);
  std::string why;
  const Route route = stranger->Connect("root", &why);
  cluster.Run(10ms);
  const Name128 root_name = root.node->options().incarnation, worker_name = worker.node->options().incarnation;
  for (std::string bytes : {"", "x", "GET / HTTP/1.1\r\n\r\n"}) stranger->Send(route, {OwnPart(bytes), {}});
  stranger->Send(route, {OwnPart(std::string(100000, 'z')), {OwnPart("zz")}});
  Head head;
  head.from = {9, 9};
  head.to = root_name;
  head.stamp = head.sequence = 1;
  const Message finished = Pack(msg::Finished{1});
  stranger->Send(route, Forged(head, &finished));           // nobody knows him
  head.to = {8, 8};
  stranger->Send(route, Forged(head, &finished));           // to who was here before
  head.from = worker_name, head.to = root_name;
  stranger->Send(route, Forged(head, &finished));           // in the name of a member, with a stamp that is used
  cluster.Run(1s);
  CHECK(root.node->counts().garbage == 4);
  CHECK(root.node->counts().strangers == 1);
  CHECK(root.node->counts().stale == 2);
  CHECK(CountOf(root, Event::What::Message) == 0);
  CHECK(root.node->members()[0].state == MemberState::Joined);
  CHECK(TextOf(root, Event::What::Notice).find("bytes that are no batch") != std::string::npos);
}

TEST_CASE("who greets and never joins takes one of few places, for a while") {
  Cluster cluster;
  Process& root = cluster.Start("root", true);
  SimulatedNet::HostNumber host;
  auto stranger = cluster.net().Start("x", &host);
  std::string why;
  const Route route = stranger->Connect("root", &why);
  cluster.Run(10ms);
  const Message hello = Pack(msg::Hello{root.node->options().facts, false, kNoRank, "x", "x", 1, 1 << 20, 1 << 20});
  for (uint64_t i = 1; i <= 1000; ++i) {
    Head head;
    head.flags = Head::kGreeting;
    head.from = {7, i};
    stranger->Send(route, Forged(head, &hello));
    cluster.Run(1ms);
    while (stranger->Receive()) {
    }
  }
  CHECK(root.node->members().size() == 0);
  CHECK(root.node->counts().refused >= 900);
  cluster.Run(6s);
  Process& worker = cluster.Start("a", false);
  cluster.Run(1s);
  CHECK(CountOf(worker, Event::What::Joined) == 1);
}

TEST_CASE("a message that is not the sender's to say ends its membership") {
  Cluster cluster;
  Process& root = cluster.Start("root", true);
  Process& worker = cluster.Start("a", false);
  cluster.Run(1s);
  CHECK_FALSE(worker.node->Send(0, Pack(msg::Call{1, 2, 3, "", ""})));  // it does not serve yet
  CHECK_FALSE(worker.node->Send(0, Pack(msg::End{})));                  // only the root
  // Past the check: as a broken process would.
  REQUIRE(const_cast<Link*>(worker.node->link(0))->Send(Pack(msg::End{})));
  cluster.Run(1s);
  CHECK(TextOf(root, Event::What::Gone) == "it broke the rules: End is not for it to say now");
  CHECK(TextOf(worker, Event::What::Gone).find("it refuses this process: incarnation") == 0);
}

TEST_CASE("waves of another epoch are dropped, results are not") {
  Cluster cluster;
  Process& root = cluster.Start("root", true);
  Process& worker = cluster.Start("a", false);
  root.node->SetReady();
  worker.node->SetReady();
  cluster.Run(1s);
  const uint64_t epoch = root.node->members().epoch();
  worker.events.clear();
  REQUIRE(root.node->Send(0, Pack(msg::Wave{epoch + 1, 1})));
  REQUIRE(root.node->Send(0, Pack(msg::Wave{epoch, 2})));
  cluster.Start("b", false);
  REQUIRE(root.node->Send(0, Pack(msg::Result{1, 0, "value"})));
  cluster.Run(1s);
  CHECK(root.node->members().epoch() == epoch + 1);
  std::vector<Kind> kinds;
  for (const Event& event : worker.events)
    if (event.what == Event::What::Message) kinds.push_back(event.message.kind);
  CHECK(kinds == std::vector<Kind>{Kind::Wave, Kind::Result});
  CHECK(worker.node->counts().other_epoch == 1);
}

TEST_CASE("who leaves says so once all is sent, and is gone at once") {
  Cluster cluster;
  Process& root = cluster.Start("root", true);
  Process& worker = cluster.Start("a", false);
  root.node->SetReady();
  worker.node->SetReady();
  cluster.Run(1s);
  for (uint64_t i = 0; i < 50; ++i) REQUIRE(worker.node->Send(0, Pack(msg::Result{i, 0, std::string(100000, 'x')})));
  worker.node->Leave("done");
  cluster.Run(900ms);
  CHECK(worker.node->Left());
  CHECK(CountOf(root, Event::What::Message) == 50);
  CHECK(TextOf(root, Event::What::Gone) == "left: done");
}

// What the worker answers then is a refusal, as the root has gone for it.
TEST_CASE("a goodbye that came and whose acknowledgement is lost loses nobody") {
  Cluster cluster;
  Process& root = cluster.Start("root", true);
  Process& worker = cluster.Start("a", false, {}, /*dials=*/false);
  std::string why;
  REQUIRE(root.node->Dial("a", &why));
  cluster.Run(1s);
  root.node->Leave("the run is over");
  for (int i = 0; i < 1000 && CountOf(worker, Event::What::Gone) == 0; ++i) cluster.Run(1ms);
  REQUIRE(TextOf(worker, Event::What::Gone) == "left: the run is over");
  REQUIRE_FALSE(root.node->Left());
  cluster.net().Cut(root.host, worker.host, cluster.net().now() + 1ms, /*noticed=*/true);
  cluster.Run(900ms);
  CHECK(worker.node->counts().refused == 1);
  CHECK(root.node->Left());
  CHECK(root.node->members()[0].ending);
}

TEST_CASE("the fingerprint of the library's functions is the same again") {
  CHECK(LibmFingerprint() == LibmFingerprint());
  CHECK(Hex(Sha256("abc")) == "ba7816bf8f01cfea");
}
