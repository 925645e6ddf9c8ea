// lower/graph/late_numbers.h
//
// Numbers and truth values that ops on tensors give, a sum, an element, a class, stay tensors, without dimensions, for as long as nothing looks at
// them: arithmetic, choices, arguments, results, fields and loop variables carry them on. So an engine that computes tensors later
// (docs/batching.md) need not stop at a loss that a node adds to others.
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

// Changes types of values, parameters, results and fields of data types that main neither takes nor gives. The graphs compute
// the same bits: only ops are chosen that round alike for a number and for a tensor.
void KeepNumbersLate(Program& program);

}  // namespace df::fg
