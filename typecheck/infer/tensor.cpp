// Tensor literals, and what is to be said of equations between dimensions.
#include "typecheck/checker.h"

namespace df::check {
namespace {

using Elements = llvm::ArrayRef<const ast::Expr*>;

// Of a list in brackets its elements; `[]` is a constructor to the parser.
std::optional<Elements> ElementsOf(const ast::Expr* expr) {
  expr = StripParens(expr);
  if (const auto* con = llvm::dyn_cast<ast::ConExpr>(expr); con && IsEmptyList(con->name)) return Elements();
  const auto* list = llvm::dyn_cast<ast::ListExpr>(expr);
  if (!list) return std::nullopt;
  return Elements(list->elements.data(), list->elements.size());
}

}  // namespace

bool IsEmptyList(const ast::Name& name) { return !name.qualifier.valid() && Text(name.text) == "[]"; }

// A list in brackets where a tensor is expected: nested lists as deep as the tensor has dimensions, all of a level equally
// long. It becomes a call of the library on the list of all elements.
core::Expr* Checker::CheckTensorLiteral(const ast::Expr* expr, TypeId expected, const Reason& why) {
  std::vector<const ast::Expr*> level = {expr};
  llvm::SmallVector<TypeId> dims;
  bool even = true;
  while (std::optional<Elements> first = level.empty() ? std::nullopt : ElementsOf(level[0])) {
    std::vector<const ast::Expr*> next;
    const ast::Expr* row = level[0];
    for (const ast::Expr* item : level) {
      std::optional<Elements> list = ElementsOf(item);
      size_t want = first->size();
      if (even && (!list || list->size() != want)) {
        even = false;
        auto elements = [](size_t count) { return fmt::format("{} {}", count, count == 1 ? "element" : "elements"); };
        Error(Diag::TensorRagged, item->span, list ? elements(list->size()) : "a single element", elements(want))
            .Note(row->span, fmt::format("this has {}", elements(want)));
      }
      if (list) next.insert(next.end(), list->begin(), list->end());
    }
    dims.push_back(types_.Dim(static_cast<int64_t>(first->size())));
    level = std::move(next);
  }
  TypeId element = unify_.Fresh();
  bool ok = even && Expect(expected, types_.Tensor(element, types_.Shape(dims)), expr->span, why);
  std::vector<core::Expr*> elements;
  Reason part = PartOf(why);
  for (const ast::Expr* item : level) elements.push_back(even ? Check(item, element, part) : Infer(item));
  const VarId literal = KnownVar("primTensorLiteral");
  if (ok && !literal.valid()) {
    Error(Diag::ConstructUnavailable, expr->span, "a tensor literal", "Tensor");
    HintAtTensorModule(unify_.Head(expected));
  }
  if (!ok || !literal.valid()) return ErrorNode(expected, expr->span);
  return CallKnown(literal, {ListNode(elements, element, expr->span)}, expr->span, expected, Reason{});
}

// What is computed once has one size: in `(gate, rest) = T.split x` nothing but the uses of `gate` say where x is split, so
// these have to tell it of `rest` too. At the top level a tensor of any size is as often meant for all of them, as
// `start = T.zeros` is: there only the sizes are shared of which a sum or a product is made. A function has no size.
void Checker::ShareSizes(TypeId type, Sizes sizes) {
  if (!types_.HasMeta(type) || unify_.IsFun(type, nullptr, nullptr)) return;
  llvm::SmallVector<TypeId> args;
  TypeId head = unify_.Head(type, &args);
  if (types_.Kind(head) == TypeKind::Dim) return unify_.Lower(head, unify_.level);
  const bool known = types_.Kind(head) == TypeKind::Con;
  const Builtin builtin = known ? types_.cons[types_.ConOf(head)].builtin : Builtin::None;
  const std::vector<bool> measures = known ? types_.cons[types_.ConOf(head)].measures : std::vector<bool>{};
  for (size_t i = 0; i < args.size(); ++i) {
    const bool size = builtin == Builtin::Tensor ? i == 1 : i < measures.size() && measures[i];
    if (size && sizes == Sizes::Shared) unify_.Lower(args[i], unify_.level);
    else ShareSizes(args[i], sizes);
  }
}

bool Checker::IsSize(TypeId var, TypeId type) { return type.valid() && types_.IsSize(types_.VarOf(var), unify_.Zonk(type)); }

std::optional<size_t> Checker::RankOf(TypeId type) {
  TypeId shape;
  llvm::SmallVector<TypeId> dims;
  if (!type.valid() || !types_.IsTensor(unify_.Zonk(type), nullptr, &shape) || !types_.SplitShape(shape, dims)) return std::nullopt;
  return dims.size();
}

// What is usual elsewhere and said by name here: numbers and rows that are spread over a tensor, rows by their index. Either type may
// be invalid: then it is a number of a type that is not known yet.
bool Checker::HintAtTensor(TypeId expected, TypeId actual, Span span, const Reason& why) {
  if (expected.valid() && !actual.valid() && HintAtTensorModule(unify_.Head(expected))) return true;
  if (!expected.valid() || !actual.valid()) return false;
  auto shown = [&](Span of) {
    std::string_view text = of.valid() ? diags_.sources().Text(of) : std::string_view();
    if (text.empty() || text.size() > 40 || text.find('\n') != std::string_view::npos) return std::string("x");
    const bool closed = text[0] == '(' || text[0] == '[' ? text.find_first_of(")]") == text.size() - 1 : text.find(' ') == std::string_view::npos;
    return closed ? std::string(text) : fmt::format("({})", text);
  };
  auto hint = [&](std::string text) {
    diags_.Hint(std::move(text));
    return true;
  };
  const Builtin wanted = types_.BuiltinOf(unify_.Zonk(expected)), found = types_.BuiltinOf(unify_.Zonk(actual));
  auto is_number = [](Builtin b) { return b == Builtin::Int || b == Builtin::Float || b == Builtin::Double; };
  const bool of_operator = why.kind == Reason::Operand;
  if ((wanted == Builtin::Tensor || found == Builtin::Tensor) && HintAtRows(expected, actual, span, why)) return true;
  const Reason* of_list = why.kind == Reason::Part ? why.outer : &why;
  if (found == Builtin::List && (is_number(wanted) || wanted == Builtin::Bool) && of_list->var.valid() && Text(of_list->name) == "fromList")
    return hint(kRowsAreATensor);
  if (why.kind == Reason::Part && found == Builtin::Tensor && is_number(wanted) && of_list->var.valid() && Text(of_list->name) == "fromList")
    return hint(kStackOfTensors);
  if (llvm::SmallVector<TypeId, 2> have; wanted == Builtin::List && found == Builtin::List && why.var.valid() && Text(why.name) == "fromList") {
    unify_.Head(actual, &have);
    const Builtin row = types_.BuiltinOf(unify_.Zonk(have[0]));
    if (row == Builtin::List) return hint(fmt::format("`fromList (concat {})` of `Tensor` has the elements of all rows", shown(span)));
    if (row == Builtin::Tensor) return hint(fmt::format("`stack {}` of `Tensor` puts tensors one behind the other along a new first axis", shown(span)));
  }
  if (wanted == Builtin::Tensor && is_number(found))
    return hint(fmt::format("`fill {}` of `Tensor` is a tensor that has this number everywhere", shown(span)));
  if (found == Builtin::Tensor && is_number(wanted) && of_operator && why.index == 1)
    return hint(fmt::format("`fill {}` of `Tensor` is a tensor that has this number everywhere", shown(why.sibling)));
  if (found == Builtin::Tensor && is_number(wanted))
    return hint(fmt::format("`sum {0}` or `mean {0}` of `Tensor` is a number", shown(span)));
  if (found == Builtin::Tensor && wanted == Builtin::List && RankOf(actual).value_or(1) > 1)
    return hint(fmt::format("`unstack {0}` of `Tensor` is the list of what stands at each index of the first axis, `toList {0}` that of all elements", shown(span)));
  if (found == Builtin::Tensor && wanted == Builtin::List)
    return hint(fmt::format("`toList {}` of `Tensor` is the list of its elements", shown(span)));
  if (llvm::SmallVector<TypeId, 2> parts; wanted == Builtin::Tensor && found == Builtin::List) {
    unify_.Head(actual, &parts);
    if (types_.BuiltinOf(unify_.Zonk(parts[0])) == Builtin::Tensor)
      return hint(fmt::format("`stack {}` of `Tensor` puts tensors one behind the other along a new first axis", shown(span)));
  }
  if (wanted == Builtin::Tensor && found == Builtin::List)
    return hint(fmt::format("`fromList {}` of `Tensor` is a tensor of these elements; what is written in brackets is one at once if a signature says so", shown(span)));
  if (wanted == Builtin::Tensor && found == Builtin::Bool && (shown(span) == "True" || shown(span) == "False"))
    return hint(fmt::format("`fill {}` of `Tensor` is a tensor that has it everywhere", shown(span)));
  if (found == Builtin::Tensor && of_operator && (Text(why.name) == "&&" || Text(why.name) == "||"))
    return hint(Text(why.name) == "&&" ? "element by element `select c d (fill False)` of `Tensor` is c and d" : "element by element `select c (fill True) d` of `Tensor` is c or d");
  if (wanted == Builtin::Tensor && found == Builtin::Bool)
    return hint("`less`, `greater`, `equal` .. of `Tensor` compare element by element");
  if (wanted != Builtin::Tensor || found != Builtin::Tensor) return false;
  // `x / sum x`, where a tensor is wanted of what is a number.
  if (TypeId element; why.kind == Reason::Argument && types_.IsTensor(unify_.Zonk(expected), &element) && types_.BuiltinOf(unify_.Zonk(element)) == Builtin::Tensor)
    return hint(fmt::format("it is a number: `fill ({} {})` of `Tensor` is a tensor that has it everywhere", Text(why.name), shown(span)));
  // `sum x` without an import of `Tensor`'s: its container would be `Tensor Float`.
  if (why.kind == Reason::Argument && why.var.valid() && TakesAnyContainer(program_.vars[why.var].scheme.type, why.index))
    return hint(fmt::format("this `{0}` goes through lists and other containers: a tensor has the functions of the module `Tensor`, and `toList {1}` is its list", Text(why.name), shown(span)));
  if (why.kind == Reason::Argument && Text(why.name) == "matmul" && RankOf(actual) == 1) return HintAtProduct();
  if (of_operator && Text(why.name) == "!")
    return hint(fmt::format("`index {} i` of `Tensor` is what stands at an index of the first axis", shown(span)));
  const std::optional<size_t> want = RankOf(expected), have = RankOf(actual);
  TypeId wanted_element, found_element;
  types_.IsTensor(unify_.Zonk(expected), &wanted_element);
  types_.IsTensor(unify_.Zonk(actual), &found_element);
  const Builtin to = types_.BuiltinOf(wanted_element), from = types_.BuiltinOf(found_element);
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

// A function of one example where there is a batch: an argument of it, or what it gives.
bool Checker::HintAtRows(TypeId expected, TypeId actual, Span span, const Reason& why) {
  const bool argument = why.kind == Reason::Argument && why.var.valid() && program_.vars[why.var].from_library;
  const size_t one_more = RankOf(argument ? actual : expected).value_or(0), one_less = RankOf(argument ? expected : actual).value_or(0);
  if (one_more != one_less + 1) return false;
  llvm::StringRef callee = span.valid() ? llvm::StringRef(diags_.sources().Text(span)).split(' ').first : "";
  const std::string_view name = argument ? Text(why.name) : std::string_view(callee.substr(callee.rfind('.') + 1));
  constexpr const char *kRow = "row of a matrix", *kElement = "in a tensor";
  for (auto [one, all, each] : {std::tuple("linear", "linearRows", kRow), std::tuple("layerNorm", "layerNormRows", kRow), std::tuple("argmax", "argmaxRows", kRow),
                                std::tuple("embed", "embedAll", kElement), std::tuple("oneHot", "oneHots", kElement)})
    if (name == one) {
      diags_.Hint(fmt::format("`{}` is of one, `{}` of each {}", one, all, each));
      return true;
    }
  if (!argument) return false;
  if (name != "crossEntropy" && name != "binaryCrossEntropy") return false;
  diags_.Hint(fmt::format("it is the loss of one example: `[{0} s y | (s, y) <- zip (unstack scores) (toList labels)]` are those of a batch", name));
  return true;
}

// Axes and shapes that other libraries take as arguments.
bool Checker::HintAtSurplus(const Reason& callee, llvm::ArrayRef<const ast::Expr*> args) {
  if (!callee.var.valid() || !program_.vars[callee.var].from_library) return false;
  const std::string_view name = Text(callee.name);
  TypeId scheme = program_.vars[callee.var].scheme.type;
  llvm::SmallVector<TypeId> params;
  const TypeId result = types_.SplitFun(scheme, params);
  const bool of_tensors = types_.BuiltinOf(result) == Builtin::Tensor || llvm::any_of(params, [&](TypeId param) { return types_.BuiltinOf(param) == Builtin::Tensor; });
  if (!of_tensors) return false;
  auto hint = [&](std::string text) {
    diags_.Hint(std::move(text));
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
  if (name == "reshape" || name == "broadcast" || name == "fill") return hint(fmt::format("the result's type says the shape: `({} x :: Tensor Float [2, 3])`", name));
  if (name == "slice") return hint("`slice i x` is x from index i on, as many as the result's type says: `(slice 1 x :: Tensor Float [2])`");
  if (name == "zeros" || name == "ones" || name == "iota") return hint(fmt::format("the type says the shape: `({} :: Tensor {} [2, 3])`", name, name == "iota" ? "Int" : "Float"));
  return false;
}

// An optimiser that keeps something from step to step takes that and gives it, and not the weights alone.
bool Checker::HintAtOptimiser(TypeId expected, TypeId actual) {
  if (!expected.valid() || !actual.valid()) return false;
  for (auto [type, step] : {std::pair("Adam", "adam"), std::pair("Adagrad", "adagrad"), std::pair("Momentum", "momentum")}) {
    auto is_state = [&](TypeId of) {
      const TypeId head = unify_.Head(of);
      return types_.Kind(head) == TypeKind::Con && Text(types_.cons[types_.ConOf(head)].name) == type &&
             !Shown(types_.cons[types_.ConOf(head)].span).valid();
    };
    if (is_state(expected) == is_state(actual)) continue;
    diags_.Hint(fmt::format("`{0}` takes its state and gives the next one: `start{1} p` is the first, of the parameters p, and `{0}Weights` of one are the parameters", step, type));
    return true;
  }
  return false;
}

// The type is there without the module that has its numbers and arithmetic.
bool Checker::HintAtTensorModule(TypeId head) {
  if (types_.BuiltinOf(head) != Builtin::Tensor || env_.instances.count({KnownClass("Num").index, types_.ConOf(head).index})) return false;
  diags_.Hint("add `import qualified Tensor as T`: that module has the numbers and the arithmetic of tensors");
  return true;
}

bool Checker::HintAtProduct() {
  diags_.Hint("`vecmat` of `Tensor` multiplies a vector by a matrix, `matvec` a matrix by a vector");
  return true;
}

void Checker::SettleDims() {
  UnifyResult clash;
  Span where;
  while (!unify_.RetryDims(&clash, &where)) ReportMismatch(clash, clash.left, clash.right, where, Reason{});
}

void Checker::ReportOpenDims(const llvm::SmallVectorImpl<MetaId>* metas) {
  std::vector<Unifier::DimEquation> open = std::exchange(unify_.open_dims, {});
  for (const Unifier::DimEquation& equation : open) {
    llvm::SmallVector<MetaId> found;
    unify_.FreeMetas(equation.left, found);
    unify_.FreeMetas(equation.right, found);
    if (metas && !llvm::any_of(found, [&](MetaId meta) { return llvm::is_contained(*metas, meta); })) {
      unify_.open_dims.push_back(equation);
      continue;
    }
    std::vector<std::string> text = PrintTypes({equation.left, equation.right});
    Error(Diag::OpenDimension, equation.span, text[0], text[1])
        .Hint("a type signature that names the dimensions settles them");
  }
}

}  // namespace df::check
