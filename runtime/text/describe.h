// runtime/text/describe.h
//
// Errors of a run as people read them.
#pragma once

#include <string>
#include <vector>

#include "runtime/run/engine.h"

namespace df {

// A line of a call path: a place, or how many calls were left out there.
struct PathLine {
  std::string what;  // "at", "called at", "after 3 tail calls", "... 9,980 more calls ..."
  std::string file;  // empty: the place is not known
  uint32_t line = 0, column = 0;
  std::string function;  // empty: not known
  uint64_t left_out = 0;
};

// The error as people read it, without a newline at the end: "error: divide by zero", then the path.
std::string Describe(const RuntimeError& error, const ir::Graph& graph);
// Place and call path alone, each line after a newline and two spaces: "at fact.df:3:14 in `f`", "called at
// ... in `g`", "... 9,980 more calls ...". Calls that were inlined away are there as if they were not. Empty
// if nothing is known.
std::string DescribePath(const RuntimeError& error, const ir::Graph& graph);
// The same line by line, for programs.
std::vector<PathLine> PathOf(const RuntimeError& error, const ir::Graph& graph);

}  // namespace df
