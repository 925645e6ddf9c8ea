// runtime/packet/timeline_packet.h
//
// What a process did when, as bytes for the root of its run, which shows all processes on one axis.
//
//   tracks: their number; of each moments, dropped, period, number of spans; of each span what it is (a byte), id, number if it has one, how long it
//   was, and its end, as the difference from the last one's
//   calls: their number; of each what (a byte), track, rank, ticket, time, as a difference; then calls that were dropped, spans that were left out
//
// Numbers are varints, differences zigzag: 0, -1, 1, -2 are 0, 1, 2, 3. The longest kMostSpans spans go, so the size is bounded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/run/timeline.h"

namespace df {

inline constexpr size_t kMostSpans = 20000;
// Of all that PackTimeline makes.
inline constexpr size_t kMostTimelineBytes = size_t{1} << 20;

std::string PackTimeline(ProcessTimeline process);

// The bytes may come from anywhere: nothing is allocated for what is not there, and sites and scopes are the graph's. Nothing if they are no timeline
// of it. Rank, name, and where it stands on the axis are left to the caller.
std::optional<ProcessTimeline> ReadTimeline(const ir::Graph& graph, std::string_view bytes);

}  // namespace df
