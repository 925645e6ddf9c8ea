// driver/place.h
//
// A graph cut into parts, as the command line asks for it: `dfc place` shows it, and `dfc run --parts` runs it (docs/cut.md).
#pragma once

#include <optional>

#include "driver/options.h"
#include "driver/system/console.h"
#include "lang/diagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/engines/reference/cut_run.h"

namespace df {

// The cut by the placement file, the graph's own places and the rule, for so many processes. Reports what is wrong and gives nullopt.
std::optional<ir::Cut> CutOf(const ir::Graph& graph, const CutArguments& arguments, uint32_t processes, Diagnostics& diags);

// Cuts a graph into calls that have their process, as placement file, parts and seed say, for the tagged engine. False: something is wrong
// there, which is said.
bool PlaceCalls(ir::Graph& graph, const Options& options, Console& console);

// The devices that parts are, of a run of the tagged engine (docs/devices.md).
struct DeviceCut {
  std::vector<std::string> names;  // of devices other than the run's own, each once
  std::vector<uint8_t> of_node;    // as PlacedDevices::of_node
};
// False if it cannot be cut so, which is said.
bool PrepareDevices(const ir::Graph& graph, const Options& options, std::optional<DeviceCut>& cut, Console& console);

// What a run of it needs, and counts.
struct CutRun {
  CutRunOptions options;
  CutCounts counts;
};
// False if it cannot be cut so, which is said.
bool PrepareCut(const ir::Graph& graph, const Options& options, std::optional<CutRun>& cut, Console& console);

// Of a worker, what its root has told it; nothing if that is no cut of this graph.
std::optional<CutRun> SharedCut(const ir::Graph& graph, const CutArguments& arguments);

// What `--stats` says of it.
void PrintCut(const CutCounts& counts, llvm::raw_ostream& out);
void PrintCut(const CutCounts& counts, llvm::json::OStream& json);

}  // namespace df
