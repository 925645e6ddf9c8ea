// lower/graph/prune.h
//
// Removes what no result needs from function graphs: nodes, results that no caller uses, parameters that no body uses.
// Linear: one work list over all functions. Without `across` functions keep their parameters and results.
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

void Prune(Program& program, bool across);

}  // namespace df::fg
