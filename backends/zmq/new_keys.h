// backends/zmq/new_keys.h
//
// New keys for a cluster.
#pragma once

#include <optional>
#include <string>

#include "backends/net/keys.h"

namespace df::net {

// A pair for servers, one for clients, which is allowed. Nothing, and why, if this build has no libzmq, or one without CURVE.
std::optional<ClusterKeys> NewClusterKeys(std::string* why);

}  // namespace df::net
