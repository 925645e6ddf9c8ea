// Applications, operators and sections.
//
// The result is unified with what is expected before the arguments are looked at: with a signature the
// arguments' types are then known, and a clash is reported at the argument itself.
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/SaveAndRestore.h"
#include "typecheck/checker.h"

namespace df::check {

// What `fn` cannot be applied to any more: its result after `given` arguments is a number, say, or a type whose
// classes no function is in. `mark`: the first constraint that the use of `fn` brought along.
bool Checker::IsNoFunction(TypeId result, size_t mark) {
  result = unify_.Prune(result);
  if (types_.Kind(unify_.Head(result)) != TypeKind::Meta) return true;
  if (types_.Kind(result) != TypeKind::Meta) return false;
  uint32_t function = types_.Known(Builtin::Function).index;
  if (unify_.NumberOrigin(result).valid() && KnownClass("Num").valid() &&
      !env_.instances.count({KnownClass("Num").index, function}))
    return true;
  for (size_t i = mark; i < wanted_.size(); ++i)
    if (unify_.Prune(wanted_[i].type) == result && !env_.instances.count({wanted_[i].cls.index, function}))
      return true;
  return false;
}

// `mapM_ print map f xs`: its `m ()` would be a function's for `map`, and then a unit for the other two. Whether the type `m a` with
// an unknown m cannot be a function that is applied to one argument more than `left`.
bool Checker::GivesNoFunction(TypeId result, size_t left, TypeId expected) {
  result = unify_.Prune(result);
  if (types_.Kind(result) != TypeKind::App) return false;
  TypeId value = unify_.Head(types_.ArgOf(result)), wanted = unify_.Head(expected);
  if (types_.Kind(value) != TypeKind::Con || types_.BuiltinOf(value) == Builtin::Function) return false;
  const bool no_app = types_.Kind(unify_.Prune(types_.ArgOf(result))) == TypeKind::Con && types_.Kind(unify_.Prune(expected)) == TypeKind::App;
  return left > 0 || no_app || (types_.Kind(wanted) == TypeKind::Con && wanted != value);
}

// `return f x` where an action is expected: with one argument more `return` would be that of functions, whose value f is no
// such action.
bool Checker::ReturnsFunction(const Reason& callee, const ast::Expr* arg, TypeId expected) {
  std::string_view name = Text(callee.name);
  if ((name != "return" && name != "pure") || !callee.var.valid() || !program_.vars[callee.var].from_library) return false;
  TypeKind wanted = types_.Kind(unify_.Head(expected));
  bool action = wanted == TypeKind::Var || (wanted == TypeKind::Con && types_.BuiltinOf(unify_.Head(expected)) != Builtin::Function);
  return action && Arity(StripParens(arg)) > 0;
}

// `fromMaybe 0 lookup k m`: with more arguments than the type has parameters, one of the first stands where no function can, and is one by
// name: those behind it are meant for that.
bool Checker::GivenFunctionByName(const Reason& callee, llvm::ArrayRef<const ast::Expr*> args) {
  if (!callee.var.valid()) return false;
  llvm::SmallVector<TypeId> declared;
  types_.SplitFun(program_.vars[callee.var].scheme.type, declared);
  if (declared.size() != args.size()) return false;
  return llvm::any_of(llvm::seq<size_t>(0, args.size()), [&](size_t i) {
    return llvm::isa<ast::VarExpr>(args[i]) && Arity(args[i]) > 0 && types_.Head(declared[i]).valid() && !types_.IsFun(declared[i]);
  });
}

// Whether an operator's left operand is of a type that is no action, as of `++`, and what stands there makes one.
bool Checker::TakesNoAction(VarId op, const ast::Expr* left, TypeId expected) {
  const auto* app = llvm::dyn_cast<ast::AppExpr>(left);
  const auto* fn = app ? llvm::dyn_cast<ast::VarExpr>(app->fn) : nullptr;
  VarId var = fn ? FindValue(fn->name, false) : VarId();
  TypeId wanted, rest;
  if (!var.valid() || !types_.IsFun(program_.vars[op].scheme.type, &wanted, &rest)) return false;
  TypeId top = types_.Kind(wanted) == TypeKind::App ? unify_.Head(wanted) : wanted;
  return types_.Kind(top) == TypeKind::Con && types_.BuiltinOf(top) != Builtin::IO && top != unify_.Head(expected) &&
         GivesAction(var, expected, app->args.size());
}

// `n mod 2`, where n is a parameter of which nothing is known: a function, as far as types tell.
void Checker::RecordBetween(const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args) {
  const auto* function = llvm::dyn_cast<ast::VarExpr>(args[0]);
  VarId var = function ? FindValue(function->name, false) : VarId();
  if (!var.valid() || !program_.vars[var].from_library || Arity(function) != 2) return;
  std::string_view left = diags_.sources().Text(fn->span), word = diags_.sources().Text(args[0]->span), right = diags_.sources().Text(args[1]->span);
  if (!std::isalpha(static_cast<unsigned char>(word[0])) || left.size() + right.size() > 40 || right.find('\n') != std::string_view::npos) return;
  between_.push_back({fn->span, fmt::format("a function between its arguments stands in backquotes: `{} `{}` {}`", left, word, right)});
}

// `f x = x.length`, where x is a parameter of which nothing is known: a function, as far as types tell.
void Checker::RecordDot(const ast::Expr* left, const ast::Expr* right) {
  const auto *value = llvm::dyn_cast<ast::VarExpr>(left), *function = llvm::dyn_cast<ast::VarExpr>(right);
  if (!value || !function || left->span.end + 1 != right->span.begin || !IsLocal(value->name.text)) return;
  VarId var = FindValue(value->name, false);
  if (!var.valid() || types_.Kind(unify_.Prune(program_.vars[var].scheme.type)) != TypeKind::Meta) return;
  std::string_view of = Text(value->name.text), name = diags_.sources().Text(right->span);
  dots_.push_back({left->span, fmt::format("`{0}.{1}` joins two functions; a function stands before its argument: `{1} {0}`", of, name)});
}

// How many arguments a function or a constructor takes by its type; 0 of what is none.
size_t Checker::Arity(const ast::Expr* expr) {
  if (const auto* made = llvm::dyn_cast<ast::ConExpr>(expr)) {
    ConId con = FindConstructor(made->name, false);
    return con.valid() ? program_.constructors[con].fields.size() : 0;
  }
  const auto* name = llvm::dyn_cast<ast::VarExpr>(expr);
  VarId var = name ? FindValue(name->name, false) : VarId();
  if (!var.valid() || broken_.count(var.index)) return 0;
  llvm::SmallVector<TypeId> params;
  types_.SplitFun(unify_.Zonk(program_.vars[var].scheme.type), params);
  return params.size();
}

void Checker::ReportTooManyArguments(const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, size_t taken,
                                     const core::Expr* head, Reason reason) {
  if (taken == 0) {
    if (negative_.valid() && fn->span.file == negative_.file && fn->span.begin == negative_.begin) return void(++unreported_);
    TypeId type = unify_.Prune(head->type);
    std::string what = types_.Kind(type) == TypeKind::Meta ? std::string("a number")
                                                           : fmt::format("of the type `{}`", PrintType(type));
    Error(Diag::NotAFunction, fn->span, diags_.sources().Text(fn->span), what, args.size(),
          args.size() == 1 ? "argument" : "arguments");
    // `a and b`
    const auto* second = llvm::dyn_cast<ast::VarExpr>(args[0]);
    std::string_view word = second ? Text(second->name.text) : std::string_view();
    if (args.size() == 2 && (word == "and" || word == "or"))
      diags_.Hint(fmt::format("`{}` is the operator for `{}`", word == "and" ? "&&" : "||", word));
    else if (args.size() == 2 && second && Arity(second) >= 2 && std::isalpha(static_cast<unsigned char>(word[0])))
      diags_.Hint(fmt::format("a function between its arguments stands in backquotes: `{} `{}` {}`",
                              diags_.sources().Text(fn->span), word, diags_.sources().Text(args[1]->span)));
    else if (HintAtSurplus(reason, args)) return;
    else if (const auto* index = llvm::dyn_cast<ast::ListExpr>(args[0]); args.size() == 1 && index && types_.BuiltinOf(unify_.Head(type)) == Builtin::Tensor)
      diags_.Hint(fmt::format("`{0} ! i` of `Tensor` is an element of a vector, `index {0} i` a row of a matrix, `slice i {0}` a part from i on", diags_.sources().Text(fn->span)));
    else if (const auto* index = llvm::dyn_cast<ast::ListExpr>(args[0]); args.size() == 1 && index && index->elements.size() == 1 && types_.BuiltinOf(unify_.Head(type)) == Builtin::List)
      diags_.Hint(fmt::format("`{} !! {}` is the element at a place", diags_.sources().Text(fn->span), diags_.sources().Text(index->elements[0]->span)));
    else if (llvm::isa<ast::LiteralExpr>(fn))
      diags_.Hint(fmt::format("is an operator or a comma missing after `{}`?", diags_.sources().Text(fn->span)));
    else {
      if (reason.var.valid()) ExplainVariable(reason.var, fn->span);
      HintAtHeldFunction(type, fn, args, 0);
    }
    return;
  }
  std::string what = reason.var.valid() || reason.con.valid() ? fmt::format("`{}`", Text(reason.name)) : "this function";
  Error(Diag::TooManyArguments, args[taken]->span, what, taken,
        taken == 1 ? "argument" : "arguments", args.size());
  reason.index = static_cast<uint32_t>(taken);
  Explain(reason);
  auto text = [&](const ast::Expr* expr) { return diags_.sources().Text(expr->span); };
  auto line = [&](uint32_t at) { return diags_.sources().Locate(fn->span.file, at).line; };
  if (line(args[taken]->span.begin) > line(args[taken - 1]->span.end)) {
    bool aligned = diags_.sources().Locate(fn->span.file, args[taken]->span.begin).column ==
                   diags_.sources().Locate(fn->span.file, fn->span.begin).column;
    return void(diags_.Hint(aligned ? "this line goes on with the one above: only after `do` is each line a statement"
                                    : "this line is indented more than the one above, and goes on with it"));
  }
  if (HintAtSurplus(reason, args)) return;
  llvm::SmallVector<TypeId> params;
  if (head->type.valid()) types_.SplitFun(unify_.Zonk(head->type), params, taken);
  // `length filter even xs`, `sortBy comparing length xs`: a function as an argument may want those after it for itself.
  for (size_t i = 0; i < taken && i < params.size(); ++i) {
    size_t own = Arity(args[i]), left = 0;
    for (TypeId type = params[i]; unify_.IsFun(type, nullptr, &type);) ++left;
    if (own <= left || args.size() - taken != own - left || i + own - left >= args.size()) continue;
    std::string call(text(fn));
    for (size_t j = 0; j < args.size(); ++j)
      call += fmt::format(" {}{}{}", j == i ? "(" : "", text(args[j]), j == i + own - left ? ")" : "");
    if (call.size() <= 60 && call.find('\n') == std::string::npos)
      return void(diags_.Hint(fmt::format("are parentheses missing, as in `{}`?", call)));
  }
  // `max depth l depth r`: several of them do.
  std::string call(text(fn));
  size_t groups = 0, at = 0;
  for (; at < args.size() && groups < params.size(); ++groups) {
    size_t own = Arity(args[at]), left = 0;
    for (TypeId type = params[groups]; unify_.IsFun(type, nullptr, &type);) ++left;
    const size_t more = own > left ? own - left : 0;
    call += more > 0 ? " (" : " ";
    for (size_t j = 0; j <= more && at + j < args.size(); ++j) call += fmt::format("{}{}", j > 0 ? " " : "", text(args[at + j]));
    if (more > 0) call += ")";
    at += more + 1;
  }
  if (groups == taken && at == args.size() && call.size() <= 60 && call.find('\n') == std::string::npos)
    return void(diags_.Hint(fmt::format("are parentheses missing, as in `{}`?", call)));
  if (std::string_view callee = text(fn); taken == 1 && (callee == "return" || callee == "pure")) {
    std::string all(text(args[0]));
    for (const ast::Expr* arg : args.drop_front()) all += fmt::format(" {}", text(arg));
    if (all.size() <= 60 && all.find('\n') == std::string::npos)
      return void(diags_.Hint(fmt::format("are parentheses missing, as in `{} ({})`?", callee, all)));
  }
  llvm::SmallVector<TypeId> given;
  const ast::Expr* last = StripParens(args[taken - 1]);
  const auto* name = llvm::dyn_cast<ast::VarExpr>(last);
  VarId function = name ? FindValue(name->name, false) : VarId();
  if (last == args[taken - 1] && function.valid() && types_.IsFun(unify_.Zonk(program_.vars[function].scheme.type))) {
    diags_.Hint(fmt::format("are parentheses missing, as in `{} ({} ..)`?", text(fn), text(last)));
  } else if (head->type.valid() && HintAtHeldFunction(types_.SplitFun(unify_.Zonk(head->type), given, taken), fn, args, taken)) {
  } else if (taken == 1 && !params.empty() && types_.IsTuple(params[0])) {
    std::vector<std::string_view> parts;
    for (const ast::Expr* arg : args) parts.push_back(text(StripParens(arg)));
    const bool atom = llvm::isa<ast::VarExpr>(fn) || llvm::isa<ast::ConExpr>(fn);
    diags_.Hint(fmt::format("it takes one tuple: `{} ({})`", atom ? std::string(text(fn)) : fmt::format("({})", text(StripParens(fn))), fmt::join(parts, ", ")));
  }
}

// `area w h = w * h + 1` under `area :: .. -> String`: where the operands by themselves agree on a type that the
// operator has, they are fine and the result is what clashes. Returns that type.
TypeId Checker::ResultByItself(const core::Scheme& scheme, llvm::ArrayRef<const ast::Expr*> args,
                               TypeId expected) {
  if (scheme.tyvars.empty() || types_.Kind(unify_.Prune(expected)) == TypeKind::Meta) return TypeId();
  llvm::SmallVector<TypeId> params;
  TypeId result = types_.SplitFun(scheme.type, params, args.size());
  if (types_.Kind(result) != TypeKind::Var || params.size() != args.size()) return TypeId();
  TypeId agreed;
  // `minimumBy (\a b -> ..) (items cart)`: an element of what is given, of which the function would be told as well.
  const bool by_function = llvm::any_of(llvm::seq<size_t>(0, args.size()), [&](size_t i) { return types_.IsFun(params[i]) && IsFunction(args[i]); });
  for (size_t i = 0; i < args.size(); ++i) {
    const bool element = by_function && types_.Kind(params[i]) == TypeKind::App && !types_.IsFun(params[i]) && types_.ArgOf(params[i]) == result;
    if (params[i] != result && !element) continue;
    TypeId type = QuickType(args[i]);
    if (element) {
      if (type.valid() && types_.Kind(type) == TypeKind::App) agreed = agreed.valid() ? agreed : types_.ArgOf(type);
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
  if (!agreed.valid() || !types_.IsGround(agreed) || !types_.IsGround(unify_.Zonk(expected)) ||
      agreed == unify_.Zonk(expected))
    return TypeId();
  for (const core::Pred& pred : scheme.preds)
    if (pred.type == result && !HasInstance(pred.cls, agreed)) return TypeId();
  // `n * 1.5` of an `Int`: the operands do not agree.
  for (size_t i = 0; i < args.size(); ++i)
    if (const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(StripParens(args[i]));
        params[i] == result && literal && literal->value.kind == ast::LiteralKind::Fractional &&
        !HasInstance(KnownClass("Fractional"), agreed))
      return TypeId();
  return agreed;
}

Symbol Checker::OperatorName(const ast::Expr* op) {
  const auto* var = llvm::dyn_cast<ast::VarExpr>(op);
  return var ? var->name.text : Symbol();
}

// Each operand of a chain of one operator by itself.
core::Expr* Checker::InferOperands(const ast::BinaryExpr* chain) {
  for (const ast::BinaryExpr* rest = chain; rest;) {
    Infer(rest->right);
    const auto* left = llvm::dyn_cast<ast::BinaryExpr>(rest->left);
    if (left && OperatorName(left->op) != OperatorName(chain->op)) left = nullptr;
    if (!left) Infer(rest->left);
    rest = left;
  }
  return ErrorNode(unify_.Fresh(), chain->span);
}

core::Expr* Checker::CheckApp(const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, bool infix,
                              Span span, TypeId expected, const Reason& why) {
  fn = StripParens(fn);
  StackUse stack;
  const auto* name = llvm::dyn_cast<ast::VarExpr>(fn);
  if (name && FindStackUse(name->name, args.size(), expected, stack))
    return CheckStackUse(stack, args, fn->span, span, expected, why);
  size_t mark = wanted_.size();
  core::Expr* head = nullptr;
  if (stack.open && local_groups_ > 0) head = OpenStackUse(name->name, stack, fn->span);
  else if (stack.var.valid() && !stack.several) head = Use(stack.var, fn->span);
  else head = Infer(fn);
  Reason reason;
  reason.kind = infix ? Reason::Operand : Reason::Argument;
  reason.outer = &why;
  reason.name = Intern("the function");
  const auto* applied = llvm::dyn_cast<ast::TypeAppExpr>(fn);
  const ast::Expr* callee = applied ? applied->fn : fn;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(callee)) {
    reason.name = var->name.text;
    if (const auto* use = llvm::dyn_cast<core::VarExpr>(head)) reason.var = use->var;
  } else if (const auto* con = llvm::dyn_cast<ast::ConExpr>(callee)) {
    reason.name = con->name.text;
    if (const auto* use = llvm::dyn_cast<core::ConExpr>(head)) reason.con = use->con;
  }

  llvm::SmallVector<TypeId, 4> params;
  TypeId result = head->type;
  for (size_t i = 0; i < args.size(); ++i) {
    TypeId from, to;
    if (!unify_.IsFun(result, &from, &to)) {
      // A type that is not known yet, or `m a` with an unknown m, becomes a function's.
      from = unify_.Fresh(), to = unify_.Fresh();
      bool no_function = IsNoFunction(result, i > 0 || !reason.var.valid() ? mark : wanted_.size()) ||
                         GivesNoFunction(result, args.size() - i - 1, expected) ||
                         (i == 1 && !infix && ReturnsFunction(reason, args[0], expected)) ||
                         (i > 0 && !infix && GivenFunctionByName(reason, args.take_front(i)));
      if (!no_function) {
        RecordPlace(unify_.Prune(result), fn->span, Reason{});
        if (i == 0 && args.size() == 2 && name && reason.var.valid() && !program_.vars[reason.var].from_library) RecordBetween(fn, args);
        no_function = !unify_.Unify(result, types_.Fun(from, to)).ok();
      }
      if (no_function) {
        ReportTooManyArguments(fn, args, i, head, reason);
        for (const ast::Expr* arg : args) Infer(arg);
        return ErrorNode(expected, span);
      }
    }
    params.push_back(from);
    result = to;
  }
  if (infix && args.size() == 2 && reason.name.valid() && Text(reason.name) == ".") RecordDot(args[0], args[1]);
  uint32_t errors = diags_.error_count();
  bool ok;
  // `putStrLn "n = " ++ show n` among other statements: that it is a list says nothing of their monad.
  if (infix && why.kind == Reason::Statement && args.size() == 2 && reason.var.valid() && TakesNoAction(reason.var, args[0], expected)) {
    reason.index = 0;
    reason.sibling = args[1]->span;
    Check(args[0], params[0], reason);
    Infer(args[1]);
    return ErrorNode(expected, span);
  }
  if (ArgumentOrder order = !infix && reason.var.valid() ? SwappedArguments(program_.vars[reason.var].scheme, args, expected) : ArgumentOrder(); !order.empty()) {
    ok = Expect(expected, result, span, why);
    llvm::SmallVector<const core::Expr*, 4> checked;
    ok = CheckSwapped(fn, args, order, params, reason, checked) && ok;
    return ok ? AppNode(head, checked, span) : ErrorNode(expected, span);
  }
  TypeId by_itself =
      reason.var.valid() ? ResultByItself(program_.vars[reason.var].scheme, args, expected) : TypeId();
  if (by_itself.valid()) {
    ReportMismatch({Clash::Mismatch, expected, by_itself}, expected, by_itself, span, why);
    HintAtResult(reason, args, infix, span, expected);
    errors = diags_.error_count();  // the operands are checked against each other as ever
    ok = false;
  } else {
    ok = Expect(expected, result, span, why);
    if (!ok) {
      ExplainCallee(reason.var, reason.con);
      // What was meant as the operands has other operands.
      if (HintAtResult(reason, args, infix, span, expected)) return ErrorNode(expected, span);
    }
  }
  llvm::SmallVector<const core::Expr*, 4> core_args;
  llvm::SaveAndRestore<llvm::ArrayRef<const ast::Expr*>> siblings(siblings_, infix ? llvm::ArrayRef<const ast::Expr*>() : args);
  // Where the function's type has variables, an argument is tied to the result and the other arguments: after an
  // error in one of these it is checked by itself.
  llvm::SmallVector<TypeId, 4> declared;
  if (reason.var.valid()) types_.SplitFun(program_.vars[reason.var].scheme.type, declared);
  size_t wrong = args.size();  // the first argument that is
  for (size_t i = 0; i < args.size(); ++i) {
    bool tied = i < declared.size() && (types_.HasVar(declared[i]) || types_.HasMeta(declared[i])) &&
                diags_.error_count() != errors;
    reason.index = static_cast<uint32_t>(i);
    if (infix && args.size() == 2) reason.sibling = args[1 - i]->span;
    if (wrong < i && !infix) {
      // `take "abc" 2`: what was wrong before is right here, and the other way round. One message tells it.
      TypeId other = unify_.Zonk(params[wrong]), own = unify_.Zonk(params[i]);
      const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(args[i]);
      bool number = literal && literal->value.kind == ast::LiteralKind::Integer;
      bool swapped = number && IsNumeric(other) && !IsNumeric(own) && types_.Kind(own) != TypeKind::Meta;
      uint32_t inside = diags_.error_count();
      core::Expr* arg = number && !swapped && !tied ? Check(args[i], params[i], reason) : Infer(args[i]);
      if (!number && diags_.error_count() == inside) {
        TypeId given = unify_.Zonk(arg->type);
        swapped = given == other && given != own;
        if (!swapped && !tied) Expect(params[i], arg->type, args[i]->span, reason);
      }
      if (swapped) diags_.Hint("the arguments look as if they were given in another order");
      core_args.push_back(arg);
      continue;
    }
    uint32_t before = diags_.error_count();
    if (const auto* chain = llvm::dyn_cast<ast::BinaryExpr>(args[i]); !ok && infix && chain && OperatorName(chain->op) == reason.name) {
      // `"a" + name + "b"`: the operator is wrong in all of the chain, and it was said of the whole.
      core_args.push_back(InferOperands(chain));
      continue;
    }
    core_args.push_back(tied ? Infer(args[i]) : Check(args[i], params[i], reason));
    if (tied) unify_.MarkAny(core_args.back()->type);  // what would have settled it went wrong
    if (wrong == args.size() && diags_.error_count() != before) wrong = i;
    if (wrong != i) continue;
    // `map -1 xs`
    if (infix && i == 0 && name && IsHigherOrder(args[0]) && Text(name->name.text) == "-" && args.size() == 2 &&
        name->span.end == args[1]->span.begin) {
      const auto* app = llvm::dyn_cast<ast::AppExpr>(args[1]);
      const ast::Expr* number = app ? app->fn : args[1];
      diags_.Hint(fmt::format("`(subtract {})` is the function", diags_.sources().Text(number->span)));
      return ErrorNode(expected, span);
    }
    // `foldr + 0 xs`: the operator was meant as an argument.
    if (infix && i == 0 && name && IsHigherOrder(args[0])) {
      diags_.Hint(fmt::format("an operator as an argument stands in parentheses: `{} ({}) ..`", diags_.sources().Text(args[0]->span), Text(name->name.text)));
      return ErrorNode(expected, span);
    }
    // `map xs (+ 1)`, `foldr 0 (+) xs`: the function stands elsewhere.
    const bool later = !infix && i < declared.size() && types_.IsFun(declared[i]) && !IsFunction(args[i]) && [&] {
      for (size_t j = 0; j < args.size() && j < declared.size(); ++j)
        if (j != i && !types_.IsFun(declared[j]) && IsFunction(args[j])) return true;
      return false;
    }();
    // (What is wrong of a literal list is an element of it.)
    const bool earlier = !infix && !llvm::isa<ast::ListExpr>(args[i]) && IsEarlierArgument(declared, params, i);
    // `foldr f [1, 2] 0`
    const bool list_first = !infix && llvm::isa<ast::ListExpr>(args[i]) && i < declared.size() && types_.Kind(declared[i]) == TypeKind::Var && [&] {
      for (size_t j = i + 1; j < args.size() && j < declared.size(); ++j)
        if (llvm::isa<ast::LiteralExpr>(args[j]) && types_.Kind(declared[j]) == TypeKind::App && !types_.IsFun(declared[j])) return true;
      return false;
    }();
    if (later || earlier || list_first) diags_.Hint("the arguments look as if they were given in another order");
  }
  return ok ? AppNode(head, core_args, span) : ErrorNode(expected, span);
}

// Whether the expression is a function, as far as it shows.
bool Checker::IsFunction(const ast::Expr* expr) {
  expr = StripParens(expr);
  return llvm::isa<ast::LambdaExpr>(expr) || llvm::isa<ast::LeftSectionExpr>(expr) || llvm::isa<ast::RightSectionExpr>(expr) ||
         Arity(expr) > 0;
}

// Whether the expression is a function by name that takes functions.
bool Checker::IsHigherOrder(const ast::Expr* expr) {
  const auto* name = llvm::dyn_cast<ast::VarExpr>(expr);
  VarId var = name ? FindValue(name->name, false) : VarId();
  TypeId first;
  return var.valid() && !broken_.count(var.index) && types_.IsFun(program_.vars[var].scheme.type, &first, nullptr) && types_.IsFun(first);
}

// `lookup (fromList xs) 1`, `elem xs 2`: where anything may stand, there stands what the argument at `place` should be.
bool Checker::IsEarlierArgument(llvm::ArrayRef<TypeId> declared, llvm::ArrayRef<TypeId> params, size_t place) {
  if (place >= declared.size() || types_.Kind(declared[place]) != TypeKind::App || types_.IsFun(declared[place])) return false;
  for (size_t i = 0; i < place; ++i) {
    if (types_.Kind(declared[i]) != TypeKind::Var) continue;
    TypeId given = unify_.Head(params[i]), wanted = types_.Head(declared[place]).valid() ? unify_.Head(declared[place]) : TypeId();
    if (types_.Kind(unify_.Prune(params[i])) != TypeKind::App || types_.Kind(given) != TypeKind::Con) continue;
    ClassId foldable = KnownClass("Foldable");
    if (wanted.valid() ? given == wanted : foldable.valid() && env_.instances.count({foldable.index, types_.ConOf(given).index})) return true;
  }
  return false;
}

bool Checker::IsNumeric(TypeId type) const {
  switch (types_.BuiltinOf(type)) {
    case Builtin::Int:
    case Builtin::Integer:
    case Builtin::Float:
    case Builtin::Double: return true;
    default: return false;
  }
}

// (x op) is op applied to one argument.
core::Expr* Checker::CheckLeftSection(const ast::LeftSectionExpr* expr, TypeId expected, const Reason& why) {
  return CheckApp(expr->op, {expr->operand}, true, expr->span, expected, why);
}

// (op x) is \y -> y op x, with x outside so that it is computed once.
core::Expr* Checker::CheckRightSection(const ast::RightSectionExpr* expr, TypeId expected,
                                       const Reason& why) {
  // `(+ 1 2)`, as if the operator came first.
  if (const auto* app = llvm::dyn_cast<ast::AppExpr>(expr->operand);
      app && llvm::isa<ast::LiteralExpr>(app->fn) && app->args.size() == 1) {
    std::string_view op = diags_.sources().Text(expr->op->span);
    Error(Diag::NotAFunction, app->fn->span, diags_.sources().Text(app->fn->span), "a literal", 1, "argument")
        .Hint(fmt::format("the operator stands between its operands: `{1} {0} {2}`, or `({0}) {1} {2}`", op,
                          diags_.sources().Text(app->fn->span), diags_.sources().Text(app->args[0]->span)));
    return ErrorNode(expected, expr->span);
  }
  core::Expr* op = Infer(expr->op);
  TypeId left = unify_.Fresh(), right = unify_.Fresh(), result = unify_.Fresh();
  if (!Expect(types_.Fun({left, right}, result), op->type, expr->op->span, Reason{})) {
    Infer(expr->operand);
    return ErrorNode(expected, expr->span);
  }
  bool ok = Expect(expected, types_.Fun(left, result), expr->span, why);
  Reason reason{Reason::Operand};
  reason.index = 1;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(expr->op)) reason.name = var->name.text;
  if (const auto* use = llvm::dyn_cast<core::VarExpr>(op)) reason.var = use->var;
  core::Expr* operand = Check(expr->operand, right, reason);
  if (!ok) return ErrorNode(expected, expr->span);
  VarId param = program_.NewLocal(Intern("x"), left, expr->span);
  bool trivial = llvm::isa<core::LiteralExpr>(operand) || llvm::isa<core::VarExpr>(operand);
  if (trivial)
    return LambdaNode({param}, AppNode(op, {VarNode(param, expr->span), operand}, expr->span), expr->span);
  VarId held = program_.NewLocal(Intern("y"), right, expr->operand->span);
  core::Expr* body =
      AppNode(op, {VarNode(param, expr->span), VarNode(held, expr->operand->span)}, expr->span);
  return LetNode(held, operand, LambdaNode({param}, body, expr->span));
}

// (x,,y) is \a -> (x, a, y); what is given is computed once.
core::Expr* Checker::CheckTupleSection(const ast::TupleSectionExpr* expr, TypeId expected,
                                       const Reason& why) {
  if (expr->elements.size() > 62) {
    Error(Diag::TupleTooLong, expr->span, expr->elements.size());
    return ErrorNode(expected, expr->span);
  }
  core::Expr* con =
      UseCon(TupleConstructor(env_, program_, static_cast<uint32_t>(expr->elements.size())), expr->span);
  TypeArgs fields;
  TypeId tuple = types_.SplitFun(con->type, fields);
  TypeId type = tuple;
  for (size_t i = fields.size(); i-- > 0;)
    if (!expr->elements[i]) type = types_.Fun(fields[i], type);
  bool ok = Expect(expected, type, expr->span, why);
  std::vector<VarId> params;
  std::vector<std::pair<VarId, core::Expr*>> held;
  std::vector<const core::Expr*> args;
  for (size_t i = 0; i < fields.size(); ++i) {
    Symbol name = Intern("x" + std::to_string(i + 1));
    VarId var = program_.NewLocal(name, fields[i], expr->span);
    if (expr->elements[i]) held.push_back({var, Check(expr->elements[i], fields[i], ok ? why : Reason{})});
    else params.push_back(var);
    args.push_back(VarNode(var, expr->span));
  }
  if (!ok) return ErrorNode(expected, expr->span);
  core::Expr* result = LambdaNode(params, AppNode(con, args, expr->span), expr->span);
  for (size_t i = held.size(); i-- > 0;) result = LetNode(held[i].first, held[i].second, result);
  return result;
}

core::Expr* Checker::CallKnown(VarId fn, llvm::ArrayRef<core::Expr*> args, Span span, TypeId expected,
                               const Reason& why) {
  core::Expr* head = Use(fn, span);
  TypeId type = head->type;
  llvm::SmallVector<const core::Expr*, 4> core_args;
  for (core::Expr* arg : args) {
    TypeId from, to;
    if (!unify_.IsFun(type, &from, &to)) return ErrorNode(expected, span);
    if (!Expect(from, arg->type, arg->span, Reason{})) return ErrorNode(expected, span);
    core_args.push_back(arg);
    type = to;
  }
  return Expect(expected, type, span, why) ? AppNode(head, core_args, span) : ErrorNode(expected, span);
}

}  // namespace df::check
