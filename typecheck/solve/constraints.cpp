// Constraints: solving by instances and given constraints, what a scheme keeps, defaulting.
#include "lang/budget.h"
#include "llvm/ADT/ScopeExit.h"
#include "typecheck/checker.h"

namespace df::check {
namespace {

constexpr int kMaxInstanceDepth = 200;  // `instance C [[a]] => C [a]` would reduce for ever

}  // namespace

void Checker::Require(ClassId cls, TypeId type, const Origin& origin) {
  if (!cls.valid()) return;
  wanted_.push_back({cls, type, origin});
  type = unify_.Prune(type);
  if (types_.Kind(type) != TypeKind::Meta || options_.library) return;
  if (ClassId num = KnownClass("Num"); num.valid() && Entails(num, cls))
    unify_.MarkNumber(types_.MetaOf(type), origin.span,
                      origin.kind == Origin::Number || origin.kind == Origin::Fraction ||
                          origin.kind == Origin::LiteralPattern);
}

bool Checker::Entails(ClassId cls, ClassId by) const {
  CheckBudget();
  if (cls == by) return true;
  // A class may be reached in many ways, and is looked at once.
  llvm::SmallVector<ClassId, 16> reached{by};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (ClassId super : program_.classes[reached[i]].superclasses) {
      if (super == cls) return true;
      if (!llvm::is_contained(reached, super)) reached.push_back(super);
    }
  }
  return false;
}

void Checker::PushGiven(ClassId cls, TypeId type) {
  if (llvm::is_contained(givens_, std::pair(cls, type))) return;  // with all its superclasses
  givens_.push_back({cls, type});
  for (ClassId super : program_.classes[cls].superclasses) PushGiven(super, type);
}

bool Checker::IsGiven(const Wanted& wanted) {
  TypeId type = unify_.Zonk(wanted.type);
  return llvm::any_of(givens_, [&](const auto& given) {
    return given.first == wanted.cls && unify_.Zonk(given.second) == type;
  });
}

Checker::Fit Checker::Fits(TypeId head, TypeId type, llvm::ArrayRef<TyVarId> vars, llvm::MutableArrayRef<TypeId> bound) {
  CheckBudget();
  type = unify_.Prune(type);
  if (types_.Kind(head) == TypeKind::Var) {
    TypeId& place = bound[llvm::find(vars, types_.VarOf(head)) - vars.begin()];
    if (!place.valid()) {
      place = type;
      return Fit::Yes;
    }
    // The same variable twice: `C (a, a)`.
    TypeId first = unify_.Zonk(place), second = unify_.Zonk(type);
    if (first == second) return Fit::Yes;
    if (types_.HasMeta(first) || types_.HasMeta(second)) return Fit::Later;
    return types_.HasVar(first) || types_.HasVar(second) ? Fit::Rigid : Fit::No;
  }
  if (types_.Kind(type) == TypeKind::Meta) return Fit::Later;
  if (types_.Kind(type) == TypeKind::Var) return Fit::Rigid;
  if (types_.Kind(head) != TypeKind::App) return head == type ? Fit::Yes : Fit::No;
  if (types_.Kind(type) != TypeKind::App) return Fit::No;
  Fit fn = Fits(types_.FnOf(head), types_.FnOf(type), vars, bound);
  if (fn == Fit::No) return fn;
  return std::min(fn, Fits(types_.ArgOf(head), types_.ArgOf(type), vars, bound));
}

Checker::Fit Checker::FindInstance(ClassId cls, TypeId type, InstanceId& found, llvm::SmallVectorImpl<TypeId>& bound) {
  auto list = env_.instances.find({cls.index, types_.ConOf(unify_.Head(type)).index});
  if (list == env_.instances.end()) return Fit::No;
  Fit result = Fit::No;
  llvm::SmallVector<std::pair<InstanceId, Fit>, 2> open;  // that may fit later
  for (InstanceId id : list->second) {
    const core::Instance& instance = program_.instances[id];
    llvm::SmallVector<TypeId, 4> variables(instance.tyvars.size());
    Fit fit = Fits(instance.head, type, instance.tyvars, variables);
    if (fit == Fit::Later || fit == Fit::Rigid) open.push_back({id, fit});
    if (fit != Fit::Yes || (result == Fit::Yes && !MoreParticular(instance.head, found))) continue;
    result = fit;
    found = id;
    bound = variables;
  }
  for (const auto& [id, fit] : open)
    if (result != Fit::Yes || MoreParticular(program_.instances[id].head, found)) return fit;
  return result;
}

bool Checker::MoreParticular(TypeId head, InstanceId than) {
  const core::Instance& other = program_.instances[than];
  llvm::SmallVector<TypeId, 4> variables(other.tyvars.size());
  return head != other.head && Fits(other.head, head, other.tyvars, variables) == Fit::Yes;
}

Checker::Solved Checker::Solve(const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing, int depth) {
  CheckBudget();
  llvm::SmallVector<TypeId, 4> args;
  TypeId head = unify_.Head(wanted.type, &args);
  if (TypeId of; types_.IsTangent(unify_.Prune(wanted.type), &of)) {
    // Settled once it is known what it is the tangent of; for a variable of a signature, that is never.
    if (types_.HasMeta(unify_.Zonk(of))) {
      stuck.push_back(wanted);
      return Solved::Stuck;
    }
    if (IsGiven(wanted)) return Solved::Yes;
    if (missing) *missing = wanted;
    return Solved::No;
  }
  switch (types_.Kind(head)) {
    case TypeKind::Meta:
      stuck.push_back(wanted);
      if (!args.empty()) unify_.MarkApplied(types_.MetaOf(head));
      return Solved::Stuck;
    case TypeKind::Var:
      if (IsGiven(wanted)) return Solved::Yes;
      if (missing) *missing = wanted;
      return Solved::No;
    case TypeKind::Con: {
      // FlexibleContexts: `Eq [a] => ..`
      if (llvm::any_of(givens_, [&](const auto& given) { return types_.Head(given.second) == types_.ConOf(head); }) &&
          IsGiven(wanted))
        return Solved::Yes;
      // What one instance asks for another may ask for again, and both of them for twice as much.
      const TypeId whole = depth > 0 ? unify_.Zonk(wanted.type) : wanted.type;
      const bool ground = !types_.HasMeta(whole) && !types_.HasVar(whole);
      if (ground && solved_.contains({wanted.cls.index, whole.index})) return Solved::Yes;
      InstanceId found;
      llvm::SmallVector<TypeId, 4> bound;
      Fit fit = depth > kMaxInstanceDepth ? Fit::No : FindInstance(wanted.cls, wanted.type, found, bound);
      if (fit == Fit::Later && wanted.cls == KnownClass("IsString") && args.size() == 1) {
        // As by GHC's `a ~ Char => IsString [a]`.
        if (unify_.Unify(args[0], types_.Scalar(Builtin::Char)).ok()) return Solved::Yes;
      }
      if (fit == Fit::Later) {
        stuck.push_back(wanted);
        return Solved::Stuck;
      }
      if (fit != Fit::Yes) {
        if (missing) *missing = wanted;
        return Solved::No;
      }
      const core::Instance& instance = program_.instances[found];
      size_t solving = solving_.size();
      if (instance.grows) {
        std::pair<ClassId, TypeId> goal{wanted.cls, unify_.Zonk(wanted.type)};
        if (auto same = llvm::find(solving_, goal); same != solving_.end()) {
          assumed_ = std::min<size_t>(assumed_, same - solving_.begin());
          return Solved::Yes;
        }
        solving_.push_back(goal);
      }
      auto restore = llvm::make_scope_exit([&] { solving_.resize(solving); });
      Solved result = Solved::Yes;
      for (const core::Pred& pred : instance.context) {
        Wanted part{pred.cls, types_.Substitute(pred.type, instance.tyvars, bound), wanted.origin};
        Solved solved = Solve(part, stuck, missing, depth + 1);
        if (solved == Solved::No) return solved;
        if (solved == Solved::Stuck) result = solved;
      }
      // Not what holds only if a goal around it does.
      if (assumed_ >= solving) assumed_ = SIZE_MAX;
      if (ground && result == Solved::Yes && assumed_ == SIZE_MAX) solved_.insert({wanted.cls.index, whole.index});
      return result;
    }
    default: return Solved::Yes;
  }
}

void Checker::SolveFrom(size_t mark) {
  RetryTangents(Guess::No);
  std::vector<Wanted> stuck;
  std::vector<std::pair<Wanted, Wanted>> failed;  // what is wanted, and the part of it that is missing
  for (size_t i = mark; i < wanted_.size(); ++i) {
    Wanted missing;
    size_t before = stuck.size();
    if (Solve(wanted_[i], stuck, &missing) != Solved::No) continue;
    stuck.resize(before);
    failed.push_back({wanted_[i], missing});
  }
  // `floor (sqrt n)`: floor would take what sqrt gives; it is sqrt that does not take n.
  ClassId rounding = KnownClass("RealFrac"), fractional = KnownClass("Fractional");
  for (size_t i = 0; i < failed.size(); ++i) {
    const auto [wanted, missing] = failed[i];
    TypeId type = unify_.Zonk(missing.type);
    bool inner = missing.cls == rounding && llvm::any_of(llvm::ArrayRef(failed).drop_front(i + 1), [&](const auto& later) {
                   return later.second.cls != rounding && fractional.valid() && Entails(fractional, later.second.cls) &&
                          unify_.Zonk(later.second.type) == type;
                 });
    // `sqrt (v * v)` under a signature that says nothing of `a`: with `Floating a` it has `Num a` as well.
    bool implied = types_.Kind(type) == TypeKind::Var && llvm::any_of(failed, [&](const auto& other) {
                     return other.second.cls != missing.cls && Entails(missing.cls, other.second.cls) &&
                            unify_.Zonk(other.second.type) == type;
                   });
    if (!inner && !implied) ReportMissing(wanted, missing);
  }
  wanted_.resize(mark);
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> seen;
  for (Wanted& wanted : stuck) {
    wanted.type = unify_.Zonk(wanted.type);
    if (seen.insert({wanted.cls.index, wanted.type.index}).second) wanted_.push_back(wanted);
  }
}

bool Checker::HasInstance(ClassId cls, TypeId type) {
  std::vector<Wanted> stuck;
  return cls.valid() && Solve({cls, type, {}}, stuck, nullptr) == Solved::Yes;
}

void Checker::MinimalPreds(std::vector<Wanted>& preds) {
  for (Wanted& pred : preds) pred.type = unify_.Zonk(pred.type);
  std::vector<Wanted> kept;
  for (size_t i = 0; i < preds.size(); ++i) {
    bool needed = true;
    for (size_t j = 0; j < preds.size() && needed; ++j) {
      if (i == j || preds[i].type != preds[j].type) continue;
      if (preds[i].cls == preds[j].cls) needed = i < j;
      else needed = !Entails(preds[i].cls, preds[j].cls);
    }
    if (needed) kept.push_back(preds[i]);
  }
  preds = std::move(kept);
}

// Haskell 2010 section 4.3.4: a variable with a numeric class (or IsString, with OverloadedStrings), all of whose classes are the library's,
// becomes the first of `default` that has them all. The REPL also takes (), and Show, Eq and Ord for
// numeric, as GHCi does.
bool Checker::DefaultMeta(MetaId meta, llvm::ArrayRef<Wanted> preds, bool report) {
  ClassId num = KnownClass("Num"), strings = KnownClass("IsString");
  bool numeric = false, interactive = false, standard = true;
  for (const Wanted& pred : preds) {
    if (types_.Kind(unify_.Prune(pred.type)) != TypeKind::Meta) {
      standard = false;
      continue;
    }
    bool text = string_classes_ && pred.cls == strings;
    numeric |= text || (num.valid() && Entails(num, pred.cls));
    std::string_view name = Text(program_.classes[pred.cls].name);
    const ClassId* library = env_.library.classes.Find(program_.classes[pred.cls].name);
    // Of the library's classes these are not the standard's, and GHC leaves `5 .&. 3` ambiguous.
    bool other = name == "Bits" || name == "FiniteBits" || name == "PrintfArg" || name == "NFData";
    standard &= options_.library || (library && *library == pred.cls && !other);
    interactive |=
        name == "Show" || name == "Eq" || name == "Ord" || name == "Foldable" || name == "Traversable";
  }
  bool allowed = options_.repl ? (numeric || interactive) : (numeric && standard);
  if (allowed) {
    std::vector<TypeId> candidates;
    if (options_.repl) {
      candidates.push_back(types_.Scalar(Builtin::Unit));
      candidates.push_back(types_.Con(types_.Known(Builtin::List)));
    }
    if (!TangentMatters(meta)) candidates.push_back(types_.Scalar(Builtin::Integer));
    candidates.push_back(types_.Scalar(Builtin::Double));
    if (string_classes_) candidates.push_back(types_.List(types_.Scalar(Builtin::Char)));
    for (TypeId candidate : candidates) {
      bool fits = true;
      bool constructor = candidate == types_.Con(types_.Known(Builtin::List));
      for (const Wanted& pred : preds) {
        bool wants_constructor = env_.kinds.IsArrow(env_.class_kinds[pred.cls.index]);
        fits &= wants_constructor == constructor &&
                (options_.repl && types_.Kind(unify_.Prune(pred.type)) != TypeKind::Meta
                     ? true
                     : HasInstance(pred.cls, candidate));
      }
      if (!fits) continue;
      unify_.Solve(meta, candidate);
      return true;
    }
  }
  if (report && !unify_.IsAny(meta)) ReportAmbiguous(preds);
  // Whatever was reported is not reported again.
  unify_.Solve(meta, report ? types_.Scalar(Builtin::Unit) : unify_.Fresh());
  return false;
}

void Checker::DefaultAll(size_t mark, bool report, uint32_t min_level) {
  SolveFrom(mark);
  const ClassId num = KnownClass("Num");
  for (;;) {
    // The constraints by variable, for the variables that are ours to settle.
    std::vector<std::pair<MetaId, std::vector<Wanted>>> groups;
    llvm::DenseMap<uint32_t, size_t> group_of;
    std::vector<Wanted> rest;
    for (size_t i = mark; i < wanted_.size(); ++i) {
      TypeId head = unify_.Head(wanted_[i].type);
      llvm::SmallVector<MetaId> metas;
      if (types_.Kind(head) == TypeKind::Meta) metas.push_back(types_.MetaOf(head));
      // A tangent's is settled by what it is the tangent of, and a number's by itself; another one waits for its variables to tell which
      // instance is meant.
      else if (TypeId of; !types_.IsTangent(unify_.Prune(wanted_[i].type), &of)) unify_.FreeMetas(wanted_[i].type, metas);
      else if (of = unify_.Prune(of); types_.Kind(of) == TypeKind::Meta && num.valid() && Entails(num, wanted_[i].cls))
        metas.push_back(types_.MetaOf(of));
      if (metas.empty() || unify_.LevelOf(metas[0]) < min_level) {
        rest.push_back(wanted_[i]);
        continue;
      }
      MetaId meta = metas[0];
      auto [it, fresh] = group_of.try_emplace(meta.index, groups.size());
      if (fresh) groups.push_back({meta, {}});
      groups[it->second].second.push_back(wanted_[i]);
      // A real number is its own tangent.
      if (types_.IsTangent(unify_.Prune(wanted_[i].type))) groups[it->second].second.back().type = types_.Meta(meta);
    }
    if (groups.empty()) return;
    wanted_.resize(mark);
    wanted_.insert(wanted_.end(), rest.begin(), rest.end());
    // A number where a `t a` is expected goes first: the `a` is not to be asked for as well.
    if (report)
      std::stable_partition(groups.begin(), groups.end(), [&](const auto& group) {
        return llvm::any_of(group.second, [&](const Wanted& pred) {
          return (pred.origin.kind == Origin::Number || pred.origin.kind == Origin::Fraction) &&
                 types_.Kind(unify_.Prune(pred.type)) == TypeKind::App;
        });
      });
    for (const auto& [meta, preds] : groups)
      if (DefaultMeta(meta, preds, report)) wanted_.insert(wanted_.end(), preds.begin(), preds.end());
    SolveFrom(mark);
  }
}

}  // namespace df::check
