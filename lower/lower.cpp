// The passes in order, and the verifier after each that makes function graphs. See lower.h.
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
#include "lower/graph/offer_rest.h"
#include "lower/graph/prune.h"
#include "lower/graph/sink_fields.h"
#include "lower/graph/split_types.h"
#include "lower/graph/unbox.h"
#include "lower/mono/field_flow.h"
#include "lower/mono/strictness.h"

namespace df {
namespace {

// What the passes work on: a tree of typed core first, then function graphs.
struct Lowering {
  Lowering(core::Program& program, core::VarId entry, Diagnostics& diags, const LowerOptions& options)
      : tree(program, diags), entry(entry), diags(diags), options(options) {}

  mono::Program tree;
  const core::VarId entry;
  Diagnostics& diags;
  const LowerOptions& options;
  mono::Strictness strictness;
  mono::FieldFlow flow;
  std::optional<fg::Program> graphs;
};

struct Pass {
  PassInfo info;
  bool (*wanted)(const Lowering& at);  // besides its switch; null: always
  bool (*run)(Lowering& at);           // whether to go on
};

constexpr auto kOptimised = [](const Lowering& at) { return at.options.optimize; };
constexpr auto kWithTensors = [](const Lowering& at) { return at.graphs->types.HasTensors(); };
// What computes tensors in batches is one thread.
constexpr auto kWithLoops = [](const Lowering& at) { return at.options.loops && !at.graphs->types.HasTensors(); };
constexpr auto kWithTables = [](const Lowering& at) { return at.options.gradient == GradientKind::Table; };

// A pass that cannot stop the compilation.
template <auto run>
constexpr bool (*kAlways)(Lowering&) = [](Lowering& at) {
  run(at);
  return true;
};
// One of function graphs.
template <void (*run)(fg::Program&)>
constexpr bool (*kOfGraphs)(Lowering&) = [](Lowering& at) {
  run(*at.graphs);
  return true;
};
using enum Optimisation;
constexpr std::nullopt_t kNoSwitch = std::nullopt;

// Each after the other. docs/lowering.md has this table.
const Pass kPasses[] = {
    {{"specialise", kNoSwitch, "every function at the types at which it is needed"}, nullptr,
     [](Lowering& at) { return mono::Specialise(at.tree, at.entry, at.options); }},
    {{"places", kNoSwitch, "actions of the library are done where the program's own code names them"}, nullptr,
     kAlways<[](Lowering& at) { mono::PlaceActions(at.tree); }>},
    {{"arity", kNoSwitch, "definitions get the parameters that their types show, where that loses no sharing"}, nullptr,
     kAlways<[](Lowering& at) { mono::SettleArities(at.tree); }>},
    {{"main", kNoSwitch, "the entry has inputs, not callers, and types that can be read and shown"}, nullptr,
     [](Lowering& at) { return mono::PrepareMain(at.tree); }},
    {{"simplify", kNoSwitch, "inlining, known matches, dead code"}, nullptr,
     kAlways<[](Lowering& at) { mono::Simplify(at.tree, at.options); }>},
    {{"lift", kNoSwitch, "local functions become functions"}, nullptr,
     kAlways<[](Lowering& at) { mono::Lift(at.tree); }>},
    {{"higher-order", kNoSwitch, "functions that are arguments are copied into what they are passed to"}, nullptr,
     kAlways<[](Lowering& at) { mono::SpecialiseHigherOrder(at.tree, at.options); }>},
    {{"defunctionalise", kNoSwitch, "functions that are still values become closures, data with a function that applies them"}, nullptr,
     kAlways<[](Lowering& at) { mono::Defunctionalise(at.tree); }>},
    {{"simplify-closures", kNoSwitch, "as simplify, of what closures are applied to"}, kOptimised,
     kAlways<[](Lowering& at) { mono::Simplify(at.tree, at.options); }>},
    {{"float-in", FloatIn, "bindings move into the branch that needs them, and what is used once to its use"}, nullptr,
     kAlways<[](Lowering& at) {
       mono::FloatIn(at.tree);
       mono::Simplify(at.tree, at.options);
     }>},
    {{"fuse", Fuse, "functions that take apart what others build do the work of both"}, nullptr,
     kAlways<[](Lowering& at) {
       mono::Fuse(at.tree, at.options);
       mono::Simplify(at.tree, at.options);
     }>},
    {{"literals", kNoSwitch, "short string literals are built by one call"}, nullptr,
     kAlways<[](Lowering& at) { mono::BuildShortLiterals(at.tree); }>},
    {{"demand", Demand, "functions are copied for what their callers surely need of their results"}, nullptr,
     kAlways<[](Lowering& at) { mono::CopyByDemand(at.tree); }>},
    {{"join-tests", Search, "long rows of comparisons of one variable with constants become one match"}, nullptr,
     kAlways<[](Lowering& at) { mono::JoinTests(at.tree); }>},
    {{"strictness", kNoSwitch, "which parameters each function surely needs"}, nullptr,
     kAlways<[](Lowering& at) { at.strictness = mono::AnalyseStrictness(at.tree); }>},
    {{"field-flow", Fields, "which fields hold only what was evaluated"}, nullptr,
     kAlways<[](Lowering& at) { at.flow = mono::AnalyseFieldFlow(at.tree); }>},
    {{"build", kNoSwitch, "function graphs; what is not surely needed, not cheap or not total is delayed"}, nullptr,
     [](Lowering& at) {
       at.graphs = mono::Builder(at.tree, at.strictness, at.flow, at.options).Run();
       if (at.graphs) at.tree.DropBodies();
       return at.graphs.has_value();
     }},
    {{"gradients", kNoSwitch, "gradients are functions like others"}, nullptr,
     [](Lowering& at) {
       auto span_of = [&](ir::PosId pos, bool inner) { return inner ? at.tree.InnermostSpanOf(pos) : at.tree.SpanOf(pos); };
       return fg::ExpandGradients(*at.graphs, at.diags, span_of,
                                  {.recompute = at.options.gradient == GradientKind::Recompute, .through = at.options.Does(Through)});
     }},
    {{"delayed-calls", DelayedCalls, "delayed bodies do the work of the short function that they call"}, nullptr,
     kOfGraphs<fg::InlineIntoDelayed>},
    {{"unbox", Unbox, "loops pass the fields of a constructor that they only take apart"}, nullptr,
     kOfGraphs<fg::UnboxParameters>},
    {{"known-matches", Match, "matches on constructors that are known by now are taken"}, nullptr,
     kOfGraphs<fg::TakeKnownMatches>},
    {{"split-types", LateNumbers, "data types of which some values alone have late numbers are two"}, kWithTensors,
     kOfGraphs<fg::SplitTypes>},
    {{"late-numbers", LateNumbers, "numbers that ops on tensors give stay tensors until something looks at them"}, kWithTensors,
     kOfGraphs<fg::KeepNumbersLate>},
    {{"prune", kNoSwitch, "what nobody uses goes, what is the same is once"}, nullptr,
     kAlways<[](Lowering& at) { fg::Prune(*at.graphs, at.options.optimize); }>},
    {{"tables", kNoSwitch, "forward passes and gradients are cut apart, and meet in a table"}, kWithTables,
     kOfGraphs<fg::KeepActivationsInTables>},
    {{"prune-tables", kNoSwitch, "as prune, of what was cut apart"}, kWithTables,
     kAlways<[](Lowering& at) { fg::Prune(*at.graphs, at.options.optimize); }>},
    {{"sink-fields", SinkFields, "fields are read on the sides of a branch that need them"}, nullptr,
     kOfGraphs<fg::SinkFields>},
    {{"offers", Offers, "loops that sum what takes long are cut where others may take the rest"}, kWithLoops,
     kOfGraphs<fg::OfferRestOfLoops>},
};

constexpr OptimisationInfo kOptimisations[] = {
#define DF_OPTIMISATION(name, text, description) {Optimisation::name, text, description},
#include "lower/options/optimisations.def"
};

// In debug builds.
void Check([[maybe_unused]] const fg::Program& graphs, [[maybe_unused]] const char* pass) {
#ifdef DFC_VERIFY
  if (std::string fault = fg::Verify(graphs); !fault.empty())
    llvm::report_fatal_error(llvm::Twine("function graphs after ") + pass + ": " + fault);
#endif
}

}  // namespace

llvm::ArrayRef<OptimisationInfo> Optimisations() { return kOptimisations; }

std::vector<PassInfo> Passes() {
  std::vector<PassInfo> all;
  for (const Pass& pass : kPasses) all.push_back(pass.info);
  return all;
}

std::optional<fg::Program> BuildFunctionGraphs(core::Program& program, core::VarId entry, Diagnostics& diags,
                                               const LowerOptions& options, std::vector<fg::Placed> placed) {
  const uint32_t errors = diags.error_count();
  Lowering at(program, entry, diags, options);
  at.tree.placed = std::move(placed);
  for (const Pass& pass : kPasses) {
    if ((pass.info.off_by && !options.Does(*pass.info.off_by)) || (pass.wanted && !pass.wanted(at))) continue;
    NoteStep(pass.info.name);
    if (!pass.run(at) || diags.error_count() != errors) return std::nullopt;
    if (at.graphs) Check(*at.graphs, pass.info.name);
    else if (at.strictness.params.empty()) at.tree.DropMuchGarbage();  // what was found of expressions names them
  }
  return std::move(at.graphs);
}

}  // namespace df
