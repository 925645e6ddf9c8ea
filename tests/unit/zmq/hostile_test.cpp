#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <zmq.h>

#include <fstream>
#include <random>

#include "lang/sanitizers.h"
#include "tests/unit/zmq/cluster.h"

using namespace df::net;
using namespace std::chrono_literals;

namespace {

int PortOf(const std::string& address) { return std::stoi(address.substr(address.rfind(':') + 1)); }

// A client that speaks bytes.
struct Raw {
  explicit Raw(int port) {
    fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    good = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  ~Raw() { ::close(fd); }
  void Say(std::string_view bytes) { static_cast<void>(!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT)); }
  int fd;
  bool good;
};

// A ZeroMQ client of any key that sends what it likes.
struct Peer {
  Peer(const std::string& address, const ClusterKeys* keys) {
    context = ::zmq_ctx_new();
    socket = ::zmq_socket(context, ZMQ_DEALER);
    const int none = 0;
    ::zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    if (keys) {
      ::zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, keys->server.public_key.data(), 40);
      ::zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, keys->client.public_key.data(), 40);
      ::zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, keys->client.secret_key.data(), 40);
    }
    ::zmq_connect(socket, address.c_str());
  }
  ~Peer() {
    ::zmq_close(socket);
    ::zmq_ctx_term(context);
  }
  void Send(const std::vector<std::string>& frames) {
    for (size_t i = 0; i < frames.size(); ++i)
      ::zmq_send(socket, frames[i].data(), frames[i].size(), ZMQ_DONTWAIT | (i + 1 < frames.size() ? ZMQ_SNDMORE : 0));
  }
  void* context;
  void* socket;
};

size_t ResidentKiB() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  return 0;
}

// A member that keeps sending and getting while others are hostile.
struct Honest {
  Honest(Cluster& cluster, Process& root, const ZmqOptions& options) : cluster(cluster), root(root), worker(cluster.Start(options, root.net->address())) {
    root.node->SetReady();
    worker.node->SetReady();
    REQUIRE(cluster.Until([&] { return root.Count(Event::What::Ready) == 1 && worker.Count(Event::What::Ready) == 1; }));
  }
  void Works() {
    const size_t before = root.Count(Event::What::Message);
    for (uint64_t i = 0; i < 20; ++i) REQUIRE(worker.node->Send(0, Pack(msg::Result{i, 0, std::string(1000 * i, 'x')})));
    CHECK(cluster.Until([&] { return root.Count(Event::What::Message) == before + 20; }));
    CHECK(root.Count(Event::What::Gone) == 0);
  }
  Cluster& cluster;
  Process& root;
  Process& worker;
};

}  // namespace

TEST_CASE("bytes of no ZeroMQ at all change nothing") {
  for (bool curve : {false, true}) {
    Cluster cluster;
    ZmqOptions options;
    options.open_loopback = true;
    options.listen = "tcp://127.0.0.1:*";
    if (curve) options.keys = NewKeys();
    Process& root = cluster.Start(options, "");
    options.listen = "";
    Honest honest(cluster, root, options);
    std::mt19937_64 random(1);
    const std::string greeting = std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03", 11) + (curve ? "CURVE" : "NULL") + std::string(48, '\0');
    std::vector<std::unique_ptr<Raw>> open;
    for (int i = 0; i < 100; ++i) {
      auto raw = std::make_unique<Raw>(PortOf(root.net->address()));
      if (!raw->good) continue;
      std::string bytes(1 + random() % 400, '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      raw->Say(i % 4 == 0 ? "GET / HTTP/1.1\r\n\r\n" : i % 4 == 1 ? greeting + bytes : i % 4 == 2 ? greeting.substr(0, random() % greeting.size()) : bytes);
      if (i % 3 != 0) open.push_back(std::move(raw));  // and stays
    }
    cluster.Run(300ms);
    honest.Works();
    CHECK(root.Count(Event::What::Joined) == 1);
  }
}

TEST_CASE("a wrong key is refused and named, and so is another cluster's") {
  Cluster cluster;
  ZmqOptions options;
  options.open_loopback = true;
  options.keys = NewKeys();
  options.listen = "tcp://127.0.0.1:*";
  Process& root = cluster.Start(options, "");
  options.listen = "";
  Honest honest(cluster, root, options);
  // The right server, a client that is not allowed.
  ZmqOptions other = options;
  other.keys->client = NewKeys().client;
  Process& stranger = cluster.Start(other, root.net->address(), [](NodeOptions& o) { o.answer_within = 2s; });
  REQUIRE(cluster.Until([&] { return root.Text(Event::What::Notice).find(other.keys->client.public_key + " is not allowed") != std::string::npos; }));
  REQUIRE(cluster.Until([&] { return stranger.Count(Event::What::NoAnswer) == 1; }));
  CHECK(stranger.Count(Event::What::Joined) == 0);
  // All other keys.
  ZmqOptions foreign = options;
  foreign.keys = NewKeys();
  Process& alien = cluster.Start(foreign, root.net->address(), [](NodeOptions& o) { o.answer_within = 2s; });
  REQUIRE(cluster.Until([&] { return alien.Count(Event::What::NoAnswer) == 1; }));
  // No key at all.
  Peer open(root.net->address(), nullptr);
  open.Send({"hello"});
  cluster.Run(300ms);
  CHECK(root.Count(Event::What::Joined) == 1);
  CHECK(root.node->counts().garbage == 0);
  honest.Works();
}

TEST_CASE("batches of nonsense, halves of batches and recorded ones are ignored, counted and named") {
  for (bool curve : {false, true}) {
    Cluster cluster;
    ZmqOptions options;
    options.open_loopback = true;
    options.listen = "tcp://127.0.0.1:*";
    if (curve) options.keys = NewKeys();
    Process& root = cluster.Start(options, "");
    options.listen = "";
    Honest honest(cluster, root, options);
    honest.Works();
    Peer peer(root.net->address(), curve ? &*options.keys : nullptr);
    // What the worker says: recorded, and played back from another connection, whole and cut short.
    Head head;
    head.from = honest.worker.node->options().incarnation;
    head.to = root.node->options().incarnation;
    std::vector<std::vector<std::string>> recorded;
    const uint64_t seen = root.node->link(0)->seen();
    for (uint64_t i = 0; i < 20; ++i) {
      const uint64_t stamp = i % seen + 1;
      head.stamp = head.sequence = stamp;
      head.count = 1;
      std::string bytes;
      PutHead(bytes, head);
      const Message message = Pack(msg::Result{stamp, 0, "recorded"});
      bytes += static_cast<char>(message.kind);
      PutSized(bytes, message.body);
      recorded.push_back({bytes});
      recorded.push_back({bytes.substr(0, Head::kSize + 3)});
      recorded.push_back({bytes, "and a frame"});
    }
    const size_t messages = root.Count(Event::What::Message);
    for (const auto& frames : recorded) peer.Send(frames);
    std::mt19937_64 random(2);
    for (int i = 0; i < 300; ++i) {
      std::string bytes = recorded[random() % recorded.size()][0];
      if (i % 3 == 0) bytes.assign(random() % 200, static_cast<char>(random()));
      else for (int k = 0; k < 8; ++k) bytes[random() % 40] = static_cast<char>(random());  // before the stamp
      peer.Send({bytes});
    }
    peer.Send({""});
    CHECK(cluster.Until([&] { return root.node->counts().garbage > 50 && root.node->counts().stale >= 60; }));
    CHECK(root.Count(Event::What::Message) == messages);
    CHECK(root.Text(Event::What::Notice).find("sent bytes that are no batch") != std::string::npos);
    if (curve) CHECK(root.Text(Event::What::Notice).find(options.keys->client.public_key + " sent bytes that are no batch") != std::string::npos);
    honest.Works();
    CHECK(root.Count(Event::What::Joined) == 1);
  }
}

TEST_CASE("a flood takes no memory") {
  Cluster cluster;
  ZmqOptions options;
  options.open_loopback = true;
  options.listen = "tcp://127.0.0.1:*";
  Process& root = cluster.Start(options, "");
  options.listen = "";
  Honest honest(cluster, root, options);
  honest.Works();
  const size_t before = ResidentKiB();
  Head head;
  head.flags = Head::kGreeting;
  head.count = 1;
  const Message hello = Pack(msg::Hello{root.node->options().facts, false, kNoRank, std::string(4000, 'n'), "x", 1, 1 << 20, 1 << 20});
  for (int round = 0; round < 20; ++round) {
    // Each from a connection of its own, as many processes as there are names.
    Peer peer(root.net->address(), nullptr);
    for (uint64_t i = 0; i < 500; ++i) {
      head.from = {static_cast<uint64_t>(round) + 1, i + 1};
      std::string bytes;
      PutHead(bytes, head);
      bytes += static_cast<char>(hello.kind);
      PutSized(bytes, hello.body);
      peer.Send({bytes});
    }
    cluster.Run(20ms);
  }
  honest.Works();
  CHECK(root.node->members().size() == 1);
  CHECK(root.node->counts().refused > 1000);
#ifndef DFC_SANITIZED  // which keep what was freed
  CHECK(ResidentKiB() < before + (64 << 10));
#endif
  // A frame beyond the largest is cut off by libzmq.
  Peer large(root.net->address(), nullptr);
  large.Send({std::string(8 << 20, 'x')});
  cluster.Run(100ms);
  honest.Works();
}
