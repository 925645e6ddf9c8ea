// mtl's operations. Each works on any monad that has its transformer in the stack, by classes with two parameters, which
// the language has not. Here the type that is expected tells the stack: the operation of the first transformer that has one of that
// name is taken, and is lifted through those above. Where nothing tells the type, it is the outermost transformer's.
#include "typecheck/checker.h"

namespace df::check {
namespace {

enum class StackKind : uint8_t { None, Plain, Map, Catch };

// Map and Catch have actions as arguments: they go through a transformer by its `mapStateT`, its `primLiftCatch`.
StackKind KindOfStackName(Symbol name) {
  static const llvm::DenseMap<uint32_t, StackKind> kinds = [] {
    llvm::DenseMap<uint32_t, StackKind> made;
    for (const char* plain : {"get", "put", "state", "modify", "modify'", "gets", "ask", "asks", "reader", "tell", "writer",
                              "throwError", "liftEither"})
      made[Intern(plain).index] = StackKind::Plain;
    made[Intern("local").index] = StackKind::Map;
    made[Intern("catchError").index] = StackKind::Catch;
    return made;
  }();
  return kinds.lookup(name.index);
}

}  // namespace

// One of the library's.
bool Checker::IsTransformer(TyConId con) const {
  const TyCon& row = types_.cons[con];
  if (!env_.library_files.count(row.span.file.index)) return false;
  std::string_view name = Text(row.name);
  return name == "StateT" || name == "ReaderT" || name == "WriterT" || name == "RWST" || name == "ExceptT" || name == "MaybeT";
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
  if (kind == StackKind::None || options_.library || (kind == StackKind::Map && given == 0)) return false;
  VarId var = FindValue(name, false);
  if (!var.valid() || !program_.vars[var].from_library) return false;
  llvm::SmallVector<TypeId> params;
  TyConId own = MonadOf(types_.SplitFun(program_.vars[var].scheme.type, params));
  bool several = false;
  if (!own.valid() || given > params.size() || !IsTransformer(own) || !IsStackName(name, &several)) return false;
  TypeId action = expected;
  for (size_t i = given; i < params.size(); ++i)
    if (!unify_.IsFun(action, nullptr, &action)) return false;
  action = unify_.Prune(action);
  if (types_.Kind(action) != TypeKind::App) return false;
  use.value = types_.ArgOf(action);
  for (TypeId monad = unify_.Prune(types_.FnOf(action));; monad = unify_.Prune(types_.ArgOf(monad))) {
    use.monads.push_back(monad);
    TyConId con = MonadOf(monad);
    if (!con.valid()) return false;
    use.op = StackFunction(name.text, con);
    // Either has its operations under names of the library's own.
    if (!use.op.valid() && types_.cons[con].name == Intern("Either")) use.op = StackFunction(Intern(fmt::format("primEither{}", Text(name.text))), con);
    if (use.op.valid()) break;
    if (types_.Kind(monad) != TypeKind::App || !IsTransformer(con)) return false;
    if (kind == StackKind::Plain) continue;
    VarId through = StackFunction(kind == StackKind::Catch ? Intern("primLiftCatch") : Intern(fmt::format("map{}", Text(types_.cons[con].name))), con);
    if (!through.valid()) return false;
    use.through.push_back(through);
  }
  use.plain = kind == StackKind::Plain;
  return use.monads.size() > 1 || use.op != var || several;
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
      core::Expr* lift = Use(Needed("lift", "an operation of mtl", fn), fn);
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
    core::Expr* through = Use(use.through[i], fn);
    node = apply(through, node);
  }
  unify_.Unify(result_of(node->type), types_.App(use.monads[0], use.value));
  for (; next < args.size() && unify_.IsFun(node->type, &from, &to); ++next) node = AppNode(node, {argument(next, from)}, span);
  return Expect(expected, node->type, span, why) ? node : ErrorNode(expected, span);
}

}  // namespace df::check
