// lower/lower.h
//
// Typed core -> function graphs -> tagged graph.
//
//   Specialise     from main: classes, polymorphism and applied lambdas disappear; small functions are inlined
//   Lift           local functions become functions of their free variables
//   Analyse        which parameters each function surely needs; which results are tuples built on every path
//   Build          function graphs; what is not surely needed, not cheap or not total is delayed
//   Transform      the Call/Merge/Return transform of the paper, section 3, as docs/graph.md completes it
#pragma once

#include <optional>

#include "lang/diagnostics.h"
#include "lower/graph/function_graph.h"
#include "lower/options/options.h"
#include "tagged_ir/graph.h"
#include "typecheck/core/core.h"

namespace df {

// Function graphs of everything that `entry` needs. nullopt after errors. `placed`: what the source puts on a part.
std::optional<fg::Program> BuildFunctionGraphs(core::Program& program, core::VarId entry, Diagnostics& diags,
                                               const LowerOptions& options = {}, std::vector<fg::Placed> placed = {});

// The one tagged graph. Cannot fail on a verified program.
ir::Graph Transform(const fg::Program& program, const LowerOptions& options = {});

}  // namespace df
