#include "driver/cluster/report_processes.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "runtime/run/limits.h"

namespace df {
namespace {

// As many processes have a column each in a terminal.
constexpr size_t kMostColumns = 8;

std::string Rank(uint32_t rank) { return rank == UINT32_MAX ? "?" : std::to_string(rank); }

// What went one way between two processes: as who has sent it counts it, or else who got it.
struct Flow {
  uint64_t messages = 0, bytes = 0;
};
using Flows = std::map<std::pair<uint32_t, uint32_t>, Flow>;

Flows FlowsOf(const std::vector<PeerReport>& processes) {
  Flows flows;
  for (const PeerReport& process : processes)
    for (const PeerLink& link : process.links) flows[{link.rank, process.rank}] = {link.messages_in, link.bytes_in};
  for (const PeerReport& process : processes)
    for (const PeerLink& link : process.links) flows[{process.rank, link.rank}] = {link.messages_out, link.bytes_out};
  return flows;
}

void PrintFigures(const std::vector<PeerReport>& processes, llvm::raw_ostream& out) {
  out << "\nprocess   given   taken   lost  kept  held    memory  tickets     bytes  on their way   still\n";
  for (const PeerReport& process : processes) {
    out << fmt::format("{:<7}", Rank(process.rank));
    if (process.figures) {
      const PeerFigures& f = *process.figures;
      out << fmt::format(" {:>7} {:>7} {:>6} {:>5} {:>5} {:>9} {:>8} {:>9} {:>13} {:>5.1f} s", f.given, f.taken, f.lost, f.kept_back, f.held_back,
                         PrintBytes(f.peak_memory), f.peak_tickets, PrintBytes(f.peak_ticket_bytes), PrintBytes(f.peak_in_flight),
                         static_cast<double>(f.longest_still) / 1000);
    } else {
      out << " has told nothing";
      if (process.lost.empty() && process.still) out << fmt::format(", and has looked at nothing for {:.1f} s", static_cast<double>(process.still) / 1000);
    }
    out << '\n';
  }
  if (std::any_of(processes.begin(), processes.end(), [](const PeerReport& process) { return process.figures && process.figures->shared; })) {
    out << "\nprocess  shared    made    came   again\n";
    for (const PeerReport& process : processes)
      if (const std::optional<PeerFigures>& f = process.figures)
        out << fmt::format("{:<7} {:>7} {:>7} {:>7} {:>7}\n", Rank(process.rank), f->shared, f->made, f->came, f->again);
    out << '\n';
  }
  for (const PeerReport& process : processes)
    out << fmt::format("{:<7} {}{}{}\n", Rank(process.rank), process.where, process.lost.empty() ? "" : ", lost: ", process.lost);
}

void PrintMatrix(const std::vector<PeerReport>& processes, const Flows& flows, const char* what, std::string (*cell)(const Flow&), llvm::raw_ostream& out) {
  out << fmt::format("\n{:<11}", what);
  for (const PeerReport& to : processes) out << fmt::format("{:>10}", "to " + Rank(to.rank));
  out << '\n';
  for (const PeerReport& from : processes) {
    out << fmt::format("from {:<6}", Rank(from.rank));
    for (const PeerReport& to : processes) {
      const auto flow = flows.find({from.rank, to.rank});
      out << fmt::format("{:>10}", &from == &to ? "." : flow == flows.end() ? "?" : cell(flow->second));
    }
    out << '\n';
  }
}

// Of many processes the sums.
void PrintSums(const std::vector<PeerReport>& processes, const Flows& flows, llvm::raw_ostream& out) {
  out << "\nprocess   messages      bytes   received      bytes\n";
  for (const PeerReport& process : processes) {
    Flow sent, got;
    for (const auto& [ends, flow] : flows) {
      if (ends.first == process.rank) sent.messages += flow.messages, sent.bytes += flow.bytes;
      if (ends.second == process.rank) got.messages += flow.messages, got.bytes += flow.bytes;
    }
    out << fmt::format("{:<7} {:>10} {:>10} {:>10} {:>10}\n", Rank(process.rank), sent.messages, PrintBytes(sent.bytes), got.messages, PrintBytes(got.bytes));
  }
}

}  // namespace

void PrintProcesses(const std::vector<PeerReport>& processes, llvm::raw_ostream& out) {
  PrintFigures(processes, out);
  const Flows flows = FlowsOf(processes);
  if (processes.size() > kMostColumns) return PrintSums(processes, flows, out);
  PrintMatrix(processes, flows, "bytes", [](const Flow& flow) { return PrintBytes(flow.bytes); }, out);
  PrintMatrix(processes, flows, "messages", [](const Flow& flow) { return std::to_string(flow.messages); }, out);
}

void PrintProcesses(const std::vector<PeerReport>& processes, llvm::json::OStream& json) {
  json.attributeArray("processes", [&] {
    for (const PeerReport& process : processes) {
      json.object([&] {
        json.attribute("rank", static_cast<int64_t>(process.rank));
        json.attribute("where", llvm::json::fixUTF8(process.where));
        if (!process.lost.empty()) json.attribute("lost", llvm::json::fixUTF8(process.lost));
        json.attribute("told", process.figures.has_value());
        json.attribute("still_ms", process.still);
        if (process.figures) {
#define DF_FIGURE(field, key) json.attribute(key, process.figures->field);
          DF_PEER_FIGURES(DF_FIGURE)
#undef DF_FIGURE
        }
        if (process.clock_ahead) {
          json.attribute("clock_ahead_ns", *process.clock_ahead);
          json.attribute("clock_error_ns", process.clock_error);
        }
        json.attributeArray("links", [&] {
          for (const PeerLink& link : process.links) {
            json.object([&] {
              json.attribute("rank", static_cast<int64_t>(link.rank));
              json.attribute("messages_out", link.messages_out);
              json.attribute("bytes_out", link.bytes_out);
              json.attribute("messages_in", link.messages_in);
              json.attribute("bytes_in", link.bytes_in);
            });
          }
        });
      });
    }
  });
}

}  // namespace df
