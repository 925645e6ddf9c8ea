// tests/unit/net/simulation.h
//
// One life of a small cluster in the simulated network, made of a seed: processes join, send each other random messages, are slow, stopped,
// cut off, killed and started anew. The promises of backends/net are looked at all the time and at the end.
#pragma once

#include <cstdint>
#include <string>

namespace df::net {

// A bug that is put in on purpose, between the nodes and the network: the promises must notice it.
enum class Sabotage : uint8_t {
  None,
  NoAcknowledgement,  // acknowledgements are dropped
  NoSeen,             // nobody hears which datagrams came: what was lost is not sent again
  NoCredit,           // credit that comes free is not told
  TooMuchCredit,      // credit is told twice over
  NoStamp,            // a datagram that comes twice looks like two
  Swapped,            // a message takes the place of the one before
  NoMembers,          // the root's word on who is there is dropped
};

struct Outcome {
  std::string failure;  // empty: all promises were kept
  uint64_t messages = 0, bytes = 0, datagrams = 0, again = 0, duplicates = 0, gaps = 0;
  uint64_t clocks = 0;  // looks at what one process knows of the clock of another
  uint64_t cuts = 0, stalls = 0, stops = 0, kills = 0, restarts = 0, losses = 0;
  double seconds = 0;  // of the simulated clock
};

// `log`: what happens, line by line, on standard error.
Outcome Simulate(uint64_t seed, Sabotage sabotage = Sabotage::None, bool log = false);

}  // namespace df::net
