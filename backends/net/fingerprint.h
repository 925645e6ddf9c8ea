// backends/net/fingerprint.h
//
// What a result's bits depend on beside the program, the graph and the build: the system's functions of Float and Double, which differ with the
// library and with the processor (docs/distributed.md).
#pragma once

#include <string>
#include <string_view>

#include "backends/net/wire.h"

namespace df::net {

// SHA-256 over the bits that sin, exp, tanh, log, tan, atan and the others, pow and atan2 give for fixed arguments, in this process.
Digest LibmFingerprint();

Digest Sha256(std::string_view bytes);

}  // namespace df::net
