#include "runtime/peers/report.h"

#include <algorithm>

#include <fmt/format.h>

namespace df {

std::string DescribePace(const std::vector<PeerReport>& processes) {
  constexpr uint64_t kLong = 2000;
  const auto there = std::count_if(processes.begin(), processes.end(), [](const PeerReport& process) { return process.lost.empty(); });
  std::string text = static_cast<size_t>(there) == processes.size() ? fmt::format("{} processes", there) : fmt::format("{} of {} processes", there, processes.size());
  for (const PeerReport& process : processes)
    if (process.lost.empty() && process.still >= kLong) text += fmt::format("; process {} in one step for {} s", process.rank, process.still / 1000);
  return text;
}

}  // namespace df
