// How a clash may be mended: the mistakes that are made most, told by the two types and by what stands there.
#include "typecheck/explain/hint.h"

#include "typecheck/explain/clash_rows.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/order.h"
#include "typecheck/explain/origin.h"
#include "typecheck/explain/short_text.h"
#include "typecheck/explain/tensor.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

bool MakesAction(State& s, const ast::Expr* function, TypeId expected, size_t given = 1);

// The last operand of a chain `f . g . h x y`, if it is a call with all of its arguments; null otherwise.
const ast::AppExpr* LastOfChain(State& s, const ast::Expr* chain) {
  const auto* binary = llvm::dyn_cast<ast::BinaryExpr>(chain);
  if (!binary) return nullptr;
  while (const auto* inner = llvm::dyn_cast<ast::BinaryExpr>(binary->right)) binary = inner;
  const auto* app = llvm::dyn_cast<ast::AppExpr>(binary->right);
  return app && s.diags.sources().Text(binary->op->span) == "." && Arity(s, app->fn) == app->args.size() ? app : nullptr;
}

// Whether a function makes an action of that many arguments, as far as a look at its head tells.
bool MakesAction(State& s, const ast::Expr* function, TypeId expected, size_t given) {
  switch (function->kind) {
    case ast::ExprKind::Paren: return MakesAction(s, llvm::cast<ast::ParenExpr>(function)->expr, expected, given);
    case ast::ExprKind::Var: {
      VarId var = LookUpValue(s, llvm::cast<ast::VarExpr>(function)->name);
      return var.valid() && GivesAction(s, var, expected, given);
    }
    case ast::ExprKind::App: {
      const auto* app = llvm::cast<ast::AppExpr>(function);
      return MakesAction(s, app->fn, expected, given + app->args.size());
    }
    case ast::ExprKind::Lambda: return MakesAction(s, llvm::cast<ast::LambdaExpr>(function)->body, expected, given - 1);
    case ast::ExprKind::Binary: {
      const auto* binary = llvm::cast<ast::BinaryExpr>(function);
      return s.diags.sources().Text(binary->op->span) == "." && MakesAction(s, binary->left, expected, given);
    }
    default: return false;
  }
}

// Whether a function of one number gives a list, and that is expected.
bool GivesList(State& s, VarId function, TypeId expected) {
  llvm::SmallVector<TypeId> params;
  TypeId result = s.types.SplitFun(s.unify.Zonk(s.program.vars[function].scheme.type), params, 1);
  return params.size() == 1 && IsNumberType(s, params[0]) && s.types.BuiltinOf(s.unify.Head(result)) == Builtin::List &&
         s.types.BuiltinOf(s.unify.Head(expected)) == Builtin::List;
}

}  // namespace

bool IsAction(State& s, const ast::Expr* expr) {
  TypeId type = QuickType(s, expr);
  return type.valid() && s.types.BuiltinOf(s.unify.Head(type)) == Builtin::IO;
}

bool HintAtTypeVariable(State& s, TyVarId var) {
  std::string_view name = Text(s.types.vars[var].name);
  if (name.size() < 3) return false;
  std::vector<std::string_view> names;
  s.scope->types.ForEach([&](Symbol other, const TypeName&) { names.push_back(Text(other)); });
  for (std::string_view other : names)
    if (llvm::StringRef(other.data(), other.size()).equals_insensitive(llvm::StringRef(name.data(), name.size()))) {
      s.diags.Hint(fmt::format("`{}` begins with a small letter, so it is a variable; the type is `{}`", name, other));
      return true;
    }
  return false;
}

bool HintAtLocalSignature(State& s, TyVarId one, TyVarId other) {
  const VarId inner = LocalSignature(s, one), second = LocalSignature(s, other);
  if (inner.valid() == second.valid()) return false;
  if (second.valid()) std::swap(one, other);
  s.diags.Hint(fmt::format("with the extension ScopedTypeVariables and `forall {0}.` in the outer signature that of `{1}` can say `{0}` for `{2}`",
                          Text(s.types.vars[other].name), Text(s.program.vars[inner.valid() ? inner : second].name), Text(s.types.vars[one].name)));
  return true;
}

bool HintAtResult(State& s, const Reason& callee, llvm::ArrayRef<const ast::Expr*> args, bool infix, Span span, TypeId expected) {
  auto text = [&](const ast::Expr* expr) { return s.diags.sources().Text(expr->span); };
  std::string_view name = Text(callee.name);
  if (name == "matmul" && callee.var.valid() && s.program.vars[callee.var].from_library && RankOf(s, expected) == 1) return HintAtProduct(s);
  if (infix && name == "." && args.size() == 2 && IsShort(text(args[0])) && IsShort(text(args[1]))) {
    if (s.diags.sources().Text(span).find(' ') == std::string_view::npos)
      s.diags.Hint(fmt::format("a function stands before its argument: `{} {}`", text(args[1]), text(args[0])));
    else if (const auto* applied = llvm::dyn_cast<ast::AppExpr>(args[1]); applied && applied->args.size() == 1 && IsAction(s, applied->args[0])) {
      // `map read . words getLine`: what the functions are for is the action's result.
      s.diags.Hint(fmt::format("`<$>` applies functions to the result of an action: `{} . {} <$> {}`", text(args[0]), text(applied->fn),
                               text(applied->args[0])));
      return true;
    } else if (const ast::AppExpr* last = LastOfChain(s, args[1]); last && IsShort(text(args[0])) && s.diags.sources().Text(span).size() <= 80 &&
                                                                  s.diags.sources().Text(span).find('\n') == std::string_view::npos) {
      // `map f . take 3 . sortBy g xs`
      const Span value = last->args.back()->span;
      std::string_view functions = s.diags.sources().Text(Span{span.file, span.begin, value.begin});
      s.diags.Hint(fmt::format("`.` joins two functions; `$` applies them: `{} $ {}`", llvm::StringRef(functions).rtrim().str(),
                               s.diags.sources().Text(value)));
    } else if (!llvm::isa<ast::AppExpr>(args[1]))
      s.diags.Hint(fmt::format("it is a function: `({}) x` applies it", s.diags.sources().Text(span)));
    else s.diags.Hint(fmt::format("`.` joins two functions; `$` applies one: `{} $ {}`", text(args[0]), text(args[1])));
  }
  // `putStrLn person.name`
  const auto* outer = infix && name == "." && args.size() == 2 ? llvm::dyn_cast<ast::AppExpr>(args[0]) : nullptr;
  if (outer && args[0]->span.end + 1 == args[1]->span.begin && IsShort(text(outer)) && IsVariable(text(args[1]))) {
    std::string_view last = text(outer->args.back()), whole = text(outer);
    s.diags.Hint(fmt::format("a function stands before its argument: `{} ({} {})`", whole.substr(0, whole.size() - last.size() - 1),
                            text(args[1]), last));
    return true;
  }
  // `error "no " ++ name`, `putStrLn "n = " ++ show n`, `return name ++ "!"`
  const auto* app = infix && args.size() == 2 ? llvm::dyn_cast<ast::AppExpr>(args[0]) : nullptr;
  const auto* fn = app && app->args.size() == 1 ? llvm::dyn_cast<ast::VarExpr>(app->fn) : nullptr;
  VarId var = fn ? LookUpValue(s, fn->name) : VarId();
  const bool returns = var.valid() && s.program.vars[var].from_library && (Text(fn->name.text) == "return" || Text(fn->name.text) == "pure");
  const bool arithmetic = name == "+" || name == "-" || name == "*";  // `n : f n - 1`
  // `show n + s`
  if (var.valid() && name == "+" && Text(fn->name.text) == "show" && s.types.BuiltinOf(s.unify.Head(expected)) == Builtin::List) {
    TypeId other = QuickType(s, args[1]);
    if (llvm::isa<ast::LiteralExpr>(args[1]) ? text(args[1])[0] == '"' : other.valid() && s.types.BuiltinOf(s.unify.Head(other)) == Builtin::List) {
      s.diags.Hint("`++` joins strings and lists");
      return true;
    }
  }
  if (var.valid() && (returns || Text(fn->name.text) == "error" || GivesAction(s, var, expected) || (arithmetic && GivesList(s, var, expected))) &&
      IsShort(text(app)) && IsShort(text(args[1]))) {
    s.diags.Hint(BindingHint(text(fn), text(app->args[0]), name, text(args[1])));
    return true;
  }
  // `Left "no " ++ name`
  const auto* con = app && app->args.size() == 1 ? llvm::dyn_cast<ast::ConExpr>(app->fn) : nullptr;
  ConId holder = con ? LookUpConstructor(s, con->name) : ConId();
  if (holder.valid() && s.types.Head(s.unify.Zonk(expected)) == s.program.constructors[holder].tycon && IsShort(text(app)) &&
      IsShort(text(args[1]))) {
    s.diags.Hint(BindingHint(text(con), text(app->args[0]), name, text(args[1])));
    return true;
  }
  if ((name == "return" || name == "pure") && args.size() == 1 && callee.var.valid() &&
      s.program.vars[callee.var].from_library)
    s.diags.Hint("a function's value needs no `return`: that makes an action of it");
  // `map print xs`
  if (name == "map" && args.size() == 2 && callee.var.valid() && s.program.vars[callee.var].from_library &&
      s.types.Kind(s.unify.Head(expected)) == TypeKind::Con && MakesAction(s, args[0], expected)) {
    bool nothing = s.types.BuiltinOf(s.unify.Prune(s.types.ArgOf(s.unify.Prune(expected)))) == Builtin::Unit;
    s.diags.Hint(nothing ? "`mapM_` does the action for each element"
                        : "`mapM` does the action for each element and gives the results; `mapM_` gives nothing");
  }
  return false;
}

bool GivesAction(State& s, VarId function, TypeId expected, size_t given) {
  llvm::SmallVector<TypeId> params;
  TypeId result = s.types.SplitFun(s.program.vars[function].scheme.type, params, given);
  TypeId top = s.unify.Head(result);
  if (params.size() < given || s.types.Kind(top) != TypeKind::Con) return false;
  TyConId con = s.types.ConOf(top);
  return s.types.cons[con].builtin == Builtin::IO ||
         (s.types.cons[con].builtin != Builtin::List && top == s.unify.Head(expected) &&
          s.env.instances.count({KnownClass(s, "Monad").index, con.index}));
}

bool TakesAnyContainer(State& s, TypeId function, uint32_t index) {
  llvm::SmallVector<TypeId> params;
  s.types.SplitFun(function, params, index + 1);
  return params.size() > index && s.types.Kind(params[index]) == TypeKind::App &&
         s.types.Kind(s.unify.Head(params[index])) == TypeKind::Var;
}

bool HintAtTangent(State& s, TypeId expected, TypeId actual) {
  if (!expected.valid() || !actual.valid()) return false;
  TypeId of;
  if (s.types.IsTangent(s.unify.Zonk(actual), &of) && s.unify.Head(of) == s.unify.Head(expected))
    s.diags.Hint("`asValue v g` of `Gradient` is the gradient `g` at `v` as a value of `v`'s type");
  else if (s.types.IsTangent(s.unify.Zonk(expected), &of) && s.unify.Head(of) == s.unify.Head(actual))
    s.diags.Hint("`asTangent v` of `Gradient` is `v`'s real numbers alone");
  else
    return false;
  return true;
}

std::string BindingHint(std::string_view function, std::string_view left, std::string_view op, std::string_view right) {
  // Strings are not added.
  if (op == "+" && (left.substr(0, 1) == "\"" || right.substr(0, 1) == "\"" || right.starts_with("show "))) op = "++";
  return fmt::format("functions bind more tightly than operators: `{} ({} {} {})`, perhaps", function, left, op, right);
}

ClashView::ClashView(State& s, TypeId expected, TypeId actual, Span span, const Reason& why)
    : s(s),
      expected(expected),
      actual(actual),
      span(span),
      why(why),
      text(s.diags.sources().Text(span)),
      want(Head(expected)),
      have(Head(actual)),
      wanted(BuiltinOf(want)),
      found(BuiltinOf(have)),
      is_operator(why.kind == Reason::Operand),
      op(is_operator ? Text(why.name) : std::string_view()),
      other(why.sibling.valid() ? s.diags.sources().Text(why.sibling) : std::string_view()),
      wants_string(wanted == Builtin::List && BuiltinAt(ArgumentOf(expected)) == Builtin::Char),
      has_string(found == Builtin::List && BuiltinAt(ArgumentOf(actual)) == Builtin::Char) {}

TyConId ClashView::Head(TypeId type) const {
  TypeId top = type.valid() ? s.unify.Head(type) : TypeId();
  return top.valid() && s.types.Kind(top) == TypeKind::Con ? s.types.ConOf(top) : TyConId();
}

bool ClashView::IsNamed(TyConId con, std::string_view name) const { return con.valid() && Text(s.types.cons[con].name) == name; }

TypeId ClashView::ArgumentOf(TypeId type) const {
  llvm::SmallVector<TypeId, 4> args;
  s.unify.Head(type, &args);
  return args.empty() ? TypeId() : s.unify.Zonk(args.back());
}

void HintAtClash(State& s, TypeId expected, TypeId actual, Span span, const Reason& why) {
  const ClashView clash(s, expected, actual, span, why);
  for (llvm::ArrayRef<ClashRow> rows : {StackRows(), FunctionRows(), TextRows(), HolderRows()})
    for (ClashRow row : rows)
      if (RowHint hint = row(clash)) {
        if (!hint->empty()) s.diags.Hint(std::move(*hint));
        return;
      }
}

}  // namespace df::check
