// runtime/run/thrown.h
//
// Values that were thrown and that nobody caught: what they say, and whether they end the program with an exit code of theirs.
#pragma once

#include <cstdint>

#include "runtime/run/engine.h"

namespace df {

// Whether the value that was thrown is of this type, as the graph has it.
bool IsThrown(const ir::Graph& graph, const RuntimeError& error, ir::TypeId type);
// Whether it asks for the end of the program with a code; asks the value, which may run.
bool AsksForExit(Execution& execution, const ir::Graph& graph, const Outcome& outcome, int64_t* code);
// The outcome gets the message of the value that was thrown, if one was, and the value goes. If saying it fails, that is the outcome.
void SayThrown(Execution& execution, const ir::Graph& graph, Outcome& outcome);

}  // namespace df
