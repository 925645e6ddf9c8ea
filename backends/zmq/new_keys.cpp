#include "backends/zmq/new_keys.h"

#ifdef DFC_HAS_ZMQ
#include "backends/zmq/library.h"
#endif

namespace df::net {

#ifdef DFC_HAS_ZMQ

namespace {

std::optional<KeyPair> NewPair() {
  char open[41], secret[41];  // and a zero
  if (Zmq().zmq_curve_keypair(open, secret) != 0) return std::nullopt;
  return KeyPair{open, secret};
}

}  // namespace

std::optional<ClusterKeys> NewClusterKeys(std::string* why) {
  if (!LoadZmq(why)) return std::nullopt;
  if (Zmq().zmq_has("curve")) {
    const std::optional<KeyPair> server = NewPair(), client = NewPair();
    if (server && client) return ClusterKeys{*server, *client, {client->public_key}};
  }
  *why = "the libzmq of this system has no CURVE, so there can be no keys";
  return std::nullopt;
}

#else

std::optional<ClusterKeys> NewClusterKeys(std::string* why) {
  *why = "this dfc was built without libzmq, which makes keys: install libzmq3-dev, and build again";
  return std::nullopt;
}

#endif

}  // namespace df::net
