// driver/evaluate.h
//
// One run of a graph, its results printed: what `dfc run` and the REPL share.
#pragma once

#include <atomic>

#include "driver/console.h"
#include "driver/options.h"
#include "driver/standard_streams.h"
#include "llvm/ADT/ArrayRef.h"

namespace df {

// The exit code that a stop means.
ExitCode CodeOf(Stop stop);

// Where a graph comes from: what breaks a rule of the graph while it runs is dfc's fault, or the file's.
enum class GraphOrigin : uint8_t { Source, File };

struct RunContext {
  GraphOrigin origin = GraphOrigin::Source;
  std::chrono::duration<double> load{0};  // how long it took until the graph was there
  Stats* stats = nullptr;                 // gets what the run did, if not null
  StandardStreams::Source source = {};    // of the standard input, if not the process's
};

// The exit code with which a program ends that says so itself: GHC's, 255 for what a process cannot end with.
ExitCode ProgramExit(int64_t code);

// Runs `graph` and prints its value and a new line on standard output, or on standard error why there is none. A graph
// that acts does what it says instead, with the standard input, or `context.source`, for its input.
// `interrupt` may be null. Several results are printed as a tuple.
ExitCode Evaluate(const ir::Graph& graph, llvm::ArrayRef<Value> inputs, const Options& options,
                  const std::atomic<bool>* interrupt, Console& console, RunContext context = {});

}  // namespace df
