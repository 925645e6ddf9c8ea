// Rows of HintAtClash: a value and what holds it, actions and their results, lists and their elements.
#include "typecheck/explain/clash_rows.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/hint.h"
#include "typecheck/explain/order.h"
#include "typecheck/explain/short_text.h"

namespace df::check {
namespace {

// `let [a, b] = map read ws :: Int`
RowHint AnnotatedElement(const ClashView& c) {
  if (c.found != Builtin::List || c.wanted == Builtin::List || !c.want.valid() || c.why.kind != Reason::Annotation) return std::nullopt;
  const TypeId element = c.ArgumentOf(c.actual);
  if (c.s.types.Kind(element) != TypeKind::Meta && element != c.s.unify.Zonk(c.expected)) return std::nullopt;
  return fmt::format("it is a list, of the type `[{}]`", PrintType(c.s, c.expected));
}

RowHint BoolForOrdering(const ClashView& c) {
  if (c.wanted != Builtin::Ordering || c.found != Builtin::Bool) return std::nullopt;
  return "`compare x y` gives an `Ordering`";
}

// ---------------------------------------------------------------- a value and what holds it

RowHint MaybeForValue(const ClashView& c) {
  if (!c.IsNamed(c.have, "Maybe") || c.IsNamed(c.want, "Maybe") || c.text == "Nothing" || c.text.starts_with("Just")) return std::nullopt;
  return "it may be `Nothing`: a `case` with `Just x -> ..` and `Nothing -> ..` takes the value out";
}

RowHint ValueForMaybe(const ClashView& c) {
  if (!c.IsNamed(c.want, "Maybe") || c.IsNamed(c.have, "Maybe") || !IsShort(c.text)) return std::nullopt;
  const TyConId inside = c.Head(c.ArgumentOf(c.expected));
  if (c.have.valid() && inside.valid() && inside != c.have) return std::nullopt;
  return fmt::format("`Just {}` is a `Maybe` that holds it", Parenthesized(c.text));
}

RowHint ValueForEither(const ClashView& c) {
  if (!c.IsNamed(c.want, "Either") || c.IsNamed(c.have, "Either") || !IsShort(c.text) || !c.actual.valid()) return std::nullopt;
  const TypeId value = c.s.unify.Zonk(c.actual);
  if (c.ArgumentOf(c.expected) == value) return fmt::format("`Right {}` is an `Either` that holds it", Parenthesized(c.text));
  llvm::SmallVector<TypeId, 4> sides;
  c.s.unify.Head(c.expected, &sides);
  if (sides.size() != 2 || c.s.unify.Zonk(sides[0]) != value) return std::nullopt;
  return fmt::format("`Left {}` is an `Either` that tells what went wrong", Parenthesized(c.text));
}

// ---------------------------------------------------------------- actions

// `putStrLn "n = " ++ show n`
RowHint ActionAsOperand(const ClashView& c) {
  if (c.found != Builtin::IO || c.wanted == Builtin::IO || !c.is_operator || c.why.index != 0) return std::nullopt;
  const size_t space = c.text.find(' ');
  if (!IsShort(c.text) || !IsShort(c.other) || space == std::string_view::npos) return std::nullopt;
  if (!IsVariable(c.text.substr(0, space)) || !IsOneArgument(c.text.substr(space + 1))) return std::nullopt;
  return BindingHint(c.text.substr(0, space), c.text.substr(space + 1), c.op, c.other);
}

// `sum numbers`, where `numbers` is an action: IO fits the variable of `Foldable t => t a`.
RowHint ActionAsContainer(const ClashView& c) {
  if (c.found != Builtin::IO || c.wanted != Builtin::IO || c.why.kind != Reason::Argument || !c.why.var.valid()) return std::nullopt;
  if (!TakesAnyContainer(c.s, c.s.program.vars[c.why.var].scheme.type, c.why.index)) return std::nullopt;
  return "an action's result is taken by `x <- action` in a `do`";
}

RowHint ActionUnderSignature(const ClashView& c) {
  if (c.found != Builtin::IO || c.wanted == Builtin::IO || !c.want.valid()) return std::nullopt;
  if (c.why.kind != Reason::Signature && c.why.kind != Reason::Annotation) return std::nullopt;
  const bool open = c.s.types.Kind(c.ArgumentOf(c.actual)) == TypeKind::Meta;
  std::string type = PrintType(c.s, open ? c.s.types.Con(c.have, {c.expected}) : c.actual);
  return fmt::format("it is an action, whose type is `{}`; its result is taken by `x <- action` in a `do`", type);
}

RowHint ActionForValue(const ClashView& c) {
  if (c.found != Builtin::IO || c.wanted == Builtin::IO || (!c.want.valid() && c.expected.valid())) return std::nullopt;
  return "an action's result is taken by `x <- action` in a `do`";
}

RowHint ValueForAction(const ClashView& c) {
  if (c.wanted != Builtin::IO || c.found == Builtin::IO || c.why.kind == Reason::Argument) return std::nullopt;
  if (!IsShort(c.text) || !(c.actual.valid() || IsAtom(c.text))) return std::nullopt;
  if (c.BuiltinAt(c.ArgumentOf(c.expected)) == Builtin::Unit && c.found != Builtin::Unit)
    return fmt::format("`{} {}` is an action that writes it", c.has_string ? "putStrLn" : "print", Parenthesized(c.text));
  return fmt::format("`return {}` is an action with this result", Parenthesized(c.text));
}

// ---------------------------------------------------------------- lists and their elements

RowHint ElementBeforeJoin(const ClashView& c) {
  if (c.wanted != Builtin::List || c.op != "++" || c.why.index != 0 || !c.actual.valid() || !c.have.valid()) return std::nullopt;
  if (!IsShort(c.text) || !IsShort(c.other) || c.s.types.Kind(c.ArgumentOf(c.expected)) != TypeKind::Meta) return std::nullopt;
  if (c.other.substr(0, 1) == "\"" && c.found != Builtin::Char) return std::nullopt;
  return fmt::format("`:` puts one element before a list: `{} : {}`", c.text, c.other);
}

RowHint ElementInJoin(const ClashView& c) {
  if (c.wanted != Builtin::List || c.wants_string || c.op != "++" || !IsShort(c.text)) return std::nullopt;
  if (c.actual.valid() && c.ArgumentOf(c.expected) != c.s.unify.Zonk(c.actual)) return std::nullopt;
  return fmt::format("`++` joins two lists, and `[{}]` is a list of one element", c.text);
}

RowHint ListBeforeCons(const ClashView& c) {
  if (c.found != Builtin::List || c.op != ":" || c.why.index != 0 || !c.expected.valid()) return std::nullopt;
  if (c.ArgumentOf(c.actual) != c.s.unify.Zonk(c.expected)) return std::nullopt;
  return "`:` puts one element before a list; `++` joins two lists";
}

RowHint ElementAfterCons(const ClashView& c) {
  if (c.wanted != Builtin::List || c.op != ":" || c.why.index != 1 || c.found == Builtin::List) return std::nullopt;
  return "`:` puts one element before a list; `++` joins two lists";
}

RowHint OwnHolder(const ClashView& c) {
  HintAtHolder(c.s, c.expected, c.actual, c.text);
  return "";
}

constexpr ClashRow kHolderRows[] = {AnnotatedElement,     BoolForOrdering, MaybeForValue,  ValueForMaybe,     ValueForEither, ActionAsOperand,  ActionAsContainer,
                              ActionUnderSignature, ActionForValue,  ValueForAction, ElementBeforeJoin, ElementInJoin,  ListBeforeCons,   ElementAfterCons,
                              OwnHolder};

}  // namespace

llvm::ArrayRef<ClashRow> HolderRows() { return kHolderRows; }

}  // namespace df::check
