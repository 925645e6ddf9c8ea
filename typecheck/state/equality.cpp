// See equality.h.
#include "typecheck/state/equality.h"

#include "typecheck/core/roles.h"
#include "typecheck/state/names.h"

namespace df::check {
namespace {

bool IsConstructorInScope(const State& s, ConId con) {
  const Symbol name = s.program.constructors[con].name;
  auto has = [&](const ModuleExports& exports) {
    auto found = exports.constructors.find(name);
    return found != exports.constructors.end() && found->second == con;
  };
  if (has(s.exports)) return true;
  if (const ConId* found = s.scope->constructors.Find(name); found && *found == con) return true;
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* exports = FindModule(s, import.module.text);
    const Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
    if (exports && has(*exports) && Provides(s, import, {name, qualifier, Span()}, NameKind::Constructor)) return true;
  }
  return false;
}

// By what is known here of metas, assumptions and given constraints.
class CheckedCoercion : public core::Coercion {
 public:
  CheckedCoercion(State& s, const Wanted& wanted, std::vector<Wanted>& stuck) : core::Coercion(s.program), s_(s), wanted_(wanted), stuck_(stuck) {}

 protected:
  TypeId Known(TypeId type) override { return s_.unify.Zonk(type); }
  bool MayOpen(ConId con) override { return s_.options.library || IsConstructorInScope(s_, con); }
  core::Coerced Equal(TypeId a, TypeId b) override {
    const size_t mark = s_.unify.postponed.size();
    if (!s_.unify.Unify(a, b).ok()) return core::Coerced::No;
    const bool later = s_.unify.postponed.size() != mark;
    for (; s_.unify.postponed.size() > mark; s_.unify.postponed.pop_back()) {
      const auto [left, right] = s_.unify.postponed.back();
      stuck_.push_back({s_.program.equality, core::ClassType(s_.program, s_.program.equality, {left, right}), wanted_.origin});
    }
    return later ? core::Coerced::Later : core::Coerced::Yes;
  }
  core::Coerced Given(TypeId a, TypeId b) override {
    if (IsGiven(s_, {wanted_.cls, core::ClassType(s_.program, wanted_.cls, {a, b}), {}}) ||
        IsGiven(s_, {wanted_.cls, core::ClassType(s_.program, wanted_.cls, {b, a}), {}}))
      return core::Coerced::Yes;
    if (!s_.types.HasMeta(a) && !s_.types.HasMeta(b)) return core::Coerced::No;
    stuck_.push_back({wanted_.cls, core::ClassType(s_.program, wanted_.cls, {a, b}), wanted_.origin});
    return core::Coerced::Later;
  }

 private:
  State& s_;
  const Wanted& wanted_;
  std::vector<Wanted>& stuck_;
};

bool Mentions(State& s, TypeId type, TypeId part) {
  type = s.unify.Prune(type);
  if (type == part) return true;
  return s.types.Kind(type) == TypeKind::App && (Mentions(s, s.types.FnOf(type), part) || Mentions(s, s.types.ArgOf(type), part));
}

}  // namespace

void AssumeEqual(State& s, TypeId a, TypeId b, llvm::ArrayRef<TyVarId> hidden) {
  a = s.unify.Prune(a), b = s.unify.Prune(b);
  if (a == b) return;
  const TypeKind ka = s.types.Kind(a), kb = s.types.Kind(b);
  auto assume = [&](TypeId var, TypeId type) {
    llvm::SmallVector<TyVarId> inside;
    s.types.FreeVars(s.unify.Zonk(type), inside);
    if (!llvm::is_contained(inside, s.types.VarOf(var))) s.unify.Assume(s.types.VarOf(var), type);
  };
  if (kb == TypeKind::Var && llvm::is_contained(hidden, s.types.VarOf(b))) return assume(b, a);
  if (ka == TypeKind::Meta || kb == TypeKind::Meta) return void(s.unify.Unify(a, b));
  const bool family = s.types.IsFamily(a);
  if (family || s.types.IsFamily(b)) {
    // Nothing is told by `F a ~ [F a]`.
    const TypeId of = family ? a : b, is = s.unify.Zonk(family ? b : a);
    if (!Mentions(s, is, of)) s.unify.AssumeFamily(of, is);
    else if (!family || !s.types.IsFamily(b)) return;
    else if (!Mentions(s, a, b)) s.unify.AssumeFamily(b, a);
    return;
  }
  if (ka == TypeKind::Var) return assume(a, b);
  if (kb == TypeKind::Var) return assume(b, a);
  if (ka != TypeKind::App || kb != TypeKind::App) return;  // no value is of this constructor here
  AssumeEqual(s, s.types.FnOf(a), s.types.FnOf(b), hidden);
  AssumeEqual(s, s.types.ArgOf(a), s.types.ArgOf(b), hidden);
}

void WantPostponed(State& s, const Origin& origin) {
  for (const auto& [left, right] : std::exchange(s.unify.postponed, {}))
    s.wanted.push_back({s.program.equality, core::ClassType(s.program, s.program.equality, {left, right}), origin});
}

std::pair<TypeId, TypeId> SidesOf(const State& s, TypeId equality) {
  const auto args = core::ClassArguments(s.program, s.program.equality, equality);
  return {args[0], args[1]};
}

Solved SolveEquality(State& s, const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing) {
  const auto [left, right] = SidesOf(s, wanted.type);
  const size_t mark = s.unify.postponed.size();
  if (!s.unify.Unify(left, right).ok()) {
    s.unify.postponed.resize(mark);
    if (missing) *missing = wanted;
    return Solved::No;
  }
  if (s.unify.postponed.size() == mark) return Solved::Yes;
  for (size_t i = mark; i < s.unify.postponed.size(); ++i) {
    const auto [a, b] = s.unify.postponed[i];
    stuck.push_back({wanted.cls, core::ClassType(s.program, wanted.cls, {a, b}), wanted.origin});
  }
  s.unify.postponed.resize(mark);
  return Solved::Stuck;
}

bool IsCoercible(const State& s, ClassId cls) {
  const core::Class& row = s.program.classes[cls];
  return row.args.valid() && Text(row.name) == "Coercible" && cls == KnownClass(s, "Coercible");
}

Solved SolveCoercible(State& s, const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing, std::string* obstacle) {
  const auto args = core::ClassArguments(s.program, wanted.cls, s.unify.Zonk(wanted.type));
  CheckedCoercion coercion(s, wanted, stuck);
  const core::Coerced found = coercion.Compare(args[0], args[1]);
  if (obstacle) *obstacle = coercion.obstacle;
  if (found == core::Coerced::No && missing) *missing = wanted;
  return found == core::Coerced::Yes ? Solved::Yes : found == core::Coerced::No ? Solved::No : Solved::Stuck;
}

}  // namespace df::check
