// lower/graph/unbox.h
//
// Parameters in parts. In
//
//   data Complex = Double :+ Double
//   orbit n z@(a :+ b) = if n == 0 || a * a + b * b > 4 then n else orbit (n - 1) (z * z + c)
//
// each call makes a constructor that the next one takes apart. Where a function calls itself so and only looks at the fields,
// these are its parameters, in place of the constructor: no cell is made, and numbers are words (docs/lowering.md).
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

void UnboxParameters(Program& program);

}  // namespace df::fg
