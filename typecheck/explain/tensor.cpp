// Clashes of tensors: what is usual elsewhere and said by name here.
#include "typecheck/explain/tensor.h"

#include "typecheck/explain/hint.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// A function of one example where there is a batch: an argument of it, or what it gives.
bool HintAtRows(State& s, TypeId expected, TypeId actual, Span span, const Reason& why) {
  const bool argument = why.kind == Reason::Argument && why.var.valid() && s.program.vars[why.var].from_library;
  const size_t one_more = RankOf(s, argument ? actual : expected).value_or(0), one_less = RankOf(s, argument ? expected : actual).value_or(0);
  if (one_more != one_less + 1) return false;
  llvm::StringRef callee = span.valid() ? llvm::StringRef(s.diags.sources().Text(span)).split(' ').first : "";
  const std::string_view name = argument ? Text(why.name) : std::string_view(callee.substr(callee.rfind('.') + 1));
  constexpr const char *kRow = "row of a matrix", *kElement = "in a tensor";
  for (auto [one, all, each] : {std::tuple("linear", "linearRows", kRow), std::tuple("layerNorm", "layerNormRows", kRow),
                                std::tuple("argmax", "argmaxRows", kRow),
                                std::tuple("embed", "embedAll", kElement), std::tuple("oneHot", "oneHots", kElement)})
    if (name == one) {
      s.diags.Hint(fmt::format("`{}` is of one, `{}` of each {}", one, all, each));
      return true;
    }
  if (!argument) return false;
  if (name != "crossEntropy" && name != "binaryCrossEntropy") return false;
  s.diags.Hint(fmt::format("it is the loss of one example: `[{0} s y | (s, y) <- zip (unstack scores) (toList labels)]` are those of a batch", name));
  return true;
}

}  // namespace

bool IsSize(State& s, TypeId var, TypeId type) { return type.valid() && s.types.IsSize(s.types.VarOf(var), s.unify.Zonk(type)); }

std::optional<size_t> RankOf(State& s, TypeId type) {
  TypeId shape;
  llvm::SmallVector<TypeId> dims;
  if (!type.valid() || !s.types.IsTensor(s.unify.Zonk(type), nullptr, &shape) || !s.types.SplitShape(shape, dims)) return std::nullopt;
  return dims.size();
}

bool HintAtTensor(State& s, TypeId expected, TypeId actual, Span span, const Reason& why) {
  if (expected.valid() && !actual.valid() && HintAtTensorModule(s, s.unify.Head(expected))) return true;
  if (!expected.valid() || !actual.valid()) return false;
  auto shown = [&](Span of) {
    std::string_view text = of.valid() ? s.diags.sources().Text(of) : std::string_view();
    if (text.empty() || text.size() > 40 || text.find('\n') != std::string_view::npos) return std::string("x");
    const bool closed = text[0] == '(' || text[0] == '[' ? text.find_first_of(")]") == text.size() - 1 : text.find(' ') == std::string_view::npos;
    return closed ? std::string(text) : fmt::format("({})", text);
  };
  auto hint = [&](std::string text) {
    s.diags.Hint(std::move(text));
    return true;
  };
  const Builtin wanted = s.types.BuiltinOf(s.unify.Zonk(expected)), found = s.types.BuiltinOf(s.unify.Zonk(actual));
  auto is_number = [](Builtin b) { return b == Builtin::Int || b == Builtin::Float || b == Builtin::Double; };
  const bool of_operator = why.kind == Reason::Operand;
  if ((wanted == Builtin::Tensor || found == Builtin::Tensor) && HintAtRows(s, expected, actual, span, why)) return true;
  const Reason* of_list = why.kind == Reason::Part ? why.outer : &why;
  if (found == Builtin::List && (is_number(wanted) || wanted == Builtin::Bool) && of_list->var.valid() && Text(of_list->name) == "fromList")
    return hint(kRowsAreATensor);
  if (why.kind == Reason::Part && found == Builtin::Tensor && is_number(wanted) && of_list->var.valid() && Text(of_list->name) == "fromList")
    return hint(kStackOfTensors);
  if (llvm::SmallVector<TypeId, 2> have; wanted == Builtin::List && found == Builtin::List && why.var.valid() && Text(why.name) == "fromList") {
    s.unify.Head(actual, &have);
    const Builtin row = s.types.BuiltinOf(s.unify.Zonk(have[0]));
    if (row == Builtin::List) return hint(fmt::format("`fromList (concat {})` of `Tensor` has the elements of all rows", shown(span)));
    if (row == Builtin::Tensor) return hint(fmt::format("`stack {}` of `Tensor` puts tensors one behind the other along a new first axis", shown(span)));
  }
  if (wanted == Builtin::Tensor && is_number(found))
    return hint(fmt::format("`fill {}` of `Tensor` is a tensor that has this number everywhere", shown(span)));
  if (found == Builtin::Tensor && is_number(wanted) && of_operator && why.index == 1)
    return hint(fmt::format("`fill {}` of `Tensor` is a tensor that has this number everywhere", shown(why.sibling)));
  if (found == Builtin::Tensor && is_number(wanted))
    return hint(fmt::format("`sum {0}` or `mean {0}` of `Tensor` is a number", shown(span)));
  if (found == Builtin::Tensor && wanted == Builtin::List && RankOf(s, actual).value_or(1) > 1)
    return hint(fmt::format("`unstack {0}` of `Tensor` is the list of what stands at each index of the first axis, `toList {0}` that of all elements",
                            shown(span)));
  if (found == Builtin::Tensor && wanted == Builtin::List)
    return hint(fmt::format("`toList {}` of `Tensor` is the list of its elements", shown(span)));
  if (llvm::SmallVector<TypeId, 2> parts; wanted == Builtin::Tensor && found == Builtin::List) {
    s.unify.Head(actual, &parts);
    if (s.types.BuiltinOf(s.unify.Zonk(parts[0])) == Builtin::Tensor)
      return hint(fmt::format("`stack {}` of `Tensor` puts tensors one behind the other along a new first axis", shown(span)));
  }
  if (wanted == Builtin::Tensor && found == Builtin::List)
    return hint(fmt::format("`fromList {}` of `Tensor` is a tensor of these elements; what is written in brackets is one at once if a signature says "
                            "so", shown(span)));
  if (wanted == Builtin::Tensor && found == Builtin::Bool && (shown(span) == "True" || shown(span) == "False"))
    return hint(fmt::format("`fill {}` of `Tensor` is a tensor that has it everywhere", shown(span)));
  if (found == Builtin::Tensor && of_operator && (Text(why.name) == "&&" || Text(why.name) == "||"))
    return hint(Text(why.name) == "&&" ? "element by element `select c d (fill False)` of `Tensor` is c and d"
                                       : "element by element `select c (fill True) d` of `Tensor` is c or d");
  if (wanted == Builtin::Tensor && found == Builtin::Bool)
    return hint("`less`, `greater`, `equal` .. of `Tensor` compare element by element");
  if (wanted != Builtin::Tensor || found != Builtin::Tensor) return false;
  // `x / sum x`, where a tensor is wanted of what is a number.
  if (TypeId element; why.kind == Reason::Argument && s.types.IsTensor(s.unify.Zonk(expected), &element) &&
      s.types.BuiltinOf(s.unify.Zonk(element)) == Builtin::Tensor)
    return hint(fmt::format("it is a number: `fill ({} {})` of `Tensor` is a tensor that has it everywhere", Text(why.name), shown(span)));
  // `sum x` without an import of `Tensor`'s: its container would be `Tensor Float`.
  if (why.kind == Reason::Argument && why.var.valid() && TakesAnyContainer(s, s.program.vars[why.var].scheme.type, why.index))
    return hint(fmt::format("this `{0}` goes through lists and other containers: a tensor has the functions of the module `Tensor`, and `toList {1}` "
                            "is its list", Text(why.name), shown(span)));
  if (why.kind == Reason::Argument && Text(why.name) == "matmul" && RankOf(s, actual) == 1) return HintAtProduct(s);
  if (of_operator && Text(why.name) == "!")
    return hint(fmt::format("`index {} i` of `Tensor` is what stands at an index of the first axis", shown(span)));
  const std::optional<size_t> want = RankOf(s, expected), have = RankOf(s, actual);
  TypeId wanted_element, found_element;
  s.types.IsTensor(s.unify.Zonk(expected), &wanted_element);
  s.types.IsTensor(s.unify.Zonk(actual), &found_element);
  const Builtin to = s.types.BuiltinOf(wanted_element), from = s.types.BuiltinOf(found_element);
  if (to != from && is_number(to) && is_number(from))
    return hint(fmt::format("`convert {}` of `Tensor` has elements of another number type", shown(span)));
  if (to != from && of_operator && (from == Builtin::Bool || to == Builtin::Bool) && Text(why.name) == "*")
    return hint("`select c x 0` of `Tensor` has x where c is True, and 0 elsewhere");
  if (want && have && *want > *have && (why.kind == Reason::Signature || why.kind == Reason::Annotation) && shown(span)[0] == '[')
    return hint("each row stands in brackets of its own; `reshape` of `Tensor` gives elements another shape");
  if (why.kind == Reason::Argument && Text(why.name) == "concat" && want == 2 && have == 2)
    return hint("`concat` joins along the first axis, and the others are the same; `concatColumns` joins along the second");
  if (!of_operator || !want || !have || *want == *have) return false;
  const Span smaller = *have < *want ? span : why.sibling;
  return hint(fmt::format("nothing is repeated by itself: `broadcast {}` of `Tensor` has it again and again along a new first axis", shown(smaller)));
}

bool HintAtSurplus(State& s, const Reason& callee, llvm::ArrayRef<const ast::Expr*> args) {
  if (!callee.var.valid() || !s.program.vars[callee.var].from_library) return false;
  const std::string_view name = Text(callee.name);
  TypeId scheme = s.program.vars[callee.var].scheme.type;
  llvm::SmallVector<TypeId> params;
  const TypeId result = s.types.SplitFun(scheme, params);
  const bool of_tensors = s.types.BuiltinOf(result) == Builtin::Tensor || llvm::any_of(params,
      [&](TypeId param) { return s.types.BuiltinOf(param) == Builtin::Tensor; });
  if (!of_tensors) return false;
  auto hint = [&](std::string text) {
    s.diags.Hint(std::move(text));
    return true;
  };
  const bool axis = llvm::any_of(args, [](const ast::Expr* arg) { return llvm::isa<ast::LiteralExpr>(StripParens(arg)); });
  if ((name == "maximum" || name == "minimum") && !axis)
    return hint(fmt::format("`{0} x y` goes element by element; `{1}` is of one tensor", name.substr(0, 3), name));
  if (name == "sum" || name == "mean" || name == "maximum" || name == "minimum") {
    const std::string_view stem = name == "maximum" ? "max" : name == "minimum" ? "min" : name;
    return hint(fmt::format("`{0}0` goes along the first axis, `{0}Rows` along each row, `{1}` over all elements", stem, name));
  }
  if (name == "softmax" || name == "logSoftmax") return hint(fmt::format("`{}` goes along the last axis", name));
  if (name == "argmax") return hint("`argmaxRows` goes along each row");
  if (name == "concat" && axis) return hint("`concat` joins along the first axis, `concatColumns` along the second");
  if (name == "transpose") return hint("`transpose` exchanges two axes; of three, `transpose021` and `transpose102`");
  if (name == "reshape" || name == "broadcast" || name == "fill") return hint(fmt::format("the result's type says the shape: `({} x :: Tensor Float "
                                                                                          "[2, 3])`", name));
  if (name == "slice") return hint("`slice i x` is x from index i on, as many as the result's type says: `(slice 1 x :: Tensor Float [2])`");
  if (name == "zeros" || name == "ones" || name == "iota") return hint(fmt::format("the type says the shape: `({} :: Tensor {} [2, 3])`", name,
                                                                                   name == "iota" ? "Int" : "Float"));
  return false;
}

bool HintAtOptimiser(State& s, TypeId expected, TypeId actual) {
  if (!expected.valid() || !actual.valid()) return false;
  for (auto [type, step] : {std::pair("Adam", "adam"), std::pair("Adagrad", "adagrad"), std::pair("Momentum", "momentum")}) {
    auto is_state = [&](TypeId of) {
      const TypeId head = s.unify.Head(of);
      return s.types.Kind(head) == TypeKind::Con && Text(s.types.cons[s.types.ConOf(head)].name) == type &&
             !Shown(s, s.types.cons[s.types.ConOf(head)].span).valid();
    };
    if (is_state(expected) == is_state(actual)) continue;
    s.diags.Hint(fmt::format("`{0}` takes its state and gives the next one: `start{1} p` is the first, of the parameters p, and `{0}Weights` of one "
                             "are the parameters", step, type));
    return true;
  }
  return false;
}

bool HintAtTensorModule(State& s, TypeId head) {
  if (s.types.BuiltinOf(head) != Builtin::Tensor || s.env.instances.count({KnownClass(s, "Num").index, s.types.ConOf(head).index})) return false;
  s.diags.Hint("add `import qualified Tensor as T`: that module has the numbers and the arithmetic of tensors");
  return true;
}

bool HintAtProduct(State& s) {
  s.diags.Hint("`vecmat` of `Tensor` multiplies a vector by a matrix, `matvec` a matrix by a vector");
  return true;
}

}  // namespace df::check
