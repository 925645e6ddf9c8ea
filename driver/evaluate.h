// driver/evaluate.h
//
// One run of a graph, its results printed: what `dfc run` and the REPL share.
#pragma once

#include <atomic>
#include <optional>

#include "driver/options.h"
#include "driver/system/console.h"
#include "driver/system/standard_streams.h"
#include "runtime/run/action_log.h"
#include "runtime/value/value.h"

namespace df {

// The exit code that a stop means.
ExitCode CodeOf(Stop stop);

// Where a graph comes from: what breaks a rule of the graph while it runs is dfc's fault, or the file's.
enum class GraphOrigin : uint8_t { Source, File };

// What a prompt has to do with an action that it runs.
struct PromptAction {
  StandardStreams::Source source;  // where its input comes from
  bool wants_value = false;        // its value is kept: if it took all the input, that is read to its end
  bool done = false;               // it came to its end
  bool exited = false;             // it ended the program
  std::string left;                // the input that it has read and not used
  std::string log;                 // what it was told, if its value is kept (runtime/run/perform.h)
  std::vector<const ActionLog*> redone;  // earlier actions, which the graph does again first
  bool keeps_log = false;
  std::optional<ActionLog> kept;   // the same log, if that is asked for; also of an action that did not come to its end
};

struct CutRun;     // driver/place.h
struct DeviceCut;  // driver/place.h

struct RunContext {
  GraphOrigin origin = GraphOrigin::Source;
  std::chrono::duration<double> load{0};  // how long it took until the graph was there
  std::chrono::milliseconds spent{0};     // of the time limit, before
  Stats* stats = nullptr;                 // gets what the run did, if not null
  PromptAction* prompt = nullptr;         // at a prompt
  uint64_t in_use = 0;                    // bytes of the inputs, which count as the run's
  std::optional<alive::Counts> before;    // the objects that were there before the inputs, which the run consumes
  CutRun* cut = nullptr;                  // of a graph that is cut: what it needs, and counts
  const DeviceCut* devices = nullptr;     // of one whose parts are devices
};

// Hands a run the switches that are its own, not the compiler's.
void Switch(const Options& options, RunOptions& run);

// The exit code with which a program ends that says so itself: GHC's, 255 for what a process cannot end with.
ExitCode ProgramExit(int64_t code);

// Runs `graph` and prints its value and a new line on standard output, or on standard error why there is none. A graph
// that acts does what it says instead.
// `interrupt` may be null. Several results are printed as a tuple.
// A text among the inputs goes as it is read, since nobody here holds on to them.
ExitCode Evaluate(const ir::Graph& graph, std::vector<Value> inputs, const Options& options,
                  const std::atomic<bool>* interrupt, Console& console, RunContext context = {});

}  // namespace df
