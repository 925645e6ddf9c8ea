// mtl's operations. Each works on any monad that has its transformer in the stack, by classes with two parameters, which
// the language has not. Here the type that is expected tells the stack: the operation of the first transformer that has one of that
// name is taken, and is lifted through those above. In a local function without a signature it may wait (StackHole) until the
// function's uses tell the stack. Where nothing does, it is the outermost transformer's.
#include "typecheck/checker.h"
#include "typecheck/stack_class.h"

namespace df::check {
namespace {

enum class StackKind : uint8_t { None, Plain, Map, Catch };

constexpr uint32_t kState = 1, kReader = 2, kWriter = 4, kError = 8;

// Map and Catch have actions as arguments: they go through a transformer by its `mapStateT`, its `primLiftCatch`. With None
// they are of the outermost alone.
struct StackName {
  std::string_view name;
  StackKind kind;
  uint32_t cls;
  bool is_method;
};
constexpr StackName kStackNames[] = {
    {"get", StackKind::Plain, kState, true},         {"put", StackKind::Plain, kState, true},
    {"state", StackKind::Plain, kState, true},       {"modify", StackKind::Plain, kState, false},
    {"modify'", StackKind::Plain, kState, false},    {"gets", StackKind::Plain, kState, false},
    {"ask", StackKind::Plain, kReader, true},        {"asks", StackKind::Plain, kReader, false},
    {"reader", StackKind::Plain, kReader, true},     {"local", StackKind::Map, kReader, true},
    {"tell", StackKind::Plain, kWriter, true},       {"writer", StackKind::Plain, kWriter, true},
    {"throwError", StackKind::Plain, kError, true},  {"liftEither", StackKind::Plain, kError, false},
    {"catchError", StackKind::Catch, kError, true},  {"listen", StackKind::None, kWriter, true},
    {"pass", StackKind::None, kWriter, true},
};

const StackName* FindStackName(Symbol name) {
  static const llvm::DenseMap<uint32_t, const StackName*> names = [] {
    llvm::DenseMap<uint32_t, const StackName*> made;
    for (const StackName& row : kStackNames) made[Intern(row.name).index] = &row;
    return made;
  }();
  return names.lookup(name.index);
}

StackKind KindOfStackName(Symbol name) {
  const StackName* row = FindStackName(name);
  return row ? row->kind : StackKind::None;
}

}  // namespace

uint32_t StackClass(Symbol name) {
  std::string_view text = Text(name);
  return text == "MonadState" ? kState : text == "MonadReader" ? kReader : text == "MonadWriter" ? kWriter : text == "MonadError" ? kError
         : text == "MonadRWS" ? kState | kReader | kWriter : 0;
}

uint32_t StackClassOf(Symbol operation) {
  const StackName* row = FindStackName(operation);
  return row ? row->cls : 0;
}

bool IsMethodOf(Symbol operation, uint32_t classes) {
  const StackName* row = FindStackName(operation);
  return row && row->is_method && (row->cls & classes);
}

bool OffersStackClass(const ModuleExports& exports, uint32_t classes) {
  return llvm::any_of(kStackNames, [&](const StackName& row) {
    return row.is_method && (row.cls & classes) && exports.values.count(Intern(row.name));
  });
}

// `deriving (MonadState Int)` of a newtype around a stack; false if the class is another one.
bool Checker::DeriveStackClass(const ast::DerivedClass& derived, const ast::DataDecl* data, TyConId tycon) {
  const uint32_t cls = StackClass(derived.cls.text);
  const bool own = scope_->classes.Find(derived.cls.text, derived.cls.qualifier) != nullptr;
  bool known = options_.repl;
  for (const ast::Import& import : module_.imports) {
    const ModuleExports* exports = FindModule(import.module.text);
    bool named = llvm::any_of(import.items, [&](const ast::Item& item) { return item.name.text == derived.cls.text; });
    bool listed = !import.has_items || named != import.hiding;
    known |= exports && listed && OffersStackClass(*exports, cls) && !Text(import.module.text).starts_with("Control.Monad.Trans.");
  }
  if (cls == 0 || own || !known) {
    if (cls != 0 && !own) return false;
    Span span = derived.cls.span;
    span.end = derived.args.back()->span.end;
    Error(Diag::NotSupported, span, "deriving a class with several parameters is");
    return true;
  }
  TypeVarScope scope;
  scope.implicit = false;
  for (size_t i = 0; i < data->params.size(); ++i)
    scope.names.push_back({data->params[i].text, {types_.Var(types_.cons[tycon].params[i]), env_.kinds.Fresh()}});
  for (const ast::Type* arg : derived.args) ConvertType(arg, scope, env_.kinds.Star());
  const bool by_inside = derived.strategy == ast::DerivingStrategy::None || derived.strategy == ast::DerivingStrategy::Newtype;
  if (!data->newtype || data->params.empty() || !by_inside) {
    Error(Diag::CannotDerive, derived.cls.span, Text(derived.cls.text), Text(data->name.text))
        .Hint("it is derived for a newtype around a stack of monads, by what is inside");
    return true;
  }
  if (!HasExtension("GeneralizedNewtypeDeriving")) 
    Error(Diag::NeedsExtension, derived.cls.span, fmt::format("`deriving {}`", Text(derived.cls.text)), "GeneralizedNewtypeDeriving")
        .Hint("write `{-# LANGUAGE GeneralizedNewtypeDeriving #-}` in the first line");
  env_.stack_newtypes[tycon.index] |= cls;
  return true;
}

// The stack inside a newtype that derives the class for it; invalid for other monads.
TypeId Checker::InsideOf(TypeId monad, uint32_t cls) const {
  llvm::SmallVector<TypeId, 4> args;
  TypeId head = unify_.Head(monad, &args);
  if (types_.Kind(head) != TypeKind::Con || !(env_.stack_newtypes.lookup(types_.ConOf(head).index) & cls)) return TypeId();
  const TyCon& row = types_.cons[types_.ConOf(head)];
  if (row.constructors.size() != 1 || args.size() + 1 != row.params.size()) return TypeId();
  TypeId field = program_.constructors[row.constructors[0]].fields[0].type;
  if (types_.Kind(field) != TypeKind::App || types_.ArgOf(field) != types_.Var(row.params.back())) return TypeId();
  return types_.Substitute(types_.FnOf(field), llvm::ArrayRef<TyVarId>(row.params).drop_back(), args);
}

// What the constructor of a newtype holds.
core::Expr* Checker::Unwrapped(core::Expr* action, ConId wrapper, TypeId inside) {
  VarId held = program_.NewLocal(Intern("m"), inside, action->span);
  core::Alt alt{};
  alt.kind = core::AltKind::Con;
  alt.con = wrapper;
  alt.vars = program_.Copy<VarId>({held});
  alt.body = VarNode(held, action->span);
  core::CaseExpr node{};
  node.type = inside;
  node.span = action->span;
  node.scrutinee = action;
  node.alts = program_.Copy<core::Alt>({alt});
  return Node(node);
}

// `local f` and `catchError` of the stack inside, at the newtype of that level.
core::Expr* Checker::ThroughNewtype(core::Expr* operation, const StackUse& use, size_t level) {
  TypeId inside, rest, outside = types_.App(use.monads[level], unify_.Fresh());
  unify_.IsFun(operation->type, &inside, &rest);
  core::Expr* con = UseCon(use.wrappers[level], operation->span);
  TypeId from, to;
  unify_.IsFun(con->type, &from, &to);
  unify_.Unify(from, inside);
  unify_.Unify(to, outside);
  VarId action = program_.NewLocal(Intern("m"), outside, operation->span);
  core::Expr* body = AppNode(operation, {Unwrapped(VarNode(action, operation->span), use.wrappers[level], inside)}, operation->span);
  TypeId handler, problem, handled;
  if (!unify_.IsFun(rest, &handler, &to)) return LambdaNode({action}, AppNode(con, {body}, operation->span), operation->span);
  unify_.IsFun(handler, &problem, &handled);
  VarId outer = program_.NewLocal(Intern("h"), types_.Fun(problem, outside), operation->span);
  VarId error = program_.NewLocal(Intern("e"), problem, operation->span);
  core::Expr* call = AppNode(VarNode(outer, operation->span), {VarNode(error, operation->span)}, operation->span);
  core::Expr* inner = LambdaNode({error}, Unwrapped(call, use.wrappers[level], inside), operation->span);
  body = AppNode(body, {inner}, operation->span);
  return LambdaNode({action, outer}, AppNode(con, {body}, operation->span), operation->span);
}

// One of the library's.
bool Checker::IsTransformer(TyConId con) const {
  const TyCon& row = types_.cons[con];
  if (!row.span.valid() || !env_.library_files.count(row.span.file.index)) return false;
  std::string_view name = Text(row.name);
  return name == "StateT" || name == "ReaderT" || name == "WriterT" || name == "RWST" || name == "ExceptT" || name == "MaybeT" ||
         name == "ContT";
}

TyConId Checker::MonadOf(TypeId action) const {
  TypeId head = unify_.Head(action);
  return types_.Kind(head) == TypeKind::Con ? types_.ConOf(head) : TyConId();
}

// The library's function of this name whose result is an action of the type constructor.
VarId Checker::StackFunction(Symbol name, TyConId monad) const {
  for (const auto& [module, exports] : env_.modules) {
    auto found = exports.values.find(name);
    if (found == exports.values.end()) continue;
    llvm::SmallVector<TypeId> params;
    if (MonadOf(types_.SplitFun(program_.vars[found->second].scheme.type, params)) == monad) return found->second;
  }
  return VarId();
}

// An import of the name from elsewhere than Control.Monad.Trans, whose operations are of the outermost transformer; `*several` if
// there are imports with different ones.
bool Checker::IsStackName(const ast::Name& name, bool* several) const {
  bool found = options_.repl;
  VarId first;
  for (const ast::Import& import : module_.imports) {
    const ModuleExports* exports = FindModule(import.module.text);
    auto value = exports ? exports->values.find(name.text) : decltype(exports->values.end())();
    if (!exports || value == exports->values.end() || !Provides(import, name, NameKind::Value)) continue;
    found |= !Text(import.module.text).starts_with("Control.Monad.Trans.");
    *several |= first.valid() && value->second != first;
    first = value->second;
  }
  return found;
}

bool Checker::FindStackUse(const ast::Name& name, size_t given, TypeId expected, StackUse& use) {
  const StackKind kind = KindOfStackName(name.text);
  // By itself `local` below the outermost monad would need what it changes to be known first.
  use.var = VarId();
  use.open = use.several = false;
  if (kind == StackKind::None || options_.library || (kind == StackKind::Map && given == 0)) return false;
  VarId var = FindValue(name, false);
  if (!var.valid() || !program_.vars[var].from_library) return false;
  llvm::SmallVector<TypeId> params;
  TyConId own = MonadOf(types_.SplitFun(program_.vars[var].scheme.type, params));
  if (!own.valid() || given > params.size() || !IsTransformer(own) || !IsStackName(name, &use.several)) return false;
  use.var = var;
  auto unknown = [&](TypeId type) {
    use.open = kind != StackKind::Map && types_.Kind(unify_.Head(type)) == TypeKind::Meta;
    return false;
  };
  TypeId action = expected;
  for (size_t i = given; i < params.size(); ++i)
    if (!unify_.IsFun(action, nullptr, &action)) return unknown(action);
  action = unify_.Prune(action);
  if (types_.Kind(action) != TypeKind::App) return unknown(action);
  use.value = types_.ArgOf(action);
  for (TypeId monad = unify_.Prune(types_.FnOf(action));;) {
    use.monads.push_back(monad);
    TyConId con = MonadOf(monad);
    if (!con.valid()) return unknown(monad);
    use.op = StackFunction(name.text, con);
    if (use.op.valid()) break;
    if (TypeId inside = InsideOf(monad, StackClassOf(name.text)); inside.valid()) {
      use.wrappers.push_back(types_.cons[con].constructors[0]);
      use.through.push_back(VarId());
      monad = unify_.Prune(inside);
      continue;
    }
    if (types_.Kind(monad) != TypeKind::App || !IsTransformer(con)) return false;
    monad = unify_.Prune(types_.ArgOf(monad));
    use.wrappers.push_back(ConId());
    if (kind == StackKind::Plain) continue;
    std::string function = kind == StackKind::Catch ? "primLiftCatch" : fmt::format("map{}", Text(types_.cons[con].name));
    VarId through = StackFunction(Intern(function), con);
    if (!through.valid()) return false;
    use.through.push_back(through);
  }
  use.plain = kind == StackKind::Plain;
  return use.monads.size() > 1 || use.op != var || use.several;
}

// The operation, of a monad that is to be found: `let op = .. in op`, whose value SettleStackUses puts in.
core::Expr* Checker::OpenStackUse(const ast::Name& name, const StackUse& use, Span span) {
  const VarId var = use.var;
  const core::Scheme& scheme = program_.vars[var].scheme;
  TypeArgs args;
  for (size_t i = 0; i < scheme.tyvars.size(); ++i) args.push_back(unify_.Fresh());
  llvm::SmallVector<TypeId> params;
  TypeId action = types_.SplitFun(types_.Substitute(scheme.type, scheme.tyvars, args), params);
  StackHole hole{name, types_.FnOf(action), unify_.Fresh(), nullptr, use.several};
  Require(KnownClass("Monad"), hole.monad, {Origin::Use, span, program_.vars[var].name, var});
  // `catchError` has it in its arguments too.
  auto opened = [&](auto& self, TypeId part) -> TypeId {
    if (part == hole.own) return hole.monad;
    if (types_.Kind(part) != TypeKind::App) return part;
    TypeId of = self(self, types_.FnOf(part));
    return types_.App(of, self(self, types_.ArgOf(part)));
  };
  TypeId type = opened(opened, types_.Fun(params, action));
  VarId held = program_.NewLocal(program_.vars[var].name, type, span);
  hole.node = llvm::cast<core::LetExpr>(LetNode(held, ErrorNode(type, span), VarNode(held, span)));
  stack_holes_.push_back(hole);
  return hole.node;
}

// Whether the operation is settled; with `force` it is the outermost monad's where nothing says more.
bool Checker::SettleStackUse(StackHole& hole, bool force) {
  Span span = hole.node->span;
  TypeId type = unify_.Zonk(hole.node->type);
  StackUse use;
  core::Expr* value;
  if (FindStackUse(hole.name, 0, type, use)) {
    value = CheckStackUse(use, {}, span, span, type, Reason{});
  } else {
    if (use.open && !force) return false;
    VarId var = FindValue(hole.name);
    value = var.valid() ? Use(var, span) : ErrorNode(unify_.FreshAny(), span);
    // Of what has arguments it is the action that clashes.
    TypeId wanted = type, own = value->type;
    for (TypeId from, to, given, result; unify_.IsFun(own, &from, &to) && unify_.IsFun(wanted, &given, &result);
         own = to, wanted = result)
      unify_.Unify(from, given);
    if (!Expect(wanted, own, span, Reason{})) {
      unify_.MarkAny(value->type);
      value = ErrorNode(type, span);
    }
  }
  hole.node->bindings = program_.Copy<core::Binding>({{hole.node->bindings[0].var, value}});
  return true;
}

void Checker::SettleStackUses(size_t mark, llvm::function_ref<bool(const StackHole&)> force) {
  for (bool again = true; again;) {
    again = false;
    for (bool forced : {false, true})
      for (size_t i = mark; i < stack_holes_.size() && !again; ++i) {
        StackHole hole = stack_holes_[i];
        if (!SettleStackUse(hole, forced && force(hole))) continue;
        stack_holes_.erase(stack_holes_.begin() + static_cast<std::ptrdiff_t>(i));
        again = true;
      }
  }
}

// Whether the uses of a local function are to tell the stack: it has operations of several transformers, or the function stands in
// an action in whose stack the operation is another one than by itself. What it is by itself may be used in several stacks.
bool Checker::IsOpenStackUse(const StackHole& hole, size_t mark) {
  if (hole.several) return true;
  TypeId monad = unify_.Zonk(hole.monad), head = unify_.Head(hole.own);
  for (size_t i = mark; i < stack_holes_.size(); ++i)
    if (unify_.Zonk(stack_holes_[i].monad) == monad && unify_.Head(stack_holes_[i].own) != head) return true;
  llvm::SmallVector<TypeId> params;
  types_.SplitFun(hole.node->type, params);
  return llvm::any_of(llvm::reverse(surroundings_), [&](TypeId action) {
    StackUse use;
    return FindStackUse(hole.name, params.size(), action, use);
  });
}

// What is still open is settled by the uses of the function that it stands in: the monad, and what belongs to it, is one for all.
void Checker::LowerStackUses(size_t mark) {
  for (size_t i = mark; i < stack_holes_.size(); ++i) {
    unify_.Lower(stack_holes_[i].monad, unify_.level);
    TypeId own = stack_holes_[i].own;  // `StateT s m`
    if (types_.Kind(own) == TypeKind::App) unify_.Lower(types_.FnOf(own), unify_.level);
  }
}

core::Expr* Checker::CheckStackUse(const StackUse& use, llvm::ArrayRef<const ast::Expr*> args, Span fn, Span span, TypeId expected,
                                   const Reason& why) {
  // `fn` applied to what has this type already.
  auto apply = [&](core::Expr* function, core::Expr* argument) {
    TypeId from, to;
    unify_.IsFun(function->type, &from, &to);
    unify_.Unify(from, argument->type);
    return AppNode(function, {argument}, span);
  };
  Reason reason{Reason::Argument};
  reason.outer = &why;
  reason.name = program_.vars[use.op].name;
  reason.var = use.op;
  auto argument = [&](size_t i, TypeId type) {
    reason.index = static_cast<uint32_t>(i);
    return Check(args[i], type, reason);
  };
  auto result_of = [&](TypeId type) {
    for (TypeId to; unify_.IsFun(type, nullptr, &to);) type = to;
    return type;
  };
  core::Expr* node = Use(use.op, fn);
  TypeId from, to;
  if (use.plain) {
    unify_.Unify(result_of(node->type), types_.App(use.monads.back(), use.value));
    std::vector<VarId> params;
    for (size_t i = 0; unify_.IsFun(node->type, &from, &to); ++i) {
      if (i >= args.size()) params.push_back(program_.NewLocal(Intern("x"), from, span));
      node = AppNode(node, {i < args.size() ? argument(i, from) : VarNode(params.back(), span)}, span);
    }
    for (size_t i = use.monads.size() - 1; i-- > 0;) {
      core::Expr* lift = use.wrappers[i].valid() ? UseCon(use.wrappers[i], fn) : Use(Needed("lift", "an operation of mtl", fn), fn);
      unify_.Unify(result_of(lift->type), types_.App(use.monads[i], use.value));
      node = apply(lift, node);
    }
    if (!params.empty()) node = LambdaNode(params, node, span);
    return Expect(expected, node->type, span, why) ? node : ErrorNode(expected, span);
  }
  // What is changed in between is known where it is passed on: `local f` has its first argument, `catchError` none.
  unify_.Unify(result_of(node->type), types_.App(use.monads.back(), unify_.Fresh()));
  const bool is_map = program_.vars[use.op].name == Intern("local");
  size_t next = 0;
  if (is_map && !args.empty()) {
    unify_.IsFun(node->type, &from, &to);
    node = AppNode(node, {argument(next++, from)}, span);
  }
  for (size_t i = use.through.size(); i-- > 0;) {
    if (use.wrappers[i].valid()) node = ThroughNewtype(node, use, i);
    else node = apply(Use(use.through[i], fn), node);
  }
  unify_.Unify(result_of(node->type), types_.App(use.monads[0], use.value));
  for (; next < args.size() && unify_.IsFun(node->type, &from, &to); ++next) node = AppNode(node, {argument(next, from)}, span);
  return Expect(expected, node->type, span, why) ? node : ErrorNode(expected, span);
}

}  // namespace df::check
