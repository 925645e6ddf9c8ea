// driver/run_graph.h
//
// A run of a graph, in the way that its result asks for: an action, records one by one, a value that is printed, parts for files.
#pragma once

#include <optional>
#include <vector>

#include "driver/outputs.h"
#include "driver/records.h"
#include "driver/system/console.h"
#include "runtime/run/engine.h"
#include "runtime/run/perform.h"

namespace df {

// `inputs` are all that the graph has, in order. An action has a `performance`; of records there is a `record_run`, of everything else `outputs`.
Outcome RunGraph(const ir::Graph& graph, Execution& execution, std::vector<Value> inputs, Performance& performance,
                 std::optional<RecordRun>& record_run, std::optional<Outputs>& outputs, Console& console);

}  // namespace df
