// class and instance declarations, default methods and instance methods.
#include "typecheck/declare/class.h"

#include "typecheck/declare/default_type.h"
#include "typecheck/declare/family.h"
#include "typecheck/declare/minimal.h"
#include "typecheck/explain/class.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/name.h"
#include "typecheck/infer/bind.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/match.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/resolve/find.h"
#include "typecheck/resolve/types.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/equality.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

void NoteRefused(State& s, ClassId cls, const ast::Type* type, TypeId head = TypeId());
void CollectVariables(State& s, TypeId type, ScopedTypes& out);

// What a class says of operators is of its own methods.
void CheckMemberFixities(State& s, const ast::ClassDecl* decl, ClassId id) {
  const std::vector<VarId>& methods = s.program.classes[id].methods;
  for (const ast::Decl* member : decl->members)
    if (const auto* fixity = llvm::dyn_cast<ast::FixityDecl>(member))
      for (const ast::Name& op : fixity->ops)
        if (llvm::none_of(methods, [&](VarId method) { return s.program.vars[method].name == op.text; }))
          s.Error(Diag::NotAMethod, op.span, Text(op.text), Text(decl->name.text))
              .Hint("a fixity declaration stands beside the definition of its operator");
}

// `class C a where m :: Eq a => a -> a`: Haskell 2010 wants such a constraint to stand over the class.
void CheckMethodConstraints(State& s, const ast::ClassDecl* decl, const core::Scheme& scheme, const ast::Name& method) {
  if (s.options.library || s.options.repl || HasExtension(s, "ConstrainedClassMethods")) return;
  for (const core::Pred& pred : scheme.preds) {
    llvm::SmallVector<TyVarId> vars;
    s.types.FreeVars(pred.type, vars);
    // Those of the class are not among the scheme's.
    if (vars.empty() || llvm::any_of(vars, [&](TyVarId var) { return llvm::is_contained(scheme.tyvars, var); })) continue;
    s.Error(Diag::NeedsExtension, pred.span, fmt::format("a constraint of the method `{}` on `{}`, the variable of the class,", Text(method.text),
                                                         Text(decl->params.back().text)),
          "ConstrainedClassMethods")
        .Hint("write `{-# LANGUAGE ConstrainedClassMethods #-}` in the first line, or make it a superclass");
  }
}

// A method of an instance or a default; `own` is its signature in the instance, if there is one. `head` are the variables
// of the class or of the instance's head, which scope over the method if the module has ScopedTypeVariables, and always
// over `own` and derived methods. (The other variables of the method's type do not.)
void CheckMethod(State& s, VarId var, const ast::FunctionDecl* decl, const ast::SignatureDecl* own, const core::Scheme& scheme,
                 const ScopedTypes& head, Span from, bool derived = false) {
  ++s.definition;
  const Symbol name = decl->name.text;
  ScopedTypes scoped;
  if (own || derived || HasExtension(s, "ScopedTypeVariables")) scoped = head;
  core::Expr* value = CheckAgainst(s, scheme, from, name, scoped, [&](TypeId type, const Reason& why) {
    if (!own) return CheckClauses(s, name, decl->clauses, decl->name.span, type, why);
    // A local function with this signature, which the method is; its clauses mean the class's method by its name.
    std::unique_ptr<Signature> signature = ConvertSignature(s, own->type, decl->name.span);
    if (!signature) return ErrorNode(s, type, decl->name.span);
    VarId local = s.program.NewLocal(name, signature->scheme.type, decl->name.span);
    s.program.vars[local].scheme = signature->scheme;
    core::Expr* value = CheckAgainst(s, signature->scheme, signature->type_span, name, signature->scoped,
                                     [&](TypeId its_type, const Reason& its_why) {
                                       return CheckClauses(s, name, decl->clauses, decl->name.span, its_type, its_why);
                                     });
    core::Expr* use = Use(s, local, decl->name.span);
    if (!Expect(s, type, use->type, own->type.span, why)) return ErrorNode(s, type, decl->name.span);
    return LetNode(s, local, value, use);
  });
  s.definitions.push_back({var, value});
}

// Whether a context asks for smaller types than the instance's, with no variable more often: then looking for instances
// ends (the Paterson conditions of GHC's manual).
bool ContextShrinks(State& s, const core::Instance& row) {
  for (const core::Pred& pred : row.context) {
    if (s.types.SizeOf(pred.type) >= s.types.SizeOf(row.head)) return false;
    for (TyVarId var : row.tyvars)
      if (Occurrences(s.types, pred.type, var) > Occurrences(s.types, row.head, var)) return false;
  }
  return true;
}

// `IntMap` is a synonym in this library, and a type of its own in GHC's.
bool IsTypeInGhc(const Synonym& synonym, const Env& env) {
  const std::string_view name = Text(synonym.name);
  return env.library_files.count(synonym.span.file.index) && (name == "IntMap" || name == "IntSet" || name == "UArray");
}

// That the type has no such instance is not said again. `head` is what the type means, if it is known: that of a synonym is another one's.
void NoteRefused(State& s, ClassId cls, const ast::Type* type, TypeId head) {
  if (TypeId top = head.valid() ? s.unify.Head(head) : TypeId(); top.valid() && s.types.Kind(top) == TypeKind::Con)
    return void(s.reported.push_back({cls, top, kNowhere}));
  while (const auto* app = llvm::dyn_cast<ast::AppType>(type)) type = app->fn;
  if (llvm::isa<ast::FunType>(type)) s.reported.push_back({cls, s.types.Con(s.types.Known(Builtin::Function)), kNowhere});
  if (llvm::isa<ast::ListType>(type)) s.reported.push_back({cls, s.types.Con(s.types.Known(Builtin::List)), kNowhere});
  const auto* con = llvm::dyn_cast<ast::ConType>(type);
  const TypeName* named = con ? LookUpType(s, con->name) : nullptr;
  if (named && named->con.valid()) s.reported.push_back({cls, s.types.Con(named->con), kNowhere});
}

// The scheme of the class's method at this instance: the instance's variables, then the method's own.
core::Scheme MethodAt(core::Program& program, const core::Instance& instance, const core::Var& method) {
  const std::vector<TyVarId> params = program.classes[instance.cls].params;
  const auto args = core::ClassArguments(program, instance.cls, instance.head);
  core::Scheme scheme;
  scheme.tyvars = instance.tyvars;
  scheme.tyvars.insert(scheme.tyvars.end(), method.scheme.tyvars.begin() + static_cast<std::ptrdiff_t>(params.size()), method.scheme.tyvars.end());
  scheme.type = program.types.Substitute(method.scheme.type, params, args);
  scheme.preds = instance.context;
  for (size_t i = 1; i < method.scheme.preds.size(); ++i) {
    core::Pred pred = method.scheme.preds[i];
    pred.type = program.types.Substitute(pred.type, params, args);
    scheme.preds.push_back(pred);
  }
  return scheme;
}

// The signature of a method that an instance repeats (InstanceSigs).
const ast::SignatureDecl* SignatureIn(const ast::InstanceDecl* decl, Symbol method) {
  for (const ast::Decl* member : decl->members)
    if (const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(member))
      for (const ast::Name& name : signature->names)
        if (name.text == method) return signature;
  return nullptr;
}

// The variables of an instance's head with their kinds.
ScopedTypes HeadVariables(State& s, const core::Instance& instance) {
  ScopedTypes out;
  CollectVariables(s, instance.head, out);
  return out;
}

void CollectVariables(State& s, TypeId type, ScopedTypes& out) {
  llvm::SmallVector<TypeId> args;
  TyConId head = s.types.Head(type, &args);
  if (!head.valid()) return;
  KindId kind = s.env.KindOf(head), of;
  for (TypeId arg : args) {
    if (!s.env.kinds.IsArrow(kind, &of, &kind)) break;
    if (s.types.Kind(arg) != TypeKind::Var) CollectVariables(s, arg, out);
    else out.push_back({s.types.vars[s.types.VarOf(arg)].name, {arg, of}});
  }
}

bool CheckSuperclasses(State& s, InstanceId id, Span span, const Origin& origin) {
  size_t given_mark = s.givens.size(), assumed_mark = s.unify.AssumedMark();
  const core::Instance instance = s.program.instances[id];
  for (const core::Pred& pred : instance.context) PushGiven(s, pred.cls, pred.type);
  bool ok = true;
  std::vector<std::pair<ClassId, TypeId>> supers;
  for (ClassId super : s.program.classes[instance.cls].superclasses) supers.push_back({super, instance.head});
  const std::vector<core::Pred> contexts = s.program.classes[instance.cls].contexts;
  for (const core::Pred& pred : contexts)
    supers.push_back({pred.cls, s.types.Substitute(pred.type, s.program.classes[instance.cls].params,
                                                   core::ClassArguments(s.program, instance.cls, instance.head))});
  for (const auto& [super, of] : supers) {
    std::vector<Wanted> stuck;
    Wanted missing;
    if (Solve(s, {super, of, origin}, stuck, &missing) != Solved::No) continue;
    ok = false;
    if (IsRefused(s, super, of)) continue;
    std::string own = PrintPred(s, instance.cls, PrintType(s, instance.head), instance.head), wanted = PrintPred(s, super, PrintType(s, of), of);
    if (missing.type != of) {
      // It is there, and asks for more.
      std::string part = PrintPred(s, missing.cls, PrintType(s, missing.type), missing.type);
      s.Error(Diag::MissingConstraint, span, fmt::format("`{}`", own), part, "its context")
          .Note(Span(), fmt::format("it needs `{}`, and that needs it", wanted));
      s.diags.Hint(fmt::format("add the context to the instance: `instance {} => {} where ..`", part, own));
      continue;
    }
    s.Error(Diag::MissingSuperclass, span, own, wanted)
        .Note(Shown(s, s.program.classes[instance.cls].span),
              fmt::format("every instance of `{}` is one of `{}`", Text(s.program.classes[instance.cls].name),
                          Text(s.program.classes[super].name)));
    // What the other instance has to define.
    std::vector<std::string> methods;
    for (size_t i = 0; i < s.program.classes[super].methods.size(); ++i)
      if (!s.program.classes[super].defaults[i].valid())
        methods.push_back(fmt::format("`{}`", Text(s.program.vars[s.program.classes[super].methods[i]].name)));
    // `<*>` has a default by `liftA2`, and that one by `<*>`.
    if (Text(s.program.classes[super].name) == "Applicative") methods.push_back("`<*>`");
    std::string_view name = Text(s.program.classes[super].name);
    if (name == "Eq" || name == "Ord" || name == "Show")
      s.diags.Hint(fmt::format("add `deriving {}` to the type's declaration, or `instance {} where ..`", name, wanted));
    else s.diags.Hint(fmt::format("add `instance {} where ..`{}", wanted,
                            methods.empty() ? "" : fmt::format(", which defines {}", fmt::join(methods, " and "))));
  }
  s.givens.resize(given_mark);
  s.unify.Forget(assumed_mark);
  return ok;
}

// The variables of a class with their kinds.
ScopedTypes ClassVariables(const State& s, ClassId id) {
  ScopedTypes out;
  const std::vector<KindId> kinds = ParameterKinds(s, id);
  const std::vector<TyVarId>& params = s.program.classes[id].params;
  for (size_t i = 0; i < params.size() && i < kinds.size(); ++i)
    out.push_back({s.types.vars[params[i]].name, {s.types.Var(params[i]), kinds[i]}});
  return out;
}

// A dependency has to tell all that it settles: `instance MonadState s m => MonadState s (ReaderT r m)` tells by its context, which GHC
// takes with UndecidableInstances.
void CheckCoverage(State& s, const core::Instance& row, Span span) {
  const auto args = core::ClassArguments(s.program, row.cls, row.head);
  for (const core::Dependency& dependency : s.program.classes[row.cls].dependencies) {
    llvm::SmallVector<TyVarId> from, to;
    for (uint32_t i : dependency.from) s.types.FreeVars(args[i], from);
    for (uint32_t i : dependency.to) s.types.FreeVars(args[i], to);
    auto covered = [&] { return llvm::all_of(to, [&](TyVarId var) { return llvm::is_contained(from, var); }); };
    if (covered()) continue;
    const bool liberal = s.options.repl || s.options.library || HasExtension(s, "UndecidableInstances");
    if (liberal) AddDetermined(s, row.context, from);
    if (liberal && covered()) continue;
    Diagnostics& diag = s.Error(Diag::NeedsExtension, span, "an instance whose functional dependency does not settle all variables by itself",
                                "UndecidableInstances");
    if (!liberal) diag.Hint("write `{-# LANGUAGE UndecidableInstances #-}` in the first line; then its context may settle them");
    return;
  }
}

// Whether a functional dependency settles the same arguments by both instances, and to other types.
bool Contradict(State& s, const core::Instance& a, const core::Instance& b) {
  if (a.head == b.head) return false;
  const auto mine = core::ClassArguments(s.program, a.cls, a.head), theirs = core::ClassArguments(s.program, b.cls, b.head);
  for (const core::Dependency& dependency : s.program.classes[a.cls].dependencies) {
    llvm::SmallVector<TypeId> here(a.tyvars.size()), there(b.tyvars.size());
    auto same = [&](uint32_t i) {
      return Fits(s, mine[i], theirs[i], a.tyvars, here) == Fit::Yes && Fits(s, theirs[i], mine[i], b.tyvars, there) == Fit::Yes;
    };
    if (llvm::all_of(dependency.from, same) && !llvm::all_of(dependency.to, same)) return true;
  }
  return false;
}

}  // namespace

void DeclareClass(State& s, const ast::ClassDecl* decl) {
  ClassId id = *s.scope->classes.Find(decl->name.text);
  const std::vector<TyVarId> params = s.program.classes[id].params;
  TypeVarScope head;
  head.implicit = false;
  head.names = ClassVariables(s, id);
  llvm::SmallVector<TypeId> own;
  for (TyVarId param : params) own.push_back(s.types.Var(param));
  const TypeId whole = core::ClassType(s.program, id, own);
  std::vector<core::Pred> context;
  ConvertContext(s, decl->context, head, context);
  for (const core::Pred& pred : context) {
    if (s.types.HasMeta(pred.type)) continue;  // reported
    if (pred.type != whole && (params.size() > 1 || s.program.classes[pred.cls].args.valid() || s.types.HasFamily(pred.type))) {
      s.program.classes[id].contexts.push_back(pred);
      continue;
    }
    if (pred.type != whole) {
      s.Error(Diag::BadSuperclass, pred.span, Text(decl->name.text));
      continue;
    }
    if (Entails(s, id, pred.cls)) {
      s.Error(Diag::SuperclassCycle, pred.span, Text(decl->name.text), Text(s.program.classes[pred.cls].name));
      continue;
    }
    s.program.classes[id].superclasses.push_back(pred.cls);
  }
  for (const ast::Decl* member : decl->members) {
    const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(member);
    if (!signature || signature->is_default) continue;
    for (const ast::Name& name : signature->names) {
      if (auto it = s.exports.values.find(name.text); it != s.exports.values.end()) {
        s.Error(Diag::DuplicateDefinition, name.span, Text(name.text))
            .Note(s.program.vars[it->second].span, "it is defined here first");
        continue;
      }
      TypeVarScope scope;
      scope.names = head.names;
      core::Scheme scheme = ConvertScheme(s, signature->type, scope);
      llvm::SmallVector<TyVarId> vars;
      FixedVars(s.types, scheme.type, vars);
      const core::Pred of_class{id, whole, decl->name.span};
      AddDetermined(s, of_class, vars);
      for (size_t i = 0; i < params.size(); ++i)
        if (!llvm::is_contained(vars, params[i]) && !(HasExtension(s, "AllowAmbiguousTypes") && params.size() > 1)) {
          s.Error(Diag::MethodWithoutParam, name.span, Text(name.text), Text(decl->params[i].text), Text(decl->name.text));
          break;
        }
      CheckMethodConstraints(s, decl, scheme, name);
      VarId method = NewVar(s, name.text, scheme.type, false, name.span);
      core::Var& var = s.program.vars[method];
      var.kind = core::VarKind::Method;
      var.cls = id;
      var.method_index = static_cast<uint32_t>(s.program.classes[id].methods.size());
      var.scheme.type = scheme.type;
      var.scheme.tyvars = params;
      var.scheme.tyvars.insert(var.scheme.tyvars.end(), scheme.tyvars.begin(), scheme.tyvars.end());
      var.scheme.preds.push_back(of_class);
      var.scheme.preds.insert(var.scheme.preds.end(), scheme.preds.begin(), scheme.preds.end());
      s.program.classes[id].methods.push_back(method);
      s.program.classes[id].defaults.push_back(VarId());
      s.program.classes[id].own_type.push_back(false);
      s.scope->values.Add(name.text, method);
      if (s.module.name.text.valid()) s.scope->values.Add(name.text, method, s.module.name.text);
      s.exports.values[name.text] = method;
    }
  }
  for (const ast::Decl* member : decl->members) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
    if (!function) {
      if (llvm::isa<ast::PatBindDecl>(member)) s.Error(Diag::PatternInClass, member->span);
      continue;
    }
    core::Class& cls = s.program.classes[id];
    size_t index = 0;
    while (index < cls.methods.size() && s.program.vars[cls.methods[index]].name != function->name.text)
      ++index;
    if (index == cls.methods.size()) {
      s.Error(Diag::NotAMethod, function->name.span, Text(function->name.text), Text(decl->name.text));
      continue;
    }
    if (cls.defaults[index].valid()) {
      s.Error(Diag::DuplicateDefinition, function->name.span, Text(function->name.text))
          .Note(s.program.vars[cls.defaults[index]].span, "it is defined here first");
      continue;
    }
    VarId method = cls.methods[index];
    VarId var = NewVar(s, function->name.text, s.program.vars[method].scheme.type, true, function->name.span);
    s.program.vars[var].scheme = s.program.vars[method].scheme;
    s.program.classes[id].defaults[index] = var;
  }
  for (const ast::Decl* member : decl->members)
    if (const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(member); signature && signature->is_default)
      for (const ast::Name& name : signature->names) DeclareDefaultType(s, id, signature->type, name, head.names, {id, whole, decl->name.span});
  CheckMemberFixities(s, decl, id);
  DeclareMinimal(s, decl, id);
}

void CheckClassDefaults(State& s, const ast::ClassDecl* decl, ClassId id) {
  for (const ast::Decl* member : decl->members) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
    if (!function) continue;
    const core::Class& cls = s.program.classes[id];
    for (size_t i = 0; i < cls.methods.size(); ++i) {
      VarId var = cls.defaults[i];
      if (!var.valid() || s.program.vars[var].span != function->name.span) continue;
      core::Scheme scheme = s.program.vars[var].scheme;
      CheckMethod(s, var, function, nullptr, scheme, ClassVariables(s, id), s.program.vars[cls.methods[i]].span);
      break;
    }
  }
}

TyConId ConvertInstanceHead(State& s, const ast::Name& name, ast::List<ast::Constraint> context, const ast::Type* type,
                            ast::List<ast::Type*> written, Span span, core::Instance& row) {
  ClassId cls = FindClass(s, name);
  if (!cls.valid()) {
    // `instance Foo Show`, the other way round.
    const auto* other = llvm::dyn_cast<ast::ConType>(type);
    const ClassId* meant = other ? s.scope->classes.Find(other->name.text, other->name.qualifier) : nullptr;
    const TypeName* of = meant ? LookUpType(s, name) : nullptr;
    if (of && of->con.valid()) {
      s.diags.Hint(fmt::format("the class comes first: `instance {} {}`", Text(other->name.text), Text(name.text)));
      s.reported.push_back({*meant, s.types.Con(of->con), kNowhere});
    }
    if (ClassId near = NearestClass(s, name); near.valid()) NoteRefused(s, near, type);
    return TyConId();
  }
  TypeVarScope scope;
  uint32_t errors = s.diags.error_count();
  row.cls = cls;
  row.span = span;
  row.head = ConvertClassArguments(s, cls, written.empty() ? type->span : Span{span.file, name.span.begin, type->span.end}, type, written, scope);
  if (!row.head.valid()) row.head = s.unify.FreshAny();
  row.tyvars = scope.fresh;
  scope.implicit = false;
  ConvertContext(s, context, scope, row.context);
  for (const auto& [var, entry] : scope.names) s.env.kinds.Default(entry.second);
  if (s.diags.error_count() != errors) {
    NoteRefused(s, cls, type, row.head);
    return TyConId();
  }
  row.grows = !ContextShrinks(s, row);
  if (row.grows && !s.options.repl && !s.options.library && !HasExtension(s, "UndecidableInstances"))
    s.Error(Diag::NeedsExtension, row.context.front().span, "a context that is no smaller than the instance's type",
          "UndecidableInstances")
        .Hint("write `{-# LANGUAGE UndecidableInstances #-}` in the first line");

  if (s.types.HasFamily(row.head)) {
    s.Error(Diag::FamilyHere, type->span, s.diags.sources().Text(type->span), "in the head of an instance");
    return TyConId();
  }
  if (IsCoercible(s, cls) || cls == s.program.equality) {
    s.Error(Diag::InstanceHead, type->span, s.diags.sources().Text(type->span)).Hint(fmt::format("the compiler alone says what is of the class `{}`", Text(name.text)));
    return TyConId();
  }
  CheckCoverage(s, row, span);
  TyConId head = s.types.Head(row.head);
  bool plain = true;
  for (TypeId of : core::ClassArguments(s.program, cls, row.head)) {
    llvm::SmallVector<TypeId> args;
    plain &= s.types.Head(of, &args).valid();
    for (size_t i = 0; i < args.size(); ++i) {
      plain &= s.types.Kind(args[i]) == TypeKind::Var;
      for (size_t j = 0; j < i; ++j) plain &= args[i] != args[j];
    }
  }
  const ast::Type* named = type;
  while (const auto* app = llvm::dyn_cast<ast::AppType>(named)) named = app->fn;
  const auto* con = llvm::dyn_cast<ast::ConType>(named);
  const TypeName* synonym = con ? LookUpType(s, con->name) : nullptr;
  if (synonym && synonym->is_synonym()) {
    if (IsTypeInGhc(s.env.synonyms[synonym->synonym], s.env)) plain = true;
    // (Without both pragmas the type that it stands for is what is refused.)
    else if (!s.options.repl && !s.options.library && !HasExtension(s, "TypeSynonymInstances") && (plain || HasExtension(s, "FlexibleInstances")))
      s.Error(Diag::NeedsExtension, type->span, fmt::format("an instance for `{}`, a type synonym,", Text(con->name.text)), "TypeSynonymInstances")
          .Hint("write `{-# LANGUAGE FlexibleInstances #-}` in the first line, which has it too, or name the type that it stands for");
  }
  if (head.valid() && (plain || s.options.repl || s.options.library || HasExtension(s, "FlexibleInstances"))) return head;
  Diagnostics& diag = s.Error(Diag::InstanceHead, type->span, s.diags.sources().Text(type->span));
  if (head.valid())
    diag.Hint("an instance is of a type constructor with different variables: `Maybe a`, `[a]`, `(a, b)`; for one of a "
              "particular type write `{-# LANGUAGE FlexibleInstances #-}` in the first line");
  else
    diag.Hint("an instance is of a type constructor: `Maybe a`, `[a]`, `(a, b)`");
  NoteRefused(s, cls, type, row.head);
  return TyConId();
}

void DeclareInstance(State& s, const ast::InstanceDecl* decl) {
  core::Instance row;
  TyConId head = ConvertInstanceHead(s, decl->cls, decl->context, decl->type, decl->args, decl->span, row);
  if (head.valid()) RegisterInstance(s, std::move(row), head, decl);
}

InstanceId RegisterInstance(State& s, core::Instance row, TyConId head, const ast::InstanceDecl* decl) {
  row.from_library = s.options.library;
  const ClassId cls = row.cls;
  for (InstanceId other : s.env.instances[{cls.index, head.index}]) {
    if (Contradict(s, row, s.program.instances[other])) {
      const core::Instance& first = s.program.instances[other];
      s.Error(Diag::DependencyClash, decl->span, core::PrintPred(s.program, cls, row.head), core::PrintPred(s.program, cls, first.head));
      if (Span shown = Shown(s, first.span); shown.valid()) s.diags.Note(shown, "the other one is here");
      return InstanceId();
    }
    llvm::SmallVector<TypeId> mine(row.tyvars.size()), theirs(s.program.instances[other].tyvars.size());
    if (Fits(s, row.head, s.program.instances[other].head, row.tyvars, mine) != Fit::Yes ||
        Fits(s, s.program.instances[other].head, row.head, s.program.instances[other].tyvars, theirs) != Fit::Yes)
      continue;
    // At the prompt what is entered again replaces what was entered before.
    if (s.options.repl && !s.module.name.text.valid() && !s.program.instances[other].from_library && !llvm::is_contained(s.registered, other)) {
      ForgetInstance(s, other);
      s.replaced.push_back(other);
      break;
    }
    Diagnostics& diag = s.Error(Diag::DuplicateInstance, decl->span, PrintPred(s, cls, PrintType(s, row.head), row.head));
    Span shown = Shown(s, s.program.instances[other].span);
    if (s.program.instances[other].span.valid())
      diag.Note(shown, shown.valid() ? "the other one is here" : "the other one is the library's");
    return InstanceId();
  }
  row.methods.resize(s.program.classes[cls].methods.size());
  DefaultFamilies(s, row, decl);
  InstanceId id = s.program.instances.Add(std::move(row));
  s.env.instances[{cls.index, head.index}].push_back(id);
  s.registered.push_back(id);
  s.instances.push_back({decl, id});
  for (const ast::Decl* member : decl->members) {
    if (const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(member))
      for (const ast::Name& name : signature->names)
        if (llvm::none_of(decl->members, [&](const ast::Decl* other) {
              const auto* function = llvm::dyn_cast<ast::FunctionDecl>(other);
              return function && function->name.text == name.text;
            }))
          s.Error(Diag::SignatureWithoutBinding, name.span, Text(name.text));
    if (llvm::isa<ast::FixityDecl>(member)) s.Error(Diag::NotAllowedHere, member->span, "a fixity declaration", "an instance");
    if (llvm::isa<ast::SignatureDecl>(member) || llvm::isa<ast::FixityDecl>(member) || llvm::isa<ast::TypeInstanceDecl>(member)) continue;
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
    if (!function) {
      Diagnostics& diag = s.Error(Diag::PatternInClass, member->span);
      // `Area (Square x) = ..`
      const auto* pattern = llvm::dyn_cast<ast::PatBindDecl>(member);
      const auto* con = pattern ? llvm::dyn_cast<ast::ConPat>(pattern->pat) : nullptr;
      if (con && !con->args.empty() && std::isalpha(static_cast<unsigned char>(Text(con->name.text)[0]))) {
        std::string small(Text(con->name.text));
        small[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(small[0])));
        diag.Hint(fmt::format("the name of a function begins with a small letter: `{}`", small));
      }
      continue;
    }
    const std::vector<VarId>& methods = s.program.classes[cls].methods;
    size_t index = 0;
    while (index < methods.size() && s.program.vars[methods[index]].name != function->name.text) ++index;
    if (index == methods.size()) {
      std::vector<std::string_view> names;
      for (VarId method : methods) names.push_back(Text(s.program.vars[method].name));
      Diagnostics& diag =
          s.Error(Diag::NotAMethod, function->name.span, Text(function->name.text), Text(decl->cls.text));
      std::string_view near = NearestName(Text(function->name.text), names);
      if (Span declared = Shown(s, s.program.classes[cls].span); declared.valid())
        diag.Note(declared, "the class is declared here");
      if (!near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
      continue;
    }
    // At the prompt what was imported before counts as well; a derived instance knows its methods by itself.
    if (!s.options.library && !s.options.repl && llvm::is_contained(s.module.decls, decl) && !IsInScopeAnyhow(s, methods[index])) {
      s.Error(Diag::MethodNotInScope, function->name.span, Text(function->name.text), Text(decl->cls.text));
      HintAtMembers(s, s.program.vars[methods[index]].name, decl->cls);
    }
    if (s.program.instances[id].methods[index].valid()) {
      s.Error(Diag::DuplicateDefinition, function->name.span, Text(function->name.text))
          .Note(s.program.vars[s.program.instances[id].methods[index]].span, "it is defined here first");
      continue;
    }
    s.program.instances[id].methods[index] =
        NewVar(s, function->name.text, s.unify.Fresh(), true, function->name.span);
  }
  return id;
}

void ForgetInstance(State& s, InstanceId id) {
  auto it = s.env.instances.find({s.program.instances[id].cls.index, s.types.Head(s.program.instances[id].head).index});
  it->second.erase(llvm::find(it->second, id));
  if (it->second.empty()) s.env.instances.erase(it);
}

void CheckInstanceMethods(State& s, const ast::InstanceDecl* decl, InstanceId id) {
  const ClassId cls = s.program.instances[id].cls;
  s.instance_type = s.types.Head(s.program.instances[id].head);
  Span head_span = decl->type ? decl->type->span : decl->span;
  CheckSuperclasses(s, id, head_span, {Origin::Instance, head_span, decl->cls.text});
  const std::vector<VarId> given = s.program.instances[id].methods;
  for (size_t i = 0; i < s.program.classes[cls].methods.size(); ++i) {
    VarId method = s.program.classes[cls].methods[i];
    VarId var = s.program.instances[id].methods[i];
    core::Scheme scheme = MethodAt(s.program, s.program.instances[id], s.program.vars[method]);
    if (var.valid()) {
      s.program.vars[var].scheme = scheme;
      for (const ast::Decl* member : decl->members) {
        const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
        if (!function || function->name.text != s.program.vars[method].name ||
            s.program.vars[var].span != function->name.span)
          continue;
        CheckMethod(s, var, function, SignatureIn(decl, function->name.text), scheme, HeadVariables(s, s.program.instances[id]),
                    s.program.vars[method].span, s.program.instances[id].derived);
        break;
      }
    } else if (s.program.classes[cls].defaults[i].valid() && s.program.classes[cls].own_type[i]) {
      UseDefault(s, id, i, scheme, head_span);
    } else if (!s.program.classes[cls].defaults[i].valid()) {
      // Neither defined nor defaulted: an error when it is called, as in Haskell.
      VarId absent = NewVar(s, s.program.vars[method].name, scheme.type, true, head_span);
      s.program.vars[absent].scheme = scheme;
      s.program.instances[id].methods[i] = absent;
      core::FailExpr fail{};
      fail.type = scheme.type;
      fail.span = head_span;
      fail.message = Intern(
          fmt::format("this instance does not define the method `{}`", Text(s.program.vars[method].name)));
      s.definitions.push_back({absent, s.Node(fail)});
    }
  }
  // A method of another name is reported already: that is the one that is missing.
  bool misnamed = llvm::any_of(decl->members, [&](const ast::Decl* member) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
    return function && llvm::none_of(s.program.classes[cls].methods, [&](VarId method) {
             return s.program.vars[method].name == function->name.text;
           });
  });
  if (misnamed || !s.options.warnings || s.options.library) return;
  WarnOfMissingMethods(s, id, given, head_span);
}

}  // namespace df::check
