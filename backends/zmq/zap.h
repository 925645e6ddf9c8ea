// backends/zmq/zap.h
//
// Who may connect: the handler that libzmq asks for each connection (rfc.zeromq.org/spec/27), inside the process. It only has to be polled.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace df::net {

class ZapHandler {
 public:
  // Must be there before a socket that asks it listens.
  ZapHandler(void* context, const std::vector<std::string>& allowed);
  ~ZapHandler();
  ZapHandler(const ZapHandler&) = delete;
  ZapHandler& operator=(const ZapHandler&) = delete;

  static constexpr const char* kDomain = "dfc";

  bool ok() const { return socket_ != nullptr; }
  void* socket() const { return socket_; }
  // Answers all that wait. Who was refused is added to `notices`.
  void Serve(std::vector<std::string>* notices);

 private:
  void* socket_ = nullptr;
  std::set<std::string> allowed_;  // Z85
};

}  // namespace df::net
