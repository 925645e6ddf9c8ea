// Constraints by instances and given constraints. Nothing is reported here (solve/constraints.h does).
#include "typecheck/state/instances.h"

#include "lang/budget.h"
#include "llvm/ADT/ScopeExit.h"
#include "typecheck/state/equality.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

constexpr int kMaxInstanceDepth = 200;  // `instance C [[a]] => C [a]` would reduce for ever

// The instance for a type: of several that fit, the one that says most. Its result is that of the last case of Fit, or
// of another instance that may fit better.
bool MoreParticular(State& s, TypeId head, InstanceId than) {
  const core::Instance& other = s.program.instances[than];
  llvm::SmallVector<TypeId, 4> variables(other.tyvars.size());
  return head != other.head && Fits(s, other.head, head, other.tyvars, variables) == Fit::Yes;
}

// The library's Typeable, as the compiler knows all types, and IArray, as there is one type of array.
bool HoldsOfAll(const State& s, ClassId cls) {
  const core::Class& row = s.program.classes[cls];
  return row.methods.size() == 1 && Text(s.program.vars[row.methods[0]].name) == "primHoldsOfAll";
}

}  // namespace

bool Entails(const State& s, ClassId cls, ClassId by) {
  CheckBudget();
  if (cls == by) return true;
  // A class may be reached in many ways, and is looked at once.
  llvm::SmallVector<ClassId, 16> reached{by};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (ClassId super : s.program.classes[reached[i]].superclasses) {
      if (super == cls) return true;
      if (!llvm::is_contained(reached, super)) reached.push_back(super);
    }
  }
  return false;
}

void PushGiven(State& s, ClassId cls, TypeId type) {
  if (cls == s.program.equality) {
    const auto [left, right] = SidesOf(s, type);
    return AssumeEqual(s, left, right);
  }
  if (llvm::is_contained(s.givens, std::pair(cls, type))) return;  // with all its superclasses
  s.givens.push_back({cls, type});
  for (ClassId super : s.program.classes[cls].superclasses) PushGiven(s, super, type);
  const std::vector<core::Pred> contexts = s.program.classes[cls].contexts;
  for (const core::Pred& pred : contexts)
    PushGiven(s, pred.cls, s.types.Substitute(pred.type, s.program.classes[cls].params, core::ClassArguments(s.program, cls, s.unify.Zonk(type))));
}

void FixedVars(const Types& types, TypeId type, llvm::SmallVectorImpl<TyVarId>& out) {
  if (!types.HasFamily(type)) return types.FreeVars(type, out);
  if (types.IsFamily(type)) return;
  if (types.Kind(type) == TypeKind::Forall) return FixedVars(types, types.RawBody(type), out);
  if (types.Kind(type) != TypeKind::App) return types.FreeVars(type, out);
  FixedVars(types, types.FnOf(type), out);
  FixedVars(types, types.ArgOf(type), out);
}

void AddDetermined(State& s, llvm::ArrayRef<core::Pred> preds, llvm::SmallVectorImpl<TyVarId>& vars) {
  for (bool more = true; more;) {
    const size_t before = vars.size();
    for (const core::Pred& pred : preds) {
      const auto args = core::ClassArguments(s.program, pred.cls, pred.type);
      if (pred.cls == s.program.equality) {
        // `F a ~ b`: where one side is known the other is, but for what stands below a family.
        for (const bool first : {true, false}) {
          llvm::SmallVector<TyVarId> from;
          s.types.FreeVars(args[first ? 0 : 1], from);
          if (llvm::all_of(from, [&](TyVarId var) { return llvm::is_contained(vars, var); })) FixedVars(s.types, args[first ? 1 : 0], vars);
        }
        continue;
      }
      for (const core::Dependency& dependency : s.program.classes[pred.cls].dependencies) {
        llvm::SmallVector<TyVarId> from;
        for (uint32_t i : dependency.from)
          if (i < args.size()) s.types.FreeVars(args[i], from);
        if (!llvm::all_of(from, [&](TyVarId var) { return llvm::is_contained(vars, var); })) continue;
        for (uint32_t i : dependency.to)
          if (i < args.size()) s.types.FreeVars(args[i], vars);
      }
    }
    more = vars.size() != before;
  }
}

bool ImprovePair(State& s, const Wanted& one, const Wanted& other) {
  if (one.cls != other.cls || s.program.classes[one.cls].dependencies.empty()) return false;
  llvm::SmallVector<TypeId, 4> mine, theirs;
  s.unify.Head(one.type, &mine);
  s.unify.Head(other.type, &theirs);
  const uint32_t before = s.unify.epoch();
  for (const core::Dependency& dependency : s.program.classes[one.cls].dependencies) {
    if (!llvm::all_of(dependency.from, [&](uint32_t i) { return s.unify.Zonk(mine[i]) == s.unify.Zonk(theirs[i]); })) continue;
    for (uint32_t i : dependency.to) s.unify.Unify(mine[i], theirs[i]);
  }
  return s.unify.epoch() != before;
}

bool Improve(State& s, const Wanted& wanted) {
  const core::Class& cls = s.program.classes[wanted.cls];
  if (cls.dependencies.empty() || !s.types.HasMeta(s.unify.Zonk(wanted.type))) return false;
  bool improved = false;
  for (const auto& [given, type] : s.givens)
    if (given == wanted.cls) improved |= ImprovePair(s, wanted, {given, type, {}});
  auto list = s.env.instances.find({wanted.cls.index, cls.args.index});
  if (list == s.env.instances.end()) return improved;
  llvm::SmallVector<TypeId, 4> args;
  s.unify.Head(wanted.type, &args);
  const uint32_t before = s.unify.epoch();
  for (const core::Dependency& dependency : cls.dependencies)
    for (InstanceId id : list->second) {
      const core::Instance& instance = s.program.instances[id];
      const auto head = core::ClassArguments(s.program, wanted.cls, instance.head);
      llvm::SmallVector<TypeId, 4> bound(instance.tyvars.size());
      if (!llvm::all_of(dependency.from, [&](uint32_t i) { return Fits(s, head[i], args[i], instance.tyvars, bound) == Fit::Yes; })) continue;
      // What fits already is not told anew: that would never end.
      llvm::SmallVector<TypeId, 4> fitted = bound;
      if (llvm::all_of(dependency.to, [&](uint32_t i) { return Fits(s, head[i], args[i], instance.tyvars, fitted) == Fit::Yes; })) break;
      for (TypeId& type : bound)
        if (!type.valid()) type = s.unify.Fresh();
      for (uint32_t i : dependency.to) s.unify.Unify(args[i], s.types.Substitute(head[i], instance.tyvars, bound));
      break;
    }
  return improved || s.unify.epoch() != before;
}

bool IsGiven(State& s, const Wanted& wanted) {
  TypeId type = s.unify.Zonk(wanted.type);
  return llvm::any_of(s.givens, [&](const auto& given) {
    return given.first == wanted.cls && s.unify.Zonk(given.second) == type;
  });
}

Fit Fits(State& s, TypeId head, TypeId type, llvm::ArrayRef<TyVarId> vars, llvm::MutableArrayRef<TypeId> bound) {
  CheckBudget();
  type = s.unify.Prune(type);
  if (s.types.Kind(head) == TypeKind::Var) {
    TypeId& place = bound[llvm::find(vars, s.types.VarOf(head)) - vars.begin()];
    if (!place.valid()) {
      place = type;
      return Fit::Yes;
    }
    // The same variable twice: `C (a, a)`.
    TypeId first = s.unify.Zonk(place), second = s.unify.Zonk(type);
    if (first == second) return Fit::Yes;
    if (s.types.HasMeta(first) || s.types.HasMeta(second)) return Fit::Later;
    return s.types.HasVar(first) || s.types.HasVar(second) ? Fit::Rigid : Fit::No;
  }
  if (s.types.Kind(type) == TypeKind::Meta) return Fit::Later;
  if (s.types.IsFamily(type)) return s.types.HasMeta(type) ? Fit::Later : Fit::Rigid;
  if (s.types.Kind(type) == TypeKind::Var) return Fit::Rigid;
  if (s.types.Kind(head) != TypeKind::App) return head == type ? Fit::Yes : Fit::No;
  if (s.types.Kind(type) != TypeKind::App) return Fit::No;
  Fit fn = Fits(s, s.types.FnOf(head), s.types.FnOf(type), vars, bound);
  if (fn == Fit::No) return fn;
  return std::min(fn, Fits(s, s.types.ArgOf(head), s.types.ArgOf(type), vars, bound));
}

Fit FindInstance(State& s, ClassId cls, TypeId type, InstanceId& found, llvm::SmallVectorImpl<TypeId>& bound) {
  auto list = s.env.instances.find({cls.index, s.types.ConOf(s.unify.Head(type)).index});
  if (list == s.env.instances.end()) return Fit::No;
  Fit result = Fit::No;
  llvm::SmallVector<std::pair<InstanceId, Fit>, 2> open;  // that may fit later
  for (InstanceId id : list->second) {
    const core::Instance& instance = s.program.instances[id];
    llvm::SmallVector<TypeId, 4> variables(instance.tyvars.size());
    Fit fit = Fits(s, instance.head, type, instance.tyvars, variables);
    if (fit == Fit::Later || fit == Fit::Rigid) open.push_back({id, fit});
    if (fit != Fit::Yes || (result == Fit::Yes && !MoreParticular(s, instance.head, found))) continue;
    result = fit;
    found = id;
    bound = variables;
  }
  for (const auto& [id, fit] : open)
    if (result != Fit::Yes || MoreParticular(s, s.program.instances[id].head, found)) return fit;
  return result;
}

Solved Solve(State& s, const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing, int depth) {
  CheckBudget();
  if (HoldsOfAll(s, wanted.cls)) return Solved::Yes;
  if (wanted.cls == s.program.equality) return SolveEquality(s, wanted, stuck, missing);
  if (IsCoercible(s, wanted.cls)) return SolveCoercible(s, wanted, stuck, missing);
  llvm::SmallVector<TypeId, 4> args;
  TypeId head = s.unify.Head(wanted.type, &args);
  if (TypeId of; s.types.IsTangent(s.unify.Prune(wanted.type), &of)) {
    // Settled once it is known what it is the tangent of; for a variable of a signature, that is never.
    if (s.types.HasMeta(s.unify.Zonk(of))) {
      stuck.push_back(wanted);
      return Solved::Stuck;
    }
    if (IsGiven(s, wanted)) return Solved::Yes;
    if (missing) *missing = wanted;
    return Solved::No;
  }
  // Of what a family has not computed nothing is known but what is given.
  if (s.types.IsFamily(s.unify.Prune(wanted.type))) {
    const TypeId whole = s.unify.Zonk(wanted.type);
    if (IsGiven(s, wanted)) return Solved::Yes;
    if (s.types.HasMeta(whole)) {
      stuck.push_back(wanted);
      return Solved::Stuck;
    }
    if (missing) *missing = wanted;
    return Solved::No;
  }
  switch (s.types.Kind(head)) {
    case TypeKind::Meta:
      stuck.push_back(wanted);
      if (!args.empty()) s.unify.MarkApplied(s.types.MetaOf(head));
      return Solved::Stuck;
    case TypeKind::Var:
      if (IsGiven(s, wanted)) return Solved::Yes;
      if (missing) *missing = wanted;
      return Solved::No;
    case TypeKind::Con: {
      Improve(s, wanted);
      // FlexibleContexts: `Eq [a] => ..`
      if (llvm::any_of(s.givens, [&](const auto& given) { return s.types.Head(given.second) == s.types.ConOf(head); }) &&
          IsGiven(s, wanted))
        return Solved::Yes;
      // What one instance asks for another may ask for again, and both of them for twice as much.
      const TypeId whole = depth > 0 ? s.unify.Zonk(wanted.type) : wanted.type;
      const bool ground = !s.types.HasMeta(whole) && !s.types.HasVar(whole);
      if (ground && s.solved.contains({wanted.cls.index, whole.index})) return Solved::Yes;
      InstanceId found;
      llvm::SmallVector<TypeId, 4> bound;
      Fit fit = depth > kMaxInstanceDepth ? Fit::No : FindInstance(s, wanted.cls, wanted.type, found, bound);
      if (fit == Fit::Later && wanted.cls == KnownClass(s, "IsString") && args.size() == 1) {
        // As by GHC's `a ~ Char => IsString [a]`.
        if (s.unify.Unify(args[0], s.types.Scalar(Builtin::Char)).ok()) return Solved::Yes;
      }
      if (fit == Fit::Later) {
        stuck.push_back(wanted);
        return Solved::Stuck;
      }
      if (fit != Fit::Yes) {
        if (missing) *missing = wanted;
        return Solved::No;
      }
      const core::Instance& instance = s.program.instances[found];
      size_t solving = s.solving.size();
      if (instance.grows) {
        std::pair<ClassId, TypeId> goal{wanted.cls, s.unify.Zonk(wanted.type)};
        if (auto same = llvm::find(s.solving, goal); same != s.solving.end()) {
          s.assumed = std::min<size_t>(s.assumed, same - s.solving.begin());
          return Solved::Yes;
        }
        s.solving.push_back(goal);
      }
      auto restore = llvm::make_scope_exit([&] { s.solving.resize(solving); });
      Solved result = Solved::Yes;
      for (const core::Pred& pred : instance.context) {
        Wanted part{pred.cls, s.types.Substitute(pred.type, instance.tyvars, bound), wanted.origin};
        Solved solved = Solve(s, part, stuck, missing, depth + 1);
        if (solved == Solved::No) return solved;
        if (solved == Solved::Stuck) result = solved;
      }
      // Not what holds only if a goal around it does.
      if (s.assumed >= solving) s.assumed = SIZE_MAX;
      if (ground && result == Solved::Yes && s.assumed == SIZE_MAX) s.solved.insert({wanted.cls.index, whole.index});
      return result;
    }
    default: return Solved::Yes;
  }
}

bool HasInstance(State& s, ClassId cls, TypeId type) {
  std::vector<Wanted> stuck;
  // A class of several parameters is of types of its own.
  if (cls.valid() && s.program.classes[cls].args.valid() && s.types.Head(type) != s.program.classes[cls].args) return false;
  return cls.valid() && Solve(s, {cls, type, {}}, stuck, nullptr) == Solved::Yes;
}

}  // namespace df::check
