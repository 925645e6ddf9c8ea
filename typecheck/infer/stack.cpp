// mtl's operations. Each works on any monad that has its transformer in the stack, by classes with two parameters, which
// the language has not. Here the type that is expected tells the stack: the operation of the first transformer that has one of that
// name is taken, and is lifted through those above. In a local function without a signature it may wait (StackHole) until the
// function's uses tell the stack. Where nothing does, it is the outermost transformer's.
#include "typecheck/infer/stack.h"

#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/resolve/find.h"
#include "typecheck/resolve/types.h"
#include "typecheck/solve/constraints.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/stack_class.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// The stack inside a newtype that derives the class for it; invalid for other monads.
TypeId InsideOf(const State& s, TypeId monad, uint32_t cls) {
  llvm::SmallVector<TypeId, 4> args;
  TypeId head = s.unify.Head(monad, &args);
  if (s.types.Kind(head) != TypeKind::Con || !(s.env.stack_newtypes.lookup(s.types.ConOf(head).index) & cls)) return TypeId();
  const TyCon& row = s.types.cons[s.types.ConOf(head)];
  if (row.constructors.size() != 1 || args.size() + 1 != row.params.size()) return TypeId();
  TypeId field = s.program.constructors[row.constructors[0]].fields[0].type;
  if (s.types.Kind(field) != TypeKind::App || s.types.ArgOf(field) != s.types.Var(row.params.back())) return TypeId();
  return s.types.Substitute(s.types.FnOf(field), llvm::ArrayRef<TyVarId>(row.params).drop_back(), args);
}

// What the constructor of a newtype holds.
core::Expr* Unwrapped(State& s, core::Expr* action, ConId wrapper, TypeId inside) {
  VarId held = s.program.NewLocal(Intern("m"), inside, action->span);
  core::Alt alt{};
  alt.kind = core::AltKind::Con;
  alt.con = wrapper;
  alt.vars = s.program.Copy<VarId>({held});
  alt.body = VarNode(s, held, action->span);
  core::CaseExpr node{};
  node.type = inside;
  node.span = action->span;
  node.scrutinee = action;
  node.alts = s.program.Copy<core::Alt>({alt});
  return s.Node(node);
}

// `local f` and `catchError` of the stack inside, at the newtype of that level.
core::Expr* ThroughNewtype(State& s, core::Expr* operation, const StackUse& use, size_t level) {
  TypeId inside, rest, outside = s.types.App(use.monads[level], s.unify.Fresh());
  s.unify.IsFun(operation->type, &inside, &rest);
  core::Expr* con = UseCon(s, use.wrappers[level], operation->span);
  TypeId from, to;
  s.unify.IsFun(con->type, &from, &to);
  s.unify.Unify(from, inside);
  s.unify.Unify(to, outside);
  VarId action = s.program.NewLocal(Intern("m"), outside, operation->span);
  core::Expr* body = AppNode(s, operation, {Unwrapped(s, VarNode(s, action, operation->span), use.wrappers[level], inside)}, operation->span);
  TypeId handler, problem, handled;
  if (!s.unify.IsFun(rest, &handler, &to)) return LambdaNode(s, {action}, AppNode(s, con, {body}, operation->span), operation->span);
  s.unify.IsFun(handler, &problem, &handled);
  VarId outer = s.program.NewLocal(Intern("h"), s.types.Fun(problem, outside), operation->span);
  VarId error = s.program.NewLocal(Intern("e"), problem, operation->span);
  core::Expr* call = AppNode(s, VarNode(s, outer, operation->span), {VarNode(s, error, operation->span)}, operation->span);
  core::Expr* inner = LambdaNode(s, {error}, Unwrapped(s, call, use.wrappers[level], inside), operation->span);
  body = AppNode(s, body, {inner}, operation->span);
  return LambdaNode(s, {action, outer}, AppNode(s, con, {body}, operation->span), operation->span);
}

// The library's function of this name whose result is an action of the type constructor.
VarId StackFunction(const State& s, Symbol name, TyConId monad) {
  for (const auto& [module, exports] : s.env.modules) {
    auto found = exports.values.find(name);
    if (found == exports.values.end()) continue;
    llvm::SmallVector<TypeId> params;
    if (MonadOf(s, s.types.SplitFun(s.program.vars[found->second].scheme.type, params)) == monad) return found->second;
  }
  return VarId();
}

// An import of the name from elsewhere than Control.Monad.Trans, whose operations are of the outermost transformer; `*several` if
// there are imports with different ones.
bool IsStackName(const State& s, const ast::Name& name, bool* several) {
  bool found = s.options.repl;
  VarId first;
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* exports = FindModule(s, import.module.text);
    auto value = exports ? exports->values.find(name.text) : decltype(exports->values.end())();
    if (!exports || value == exports->values.end() || !Provides(s, import, name, NameKind::Value)) continue;
    found |= !Text(import.module.text).starts_with("Control.Monad.Trans.");
    *several |= first.valid() && value->second != first;
    first = value->second;
  }
  return found;
}

// Whether the operation is settled; with `force` it is the outermost monad's where nothing says more.
bool SettleStackUse(State& s, StackHole& hole, bool force) {
  Span span = hole.node->span;
  TypeId type = s.unify.Zonk(hole.node->type);
  StackUse use;
  core::Expr* value;
  if (FindStackUse(s, hole.name, 0, type, use)) {
    value = CheckStackUse(s, use, {}, span, span, type, Reason{});
  } else {
    if (use.open && !force) return false;
    VarId var = FindValue(s, hole.name);
    value = var.valid() ? Use(s, var, span) : ErrorNode(s, s.unify.FreshAny(), span);
    // Of what has arguments it is the action that clashes.
    TypeId wanted = type, own = value->type;
    for (TypeId from, to, given, result; s.unify.IsFun(own, &from, &to) && s.unify.IsFun(wanted, &given, &result);
         own = to, wanted = result)
      s.unify.Unify(from, given);
    if (!Expect(s, wanted, own, span, Reason{})) {
      s.unify.MarkAny(value->type);
      value = ErrorNode(s, type, span);
    }
  }
  hole.node->bindings = s.program.Copy<core::Binding>({{hole.node->bindings[0].var, value}});
  return true;
}

}  // namespace

bool DeriveStackClass(State& s, const ast::DerivedClass& derived, const ast::DataDecl* data, TyConId tycon) {
  const uint32_t cls = StackClass(derived.cls.text);
  const bool own = s.scope->classes.Find(derived.cls.text, derived.cls.qualifier) != nullptr;
  bool known = s.options.repl;
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* exports = FindModule(s, import.module.text);
    bool named = llvm::any_of(import.items, [&](const ast::Item& item) { return item.name.text == derived.cls.text; });
    bool listed = !import.has_items || named != import.hiding;
    known |= exports && listed && OffersStackClass(*exports, cls) && !Text(import.module.text).starts_with("Control.Monad.Trans.");
  }
  if (cls == 0 || own || !known) {
    if (cls != 0 && !own) return false;
    Span span = derived.cls.span;
    span.end = derived.args.back()->span.end;
    s.Error(Diag::NotSupported, span, "deriving a class with several parameters is");
    return true;
  }
  TypeVarScope scope;
  scope.implicit = false;
  for (size_t i = 0; i < data->params.size(); ++i)
    scope.names.push_back({data->params[i].text, {s.types.Var(s.types.cons[tycon].params[i]), s.env.kinds.Fresh()}});
  for (const ast::Type* arg : derived.args) ConvertType(s, arg, scope, s.env.kinds.Star());
  const bool by_inside = derived.strategy == ast::DerivingStrategy::None || derived.strategy == ast::DerivingStrategy::Newtype;
  if (!data->newtype || data->params.empty() || !by_inside) {
    s.Error(Diag::CannotDerive, derived.cls.span, Text(derived.cls.text), Text(data->name.text))
        .Hint("it is derived for a newtype around a stack of monads, by what is inside");
    return true;
  }
  if (!HasExtension(s, "GeneralizedNewtypeDeriving")) 
    s.Error(Diag::NeedsExtension, derived.cls.span, fmt::format("`deriving {}`", Text(derived.cls.text)), "GeneralizedNewtypeDeriving")
        .Hint("write `{-# LANGUAGE GeneralizedNewtypeDeriving #-}` in the first line");
  s.env.stack_newtypes[tycon.index] |= cls;
  return true;
}

bool FindStackUse(State& s, const ast::Name& name, size_t given, TypeId expected, StackUse& use) {
  const StackKind kind = KindOfStackName(name.text);
  // By itself `local` below the outermost monad would need what it changes to be known first.
  use.var = VarId();
  use.open = use.several = false;
  if (kind == StackKind::None || s.options.library || (kind == StackKind::Map && given == 0)) return false;
  VarId var = LookUpValue(s, name);
  if (!var.valid() || !s.program.vars[var].from_library) return false;
  llvm::SmallVector<TypeId> params;
  TyConId own = MonadOf(s, s.types.SplitFun(s.program.vars[var].scheme.type, params));
  if (!own.valid() || given > params.size() || !IsTransformer(s, own) || !IsStackName(s, name, &use.several)) return false;
  use.var = var;
  auto unknown = [&](TypeId type) {
    use.open = kind != StackKind::Map && s.types.Kind(s.unify.Head(type)) == TypeKind::Meta;
    return false;
  };
  TypeId action = expected;
  for (size_t i = given; i < params.size(); ++i)
    if (!s.unify.IsFun(action, nullptr, &action)) return unknown(action);
  action = s.unify.Prune(action);
  if (s.types.Kind(action) != TypeKind::App) return unknown(action);
  use.value = s.types.ArgOf(action);
  for (TypeId monad = s.unify.Prune(s.types.FnOf(action));;) {
    use.monads.push_back(monad);
    TyConId con = MonadOf(s, monad);
    if (!con.valid()) return unknown(monad);
    use.op = StackFunction(s, name.text, con);
    if (use.op.valid()) break;
    if (TypeId inside = InsideOf(s, monad, StackClassOf(name.text)); inside.valid()) {
      use.wrappers.push_back(s.types.cons[con].constructors[0]);
      use.through.push_back(VarId());
      monad = s.unify.Prune(inside);
      continue;
    }
    if (s.types.Kind(monad) != TypeKind::App || !IsTransformer(s, con)) return false;
    monad = s.unify.Prune(s.types.ArgOf(monad));
    use.wrappers.push_back(ConId());
    if (kind == StackKind::Plain) continue;
    std::string function = kind == StackKind::Catch ? "primLiftCatch" : fmt::format("map{}", Text(s.types.cons[con].name));
    VarId through = StackFunction(s, Intern(function), con);
    if (!through.valid()) return false;
    use.through.push_back(through);
  }
  use.plain = kind == StackKind::Plain;
  return use.monads.size() > 1 || use.op != var || use.several;
}

core::Expr* OpenStackUse(State& s, const ast::Name& name, const StackUse& use, Span span) {
  const VarId var = use.var;
  const core::Scheme& scheme = s.program.vars[var].scheme;
  TypeArgs args;
  for (size_t i = 0; i < scheme.tyvars.size(); ++i) args.push_back(s.unify.Fresh());
  llvm::SmallVector<TypeId> params;
  TypeId action = s.types.SplitFun(s.types.Substitute(scheme.type, scheme.tyvars, args), params);
  StackHole hole{name, s.types.FnOf(action), s.unify.Fresh(), nullptr, use.several};
  Require(s, KnownClass(s, "Monad"), hole.monad, {Origin::Use, span, s.program.vars[var].name, var});
  // `catchError` has it in its arguments too.
  auto opened = [&](auto& self, TypeId part) -> TypeId {
    if (part == hole.own) return hole.monad;
    if (s.types.Kind(part) != TypeKind::App) return part;
    TypeId of = self(self, s.types.FnOf(part));
    return s.types.App(of, self(self, s.types.ArgOf(part)));
  };
  TypeId type = opened(opened, s.types.Fun(params, action));
  VarId held = s.program.NewLocal(s.program.vars[var].name, type, span);
  hole.node = llvm::cast<core::LetExpr>(LetNode(s, held, ErrorNode(s, type, span), VarNode(s, held, span)));
  s.stack_holes.push_back(hole);
  return hole.node;
}

void SettleStackUses(State& s, size_t mark, llvm::function_ref<bool(const StackHole&)> force) {
  for (bool again = true; again;) {
    again = false;
    for (bool forced : {false, true})
      for (size_t i = mark; i < s.stack_holes.size() && !again; ++i) {
        StackHole hole = s.stack_holes[i];
        if (!SettleStackUse(s, hole, forced && force(hole))) continue;
        s.stack_holes.erase(s.stack_holes.begin() + static_cast<std::ptrdiff_t>(i));
        again = true;
      }
  }
}

bool IsOpenStackUse(State& s, const StackHole& hole, size_t mark) {
  if (hole.several) return true;
  TypeId monad = s.unify.Zonk(hole.monad), head = s.unify.Head(hole.own);
  for (size_t i = mark; i < s.stack_holes.size(); ++i)
    if (s.unify.Zonk(s.stack_holes[i].monad) == monad && s.unify.Head(s.stack_holes[i].own) != head) return true;
  llvm::SmallVector<TypeId> params;
  s.types.SplitFun(hole.node->type, params);
  return llvm::any_of(llvm::reverse(s.surroundings), [&](TypeId action) {
    StackUse use;
    return FindStackUse(s, hole.name, params.size(), action, use);
  });
}

void LowerStackUses(State& s, size_t mark) {
  for (size_t i = mark; i < s.stack_holes.size(); ++i) {
    s.unify.Lower(s.stack_holes[i].monad, s.unify.level);
    TypeId own = s.stack_holes[i].own;  // `StateT s m`
    if (s.types.Kind(own) == TypeKind::App) s.unify.Lower(s.types.FnOf(own), s.unify.level);
  }
}

core::Expr* CheckStackUse(State& s, const StackUse& use, llvm::ArrayRef<const ast::Expr*> args, Span fn, Span span, TypeId expected,
                          const Reason& why) {
  // `fn` applied to what has this type already.
  auto apply = [&](core::Expr* function, core::Expr* argument) {
    TypeId from, to;
    s.unify.IsFun(function->type, &from, &to);
    s.unify.Unify(from, argument->type);
    return AppNode(s, function, {argument}, span);
  };
  Reason reason{Reason::Argument};
  reason.outer = &why;
  reason.name = s.program.vars[use.op].name;
  reason.var = use.op;
  auto argument = [&](size_t i, TypeId type) {
    reason.index = static_cast<uint32_t>(i);
    return Check(s, args[i], type, reason);
  };
  auto result_of = [&](TypeId type) {
    for (TypeId to; s.unify.IsFun(type, nullptr, &to);) type = to;
    return type;
  };
  core::Expr* node = Use(s, use.op, fn);
  TypeId from, to;
  if (use.plain) {
    s.unify.Unify(result_of(node->type), s.types.App(use.monads.back(), use.value));
    std::vector<VarId> params;
    for (size_t i = 0; s.unify.IsFun(node->type, &from, &to); ++i) {
      if (i >= args.size()) params.push_back(s.program.NewLocal(Intern("x"), from, span));
      node = AppNode(s, node, {i < args.size() ? argument(i, from) : VarNode(s, params.back(), span)}, span);
    }
    for (size_t i = use.monads.size() - 1; i-- > 0;) {
      core::Expr* lift = use.wrappers[i].valid() ? UseCon(s, use.wrappers[i], fn) : Use(s, Needed(s, "lift", "an operation of mtl", fn), fn);
      s.unify.Unify(result_of(lift->type), s.types.App(use.monads[i], use.value));
      node = apply(lift, node);
    }
    if (!params.empty()) node = LambdaNode(s, params, node, span);
    return Expect(s, expected, node->type, span, why) ? node : ErrorNode(s, expected, span);
  }
  // What is changed in between is known where it is passed on: `local f` has its first argument, `catchError` none.
  s.unify.Unify(result_of(node->type), s.types.App(use.monads.back(), s.unify.Fresh()));
  const bool is_map = s.program.vars[use.op].name == Intern("local");
  size_t next = 0;
  if (is_map && !args.empty()) {
    s.unify.IsFun(node->type, &from, &to);
    node = AppNode(s, node, {argument(next++, from)}, span);
  }
  for (size_t i = use.through.size(); i-- > 0;) {
    if (use.wrappers[i].valid()) node = ThroughNewtype(s, node, use, i);
    else node = apply(Use(s, use.through[i], fn), node);
  }
  s.unify.Unify(result_of(node->type), s.types.App(use.monads[0], use.value));
  for (; next < args.size() && s.unify.IsFun(node->type, &from, &to); ++next) node = AppNode(s, node, {argument(next, from)}, span);
  return Expect(s, expected, node->type, span, why) ? node : ErrorNode(s, expected, span);
}

}  // namespace df::check
