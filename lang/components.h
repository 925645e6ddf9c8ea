// lang/components.h
//
// Strongly connected components: groups of what needs each other.
#pragma once

#include <cstdint>
#include <vector>

namespace df {

// Strongly connected components of the graph edges[i] = what i needs; a component comes after those it needs.
// Members are in increasing order (Tarjan 1972).
std::vector<std::vector<uint32_t>> Components(const std::vector<std::vector<uint32_t>>& edges);

}  // namespace df
