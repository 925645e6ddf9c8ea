// Constraints: solving by instances and given constraints, what a scheme keeps, defaulting.
#include "typecheck/checker.h"

namespace df::check {
namespace {

constexpr int kMaxInstanceDepth = 200;  // `instance C [[a]] => C [a]` would reduce for ever

}  // namespace

bool Checker::Entails(ClassId cls, ClassId by) const {
  if (cls == by) return true;
  for (ClassId super : program_.classes[by].superclasses)
    if (Entails(cls, super)) return true;
  return false;
}

void Checker::PushGiven(ClassId cls, TypeId type) {
  givens_.push_back({cls, type});
  for (ClassId super : program_.classes[cls].superclasses) PushGiven(super, type);
}

Checker::Solved Checker::Solve(const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing, int depth) {
  llvm::SmallVector<TypeId, 4> args;
  TypeId head = unify_.Head(wanted.type, &args);
  switch (types_.Kind(head)) {
    case TypeKind::Meta:
      stuck.push_back(wanted);
      if (!args.empty()) unify_.MarkApplied(types_.MetaOf(head));
      return Solved::Stuck;
    case TypeKind::Var: {
      TypeId type = unify_.Zonk(wanted.type);
      for (const auto& [cls, given] : givens_)
        if (cls == wanted.cls && unify_.Zonk(given) == type) return Solved::Yes;
      if (missing) *missing = wanted;
      return Solved::No;
    }
    case TypeKind::Con: {
      auto found = env_.instances.find({wanted.cls.index, types_.ConOf(head).index});
      if (found == env_.instances.end() || depth > kMaxInstanceDepth) {
        if (missing) *missing = wanted;
        return Solved::No;
      }
      const core::Instance& instance = program_.instances[found->second];
      Solved result = Solved::Yes;
      for (const core::Pred& pred : instance.context) {
        Wanted part{pred.cls, types_.Substitute(pred.type, instance.tyvars, args), wanted.origin};
        Solved solved = Solve(part, stuck, missing, depth + 1);
        if (solved == Solved::No) return solved;
        if (solved == Solved::Stuck) result = solved;
      }
      return result;
    }
    default: return Solved::Yes;
  }
}

void Checker::SolveFrom(size_t mark) {
  std::vector<Wanted> stuck;
  for (size_t i = mark; i < wanted_.size(); ++i) {
    Wanted missing;
    size_t before = stuck.size();
    if (Solve(wanted_[i], stuck, &missing) == Solved::No) {
      stuck.resize(before);
      Wanted origin = wanted_[i];
      ReportMissing(origin, missing);
    }
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

void Checker::ReportMissing(const Wanted& wanted, const Wanted& missing) {
  if (Tainted(wanted.origin.span)) return;
  // `x + 1` needs the same instance twice: once is enough to say, for this definition.
  TypeId type = unify_.Zonk(missing.type);
  for (const auto& [cls, other, at] : reported_)
    if (cls == missing.cls && other == type &&
        (at == definition_ || types_.Kind(unify_.Head(type)) == TypeKind::Var))
      return;
  reported_.push_back({missing.cls, type, definition_});
  TypeId head = unify_.Head(missing.type);
  std::vector<std::string> text = PrintTypes({missing.type, wanted.type});
  std::string_view cls = Text(program_.classes[missing.cls].name);
  std::string pred = fmt::format(
      "{} {}", cls,
      types_.Kind(unify_.Prune(missing.type)) == TypeKind::App && text[0][0] != '[' && text[0][0] != '('
          ? "(" + text[0] + ")"
          : text[0]);
  const Origin& origin = wanted.origin;
  std::string what;
  switch (origin.kind) {
    case Origin::Use:
      what = origin.name.valid() ? fmt::format("`{}`", Text(origin.name)) : "this type";
      break;
    case Origin::Number:
    case Origin::Fraction: what = fmt::format("the literal `{}`", Text(origin.name)); break;
    case Origin::LiteralPattern: what = fmt::format("the pattern `{}`", Text(origin.name)); break;
    case Origin::Sequence: what = "the sequence"; break;
    case Origin::Do: what = "the `do`"; break;
    case Origin::Negation: what = "the negation"; break;
    case Origin::Instance: what = "the instance"; break;
    case Origin::Deriving: what = fmt::format("`deriving {}`", Text(origin.name)); break;
    case Origin::Printing: what = "printing the result"; break;
  }
  bool rigid = types_.Kind(head) == TypeKind::Var;
  Diagnostics& diag = rigid ? Error(Diag::MissingConstraint, origin.span, what, pred)
                            : Error(Diag::NoInstance, origin.span, what, pred);
  if (rigid) {
    TyVarId var = types_.VarOf(head);
    if (types_.vars[var].span.valid())
      diag.Note(types_.vars[var].span, fmt::format("nothing is known of `{}` but what its signature says",
                                                   Text(types_.vars[var].name)));
    diag.Hint(fmt::format("add `{}` to the context of the signature", pred));
    return;
  }
  Builtin builtin =
      types_.Kind(head) == TypeKind::Con ? types_.cons[types_.ConOf(head)].builtin : Builtin::None;
  if (missing.type != wanted.type && unify_.Zonk(missing.type) != unify_.Zonk(wanted.type))
    diag.Note(Span(),
              fmt::format("it is needed for `{} {}`", Text(program_.classes[wanted.cls].name), text[1]));
  if (builtin == Builtin::Function) {
    diag.Hint("functions have no such instance: is an argument missing?");
  } else if (cls == "Integral" && (builtin == Builtin::Double || builtin == Builtin::Float)) {
    diag.Hint("`truncate`, `round`, `floor` and `ceiling` turn a fraction into a whole number");
  } else if ((cls == "Fractional" || cls == "Floating") &&
             (builtin == Builtin::Int || builtin == Builtin::Integer)) {
    diag.Hint(fmt::format(
        "`fromIntegral` turns an `{}` into a number of any type; `div` divides whole numbers", text[0]));
  } else if (types_.Kind(head) == TypeKind::Con && builtin == Builtin::None &&
             types_.cons[types_.ConOf(head)].span.valid()) {
    diag.Note(types_.cons[types_.ConOf(head)].span, "the type is declared here");
    for (const char* derivable : {"Eq", "Ord", "Show", "Enum", "Bounded"})
      if (cls == derivable) diags_.Hint(fmt::format("add `deriving {}` to its declaration", cls));
  }
}

// Haskell 2010 section 4.3.4: a variable with a numeric class, all of whose classes are the library's,
// becomes the first of `default` that has them all. The REPL also takes (), and Show, Eq and Ord for
// numeric, as GHCi does.
bool Checker::DefaultMeta(MetaId meta, llvm::ArrayRef<Wanted> preds, bool report) {
  ClassId num = KnownClass("Num");
  bool numeric = false, interactive = false, standard = true;
  for (const Wanted& pred : preds) {
    if (types_.Kind(unify_.Prune(pred.type)) != TypeKind::Meta) {
      standard = false;
      continue;
    }
    numeric |= num.valid() && Entails(num, pred.cls);
    std::string_view name = Text(program_.classes[pred.cls].name);
    const ClassId* library = env_.library.classes.Find(program_.classes[pred.cls].name);
    standard &= options_.library || (library && *library == pred.cls);
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
    candidates.push_back(types_.Scalar(Builtin::Integer));
    candidates.push_back(types_.Scalar(Builtin::Double));
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
  if (report) {
    const Wanted& first = preds[0];
    if (!Tainted(first.origin.span)) {
      std::string classes;
      for (const Wanted& pred : preds) {
        if (!classes.empty()) classes += &pred == &preds.back() ? " and " : ", ";
        classes += fmt::format("`{}`", Text(program_.classes[pred.cls].name));
      }
      std::string what = first.origin.name.valid() ? std::string(Text(first.origin.name)) : "this";
      Error(Diag::AmbiguousType, first.origin.span, what, classes)
          .Hint("an annotation settles it: `(.. :: Int)`, say");
    }
  }
  // Whatever was reported is not reported again.
  unify_.Solve(meta, report ? types_.Scalar(Builtin::Unit) : unify_.Fresh());
  return false;
}

void Checker::DefaultAll(size_t mark, bool report, uint32_t min_level) {
  SolveFrom(mark);
  for (;;) {
    // The constraints by variable, for the variables that are ours to settle.
    std::vector<std::pair<MetaId, std::vector<Wanted>>> groups;
    llvm::DenseMap<uint32_t, size_t> group_of;
    std::vector<Wanted> rest;
    for (size_t i = mark; i < wanted_.size(); ++i) {
      TypeId head = unify_.Head(wanted_[i].type);
      if (types_.Kind(head) != TypeKind::Meta || unify_.LevelOf(types_.MetaOf(head)) < min_level) {
        rest.push_back(wanted_[i]);
        continue;
      }
      MetaId meta = types_.MetaOf(head);
      auto [it, fresh] = group_of.try_emplace(meta.index, groups.size());
      if (fresh) groups.push_back({meta, {}});
      groups[it->second].second.push_back(wanted_[i]);
    }
    if (groups.empty()) return;
    wanted_.resize(mark);
    wanted_.insert(wanted_.end(), rest.begin(), rest.end());
    for (const auto& [meta, preds] : groups)
      if (DefaultMeta(meta, preds, report)) wanted_.insert(wanted_.end(), preds.begin(), preds.end());
    SolveFrom(mark);
  }
}

}  // namespace df::check
