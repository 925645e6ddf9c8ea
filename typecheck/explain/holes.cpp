// Typed holes: `_` and `_name` where an expression is expected. The message tells the type of what is missing, the local
// variables with their types, and which names in scope would fit.
#include "typecheck/explain/holes.h"

#include "typecheck/explain/explain.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/names.h"
#include "typecheck/state/print.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

constexpr size_t kShownLocals = 6, kShownFits = 6;

// Whether a value of the scheme may stand in the hole as it is.
bool FitsHole(State& s, const core::Scheme& scheme, const TypedHole& hole) {
  llvm::SmallVector<TypeId> bound(scheme.tyvars.size());
  TypeId type = s.unify.Zonk(scheme.type);
  if (scheme.tyvars.empty() ? type != hole.type : Fits(s, type, hole.type, scheme.tyvars, bound) != Fit::Yes) return false;
  for (TypeId at : bound)
    if (!at.valid()) return false;
  const size_t mark = s.givens.size();
  s.givens.insert(s.givens.end(), hole.givens.begin(), hole.givens.end());
  const bool holds = llvm::all_of(scheme.preds, [&](const core::Pred& pred) {
    std::vector<Wanted> stuck;
    Wanted missing;
    return Solve(s, {pred.cls, s.types.Substitute(pred.type, scheme.tyvars, bound), {}}, stuck, &missing) == Solved::Yes && stuck.empty();
  });
  s.givens.resize(mark);
  return holds;
}

// The names that fit, the nearest first: local variables, what the module defines, what is imported, and of these those
// whose own type says most.
std::vector<std::string> FitsOf(State& s, const TypedHole& hole) {
  struct Found {
    size_t rank;
    std::string_view name;
    std::string shown;
  };
  std::vector<Found> found;
  llvm::DenseSet<uint32_t> hidden;
  for (VarId local : hole.locals) {
    const core::Var& var = s.program.vars[local];
    hidden.insert(var.name.index);
    if (!s.broken.count(local.index) && FitsHole(s, var.scheme, hole)) found.push_back({0, Text(var.name), PrintName(var.name)});
  }
  // A bare variable, as the type of `undefined`, fits everywhere and says nothing.
  auto says_nothing = [&](const core::Scheme& scheme) { return s.types.Kind(scheme.type) == TypeKind::Var; };
  auto rank = [&](bool own, const core::Scheme& scheme) { return own ? 1 : 2 + scheme.tyvars.size(); };
  s.scope->values.ForEach([&](Symbol name, VarId var) {
    if (hidden.count(name.index) || s.broken.count(var.index) || IsLibraryOnly(name)) return;
    const core::Scheme& scheme = s.program.vars[var].scheme;
    if (!scheme.type.valid() || says_nothing(scheme) || !FitsHole(s, scheme, hole)) return;
    found.push_back({rank(!s.program.vars[var].from_library, scheme), Text(name), PrintName(name)});
  });
  s.scope->constructors.ForEach([&](Symbol name, ConId con) {
    if (IsLibraryOnly(name)) return;
    core::Scheme scheme = SchemeOf(s.program, con);
    if (FitsHole(s, scheme, hole)) found.push_back({rank(s.exports.constructors.count(name) != 0, scheme), Text(name), PrintName(name)});
  });
  // What is imported qualified alone: `M.lookup`.
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* exports = import.qualified ? FindModule(s, import.module.text) : nullptr;
    if (!exports) continue;
    const Symbol alias = (import.as.text.valid() ? import.as : import.module).text;
    for (const auto& [name, var] : exports->values) {
      const core::Scheme& scheme = s.program.vars[var].scheme;
      if (IsLibraryOnly(name) || says_nothing(scheme) || !Provides(s, import, {name, alias, Span()}, NameKind::Value)) continue;
      const VarId* plain = s.scope->values.Find(name);
      if ((plain && *plain == var) || !FitsHole(s, scheme, hole)) continue;
      found.push_back({rank(!s.program.vars[var].from_library, scheme), Text(name), fmt::format("{}.{}", Text(alias), Text(name))});
    }
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return std::tie(a.rank, a.name) < std::tie(b.rank, b.name); });
  std::vector<std::string> names;
  for (const Found& fit : found) names.push_back(fmt::format("`{}`", fit.shown));
  return names;
}

}  // namespace

bool IsHole(State& s, const ast::Name& name) {
  return !s.options.library && !name.qualifier.valid() && Text(name.text)[0] == '_' && !LookUpValue(s, name).valid();
}

void ReportHoles(State& s) {
  for (TypedHole& hole : s.holes) {
    hole.type = s.unify.Zonk(hole.type);
    std::vector<TypeId> types{hole.type};
    std::vector<VarId> told;
    for (VarId local : hole.locals) {
      if (!s.program.vars[local].span.valid() || told.size() == kShownLocals) continue;
      told.push_back(local);
      types.push_back(s.unify.Zonk(s.program.vars[local].scheme.type));
    }
    const std::vector<std::string> shown = PrintTypes(s, types);
    Diagnostics& diag = s.Error(Diag::TypedHole, hole.span, Text(hole.name), shown[0]);
    for (size_t i = 0; i < told.size(); ++i)
      diag.Note(s.program.vars[told[i]].span, fmt::format("`{} :: {}` is bound here", PrintName(s.program.vars[told[i]].name), shown[i + 1]));
    // Of a type of which nothing is known everything fits.
    std::vector<std::string> fits;
    if (s.types.Kind(hole.type) != TypeKind::Meta) fits = FitsOf(s, hole);
    if (!fits.empty()) {
      const bool more = fits.size() > kShownFits;
      if (more) fits.resize(kShownFits);
      diag.Hint(fmt::format("{}: {}", more ? "among what fits" : "what fits", fmt::join(fits, ", ")));
    } else if (Text(hole.name) == "_") {
      diag.Hint("a value that is used has a name; `_` as an expression asks what is missing");
    }
  }
}

}  // namespace df::check
