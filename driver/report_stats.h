// driver/report_stats.h
//
// What `--stats` prints on standard error when a run has ended: for people, a row per figure; for programs, one JSON
// object on a line of its own.
#pragma once

#include <chrono>
#include <cstdint>

#include "llvm/Support/raw_ostream.h"
#include "runtime/engines/engines.h"
#include "runtime/peers/report.h"
#include "runtime/run/engine.h"
#include "tagged_ir/graph.h"

namespace df {

struct CutCounts;  // runtime/engines/reference/cut_run.h

// Times: as JSON, the times and the memory alone, of a run in which nothing is counted that costs something.
enum class StatsFormat : uint8_t { None, Text, Json, Times };

// Wall time. `load`: until the verified graph is there, compiled from a source or read from its file. `prepare`: what the
// engine makes of the graph. `run`: from the first token to the last character that was printed; `run_cpu`: processor time of
// the process meanwhile.
struct RunTimes {
  using Seconds = std::chrono::duration<double>;
  Seconds load{0}, prepare{0}, run{0}, run_cpu{0};
};
// Processor time that the process has used.
RunTimes::Seconds ProcessorTime();

// Figures that the engine does not count are left out. Of the graph it says what several processes would share, if there is any. `processes`: of a run on
// several; `cut`: of one of a graph that is cut, else null.
void PrintStats(const ir::Graph& graph, const Stats& stats, const RunTimes& times, EngineKind engine, StatsFormat format,
                const std::vector<PeerReport>& processes, const CutCounts* cut, llvm::raw_ostream& out);

}  // namespace df
