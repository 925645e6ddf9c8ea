// Applications, operators and sections.
//
// The result is unified with what is expected before the arguments are looked at: with a signature the
// arguments' types are then known, and a clash is reported at the argument itself.
#include "typecheck/infer/app.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/SaveAndRestore.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/hint.h"
#include "typecheck/explain/order.h"
#include "typecheck/explain/origin.h"
#include "typecheck/explain/tensor.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/infer/poly.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// The first clash of such a call is told, with the call as it may have been meant. False if there was one.
bool CheckSwapped(State& s, const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, const ArgumentOrder& order,
                  llvm::ArrayRef<TypeId> params, Reason& reason, llvm::SmallVectorImpl<const core::Expr*>& checked) {
  std::string call(s.diags.sources().Text(fn->span));
  for (size_t at : order) call += fmt::format(" {}", s.diags.sources().Text(args[at]->span));
  const bool is_short = call.size() <= 60 && call.find('\n') == std::string::npos;
  const std::string hint = is_short ? fmt::format("the arguments look as if they were given in another order: `{}`", call)
                                    : std::string("the arguments look as if they were given in another order");
  bool said = false;
  for (size_t i = 0; i < args.size(); ++i) {
    reason.index = static_cast<uint32_t>(i);
    uint32_t before = s.diags.error_count();
    checked.push_back(said ? Infer(s, args[i]) : Check(s, args[i], params[i], reason));
    if (said || s.diags.error_count() == before) continue;
    said = true;
    s.diags.Hint(hint);
  }
  if (!said) s.order_hints.push_back({fn->span, hint});
  return !said;
}

// What `fn` cannot be applied to any more: its result after `given` arguments is a number, say, or a type whose
// classes no function is in. `mark`: the first constraint that the use of `fn` brought along.
bool IsNoFunction(State& s, TypeId result, size_t mark) {
  result = s.unify.Prune(result);
  if (s.types.Kind(s.unify.Head(result)) != TypeKind::Meta) return true;
  if (s.types.Kind(result) != TypeKind::Meta) return false;
  uint32_t function = s.types.Known(Builtin::Function).index;
  if (s.unify.NumberOrigin(result).valid() && KnownClass(s, "Num").valid() &&
      !s.env.instances.count({KnownClass(s, "Num").index, function}))
    return true;
  for (size_t i = mark; i < s.wanted.size(); ++i)
    if (s.unify.Prune(s.wanted[i].type) == result && !s.env.instances.count({s.wanted[i].cls.index, function}))
      return true;
  return false;
}

// `mapM_ print map f xs`: its `m ()` would be a function's for `map`, and then a unit for the other two. Whether the type `m a` with
// an unknown m cannot be a function that is applied to one argument more than `left`.
bool GivesNoFunction(State& s, TypeId result, size_t left, TypeId expected) {
  result = s.unify.Prune(result);
  if (s.types.Kind(result) != TypeKind::App) return false;
  TypeId value = s.unify.Head(s.types.ArgOf(result)), wanted = s.unify.Head(expected);
  if (s.types.Kind(value) != TypeKind::Con || s.types.BuiltinOf(value) == Builtin::Function) return false;
  const bool no_app = s.types.Kind(s.unify.Prune(s.types.ArgOf(result))) == TypeKind::Con && s.types.Kind(s.unify.Prune(expected)) == TypeKind::App;
  return left > 0 || no_app || (s.types.Kind(wanted) == TypeKind::Con && wanted != value);
}

// `return f x` where an action is expected: with one argument more `return` would be that of functions, whose value f is no
// such action.
bool ReturnsFunction(State& s, const Reason& callee, const ast::Expr* arg, TypeId expected) {
  std::string_view name = Text(callee.name);
  if ((name != "return" && name != "pure") || !callee.var.valid() || !s.program.vars[callee.var].from_library) return false;
  TypeKind wanted = s.types.Kind(s.unify.Head(expected));
  bool action = wanted == TypeKind::Var || (wanted == TypeKind::Con && s.types.BuiltinOf(s.unify.Head(expected)) != Builtin::Function);
  return action && Arity(s, StripParens(arg)) > 0;
}

// `fromMaybe 0 lookup k m`: with more arguments than the type has parameters, one of the first stands where no function can, and is one by
// name: those behind it are meant for that.
bool GivenFunctionByName(State& s, const Reason& callee, llvm::ArrayRef<const ast::Expr*> args) {
  if (!callee.var.valid()) return false;
  llvm::SmallVector<TypeId> declared;
  s.types.SplitFun(s.program.vars[callee.var].scheme.type, declared);
  if (declared.size() != args.size()) return false;
  return llvm::any_of(llvm::seq<size_t>(0, args.size()), [&](size_t i) {
    return llvm::isa<ast::VarExpr>(args[i]) && Arity(s, args[i]) > 0 && s.types.Head(declared[i]).valid() && !s.types.IsFun(declared[i]);
  });
}

// Whether an operator's left operand is of a type that is no action, as of `++`, and what stands there makes one.
bool TakesNoAction(State& s, VarId op, const ast::Expr* left, TypeId expected) {
  const auto* app = llvm::dyn_cast<ast::AppExpr>(left);
  const auto* fn = app ? llvm::dyn_cast<ast::VarExpr>(app->fn) : nullptr;
  VarId var = fn ? LookUpValue(s, fn->name) : VarId();
  TypeId wanted, rest;
  if (!var.valid() || !s.types.IsFun(s.program.vars[op].scheme.type, &wanted, &rest)) return false;
  TypeId top = s.types.Kind(wanted) == TypeKind::App ? s.unify.Head(wanted) : wanted;
  return s.types.Kind(top) == TypeKind::Con && s.types.BuiltinOf(top) != Builtin::IO && top != s.unify.Head(expected) &&
         GivesAction(s, var, expected, app->args.size());
}

// `n mod 2`, where n is a parameter of which nothing is known: a function, as far as types tell.
void RecordBetween(State& s, const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args) {
  const auto* function = llvm::dyn_cast<ast::VarExpr>(args[0]);
  VarId var = function ? LookUpValue(s, function->name) : VarId();
  if (!var.valid() || !s.program.vars[var].from_library || Arity(s, function) != 2) return;
  std::string_view left = s.diags.sources().Text(fn->span), word = s.diags.sources().Text(args[0]->span), right = s.diags.sources().Text(args[1]->span);
  if (!std::isalpha(static_cast<unsigned char>(word[0])) || left.size() + right.size() > 40 || right.find('\n') != std::string_view::npos) return;
  s.between.push_back({fn->span, fmt::format("a function between its arguments stands in backquotes: `{} `{}` {}`", left, word, right)});
}

// `f x = x.length`, where x is a parameter of which nothing is known: a function, as far as types tell.
void RecordDot(State& s, const ast::Expr* left, const ast::Expr* right) {
  const auto *value = llvm::dyn_cast<ast::VarExpr>(left), *function = llvm::dyn_cast<ast::VarExpr>(right);
  if (!value || !function || left->span.end + 1 != right->span.begin || !IsLocal(s, value->name.text)) return;
  VarId var = LookUpValue(s, value->name);
  if (!var.valid() || s.types.Kind(s.unify.Prune(s.program.vars[var].scheme.type)) != TypeKind::Meta) return;
  std::string_view of = Text(value->name.text), name = s.diags.sources().Text(right->span);
  s.dots.push_back({left->span, fmt::format("`{0}.{1}` joins two functions; a function stands before its argument: `{1} {0}`", of, name)});
}

void ReportTooManyArguments(State& s, const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, size_t taken, const core::Expr* head,
                            Reason reason) {
  if (taken == 0) {
    if (s.negative.valid() && fn->span.file == s.negative.file && fn->span.begin == s.negative.begin) return void(++s.unreported);
    TypeId type = s.unify.Prune(head->type);
    std::string what = s.types.Kind(type) == TypeKind::Meta ? std::string("a number")
                                                           : fmt::format("of the type `{}`", PrintType(s, type));
    s.Error(Diag::NotAFunction, fn->span, s.diags.sources().Text(fn->span), what, args.size(),
          args.size() == 1 ? "argument" : "arguments");
    // `a and b`
    const auto* second = llvm::dyn_cast<ast::VarExpr>(args[0]);
    std::string_view word = second ? Text(second->name.text) : std::string_view();
    if (args.size() == 2 && (word == "and" || word == "or"))
      s.diags.Hint(fmt::format("`{}` is the operator for `{}`", word == "and" ? "&&" : "||", word));
    else if (args.size() == 2 && second && Arity(s, second) >= 2 && std::isalpha(static_cast<unsigned char>(word[0])))
      s.diags.Hint(fmt::format("a function between its arguments stands in backquotes: `{} `{}` {}`",
                              s.diags.sources().Text(fn->span), word, s.diags.sources().Text(args[1]->span)));
    else if (HintAtSurplus(s, reason, args)) return;
    else if (const auto* index = llvm::dyn_cast<ast::ListExpr>(args[0]); args.size() == 1 && index && s.types.BuiltinOf(s.unify.Head(type)) == Builtin::Tensor)
      s.diags.Hint(fmt::format("`{0} ! i` of `Tensor` is an element of a vector, `index {0} i` a row of a matrix, `slice i {0}` a part from i on",
                               s.diags.sources().Text(fn->span)));
    else if (const auto* index = llvm::dyn_cast<ast::ListExpr>(args[0]); args.size() == 1 && index && index->elements.size() == 1 &&
             s.types.BuiltinOf(s.unify.Head(type)) == Builtin::List)
      s.diags.Hint(fmt::format("`{} !! {}` is the element at a place", s.diags.sources().Text(fn->span), s.diags.sources().Text(index->elements[0]->span)));
    else if (llvm::isa<ast::LiteralExpr>(fn))
      s.diags.Hint(fmt::format("is an operator or a comma missing after `{}`?", s.diags.sources().Text(fn->span)));
    else {
      if (reason.var.valid()) ExplainVariable(s, reason.var, fn->span);
      HintAtHeldFunction(s, type, fn, args, 0);
    }
    return;
  }
  std::string what = reason.var.valid() || reason.con.valid() ? fmt::format("`{}`", Text(reason.name)) : "this function";
  s.Error(Diag::TooManyArguments, args[taken]->span, what, taken,
        taken == 1 ? "argument" : "arguments", args.size());
  reason.index = static_cast<uint32_t>(taken);
  Explain(s, reason);
  auto text = [&](const ast::Expr* expr) { return s.diags.sources().Text(expr->span); };
  auto line = [&](uint32_t at) { return s.diags.sources().Locate(fn->span.file, at).line; };
  if (line(args[taken]->span.begin) > line(args[taken - 1]->span.end)) {
    bool aligned = s.diags.sources().Locate(fn->span.file, args[taken]->span.begin).column ==
                   s.diags.sources().Locate(fn->span.file, fn->span.begin).column;
    return void(s.diags.Hint(aligned ? "this line goes on with the one above: only after `do` is each line a statement"
                                    : "this line is indented more than the one above, and goes on with it"));
  }
  if (HintAtSurplus(s, reason, args)) return;
  llvm::SmallVector<TypeId> params;
  if (head->type.valid()) s.types.SplitFun(s.unify.Zonk(head->type), params, taken);
  // `length filter even xs`, `sortBy comparing length xs`: a function as an argument may want those after it for itself.
  for (size_t i = 0; i < taken && i < params.size(); ++i) {
    size_t own = Arity(s, args[i]), left = 0;
    for (TypeId type = params[i]; s.unify.IsFun(type, nullptr, &type);) ++left;
    if (own <= left || args.size() - taken != own - left || i + own - left >= args.size()) continue;
    std::string call(text(fn));
    for (size_t j = 0; j < args.size(); ++j)
      call += fmt::format(" {}{}{}", j == i ? "(" : "", text(args[j]), j == i + own - left ? ")" : "");
    if (call.size() <= 60 && call.find('\n') == std::string::npos)
      return void(s.diags.Hint(fmt::format("are parentheses missing, as in `{}`?", call)));
  }
  // `max depth l depth r`: several of them do.
  std::string call(text(fn));
  size_t groups = 0, at = 0;
  for (; at < args.size() && groups < params.size(); ++groups) {
    size_t own = Arity(s, args[at]), left = 0;
    for (TypeId type = params[groups]; s.unify.IsFun(type, nullptr, &type);) ++left;
    const size_t more = own > left ? own - left : 0;
    call += more > 0 ? " (" : " ";
    for (size_t j = 0; j <= more && at + j < args.size(); ++j) call += fmt::format("{}{}", j > 0 ? " " : "", text(args[at + j]));
    if (more > 0) call += ")";
    at += more + 1;
  }
  if (groups == taken && at == args.size() && call.size() <= 60 && call.find('\n') == std::string::npos)
    return void(s.diags.Hint(fmt::format("are parentheses missing, as in `{}`?", call)));
  if (std::string_view callee = text(fn); taken == 1 && (callee == "return" || callee == "pure")) {
    std::string all(text(args[0]));
    for (const ast::Expr* arg : args.drop_front()) all += fmt::format(" {}", text(arg));
    if (all.size() <= 60 && all.find('\n') == std::string::npos)
      return void(s.diags.Hint(fmt::format("are parentheses missing, as in `{} ({})`?", callee, all)));
  }
  llvm::SmallVector<TypeId> given;
  const ast::Expr* last = StripParens(args[taken - 1]);
  const auto* name = llvm::dyn_cast<ast::VarExpr>(last);
  VarId function = name ? LookUpValue(s, name->name) : VarId();
  if (last == args[taken - 1] && function.valid() && s.types.IsFun(s.unify.Zonk(s.program.vars[function].scheme.type))) {
    s.diags.Hint(fmt::format("are parentheses missing, as in `{} ({} ..)`?", text(fn), text(last)));
  } else if (head->type.valid() && HintAtHeldFunction(s, s.types.SplitFun(s.unify.Zonk(head->type), given, taken), fn, args, taken)) {
  } else if (taken == 1 && !params.empty() && s.types.IsTuple(params[0])) {
    std::vector<std::string_view> parts;
    for (const ast::Expr* arg : args) parts.push_back(text(StripParens(arg)));
    const bool atom = llvm::isa<ast::VarExpr>(fn) || llvm::isa<ast::ConExpr>(fn);
    s.diags.Hint(fmt::format("it takes one tuple: `{} ({})`", atom ? std::string(text(fn)) : fmt::format("({})", text(StripParens(fn))),
                             fmt::join(parts, ", ")));
  }
}

// `area w h = w * h + 1` under `area :: .. -> String`: where the operands by themselves agree on a type that the
// operator has, they are fine and the result is what clashes. Returns that type.
TypeId ResultByItself(State& s, const core::Scheme& scheme, llvm::ArrayRef<const ast::Expr*> args, TypeId expected) {
  if (scheme.tyvars.empty() || s.types.Kind(s.unify.Prune(expected)) == TypeKind::Meta) return TypeId();
  llvm::SmallVector<TypeId> params;
  TypeId result = s.types.SplitFun(scheme.type, params, args.size());
  if (s.types.Kind(result) != TypeKind::Var || params.size() != args.size()) return TypeId();
  TypeId agreed;
  // `minimumBy (\a b -> ..) (items cart)`: an element of what is given, of which the function would be told as well.
  const bool by_function = llvm::any_of(llvm::seq<size_t>(0, args.size()), [&](size_t i) { return s.types.IsFun(params[i]) && IsFunction(s, args[i]); });
  for (size_t i = 0; i < args.size(); ++i) {
    const bool element = by_function && s.types.Kind(params[i]) == TypeKind::App && !s.types.IsFun(params[i]) && s.types.ArgOf(params[i]) == result;
    if (params[i] != result && !element) continue;
    TypeId type = QuickType(s, args[i]);
    if (element) {
      if (type.valid() && s.types.Kind(type) == TypeKind::App) agreed = agreed.valid() ? agreed : s.types.ArgOf(type);
      continue;
    }
    if (!type.valid()) {
      // Of `vecmat x w + b` the shape of b may be what is wrong.
      if (!llvm::isa<ast::LiteralExpr>(args[i])) return TypeId();
      continue;
    }
    if (agreed.valid() && agreed != type) return TypeId();
    agreed = type;
  }
  if (!agreed.valid() || !s.types.IsGround(agreed) || !s.types.IsGround(s.unify.Zonk(expected)) ||
      agreed == s.unify.Zonk(expected))
    return TypeId();
  for (const core::Pred& pred : scheme.preds)
    if (pred.type == result && !HasInstance(s, pred.cls, agreed)) return TypeId();
  // `n * 1.5` of an `Int`: the operands do not agree.
  for (size_t i = 0; i < args.size(); ++i)
    if (const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(StripParens(args[i]));
        params[i] == result && literal && literal->value.kind == ast::LiteralKind::Fractional &&
        !HasInstance(s, KnownClass(s, "Fractional"), agreed))
      return TypeId();
  return agreed;
}

// Each operand of a chain of one operator by itself.
core::Expr* InferOperands(State& s, const ast::BinaryExpr* chain) {
  for (const ast::BinaryExpr* rest = chain; rest;) {
    Infer(s, rest->right);
    const auto* left = llvm::dyn_cast<ast::BinaryExpr>(rest->left);
    if (left && OperatorName(left->op) != OperatorName(chain->op)) left = nullptr;
    if (!left) Infer(s, rest->left);
    rest = left;
  }
  return ErrorNode(s, s.unify.Fresh(), chain->span);
}

// Whether the expression is a function by name that takes functions.
bool IsHigherOrder(State& s, const ast::Expr* expr) {
  const auto* name = llvm::dyn_cast<ast::VarExpr>(expr);
  VarId var = name ? LookUpValue(s, name->name) : VarId();
  TypeId first;
  return var.valid() && !s.broken.count(var.index) && s.types.IsFun(s.program.vars[var].scheme.type, &first, nullptr) && s.types.IsFun(first);
}

// `lookup (fromList xs) 1`, `elem xs 2`: where anything may stand, there stands what the argument at `place` should be.
bool IsEarlierArgument(State& s, llvm::ArrayRef<TypeId> declared, llvm::ArrayRef<TypeId> params, size_t place) {
  if (place >= declared.size() || s.types.Kind(declared[place]) != TypeKind::App || s.types.IsFun(declared[place])) return false;
  for (size_t i = 0; i < place; ++i) {
    if (s.types.Kind(declared[i]) != TypeKind::Var) continue;
    TypeId given = s.unify.Head(params[i]), wanted = s.types.Head(declared[place]).valid() ? s.unify.Head(declared[place]) : TypeId();
    if (s.types.Kind(s.unify.Prune(params[i])) != TypeKind::App || s.types.Kind(given) != TypeKind::Con) continue;
    ClassId foldable = KnownClass(s, "Foldable");
    if (wanted.valid() ? given == wanted : foldable.valid() && s.env.instances.count({foldable.index, s.types.ConOf(given).index})) return true;
  }
  return false;
}

// An application while it is checked.
struct Application {
  State& s;
  const ast::Expr* fn;
  llvm::ArrayRef<const ast::Expr*> args;
  bool infix;
  Span span;
  TypeId expected;
  const Reason& why;
  const ast::VarExpr* name;  // fn, if it is a variable
  core::Expr* head = nullptr;
  Reason reason;  // why an argument has its type
  llvm::SmallVector<TypeId, 4> params;
  TypeId result;
  llvm::SmallVector<TypeId, 4> declared;  // the parameters in the type of the function itself
  llvm::SmallVector<const core::Expr*, 4> checked;
  size_t wrong = SIZE_MAX;  // the first argument that is

  const core::Scheme* Scheme() const { return reason.var.valid() ? &s.program.vars[reason.var].scheme : nullptr; }
};

// What is applied, elaborated, and how messages call it.
void CheckCallee(Application& a) {
  State& s = a.s;
  a.head = Infer(s, a.fn);
  a.reason.kind = a.infix ? Reason::Operand : Reason::Argument;
  a.reason.outer = &a.why;
  a.reason.name = Intern("the function");
  const auto* applied = llvm::dyn_cast<ast::TypeAppExpr>(a.fn);
  const ast::Expr* callee = applied ? applied->fn : a.fn;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(callee)) {
    a.reason.name = var->name.text;
    if (const auto* use = llvm::dyn_cast<core::VarExpr>(a.head)) a.reason.var = use->var;
  } else if (const auto* con = llvm::dyn_cast<ast::ConExpr>(callee)) {
    a.reason.name = con->name.text;
    if (const auto* use = llvm::dyn_cast<core::ConExpr>(a.head)) a.reason.con = use->con;
  }
}

// What the function takes for its arguments, and what it gives then. False, and reported, if it takes fewer. `mark` is how many constraints
// were wanted before the function.
bool FindParameters(Application& a, size_t mark) {
  State& s = a.s;
  a.result = a.head->type;
  for (size_t i = 0; i < a.args.size(); ++i) {
    TypeId from, to;
    if (!s.unify.IsFun(a.result, &from, &to)) {
      // A type that is not known yet, or `m a` with an unknown m, becomes a function's.
      from = s.unify.Fresh(), to = s.unify.Fresh();
      bool no_function = IsNoFunction(s, a.result, i > 0 || !a.reason.var.valid() ? mark : s.wanted.size()) ||
                         GivesNoFunction(s, a.result, a.args.size() - i - 1, a.expected) ||
                         (i == 1 && !a.infix && ReturnsFunction(s, a.reason, a.args[0], a.expected)) ||
                         (i > 0 && !a.infix && GivenFunctionByName(s, a.reason, a.args.take_front(i)));
      if (!no_function) {
        RecordPlace(s, s.unify.Prune(a.result), a.fn->span, Reason{});
        if (i == 0 && a.args.size() == 2 && a.name && a.reason.var.valid() && !s.program.vars[a.reason.var].from_library)
          RecordBetween(s, a.fn, a.args);
        no_function = !s.unify.Unify(a.result, s.types.Fun(from, to)).ok();
      }
      if (no_function) {
        ReportTooManyArguments(s, a.fn, a.args, i, a.head, a.reason);
        for (const ast::Expr* arg : a.args) Infer(s, arg);
        return false;
      }
    }
    a.params.push_back(from);
    a.result = to;
  }
  return true;
}

// An argument after the first one that is wrong.
void CheckAfterWrong(Application& a, size_t i, bool tied) {
  State& s = a.s;
  // `take "abc" 2`: what was wrong before is right here, and the other way round. One message tells it.
  TypeId other = s.unify.Zonk(a.params[a.wrong]), own = s.unify.Zonk(a.params[i]);
  const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(a.args[i]);
  bool number = literal && literal->value.kind == ast::LiteralKind::Integer;
  bool swapped = number && IsNumeric(s, other) && !IsNumeric(s, own) && s.types.Kind(own) != TypeKind::Meta;
  uint32_t inside = s.diags.error_count();
  core::Expr* arg = number && !swapped && !tied ? Check(s, a.args[i], a.params[i], a.reason) : Infer(s, a.args[i]);
  if (!number && s.diags.error_count() == inside) {
    TypeId given = s.unify.Zonk(arg->type);
    swapped = given == other && given != own;
    if (!swapped && !tied) Expect(s, a.params[i], arg->type, a.args[i]->span, a.reason);
  }
  if (swapped) s.diags.Hint("the arguments look as if they were given in another order");
  a.checked.push_back(arg);
}

// Of an operator whose left operand is a function that takes functions. False if it is none.
bool HintAtOperatorAsArgument(const Application& a) {
  State& s = a.s;
  if (!a.infix || !a.name || !IsHigherOrder(s, a.args[0])) return false;
  if (Text(a.name->name.text) == "-" && a.args.size() == 2 && a.name->span.end == a.args[1]->span.begin) {
    // `map -1 xs`
    const auto* app = llvm::dyn_cast<ast::AppExpr>(a.args[1]);
    const ast::Expr* number = app ? app->fn : a.args[1];
    s.diags.Hint(fmt::format("`(subtract {})` is the function", s.diags.sources().Text(number->span)));
  } else {
    // `foldr + 0 xs`: the operator was meant as an argument.
    s.diags.Hint(fmt::format("an operator as an argument stands in parentheses: `{} ({}) ..`", s.diags.sources().Text(a.args[0]->span),
                             Text(a.name->name.text)));
  }
  return true;
}

// Whether an argument that is wrong seems to belong elsewhere.
bool IsMisplaced(const Application& a, size_t i) {
  State& s = a.s;
  if (a.infix) return false;
  auto is_other = [&](size_t from, auto fits) {
    for (size_t j = from; j < a.args.size() && j < a.declared.size(); ++j)
      if (j != i && fits(j)) return true;
    return false;
  };
  // `map xs (+ 1)`, `foldr 0 (+) xs`: the function stands elsewhere.
  if (i < a.declared.size() && s.types.IsFun(a.declared[i]) && !IsFunction(s, a.args[i]) &&
      is_other(0, [&](size_t j) { return !s.types.IsFun(a.declared[j]) && IsFunction(s, a.args[j]); }))
    return true;
  // (What is wrong of a literal list is an element of it.)
  if (!llvm::isa<ast::ListExpr>(a.args[i])) return IsEarlierArgument(s, a.declared, a.params, i);
  // `foldr f [1, 2] 0`
  return i < a.declared.size() && s.types.Kind(a.declared[i]) == TypeKind::Var && is_other(i + 1, [&](size_t j) {
           return llvm::isa<ast::LiteralExpr>(a.args[j]) && s.types.Kind(a.declared[j]) == TypeKind::App && !s.types.IsFun(a.declared[j]);
         });
}

// The arguments one by one. `ok`: so far. False: what was meant is something else, and nothing is to be made of it.
bool CheckArguments(Application& a, bool ok, uint32_t errors) {
  State& s = a.s;
  // Where the function's type has variables, an argument is tied to the result and the other arguments: after an
  // error in one of these it is checked by itself.
  if (const core::Scheme* scheme = a.Scheme()) s.types.SplitFun(scheme->type, a.declared);
  for (size_t i = 0; i < a.args.size(); ++i) {
    bool tied = i < a.declared.size() && (s.types.HasVar(a.declared[i]) || s.types.HasMeta(a.declared[i])) && s.diags.error_count() != errors;
    a.reason.index = static_cast<uint32_t>(i);
    if (a.infix && a.args.size() == 2) a.reason.sibling = a.args[1 - i]->span;
    if (a.wrong < i && !a.infix) {
      CheckAfterWrong(a, i, tied);
      continue;
    }
    uint32_t before = s.diags.error_count();
    if (const auto* chain = llvm::dyn_cast<ast::BinaryExpr>(a.args[i]); !ok && a.infix && chain && OperatorName(chain->op) == a.reason.name) {
      // `"a" + name + "b"`: the operator is wrong in all of the chain, and it was said of the whole.
      a.checked.push_back(InferOperands(s, chain));
      continue;
    }
    a.checked.push_back(tied ? Infer(s, a.args[i]) : Check(s, a.args[i], a.params[i], a.reason));
    if (tied) s.unify.MarkAny(a.checked.back()->type);  // what would have settled it went wrong
    if (a.wrong == SIZE_MAX && s.diags.error_count() != before) a.wrong = i;
    if (a.wrong != i) continue;
    if (i == 0 && HintAtOperatorAsArgument(a)) return false;
    if (IsMisplaced(a, i)) s.diags.Hint("the arguments look as if they were given in another order");
  }
  return true;
}

}  // namespace

core::Expr* CheckApp(State& s, const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, bool infix, Span span, TypeId expected,
                     const Reason& why) {
  fn = StripParens(fn);
  Application a{s, fn, args, infix, span, expected, why, llvm::dyn_cast<ast::VarExpr>(fn)};
  const size_t mark = s.wanted.size();
  CheckCallee(a);
  if (!FindParameters(a, mark)) return ErrorNode(s, expected, span);
  if (IsPoly(s, a.result)) {
    CheckArguments(a, true, s.diags.error_count());
    core::Expr* made = Instantiated(s, AppNode(s, a.head, a.checked, span));
    return Expect(s, expected, made->type, span, why) ? made : ErrorNode(s, expected, span);
  }
  if (infix && args.size() == 2 && a.reason.name.valid() && Text(a.reason.name) == ".") RecordDot(s, args[0], args[1]);
  uint32_t errors = s.diags.error_count();
  bool ok;
  // `putStrLn "n = " ++ show n` among other statements: that it is a list says nothing of their monad.
  if (infix && why.kind == Reason::Statement && args.size() == 2 && a.reason.var.valid() && TakesNoAction(s, a.reason.var, args[0], expected)) {
    a.reason.index = 0;
    a.reason.sibling = args[1]->span;
    Check(s, args[0], a.params[0], a.reason);
    Infer(s, args[1]);
    return ErrorNode(s, expected, span);
  }
  if (ArgumentOrder order = !infix && a.Scheme() ? SwappedArguments(s, *a.Scheme(), args, expected) : ArgumentOrder(); !order.empty()) {
    ok = Expect(s, expected, a.result, span, why);
    ok = CheckSwapped(s, fn, args, order, a.params, a.reason, a.checked) && ok;
    return ok ? AppNode(s, a.head, a.checked, span) : ErrorNode(s, expected, span);
  }
  const TypeId by_itself = a.Scheme() ? ResultByItself(s, *a.Scheme(), args, expected) : TypeId();
  if (by_itself.valid()) {
    ReportMismatch(s, {Clash::Mismatch, expected, by_itself}, expected, by_itself, span, why);
    HintAtResult(s, a.reason, args, infix, span, expected);
    errors = s.diags.error_count();  // the operands are checked against each other as ever
    ok = false;
  } else {
    ok = Expect(s, expected, a.result, span, why);
    if (!ok) {
      ExplainCallee(s, a.reason.var, a.reason.con);
      // What was meant as the operands has other operands.
      if (HintAtResult(s, a.reason, args, infix, span, expected)) return ErrorNode(s, expected, span);
    }
  }
  llvm::SaveAndRestore<llvm::ArrayRef<const ast::Expr*>> siblings(s.siblings, infix ? llvm::ArrayRef<const ast::Expr*>() : args);
  if (!CheckArguments(a, ok, errors)) return ErrorNode(s, expected, span);
  return ok ? AppNode(s, a.head, a.checked, span) : ErrorNode(s, expected, span);
}

core::Expr* CheckLeftSection(State& s, const ast::LeftSectionExpr* expr, TypeId expected, const Reason& why) {
  return CheckApp(s, expr->op, {expr->operand}, true, expr->span, expected, why);
}

core::Expr* CheckRightSection(State& s, const ast::RightSectionExpr* expr, TypeId expected, const Reason& why) {
  // `(+ 1 2)`, as if the operator came first.
  if (const auto* app = llvm::dyn_cast<ast::AppExpr>(expr->operand);
      app && llvm::isa<ast::LiteralExpr>(app->fn) && app->args.size() == 1) {
    std::string_view op = s.diags.sources().Text(expr->op->span);
    s.Error(Diag::NotAFunction, app->fn->span, s.diags.sources().Text(app->fn->span), "a literal", 1, "argument")
        .Hint(fmt::format("the operator stands between its operands: `{1} {0} {2}`, or `({0}) {1} {2}`", op,
                          s.diags.sources().Text(app->fn->span), s.diags.sources().Text(app->args[0]->span)));
    return ErrorNode(s, expected, expr->span);
  }
  core::Expr* op = Infer(s, expr->op);
  TypeId left = s.unify.Fresh(), right = s.unify.Fresh(), result = s.unify.Fresh();
  if (!Expect(s, s.types.Fun({left, right}, result), op->type, expr->op->span, Reason{})) {
    Infer(s, expr->operand);
    return ErrorNode(s, expected, expr->span);
  }
  bool ok = Expect(s, expected, s.types.Fun(left, result), expr->span, why);
  Reason reason{Reason::Operand};
  reason.index = 1;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(expr->op)) reason.name = var->name.text;
  if (const auto* use = llvm::dyn_cast<core::VarExpr>(op)) reason.var = use->var;
  core::Expr* operand = Check(s, expr->operand, right, reason);
  if (!ok) return ErrorNode(s, expected, expr->span);
  VarId param = s.program.NewLocal(Intern("x"), left, expr->span);
  bool trivial = llvm::isa<core::LiteralExpr>(operand) || llvm::isa<core::VarExpr>(operand);
  if (trivial)
    return LambdaNode(s, {param}, AppNode(s, op, {VarNode(s, param, expr->span), operand}, expr->span), expr->span);
  VarId held = s.program.NewLocal(Intern("y"), right, expr->operand->span);
  core::Expr* body =
      AppNode(s, op, {VarNode(s, param, expr->span), VarNode(s, held, expr->operand->span)}, expr->span);
  return LetNode(s, held, operand, LambdaNode(s, {param}, body, expr->span));
}

core::Expr* CheckTupleSection(State& s, const ast::TupleSectionExpr* expr, TypeId expected, const Reason& why) {
  if (expr->elements.size() > 62) {
    s.Error(Diag::TupleTooLong, expr->span, expr->elements.size());
    return ErrorNode(s, expected, expr->span);
  }
  core::Expr* con =
      UseCon(s, TupleConstructor(s.env, s.program, static_cast<uint32_t>(expr->elements.size())), expr->span);
  TypeArgs fields;
  TypeId tuple = s.types.SplitFun(con->type, fields);
  TypeId type = tuple;
  for (size_t i = fields.size(); i-- > 0;)
    if (!expr->elements[i]) type = s.types.Fun(fields[i], type);
  bool ok = Expect(s, expected, type, expr->span, why);
  std::vector<VarId> params;
  std::vector<std::pair<VarId, core::Expr*>> held;
  std::vector<const core::Expr*> args;
  for (size_t i = 0; i < fields.size(); ++i) {
    Symbol name = Intern("x" + std::to_string(i + 1));
    VarId var = s.program.NewLocal(name, fields[i], expr->span);
    if (expr->elements[i]) held.push_back({var, Check(s, expr->elements[i], fields[i], ok ? why : Reason{})});
    else params.push_back(var);
    args.push_back(VarNode(s, var, expr->span));
  }
  if (!ok) return ErrorNode(s, expected, expr->span);
  core::Expr* result = LambdaNode(s, params, AppNode(s, con, args, expr->span), expr->span);
  for (size_t i = held.size(); i-- > 0;) result = LetNode(s, held[i].first, held[i].second, result);
  return result;
}

core::Expr* CallKnown(State& s, VarId fn, llvm::ArrayRef<core::Expr*> args, Span span, TypeId expected, const Reason& why) {
  core::Expr* head = Use(s, fn, span);
  TypeId type = head->type;
  llvm::SmallVector<const core::Expr*, 4> core_args;
  for (core::Expr* arg : args) {
    TypeId from, to;
    if (!s.unify.IsFun(type, &from, &to)) return ErrorNode(s, expected, span);
    if (!Expect(s, from, arg->type, arg->span, Reason{})) return ErrorNode(s, expected, span);
    core_args.push_back(arg);
    type = to;
  }
  return Expect(s, expected, type, span, why) ? AppNode(s, head, core_args, span) : ErrorNode(s, expected, span);
}

}  // namespace df::check
