// Constraints that are wanted: solved, kept in schemes, defaulted, or reported.
#include "typecheck/solve/constraints.h"

#include "typecheck/explain/class.h"
#include "typecheck/solve/tangents.h"
#include "typecheck/state/equality.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// Haskell 2010 section 4.3.4: a variable with a numeric class (or IsString, with OverloadedStrings), all of whose classes are the library's,
// becomes the first of `default` that has them all. The REPL also takes (), and Show, Eq and Ord for
// numeric, as GHCi does.
bool DefaultMeta(State& s, MetaId meta, llvm::ArrayRef<Wanted> preds, bool report) {
  ClassId num = KnownClass(s, "Num"), strings = KnownClass(s, "IsString");
  bool numeric = false, interactive = false, standard = true;
  for (const Wanted& pred : preds) {
    if (s.types.Kind(s.unify.Prune(pred.type)) != TypeKind::Meta) {
      standard = false;
      continue;
    }
    bool text = s.string_classes && pred.cls == strings;
    numeric |= text || (num.valid() && Entails(s, num, pred.cls));
    std::string_view name = Text(s.program.classes[pred.cls].name);
    const ClassId* library = s.env.library.classes.Find(s.program.classes[pred.cls].name);
    // Of the library's classes these are not the standard's, and GHC leaves `5 .&. 3` ambiguous.
    bool other = name == "Bits" || name == "FiniteBits" || name == "PrintfArg" || name == "NFData";
    standard &= s.options.library || (library && *library == pred.cls && !other);
    interactive |=
        name == "Show" || name == "Eq" || name == "Ord" || name == "Foldable" || name == "Traversable";
  }
  bool allowed = s.options.repl ? (numeric || interactive) : (numeric && standard);
  if (allowed) {
    std::vector<TypeId> candidates;
    if (s.options.repl) {
      candidates.push_back(s.types.Scalar(Builtin::Unit));
      candidates.push_back(s.types.Con(s.types.Known(Builtin::List)));
    }
    if (s.has_defaults) {
      candidates.insert(candidates.end(), s.default_types.begin(), s.default_types.end());
    } else {
      if (!TangentMatters(s, meta)) candidates.push_back(s.types.Scalar(Builtin::Integer));
      candidates.push_back(s.types.Scalar(Builtin::Double));
    }
    if (s.string_classes) candidates.push_back(s.types.List(s.types.Scalar(Builtin::Char)));
    for (TypeId candidate : candidates) {
      bool fits = true;
      bool constructor = candidate == s.types.Con(s.types.Known(Builtin::List));
      for (const Wanted& pred : preds) {
        bool wants_constructor = s.env.kinds.IsArrow(s.env.class_kinds[pred.cls.index]);
        fits &= wants_constructor == constructor &&
                (s.options.repl && s.types.Kind(s.unify.Prune(pred.type)) != TypeKind::Meta
                     ? true
                     : HasInstance(s, pred.cls, candidate));
      }
      if (!fits) continue;
      s.unify.Solve(meta, candidate);
      return true;
    }
  }
  if (report && !s.unify.IsAny(meta)) ReportAmbiguous(s, preds);
  // Whatever was reported is not reported again.
  s.unify.Solve(meta, report ? s.types.Scalar(Builtin::Unit) : s.unify.Fresh());
  return false;
}

}  // namespace

void Require(State& s, ClassId cls, TypeId type, const Origin& origin) {
  if (!cls.valid()) return;
  if (cls == s.program.equality) {
    // What it tells helps what comes after it.
    const auto [left, right] = SidesOf(s, type);
    if (s.unify.Unify(left, right).ok()) return WantPostponed(s, origin);
  }
  s.wanted.push_back({cls, type, origin});
  type = s.unify.Prune(type);
  if (s.types.Kind(type) != TypeKind::Meta || s.options.library) return;
  if (ClassId num = KnownClass(s, "Num"); num.valid() && Entails(s, num, cls))
    s.unify.MarkNumber(s.types.MetaOf(type), origin.span,
                      origin.kind == Origin::Number || origin.kind == Origin::Fraction ||
                          origin.kind == Origin::LiteralPattern);
}

namespace {

// By functional dependencies, until they tell nothing more.
void ImproveFrom(State& s, size_t mark) {
  for (bool again = true; again;) {
    again = false;
    for (size_t i = mark; i < s.wanted.size(); ++i) {
      if (s.program.classes[s.wanted[i].cls].dependencies.empty()) continue;
      again |= Improve(s, s.wanted[i]);
      for (size_t j = mark; j < i; ++j) again |= ImprovePair(s, s.wanted[i], s.wanted[j]);
    }
  }
}

}  // namespace

void SolveFrom(State& s, size_t mark) {
  RetryTangents(s, Guess::No);
  WantPostponed(s, {});
  ImproveFrom(s, mark);
  const uint32_t before = s.unify.epoch();
  std::vector<Wanted> stuck;
  std::vector<std::pair<Wanted, Wanted>> failed;  // what is wanted, and the part of it that is missing
  for (size_t i = mark; i < s.wanted.size(); ++i) {
    Wanted missing;
    size_t before = stuck.size();
    if (Solve(s, s.wanted[i], stuck, &missing) != Solved::No) continue;
    stuck.resize(before);
    failed.push_back({s.wanted[i], missing});
  }
  // `floor (sqrt n)`: floor would take what sqrt gives; it is sqrt that does not take n.
  ClassId rounding = KnownClass(s, "RealFrac"), fractional = KnownClass(s, "Fractional");
  for (size_t i = 0; i < failed.size(); ++i) {
    const auto [wanted, missing] = failed[i];
    TypeId type = s.unify.Zonk(missing.type);
    bool inner = missing.cls == rounding && llvm::any_of(llvm::ArrayRef(failed).drop_front(i + 1), [&](const auto& later) {
                   return later.second.cls != rounding && fractional.valid() && Entails(s, fractional, later.second.cls) &&
                          s.unify.Zonk(later.second.type) == type;
                 });
    // `sqrt (v * v)` under a signature that says nothing of `a`: with `Floating a` it has `Num a` as well.
    bool implied = s.types.Kind(type) == TypeKind::Var && llvm::any_of(failed, [&](const auto& other) {
                     return other.second.cls != missing.cls && Entails(s, missing.cls, other.second.cls) &&
                            s.unify.Zonk(other.second.type) == type;
                   });
    if (!inner && !implied) ReportMissing(s, wanted, missing);
  }
  s.wanted.resize(mark);
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> seen;
  for (Wanted& wanted : stuck) {
    wanted.type = s.unify.Zonk(wanted.type);
    if (seen.insert({wanted.cls.index, wanted.type.index}).second) s.wanted.push_back(wanted);
  }
  // What instances asked for may have told more.
  ImproveFrom(s, mark);
  if (s.unify.epoch() != before) SolveFrom(s, mark);
}

void MinimalPreds(State& s, std::vector<Wanted>& preds) {
  for (Wanted& pred : preds) pred.type = s.unify.Zonk(pred.type);
  std::vector<Wanted> kept;
  for (size_t i = 0; i < preds.size(); ++i) {
    bool needed = true;
    for (size_t j = 0; j < preds.size() && needed; ++j) {
      if (i == j || preds[i].type != preds[j].type) continue;
      if (preds[i].cls == preds[j].cls) needed = i < j;
      else needed = !Entails(s, preds[i].cls, preds[j].cls);
    }
    if (needed) kept.push_back(preds[i]);
  }
  preds = std::move(kept);
}

void DefaultAll(State& s, size_t mark, bool report, uint32_t min_level) {
  SolveFrom(s, mark);
  const ClassId num = KnownClass(s, "Num");
  for (;;) {
    // The constraints by variable, for the variables that are ours to settle.
    std::vector<std::pair<MetaId, std::vector<Wanted>>> groups;
    llvm::DenseMap<uint32_t, size_t> group_of;
    std::vector<Wanted> rest;
    for (size_t i = mark; i < s.wanted.size(); ++i) {
      TypeId head = s.unify.Head(s.wanted[i].type);
      llvm::SmallVector<MetaId> metas;
      if (s.types.Kind(head) == TypeKind::Meta) metas.push_back(s.types.MetaOf(head));
      // A tangent's is settled by what it is the tangent of, and a number's by itself; another one waits for its variables to tell which
      // instance is meant.
      else if (TypeId of; !s.types.IsTangent(s.unify.Prune(s.wanted[i].type), &of)) s.unify.FreeMetas(s.wanted[i].type, metas);
      else if (of = s.unify.Prune(of); s.types.Kind(of) == TypeKind::Meta && num.valid() && Entails(s, num, s.wanted[i].cls))
        metas.push_back(s.types.MetaOf(of));
      if (metas.empty() || s.unify.LevelOf(metas[0]) < min_level) {
        rest.push_back(s.wanted[i]);
        continue;
      }
      MetaId meta = metas[0];
      auto [it, fresh] = group_of.try_emplace(meta.index, groups.size());
      if (fresh) groups.push_back({meta, {}});
      groups[it->second].second.push_back(s.wanted[i]);
      // A real number is its own tangent.
      if (s.types.IsTangent(s.unify.Prune(s.wanted[i].type))) groups[it->second].second.back().type = s.types.Meta(meta);
    }
    if (groups.empty()) return;
    s.wanted.resize(mark);
    s.wanted.insert(s.wanted.end(), rest.begin(), rest.end());
    // A number where a `t a` is expected goes first: the `a` is not to be asked for as well.
    if (report)
      std::stable_partition(groups.begin(), groups.end(), [&](const auto& group) {
        return llvm::any_of(group.second, [&](const Wanted& pred) {
          return (pred.origin.kind == Origin::Number || pred.origin.kind == Origin::Fraction) &&
                 s.types.Kind(s.unify.Prune(pred.type)) == TypeKind::App;
        });
      });
    for (const auto& [meta, preds] : groups)
      if (DefaultMeta(s, meta, preds, report)) s.wanted.insert(s.wanted.end(), preds.begin(), preds.end());
    SolveFrom(s, mark);
  }
}

}  // namespace df::check
