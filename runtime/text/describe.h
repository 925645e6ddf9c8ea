// runtime/text/describe.h
//
// Errors of a run as people read them.
#pragma once

#include <string>

#include "runtime/run/engine.h"

namespace df {

// The error as people read it, without a newline at the end: "error: divide by zero", then the path.
std::string Describe(const RuntimeError& error, const ir::Graph& graph);
// Place and call path alone, each line after a newline and two spaces: "at fact.df:3:14 in `f`", "called at
// ... in `g`", "... 9,980 more calls ...". Calls that were inlined away are there as if they were not. Empty
// if nothing is known.
std::string DescribePath(const RuntimeError& error, const ir::Graph& graph);

}  // namespace df
