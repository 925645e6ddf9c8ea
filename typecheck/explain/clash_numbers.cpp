// Rows of HintAtClash: characters and strings, elements and their lists, then numbers.
#include "typecheck/explain/clash_rows.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/origin.h"
#include "typecheck/explain/short_text.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"

namespace df::check {
namespace {

// ---------------------------------------------------------------- characters and strings

RowHint CharacterInDoubleQuotes(const ClashView& c) {
  if (c.wanted != Builtin::Char || !c.has_string || c.text.size() != 3 || c.text[0] != '"') return std::nullopt;
  return fmt::format("a character stands in single quotes: `'{}'`", c.text[1]);
}

RowHint StringOfCharacter(const ClashView& c) {
  if (!c.wants_string || c.found != Builtin::Char) return std::nullopt;
  if (c.text.size() == 3 && c.text[0] == '\'') return fmt::format("a string stands in double quotes: `\"{}\"`", c.text[1]);
  if (IsShort(c.text)) return fmt::format("`[{}]` is a string of one character", c.text);
  return std::nullopt;
}

RowHint TextForString(const ClashView& c) {
  if (!c.IsNamed(c.have, "Text") || !c.wants_string) return std::nullopt;
  return "`unpack` of `Data.Text` turns a `Text` into a `String`";
}

RowHint StringForText(const ClashView& c) {
  if (!c.has_string || !c.IsNamed(c.want, "Text")) return std::nullopt;
  if (c.text[0] != '"') return "`pack` of `Data.Text` turns a `String` into a `Text`";
  return "`pack` of `Data.Text` turns a `String` into a `Text`; under `{-# LANGUAGE OverloadedStrings #-}` a literal is one";
}

RowHint DigitForCharacter(const ClashView& c) {
  if (c.wanted != Builtin::Char || c.actual.valid() || c.text.size() != 1 || !std::isdigit(static_cast<unsigned char>(c.text[0]))) return std::nullopt;
  return fmt::format("`'{}'` is the character", c.text);
}

// ---------------------------------------------------------------- elements of a list

// `toUpper "abc"`
RowHint FunctionOfElements(const ClashView& c) {
  if (c.found != Builtin::List || !c.want.valid() || c.wanted == Builtin::List || c.why.kind != Reason::Argument || c.why.index != 0) return std::nullopt;
  if (c.ArgumentOf(c.actual) != c.s.unify.Zonk(c.expected) || !c.why.name.valid() || !IsVariable(Text(c.why.name)) || !IsShort(c.text)) return std::nullopt;
  return fmt::format("`map {} {}` applies it to each element", Text(c.why.name), Parenthesized(c.text));
}

// `return 1` where the action of `when` stands
RowHint ActionThatGives(const ClashView& c) {
  if (c.wanted != Builtin::Unit || c.why.kind != Reason::Argument || (Text(c.why.name) != "return" && Text(c.why.name) != "pure")) return std::nullopt;
  return fmt::format("an action that gives nothing ends with `{} ()`", Text(c.why.name));
}

RowHint FoldableForList(const ClashView& c) {
  if (c.wanted != Builtin::List) return std::nullopt;
  if (c.s.types.Kind(c.actual.valid() ? c.s.unify.Head(c.actual) : c.expected) != TypeKind::Var) return std::nullopt;
  const ClassId foldable = KnownClass(c.s, "Foldable");
  if (!foldable.valid() || !IsGiven(c.s, {foldable, c.s.unify.Head(c.actual), {}})) return std::nullopt;
  return fmt::format("`toList {}` of `Data.Foldable` has its elements as a list", Parenthesized(c.text));
}

// `mapM_ (\k v -> ..) pairs`
RowHint LambdaOfPairs(const ClashView& c) {
  const TypeId pair = c.found == Builtin::List ? c.ArgumentOf(c.actual) : TypeId();
  if (c.why.kind != Reason::Argument || !pair.valid() || !c.s.types.IsTuple(pair)) return std::nullopt;
  for (const ast::Expr* sibling : c.s.siblings) {
    const auto* lambda = llvm::dyn_cast<ast::LambdaExpr>(StripParens(sibling));
    llvm::SmallVector<TypeId, 4> parts;
    c.s.unify.Head(pair, &parts);
    if (!lambda || lambda->params.size() < 2 || lambda->params.size() != parts.size()) continue;
    std::vector<std::string_view> names;
    for (const ast::Pat* param : lambda->params) names.push_back(c.s.diags.sources().Text(param->span));
    return fmt::format("`\\({}) -> ..` takes a tuple apart", fmt::join(names, ", "));
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- numbers and text

RowHint NumberForString(const ClashView& c) {
  const bool number = !c.actual.valid() || IsWhole(c.found) || IsFraction(c.found);
  if (!c.wants_string || !number || !KnownVar(c.s, "show").valid() || !IsShort(c.text)) return std::nullopt;
  return fmt::format("`show {}` is the number as a string", Parenthesized(c.text));
}

RowHint InstanceOfNum(const ClashView& c) {
  if (c.expected.valid() || !c.have.valid() || c.found != Builtin::None || (c.op != "+" && c.op != "-" && c.op != "*")) return std::nullopt;
  const TyCon& type = c.s.types.cons[c.have];
  if (!Shown(c.s, type.span).valid() || type.arity != 0) return std::nullopt;
  return fmt::format("`instance Num {} where ..` would say what `{}` is of two of them", Text(type.name), c.op);
}

RowHint NumberForExitCode(const ClashView& c) {
  if (c.actual.valid() || !c.IsNamed(c.want, "ExitCode")) return std::nullopt;
  if (c.text == "0") return "`ExitSuccess` is the exit code 0";
  return fmt::format("`ExitFailure {}` is this exit code", Parenthesized(c.text));
}

RowHint StringBesideNumber(const ClashView& c) {
  if (c.expected.valid() || !c.has_string || !c.is_operator || !IsVariable(c.text)) return std::nullopt;
  if (c.other.empty() || !std::isdigit(static_cast<unsigned char>(c.other[0]))) return std::nullopt;
  return fmt::format("`read {}` is the number that the string holds", c.text);
}

RowHint SumOfStrings(const ClashView& c) {
  if (c.expected.valid() || !c.has_string || c.op != "+") return std::nullopt;
  return "`++` joins strings and lists";
}

RowHint NumberInQuotes(const ClashView& c) {
  if (!(IsWhole(c.wanted) || IsFraction(c.wanted)) || !c.has_string || c.text.size() <= 2 || c.text.size() >= 20 || c.text[0] != '"') return std::nullopt;
  const std::string_view inside = c.text.substr(1, c.text.size() - 2);
  if (!llvm::all_of(inside, [](char digit) { return digit >= '0' && digit <= '9'; })) return std::nullopt;
  return fmt::format("without its quotes it is a number: `{}`", inside);
}

RowHint CharacterInSum(const ClashView& c) {
  if (!IsWhole(c.wanted) || c.found != Builtin::Char || (c.op != "+" && c.op != "-") || !IsShort(c.text)) return std::nullopt;
  return fmt::format("`ord {}` of `Data.Char` is the number of a character", Parenthesized(c.text));
}

// ---------------------------------------------------------------- kinds of numbers

RowHint NumberForAnyType(const ClashView& c) {
  if (!c.expected.valid() || c.s.types.Kind(c.s.unify.Prune(c.expected)) != TypeKind::Var) return std::nullopt;
  const bool whole = IsWhole(c.found);
  if (!(whole || IsFraction(c.found)) || !KnownClass(c.s, "Fractional").valid()) return std::nullopt;
  if (!IsGiven(c.s, {KnownClass(c.s, whole ? "Num" : "Fractional"), c.expected, {}}) || !IsShort(c.text)) return std::nullopt;
  return whole ? fmt::format("`fromIntegral {}` is a number of any type", Parenthesized(c.text))
               : fmt::format("`realToFrac {}` is a fraction of any type", Parenthesized(c.text));
}

RowHint AnyTypeForFraction(const ClashView& c) {
  if (!IsFraction(c.wanted) || !c.actual.valid() || c.s.types.Kind(c.s.unify.Prune(c.actual)) != TypeKind::Var || !IsShort(c.text)) return std::nullopt;
  if (!KnownClass(c.s, "Real").valid() || !IsGiven(c.s, {KnownClass(c.s, "Real"), c.actual, {}})) return std::nullopt;
  const bool integral = IsGiven(c.s, {KnownClass(c.s, "Integral"), c.actual, {}});
  return fmt::format("`{} {}` is a `{}`", integral ? "fromIntegral" : "realToFrac", Parenthesized(c.text), c.Want());
}

RowHint WholeForFraction(const ClashView& c) {
  if (!IsFraction(c.wanted) || !IsWhole(c.found)) return std::nullopt;
  return fmt::format("`fromIntegral` turns an `{}` into a `{}`", c.Have(), c.Want());
}

RowHint WholeForWhole(const ClashView& c) {
  if (!IsWhole(c.wanted) || !IsWhole(c.found) || c.wanted == c.found) return std::nullopt;
  return fmt::format("`fromIntegral` turns an `{}` into an `{}`", c.Have(), c.Want());
}

RowHint FractionForFraction(const ClashView& c) {
  if (!IsFraction(c.wanted) || !IsFraction(c.found) || c.wanted == c.found) return std::nullopt;
  return fmt::format("`realToFrac` turns a `{}` into a `{}`", c.Have(), c.Want());
}

RowHint FractionForWhole(const ClashView& c) {
  if (!IsWhole(c.wanted) || !IsFraction(c.found)) return std::nullopt;
  return fmt::format("`truncate`, `round`, `floor` and `ceiling` turn a `{}` into an `{}`", c.Have(), c.Want());
}

// `sum xs / 2`, where the elements are whole.
RowHint ListOfWhole(const ClashView& c) {
  if (c.wanted != Builtin::List || c.found != Builtin::List) return std::nullopt;
  if (!IsFraction(c.BuiltinAt(c.ArgumentOf(c.expected))) || !IsWhole(c.BuiltinAt(c.ArgumentOf(c.actual)))) return std::nullopt;
  return "`fromIntegral` turns a whole number into one of any type, `map fromIntegral` those of a list";
}

constexpr ClashRow kTextRows[] = {
    CharacterInDoubleQuotes, StringOfCharacter, TextForString,     StringForText,      DigitForCharacter,   FunctionOfElements, ActionThatGives,
    FoldableForList,         LambdaOfPairs,     NumberForString,   InstanceOfNum,      NumberForExitCode,   StringBesideNumber, SumOfStrings,
    NumberInQuotes,          CharacterInSum,    NumberForAnyType,  AnyTypeForFraction, WholeForFraction,    WholeForWhole,      FractionForFraction,
    FractionForWhole,        ListOfWhole};

}  // namespace

llvm::ArrayRef<ClashRow> TextRows() { return kTextRows; }

}  // namespace df::check
