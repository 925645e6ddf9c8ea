// How a clash may be mended: the mistakes that are made most, told by the two types and by what stands there.
#include "typecheck/checker.h"

namespace df::check {
namespace {

// An expression short enough to be shown in a hint.
bool IsShort(std::string_view text) { return text.size() <= 40 && text.find('\n') == std::string_view::npos; }

bool IsAtom(std::string_view text) {
  return text.find(' ') == std::string_view::npos || text[0] == '(' || (text[0] == '"' && text.find('"', 1) == text.size() - 1);
}

std::string Parenthesized(std::string_view text) {
  return IsAtom(text) ? std::string(text) : fmt::format("({})", text);
}

bool IsVariable(std::string_view text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text[0])) && llvm::all_of(text, [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '\'';
  });
}

// Whether the text is one argument of a function, as far as one sees at once.
bool IsOneArgument(std::string_view text) {
  if (text.empty()) return false;
  if (text[0] == '"' || text[0] == '(') return text.find(text[0] == '"' ? '"' : ')', 1) == text.size() - 1;
  return text.find(' ') == std::string_view::npos;
}

}  // namespace

// Whether an expression is an action of IO, as far as a look at it tells.
bool Checker::IsAction(const ast::Expr* expr) {
  TypeId type = QuickType(expr);
  return type.valid() && types_.BuiltinOf(unify_.Head(type)) == Builtin::IO;
}

bool Checker::HintAtTypeVariable(TyVarId var) {
  std::string_view name = Text(types_.vars[var].name);
  if (name.size() < 3) return false;
  std::vector<std::string_view> names;
  scope_->types.ForEach([&](Symbol other, const TypeName&) { names.push_back(Text(other)); });
  for (std::string_view other : names)
    if (llvm::StringRef(other.data(), other.size()).equals_insensitive(llvm::StringRef(name.data(), name.size()))) {
      diags_.Hint(fmt::format("`{}` begins with a small letter, so it is a variable; the type is `{}`", name, other));
      return true;
    }
  return false;
}

VarId Checker::LocalSignature(TyVarId var) const {
  const Span bound = types_.vars[var].span;
  for (const auto& [id, signature] : signature_of_) {
    const Span whole = signature->type_span;
    if (bound.valid() && program_.vars[VarId(id)].kind == core::VarKind::Local && bound.file == whole.file && whole.begin <= bound.begin &&
        bound.end <= whole.end)
      return VarId(id);
  }
  return VarId();
}

// A local signature that has a variable of its own where one of the signature around it is needed.
bool Checker::HintAtLocalSignature(TyVarId one, TyVarId other) {
  const VarId inner = LocalSignature(one), second = LocalSignature(other);
  if (inner.valid() == second.valid()) return false;
  if (second.valid()) std::swap(one, other);
  diags_.Hint(fmt::format("with the extension ScopedTypeVariables and `forall {0}.` in the outer signature that of `{1}` can say `{0}` for `{2}`",
                          Text(types_.vars[other].name), Text(program_.vars[inner.valid() ? inner : second].name), Text(types_.vars[one].name)));
  return true;
}

// A function that was meant for the whole of `left op right`.
void Checker::HintAtBinding(std::string_view function, std::string_view left, std::string_view op,
                            std::string_view right) {
  // Strings are not added.
  if (op == "+" && (left.substr(0, 1) == "\"" || right.substr(0, 1) == "\"" || right.starts_with("show "))) op = "++";
  diags_.Hint(fmt::format("functions bind more tightly than operators: `{} ({} {} {})`, perhaps", function, left, op, right));
}

// The last operand of a chain `f . g . h x y`, if it is a call with all of its arguments; null otherwise.
const ast::AppExpr* Checker::LastOfChain(const ast::Expr* chain) {
  const auto* binary = llvm::dyn_cast<ast::BinaryExpr>(chain);
  if (!binary) return nullptr;
  while (const auto* inner = llvm::dyn_cast<ast::BinaryExpr>(binary->right)) binary = inner;
  const auto* app = llvm::dyn_cast<ast::AppExpr>(binary->right);
  return app && diags_.sources().Text(binary->op->span) == "." && Arity(app->fn) == app->args.size() ? app : nullptr;
}

// Where what an application gives is not what is expected. True if the operands are others than they were meant to be.
bool Checker::HintAtResult(const Reason& callee, llvm::ArrayRef<const ast::Expr*> args, bool infix, Span span,
                           TypeId expected) {
  auto text = [&](const ast::Expr* expr) { return diags_.sources().Text(expr->span); };
  std::string_view name = Text(callee.name);
  if (name == "matmul" && callee.var.valid() && program_.vars[callee.var].from_library && RankOf(expected) == 1) return HintAtProduct();
  if (infix && name == "." && args.size() == 2 && IsShort(text(args[0])) && IsShort(text(args[1]))) {
    if (diags_.sources().Text(span).find(' ') == std::string_view::npos)
      diags_.Hint(fmt::format("a function stands before its argument: `{} {}`", text(args[1]), text(args[0])));
    else if (const auto* applied = llvm::dyn_cast<ast::AppExpr>(args[1]); applied && applied->args.size() == 1 && IsAction(applied->args[0])) {
      // `map read . words getLine`: what the functions are for is the action's result.
      diags_.Hint(fmt::format("`<$>` applies functions to the result of an action: `{} . {} <$> {}`", text(args[0]), text(applied->fn), text(applied->args[0])));
      return true;
    } else if (const ast::AppExpr* last = LastOfChain(args[1]); last && IsShort(text(args[0])) && diags_.sources().Text(span).size() <= 80 &&
                                                                  diags_.sources().Text(span).find('\n') == std::string_view::npos) {
      // `map f . take 3 . sortBy g xs`
      const Span value = last->args.back()->span;
      std::string_view functions = diags_.sources().Text(Span{span.file, span.begin, value.begin});
      diags_.Hint(fmt::format("`.` joins two functions; `$` applies them: `{} $ {}`", llvm::StringRef(functions).rtrim().str(), diags_.sources().Text(value)));
    } else if (!llvm::isa<ast::AppExpr>(args[1]))
      diags_.Hint(fmt::format("it is a function: `({}) x` applies it", diags_.sources().Text(span)));
    else diags_.Hint(fmt::format("`.` joins two functions; `$` applies one: `{} $ {}`", text(args[0]), text(args[1])));
  }
  // `putStrLn person.name`
  const auto* outer = infix && name == "." && args.size() == 2 ? llvm::dyn_cast<ast::AppExpr>(args[0]) : nullptr;
  if (outer && args[0]->span.end + 1 == args[1]->span.begin && IsShort(text(outer)) && IsVariable(text(args[1]))) {
    std::string_view last = text(outer->args.back()), whole = text(outer);
    diags_.Hint(fmt::format("a function stands before its argument: `{} ({} {})`", whole.substr(0, whole.size() - last.size() - 1),
                            text(args[1]), last));
    return true;
  }
  // `error "no " ++ name`, `putStrLn "n = " ++ show n`, `return name ++ "!"`
  const auto* app = infix && args.size() == 2 ? llvm::dyn_cast<ast::AppExpr>(args[0]) : nullptr;
  const auto* fn = app && app->args.size() == 1 ? llvm::dyn_cast<ast::VarExpr>(app->fn) : nullptr;
  VarId var = fn ? FindValue(fn->name, false) : VarId();
  const bool returns = var.valid() && program_.vars[var].from_library && (Text(fn->name.text) == "return" || Text(fn->name.text) == "pure");
  const bool arithmetic = name == "+" || name == "-" || name == "*";  // `n : f n - 1`
  // `show n + s`
  if (var.valid() && name == "+" && Text(fn->name.text) == "show" && types_.BuiltinOf(unify_.Head(expected)) == Builtin::List) {
    TypeId other = QuickType(args[1]);
    if (llvm::isa<ast::LiteralExpr>(args[1]) ? text(args[1])[0] == '"' : other.valid() && types_.BuiltinOf(unify_.Head(other)) == Builtin::List) {
      diags_.Hint("`++` joins strings and lists");
      return true;
    }
  }
  if (var.valid() && (returns || Text(fn->name.text) == "error" || GivesAction(var, expected) || (arithmetic && GivesList(var, expected))) && IsShort(text(app)) && IsShort(text(args[1]))) {
    HintAtBinding(text(fn), text(app->args[0]), name, text(args[1]));
    return true;
  }
  // `Left "no " ++ name`
  const auto* con = app && app->args.size() == 1 ? llvm::dyn_cast<ast::ConExpr>(app->fn) : nullptr;
  ConId holder = con ? FindConstructor(con->name, false) : ConId();
  if (holder.valid() && types_.Head(unify_.Zonk(expected)) == program_.constructors[holder].tycon && IsShort(text(app)) &&
      IsShort(text(args[1]))) {
    HintAtBinding(text(con), text(app->args[0]), name, text(args[1]));
    return true;
  }
  if ((name == "return" || name == "pure") && args.size() == 1 && callee.var.valid() &&
      program_.vars[callee.var].from_library)
    diags_.Hint("a function's value needs no `return`: that makes an action of it");
  // `map print xs`
  if (name == "map" && args.size() == 2 && callee.var.valid() && program_.vars[callee.var].from_library &&
      types_.Kind(unify_.Head(expected)) == TypeKind::Con && MakesAction(args[0], expected)) {
    bool nothing = types_.BuiltinOf(unify_.Prune(types_.ArgOf(unify_.Prune(expected)))) == Builtin::Unit;
    diags_.Hint(nothing ? "`mapM_` does the action for each element"
                        : "`mapM` does the action for each element and gives the results; `mapM_` gives nothing");
  }
  return false;
}

// Whether a function makes an action of that many arguments, as far as a look at its head tells.
bool Checker::MakesAction(const ast::Expr* function, TypeId expected, size_t given) {
  switch (function->kind) {
    case ast::ExprKind::Paren: return MakesAction(llvm::cast<ast::ParenExpr>(function)->expr, expected, given);
    case ast::ExprKind::Var: {
      VarId var = FindValue(llvm::cast<ast::VarExpr>(function)->name, false);
      return var.valid() && GivesAction(var, expected, given);
    }
    case ast::ExprKind::App: {
      const auto* app = llvm::cast<ast::AppExpr>(function);
      return MakesAction(app->fn, expected, given + app->args.size());
    }
    case ast::ExprKind::Lambda: return MakesAction(llvm::cast<ast::LambdaExpr>(function)->body, expected, given - 1);
    case ast::ExprKind::Binary: {
      const auto* binary = llvm::cast<ast::BinaryExpr>(function);
      return diags_.sources().Text(binary->op->span) == "." && MakesAction(binary->left, expected, given);
    }
    default: return false;
  }
}

// Whether a function of that many arguments gives an action: of IO, or of the monad that is expected.
bool Checker::GivesAction(VarId function, TypeId expected, size_t given) {
  llvm::SmallVector<TypeId> params;
  TypeId result = types_.SplitFun(program_.vars[function].scheme.type, params, given);
  TypeId top = unify_.Head(result);
  if (params.size() < given || types_.Kind(top) != TypeKind::Con) return false;
  TyConId con = types_.ConOf(top);
  return types_.cons[con].builtin == Builtin::IO ||
         (types_.cons[con].builtin != Builtin::List && top == unify_.Head(expected) &&
          env_.instances.count({KnownClass("Monad").index, con.index}));
}

// Whether a function of one number gives a list, and that is expected.
bool Checker::GivesList(VarId function, TypeId expected) {
  llvm::SmallVector<TypeId> params;
  TypeId result = types_.SplitFun(unify_.Zonk(program_.vars[function].scheme.type), params, 1);
  return params.size() == 1 && IsNumberType(params[0]) && types_.BuiltinOf(unify_.Head(result)) == Builtin::List &&
         types_.BuiltinOf(unify_.Head(expected)) == Builtin::List;
}

// Whether a function's parameter has a type like `t a`, of a variable and its argument.
bool Checker::TakesAnyContainer(TypeId function, uint32_t index) {
  llvm::SmallVector<TypeId> params;
  types_.SplitFun(function, params, index + 1);
  return params.size() > index && types_.Kind(params[index]) == TypeKind::App &&
         types_.Kind(unify_.Head(params[index])) == TypeKind::Var;
}

// In a stack `t (u m) a`, how far below the outermost monad the one of this constructor lies; 0 if it does not.
uint32_t Checker::LevelsBelow(TypeId stack, TyConId monad) {
  llvm::SmallVector<TypeId, 4> args;
  TypeId top = unify_.Head(stack, &args);
  if (types_.Kind(top) != TypeKind::Con || args.size() < 2) return 0;
  TypeId inner = args[args.size() - 2];
  KindId kind = env_.KindOf(types_.ConOf(top)), of;
  for (size_t i = 0; i + 1 < args.size(); ++i)
    if (!env_.kinds.IsArrow(kind, &of, &kind)) return 0;
  if (!env_.kinds.IsArrow(of)) return 0;
  for (uint32_t depth = 1; depth < 8; ++depth) {
    args.clear();
    TypeId head = unify_.Head(inner, &args);
    if (types_.Kind(head) != TypeKind::Con) return 0;
    if (types_.ConOf(head) == monad) return depth;
    if (args.empty()) return 0;
    inner = args.back();
  }
  return 0;
}

// `weight (grad f model)`, where the model's type holds more than real numbers: its gradient has a type of its own.
bool Checker::HintAtTangent(TypeId expected, TypeId actual) {
  if (!expected.valid() || !actual.valid()) return false;
  TypeId of;
  if (types_.IsTangent(unify_.Zonk(actual), &of) && unify_.Head(of) == unify_.Head(expected))
    diags_.Hint("`asValue v g` of `Gradient` is the gradient `g` at `v` as a value of `v`'s type");
  else if (types_.IsTangent(unify_.Zonk(expected), &of) && unify_.Head(of) == unify_.Head(actual))
    diags_.Hint("`asTangent v` of `Gradient` is `v`'s real numbers alone");
  else
    return false;
  return true;
}

// Whether a type has a function in it that takes a function.
bool Checker::TakesFunction(TypeId type, int depth) {
  TypeId from, to;
  if (!type.valid() || depth == 0) return false;
  if (unify_.IsFun(type, &from, &to)) return unify_.IsFun(from, nullptr, nullptr) || TakesFunction(from, depth - 1) || TakesFunction(to, depth - 1);
  llvm::SmallVector<TypeId, 4> args;
  unify_.Head(type, &args);
  return llvm::any_of(args, [&](TypeId arg) { return TakesFunction(arg, depth - 1); });
}

// Either type may be invalid: then it is a number of a type that is not known yet. `span` is what has the type
// `actual`.
void Checker::HintAtClash(TypeId expected, TypeId actual, Span span, const Reason& why) {
  std::string_view text = diags_.sources().Text(span);
  auto head = [&](TypeId type) {
    TypeId top = type.valid() ? unify_.Head(type) : TypeId();
    return top.valid() && types_.Kind(top) == TypeKind::Con ? types_.ConOf(top) : TyConId();
  };
  auto builtin = [&](TyConId con) { return con.valid() ? types_.cons[con].builtin : Builtin::None; };
  auto named = [&](TyConId con, std::string_view name) { return con.valid() && Text(types_.cons[con].name) == name; };
  auto argument_of = [&](TypeId type) {
    llvm::SmallVector<TypeId, 4> args;
    unify_.Head(type, &args);
    return args.empty() ? TypeId() : unify_.Zonk(args.back());
  };
  TyConId want = head(expected), have = head(actual);
  Builtin wanted = builtin(want), found = builtin(have);
  auto whole = [](Builtin b) { return b == Builtin::Int || b == Builtin::Integer; };
  auto fraction = [](Builtin b) { return b == Builtin::Float || b == Builtin::Double; };
  bool is_operator = why.kind == Reason::Operand;
  std::string_view op = is_operator ? Text(why.name) : std::string_view();
  std::string_view other = why.sibling.valid() ? diags_.sources().Text(why.sibling) : std::string_view();
  bool wants_string = wanted == Builtin::List && builtin(head(argument_of(expected))) == Builtin::Char;
  bool has_string = found == Builtin::List && builtin(head(argument_of(actual))) == Builtin::Char;

  if (HintAtTangent(expected, actual) || HintAtOptimiser(expected, actual) || HintAtTensor(expected, actual, span, why)) return;

  // `isEven n = n mod 2 == 0`, found where it is called.
  if (!between_.empty() && (TakesFunction(expected) || TakesFunction(actual))) {
    // In the function that is called, if one is: the first after its name.
    const Span from = why.var.valid() ? program_.vars[why.var].span : Span();
    auto site = llvm::find_if(between_, [&](const auto& entry) { return from.valid() && entry.first.file == from.file && entry.first.begin > from.begin; });
    if (site == between_.end()) site = between_.end() - 1;
    NoteOnce(site->first, "this is used as a function");
    return void(diags_.Hint(site->second));
  }
  // `f x = x.length`, found where it is called.
  if (!dots_.empty() && why.var.valid() && unify_.IsFun(expected, nullptr, nullptr) && found != Builtin::Function) {
    auto within = [](const Span& outer, Span inner) { return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end; };
    const Span from = program_.vars[why.var].span;
    auto decl = llvm::find_if(module_.decls, [&](const ast::Decl* decl) { return from.valid() && within(decl->span, from); });
    for (const auto& [place, hint] : dots_)
      if (decl != module_.decls.end() && within((*decl)->span, place)) {
        NoteOnce(place, "this is used as a function");
        return void(diags_.Hint(hint));
      }
  }
  // An action of a monad that lies below in a stack of transformers.
  if (have.valid() && want.valid() && have != want)
    if (uint32_t depth = LevelsBelow(expected, have); depth > 0) {
      std::string action = IsShort(text) ? Parenthesized(text) : "..";
      std::string lifts;
      for (uint32_t i = 1; i < depth; ++i) lifts += "lift (";
      std::string closing(depth - 1, ')');
      return void(diags_.Hint(found == Builtin::IO ? fmt::format("`liftIO {}` is the action here", action)
                                                   : fmt::format("`{}lift {}{}` is the action here", lifts, action, closing)));
    }
  if (named(want, "Either") && named(have, "ExceptT"))
    return void(diags_.Hint("the error of an `Either` is its `Left`"));
  // Operations of mtl look for theirs in a stack that is known; here one was taken for the whole.
  if (have.valid() && want.valid() && IsTransformer(have) && types_.cons[want].is_newtype && Shown(types_.cons[want].span).valid()) {
    const std::vector<ConId>& constructors = types_.cons[want].constructors;
    TyConId inside = constructors.empty() ? TyConId() : MonadOf(program_.constructors[constructors[0]].fields[0].type);
    std::string_view name = Text(types_.cons[have].name);
    std::string_view cls = name == "StateT" ? "MonadState" : name == "ReaderT" ? "MonadReader" : name == "WriterT" ? "MonadWriter"
                           : name == "ExceptT" ? "MonadError" : "";
    if (inside.valid() && IsTransformer(inside) && !cls.empty())
      return void(diags_.Hint(fmt::format("it is an action of `{0}` too if that has `deriving ({1} ..)`, by `GeneralizedNewtypeDeriving`",
                                          Text(types_.cons[want].name), cls)));
  }
  if (have.valid() && want.valid() && have != want && IsTransformer(have) && IsTransformer(want)) {
    llvm::SmallVector<MetaId> open;
    TypeId stack = unify_.Zonk(expected);
    if (types_.Kind(stack) == TypeKind::App) unify_.FreeMetas(types_.FnOf(stack), open);
    if (open.empty())
      return void(diags_.Hint(fmt::format("the stack that is expected has no `{}`", Text(types_.cons[have].name))));
    return void(diags_.Hint("a signature with the whole stack of monads tells both what they are part of"));
  }
  if (why.kind == Reason::Generator)
    return void(diags_.Hint("a generator `x <- xs` goes through a list, `[1 .. 10]` say"));
  if (found == Builtin::Function && wanted != Builtin::Function && (text == "return" || text == "pure"))
    return void(diags_.Hint(fmt::format("`{} ()` is the action that does nothing", text)));
  if (why.kind == Reason::Statement) {
    llvm::SmallVector<TypeId, 4> args;
    if (actual.valid()) unify_.Head(actual, &args);
    if (found == Builtin::List && wanted == Builtin::IO)
      return void(diags_.Hint("`mapM_` does an action for each element of a list"));
    if (!actual.valid() || (have.valid() && (args.empty() || found == Builtin::Tuple))) diags_.Hint("a value that is no action is named by `let x = ..`");
    return;
  }
  if (why.kind == Reason::Guard && found != Builtin::Function && IsAtom(text) &&
      std::isalpha(static_cast<unsigned char>(text[0])))
    return void(diags_.Hint(fmt::format("the guard ends at `=`; `{} == ..` compares", text)));
  // `not x == y`: the operator's result is what the function wants.
  if (why.kind == Reason::Argument && why.index == 0 && why.outer && why.outer->kind == Reason::Operand &&
      why.outer->index == 0 && why.outer->var.valid() && IsShort(text) && why.outer->sibling.valid()) {
    llvm::SmallVector<TypeId> params;
    TypeId result = types_.SplitFun(program_.vars[why.outer->var].scheme.type, params, 2);
    std::string_view right = diags_.sources().Text(why.outer->sibling);
    if (expected.valid() && result == unify_.Zonk(expected) && IsShort(right))
      return HintAtBinding(Text(why.name), text, Text(why.outer->name), right);
  }
  // `map (- 1) xs`
  if (wanted == Builtin::Function && !actual.valid() && text.size() > 1 && text[0] == '-' && IsShort(text))
    return void(diags_.Hint(fmt::format("`subtract {}` is the function", llvm::StringRef(text.substr(1)).trim().str())));
  // `sortBy age people`
  TypeId second, order, to;
  if (wanted == Builtin::Function && found == Builtin::Function && unify_.IsFun(expected, nullptr, &second) &&
      unify_.IsFun(second, nullptr, &order) && builtin(head(order)) == Builtin::Ordering && unify_.IsFun(actual, nullptr, &to) &&
      !unify_.IsFun(to, nullptr, nullptr) && IsShort(text) && !text.starts_with("comparing "))
    return void(diags_.Hint(fmt::format("`comparing {}` of `Data.Ord` compares two by it", Parenthesized(text))));
  // `foldr (\x -> x + 1) 0 xs`
  if (wanted == Builtin::Function && found != Builtin::Function && why.kind == Reason::None && lambda_ && span == lambda_->body->span) {
    size_t more = 0;
    for (TypeId type = expected; unify_.IsFun(type, nullptr, &type);) ++more;
    return void(diags_.Hint(fmt::format("this lambda has {} parameter{}, and is given {} arguments one after the other",
                                        lambda_->params.size(), lambda_->params.size() == 1 ? "" : "s",
                                        lambda_->params.size() + more)));
  }
  // `when ready putStrLn "a"`
  if (TypeId gives, made; wanted == Builtin::Function && found == Builtin::Function && unify_.IsFun(expected, nullptr, &gives) &&
                          unify_.IsFun(actual, nullptr, &made) && builtin(head(gives)) == Builtin::Unit &&
                          builtin(head(made)) == Builtin::IO && IsVariable(text))
    return void(diags_.Hint(fmt::format("are parentheses missing, as in `({} ..)`?", text)));
  // A function that stands for what a type of the program's own would hold: `p = \s -> Just (c, s)`
  if (found == Builtin::Function && wanted != Builtin::Function && text.starts_with("\\") && HintAtHolder(expected, actual, text)) return;
  // `area = 3` under `area :: Shape -> Double`
  if (wanted == Builtin::Function && found != Builtin::Function && why.kind == Reason::Signature && (!actual.valid() || have.valid())) {
    size_t more = 0;
    TypeId last = expected;
    while (unify_.IsFun(last, nullptr, &last)) ++more;
    if (actual.valid() ? unify_.Head(last) == unify_.Head(actual) : IsNumberType(last))
      return void(diags_.Hint(fmt::format("the signature promises {} more parameter{} before the `=`", more, more == 1 ? "" : "s")));
  }
  // A function where something else is wanted.
  if (found == Builtin::Function && wanted != Builtin::Function) {
    if (op == "-" && why.index == 0 && IsShort(text) && IsShort(other)) {
      // `take -1 xs`: the number is the argument, and not what it is applied to.
      const size_t end = std::isdigit(static_cast<unsigned char>(other[0])) ? std::min(other.find(' '), other.size()) : other.size();
      if (end < other.size()) negative_ = why.sibling;
      return void(diags_.Hint(fmt::format("a negative argument stands in parentheses: `{} (-{}){}`", text, other.substr(0, end), other.substr(end))));
    }
    if (IsVariable(text))
      if (VarId var = FindValue({Intern(text), {}, span}, false); var.valid() && env_.field_owner.count(var.index))
        return void(diags_.Hint(fmt::format("it is a function: `{} x` is the field of a value `x`", text)));
    uint32_t missing = 0;
    for (TypeId type = actual; unify_.IsFun(type, nullptr, &to); type = to) ++missing;
    return void(diags_.Hint(
        fmt::format("it is a function: {} missing", missing == 1 ? "an argument is" : "arguments are")));
  }
  // `putStrLn person.name`
  if (size_t last = text.rfind(' '); op == "." && why.index == 0 && last != std::string_view::npos && IsVariable(text.substr(last + 1)) &&
                                     span.end + 1 == why.sibling.begin && IsVariable(other))
    return void(diags_.Hint(fmt::format("a function stands before its argument: `{} ({} {})`", text.substr(0, last), other,
                                        text.substr(last + 1))));
  if (wanted == Builtin::Function && found != Builtin::Function && op == "." && IsShort(text) && IsShort(other))
    return void(diags_.Hint(why.index == 1
                                ? fmt::format("`.` joins two functions; `$` applies one: `{} $ {}`", other, text)
                                : std::string("`.` joins two functions")));
  // Pairs for several arguments: `add (1, 2)`.
  if (found == Builtin::Tuple && wanted != Builtin::Tuple && why.kind == Reason::Argument && why.index == 0 &&
      text.size() > 2 && text[0] == '(' && IsShort(text)) {
    std::string spread(text.substr(1, text.size() - 2));
    size_t comma = spread.find(',');
    if (comma != std::string::npos && spread.find_first_of("()[]\"'", 0) == std::string::npos) {
      spread.erase(std::remove(spread.begin(), spread.end(), ','), spread.end());
      return void(diags_.Hint(
          fmt::format("arguments stand one after the other: `{} {}`", Text(why.name), spread)));
    }
  }
  // Characters and strings.
  if (wanted == Builtin::Char && has_string && text.size() == 3 && text[0] == '"')
    return void(diags_.Hint(fmt::format("a character stands in single quotes: `'{}'`", text[1])));
  if (wants_string && found == Builtin::Char) {
    if (text.size() == 3 && text[0] == '\'')
      return void(diags_.Hint(fmt::format("a string stands in double quotes: `\"{}\"`", text[1])));
    if (IsShort(text)) return void(diags_.Hint(fmt::format("`[{}]` is a string of one character", text)));
  }
  if (named(have, "Text") && wants_string)
    return void(diags_.Hint("`unpack` of `Data.Text` turns a `Text` into a `String`"));
  if (has_string && named(want, "Text"))
    return void(diags_.Hint(text[0] == '"' ? "`pack` of `Data.Text` turns a `String` into a `Text`; under `{-# LANGUAGE OverloadedStrings #-}` a literal is one"
                                           : "`pack` of `Data.Text` turns a `String` into a `Text`"));
  if (wanted == Builtin::Char && !actual.valid() && text.size() == 1 && std::isdigit(static_cast<unsigned char>(text[0])))
    return void(diags_.Hint(fmt::format("`'{}'` is the character", text)));
  // `toUpper "abc"`
  if (found == Builtin::List && want.valid() && wanted != Builtin::List && why.kind == Reason::Argument && why.index == 0 &&
      argument_of(actual) == unify_.Zonk(expected) && why.name.valid() && IsVariable(Text(why.name)) && IsShort(text))
    return void(diags_.Hint(fmt::format("`map {} {}` applies it to each element", Text(why.name), Parenthesized(text))));
  // `return 1` where the action of `when` stands
  if (wanted == Builtin::Unit && why.kind == Reason::Argument && (Text(why.name) == "return" || Text(why.name) == "pure"))
    return void(diags_.Hint(fmt::format("an action that gives nothing ends with `{} ()`", Text(why.name))));
  if (wanted == Builtin::List && types_.Kind(actual.valid() ? unify_.Head(actual) : expected) == TypeKind::Var &&
      KnownClass("Foldable").valid() && IsGiven({KnownClass("Foldable"), unify_.Head(actual), {}}))
    return void(diags_.Hint(fmt::format("`toList {}` of `Data.Foldable` has its elements as a list", Parenthesized(text))));
  // `mapM_ (\k v -> ..) pairs`
  if (const TypeId pair = found == Builtin::List ? argument_of(actual) : TypeId(); why.kind == Reason::Argument && pair.valid() && types_.IsTuple(pair))
    for (const ast::Expr* sibling : siblings_) {
      const auto* lambda = llvm::dyn_cast<ast::LambdaExpr>(StripParens(sibling));
      llvm::SmallVector<TypeId, 4> parts;
      unify_.Head(pair, &parts);
      if (!lambda || lambda->params.size() < 2 || lambda->params.size() != parts.size()) continue;
      std::vector<std::string_view> names;
      for (const ast::Pat* param : lambda->params) names.push_back(diags_.sources().Text(param->span));
      return void(diags_.Hint(fmt::format("`\\({}) -> ..` takes a tuple apart", fmt::join(names, ", "))));
    }
  // Numbers and text.
  bool number = !actual.valid() || whole(found) || fraction(found);
  if (wants_string && number && KnownVar("show").valid() && IsShort(text))
    return void(diags_.Hint(fmt::format("`show {}` is the number as a string", Parenthesized(text))));
  if (!expected.valid() && have.valid() && found == Builtin::None && (op == "+" || op == "-" || op == "*") &&
      Shown(types_.cons[have].span).valid() && types_.cons[have].arity == 0)
    return void(diags_.Hint(fmt::format("`instance Num {} where ..` would say what `{}` is of two of them", Text(types_.cons[have].name), op)));
  if (!actual.valid() && named(want, "ExitCode")) return void(diags_.Hint(text == "0" ? std::string("`ExitSuccess` is the exit code 0") : fmt::format("`ExitFailure {}` is this exit code", Parenthesized(text))));
  if (!expected.valid() && has_string && is_operator && IsVariable(text) && !other.empty() && std::isdigit(static_cast<unsigned char>(other[0])))
    return void(diags_.Hint(fmt::format("`read {}` is the number that the string holds", text)));
  if (!expected.valid() && has_string && op == "+") return void(diags_.Hint("`++` joins strings and lists"));
  if ((whole(wanted) || fraction(wanted)) && has_string && text.size() > 2 && text.size() < 20 && text[0] == '"' &&
      llvm::all_of(text.substr(1, text.size() - 2), [](char c) { return c >= '0' && c <= '9'; }))
    return void(diags_.Hint(fmt::format("without its quotes it is a number: `{}`", text.substr(1, text.size() - 2))));
  if (whole(wanted) && found == Builtin::Char && (op == "+" || op == "-") && IsShort(text))
    return void(diags_.Hint(fmt::format("`ord {}` of `Data.Char` is the number of a character", Parenthesized(text))));
  // Kinds of numbers.
  if (expected.valid() && types_.Kind(unify_.Prune(expected)) == TypeKind::Var && (whole(found) || fraction(found)) &&
      KnownClass("Fractional").valid() && IsGiven({KnownClass(whole(found) ? "Num" : "Fractional"), expected, {}}) && IsShort(text))
    return void(diags_.Hint(whole(found) ? fmt::format("`fromIntegral {}` is a number of any type", Parenthesized(text))
                                         : fmt::format("`realToFrac {}` is a fraction of any type", Parenthesized(text))));
  if (fraction(wanted) && actual.valid() && types_.Kind(unify_.Prune(actual)) == TypeKind::Var && IsShort(text) &&
      KnownClass("Real").valid() && IsGiven({KnownClass("Real"), actual, {}}))
    return void(diags_.Hint(fmt::format("`{} {}` is a `{}`", IsGiven({KnownClass("Integral"), actual, {}}) ? "fromIntegral" : "realToFrac",
                                        Parenthesized(text), Text(types_.cons[want].name))));
  if (fraction(wanted) && whole(found))
    return void(diags_.Hint(fmt::format("`fromIntegral` turns an `{}` into a `{}`", Text(types_.cons[have].name),
                                        Text(types_.cons[want].name))));
  if (whole(wanted) && whole(found) && wanted != found)
    return void(diags_.Hint(fmt::format("`fromIntegral` turns an `{}` into an `{}`", Text(types_.cons[have].name),
                                        Text(types_.cons[want].name))));
  if (fraction(wanted) && fraction(found) && wanted != found)
    return void(diags_.Hint(fmt::format("`realToFrac` turns a `{}` into a `{}`", Text(types_.cons[have].name),
                                        Text(types_.cons[want].name))));
  if (whole(wanted) && fraction(found))
    return void(diags_.Hint(fmt::format("`truncate`, `round`, `floor` and `ceiling` turn a `{}` into an `{}`",
                                        Text(types_.cons[have].name), Text(types_.cons[want].name))));
  // `sum xs / 2`, where the elements are whole.
  if (wanted == Builtin::List && found == Builtin::List && fraction(builtin(head(argument_of(expected)))) &&
      whole(builtin(head(argument_of(actual)))))
    return void(diags_.Hint("`fromIntegral` turns a whole number into one of any type, `map fromIntegral` those of a list"));
  // `let [a, b] = map read ws :: Int`
  if (found == Builtin::List && wanted != Builtin::List && want.valid() && why.kind == Reason::Annotation &&
      (types_.Kind(argument_of(actual)) == TypeKind::Meta || argument_of(actual) == unify_.Zonk(expected)))
    return void(diags_.Hint(fmt::format("it is a list, of the type `[{}]`", PrintType(expected))));
  if (wanted == Builtin::Ordering && found == Builtin::Bool)
    return void(diags_.Hint("`compare x y` gives an `Ordering`"));
  // A value and what holds it.
  if (named(have, "Maybe") && !named(want, "Maybe") && text != "Nothing" && !text.starts_with("Just"))
    return void(diags_.Hint("it may be `Nothing`: a `case` with `Just x -> ..` and `Nothing -> ..` takes the value out"));
  const TyConId inside = expected.valid() ? head(argument_of(expected)) : TyConId();
  if (named(want, "Maybe") && !named(have, "Maybe") && IsShort(text) && (!have.valid() || !inside.valid() || inside == have))
    return void(diags_.Hint(fmt::format("`Just {}` is a `Maybe` that holds it", Parenthesized(text))));
  if (named(want, "Either") && !named(have, "Either") && IsShort(text) && actual.valid() &&
      argument_of(expected) == unify_.Zonk(actual))
    return void(diags_.Hint(fmt::format("`Right {}` is an `Either` that holds it", Parenthesized(text))));
  if (llvm::SmallVector<TypeId, 4> sides; named(want, "Either") && !named(have, "Either") && IsShort(text) && actual.valid()) {
    unify_.Head(expected, &sides);
    if (sides.size() == 2 && unify_.Zonk(sides[0]) == unify_.Zonk(actual))
      return void(diags_.Hint(fmt::format("`Left {}` is an `Either` that tells what went wrong", Parenthesized(text))));
  }
  // `putStrLn "n = " ++ show n`
  size_t space = text.find(' ');
  if (found == Builtin::IO && wanted != Builtin::IO && is_operator && why.index == 0 && IsShort(text) && IsShort(other) &&
      space != std::string_view::npos && IsVariable(text.substr(0, space)) && IsOneArgument(text.substr(space + 1)))
    return HintAtBinding(text.substr(0, space), text.substr(space + 1), op, other);
  // `sum numbers`, where `numbers` is an action: IO fits the variable of `Foldable t => t a`.
  if (found == Builtin::IO && wanted == Builtin::IO && why.kind == Reason::Argument && why.var.valid() &&
      TakesAnyContainer(program_.vars[why.var].scheme.type, why.index))
    return void(diags_.Hint("an action's result is taken by `x <- action` in a `do`"));
  if (found == Builtin::IO && wanted != Builtin::IO && want.valid() && (why.kind == Reason::Signature || why.kind == Reason::Annotation)) {
    const bool open = types_.Kind(argument_of(actual)) == TypeKind::Meta;
    std::string type = PrintType(open ? types_.Con(have, {expected}) : actual);
    return void(diags_.Hint(fmt::format("it is an action, whose type is `{}`; its result is taken by `x <- action` in a `do`", type)));
  }
  if (found == Builtin::IO && wanted != Builtin::IO && (want.valid() || !expected.valid()))
    return void(diags_.Hint("an action's result is taken by `x <- action` in a `do`"));
  if (wanted == Builtin::IO && found != Builtin::IO && why.kind != Reason::Argument && IsShort(text) &&
      (actual.valid() || IsAtom(text)) && builtin(head(argument_of(expected))) == Builtin::Unit && found != Builtin::Unit)
    return void(diags_.Hint(fmt::format("`{} {}` is an action that writes it", has_string ? "putStrLn" : "print", Parenthesized(text))));
  if (wanted == Builtin::IO && found != Builtin::IO && why.kind != Reason::Argument && IsShort(text) &&
      (actual.valid() || IsAtom(text)))
    return void(diags_.Hint(fmt::format("`return {}` is an action with this result", Parenthesized(text))));
  if (wanted == Builtin::List && op == "++" && why.index == 0 && actual.valid() && have.valid() && IsShort(text) &&
      IsShort(other) && types_.Kind(argument_of(expected)) == TypeKind::Meta && (other.substr(0, 1) != "\"" || found == Builtin::Char))
    return void(diags_.Hint(fmt::format("`:` puts one element before a list: `{} : {}`", text, other)));
  if (wanted == Builtin::List && !wants_string && op == "++" && IsShort(text) &&
      (!actual.valid() || argument_of(expected) == unify_.Zonk(actual)))
    return void(diags_.Hint(fmt::format("`++` joins two lists, and `[{}]` is a list of one element", text)));
  if (found == Builtin::List && op == ":" && why.index == 0 && expected.valid() && argument_of(actual) == unify_.Zonk(expected))
    return void(diags_.Hint("`:` puts one element before a list; `++` joins two lists"));
  if (wanted == Builtin::List && op == ":" && why.index == 1 && found != Builtin::List)
    return void(diags_.Hint("`:` puts one element before a list; `++` joins two lists"));
  HintAtHolder(expected, actual, text);
}

}  // namespace df::check
