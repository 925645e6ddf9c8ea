// backends/members/peer_messages.h
//
// Messages of the engine as messages of the wire, and back: all that do not speak of members, which each process numbers in its own way.
#pragma once

#include <optional>
#include <vector>

#include "backends/net/messages.h"
#include "runtime/peers/peers.h"

namespace df {

// Its bytes are the new one's, and are counted until the last of them is let go of. Small ones are copied by the link, which counts them itself.
net::Message Encoded(PeerMessage& message);
// Nothing: it is none of the engine's.
std::optional<PeerMessage> Decoded(const net::Message& message);

// What a process has done, in the order of DF_PEER_FIGURES; back: nothing if they are not as many.
std::vector<uint64_t> Counts(const PeerFigures& figures);
std::optional<PeerFigures> FiguresOf(const std::vector<uint64_t>& counts);

}  // namespace df
