#include "driver/report_stats.h"

#include <time.h>

#include <fmt/format.h>

#include "driver/options.h"
#include "driver/place.h"
#include "driver/cluster/report_processes.h"
#include "llvm/Support/JSON.h"
#include "runtime/engines/engines.h"
#include "tagged_ir/spread.h"

namespace df {
namespace {

constexpr unsigned Only(EngineKind engine) { return 1u << static_cast<unsigned>(engine); }
constexpr unsigned kDevice = 1u << 31;  // of a run that had one with memory of its own
constexpr unsigned kPeers = 1u << 30;   // of a run on several processes
constexpr unsigned kAll = ~(kDevice | kPeers);

// Every count, once: how people read it, its key in JSON, and the engines that count it.
struct Row {
  const char* label;
  const char* key;
  uint64_t Stats::*count;
  unsigned engines;
};
constexpr Row kRows[] = {
    {"calls", "calls", &Stats::calls, kAll},
    {"loop iterations", "iterations", &Stats::loops, kAll},
    {"firings", "firings", &Stats::firings, kAll},
    {"regions", "regions", &Stats::regions, Only(EngineKind::Tagged)},
    {"delayed", "delays", &Stats::delays, kAll},
    {"of them forced", "forced", &Stats::released, kAll},
    {"stolen", "steals", &Stats::steals, Only(EngineKind::Tagged)},
    {"given far", "far_given", &Stats::far_given, kPeers},
    {"taken from far", "far_taken", &Stats::far_taken, kPeers},
    {"lost far", "far_lost", &Stats::far_lost, kPeers},
    {"kept back", "far_kept_back", &Stats::far_kept_back, kPeers},
    {"batches", "batches", &Stats::batches, Only(EngineKind::Tagged)},
    {"regions in them", "batched", &Stats::batched, Only(EngineKind::Tagged)},
    {"largest batch", "largest_batch", &Stats::largest_batch, Only(EngineKind::Tagged)},
    {"batches there", "batches_away", &Stats::batches_away, kDevice},
    {"to the device", "uploads", &Stats::uploads, kDevice},
    {"bytes to it", "uploaded_bytes", &Stats::uploaded, kDevice},
    {"from the device", "downloads", &Stats::downloads, kDevice},
    {"bytes from it", "downloaded_bytes", &Stats::downloaded, kDevice},
    {"peak there", "peak_device_bytes", &Stats::peak_device, kDevice},
    {"dead tokens", "dead_tokens", &Stats::dead_tokens, Only(EngineKind::Reference)},
    {"demands", "demands", &Stats::demands, Only(EngineKind::Demand)},
    {"from the store", "from_store", &Stats::store_hits, Only(EngineKind::Demand)},
    {"peak entries", "peak_entries", &Stats::peak_entries, Only(EngineKind::Demand)},
    {"deepest tag", "deepest_tag", &Stats::max_depth, kAll},
    {"peak frames", "peak_frames", &Stats::peak_frames, kAll},
    {"peak bytes", "peak_bytes", &Stats::peak_memory, kAll},
};

struct Time {
  const char* label;
  const char* key;
  RunTimes::Seconds RunTimes::*time;
};
constexpr Time kTimes[] = {
    {"seconds to load", "load_seconds", &RunTimes::load},
    {"to prepare", "prepare_seconds", &RunTimes::prepare},
    {"to run", "run_seconds", &RunTimes::run},
    {"of a processor", "run_cpu_seconds", &RunTimes::run_cpu},
};

bool Counts(const Row& row, const Stats& stats, EngineKind engine) { return row.engines & (Only(engine) | (stats.away ? kDevice : 0) | (stats.has_peers ? kPeers : 0)); }

// What one call costs in processor time; a program without calls is one call of the root.
double NanosecondsPerCall(const Stats& stats, const RunTimes& times) {
  uint64_t calls = stats.calls + stats.loops;
  return times.run_cpu.count() * 1e9 / static_cast<double>(calls ? calls : 1);
}

const char* SpineName(const ir::Graph& graph) { return ir::SpineOf(graph) == ir::Spine::Everywhere ? "everywhere" : "root"; }

void PrintText(const ir::Graph& graph, const Stats& stats, const RunTimes& times, EngineKind engine, const CutCounts* cut, llvm::raw_ostream& out) {
  for (const Row& row : kRows)
    if (Counts(row, stats, engine)) out << fmt::format("{:<16}{:>16}\n", row.label, stats.*row.count);
  if (uint32_t calls = ir::CountSpreadCalls(graph)) out << fmt::format("{:<16}{:>16}\n{:<16}{:>16}\n", "spread calls", calls, "spine", SpineName(graph));
  if (cut) PrintCut(*cut, out);
  for (const Time& time : kTimes) out << fmt::format("{:<16}{:>16.6f}\n", time.label, (times.*time.time).count());
  double ns = NanosecondsPerCall(stats, times);
  out << fmt::format("{:<16}{:>16.1f}\n", "ns a call", ns);
  for (const Stats::Part& part : stats.parts)
    out << fmt::format("  {:<14}{:>16.1f}  {:>4.1f}%\n", part.name, ns * part.share, part.share * 100);
}

void PrintJson(const ir::Graph& graph, const Stats& stats, const RunTimes& times, EngineKind engine, bool counts,
               const std::vector<PeerReport>& processes, const CutCounts* cut, llvm::raw_ostream& out) {
  llvm::json::OStream json(out);
  json.object([&] {
    json.attribute("engine", llvm::StringRef(EngineName(engine)));
    for (const Row& row : kRows)
      if (Counts(row, stats, engine) && (counts || row.count == &Stats::peak_memory)) json.attribute(row.key, stats.*row.count);
    if (uint32_t calls = ir::CountSpreadCalls(graph); calls && counts) {
      json.attribute("spread_calls", calls);
      json.attribute("spine", llvm::StringRef(SpineName(graph)));
    }
    for (const Time& time : kTimes) json.attribute(time.key, (times.*time.time).count());
    if (!stats.parts.empty())
      json.attributeObject("parts", [&] {
        for (const Stats::Part& part : stats.parts) json.attribute(llvm::StringRef(part.name), part.share);
      });
    if (counts && !processes.empty()) PrintProcesses(processes, json);
    if (counts && cut) PrintCut(*cut, json);
  });
  out << '\n';
}

}  // namespace

RunTimes::Seconds ProcessorTime() {
  timespec time;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return RunTimes::Seconds(static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9);
}

void PrintStats(const ir::Graph& graph, const Stats& stats, const RunTimes& times, EngineKind engine, StatsFormat format,
                const std::vector<PeerReport>& processes, const CutCounts* cut, llvm::raw_ostream& out) {
  if (format == StatsFormat::Text) {
    PrintText(graph, stats, times, engine, cut, out);
    if (!processes.empty()) PrintProcesses(processes, out);
  }
  if (format == StatsFormat::Json || format == StatsFormat::Times)
    PrintJson(graph, stats, times, engine, format == StatsFormat::Json, processes, cut, out);
}

}  // namespace df
