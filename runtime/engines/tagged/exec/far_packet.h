// runtime/engines/tagged/exec/far_packet.h
//
// Calls and delayed calls as packets. Private to the tagged engine; docs/wire.md has the layout.
#pragma once

#include <string>

#include "runtime/engines/tagged/exec/far.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// A message of the kind Call or Cell. False: something in it cannot leave this process (a delayed call that is being computed, or that
// the host answers), or it is too large to be worth it.
bool PackCall(const FarTypes& types, const Message& message, KnownObjects& known, PeerMessage& to);
bool PackValue(const FarTypes& types, ir::PortType type, const Value& value, KnownObjects& known, PeerMessage& to);

// A list of pieces: values, and nothing that is still to be computed.
bool PackPieces(const FarTypes& types, ir::PortType type, const Value& list, PeerMessage& to);
// What a site's result is: of a delayed call what fills its reference.
ir::PortType TypeOfResult(const FarTypes& types, const SiteCode& site, uint32_t result);

// Sets the site, arguments, tag and depth of a call, or the value of a delayed one. False: it breaks the rules, and `fault` says which; if
// that is empty, it holds an object of this process that has gone meanwhile.
bool UnpackFarCall(Worker& w, PeerId sender, const PeerMessage& from, Message& call, std::string& fault);
bool UnpackFarValue(Worker& w, PeerId sender, ir::PortType type, const PeerMessage& from, Value& value, std::string& fault);

}  // namespace df::tagged
