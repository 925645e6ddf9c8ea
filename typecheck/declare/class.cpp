// class and instance declarations, default methods and instance methods.
#include "typecheck/checker.h"

namespace df::check {

void Checker::DeclareClass(const ast::ClassDecl* decl) {
  ClassId id = *scope_->classes.Find(decl->name.text);
  TyVarId param = program_.classes[id].param;
  KindId kind = env_.class_kinds[id.index];
  TypeVarScope head;
  head.implicit = false;
  head.names.push_back({decl->param.text, {types_.Var(param), kind}});
  std::vector<core::Pred> context;
  ConvertContext(decl->context, head, context);
  for (const core::Pred& pred : context) {
    if (types_.HasMeta(pred.type)) continue;  // reported
    if (pred.type != types_.Var(param)) {
      Error(Diag::BadSuperclass, pred.span, Text(decl->name.text));
      continue;
    }
    if (Entails(id, pred.cls)) {
      Error(Diag::SuperclassCycle, pred.span, Text(decl->name.text), Text(program_.classes[pred.cls].name));
      continue;
    }
    program_.classes[id].superclasses.push_back(pred.cls);
  }
  for (const ast::Decl* member : decl->members) {
    const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(member);
    if (!signature) continue;
    for (const ast::Name& name : signature->names) {
      if (auto it = exports_.values.find(name.text); it != exports_.values.end()) {
        Error(Diag::DuplicateDefinition, name.span, Text(name.text))
            .Note(program_.vars[it->second].span, "it is defined here first");
        continue;
      }
      TypeVarScope scope;
      scope.names = head.names;
      core::Scheme scheme = ConvertScheme(signature->type, scope);
      llvm::SmallVector<TyVarId> vars;
      types_.FreeVars(scheme.type, vars);
      if (std::find(vars.begin(), vars.end(), param) == vars.end())
        Error(Diag::MethodWithoutParam, name.span, Text(name.text), Text(decl->param.text),
              Text(decl->name.text));
      CheckMethodConstraints(decl, scheme, name);
      VarId method = NewVar(name.text, scheme.type, false, name.span);
      core::Var& var = program_.vars[method];
      var.kind = core::VarKind::Method;
      var.cls = id;
      var.method_index = static_cast<uint32_t>(program_.classes[id].methods.size());
      var.scheme.type = scheme.type;
      var.scheme.tyvars.push_back(param);
      var.scheme.tyvars.insert(var.scheme.tyvars.end(), scheme.tyvars.begin(), scheme.tyvars.end());
      var.scheme.preds.push_back({id, types_.Var(param), decl->name.span});
      var.scheme.preds.insert(var.scheme.preds.end(), scheme.preds.begin(), scheme.preds.end());
      program_.classes[id].methods.push_back(method);
      program_.classes[id].defaults.push_back(VarId());
      scope_->values.Add(name.text, method);
      if (module_.name.text.valid()) scope_->values.Add(name.text, method, module_.name.text);
      exports_.values[name.text] = method;
    }
  }
  for (const ast::Decl* member : decl->members) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
    if (!function) {
      if (llvm::isa<ast::PatBindDecl>(member)) Error(Diag::PatternInClass, member->span);
      continue;
    }
    core::Class& cls = program_.classes[id];
    size_t index = 0;
    while (index < cls.methods.size() && program_.vars[cls.methods[index]].name != function->name.text)
      ++index;
    if (index == cls.methods.size()) {
      Error(Diag::NotAMethod, function->name.span, Text(function->name.text), Text(decl->name.text));
      continue;
    }
    if (cls.defaults[index].valid()) {
      Error(Diag::DuplicateDefinition, function->name.span, Text(function->name.text))
          .Note(program_.vars[cls.defaults[index]].span, "it is defined here first");
      continue;
    }
    VarId method = cls.methods[index];
    VarId var = NewVar(function->name.text, program_.vars[method].scheme.type, true, function->name.span);
    program_.vars[var].scheme = program_.vars[method].scheme;
    program_.classes[id].defaults[index] = var;
  }
  CheckMemberFixities(decl, id);
  DeclareMinimal(decl, id);
}

// What a class says of operators is of its own methods.
void Checker::CheckMemberFixities(const ast::ClassDecl* decl, ClassId id) {
  const std::vector<VarId>& methods = program_.classes[id].methods;
  for (const ast::Decl* member : decl->members)
    if (const auto* fixity = llvm::dyn_cast<ast::FixityDecl>(member))
      for (const ast::Name& op : fixity->ops)
        if (llvm::none_of(methods, [&](VarId method) { return program_.vars[method].name == op.text; }))
          Error(Diag::NotAMethod, op.span, Text(op.text), Text(decl->name.text))
              .Hint("a fixity declaration stands beside the definition of its operator");
}

// `class C a where m :: Eq a => a -> a`: Haskell 2010 wants such a constraint to stand over the class.
void Checker::CheckMethodConstraints(const ast::ClassDecl* decl, const core::Scheme& scheme, const ast::Name& method) {
  if (options_.library || options_.repl || HasExtension("ConstrainedClassMethods")) return;
  for (const core::Pred& pred : scheme.preds) {
    llvm::SmallVector<TyVarId> vars;
    types_.FreeVars(pred.type, vars);
    // Those of the class are not among the scheme's.
    if (vars.empty() || llvm::any_of(vars, [&](TyVarId var) { return llvm::is_contained(scheme.tyvars, var); })) continue;
    Error(Diag::NeedsExtension, pred.span, fmt::format("a constraint of the method `{}` on `{}`, the variable of the class,", Text(method.text), Text(decl->param.text)),
          "ConstrainedClassMethods")
        .Hint("write `{-# LANGUAGE ConstrainedClassMethods #-}` in the first line, or make it a superclass");
  }
}

void Checker::CheckClassDefaults(const ast::ClassDecl* decl, ClassId id) {
  for (const ast::Decl* member : decl->members) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
    if (!function) continue;
    const core::Class& cls = program_.classes[id];
    for (size_t i = 0; i < cls.methods.size(); ++i) {
      VarId var = cls.defaults[i];
      if (!var.valid() || program_.vars[var].span != function->name.span) continue;
      core::Scheme scheme = program_.vars[var].scheme;
      ScopedTypes scoped{{types_.vars[cls.param].name, {types_.Var(cls.param), env_.class_kinds[id.index]}}};
      CheckMethod(var, function, nullptr, scheme, scoped, program_.vars[cls.methods[i]].span);
      break;
    }
  }
}

// A method of an instance or a default; `own` is its signature in the instance, if there is one. `head` are the variables
// of the class or of the instance's head, which scope over the method if the module has ScopedTypeVariables, and always
// over `own`. (The other variables of the method's type do not.)
void Checker::CheckMethod(VarId var, const ast::FunctionDecl* decl, const ast::SignatureDecl* own,
                          const core::Scheme& scheme, const ScopedTypes& head, Span from) {
  ++definition_;
  const Symbol name = decl->name.text;
  ScopedTypes scoped;
  if (own || HasExtension("ScopedTypeVariables")) scoped = head;
  core::Expr* value = CheckAgainst(scheme, from, name, scoped, [&](TypeId type, const Reason& why) {
    if (!own) return CheckClauses(name, decl->clauses, decl->name.span, type, why);
    // A local function with this signature, which the method is; its clauses mean the class's method by its name.
    std::unique_ptr<Signature> signature = ConvertSignature(own->type, decl->name.span);
    if (!signature) return ErrorNode(type, decl->name.span);
    VarId local = program_.NewLocal(name, signature->scheme.type, decl->name.span);
    program_.vars[local].scheme = signature->scheme;
    core::Expr* value = CheckAgainst(signature->scheme, signature->type_span, name, signature->scoped,
                                     [&](TypeId its_type, const Reason& its_why) {
                                       return CheckClauses(name, decl->clauses, decl->name.span, its_type, its_why);
                                     });
    core::Expr* use = Use(local, decl->name.span);
    if (!Expect(type, use->type, own->type.span, why)) return ErrorNode(type, decl->name.span);
    return LetNode(local, value, use);
  });
  definitions_.push_back({var, value});
}

bool Checker::HasExtension(std::string_view name) const {
  return llvm::any_of(module_.extensions, [&](Symbol extension) { return Text(extension) == name; });
}

static uint32_t Occurrences(const Types& types, TypeId type, TyVarId var) {
  switch (types.Kind(type)) {
    case TypeKind::Var: return types.VarOf(type) == var;
    case TypeKind::App: return Occurrences(types, types.FnOf(type), var) + Occurrences(types, types.ArgOf(type), var);
    default: return 0;
  }
}

// Whether a context asks for smaller types than the instance's, with no variable more often: then looking for instances
// ends (the Paterson conditions of GHC's manual).
bool Checker::ContextShrinks(const core::Instance& row) {
  for (const core::Pred& pred : row.context) {
    if (types_.SizeOf(pred.type) >= types_.SizeOf(row.head)) return false;
    for (TyVarId var : row.tyvars)
      if (Occurrences(types_, pred.type, var) > Occurrences(types_, row.head, var)) return false;
  }
  return true;
}

// `IntMap` is a synonym in this library, and a type of its own in GHC's.
static bool IsTypeInGhc(const Synonym& synonym, const Env& env) {
  const std::string_view name = Text(synonym.name);
  return env.library_files.count(synonym.span.file.index) && (name == "IntMap" || name == "IntSet" || name == "UArray");
}

// Reads `instance context => cls type`; the head's type constructor, invalid if the head was refused.
TyConId Checker::ConvertInstanceHead(const ast::Name& name, ast::List<ast::Constraint> context, const ast::Type* type,
                                     Span span, core::Instance& row) {
  ClassId cls = FindClass(name);
  if (!cls.valid()) {
    // `instance Foo Show`, the other way round.
    const auto* other = llvm::dyn_cast<ast::ConType>(type);
    const ClassId* meant = other ? scope_->classes.Find(other->name.text, other->name.qualifier) : nullptr;
    const TypeName* of = meant ? LookUpType(name) : nullptr;
    if (of && of->con.valid()) {
      diags_.Hint(fmt::format("the class comes first: `instance {} {}`", Text(other->name.text), Text(name.text)));
      reported_.push_back({*meant, types_.Con(of->con), kNowhere});
    }
    if (ClassId near = NearestClass(name); near.valid()) NoteRefused(near, type);
    return TyConId();
  }
  TypeVarScope scope;
  uint32_t errors = diags_.error_count();
  row.cls = cls;
  row.span = span;
  row.head = ConvertType(type, scope, env_.class_kinds[cls.index]);
  row.tyvars = scope.fresh;
  scope.implicit = false;
  ConvertContext(context, scope, row.context);
  for (const auto& [var, entry] : scope.names) env_.kinds.Default(entry.second);
  if (diags_.error_count() != errors) {
    NoteRefused(cls, type, row.head);
    return TyConId();
  }
  row.grows = !ContextShrinks(row);
  if (row.grows && !options_.repl && !options_.library && !HasExtension("UndecidableInstances"))
    Error(Diag::NeedsExtension, row.context.front().span, "a context that is no smaller than the instance's type",
          "UndecidableInstances")
        .Hint("write `{-# LANGUAGE UndecidableInstances #-}` in the first line");

  llvm::SmallVector<TypeId> args;
  TyConId head = types_.Head(row.head, &args);
  bool plain = true;
  for (size_t i = 0; i < args.size(); ++i) {
    plain &= types_.Kind(args[i]) == TypeKind::Var;
    for (size_t j = 0; j < i; ++j) plain &= args[i] != args[j];
  }
  const ast::Type* named = type;
  while (const auto* app = llvm::dyn_cast<ast::AppType>(named)) named = app->fn;
  const auto* con = llvm::dyn_cast<ast::ConType>(named);
  const TypeName* synonym = con ? LookUpType(con->name) : nullptr;
  if (synonym && synonym->is_synonym()) {
    if (IsTypeInGhc(env_.synonyms[synonym->synonym], env_)) plain = true;
    // (Without both pragmas the type that it stands for is what is refused.)
    else if (!options_.repl && !options_.library && !HasExtension("TypeSynonymInstances") && (plain || HasExtension("FlexibleInstances")))
      Error(Diag::NeedsExtension, type->span, fmt::format("an instance for `{}`, a type synonym,", Text(con->name.text)), "TypeSynonymInstances")
          .Hint("write `{-# LANGUAGE FlexibleInstances #-}` in the first line, which has it too, or name the type that it stands for");
  }
  if (head.valid() && (plain || options_.repl || options_.library || HasExtension("FlexibleInstances"))) return head;
  Diagnostics& diag = Error(Diag::InstanceHead, type->span, diags_.sources().Text(type->span));
  if (head.valid())
    diag.Hint("an instance is of a type constructor with different variables: `Maybe a`, `[a]`, `(a, b)`; for one of a "
              "particular type write `{-# LANGUAGE FlexibleInstances #-}` in the first line");
  else
    diag.Hint("an instance is of a type constructor: `Maybe a`, `[a]`, `(a, b)`");
  NoteRefused(cls, type, row.head);
  return TyConId();
}

void Checker::DeclareInstance(const ast::InstanceDecl* decl) {
  core::Instance row;
  TyConId head = ConvertInstanceHead(decl->cls, decl->context, decl->type, decl->span, row);
  if (head.valid()) RegisterInstance(std::move(row), head, decl);
}

// That the type has no such instance is not said again. `head` is what the type means, if it is known: that of a synonym is another one's.
void Checker::NoteRefused(ClassId cls, const ast::Type* type, TypeId head) {
  if (TypeId top = head.valid() ? unify_.Head(head) : TypeId(); top.valid() && types_.Kind(top) == TypeKind::Con)
    return void(reported_.push_back({cls, top, kNowhere}));
  while (const auto* app = llvm::dyn_cast<ast::AppType>(type)) type = app->fn;
  if (llvm::isa<ast::FunType>(type)) reported_.push_back({cls, types_.Con(types_.Known(Builtin::Function)), kNowhere});
  if (llvm::isa<ast::ListType>(type)) reported_.push_back({cls, types_.Con(types_.Known(Builtin::List)), kNowhere});
  const auto* con = llvm::dyn_cast<ast::ConType>(type);
  const TypeName* named = con ? LookUpType(con->name) : nullptr;
  if (named && named->con.valid()) reported_.push_back({cls, types_.Con(named->con), kNowhere});
}

// Enters the instance and a variable for each of its methods; their definitions are checked later.
InstanceId Checker::RegisterInstance(core::Instance row, TyConId head, const ast::InstanceDecl* decl) {
  row.from_library = options_.library;
  const ClassId cls = row.cls;
  for (InstanceId other : env_.instances[{cls.index, head.index}]) {
    llvm::SmallVector<TypeId> mine(row.tyvars.size()), theirs(program_.instances[other].tyvars.size());
    if (Fits(row.head, program_.instances[other].head, row.tyvars, mine) != Fit::Yes ||
        Fits(program_.instances[other].head, row.head, program_.instances[other].tyvars, theirs) != Fit::Yes)
      continue;
    // At the prompt what is entered again replaces what was entered before.
    if (options_.repl && !module_.name.text.valid() && !program_.instances[other].from_library && !llvm::is_contained(registered_, other)) {
      ForgetInstance(other);
      replaced_.push_back(other);
      break;
    }
    Diagnostics& diag = Error(Diag::DuplicateInstance, decl->span, PrintPred(cls, PrintType(row.head), row.head));
    Span shown = Shown(program_.instances[other].span);
    if (program_.instances[other].span.valid())
      diag.Note(shown, shown.valid() ? "the other one is here" : "the other one is the library's");
    return InstanceId();
  }
  row.methods.resize(program_.classes[cls].methods.size());
  InstanceId id = program_.instances.Add(std::move(row));
  env_.instances[{cls.index, head.index}].push_back(id);
  registered_.push_back(id);
  instances_.push_back({decl, id});
  for (const ast::Decl* member : decl->members) {
    if (const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(member))
      for (const ast::Name& name : signature->names)
        if (llvm::none_of(decl->members, [&](const ast::Decl* other) {
              const auto* function = llvm::dyn_cast<ast::FunctionDecl>(other);
              return function && function->name.text == name.text;
            }))
          Error(Diag::SignatureWithoutBinding, name.span, Text(name.text));
    if (llvm::isa<ast::FixityDecl>(member)) Error(Diag::NotAllowedHere, member->span, "a fixity declaration", "an instance");
    if (llvm::isa<ast::SignatureDecl>(member) || llvm::isa<ast::FixityDecl>(member)) continue;
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
    if (!function) {
      Diagnostics& diag = Error(Diag::PatternInClass, member->span);
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
    const std::vector<VarId>& methods = program_.classes[cls].methods;
    size_t index = 0;
    while (index < methods.size() && program_.vars[methods[index]].name != function->name.text) ++index;
    if (index == methods.size()) {
      std::vector<std::string_view> names;
      for (VarId method : methods) names.push_back(Text(program_.vars[method].name));
      Diagnostics& diag =
          Error(Diag::NotAMethod, function->name.span, Text(function->name.text), Text(decl->cls.text));
      std::string_view near = NearestName(Text(function->name.text), names);
      if (Span declared = Shown(program_.classes[cls].span); declared.valid())
        diag.Note(declared, "the class is declared here");
      if (!near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
      continue;
    }
    // At the prompt what was imported before counts as well; a derived instance knows its methods by itself.
    if (!options_.library && !options_.repl && llvm::is_contained(module_.decls, decl) && !IsInScopeAnyhow(methods[index])) {
      Error(Diag::MethodNotInScope, function->name.span, Text(function->name.text), Text(decl->cls.text));
      HintAtMembers(program_.vars[methods[index]].name, decl->cls);
    }
    if (program_.instances[id].methods[index].valid()) {
      Error(Diag::DuplicateDefinition, function->name.span, Text(function->name.text))
          .Note(program_.vars[program_.instances[id].methods[index]].span, "it is defined here first");
      continue;
    }
    program_.instances[id].methods[index] =
        NewVar(function->name.text, unify_.Fresh(), true, function->name.span);
  }
  return id;
}

void Checker::ForgetInstance(InstanceId id) {
  auto it = env_.instances.find({program_.instances[id].cls.index, types_.Head(program_.instances[id].head).index});
  it->second.erase(llvm::find(it->second, id));
  if (it->second.empty()) env_.instances.erase(it);
}

// The scheme of the class's method at this instance: the instance's variables, then the method's own.
static core::Scheme MethodAt(core::Program& program, const core::Instance& instance, const core::Var& method,
                             TyVarId param) {
  core::Scheme scheme;
  scheme.tyvars = instance.tyvars;
  scheme.tyvars.insert(scheme.tyvars.end(), method.scheme.tyvars.begin() + 1, method.scheme.tyvars.end());
  scheme.type = program.types.Substitute(method.scheme.type, {param}, {instance.head});
  scheme.preds = instance.context;
  for (size_t i = 1; i < method.scheme.preds.size(); ++i) {
    core::Pred pred = method.scheme.preds[i];
    pred.type = program.types.Substitute(pred.type, {param}, {instance.head});
    scheme.preds.push_back(pred);
  }
  return scheme;
}

// The signature of a method that an instance repeats (InstanceSigs).
static const ast::SignatureDecl* SignatureIn(const ast::InstanceDecl* decl, Symbol method) {
  for (const ast::Decl* member : decl->members)
    if (const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(member))
      for (const ast::Name& name : signature->names)
        if (name.text == method) return signature;
  return nullptr;
}

// The variables of an instance's head with their kinds.
ScopedTypes Checker::HeadVariables(const core::Instance& instance) {
  ScopedTypes out;
  CollectVariables(instance.head, out);
  return out;
}

void Checker::CollectVariables(TypeId type, ScopedTypes& out) {
  llvm::SmallVector<TypeId> args;
  TyConId head = types_.Head(type, &args);
  if (!head.valid()) return;
  KindId kind = env_.KindOf(head), of;
  for (TypeId arg : args) {
    if (!env_.kinds.IsArrow(kind, &of, &kind)) break;
    if (types_.Kind(arg) != TypeKind::Var) CollectVariables(arg, out);
    else out.push_back({types_.vars[types_.VarOf(arg)].name, {arg, of}});
  }
}

void Checker::CheckInstanceMethods(const ast::InstanceDecl* decl, InstanceId id) {
  const ClassId cls = program_.instances[id].cls;
  const TyVarId param = program_.classes[cls].param;
  instance_type_ = types_.Head(program_.instances[id].head);
  Span head_span = decl->type ? decl->type->span : decl->span;
  CheckSuperclasses(id, head_span, {Origin::Instance, head_span, decl->cls.text});
  const std::vector<VarId> given = program_.instances[id].methods;
  for (size_t i = 0; i < program_.classes[cls].methods.size(); ++i) {
    VarId method = program_.classes[cls].methods[i];
    VarId var = program_.instances[id].methods[i];
    core::Scheme scheme = MethodAt(program_, program_.instances[id], program_.vars[method], param);
    if (var.valid()) {
      program_.vars[var].scheme = scheme;
      for (const ast::Decl* member : decl->members) {
        const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
        if (!function || function->name.text != program_.vars[method].name ||
            program_.vars[var].span != function->name.span)
          continue;
        CheckMethod(var, function, SignatureIn(decl, function->name.text), scheme, HeadVariables(program_.instances[id]),
                    program_.vars[method].span);
        break;
      }
    } else if (!program_.classes[cls].defaults[i].valid()) {
      // Neither defined nor defaulted: an error when it is called, as in Haskell.
      VarId absent = NewVar(program_.vars[method].name, scheme.type, true, head_span);
      program_.vars[absent].scheme = scheme;
      program_.instances[id].methods[i] = absent;
      core::FailExpr fail{};
      fail.type = scheme.type;
      fail.span = head_span;
      fail.message = Intern(
          fmt::format("this instance does not define the method `{}`", Text(program_.vars[method].name)));
      definitions_.push_back({absent, Node(fail)});
    }
  }
  // A method of another name is reported already: that is the one that is missing.
  bool misnamed = llvm::any_of(decl->members, [&](const ast::Decl* member) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(member);
    return function && llvm::none_of(program_.classes[cls].methods, [&](VarId method) {
             return program_.vars[method].name == function->name.text;
           });
  });
  if (misnamed || !options_.warnings || options_.library) return;
  WarnOfMissingMethods(id, given, head_span);
}

bool Checker::CheckSuperclasses(InstanceId id, Span span, const Origin& origin) {
  size_t given_mark = givens_.size();
  const core::Instance instance = program_.instances[id];
  for (const core::Pred& pred : instance.context) PushGiven(pred.cls, pred.type);
  bool ok = true;
  for (ClassId super : program_.classes[instance.cls].superclasses) {
    std::vector<Wanted> stuck;
    Wanted missing;
    if (Solve({super, instance.head, origin}, stuck, &missing) != Solved::No) continue;
    ok = false;
    if (IsRefused(super, instance.head)) continue;
    std::string head = PrintType(instance.head);
    std::string own = PrintPred(instance.cls, head, instance.head), wanted = PrintPred(super, head, instance.head);
    if (missing.type != instance.head) {
      // It is there, and asks for more.
      std::string part = PrintPred(missing.cls, PrintType(missing.type), missing.type);
      Error(Diag::MissingConstraint, span, fmt::format("`{}`", own), part, "its context")
          .Note(Span(), fmt::format("it needs `{}`, and that needs it", wanted));
      diags_.Hint(fmt::format("add the context to the instance: `instance {} => {} where ..`", part, own));
      continue;
    }
    Error(Diag::MissingSuperclass, span, own, wanted)
        .Note(Shown(program_.classes[instance.cls].span),
              fmt::format("every instance of `{}` is one of `{}`", Text(program_.classes[instance.cls].name),
                          Text(program_.classes[super].name)));
    // What the other instance has to define.
    std::vector<std::string> methods;
    for (size_t i = 0; i < program_.classes[super].methods.size(); ++i)
      if (!program_.classes[super].defaults[i].valid())
        methods.push_back(fmt::format("`{}`", Text(program_.vars[program_.classes[super].methods[i]].name)));
    // `<*>` has a default by `liftA2`, and that one by `<*>`.
    if (Text(program_.classes[super].name) == "Applicative") methods.push_back("`<*>`");
    std::string_view name = Text(program_.classes[super].name);
    if (name == "Eq" || name == "Ord" || name == "Show")
      diags_.Hint(fmt::format("add `deriving {}` to the type's declaration, or `instance {} where ..`", name, wanted));
    else diags_.Hint(fmt::format("add `instance {} where ..`{}", wanted,
                            methods.empty() ? "" : fmt::format(", which defines {}", fmt::join(methods, " and "))));
  }
  givens_.resize(given_mark);
  return ok;
}

}  // namespace df::check
