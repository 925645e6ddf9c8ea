// driver/cluster/follow.h
//
// A process of a run whose spine runs everywhere, and not its root (docs/spread.md): it evaluates what the root evaluates, and writes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/options.h"
#include "runtime/run/engine.h"
#include "tagged_ir/graph.h"

namespace df {

// Whether all processes of a run run its spine. Decided by the graph and the options, which all have.
bool RunsEverywhere(const ir::Graph& graph, const Options& options);

// All inputs of a graph that does not read the standard input, those of the host too, as bytes: what is lazy in them is read to its end, so they
// are changed. Throws std::bad_alloc.
struct PackedInputs {
  std::string bytes;
  std::vector<std::string> parts;
};
PackedInputs PackInputs(const ir::Graph& graph, const std::vector<Value>& inputs, const std::vector<std::string>& arguments);
// Nothing: they are not of this graph.
std::optional<std::vector<Value>> UnpackInputs(const ir::Graph& graph, const PackedInputs& packed, std::string* why);

// Runs the graph as the root does with these options. What the program says is the root's to say: an error is no fault of this process. The
// outcome is not ok only if this process has to leave the run.
Outcome Follow(const ir::Graph& graph, const Options& options, const PackedInputs& inputs, const std::atomic<bool>* interrupt, Execution& execution);

}  // namespace df
