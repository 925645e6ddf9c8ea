// See family.h.
#include "typecheck/explain/family.h"

#include "typecheck/explain/explain.h"
#include "typecheck/explain/origin.h"
#include "typecheck/state/equality.h"
#include "typecheck/state/looks.h"

namespace df::check {
namespace {

// The first type of a family in it; invalid if there is none.
TypeId FamilyWithin(State& s, TypeId type) {
  if (!s.types.HasFamily(type)) return {};
  if (s.types.IsFamily(type)) {
    llvm::SmallVector<TypeId> args;
    s.types.Head(type, &args);
    for (TypeId arg : args)
      if (TypeId inner = FamilyWithin(s, arg); inner.valid()) return inner;
    return type;
  }
  if (s.types.Kind(type) != TypeKind::App) return {};
  const TypeId fn = FamilyWithin(s, s.types.FnOf(type));
  return fn.valid() ? fn : FamilyWithin(s, s.types.ArgOf(type));
}

// The argument whose form decides which equation fits, and of which nothing is known; invalid if there is none.
TypeId UndecidedArgument(State& s, const TypeFamily& family, llvm::ArrayRef<TypeId> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const TypeKind kind = s.types.Kind(args[i]);
    if (kind != TypeKind::Var && kind != TypeKind::Meta && !s.types.IsFamily(args[i])) continue;
    if (family.equations.empty() || llvm::any_of(family.equations, [&](const FamilyEquation& equation) { return s.types.Kind(equation.left[i]) != TypeKind::Var; }))
      return args[i];
  }
  return {};
}

}  // namespace

void ExplainFamilies(State& s, TypeId a, TypeId b) {
  a = s.unify.Zonk(a), b = s.unify.Zonk(b);
  const TypeId left = FamilyWithin(s, a), right = FamilyWithin(s, b);
  const TypeId stuck = left.valid() ? left : right;
  if (!stuck.valid()) return;
  llvm::SmallVector<TypeId> args;
  const TyConId con = s.types.Head(stuck, &args);
  const TypeFamily family = s.types.families[s.types.cons[con].family];
  const TypeId open = UndecidedArgument(s, family, args);
  const std::vector<std::string> text = PrintTypes(s, {stuck, open.valid() ? open : stuck});
  const std::string_view name = Text(s.types.cons[con].name);
  const bool may_fit = family.closed && !s.types.IsGround(stuck);
  const std::string why = open.valid() ? fmt::format("which equation of the family `{}` fits depends on `{}`, of which nothing is known", name, text[1])
                                       : fmt::format("no equation of the family `{}` {}", name, may_fit ? "surely fits" : "fits");
  s.diags.Note(Shown(s, family.span), fmt::format("`{}` stays as it is: {}", text[0], why));
  if (left.valid() && right.valid() && s.types.Head(left) == s.types.Head(right) && left != right)
    s.diags.Note(Span(), fmt::format("that a family gives one type for two arguments does not say that these are one: `{}` is not injective", name));
}

void ReportUnequal(State& s, const Wanted& wanted) {
  if (Tainted(s, wanted.origin.span)) return;
  const auto [left, right] = SidesOf(s, wanted.type);
  const TypeId a = s.unify.Zonk(left), b = s.unify.Zonk(right);
  const TypeId key = core::ClassType(s.program, wanted.cls, {a, b});
  for (const auto& [cls, type, at] : s.reported)
    if (cls == wanted.cls && type == key && at == s.definition) return;
  s.reported.push_back({wanted.cls, key, s.definition});
  const std::vector<std::string> text = PrintTypes(s, {a, b});
  s.Error(Diag::FamilyUnequal, wanted.origin.span, text[0], text[1]);
  if (wanted.origin.name.valid() && Shown(s, wanted.origin.asked).valid()) NoteOnce(s, wanted.origin.asked, fmt::format("`{}` asks for it", Text(wanted.origin.name)));
  ExplainFamilies(s, a, b);
}

void ReportCoercion(State& s, const Wanted& wanted, const Wanted& missing) {
  if (Tainted(s, wanted.origin.span)) return;
  const TypeId whole = s.unify.Zonk(missing.type);
  for (const auto& [cls, type, at] : s.reported)
    if (cls == missing.cls && type == whole && at == s.definition) return;
  s.reported.push_back({missing.cls, whole, s.definition});
  const auto args = core::ClassArguments(s.program, missing.cls, whole);
  std::vector<Wanted> stuck;
  std::string obstacle;
  SolveCoercible(s, missing, stuck, nullptr, &obstacle);
  const std::vector<std::string> text = PrintTypes(s, {args[0], args[1]});
  const bool open = obstacle.empty();
  if (open) obstacle = "of a type variable only its context says what it is represented as";
  s.Error(Diag::CoerceRefused, wanted.origin.span, text[0], text[1], obstacle);
  ExplainFamilies(s, args[0], args[1]);
  if (open) s.diags.Hint(fmt::format("add `Coercible {} {}` to the context of the signature", s.types.PrintArgument(args[0]), s.types.PrintArgument(args[1])));
  else if (obstacle.starts_with("the constructor")) s.diags.Hint("an import that brings it makes the coercion possible");
}

void ReportEndless(State& s, Span span) {
  if (!s.types.endless.valid()) return;
  // It stays what it is until the next module: no family is computed any more, since what it gave may hold it again.
  const TypeId type = s.types.endless;
  for (const auto& [cls, other, at] : s.reported)
    if (cls == s.program.equality && other == type && at == kNowhere) return;
  s.reported.push_back({s.program.equality, type, kNowhere});
  const TyConId con = s.types.Head(type);
  const TypeFamily& family = s.types.families[s.types.cons[con].family];
  s.Error(Diag::FamilyEndless, span, s.types.SizeOf(type) > kShownSize / 50 ? fmt::format("{} ..", Text(s.types.cons[con].name)) : PrintType(s, type), Types::kMostReductions)
      .Note(Shown(s, family.span), "the equations of this family lead from one type to the next");
}

}  // namespace df::check
