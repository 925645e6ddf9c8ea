// Typed holes: `_` and `_name` where an expression is expected. The message tells the type of what is missing, the local
// variables with their types, and which names in scope would fit.
#include "typecheck/checker.h"

namespace df::check {
namespace {

constexpr size_t kShownLocals = 6, kShownFits = 6;

}  // namespace

bool Checker::IsHole(const ast::Name& name) {
  return !options_.library && !name.qualifier.valid() && Text(name.text)[0] == '_' && !FindValue(name, false).valid();
}

core::Expr* Checker::CheckHole(const ast::Name& name, Span span, TypeId expected) {
  TypedHole hole{name.text, span, expected, {}, givens_};
  llvm::DenseSet<uint32_t> seen;
  for (size_t i = local_trail_.size(); i-- > 0;)
    if (Symbol local = local_trail_[i]; seen.insert(local.index).second) hole.locals.push_back(locals_[local.index].back());
  holes_.push_back(std::move(hole));
  // It is told at the end of the module. Until then nothing else is said of what stands around it.
  tainted_.push_back(region_.valid() ? region_ : span);
  unbound_.push_back(span);
  ++unreported_;
  return ErrorNode(expected, span);
}

// Whether a value of the scheme may stand in the hole as it is.
bool Checker::FitsHole(const core::Scheme& scheme, const TypedHole& hole) {
  llvm::SmallVector<TypeId> bound(scheme.tyvars.size());
  TypeId type = unify_.Zonk(scheme.type);
  if (scheme.tyvars.empty() ? type != hole.type : Fits(type, hole.type, scheme.tyvars, bound) != Fit::Yes) return false;
  for (TypeId at : bound)
    if (!at.valid()) return false;
  const size_t mark = givens_.size();
  givens_.insert(givens_.end(), hole.givens.begin(), hole.givens.end());
  const bool holds = llvm::all_of(scheme.preds, [&](const core::Pred& pred) {
    std::vector<Wanted> stuck;
    Wanted missing;
    return Solve({pred.cls, types_.Substitute(pred.type, scheme.tyvars, bound), {}}, stuck, &missing) == Solved::Yes && stuck.empty();
  });
  givens_.resize(mark);
  return holds;
}

// The names that fit, the nearest first: local variables, what the module defines, what is imported, and of these those
// whose own type says most.
std::vector<std::string> Checker::FitsOf(const TypedHole& hole) {
  struct Found {
    size_t rank;
    std::string_view name;
    std::string shown;
  };
  std::vector<Found> found;
  llvm::DenseSet<uint32_t> hidden;
  for (VarId local : hole.locals) {
    const core::Var& var = program_.vars[local];
    hidden.insert(var.name.index);
    if (!broken_.count(local.index) && FitsHole(var.scheme, hole)) found.push_back({0, Text(var.name), PrintName(var.name)});
  }
  // A bare variable, as the type of `undefined`, fits everywhere and says nothing.
  auto says_nothing = [&](const core::Scheme& scheme) { return types_.Kind(scheme.type) == TypeKind::Var; };
  auto rank = [&](bool own, const core::Scheme& scheme) { return own ? 1 : 2 + scheme.tyvars.size(); };
  scope_->values.ForEach([&](Symbol name, VarId var) {
    if (hidden.count(name.index) || broken_.count(var.index) || IsLibraryOnly(name)) return;
    const core::Scheme& scheme = program_.vars[var].scheme;
    if (!scheme.type.valid() || says_nothing(scheme) || !FitsHole(scheme, hole)) return;
    found.push_back({rank(!program_.vars[var].from_library, scheme), Text(name), PrintName(name)});
  });
  scope_->constructors.ForEach([&](Symbol name, ConId con) {
    if (IsLibraryOnly(name)) return;
    core::Scheme scheme = SchemeOf(program_, con);
    if (FitsHole(scheme, hole)) found.push_back({rank(exports_.constructors.count(name) != 0, scheme), Text(name), PrintName(name)});
  });
  // What is imported qualified alone: `M.lookup`.
  for (const ast::Import& import : module_.imports) {
    const ModuleExports* exports = import.qualified ? FindModule(import.module.text) : nullptr;
    if (!exports) continue;
    const Symbol alias = (import.as.text.valid() ? import.as : import.module).text;
    for (const auto& [name, var] : exports->values) {
      const core::Scheme& scheme = program_.vars[var].scheme;
      if (IsLibraryOnly(name) || says_nothing(scheme) || !Provides(import, {name, alias, Span()}, NameKind::Value)) continue;
      const VarId* plain = scope_->values.Find(name);
      if ((plain && *plain == var) || !FitsHole(scheme, hole)) continue;
      found.push_back({rank(!program_.vars[var].from_library, scheme), Text(name), fmt::format("{}.{}", Text(alias), Text(name))});
    }
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return std::tie(a.rank, a.name) < std::tie(b.rank, b.name); });
  std::vector<std::string> names;
  for (const Found& fit : found) names.push_back(fmt::format("`{}`", fit.shown));
  return names;
}

void Checker::ReportHoles() {
  for (TypedHole& hole : holes_) {
    hole.type = unify_.Zonk(hole.type);
    std::vector<TypeId> types{hole.type};
    std::vector<VarId> told;
    for (VarId local : hole.locals) {
      if (!program_.vars[local].span.valid() || told.size() == kShownLocals) continue;
      told.push_back(local);
      types.push_back(unify_.Zonk(program_.vars[local].scheme.type));
    }
    const std::vector<std::string> shown = PrintTypes(types);
    Diagnostics& diag = Error(Diag::TypedHole, hole.span, Text(hole.name), shown[0]);
    for (size_t i = 0; i < told.size(); ++i)
      diag.Note(program_.vars[told[i]].span, fmt::format("`{} :: {}` is bound here", PrintName(program_.vars[told[i]].name), shown[i + 1]));
    // Of a type of which nothing is known everything fits.
    std::vector<std::string> fits;
    if (types_.Kind(hole.type) != TypeKind::Meta) fits = FitsOf(hole);
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
