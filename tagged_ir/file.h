// tagged_ir/file.h
//
// `.graph` files: an ONNX ModelProto that stock tools read. docs/graph-file.md has the layout.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tagged_ir/graph.h"

namespace df::ir {

inline constexpr uint32_t kGraphFileVersion = 14;

// The bytes of the file of a valid graph; the same graph always gives the same bytes.
std::string Serialize(const Graph& graph);

// Trusts nothing: every table is checked, then the graph verified. On failure nullopt, and `error` says where
// and what
// ("node 17 (Call): ..."). A newer format version is refused by its number.
std::optional<Graph> Deserialize(std::string_view bytes, std::string* error);

// Whether the bytes look like a graph file at all (as against source text).
bool LooksLikeGraphFile(std::string_view bytes);

}  // namespace df::ir
