// backends/net/keys.h
//
// The key file of a cluster, with which its processes know each other (docs/distributed.md). Making keys needs libzmq
// (backends/zmq/new_keys.h); reading and writing the file does not.
//
//   # dfc cluster key 1. Keep it secret: ...
//   server-public  1q=..}&       40 characters of Z85 (rfc.zeromq.org/spec/32)
//   server-secret  ...
//   client-public  ...
//   client-secret  ...
//   allowed        ...           a client's public key; one line each
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace df::net {

struct KeyPair {
  std::string public_key, secret_key;  // Z85, 40 characters each
};

struct ClusterKeys {
  KeyPair server, client;
  std::vector<std::string> allowed;  // public keys of clients that a server takes
};

std::string KeyFileText(const ClusterKeys& keys);
// Nothing, and why, if it is no key file.
std::optional<ClusterKeys> ParseKeyFile(std::string_view text, std::string* why);

// Makes the file, which only its owner can read, at once and whole. A file that is there stays: another key would lock out who has the old one.
bool WriteKeyFile(const std::string& path, const ClusterKeys& keys, std::string* why);
// Refuses a file that others can read or write. A group may read what belongs to root and is not this user's: the form in which Kubernetes
// mounts a secret for a pod with a group of its own.
std::optional<ClusterKeys> ReadKeyFile(const std::string& path, std::string* why);

}  // namespace df::net
