// Two types that have to be one: unified, or reported.
#include "typecheck/solve/expect.h"

#include "llvm/ADT/StringExtras.h"
#include "typecheck/explain/class.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/family.h"
#include "typecheck/explain/hint.h"
#include "typecheck/explain/origin.h"
#include "typecheck/solve/dims.h"
#include "typecheck/solve/tangents.h"
#include "typecheck/state/equality.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// Places are for messages alone: a huge module keeps the first ones.
constexpr size_t kMaxPlaces = 1'000'000;

}  // namespace

bool Expect(State& s, TypeId expected, TypeId actual, Span span, const Reason& why) {
  bool was_number = s.unify.NumberOrigin(actual).valid();
  bool used = s.types.Kind(s.unify.Prune(actual)) == TypeKind::Meta;
  s.unify.numbers_solved.clear();
  uint32_t epoch = s.unify.epoch();
  s.unify.place = s.places.size() < kMaxPlaces && !s.options.library ? static_cast<PlaceIndex>(s.places.size()) : kNoPlace;
  s.unify.span = span;
  UnifyResult result = s.unify.Unify(expected, actual);
  NoteDeferred(s, span, why);
  if (!s.unify.postponed.empty()) WantPostponed(s, {Origin::Use, span, Symbol(), VarId(), why.span});
  if (s.unify.epoch() != epoch && s.unify.place != kNoPlace)
    s.places.push_back({span, used ? expected : actual, used, why.kind, why.span, why.name});
  s.unify.place = kNoPlace;
  if (s.types.endless.valid()) {
    ReportEndless(s, span);
    return false;
  }
  if (!result.ok()) {
    ReportMismatch(s, result, expected, actual, span, why);
    return false;
  }
  if (!s.unify.open_dims.empty()) SettleDims(s);
  return s.unify.numbers_solved.empty() || NumbersFit(s, expected, actual, was_number, span, why);
}

bool NumbersFit(State& s, TypeId expected, TypeId actual, bool actual_was_number, Span span, const Reason& why) {
  for (const Unifier::SolvedNumber& number : s.unify.numbers_solved) {
    TypeId meta = s.types.Meta(number.meta), other = s.unify.Prune(meta);
    if (IsNumberType(s, other)) continue;
    bool whole = other == s.unify.Prune(expected);  // else the number is a part of the type
    if (ClassId num = KnownClass(s, "Num"); num.valid() && IsRefused(s, num, other)) continue;
    s.unify.Unsolve(number.meta);
    s.unify.MarkAny(meta);  // which number it would be is nothing to settle any more
    if (!whole) {
      ReportMismatch(s, {Clash::Mismatch, expected, other}, expected, actual, span, why);
    } else if (actual_was_number) {
      s.Error(Diag::NumberMismatch, span, "a number", PrintType(s, other));
      Explain(s, why);
    } else {
      std::string what = why.kind == Reason::Argument || why.kind == Reason::Operand ||
                                 why.kind == Reason::Field
                             ? Describe(s, why)
                             : "this";
      s.Error(Diag::NotANumber, span, what, PrintType(s, other));
      Explain(s, why);
    }
    if (!why.name.valid() || s.diags.sources().Text(number.origin) != Text(why.name)) ExplainNumber(s, number.origin);
    if (s.subject.valid() && !actual_was_number) ExplainVariable(s, s.subject, span);
    const bool beside_digits = why.sibling.valid() && llvm::isDigit(s.diags.sources().Text(why.sibling)[0]);
    if (s.diags.sources().Text(number.origin) == "+" && s.types.BuiltinOf(other) == Builtin::List && !beside_digits &&
        (actual_was_number || why.kind != Reason::Argument))
      s.diags.Hint("`++` joins strings and lists");
    else HintAtClash(s, actual_was_number ? other : TypeId(), actual_was_number ? TypeId() : other, span, why);
    return false;
  }
  return true;
}

}  // namespace df::check
