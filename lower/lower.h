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
#include "llvm/ADT/ArrayRef.h"
#include "lower/function_graph.h"
#include "tagged_ir/graph.h"
#include "typecheck/core.h"

namespace df {

enum class Optimisation : uint8_t {
#define DF_OPTIMISATION(name, text, description) name,
#include "lower/optimisations.def"
};

struct OptimisationInfo {
  Optimisation id;
  const char* name;  // of its switch
  const char* description;
};
llvm::ArrayRef<OptimisationInfo> Optimisations();

// How a gradient gets at its forward pass: in one body with it; by computing it anew; from a table. The latter two are there to
// compare with (docs/gradients.md).
enum class GradientKind : uint8_t { Paired, Recompute, Table };

struct LowerOptions {
  bool optimize = true;      // off: the plain translation, without any of the optimisations
  uint32_t without = 0;      // a bit for each optimisation that is switched off
  bool loops = true;         // self tail calls become loops
  GradientKind gradient = GradientKind::Paired;
  // Who writes main's value as text if its type has a Show instance of its own: that, or nobody, as the value is taken apart.
  bool own_show = true;
  bool records = false;      // a list of records is taken apart in any case
  uint32_t max_instances = 20000;  // specialisation stops with a diagnostic beyond this many copies of a function

  bool Does(Optimisation what) const { return optimize && !IsOff(what); }
  bool IsOff(Optimisation what) const { return without >> static_cast<uint32_t>(what) & 1; }  // by its name
  void SwitchOff(Optimisation what) { without |= 1u << static_cast<uint32_t>(what); }
};

// Function graphs of everything that `entry` needs. nullopt after errors.
std::optional<fg::Program> BuildFunctionGraphs(core::Program& program, core::VarId entry, Diagnostics& diags,
                                               const LowerOptions& options = {});

// The one tagged graph. Cannot fail on a verified program.
ir::Graph Transform(const fg::Program& program, const LowerOptions& options = {});

}  // namespace df
