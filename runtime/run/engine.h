// runtime/run/engine.h
//
// What every engine offers: run one graph once, within limits, and look at lazy parts of the results
// afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/base/stop.h"
#include "runtime/value/value.h"
#include "tagged_ir/graph.h"

namespace df {

class Timeline;  // runtime/run/timeline.h
class Device;    // runtime/device/device.h
class Peers;     // runtime/peers/peers.h

struct Outcome;

// Devices that compute the batches of some nodes (docs/devices.md, "Functions on a device"), besides RunOptions::device.
struct PlacedDevices {
  std::vector<Device*> devices;   // outlive the run; null: the host
  std::vector<uint8_t> of_node;   // by node: 0, or one more than the number of its device
};

struct RunOptions {
  Limits limits;
  llvm::raw_ostream* trace = nullptr;  // each firing with its tag, a line each
  Timeline* timeline = nullptr;  // gets what the run did when
  // Expanding engine: the newest ready node goes first, not the oldest.
  bool last_first = false;
  // Reference engine: 0 takes tokens first in, first out; otherwise a random order from this seed.
  uint64_t seed = 0;
  // Tagged engine: how many threads take part; 0: one per processor. Where ops on tensors are batched they share the batches, and
  // one does the rest. Results do not depend on it.
  uint32_t threads = 1;
  // Tagged engine: with several threads, not 0 makes them give away work at any moment, as often as they can, late and to
  // anybody, in an order that follows from this seed; and share all batches. For tests.
  uint64_t stress = 0;
  // Tagged engine: what it does to be fast. Results do not depend on any.
#define DF_SWITCH(field, name, kept, description) bool field = true;
#include "runtime/run/switches.def"
  // Tagged engine: the most activations of a region whose ops on tensors are computed together (docs/batching.md); 0: each by
  // itself. Results do not depend on it.
  uint32_t batch = kUsualBatch;
  static constexpr uint32_t kUsualBatch = 256;
  // What computes batches; outlives the run; null: the host. Results do not depend on it.
  Device* device = nullptr;
  // Tagged engine: what computes the batches of nodes that stand elsewhere; outlives the run; null: all is with `device`. Likewise.
  const PlacedDevices* placed = nullptr;
  // Tagged engine: other processes that take part; outlive the run; null: there are none. Results do not depend on them.
  Peers* peers = nullptr;
  // Count what costs something to count, and look where the time goes (Stats).
  bool count = false;
  // Reference engine: after the result goes on until nothing is left, and reports what waits although nothing
  // may (docs/graph.md, "at the end") as Stop::Internal.
  bool run_dry = false;
  // Ends the process, which has nothing to do after this run. Called on the run's own thread where a limit or an interrupt ends a
  // run that cannot be given up at once: amid the collection of cycles, or the release of millions of values. Does not return.
  // Without it such a run ends when that is done.
  std::function<void(const Outcome&)> leave;
};

// A row of switches.def. Kept: -O0 leaves it on.
struct SwitchInfo {
  const char* name;
  bool RunOptions::*field;
  bool kept;
  const char* description;
};
llvm::ArrayRef<SwitchInfo> Switches();

// One step of a call path: the label of a tag, innermost first.
struct PathEntry {
  ir::SiteId site;       // invalid for a loop
  ir::ScopeId loop;
  uint64_t iteration = 0;
};

struct RuntimeError {
  ErrorCode code = ErrorCode::User;
  std::string message;            // "division by zero"
  std::string parts;              // of ErrorCode::Io: what the message was made of (runtime/value/io_error.h)
  // What was thrown, if a value was; then there is no message until somebody asks the value (runtime/run/thrown.h). Must go before the
  // execution does.
  Value thrown;
  ir::PosId pos;
  ir::NodeId node;
  std::vector<PathEntry> path;    // innermost first; the middle left out if it is long
  uint64_t path_length = 0;       // of the whole tag
  size_t path_gap = 0;            // index in `path` before which entries were left out; 0: none were
};

struct Outcome {
  Stop stop = Stop::Done;
  RuntimeError error;   // Failed; for limits and interrupts where the run was, as far as known
  std::string detail;   // of limits: what was reached
  bool ok() const { return stop == Stop::Done; }
};

struct Stats {
  uint64_t firings = 0;      // tagged engine: of nodes that have work left; in scheduled code only with RunOptions::count
  uint64_t regions = 0;      // tagged engine: pieces of code that run without waiting; likewise
  uint64_t calls = 0;        // activations, root included; likewise
  uint64_t loops = 0;        // iterations; likewise
  uint64_t delays = 0;       // references made
  uint64_t released = 0;     // of them, released
  uint64_t steals = 0;       // pieces of work that one worker took from another
  // With other processes (RunOptions::peers): calls that went to them, came from them, were lost with one and done again, or could not go.
  bool has_peers = false;
  uint64_t far_given = 0, far_taken = 0, far_lost = 0, far_kept_back = 0;
  uint64_t dead_tokens = 0;  // reference engine only
  uint64_t max_depth = 0;    // length of the longest tag; likewise
  uint64_t peak_frames = 0;
  uint64_t peak_memory = 0;
  // Tagged engine with batching: kernels that were run for many activations, of how many regions, the most at once.
  uint64_t batches = 0;
  uint64_t batched = 0;
  uint64_t largest_batch = 0;
  // On a device with memory of its own: batches that were computed there, copies there and back, their bytes, and the most that was in use.
  bool away = false;
  uint64_t batches_away = 0;
  uint64_t uploads = 0, uploaded = 0;
  uint64_t downloads = 0, downloaded = 0;
  uint64_t peak_device = 0;
  // Demand engine only; its `firings` are the demands that were computed.
  uint64_t demands = 0;
  uint64_t store_hits = 0;    // of them, answered from the store
  uint64_t peak_entries = 0;  // of the store
  // Where the time of the run went, if RunOptions::count asked and the engine knows: shares that add up to 1.
  struct Part {
    std::string_view name;
    double share;
  };
  std::vector<Part> parts;
};

// One run of a verified graph. The graph must outlive it; values it returned must not.
class Execution {
 public:
  virtual ~Execution() = default;
  // Runs until every result of the graph is there (as an evaluated value, a reference or an error), or it stops. An error as a
  // result is not a failure of Start: see Force. `inputs` are in the order of graph_inputs; they go as the graph has used them.
  virtual Outcome Start(std::vector<Value> inputs) = 0;
  virtual llvm::ArrayRef<Value> results() const = 0;
  // Result `index`, which the run does not hold any more: a list may go as it is printed.
  virtual Value TakeResult(size_t index) = 0;
  // Makes `value` an evaluated one: releases a reference and runs until its cell is filled. Failed if it is
  // an error, or if nothing can run any more (`<<loop>>`).
  virtual Outcome Force(Value& value) = 0;
  // Force(value), over and over until `next` of it, which may put another into its place, is false: for long lists, whose
  // every cell would be forced on its own.
  virtual Outcome ForceEach(Value& value, llvm::function_ref<bool(Value&)> next);
  // Instead of Start: computes what other processes (RunOptions::peers) give it, until their run is over.
  virtual Outcome Serve();
  // Ends the run: whoever works on its results was stopped by a limit. Says where the run was.
  virtual Outcome GiveUp(Stop stop) = 0;
  // Nothing more will be asked for: what other threads are still computing is given up.
  virtual void Finish() {}
  // Of a run on several threads only after Finish those of all.
  virtual Stats stats() const = 0;
};

}  // namespace df
