// Type clashes as messages: what clashes, and where.
#include "typecheck/explain/explain.h"

#include "llvm/ADT/StringExtras.h"
#include "typecheck/explain/family.h"
#include "typecheck/explain/hint.h"
#include "typecheck/explain/origin.h"
#include "typecheck/explain/tensor.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

const char* Ordinal(uint32_t index) {
  static const char* const kNames[] = {"first", "second",  "third",  "fourth", "fifth",
                                       "sixth", "seventh", "eighth", "ninth",  "tenth"};
  return index < 10 ? kNames[index] : nullptr;
}

std::string OrdinalText(uint32_t index) {
  const char* name = Ordinal(index);
  return name ? name : fmt::format("{}th", index + 1);
}

// Two types of one name, from two modules or entered at the prompt one after the other: where each is declared.
bool ExplainNamesakes(State& s, TypeId left, TypeId right) {
  if (!left.valid() || !right.valid()) return false;
  TypeId heads[] = {s.unify.Head(left), s.unify.Head(right)};
  for (TypeId head : heads)
    if (s.types.Kind(head) != TypeKind::Con) return false;
  const TyCon &one = s.types.cons[s.types.ConOf(heads[0])], &other = s.types.cons[s.types.ConOf(heads[1])];
  if (heads[0] == heads[1] || one.name != other.name) return false;
  const char* which = "one";
  for (const TyCon* con : {&one, &other}) {
    if (!Shown(s, con->span).valid()) continue;
    s.diags.Note(con->span, fmt::format("{} `{}` is declared here", which, Text(con->name)));
    which = "the other";
  }
  return true;
}

// A clash while it is reported, with its types as the message calls them.
struct Mismatch {
  State& s;
  const UnifyResult& clash;
  TypeId expected, actual;
  Span span;
  const Reason& why;
  const std::string &found, &wanted;  // the whole types
  const std::string &left, &right;    // the parts that clash

  bool IsDimension() const { return IsDimension(clash.left) || IsDimension(clash.right); }
  bool IsDimension(TypeId side) const { return side.valid() && s.types.Kind(s.unify.Prune(side)) == TypeKind::Dim; }
};

// Notes: what gave the two sides their types.
void ExplainTypes(const Mismatch& m) {
  if (m.s.subject.valid()) ExplainVariable(m.s, m.s.subject, m.span);
  ExplainPlace(m.s, m.expected, m.span);
  if (!m.IsDimension()) return;
  ExplainDimension(m.s, m.clash.left_from, m.left, m.span);
  ExplainDimension(m.s, m.clash.right_from, m.right, m.span);
}

void ReportInfinite(const Mismatch& m) {
  State& s = m.s;
  bool left_is_part = s.types.Kind(s.unify.Prune(m.clash.left)) == TypeKind::Meta;
  s.Error(Diag::InfiniteType, m.span, m.found, m.wanted)
      .Note(Span(), fmt::format("`{}` would have to be the same type as `{}`, of which it is a part",
                                left_is_part ? m.left : m.right, left_is_part ? m.right : m.left));
  Explain(s, m.why);
  if (s.subject.valid()) ExplainVariable(s, s.subject, m.span);
  if (s.subject.valid() && s.subject == m.why.var) s.diags.Hint("a function cannot be its own argument");
  else HintAtClash(s, m.expected, m.actual, m.span, m.why);
}

void ReportEscape(const Mismatch& m) {
  State& s = m.s;
  TyVarId var = s.types.VarOf(m.clash.left);
  if (!s.escaped.insert(var.index).second) {
    ++s.unreported;
    return;
  }
  const VarId local = LocalSignature(s, var);
  const bool is_size = local.valid() && s.types.IsSize(var, s.program.vars[local].scheme.type);
  s.Error(Diag::EscapingVariable, m.span, Text(s.types.vars[var].name))
      .Note(s.types.vars[var].span, fmt::format("the variable is bound here, and stands for any {}", is_size ? "size" : "type"));
  if (local.valid())
    s.diags.Hint(fmt::format("without its signature `{0}` has the type that it needs; for a signature that says `{1}` the function around it "
                             "needs one too, with `forall {1}.` and the extension ScopedTypeVariables",
                             Text(s.program.vars[local].name), Text(s.types.vars[var].name)));
}

// A variable of a signature, and the type that it does not stand for.
struct RigidSide {
  TyVarId var;
  TypeId other_type;
  std::string name, other;  // as the message calls them
  std::string_view kind;    // "type" or "size"
};

// If there is one on that side of the clash.
std::optional<RigidSide> FindRigid(const Mismatch& m, bool left) {
  State& s = m.s;
  TypeId whole = left ? m.clash.left : m.clash.right;
  // Of `m Int` and `[Int]` it is `m` and the list's constructor.
  TypeId side = whole.valid() && s.types.Kind(whole) == TypeKind::App ? s.unify.Head(whole) : whole;
  if (s.types.Kind(side) != TypeKind::Var) return std::nullopt;
  RigidSide rigid;
  rigid.var = s.types.VarOf(side);
  if (!s.types.vars[rigid.var].span.valid()) return std::nullopt;
  const bool is_left = whole == m.clash.left;
  rigid.other_type = is_left ? m.clash.right : m.clash.left;
  rigid.name = is_left ? m.left : m.right;
  rigid.other = is_left ? m.right : m.left;
  if (side != whole) {
    rigid.other_type = s.unify.Head(rigid.other_type);
    if (s.types.Kind(rigid.other_type) != TypeKind::Con) return std::nullopt;
    rigid.name = Text(s.types.vars[rigid.var].name);
    rigid.other = PrintType(s, rigid.other_type);
  }
  rigid.kind = IsSize(s, side, m.expected) || IsSize(s, side, m.actual) ? "size" : "type";
  return rigid;
}

// Two variables of signatures. False if that was said of an expression around this one.
bool ReportRigidVariables(const Mismatch& m, const RigidSide& rigid) {
  State& s = m.s;
  // `compose f g x = g (f x)`: what clashes within an expression that clashes with one of the same variables follows from that.
  const TyVarId var = rigid.var, second = s.types.VarOf(rigid.other_type);
  auto follows = [&](const auto& earlier) {
    const auto& [place, one, two] = earlier;
    return place.file == m.span.file && place.begin <= m.span.begin && m.span.end <= place.end &&
           (one == var || two == var || one == second || two == second);
  };
  if (llvm::any_of(s.rigid_clashes, follows)) {
    ++s.unreported;
    return false;
  }
  s.rigid_clashes.push_back({m.span, var, second});
  s.refuted.insert(second.index);
  s.Error(Diag::RigidVariables, m.span, m.wanted, m.found, rigid.name, rigid.other, rigid.kind);
  // (A variable of a method of the library's has no place that is shown.)
  Span place = Shown(s, s.types.vars[var].span);
  NoteOnce(s, place, place.valid() ? fmt::format("`{}` stands for any {} here", rigid.name, rigid.kind)
                                   : fmt::format("`{}` stands for any {}: it is a variable of the method's type", rigid.name, rigid.kind));
  if (Shown(s, s.types.vars[second].span).valid()) NoteOnce(s, s.types.vars[second].span, fmt::format("`{}` for any other", rigid.other));
  return true;
}

void ReportTooGeneral(const Mismatch& m, const RigidSide& rigid) {
  // (A variable of a method of the library's has no place that is shown.)
  Span place = Shown(m.s, m.s.types.vars[rigid.var].span);
  m.s.Error(Diag::SignatureTooGeneral, m.span, m.wanted, m.found, rigid.name, rigid.kind)
      .Note(place, place.valid() ? fmt::format("who uses this chooses `{}`, and need not choose `{}`", rigid.name, rigid.other)
                                 : fmt::format("`{}` is a variable of the method's type: who uses the method chooses it, and need not choose `{}`",
                                               rigid.name, rigid.other));
}

// A variable of a signature stands for every type; what fits only one is too special for it. False if there is none.
bool ReportRigid(const Mismatch& m) {
  State& s = m.s;
  std::optional<RigidSide> rigid = FindRigid(m, true);
  if (!rigid) rigid = FindRigid(m, false);
  if (!rigid) return false;
  const TyVarId var = rigid->var;
  const bool two_variables = s.types.Kind(rigid->other_type) == TypeKind::Var;
  llvm::SmallVector<TyVarId> others;
  s.types.FreeVars(s.unify.Zonk(rigid->other_type), others);
  const bool namesakes = llvm::any_of(others, [&](TyVarId of) { return of != var && s.types.vars[of].name == s.types.vars[var].name; });
  s.refuted.insert(var.index);
  if (!two_variables) ReportTooGeneral(m, *rigid);
  else if (!ReportRigidVariables(m, *rigid)) return true;
  if (m.why.kind != Reason::Signature) Explain(s, m.why);
  ExplainTypes(m);
  if (namesakes)
    s.diags.Hint(fmt::format("each signature has variables of its own: with the extension ScopedTypeVariables and `forall {0}.` in the outer one "
                             "the inner `{0}` is the same", Text(s.types.vars[var].name)));
  else if (two_variables && HintAtLocalSignature(s, var, s.types.VarOf(rigid->other_type))) return true;
  else if (!HintAtTypeVariable(s, var)) HintAtClash(s, m.expected, m.actual, m.span, m.why);
  return true;
}

// The message itself, by what the type is expected of.
void ReportTypes(const Mismatch& m) {
  State& s = m.s;
  const Span there = m.why.span;
  switch (m.why.kind) {
    case Reason::Branch:
      s.Error(Diag::BranchMismatch, m.span, m.wanted, m.found).Note(there, fmt::format("the other branch has the type `{}`", m.wanted));
      return;
    case Reason::Alternative:
      s.Error(Diag::AlternativeMismatch, m.span, m.found, m.wanted).Note(there, fmt::format("the first one has the type `{}`", m.wanted));
      return;
    case Reason::Clause:
      s.Error(Diag::ClauseMismatch, m.span, Text(m.why.name), m.found, m.wanted)
          .Note(there, fmt::format("the first clause gives `{}`", m.wanted));
      return;
    case Reason::Element:
      s.Error(Diag::ElementMismatch, m.span, m.found, m.wanted).Note(there, fmt::format("the first element has the type `{}`", m.wanted));
      return;
    case Reason::Parameter: s.Error(Diag::PatternMismatch, m.span, m.found, m.wanted); break;
    case Reason::Condition:
    case Reason::Guard: s.Error(Diag::ConditionMismatch, m.span, Describe(s, m.why), m.wanted, m.found); break;
    case Reason::Argument:
    case Reason::Operand:
    case Reason::Field: s.Error(Diag::ArgumentMismatch, m.span, Describe(s, m.why), m.wanted, m.found); break;
    default: s.Error(Diag::TypeMismatch, m.span, m.found, m.wanted);
  }
  Explain(s, m.why);
}

}  // namespace

// Unknown types are named a, b, c.. anew for each message, avoiding names that signatures use. Of two variables that have one name in
// different signatures the second is told with a number, as GHC does.
std::vector<std::string> PrintTypes(State& s, llvm::ArrayRef<TypeId> types) {
  llvm::SmallVector<MetaId> metas;
  llvm::SmallVector<TyVarId> rigid;
  std::vector<TypeId> zonked;
  for (TypeId type : types) {
    zonked.push_back(s.unify.Zonk(type));
    s.unify.FreeMetas(zonked.back(), metas);
    s.types.FreeVars(zonked.back(), rigid);
  }
  llvm::DenseSet<uint32_t> taken;
  llvm::DenseMap<uint32_t, TypeId> names;
  llvm::SmallVector<TyVarId> namesakes;
  for (TyVarId var : rigid)
    if (!taken.insert(s.types.vars[var].name.index).second) namesakes.push_back(var);
  for (TyVarId var : namesakes) {
    Symbol name;
    for (int number = 1; !name.valid(); ++number)
      if (Symbol numbered = Intern(fmt::format("{}{}", Text(s.types.vars[var].name), number)); taken.insert(numbered.index).second) name = numbered;
    names[s.types.Var(var).index] = s.types.Var(s.types.NewVar(name));
  }
  // What stands for a type constructor is called `t`, as in `Foldable t => t a -> Int`.
  llvm::DenseSet<uint32_t> applied;
  auto collect = [&](auto& self, TypeId type) -> void {
    if (s.types.Kind(type) != TypeKind::App || !s.types.HasMeta(type)) return;
    if (s.types.Kind(s.types.FnOf(type)) == TypeKind::Meta) applied.insert(s.types.FnOf(type).index);
    self(self, s.types.FnOf(type));
    self(self, s.types.ArgOf(type));
  };
  for (TypeId type : zonked) collect(collect, type);
  auto name_of = [&](MetaId meta) {
    if ((s.unify.IsApplied(meta) || applied.contains(s.types.Meta(meta).index)) && taken.insert(Intern("t").index).second) return Intern("t");
    return FreshTyVarName(s, taken);
  };
  // As the program's own signatures call them, as far as that is one name for one variable.
  for (MetaId meta : metas)
    if (Symbol own = s.unify.NameOf(meta); own.valid() && taken.insert(own.index).second) names[s.types.Meta(meta).index] = s.types.Var(s.types.NewVar(own));
  for (MetaId meta : metas)
    if (TypeId& name = names[s.types.Meta(meta).index]; !name.valid()) name = s.types.Var(s.types.NewVar(name_of(meta)));
  auto replace = [&](auto& self, TypeId type) -> TypeId {
    if (!s.types.HasMeta(type) && (namesakes.empty() || !s.types.HasVar(type))) return type;
    if (auto it = names.find(type.index); it != names.end()) return it->second;
    if (s.types.Kind(type) == TypeKind::Var) return type;
    if (s.types.Kind(type) == TypeKind::Dim) return s.types.MapAtoms(type, [&](TypeId atom) { return self(self, atom); });
    if (s.types.Kind(type) == TypeKind::Forall) return s.types.MapBody(type, [&](TypeId body) { return self(self, body); });
    TypeId fn = self(self, s.types.FnOf(type));
    return s.types.App(fn, self(self, s.types.ArgOf(type)));
  };
  std::vector<std::string> out;
  for (TypeId type : zonked) {
    if (s.types.SizeOf(type) > kShownSize) {
      out.emplace_back("a very large type");
      continue;
    }
    std::string text = s.types.Print(replace(replace, type));
    if (text.size() > 300) {
      text.resize(290);
      text += " ...";
    }
    out.push_back(std::move(text));
  }
  return out;
}

bool Tainted(const State& s, Span span) {
  for (const Span& region : s.tainted)
    if (region.file == span.file && region.begin <= span.begin && span.end <= region.end) return true;
  return false;
}

std::string Describe(State& s, const Reason& why) {
  switch (why.kind) {
    case Reason::Signature: return fmt::format("the result of `{}`", Text(why.name));
    case Reason::Annotation: return "the annotated expression";
    case Reason::Argument:
      return fmt::format("the {} argument of `{}`", OrdinalText(why.index), Text(why.name));
    case Reason::Operand:
      return fmt::format("the {} operand of `{}`", why.index == 0 ? "left" : "right", Text(why.name));
    case Reason::Condition: return "the condition of `if`";
    case Reason::Guard: return "a guard";
    case Reason::Field: return fmt::format("the field `{}`", Text(why.name));
    case Reason::Scrutinee: return "the value of `case`";
    case Reason::PatternValue: return "the right side of this pattern binding";
    case Reason::Statement: return "a statement of this `do`";
    case Reason::Generator: return "what a generator goes through";
    default: return "this expression";
  }
}

bool IsNumberType(State& s, TypeId type) {
  if (s.types.IsFamily(s.unify.Prune(type))) return true;  // whatever it will be
  if (s.types.IsTangent(s.unify.Prune(type))) return true;  // it may be
  TypeId head = s.unify.Head(type);
  ClassId num = KnownClass(s, "Num");
  return s.types.Kind(head) != TypeKind::Con || !num.valid() ||
         s.env.instances.count({num.index, s.types.ConOf(head).index}) != 0;
}

void ReportMismatch(State& s, const UnifyResult& clash, TypeId expected, TypeId actual, Span span, const Reason& why) {
  // Named in the order in which a message speaks of them.
  bool expected_first = why.kind == Reason::Argument || why.kind == Reason::Operand ||
                        why.kind == Reason::Condition || why.kind == Reason::Guard || why.kind == Reason::Field;
  std::vector<std::string> text = PrintTypes(s, {expected_first ? expected : actual, expected_first ? actual : expected,
                                                 clash.left, clash.right});
  const Mismatch m{s, clash, expected, actual, span, why, text[expected_first], text[!expected_first], text[2], text[3]};
  if (clash.clash == Clash::Infinite) return ReportInfinite(m);
  if (clash.clash == Clash::Escape) return ReportEscape(m);
  if (ReportRigid(m)) return;
  ReportTypes(m);
  ExplainTypes(m);
  const std::optional<size_t> rank = RankOf(s, expected), other_rank = RankOf(s, actual);
  const bool ranks = rank && other_rank && *rank != *other_rank;  // which dimensions clash then says nothing
  if (!ranks && s.unify.Prune(expected) != s.unify.Prune(clash.left) && (m.IsDimension() || m.found.size() + m.wanted.size() > 60))
    s.diags.Note(Span(), fmt::format("in them, `{}` clashes with `{}`", m.left, m.right));
  ExplainFamilies(s, clash.left, clash.right);
  if (ExplainNamesakes(s, clash.left, clash.right)) return;
  // Inferred, a function that calls itself with `concat w w` has w of no elements.
  if (m.IsDimension() && (m.left == "0" || m.right == "0") && why.var.valid() && !s.program.vars[why.var].from_library &&
      !s.signature_of.count(why.var.index))
    s.diags.Hint(fmt::format("within its own definition `{}` has one size only, unless it has a signature", Text(why.name)));
  HintAtClash(s, expected, actual, span, why);
}

}  // namespace df::check
