// lower/gradient/knots.h
//
// Data that is defined by itself has no gradient in reverse mode where its cotangent needs itself (docs/gradients.md): the paired body has a
// Fail there, which is an error when it is reached. Which gradients surely reach one is found here, so that they can be refused before
// they run. Internal to the gradient passes.
#pragma once

#include <set>

#include "lower/graph/function_graph.h"

namespace df::fg {

// A Fail in the place of a cotangent that needs itself.
struct KnotFail {
  FunctionId function;
  NodeId fail;
  friend auto operator<=>(KnotFail, KnotFail) = default;
};

// A gradient that somebody asked for: a value of the function `by`.
struct AskedGradient {
  FunctionId by;
  Value value;
  ir::PosId pos;
};

// The Fail that computing the gradient surely ends at, whatever the inputs are; none if it may have a value.
std::optional<KnotFail> SureFailure(const Program& program, const std::set<KnotFail>& knots, const AskedGradient& asked);

}  // namespace df::fg
