#include "backends/zmq/zmq_net.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "backends/net/address.h"
#include "backends/zmq/library.h"

namespace df::net {
namespace {

constexpr size_t kMostFrames = 8192;   // of a datagram: a batch has fewer pieces
constexpr size_t kMostNotices = 64;
constexpr size_t kTurn = 64;           // datagrams of one socket before the next one is asked
// Whoever ends all handshakes for so long has another key: one that is about to listen lets nobody connect.
constexpr Time kRefusedFor = std::chrono::seconds(5);
constexpr size_t kCopied = 1024;       // smaller frames are copied: that costs less than to be told when they may go

bool Set(void* socket, int option, int value) { return Zmq().zmq_setsockopt(socket, option, &value, sizeof value) == 0; }
bool Set(void* socket, int option, const std::string& value) { return Zmq().zmq_setsockopt(socket, option, value.data(), value.size()) == 0; }

// A frame that holds what its bytes lie in.
bool InitHeld(zmq_msg_t* frame, Part part) {
  const std::string_view bytes = part.bytes;
  if (bytes.size() < kCopied) {
    if (Zmq().zmq_msg_init_size(frame, bytes.size()) != 0) return false;
    if (!bytes.empty()) std::memcpy(Zmq().zmq_msg_data(frame), bytes.data(), bytes.size());
    return true;
  }
  using Holder = std::shared_ptr<const void>;
  auto* held = new Holder(std::move(part.holder));
  const auto free = [](void*, void* hint) { delete static_cast<Holder*>(hint); };
  if (Zmq().zmq_msg_init_data(frame, const_cast<char*>(bytes.data()), bytes.size(), free, held) == 0) return true;
  delete held;
  return false;
}

bool SendFrame(void* socket, zmq_msg_t* frame, bool more) {
  while (Zmq().zmq_msg_send(frame, socket, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0) {
    if (errno == EINTR) continue;
    Zmq().zmq_msg_close(frame);
    return false;
  }
  return true;
}

// A received frame, which goes with the last who holds it.
struct Frame {
  zmq_msg_t message;
  Frame() { Zmq().zmq_msg_init(&message); }
  ~Frame() { Zmq().zmq_msg_close(&message); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  std::string_view bytes() { return {static_cast<const char*>(Zmq().zmq_msg_data(&message)), Zmq().zmq_msg_size(&message)}; }
  bool more() { return Zmq().zmq_msg_more(&message) != 0; }
  bool Receive(void* socket) {
    int got;
    while ((got = Zmq().zmq_msg_recv(&message, socket, ZMQ_DONTWAIT)) < 0 && errno == EINTR) {
    }
    return got >= 0;
  }
};

}  // namespace

ZmqNet::ZmqNet(const ZmqOptions& options) : options_(options) {
  context_ = Zmq().zmq_ctx_new();
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

std::unique_ptr<ZmqNet> ZmqNet::Open(const ZmqOptions& options, std::string* why) {
  if (!LoadZmq(why)) return nullptr;
  std::unique_ptr<ZmqNet> net(new ZmqNet(options));
  if (!net->context_ || net->wake_ < 0) {
    *why = std::strerror(errno);
    return nullptr;
  }
  if (!options.listen.empty() && !net->Listen(why)) return nullptr;
  return net;
}

ZmqNet::~ZmqNet() {
  for (Socket& socket : sockets_) CloseSocket(socket);
  zap_.reset();
  if (context_) Zmq().zmq_ctx_term(context_);
  if (wake_ >= 0) ::close(wake_);
}

void ZmqNet::CloseSocket(Socket& socket) {
  if (socket.monitor) {
    Zmq().zmq_socket_monitor(socket.handle, nullptr, 0);
    Zmq().zmq_close(socket.monitor);
  }
  Zmq().zmq_close(socket.handle);
}

// What both kinds of sockets have in common. High-water marks are off: links count bytes, and a ROUTER at its mark drops without a word.
bool ZmqNet::Prepare(Socket& socket, bool server) {
  void* handle = socket.handle;
  bool good = Set(handle, ZMQ_SNDHWM, 0) && Set(handle, ZMQ_RCVHWM, 0) && Set(handle, ZMQ_LINGER, 0) && Set(handle, ZMQ_TCP_KEEPALIVE, 1) &&
              Set(handle, ZMQ_HEARTBEAT_IVL, 500) && Set(handle, ZMQ_HEARTBEAT_TIMEOUT, 5000) && Set(handle, ZMQ_HANDSHAKE_IVL, 5000);
  const int64_t largest = static_cast<int64_t>(options_.largest_frame);
  good = good && Zmq().zmq_setsockopt(handle, ZMQ_MAXMSGSIZE, &largest, sizeof largest) == 0;
  if (options_.keys) {
    const ClusterKeys& keys = *options_.keys;
    if (server)
      good = good && Set(handle, ZMQ_CURVE_SERVER, 1) && Set(handle, ZMQ_CURVE_SECRETKEY, keys.server.secret_key) &&
             Set(handle, ZMQ_ZAP_DOMAIN, std::string(ZapHandler::kDomain));
    else
      good = good && Set(handle, ZMQ_CURVE_SERVERKEY, keys.server.public_key) && Set(handle, ZMQ_CURVE_PUBLICKEY, keys.client.public_key) &&
             Set(handle, ZMQ_CURVE_SECRETKEY, keys.client.secret_key);
  }
  // Handshakes that fail are told to people.
  const std::string name = fmt::format("inproc://monitor-{}", ++monitors_);
  if (!good || Zmq().zmq_socket_monitor(handle, name.c_str(),
                                    ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) != 0)
    return good;
  socket.monitor = Zmq().zmq_socket(context_, ZMQ_PAIR);
  return socket.monitor && Set(socket.monitor, ZMQ_LINGER, 0) && Zmq().zmq_connect(socket.monitor, name.c_str()) == 0;
}

bool ZmqNet::Listen(std::string* why) {
  if (*why = WrongAddress(options_.listen, options_.keys.has_value(), options_.open_loopback); !why->empty()) return false;
  const auto fail = [&] {
    *why = fmt::format("cannot listen at `{}`: {}", options_.listen, Zmq().zmq_strerror(Zmq().zmq_errno()));
    return false;
  };
  if (options_.keys) {
    zap_ = std::make_unique<ZapHandler>(context_, options_.keys->allowed);
    if (!zap_->ok()) return fail();
  }
  Socket socket;
  socket.handle = Zmq().zmq_socket(context_, ZMQ_ROUTER);
  if (!socket.handle) return fail();
  sockets_.push_back(socket);
  Socket& router = sockets_.back();
  if (!Prepare(router, /*server=*/true) || !Set(router.handle, ZMQ_ROUTER_MANDATORY, 1) || !Set(router.handle, ZMQ_BACKLOG, 64)) return fail();
  if (options_.listen.find('[') != std::string::npos) Set(router.handle, ZMQ_IPV6, 1);
  if (Zmq().zmq_bind(router.handle, options_.listen.c_str()) != 0) return fail();
  char endpoint[512];
  size_t size = sizeof endpoint;
  if (Zmq().zmq_getsockopt(router.handle, ZMQ_LAST_ENDPOINT, endpoint, &size) != 0) return fail();
  address_ = endpoint;
  router.address = address_;
  return true;
}

Route ZmqNet::Connect(const std::string& address, std::string* why) {
  std::string reason = WrongAddress(address, options_.keys.has_value(), options_.open_loopback);
  Socket socket;
  if (reason.empty()) {
    socket.handle = Zmq().zmq_socket(context_, ZMQ_DEALER);
    socket.address = address;
    if (!socket.handle || !Prepare(socket, /*server=*/false) || !Set(socket.handle, ZMQ_IMMEDIATE, 1) || !Set(socket.handle, ZMQ_CONNECT_TIMEOUT, 3000) ||
        !Set(socket.handle, ZMQ_RECONNECT_IVL, 20) || !Set(socket.handle, ZMQ_RECONNECT_IVL_MAX, 500) ||
        (address.find('[') != std::string::npos && !Set(socket.handle, ZMQ_IPV6, 1)) || Zmq().zmq_connect(socket.handle, address.c_str()) != 0) {
      reason = fmt::format("cannot connect to `{}`: {}", address, Zmq().zmq_strerror(Zmq().zmq_errno()));
      if (socket.handle) CloseSocket(socket);
    }
  }
  if (!reason.empty()) {
    if (why) *why = std::move(reason);
    return 0;
  }
  socket.route = next_route_++;
  sockets_.push_back(socket);
  return socket.route;
}

void ZmqNet::Close(Route route) {
  if (const auto name = names_.find(route); name != names_.end()) {
    routes_.erase(name->second);
    names_.erase(name);
    return;
  }
  const auto socket = std::find_if(sockets_.begin(), sockets_.end(), [&](const Socket& s) { return s.route == route; });
  if (route == 0 || socket == sockets_.end()) return;
  CloseSocket(*socket);
  sockets_.erase(socket);
}

Time ZmqNet::Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

bool ZmqNet::Send(Route route, Datagram datagram) {
  void* handle = nullptr;
  if (const auto name = names_.find(route); name != names_.end()) {
    handle = sockets_[0].handle;
    zmq_msg_t frame;
    if (Zmq().zmq_msg_init_size(&frame, name->second.size()) != 0) return false;
    std::memcpy(Zmq().zmq_msg_data(&frame), name->second.data(), name->second.size());
    if (!SendFrame(handle, &frame, true)) return false;  // nobody is there any more
  } else {
    for (const Socket& socket : sockets_)
      if (socket.route == route && route != 0) handle = socket.handle;
    if (!handle) return false;
  }
  for (size_t i = 0; i <= datagram.frames.size(); ++i) {
    zmq_msg_t frame;
    const bool good = InitHeld(&frame, i == 0 ? std::move(datagram.head) : std::move(datagram.frames[i - 1]));
    // What is begun must be ended, or the next datagram would go on with it.
    if (!good && Zmq().zmq_msg_init(&frame) != 0) return false;
    if (!SendFrame(handle, &frame, i < datagram.frames.size())) return false;
  }
  return true;
}

Route ZmqNet::RouteOf(const std::string& name) {
  const auto [found, added] = routes_.emplace(name, next_route_);
  if (added) names_[next_route_++] = name;
  return found->second;
}

std::optional<Arrival> ZmqNet::ReceiveFrom(Socket& socket) {
  Arrival arrival;
  auto head = std::make_shared<Frame>();
  if (!head->Receive(socket.handle)) return std::nullopt;
  arrival.route = socket.route;
  if (socket.route == 0) {
    arrival.route = RouteOf(std::string(head->bytes()));
    if (!head->more() || !head->Receive(socket.handle)) return std::nullopt;
    if (options_.keys)
      if (const char* user = Zmq().zmq_msg_gets(&head->message, "User-Id")) arrival.who = user;
  }
  arrival.datagram.head = {head->bytes(), head};
  for (bool more = head->more(); more;) {
    auto part = std::make_shared<Frame>();
    if (!part->Receive(socket.handle)) break;
    more = part->more();
    if (arrival.datagram.frames.size() < kMostFrames) arrival.datagram.frames.push_back({part->bytes(), part});
  }
  return arrival;
}

std::optional<Arrival> ZmqNet::Receive() {
  if (zap_) {
    std::vector<std::string> refused;
    zap_->Serve(&refused);
    for (std::string& text : refused) Note(std::move(text));
  }
  for (size_t i = 0; i < sockets_.size(); ++i) {
    if (turn_ >= sockets_.size()) turn_ = 0;
    if (auto arrival = ReceiveFrom(sockets_[turn_])) {
      // A busy one goes on for a while, which costs less than to ask the others in between.
      if (++in_turn_ % kTurn == 0) ++turn_;
      return arrival;
    }
    ++turn_;
  }
  return std::nullopt;
}

void ZmqNet::Wait(Time until) {
  std::vector<zmq_pollitem_t> items;
  items.push_back({nullptr, wake_, ZMQ_POLLIN, 0});
  if (zap_) items.push_back({zap_->socket(), 0, ZMQ_POLLIN, 0});
  for (const Socket& socket : sockets_) {
    items.push_back({socket.handle, 0, ZMQ_POLLIN, 0});
    if (socket.monitor) items.push_back({socket.monitor, 0, ZMQ_POLLIN, 0});
  }
  const Time now = Now();
  // Rounded up: before its time there is nothing to do.
  const auto wait = until <= now ? 0 : std::chrono::ceil<std::chrono::milliseconds>(std::min<Time>(until - now, std::chrono::hours(1))).count();
  Zmq().zmq_poll(items.data(), static_cast<int>(items.size()), static_cast<long>(wait));
  uint64_t woken;
  if (items[0].revents != 0) static_cast<void>(!::read(wake_, &woken, sizeof woken));
  for (const zmq_pollitem_t& item : items) {
    if (item.revents == 0) continue;
    for (Socket& socket : sockets_)
      if (socket.monitor && socket.monitor == item.socket) ReadMonitor(socket);
  }
}

void ZmqNet::Wake() {
  const uint64_t one = 1;
  static_cast<void>(!::write(wake_, &one, sizeof one));
}

void ZmqNet::ReadMonitor(Socket& socket) {
  for (;;) {
    Frame event, peer;
    if (!socket.monitor || !event.Receive(socket.monitor)) return;
    if (event.more()) peer.Receive(socket.monitor);
    uint16_t what = 0;
    uint32_t value = 0;
    if (event.bytes().size() < 6) continue;
    std::memcpy(&what, event.bytes().data(), 2);
    std::memcpy(&value, event.bytes().data() + 2, 4);
    const std::string_view place = peer.bytes().empty() ? std::string_view(socket.address) : peer.bytes();
    if (what == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      socket.refused_since.reset();
      continue;
    }
    if (socket.route != 0) {
      if (what == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
        NoteRefusal(socket, fmt::format("{} refuses the key of this process", place), "it refuses the key of this process");
      else
        NoteRefusal(socket, fmt::format("a connection to {} ended in its handshake", place),
                    "it ends all connections in their handshake: it has another key, or is no worker");
      continue;
    }
    if (what == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) continue;  // the handler has named it
    if (what == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL && value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
      Note(fmt::format("a connection at {} has the key of another cluster", place));
    else if (what == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) Note(fmt::format("a connection at {} does not speak as this cluster does (0x{:x})", place, value));
    else Note(fmt::format("a connection at {} ended in its handshake", place));
  }
}

// Of a connection that this side makes: it tries again, some times a second.
void ZmqNet::NoteRefusal(Socket& socket, std::string text, std::string why) {
  const Time now = Now();
  if (!socket.refused_since) socket.refused_since = now;
  if (now - *socket.refused_since >= kRefusedFor) failures_.push_back({socket.route, std::move(why)});
  if (text == socket.noted) return;
  socket.noted = text;
  Note(std::move(text));
}

std::optional<Failure> ZmqNet::TakeFailure() {
  if (failures_.empty()) return std::nullopt;
  Failure failure = std::move(failures_.front());
  failures_.pop_front();
  return failure;
}

void ZmqNet::Note(std::string text) {
  if (notices_.size() < kMostNotices) notices_.push_back(std::move(text));
}

std::optional<std::string> ZmqNet::TakeNotice() {
  if (notices_.empty()) return std::nullopt;
  std::string text = std::move(notices_.front());
  notices_.pop_front();
  return text;
}

}  // namespace df::net
