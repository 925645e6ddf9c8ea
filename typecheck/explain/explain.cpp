// Type clashes as messages: what clashes, and where.
#include "llvm/ADT/StringExtras.h"
#include "typecheck/checker.h"

namespace df::check {
namespace {

// Places are for messages alone: a huge module keeps the first ones.
constexpr size_t kMaxPlaces = 1'000'000;

const char* Ordinal(uint32_t index) {
  static const char* const kNames[] = {"first", "second",  "third",  "fourth", "fifth",
                                       "sixth", "seventh", "eighth", "ninth",  "tenth"};
  return index < 10 ? kNames[index] : nullptr;
}

std::string OrdinalText(uint32_t index) {
  const char* name = Ordinal(index);
  return name ? name : fmt::format("{}th", index + 1);
}

}  // namespace

// Unknown types are named a, b, c.. anew for each message, avoiding names that signatures use. Of two variables that have one name in
// different signatures the second is told with a number, as GHC does.
std::vector<std::string> Checker::PrintTypes(llvm::ArrayRef<TypeId> types) {
  llvm::SmallVector<MetaId> metas;
  llvm::SmallVector<TyVarId> rigid;
  std::vector<TypeId> zonked;
  for (TypeId type : types) {
    zonked.push_back(unify_.Zonk(type));
    unify_.FreeMetas(zonked.back(), metas);
    types_.FreeVars(zonked.back(), rigid);
  }
  llvm::DenseSet<uint32_t> taken;
  llvm::DenseMap<uint32_t, TypeId> names;
  llvm::SmallVector<TyVarId> namesakes;
  for (TyVarId var : rigid)
    if (!taken.insert(types_.vars[var].name.index).second) namesakes.push_back(var);
  for (TyVarId var : namesakes) {
    Symbol name;
    for (int number = 1; !name.valid(); ++number)
      if (Symbol numbered = Intern(fmt::format("{}{}", Text(types_.vars[var].name), number)); taken.insert(numbered.index).second) name = numbered;
    names[types_.Var(var).index] = types_.Var(types_.NewVar(name));
  }
  // What stands for a type constructor is called `t`, as in `Foldable t => t a -> Int`.
  llvm::DenseSet<uint32_t> applied;
  auto collect = [&](auto& self, TypeId type) -> void {
    if (types_.Kind(type) != TypeKind::App || !types_.HasMeta(type)) return;
    if (types_.Kind(types_.FnOf(type)) == TypeKind::Meta) applied.insert(types_.FnOf(type).index);
    self(self, types_.FnOf(type));
    self(self, types_.ArgOf(type));
  };
  for (TypeId type : zonked) collect(collect, type);
  auto name_of = [&](MetaId meta) {
    if ((unify_.IsApplied(meta) || applied.contains(types_.Meta(meta).index)) && taken.insert(Intern("t").index).second) return Intern("t");
    return FreshTyVarName(taken);
  };
  // As the program's own signatures call them, as far as that is one name for one variable.
  for (MetaId meta : metas)
    if (Symbol own = unify_.NameOf(meta); own.valid() && taken.insert(own.index).second) names[types_.Meta(meta).index] = types_.Var(types_.NewVar(own));
  for (MetaId meta : metas)
    if (TypeId& name = names[types_.Meta(meta).index]; !name.valid()) name = types_.Var(types_.NewVar(name_of(meta)));
  auto replace = [&](auto& self, TypeId type) -> TypeId {
    if (!types_.HasMeta(type) && (namesakes.empty() || !types_.HasVar(type))) return type;
    if (auto it = names.find(type.index); it != names.end()) return it->second;
    if (types_.Kind(type) == TypeKind::Var) return type;
    if (types_.Kind(type) == TypeKind::Dim) return types_.MapAtoms(type, [&](TypeId atom) { return self(self, atom); });
    TypeId fn = self(self, types_.FnOf(type));
    return types_.App(fn, self(self, types_.ArgOf(type)));
  };
  std::vector<std::string> out;
  for (TypeId type : zonked) {
    if (types_.SizeOf(type) > kShownSize) {
      out.emplace_back("a very large type");
      continue;
    }
    std::string text = types_.Print(replace(replace, type));
    if (text.size() > 300) {
      text.resize(290);
      text += " ...";
    }
    out.push_back(std::move(text));
  }
  return out;
}

bool Checker::Tainted(Span span) const {
  for (const Span& region : tainted_)
    if (region.file == span.file && region.begin <= span.begin && span.end <= region.end) return true;
  return false;
}

// The noun for what is expected: "the condition of `if`".
std::string Checker::Describe(const Reason& why) {
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

bool Checker::IsNumberType(TypeId type) {
  if (types_.IsTangent(unify_.Prune(type))) return true;  // it may be
  TypeId head = unify_.Head(type);
  ClassId num = KnownClass("Num");
  return types_.Kind(head) != TypeKind::Con || !num.valid() ||
         env_.instances.count({num.index, types_.ConOf(head).index}) != 0;
}

bool Checker::Expect(TypeId expected, TypeId actual, Span span, const Reason& why) {
  bool was_number = unify_.NumberOrigin(actual).valid();
  bool used = types_.Kind(unify_.Prune(actual)) == TypeKind::Meta;
  unify_.numbers_solved.clear();
  uint32_t epoch = unify_.epoch();
  unify_.place = places_.size() < kMaxPlaces && !options_.library ? static_cast<PlaceIndex>(places_.size()) : kNoPlace;
  unify_.span = span;
  UnifyResult result = unify_.Unify(expected, actual);
  NoteDeferred(span, why);
  if (unify_.epoch() != epoch && unify_.place != kNoPlace)
    places_.push_back({span, used ? expected : actual, used, why.kind, why.span, why.name});
  unify_.place = kNoPlace;
  if (!result.ok()) {
    ReportMismatch(result, expected, actual, span, why);
    return false;
  }
  if (!unify_.open_dims.empty()) SettleDims();
  return unify_.numbers_solved.empty() || NumbersFit(expected, actual, was_number, span, why);
}

bool Checker::NumbersFit(TypeId expected, TypeId actual, bool actual_was_number, Span span, const Reason& why) {
  for (const Unifier::SolvedNumber& number : unify_.numbers_solved) {
    TypeId meta = types_.Meta(number.meta), other = unify_.Prune(meta);
    if (IsNumberType(other)) continue;
    bool whole = other == unify_.Prune(expected);  // else the number is a part of the type
    if (ClassId num = KnownClass("Num"); num.valid() && IsRefused(num, other)) continue;
    unify_.Unsolve(number.meta);
    unify_.MarkAny(meta);  // which number it would be is nothing to settle any more
    if (!whole) {
      ReportMismatch({Clash::Mismatch, expected, other}, expected, actual, span, why);
    } else if (actual_was_number) {
      Error(Diag::NumberMismatch, span, "a number", PrintType(other));
      Explain(why);
    } else {
      std::string what = why.kind == Reason::Argument || why.kind == Reason::Operand ||
                                 why.kind == Reason::Field
                             ? Describe(why)
                             : "this";
      Error(Diag::NotANumber, span, what, PrintType(other));
      Explain(why);
    }
    if (!why.name.valid() || diags_.sources().Text(number.origin) != Text(why.name)) ExplainNumber(number.origin);
    if (subject_.valid() && !actual_was_number) ExplainVariable(subject_, span);
    const bool beside_digits = why.sibling.valid() && llvm::isDigit(diags_.sources().Text(why.sibling)[0]);
    if (diags_.sources().Text(number.origin) == "+" && types_.BuiltinOf(other) == Builtin::List && !beside_digits && (actual_was_number || why.kind != Reason::Argument))
      diags_.Hint("`++` joins strings and lists");
    else HintAtClash(actual_was_number ? other : TypeId(), actual_was_number ? TypeId() : other, span, why);
    return false;
  }
  return true;
}

// Two types of one name, from two modules or entered at the prompt one after the other: where each is declared.
bool Checker::ExplainNamesakes(TypeId left, TypeId right) {
  if (!left.valid() || !right.valid()) return false;
  TypeId heads[] = {unify_.Head(left), unify_.Head(right)};
  for (TypeId head : heads)
    if (types_.Kind(head) != TypeKind::Con) return false;
  const TyCon &one = types_.cons[types_.ConOf(heads[0])], &other = types_.cons[types_.ConOf(heads[1])];
  if (heads[0] == heads[1] || one.name != other.name) return false;
  const char* which = "one";
  for (const TyCon* con : {&one, &other}) {
    if (!Shown(con->span).valid()) continue;
    diags_.Note(con->span, fmt::format("{} `{}` is declared here", which, Text(con->name)));
    which = "the other";
  }
  return true;
}

void Checker::ReportMismatch(const UnifyResult& clash, TypeId expected, TypeId actual, Span span,
                             const Reason& why) {
  // Named in the order in which a message speaks of them.
  bool expected_first = why.kind == Reason::Argument || why.kind == Reason::Operand ||
                        why.kind == Reason::Condition || why.kind == Reason::Guard || why.kind == Reason::Field;
  std::vector<std::string> text = PrintTypes({expected_first ? expected : actual, expected_first ? actual : expected,
                                              clash.left, clash.right});
  const std::string &found = text[expected_first], &wanted = text[!expected_first];
  auto is_dim = [&](TypeId side) { return side.valid() && types_.Kind(unify_.Prune(side)) == TypeKind::Dim; };
  bool dimension = is_dim(clash.left) || is_dim(clash.right);
  auto finish = [&] {
    if (subject_.valid()) ExplainVariable(subject_, span);
    ExplainPlace(expected, span);
    if (dimension) {
      ExplainDimension(clash.left_from, text[2], span);
      ExplainDimension(clash.right_from, text[3], span);
    }
  };
  if (clash.clash == Clash::Infinite) {
    bool left_is_part = types_.Kind(unify_.Prune(clash.left)) == TypeKind::Meta;
    Error(Diag::InfiniteType, span, found, wanted)
        .Note(Span(), fmt::format("`{}` would have to be the same type as `{}`, of which it is a part",
                                  text[left_is_part ? 2 : 3], text[left_is_part ? 3 : 2]));
    Explain(why);
    if (subject_.valid()) ExplainVariable(subject_, span);
    if (subject_.valid() && subject_ == why.var) diags_.Hint("a function cannot be its own argument");
    else HintAtClash(expected, actual, span, why);
    return;
  }
  if (clash.clash == Clash::Escape) {
    TyVarId var = types_.VarOf(clash.left);
    if (!escaped_.insert(var.index).second) {
      ++unreported_;
      return;
    }
    const VarId local = LocalSignature(var);
    Error(Diag::EscapingVariable, span, Text(types_.vars[var].name))
        .Note(types_.vars[var].span, fmt::format("the variable is bound here, and stands for any {}",
                                                 local.valid() && types_.IsSize(var, program_.vars[local].scheme.type) ? "size" : "type"));
    if (local.valid())
      diags_.Hint(fmt::format("without its signature `{0}` has the type that it needs; for a signature that says `{1}` the function around it needs one too, "
                              "with `forall {1}.` and the extension ScopedTypeVariables", Text(program_.vars[local].name), Text(types_.vars[var].name)));
    return;
  }
  // A variable of a signature stands for every type; what fits only one is too special for it.
  for (TypeId whole : {clash.left, clash.right}) {
    // Of `m Int` and `[Int]` it is `m` and the list's constructor.
    TypeId side = whole.valid() && types_.Kind(whole) == TypeKind::App ? unify_.Head(whole) : whole;
    if (types_.Kind(side) != TypeKind::Var) continue;
    TyVarId var = types_.VarOf(side);
    if (!types_.vars[var].span.valid()) continue;
    TypeId other_type = whole == clash.left ? clash.right : clash.left;
    std::string name = whole == clash.left ? text[2] : text[3], other = whole == clash.left ? text[3] : text[2];
    if (side != whole) {
      other_type = unify_.Head(other_type);
      if (types_.Kind(other_type) != TypeKind::Con) continue;
      name = Text(types_.vars[var].name);
      other = PrintType(other_type);
    }
    std::string_view kind = IsSize(side, expected) || IsSize(side, actual) ? "size" : "type";
    llvm::SmallVector<TyVarId> others;
    types_.FreeVars(unify_.Zonk(other_type), others);
    const bool namesakes = llvm::any_of(others, [&](TyVarId of) { return of != var && types_.vars[of].name == types_.vars[var].name; });
    refuted_.insert(var.index);
    if (types_.Kind(other_type) == TypeKind::Var) {
      // `compose f g x = g (f x)`: what clashes within an expression that clashes with one of the same variables follows from that.
      const TyVarId second = types_.VarOf(other_type);
      auto follows = [&](const auto& earlier) {
        const auto& [place, one, two] = earlier;
        return place.file == span.file && place.begin <= span.begin && span.end <= place.end &&
               (one == var || two == var || one == second || two == second);
      };
      if (llvm::any_of(rigid_clashes_, follows)) {
        ++unreported_;
        return;
      }
      rigid_clashes_.push_back({span, var, second});
      refuted_.insert(types_.VarOf(other_type).index);
      Error(Diag::RigidVariables, span, wanted, found, name, other, kind);
      // (A variable of a method of the library's has no place that is shown.)
      Span place = Shown(types_.vars[var].span);
      NoteOnce(place, place.valid() ? fmt::format("`{}` stands for any {} here", name, kind)
                                   : fmt::format("`{}` stands for any {}: it is a variable of the method's type", name, kind));
      if (Shown(types_.vars[second].span).valid()) NoteOnce(types_.vars[second].span, fmt::format("`{}` for any other", other));
    } else {
      // (A variable of a method of the library's has no place that is shown.)
      Span place = Shown(types_.vars[var].span);
      Error(Diag::SignatureTooGeneral, span, wanted, found, name, kind)
          .Note(place, place.valid() ? fmt::format("who uses this chooses `{}`, and need not choose `{}`", name, other)
                                     : fmt::format("`{}` is a variable of the method's type: who uses the method chooses it, and need not choose `{}`", name, other));
    }
    if (why.kind != Reason::Signature) Explain(why);
    finish();
    if (namesakes)
      diags_.Hint(fmt::format("each signature has variables of its own: with the extension ScopedTypeVariables and `forall {0}.` in the outer one the inner `{0}` is the same",
                              Text(types_.vars[var].name)));
    else if (types_.Kind(other_type) == TypeKind::Var && HintAtLocalSignature(var, types_.VarOf(other_type))) return;
    else if (!HintAtTypeVariable(var)) HintAtClash(expected, actual, span, why);
    return;
  }
  Diag id = Diag::TypeMismatch;
  switch (why.kind) {
    case Reason::Branch:
      Error(Diag::BranchMismatch, span, wanted, found)
          .Note(why.span, fmt::format("the other branch has the type `{}`", wanted));
      break;
    case Reason::Alternative:
      Error(Diag::AlternativeMismatch, span, found, wanted)
          .Note(why.span, fmt::format("the first one has the type `{}`", wanted));
      break;
    case Reason::Clause:
      Error(Diag::ClauseMismatch, span, Text(why.name), found, wanted)
          .Note(why.span, fmt::format("the first clause gives `{}`", wanted));
      break;
    case Reason::Element:
      Error(Diag::ElementMismatch, span, found, wanted)
          .Note(why.span, fmt::format("the first element has the type `{}`", wanted));
      break;
    case Reason::Parameter:
      Error(Diag::PatternMismatch, span, found, wanted);
      Explain(why);
      break;
    case Reason::Condition:
    case Reason::Guard: id = Diag::ConditionMismatch; break;
    case Reason::Argument:
    case Reason::Operand:
    case Reason::Field: id = Diag::ArgumentMismatch; break;
    default: break;
  }
  switch (why.kind) {
    case Reason::Branch:
    case Reason::Alternative:
    case Reason::Clause:
    case Reason::Element:
    case Reason::Parameter: break;
    default:
      if (id == Diag::TypeMismatch) Error(id, span, found, wanted);
      else Error(id, span, Describe(why), wanted, found);
      Explain(why);
  }
  finish();
  const std::optional<size_t> rank = RankOf(expected), other_rank = RankOf(actual);
  const bool ranks = rank && other_rank && *rank != *other_rank;  // which dimensions clash then says nothing
  if (!ranks && unify_.Prune(expected) != unify_.Prune(clash.left) && (dimension || found.size() + wanted.size() > 60))
    diags_.Note(Span(), fmt::format("in them, `{}` clashes with `{}`", text[2], text[3]));
  if (ExplainNamesakes(clash.left, clash.right)) return;
  // Inferred, a function that calls itself with `concat w w` has w of no elements.
  if (dimension && (text[2] == "0" || text[3] == "0") && why.var.valid() && !program_.vars[why.var].from_library && !signature_of_.count(why.var.index))
    diags_.Hint(fmt::format("within its own definition `{}` has one size only, unless it has a signature", Text(why.name)));
  HintAtClash(expected, actual, span, why);
}

}  // namespace df::check
