// backends/net/local_net.h
//
// Transports between the threads of one process, for tests of what runs in several threads: what one sends, the other has.
#pragma once

#include <memory>
#include <string>

#include "backends/net/transport.h"

namespace df::net {

class LocalNet {
 public:
  LocalNet();
  ~LocalNet();

  // A transport for one thread, at an address. It may outlive the net; when it goes, its routes end.
  std::unique_ptr<Transport> Start(const std::string& address);

 private:
  struct Hub;
  friend class LocalTransport;
  std::shared_ptr<Hub> hub_;
};

}  // namespace df::net
