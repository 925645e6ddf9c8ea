// Rows of HintAtClash: functions where something else is wanted, or the other way round, and what they are applied to.
#include "typecheck/explain/clash_rows.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/order.h"
#include "typecheck/explain/short_text.h"
#include "typecheck/state/names.h"
#include "typecheck/state/looks.h"

namespace df::check {
namespace {

// How many parameters a function's type has; `result` is what is left.
size_t Parameters(const ClashView& c, TypeId type, TypeId* result = nullptr) {
  size_t count = 0;
  TypeId to = type;
  while (c.IsFun(to, &to)) ++count;
  if (result) *result = to;
  return count;
}

// `not x == y`: the operator's result is what the function wants.
RowHint FunctionOfOperator(const ClashView& c) {
  const Reason* outer = c.why.outer;
  if (c.why.kind != Reason::Argument || c.why.index != 0 || !outer || outer->kind != Reason::Operand) return std::nullopt;
  if (outer->index != 0 || !outer->var.valid() || !IsShort(c.text) || !outer->sibling.valid()) return std::nullopt;
  llvm::SmallVector<TypeId> params;
  TypeId result = c.s.types.SplitFun(c.s.program.vars[outer->var].scheme.type, params, 2);
  std::string_view right = c.s.diags.sources().Text(outer->sibling);
  if (!c.expected.valid() || result != c.s.unify.Zonk(c.expected) || !IsShort(right)) return std::nullopt;
  return BindingHint(Text(c.why.name), c.text, Text(outer->name), right);
}

// `map (- 1) xs`
RowHint SectionOfMinus(const ClashView& c) {
  if (c.wanted != Builtin::Function || c.actual.valid() || c.text.size() <= 1 || c.text[0] != '-' || !IsShort(c.text)) return std::nullopt;
  return fmt::format("`subtract {}` is the function", llvm::StringRef(c.text.substr(1)).trim().str());
}

// `sortBy age people`
RowHint ComparisonByKey(const ClashView& c) {
  TypeId second, order, to;
  if (c.wanted != Builtin::Function || c.found != Builtin::Function || !c.IsFun(c.expected, &second) || !c.IsFun(second, &order)) return std::nullopt;
  if (c.BuiltinAt(order) != Builtin::Ordering || !c.IsFun(c.actual, &to) || c.IsFun(to)) return std::nullopt;
  if (!IsShort(c.text) || c.text.starts_with("comparing ")) return std::nullopt;
  return fmt::format("`comparing {}` of `Data.Ord` compares two by it", Parenthesized(c.text));
}

// `foldr (\x -> x + 1) 0 xs`
RowHint LambdaOfMoreParameters(const ClashView& c) {
  if (c.wanted != Builtin::Function || c.found == Builtin::Function || c.why.kind != Reason::None) return std::nullopt;
  if (!c.s.lambda || c.span != c.s.lambda->body->span) return std::nullopt;
  const size_t has = c.s.lambda->params.size();
  return fmt::format("this lambda has {} parameter{}, and is given {} arguments one after the other", has, has == 1 ? "" : "s",
                     has + Parameters(c, c.expected));
}

// `when ready putStrLn "a"`
RowHint MissingParentheses(const ClashView& c) {
  TypeId gives, made;
  if (c.wanted != Builtin::Function || c.found != Builtin::Function || !c.IsFun(c.expected, &gives) || !c.IsFun(c.actual, &made)) return std::nullopt;
  if (c.BuiltinAt(gives) != Builtin::Unit || c.BuiltinAt(made) != Builtin::IO || !IsVariable(c.text)) return std::nullopt;
  return fmt::format("are parentheses missing, as in `({} ..)`?", c.text);
}

// A function that stands for what a type of the program's own would hold: `p = \s -> Just (c, s)`
RowHint LambdaForHolder(const ClashView& c) {
  const bool told = c.found == Builtin::Function && c.wanted != Builtin::Function && c.text.starts_with("\\") &&
                    HintAtHolder(c.s, c.expected, c.actual, c.text);
  return told ? RowHint("") : std::nullopt;
}

// `area = 3` under `area :: Shape -> Double`
RowHint PromisedParameters(const ClashView& c) {
  if (c.wanted != Builtin::Function || c.found == Builtin::Function || c.why.kind != Reason::Signature) return std::nullopt;
  if (c.actual.valid() && !c.have.valid()) return std::nullopt;
  TypeId last;
  const size_t more = Parameters(c, c.expected, &last);
  if (!(c.actual.valid() ? c.s.unify.Head(last) == c.s.unify.Head(c.actual) : IsNumberType(c.s, last))) return std::nullopt;
  return fmt::format("the signature promises {} more parameter{} before the `=`", more, more == 1 ? "" : "s");
}

// `take -1 xs`: the number is the argument, and not what it is applied to.
RowHint NegativeArgument(const ClashView& c) {
  if (c.found != Builtin::Function || c.wanted == Builtin::Function) return std::nullopt;
  if (c.op != "-" || c.why.index != 0 || !IsShort(c.text) || !IsShort(c.other)) return std::nullopt;
  const size_t end = std::isdigit(static_cast<unsigned char>(c.other[0])) ? std::min(c.other.find(' '), c.other.size()) : c.other.size();
  if (end < c.other.size()) c.s.negative = c.why.sibling;
  return fmt::format("a negative argument stands in parentheses: `{} (-{}){}`", c.text, c.other.substr(0, end), c.other.substr(end));
}

// A function where something else is wanted.
RowHint MissingArguments(const ClashView& c) {
  if (c.found != Builtin::Function || c.wanted == Builtin::Function) return std::nullopt;
  if (IsVariable(c.text))
    if (VarId var = LookUpValue(c.s, {Intern(c.text), {}, c.span}); var.valid() && c.s.env.field_owner.count(var.index))
      return fmt::format("it is a function: `{} x` is the field of a value `x`", c.text);
  return fmt::format("it is a function: {} missing", Parameters(c, c.actual) == 1 ? "an argument is" : "arguments are");
}

// `putStrLn person.name`
RowHint DotBeforeFunction(const ClashView& c) {
  const size_t last = c.text.rfind(' ');
  if (c.op != "." || c.why.index != 0 || last == std::string_view::npos || !IsVariable(c.text.substr(last + 1))) return std::nullopt;
  if (c.span.end + 1 != c.why.sibling.begin || !IsVariable(c.other)) return std::nullopt;
  return fmt::format("a function stands before its argument: `{} ({} {})`", c.text.substr(0, last), c.other, c.text.substr(last + 1));
}

RowHint CompositionOfValue(const ClashView& c) {
  if (c.wanted != Builtin::Function || c.found == Builtin::Function || c.op != "." || !IsShort(c.text) || !IsShort(c.other)) return std::nullopt;
  if (c.why.index == 1) return fmt::format("`.` joins two functions; `$` applies one: `{} $ {}`", c.other, c.text);
  return "`.` joins two functions";
}

// Pairs for several arguments: `add (1, 2)`.
RowHint TupleForArguments(const ClashView& c) {
  if (c.found != Builtin::Tuple || c.wanted == Builtin::Tuple || c.why.kind != Reason::Argument || c.why.index != 0) return std::nullopt;
  if (c.text.size() <= 2 || c.text[0] != '(' || !IsShort(c.text)) return std::nullopt;
  std::string spread(c.text.substr(1, c.text.size() - 2));
  if (spread.find(',') == std::string::npos || spread.find_first_of("()[]\"'", 0) != std::string::npos) return std::nullopt;
  spread.erase(std::remove(spread.begin(), spread.end(), ','), spread.end());
  return fmt::format("arguments stand one after the other: `{} {}`", Text(c.why.name), spread);
}

constexpr ClashRow kFunctionRows[] = {FunctionOfOperator, SectionOfMinus,   ComparisonByKey,  LambdaOfMoreParameters, MissingParentheses, LambdaForHolder,
                              PromisedParameters, NegativeArgument, MissingArguments, DotBeforeFunction,      CompositionOfValue, TupleForArguments};

}  // namespace

llvm::ArrayRef<ClashRow> FunctionRows() { return kFunctionRows; }

}  // namespace df::check
