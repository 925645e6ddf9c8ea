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
#include "lower/function_graph.h"
#include "tagged_ir/graph.h"
#include "typecheck/core.h"

namespace df {

struct LowerOptions {
  bool optimize = true;      // inlining, let-floating, results as several values; off: the plain translation
  bool loops = true;         // self tail calls become loops
  uint32_t max_instances = 20000;  // specialisation stops with a diagnostic beyond this many functions
};

// Function graphs of everything that `entry` needs. nullopt after errors.
std::optional<fg::Program> BuildFunctionGraphs(core::Program& program, core::VarId entry, Diagnostics& diags,
                                               const LowerOptions& options = {});

// The one tagged graph. Cannot fail on a verified program.
ir::Graph Transform(const fg::Program& program, const LowerOptions& options = {});

}  // namespace df
