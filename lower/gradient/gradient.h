// lower/gradient/gradient.h
//
// Derivatives of function graphs (docs/gradients.md). Replaces each Diff node by calls:
//
//   Vjp   a call of the *paired* function: the function and its gradient in one body, with n + m parameters and m + n
//         results, whose cotangents arrive late
//   Jvp   a call of the *dual* function, which computes values together with their tangents
//   Stop  its operand
//
// Runs before anything is pruned, and before loops are formed. Look at it: dfc --emit=functions --only=NAME.paired
#pragma once

#include "lang/diagnostics.h"
#include "lower/graph/function_graph.h"

namespace df::fg {

struct GradientOptions {
  bool recompute = false;  // calls stay as they are, and their gradients are calls of their own, which compute the forward pass anew
  bool through = true;     // cotangents of accumulators are those of the result (gradient/through.h)
};

// A place in the source, for diagnostics: where inlining has put it, or, `inner`, what was written there.
using PlaceOf = llvm::function_ref<Span(ir::PosId pos, bool inner)>;

// False after errors: an op without a derivative, a gradient that needs itself, or one that surely fails.
bool ExpandGradients(Program& program, Diagnostics& diags, PlaceOf span_of, const GradientOptions& options = {});

}  // namespace df::fg
