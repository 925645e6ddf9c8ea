// What links cost beside ZeroMQ itself: 64-byte tokens a second and round trips between two processes over tcp on this machine, by a bare
// loop of libzmq (one token a message, and 256) and by nodes with links; plain and with CURVE. Ratios within one run are what counts.
//
//   zmq_links [MILLIONS of tokens, 4] [ROUNDS, of which the best counts, 3]
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "backends/net/node.h"
#include "backends/zmq/new_keys.h"
#include "backends/zmq/zmq_net.h"

using namespace df::net;

namespace {

constexpr size_t kToken = 64, kBatch = 256, kRounds = 3000;
using Clock = std::chrono::steady_clock;

struct Figures {
  double tokens = 0;  // a second
  double trip = 0;    // median, seconds
};

double Since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double Median(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// ---------------------------------------------------------------- libzmq alone

void SetKeys(void* socket, const ClusterKeys* keys, bool server) {
  if (!keys) return;
  const int one = 1;
  if (server) ::zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &one, sizeof one);
  else ::zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, keys->server.public_key.data(), 40);
  if (!server) ::zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, keys->client.public_key.data(), 40);
  ::zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, (server ? keys->server : keys->client).secret_key.data(), 40);
}

void BareServer(int ready, const ClusterKeys* keys, uint64_t total) {
  void* context = ::zmq_ctx_new();
  void* router = ::zmq_socket(context, ZMQ_ROUTER);
  const int none = 0;
  ::zmq_setsockopt(router, ZMQ_RCVHWM, &none, sizeof none);
  SetKeys(router, keys, true);
  ::zmq_bind(router, "tcp://127.0.0.1:*");
  char address[128] = {};
  size_t size = sizeof address;
  ::zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, address, &size);
  static_cast<void>(!::write(ready, address, sizeof address));
  zmq_msg_t id, message;
  ::zmq_msg_init(&id), ::zmq_msg_init(&message);
  const auto answer = [&] {
    ::zmq_msg_send(&id, router, ZMQ_SNDMORE);
    ::zmq_msg_send(&message, router, 0);
  };
  for (size_t i = 0; i < kRounds; ++i) ::zmq_msg_recv(&id, router, 0), ::zmq_msg_recv(&message, router, 0), answer();
  for (uint64_t got = 0; got < total; got += ::zmq_msg_size(&message) / kToken) ::zmq_msg_recv(&id, router, 0), ::zmq_msg_recv(&message, router, 0);
  answer();
  ::usleep(100000);
}

Figures BareClient(const char* address, const ClusterKeys* keys, uint64_t total, size_t batch) {
  void* context = ::zmq_ctx_new();
  void* dealer = ::zmq_socket(context, ZMQ_DEALER);
  const int mark = 2000;
  ::zmq_setsockopt(dealer, ZMQ_SNDHWM, &mark, sizeof mark);
  SetKeys(dealer, keys, false);
  ::zmq_connect(dealer, address);
  std::string bytes(kToken * batch, 'x'), answer(bytes.size(), ' ');
  std::vector<double> times;
  for (size_t i = 0; i < kRounds; ++i) {
    const auto begin = Clock::now();
    ::zmq_send(dealer, bytes.data(), kToken, 0);
    ::zmq_recv(dealer, answer.data(), answer.size(), 0);
    times.push_back(Since(begin));
  }
  const auto begin = Clock::now();
  for (uint64_t sent = 0; sent < total; sent += batch) ::zmq_send(dealer, bytes.data(), bytes.size(), 0);
  ::zmq_recv(dealer, answer.data(), answer.size(), 0);
  const double took = Since(begin);
  ::zmq_close(dealer);
  ::zmq_ctx_term(context);
  return {static_cast<double>(total) / took, Median(times)};
}

// ---------------------------------------------------------------- nodes

struct Process {
  std::unique_ptr<ZmqNet> net;
  std::unique_ptr<Node> node;

  Process(const ClusterKeys* keys, const char* root) {
    ZmqOptions zmq;
    zmq.open_loopback = true;
    if (keys) zmq.keys = *keys;
    if (!root) zmq.listen = "tcp://127.0.0.1:*";
    std::string why;
    net = ZmqNet::Open(zmq, &why);
    NodeOptions options;
    options.incarnation = RandomName();
    options.root = !root;
    if (net) node = std::make_unique<Node>(options, *net);
    if (!net || (root && !node->Dial(root, &why))) std::fprintf(stderr, "%s\n", why.c_str()), std::exit(1);
    node->SetReady();
  }

  // Until `done` says so of an event.
  template <typename Done>
  void Until(Done done) {
    for (bool finished = false; !finished;) {
      node->Progress(1, 0, false);
      const Time next = node->Step();
      bool any = false;
      while (auto event = node->Take()) {
        any = true;
        if (event->what == Event::What::Gone) std::fprintf(stderr, "gone: %s\n", event->text.c_str()), std::exit(1);
        finished = finished || done(*event);
      }
      if (!any && !finished) net->Wait(next);
    }
  }
};

msg::Result Token() {
  static const std::string value(kToken - 3, 'x');  // with ticket, number and size: 64 bytes
  return {1, 1, value};
}
bool IsToken(const Event& event) { return event.what == Event::What::Message && event.message.kind == Kind::Result; }

void NodeServer(int ready, const ClusterKeys* keys, uint64_t total) {
  Process process(keys, nullptr);
  char address[128] = {};
  std::strncpy(address, process.net->address().c_str(), sizeof address - 1);
  static_cast<void>(!::write(ready, address, sizeof address));
  for (size_t i = 0; i < kRounds; ++i) {
    process.Until(IsToken);
    process.node->Send(0, Token());
  }
  uint64_t got = 0;
  process.Until([&](const Event& event) { return IsToken(event) && ++got == total; });
  process.node->Send(0, Token());
  process.node->Leave("done");
  while (!process.node->Left()) process.net->Wait(process.node->Step());
}

Figures NodeClient(const char* address, const ClusterKeys* keys, uint64_t total) {
  Process process(keys, address);
  Node& node = *process.node;
  process.Until([](const Event& event) { return event.what == Event::What::Ready; });
  std::vector<double> times;
  for (size_t i = 0; i < kRounds; ++i) {
    const auto begin = Clock::now();
    node.Send(0, Token());
    process.Until(IsToken);
    times.push_back(Since(begin));
  }
  const auto begin = Clock::now();
  for (uint64_t sent = 0; sent < total;) {
    for (size_t i = 0; i < 4 * kBatch && sent < total; ++i, ++sent) node.Send(0, Token());
    node.Progress(sent, 0, false);
    Time next = node.Step();
    while (node.link(0)->Queued() > (1 << 20)) process.net->Wait(next), next = node.Step();
  }
  process.Until(IsToken);
  return {static_cast<double>(total) / Since(begin), Median(times)};
}

template <typename Server, typename Client>
Figures Measure(Server server, Client client) {
  int ready[2];
  if (::pipe(ready) != 0) std::exit(1);
  const pid_t pid = ::fork();
  if (pid == 0) {
    server(ready[1]);
    ::_exit(0);
  }
  char address[128] = {};
  if (::read(ready[0], address, sizeof address) <= 0) std::exit(1);
  // In a process of its own, too: what libzmq starts does not live through a fork.
  int answer[2];
  if (::pipe(answer) != 0) std::exit(1);
  const pid_t other = ::fork();
  if (other == 0) {
    const Figures figures = client(address);
    static_cast<void>(!::write(answer[1], &figures, sizeof figures));
    ::_exit(0);
  }
  Figures figures;
  ::close(answer[1]);
  if (::read(answer[0], &figures, sizeof figures) != sizeof figures) std::exit(1);
  ::waitpid(other, nullptr, 0);
  ::waitpid(pid, nullptr, 0);
  for (int fd : {ready[0], ready[1], answer[0]}) ::close(fd);
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t total = static_cast<uint64_t>((argc > 1 ? std::atof(argv[1]) : 4) * 1e6) / kBatch * kBatch;
  std::string why;
  const auto keys = NewClusterKeys(&why);
  if (!keys) return std::fprintf(stderr, "%s\n", why.c_str()), 1;
  for (const ClusterKeys* use : {static_cast<const ClusterKeys*>(nullptr), &*keys}) {
    Figures single, bare, node;
    const auto keep = [](Figures& best, Figures now) {
      best.tokens = std::max(best.tokens, now.tokens);
      best.trip = best.trip == 0 ? now.trip : std::min(best.trip, now.trip);
    };
    for (int round = argc > 2 ? std::atoi(argv[2]) : 3; round > 0; --round) {
      keep(single, Measure([&](int fd) { BareServer(fd, use, total / 8); }, [&](const char* at) { return BareClient(at, use, total / 8, 1); }));
      keep(bare, Measure([&](int fd) { BareServer(fd, use, total); }, [&](const char* at) { return BareClient(at, use, total, kBatch); }));
      keep(node, Measure([&](int fd) { NodeServer(fd, use, total); }, [&](const char* at) { return NodeClient(at, use, total); }));
    }
    std::printf("%-6s libzmq one by one %5.2f M tokens/s, in batches %5.2f M, round trip %3.0f us; "
                "links %5.2f M tokens/s (%.2f of batches), round trip %3.0f us (%.2f)\n",
                use ? "curve" : "plain", single.tokens / 1e6, bare.tokens / 1e6, bare.trip * 1e6, node.tokens / 1e6, node.tokens / bare.tokens, node.trip * 1e6,
                node.trip / bare.trip);
    std::fflush(stdout);
  }
}
