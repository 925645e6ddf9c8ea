// lower/graph/split_types.h
//
// A data type that main takes or gives has to hold numbers as they are seen from outside. Inside, values of the same type, as a list of
// losses that is summed while main gives a list of losses, may hold what late_numbers.h makes of numbers. So where no value gets from
// the one use to the other they become two types.
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

// Gives values that never meet what main takes or gives, nor a constant, copies of those data types with numbers in them that are main's.
void SplitTypes(Program& program);

}  // namespace df::fg
