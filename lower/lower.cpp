// The passes in order, and the verifiers between them. See lower.h.
#include "lower/lower.h"

#include "lang/budget.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "lower/build/build.h"
#include "lower/gradient/gradient.h"
#include "lower/gradient/table.h"
#include "lower/graph/inline_delayed.h"
#include "lower/graph/known_matches.h"
#include "lower/graph/late_numbers.h"
#include "lower/graph/prune.h"
#include "lower/graph/sink_fields.h"
#include "lower/graph/split_types.h"
#include "lower/graph/unbox.h"
#include "lower/mono/field_flow.h"
#include "lower/mono/strictness.h"

namespace df {
namespace {

struct Pass {
  const char* name;
  const char* description;
  bool (*run)(mono::Program& program, core::VarId entry, const LowerOptions& options);
};

// Each pass says whether to go on.
constexpr Pass kPasses[] = {
    {"specialise", "every function at the types at which it is needed",
     [](mono::Program& program, core::VarId entry, const LowerOptions& options) {
       return mono::Specialise(program, entry, options);
     }},
    {"places", "actions of the library are done where the program's own code names them",
     [](mono::Program& program, core::VarId, const LowerOptions&) {
       mono::PlaceActions(program);
       return true;
     }},
    {"arity", "definitions get the parameters that their types show, where that loses no sharing",
     [](mono::Program& program, core::VarId, const LowerOptions&) {
       mono::SettleArities(program);
       return true;
     }},
    {"main", "the entry has inputs, not callers, and types that can be read and shown",
     [](mono::Program& program, core::VarId, const LowerOptions&) { return mono::PrepareMain(program); }},
    {"simplify", "inlining, known matches, dead code",
     [](mono::Program& program, core::VarId, const LowerOptions& options) {
       mono::Simplify(program, options);
       return true;
     }},
    {"lift", "local functions become functions",
     [](mono::Program& program, core::VarId, const LowerOptions&) {
       mono::Lift(program);
       return true;
     }},
    {"higher-order", "functions that are arguments are copied into what they are passed to",
     [](mono::Program& program, core::VarId, const LowerOptions& options) {
       mono::SpecialiseHigherOrder(program, options);
       return true;
     }},
    {"defunctionalise", "functions that are still values become closures, data with a function that applies them",
     [](mono::Program& program, core::VarId, const LowerOptions& options) {
       mono::Defunctionalise(program);
       if (options.optimize) mono::Simplify(program, options);
       return true;
     }},
    {"float-in", "bindings move into the branch that needs them",
     [](mono::Program& program, core::VarId, const LowerOptions& options) {
       if (!options.Does(Optimisation::FloatIn)) return true;
       mono::FloatIn(program);
       mono::Simplify(program, options);  // what is used once moves to its use
       return true;
     }},
    {"fuse", "functions that take apart what others build do the work of both",
     [](mono::Program& program, core::VarId, const LowerOptions& options) {
       if (!options.Does(Optimisation::Fuse)) return true;
       mono::Fuse(program, options);
       mono::Simplify(program, options);
       return true;
     }},
    {"literals", "short string literals are built by one call",
     [](mono::Program& program, core::VarId, const LowerOptions&) {
       mono::BuildShortLiterals(program);
       return true;
     }},
    {"demand", "functions are copied for what their callers surely need of their results",
     [](mono::Program& program, core::VarId, const LowerOptions& options) {
       if (options.Does(Optimisation::Demand)) mono::CopyByDemand(program);
       return true;
     }},
    {"join-tests", "long rows of comparisons of one variable with constants become one match",
     [](mono::Program& program, core::VarId, const LowerOptions& options) {
       if (options.Does(Optimisation::Search)) mono::JoinTests(program);
       return true;
     }},
};

constexpr OptimisationInfo kOptimisations[] = {
#define DF_OPTIMISATION(name, text, description) {Optimisation::name, text, description},
#include "lower/options/optimisations.def"
};

// In debug builds.
void Check([[maybe_unused]] const fg::Program& graphs, [[maybe_unused]] const char* when) {
#ifdef DFC_VERIFY
  if (std::string fault = fg::Verify(graphs); !fault.empty())
    llvm::report_fatal_error(llvm::Twine("function graphs ") + when + ": " + fault);
#endif
}

}  // namespace

llvm::ArrayRef<OptimisationInfo> Optimisations() { return kOptimisations; }

std::optional<fg::Program> BuildFunctionGraphs(core::Program& program, core::VarId entry, Diagnostics& diags,
                                               const LowerOptions& options) {
  uint32_t errors = diags.error_count();
  mono::Program tree(program, diags);
  for (const Pass& pass : kPasses) {
    NoteStep(pass.name);
    if (!pass.run(tree, entry, options) || diags.error_count() != errors) return std::nullopt;
    tree.DropMuchGarbage();
  }
  NoteStep("strictness");
  mono::Strictness strictness = mono::AnalyseStrictness(tree);
  mono::FieldFlow flow;
  if (options.Does(Optimisation::Fields)) flow = mono::AnalyseFieldFlow(tree);
  NoteStep("build function graphs");
  std::optional<fg::Program> graphs = mono::Builder(tree, strictness, flow, options).Run();
  if (!graphs) return std::nullopt;
  tree.DropBodies();
  Check(*graphs, "after building");
  NoteStep("gradients");
  fg::GradientOptions gradients{.recompute = options.gradient == GradientKind::Recompute, .through = options.Does(Optimisation::Through)};
  if (!fg::ExpandGradients(*graphs, diags, [&](ir::PosId pos, bool inner) { return inner ? tree.InnermostSpanOf(pos) : tree.SpanOf(pos); }, gradients)) return std::nullopt;
  Check(*graphs, "after gradients");
  NoteStep("improve function graphs");
  if (options.Does(Optimisation::DelayedCalls)) {
    fg::InlineIntoDelayed(*graphs);
    Check(*graphs, "after inlining into delayed bodies");
  }
  if (options.Does(Optimisation::Unbox)) {
    fg::UnboxParameters(*graphs);
    Check(*graphs, "after constructors were passed in parts");
  }
  if (options.Does(Optimisation::Match)) {
    fg::TakeKnownMatches(*graphs);
    Check(*graphs, "after known matches");
  }
  if (options.Does(Optimisation::LateNumbers) && graphs->types.HasTensors()) {
    fg::SplitTypes(*graphs);
    Check(*graphs, "after types were split");
    fg::KeepNumbersLate(*graphs);
    Check(*graphs, "after keeping numbers late");
  }
  fg::Prune(*graphs, options.optimize);
  Check(*graphs, "after pruning");
  if (options.gradient == GradientKind::Table) {
    fg::KeepActivationsInTables(*graphs);
    Check(*graphs, "after forward passes and gradients were cut apart");
    fg::Prune(*graphs, options.optimize);
    Check(*graphs, "after pruning again");
  }
  if (options.Does(Optimisation::SinkFields)) {
    fg::SinkFields(*graphs);
    Check(*graphs, "after fields were moved to where they are needed");
  }
  return graphs;
}

}  // namespace df
