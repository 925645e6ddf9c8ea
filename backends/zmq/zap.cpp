#include "backends/zmq/zap.h"

#include <string_view>

#include <fmt/format.h>

#include "backends/zmq/library.h"

namespace df::net {
namespace {

// All frames of the next message; empty if there is none.
std::vector<std::string> ReceiveFrames(void* socket) {
  std::vector<std::string> frames;
  for (bool more = true; more;) {
    zmq_msg_t frame;
    Zmq().zmq_msg_init(&frame);
    if (Zmq().zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0) return {};
    frames.emplace_back(static_cast<const char*>(Zmq().zmq_msg_data(&frame)), Zmq().zmq_msg_size(&frame));
    more = Zmq().zmq_msg_more(&frame);
    Zmq().zmq_msg_close(&frame);
  }
  return frames;
}

}  // namespace

ZapHandler::ZapHandler(void* context, const std::vector<std::string>& allowed) : allowed_(allowed.begin(), allowed.end()) {
  socket_ = Zmq().zmq_socket(context, ZMQ_REP);
  const int none = 0;
  if (socket_) Zmq().zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
  if (socket_ && Zmq().zmq_bind(socket_, "inproc://zeromq.zap.01") == 0) return;
  if (socket_) Zmq().zmq_close(socket_);
  socket_ = nullptr;
}

ZapHandler::~ZapHandler() {
  if (socket_) Zmq().zmq_close(socket_);
}

void ZapHandler::Serve(std::vector<std::string>* notices) {
  for (;;) {
    // version, request id, domain, address, identity, mechanism, credentials
    const std::vector<std::string> request = ReceiveFrames(socket_);
    if (request.empty()) return;
    std::string key;
    bool good = request.size() == 7 && request[0] == "1.0" && request[2] == kDomain && request[5] == "CURVE" && request[6].size() == 32;
    if (good) {
      char text[41];
      Zmq().zmq_z85_encode(text, reinterpret_cast<const uint8_t*>(request[6].data()), 32);
      key = text;
      good = allowed_.contains(key);
    }
    if (!good)
      notices->push_back(fmt::format("refused a connection from {}: its key {} is not allowed", request.size() > 3 ? request[3] : "somebody",
                                     key.empty() ? "is missing, and" : key));
    const std::string_view id = request.size() > 1 ? std::string_view(request[1]) : "";
    const std::string_view answer[] = {"1.0", id, good ? "200" : "400", good ? "" : "this key is not allowed", key, ""};
    for (size_t i = 0; i < std::size(answer); ++i)
      Zmq().zmq_send(socket_, answer[i].data(), answer[i].size(), ZMQ_DONTWAIT | (i + 1 < std::size(answer) ? ZMQ_SNDMORE : 0));
  }
}

}  // namespace df::net
