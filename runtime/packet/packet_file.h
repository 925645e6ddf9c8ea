// runtime/packet/packet_file.h
//
// Files of one value of any type that holds no function, exactly as it is: a packet (runtime/packet), with what its type is, and a checksum.
// docs/wire.md has the layout.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/packet/packet.h"
#include "runtime/packet/type_text.h"
#include "runtime/run/engine.h"

namespace df {

inline constexpr uint32_t kPacketFileVersion = 1;

// Evaluates all of `value` and packs it. If it cannot be in such a file the outcome is fine and `fault` says why.
Outcome PackValue(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, Packet* packet, std::string* fault);

// The whole file. The same value gives the same bytes.
std::string WritePacketFile(const TypeText& type, const Packet& packet);

bool LooksLikePacket(std::string_view bytes);

// The value of this type in the file; for a Maybe also what its Just holds. On failure nullopt, and `error` says what is wrong. Throws
// std::bad_alloc beyond the memory limit.
std::optional<Value> ReadPacketFile(const ir::Graph& graph, ir::TypeId type, std::string_view bytes, std::string* error);

// The shape, if the file holds a tensor; else `why` says what it holds.
std::optional<std::vector<int64_t>> ShapeOfPacket(std::string_view bytes, std::string* why);

}  // namespace df
