// Binding groups: dependency order, signatures, generalisation, pattern bindings.
//
// All variables of a group are generalised over the same type variables (as Haskell 2010 has it), so that
// inside the group every use of a member is at exactly these; a binder of `(a, b) = e` is a selection from
// the value of e.
#include "lang/components.h"
#include "typecheck/checker.h"
#include "typecheck/infer/deps.h"

namespace df::check {
namespace {

// Types double with every `(x, x)`, and a few lines can write one that fills the memory.
constexpr uint32_t kMaxTypeSize = 100000;

}  // namespace

VarId Checker::NewVar(Symbol name, TypeId type, bool top, Span span) {
  VarId id = program_.NewLocal(name, type, span);
  core::Var& var = program_.vars[id];
  var.from_library = options_.library;
  if (top) var.kind = core::VarKind::Top;
  return id;
}

core::Expr* Checker::CheckLet(llvm::ArrayRef<ast::Decl*> decls, Span span,
                              llvm::function_ref<core::Expr*()> body) {
  size_t mark = LocalMark();
  std::vector<BoundGroup> groups = CheckDecls(decls, false);
  core::Expr* result = body();
  UnbindTo(mark);
  for (size_t i = groups.size(); i-- > 0;) {
    const BoundGroup& group = groups[i];
    for (size_t s = group.strict.size(); s-- > 0;) {
      const auto& [var, pat] = group.strict[s];
      core::Row row{program_.Copy<const core::Pat*>({pat}), result, pat->span};
      result = MatchNode(core::MatchContext::PatternBinding, Symbol(), {var}, {row}, result->type, span);
    }
    core::LetExpr node{};
    node.type = result->type;
    node.span = span;
    node.recursive = group.recursive;
    node.bindings = program_.Copy<core::Binding>(group.bindings);
    node.body = result;
    result = Node(node);
  }
  return result;
}

// Signatures first, then the binders of every definition; all of them come into scope.
void Checker::CollectBindings(llvm::ArrayRef<ast::Decl*> decls, bool top, std::vector<Binding>& bindings) {
  llvm::DenseMap<uint32_t, Signature*> signatures;
  llvm::DenseMap<uint32_t, Span> signed_names;
  llvm::DenseSet<uint32_t> unreadable;  // what has such a signature may have been meant to have any type
  llvm::DenseMap<uint32_t, Span> seen;
  std::vector<std::pair<ast::Name, Signature*>> in_order;
  for (const ast::Decl* decl : decls) {
    const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(decl);
    if (!signature) continue;
    for (const ast::Name& name : signature->names) {
      auto [it, fresh] = signed_names.try_emplace(name.text.index, name.span);
      if (!fresh) {
        Error(Diag::DuplicateSignature, name.span, Text(name.text)).Note(it->second, "the first one is here");
        continue;
      }
      std::unique_ptr<Signature> made = ConvertSignature(signature->type, name.span);
      if (!made) {
        unreadable.insert(name.text.index);
        continue;
      }
      signatures[name.text.index] = made.get();
      in_order.push_back({name, made.get()});
      signatures_.push_back(std::move(made));
    }
  }
  auto declare = [&](Symbol name, Span span, bool equation = false) {
    auto [it, fresh] = seen.try_emplace(name.index, span);
    if (!fresh) {
      Diagnostics& diag = Error(Diag::DuplicateDefinition, span, Text(name)).Note(it->second, "it is defined here first");
      if (equation) diag.Hint("the equations of a function stand one after the other, with nothing between them");
      return VarId();
    }
    if (top)
      if (auto other = exports_.values.find(name); other != exports_.values.end()) {
        Error(Diag::DuplicateDefinition, span, Text(name))
            .Note(program_.vars[other->second].span, "it is defined here first");
        return VarId();
      }
    VarId var = NewVar(name, unify_.Fresh(), top, span);
    if (unreadable.count(name.index)) broken_.insert(var.index);
    if (top) {
      scope_->values.Add(name, var);
      if (module_.name.text.valid()) scope_->values.Add(name, var, module_.name.text);
      exports_.values[name] = var;
      top_binders_.push_back(var);
    } else {
      BindLocal(name, var);
    }
    return var;
  };
  for (const ast::Decl* decl : decls) {
    Binding binding;
    if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) {
      VarId var = declare(function->name.text, function->name.span, !function->clauses[0].params.empty());
      if (!var.valid()) continue;
      binding.function = function;
      binding.binders = {var};
      if (auto it = signatures.find(function->name.text.index); it != signatures.end()) {
        binding.signature = it->second;
        binding.signature->used = true;
        program_.vars[var].scheme = it->second->scheme;
        signature_of_[var.index] = it->second;
      }
    } else if (const auto* pattern = llvm::dyn_cast<ast::PatBindDecl>(decl)) {
      std::vector<std::pair<Symbol, Span>> names;
      PatternNames(pattern->pat, names);
      binding.pattern = pattern;
      for (const auto& [name, span] : names) {
        VarId var = declare(name, span);
        binding.binders.push_back(var);
        if (!var.valid()) continue;
        if (auto it = signatures.find(name.index); it != signatures.end()) {
          it->second->used = true;
          signature_of_[var.index] = it->second;
          if (!it->second->scheme.tyvars.empty())
            Error(Diag::PolymorphicPatternSignature, it->second->type_span, Text(name))
                .Note(span, "it is bound by a pattern");
        }
      }
      binding.tuple = NewVar(Intern("pattern"), unify_.Fresh(), top, pattern->pat->span);
    } else if (const auto* foreign = llvm::dyn_cast<ast::ForeignDecl>(decl); foreign && top) {
      if (!options_.library) {
        Error(Diag::ForeignOutsideLibrary, foreign->span);
        continue;
      }
      VarId var = declare(foreign->name.text, foreign->name.span);
      if (!var.valid()) continue;
      std::unique_ptr<Signature> signature = ConvertSignature(foreign->type, foreign->name.span);
      if (!signature) continue;
      program_.vars[var].scheme = signature->scheme;
      program_.vars[var].kind = core::VarKind::Primitive;
      program_.vars[var].prim = foreign->op;
      continue;
    } else {
      continue;
    }
    bindings.push_back(std::move(binding));
  }
  for (const ast::Decl* decl : decls) {
    const auto* fixity = llvm::dyn_cast<ast::FixityDecl>(decl);
    if (!fixity || options_.repl) continue;
    for (const ast::Name& op : fixity->ops)
      if (!seen.count(op.text.index) &&
          !(top && (exports_.values.count(op.text) || exports_.constructors.count(op.text))))
        Error(Diag::FixityWithoutBinding, op.span, Text(op.text));
  }
  for (const auto& [name, signature] : in_order) {
    if (signature->used) continue;
    std::vector<std::string_view> names;
    for (const auto& [symbol, span] : seen) names.push_back(Text(Symbol(symbol)));
    std::sort(names.begin(), names.end());
    Diagnostics& diag = Error(Diag::SignatureWithoutBinding, name.span, Text(name.text));
    std::string_view near = NearestName(Text(name.text), names);
    if (!near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
    if (top) {
      // Its uses have the promised type: no follow-ups.
      VarId var = NewVar(name.text, signature->scheme.type, true, name.span);
      program_.vars[var].scheme = signature->scheme;
      scope_->values.Add(name.text, var);
    }
  }
}

std::vector<BoundGroup> Checker::CheckDecls(llvm::ArrayRef<ast::Decl*> decls, bool top) {
  std::vector<Binding> bindings;
  CollectBindings(decls, top, bindings);
  Targets targets;
  for (uint32_t i = 0; i < bindings.size(); ++i)
    for (VarId var : bindings[i].binders)
      if (var.valid()) targets[program_.vars[var].name.index] = i;
  std::vector<std::vector<uint32_t>> edges(bindings.size());
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    const ast::Decl* decl = bindings[i].function ? static_cast<const ast::Decl*>(bindings[i].function)
                                                 : static_cast<const ast::Decl*>(bindings[i].pattern);
    edges[i] = bindings[i].uses = CollectUses(decl, targets, top ? OwnQualifier() : Symbol());
  }
  std::vector<BoundGroup> groups;
  for (const std::vector<uint32_t>& component : Components(edges)) {
    BoundGroup group;
    if (top) ++definition_;
    group.recursive = component.size() > 1 ||
                      std::find(edges[component[0]].begin(), edges[component[0]].end(), component[0]) !=
                          edges[component[0]].end();
    if (component.size() == 1) {
      Binding& only = bindings[component[0]];
      if (only.signature) CheckSigned(only, group);
      else InferGroup({&only}, top, group);
    } else {
      // What has a signature does not tie its users together: the rest falls into smaller groups.
      llvm::DenseMap<uint32_t, uint32_t> local;
      for (uint32_t i = 0; i < component.size(); ++i) local[component[i]] = i;
      std::vector<std::vector<uint32_t>> inner(component.size());
      for (uint32_t i = 0; i < component.size(); ++i)
        for (uint32_t use : edges[component[i]])
          if (auto it = local.find(use); it != local.end() && !bindings[use].signature)
            inner[i].push_back(it->second);
      for (const std::vector<uint32_t>& part : Components(inner)) {
        std::vector<Binding*> members;
        for (uint32_t i : part) members.push_back(&bindings[component[i]]);
        if (members.size() == 1 && members[0]->signature) {
          CheckSigned(*members[0], group);
        } else {
          InferGroup(members, top, group);
        }
      }
    }
    if (!group.recursive) {
      // A pattern's value, then its selectors: none of them refers to itself.
      for (const core::Binding& binding : group.bindings) {
        BoundGroup single;
        single.bindings = {binding};
        if (&binding == &group.bindings[0]) single.strict = group.strict;
        groups.push_back(std::move(single));
      }
      continue;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// What is run: `main`, or the prompt's `it`. It is run at one type, which defaulting settles.
bool Checker::IsEntry(const Binding& binding, bool top) const {
  if (!top || options_.library || !options_.restricted || !binding.function) return false;
  Symbol entry = options_.entry.valid() ? options_.entry : Intern(options_.repl ? "it" : "main");
  return binding.function->name.text == entry;
}

bool Checker::IsAction(TypeId type) const {
  TypeId head = unify_.Head(type);
  return types_.Kind(head) == TypeKind::Con && types_.cons[types_.ConOf(head)].builtin == Builtin::IO;
}

// An entry like `return ()`, in a monad that nothing settles, is an action, as GHC has it of every main.
void Checker::PreferAction(TypeId type, size_t wanted_mark) {
  type = unify_.Prune(type);
  for (TypeId from, to; unify_.IsFun(type, &from, &to);) type = unify_.Prune(to);
  // `printf ".."`: nothing is known of its type but that an action is one.
  const bool whole = types_.Kind(type) == TypeKind::Meta;
  if (!whole && types_.Kind(type) != TypeKind::App) return;
  TypeId monad = whole ? type : unify_.Prune(types_.FnOf(type));
  if (types_.Kind(monad) != TypeKind::Meta) return;
  if (whole) SolveFrom(wanted_mark);  // of a function's constraints only those on its result are left
  TyConId io = types_.Known(Builtin::IO);
  bool asked = false;
  for (size_t i = wanted_mark; i < wanted_.size(); ++i) {
    if (unify_.Prune(wanted_[i].type) != monad) continue;
    if (!env_.instances.count({wanted_[i].cls.index, io.index})) return;
    asked = true;
  }
  if (!asked) return;
  unify_.Solve(types_.MetaOf(monad), whole ? types_.Con(io, {types_.Scalar(Builtin::Unit)}) : types_.Con(io));
}

void Checker::InferGroup(llvm::ArrayRef<Binding*> group, bool top, BoundGroup& out) {
  uint32_t errors_before = Failures();
  size_t wanted_mark = wanted_.size();
  bool restricted = false, entry = false;
  const bool monomorphic = !HasExtension("NoMonomorphismRestriction");
  std::vector<VarId> members;
  const size_t holes = stack_holes_.size();
  if (!top) ++local_groups_;
  ++unify_.level;
  for (Binding* binding : group) {
    restricted |= monomorphic && (binding->pattern || binding->function->clauses[0].params.empty());
    if (binding->pattern) members.push_back(binding->tuple);
    if (IsEntry(*binding, top)) restricted = entry = true;
    for (VarId var : binding->binders)
      if (var.valid()) members.push_back(var);
  }
  Span members_span = group[0]->function ? group[0]->function->clauses[0].rhs.span : group[0]->span();
  for (VarId var : members) {
    program_.vars[var].scheme.type = unify_.Fresh();
    group_uses_[var.index];
    auto signature = signature_of_.find(var.index);
    if (signature != signature_of_.end() && signature->second->scheme.tyvars.empty())
      program_.vars[var].scheme.type = signature->second->scheme.type;
  }
  for (Binding* binding : group) {
    if (binding->pattern) {
      InferPatternBinding(*binding, top, out);
      continue;
    }
    const ast::FunctionDecl* function = binding->function;
    VarId var = binding->binders[0];
    core::Expr* value = CheckClauses(function->name.text, function->clauses, function->name.span,
                                     program_.vars[var].scheme.type, Reason{});
    out.bindings.push_back({var, value});
    if (strict_ && !top && function->clauses[0].params.empty()) ForceVariable(var, function->name.span, out);
  }
  // Of what a signature would settle that could not be read nothing is missing.
  for (VarId var : members)
    if (broken_.count(var.index)) unify_.MarkAny(program_.vars[var].scheme.type);
  SettleStackUses(holes, [&](const StackHole& hole) { return top || !(restricted || IsOpenStackUse(hole, holes)); });
  --unify_.level;
  if (!top) --local_groups_;
  LowerStackUses(holes);
  const bool pattern = llvm::any_of(group, [](const Binding* binding) { return binding->pattern != nullptr; });
  restricted &= options_.restricted && !(options_.generalises && top && !pattern);
  if (!out.strict.empty() || entry)
    for (VarId var : members) unify_.Lower(program_.vars[var].scheme.type, unify_.level);
  if (entry) PreferAction(program_.vars[members[0]].scheme.type, wanted_mark);
  if (entry && options_.repl && Failures() == errors_before &&
      !IsAction(program_.vars[members[0]].scheme.type))
    Require(KnownClass("Show"), program_.vars[members[0]].scheme.type, {Origin::Printing, members_span});
  // What is defined at a prompt is used by later lines, which have nothing to say here.
  const bool free = (!restricted && !pattern) || (top && options_.repl);
  const Sizes sizes = free ? Sizes::Free : top ? Sizes::FreeUnlessSums : Sizes::Shared;
  Generalise(members, restricted, sizes, wanted_mark, errors_before);
}

// p = e: the value of e, and for each variable of p its selection from that value.
void Checker::InferPatternBinding(Binding& binding, bool top, BoundGroup& out) {
  const ast::Pat* pat = binding.pattern->pat;
  TypeId type = program_.vars[binding.tuple].scheme.type;
  std::vector<Bound> bound;
  if (const auto* con = llvm::dyn_cast<ast::ConPat>(pat); con && !FindConstructor(con->name, false).valid() &&
                                                          !con->name.qualifier.valid() && !con->args.empty()) {
    // `Add x y = x + y`: meant as a function.
    std::string small(Text(con->name.text));
    small[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(small[0])));
    if (std::isalpha(static_cast<unsigned char>(small[0]))) {
      Error(Diag::UnboundConstructor, con->name.span, Text(con->name.text))
          .Hint(fmt::format("the name of a function begins with a small letter: `{}`", small));
      meant_as_functions_.insert(con->name.text.index);
      return;
    }
  }
  const core::Pat* made = CheckPat(pat, type, Reason{}, bound);
  bool strict = made->kind == core::PatKind::Bang;
  if (strict) made = made->args[0];
  if (strict_ && !top && made->kind != core::PatKind::Lazy) strict = true;
  // By name: a record's fields may stand in another order than that of the declaration, which is the one of `bound`.
  llvm::DenseMap<uint32_t, VarId> declared;
  for (VarId var : binding.binders)
    if (var.valid()) declared[program_.vars[var].name.index] = var;
  std::vector<VarId> outer;
  for (const Bound& binder : bound) {
    // A name that stands twice was declared once.
    VarId var;
    if (auto it = declared.find(binder.name.index); it != declared.end()) {
      var = it->second;
      declared.erase(it);
    }
    outer.push_back(var);
    if (!var.valid()) continue;
    UnifyResult result = unify_.Unify(program_.vars[var].scheme.type, program_.vars[binder.var].scheme.type);
    if (!result.ok()) {
      auto signature = signature_of_.find(var.index);
      Reason why{Reason::Signature, signature != signature_of_.end() ? signature->second->type_span : Span(),
                 binder.name};
      ReportMismatch(result, program_.vars[var].scheme.type, program_.vars[binder.var].scheme.type,
                     binder.span, why);
    }
  }
  core::Expr* value = CheckRhs(binding.pattern->rhs, type, {Reason::PatternValue, pat->span});
  bool plain = binding.pattern->rhs.guarded.size() == 1 && binding.pattern->rhs.guarded[0].guards.empty();
  if (!plain) {
    core::Row row{{}, value, pat->span};
    value = MatchNode(core::MatchContext::PatternBinding, Symbol(), {}, {row}, type, pat->span);
  }
  out.bindings.push_back({binding.tuple, value});
  auto use_tuple = [&] {
    core::VarExpr* use = llvm::cast<core::VarExpr>(VarNode(binding.tuple, pat->span));
    group_uses_[binding.tuple.index].push_back(use);
    return use;
  };
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!outer[i].valid()) continue;
    TypeId field = program_.vars[outer[i]].scheme.type;
    VarId inner = program_.NewLocal(bound[i].name, field, bound[i].span);
    VarId scrutinee = program_.NewLocal(Intern("whole"), type, pat->span);
    core::Row row{program_.Copy<const core::Pat*>({Project(made, bound[i].var, inner)}),
                  VarNode(inner, bound[i].span), pat->span};
    core::Expr* match =
        MatchNode(core::MatchContext::PatternBinding, bound[i].name, {scrutinee}, {row}, field, pat->span);
    out.bindings.push_back({outer[i], LetNode(scrutinee, use_tuple(), match)});
  }
  if (strict) out.strict.push_back({binding.tuple, BangPat(Project(made, VarId(), VarId()))});
}

void Checker::CheckSigned(Binding& binding, BoundGroup& out) {
  const ast::FunctionDecl* function = binding.function;
  VarId var = binding.binders[0];
  const Signature& signature = *binding.signature;
  core::Expr* value = CheckAgainst(signature.scheme, signature.type_span, function->name.text,
                                   signature.scoped, [&](TypeId type, const Reason& why) {
                                     return CheckClauses(function->name.text, function->clauses,
                                                         function->name.span, type, why);
                                   });
  out.bindings.push_back({var, value});
  if (strict_ && program_.vars[var].kind == core::VarKind::Local && function->clauses[0].params.empty() &&
      signature.scheme.tyvars.empty())
    ForceVariable(var, function->name.span, out);
}

// Under `Strict` a local variable is evaluated where it is bound.
void Checker::ForceVariable(VarId var, Span span, BoundGroup& out) {
  core::Pat any{};
  any.kind = core::PatKind::Wildcard;
  any.type = program_.vars[var].scheme.type;
  any.span = span;
  out.strict.push_back({var, BangPat(MakePat(any))});
}

core::Expr* Checker::CheckAgainst(const core::Scheme& scheme, Span from, Symbol name,
                                  const ScopedTypes& scoped,
                                  llvm::function_ref<core::Expr*(TypeId, const Reason&)> body) {
  size_t wanted_mark = wanted_.size(), given_mark = givens_.size(), scoped_mark = scoped_types_.size();
  const size_t holes = stack_holes_.size();
  ++unify_.level;
  for (TyVarId var : scheme.tyvars) unify_.SetRigid(var, unify_.level);
  scoped_types_.insert(scoped_types_.end(), scoped.begin(), scoped.end());
  for (const core::Pred& pred : scheme.preds) PushGiven(pred.cls, pred.type);
  llvm::SmallVector<TypeId> params;
  surroundings_.push_back(types_.SplitFun(scheme.type, params));
  core::Expr* value = body(scheme.type, {Reason::Signature, from, name});
  surroundings_.pop_back();
  // What the surroundings cannot settle is settled here.
  SettleStackUses(holes, [&](const StackHole& hole) {
    llvm::SmallVector<MetaId> open;
    llvm::SmallVector<TyVarId> rigid;
    unify_.FreeMetas(hole.monad, open);
    types_.FreeVars(unify_.Zonk(hole.node->type), rigid);
    return llvm::any_of(open, [&](MetaId meta) { return unify_.LevelOf(meta) >= unify_.level; }) ||
           llvm::any_of(rigid, [&](TyVarId var) { return llvm::is_contained(scheme.tyvars, var); });
  });
  --unify_.level;
  // What still depends on variables of this body alone can only be settled by defaulting; the rest is the
  // surroundings' business.
  RetryTangents(Guess::Ours);
  DefaultAll(wanted_mark, true, unify_.level + 1);
  givens_.resize(given_mark);
  scoped_types_.resize(scoped_mark);
  return value;
}

Symbol Checker::FreshTyVarName(llvm::DenseSet<uint32_t>& taken) {
  for (uint32_t i = 0;; ++i) {
    std::string name(1, static_cast<char>('a' + i % 26));
    if (i >= 26) name += std::to_string(i / 26);
    Symbol symbol = Intern(name);
    if (taken.insert(symbol.index).second) return symbol;
  }
}

// What the type of a variable would be without the monomorphism restriction, for messages about its uses.
void Checker::RememberRestricted(llvm::ArrayRef<VarId> members, size_t wanted_mark) {
  for (VarId var : members) {
    llvm::SmallVector<MetaId> own;
    unify_.FreeMetas(program_.vars[var].scheme.type, own);
    if (own.empty()) continue;
    std::vector<TypeId> types{program_.vars[var].scheme.type};
    std::vector<ClassId> classes;
    for (size_t i = wanted_mark; i < wanted_.size(); ++i) {
      TypeId type = unify_.Prune(wanted_[i].type);
      if (types_.Kind(type) != TypeKind::Meta || std::find(own.begin(), own.end(), types_.MetaOf(type)) == own.end())
        continue;
      types.push_back(type);
      classes.push_back(wanted_[i].cls);
    }
    if (classes.empty()) continue;
    std::vector<std::string> text = PrintTypes(types), preds;
    for (size_t i = 0; i < classes.size(); ++i) preds.push_back(PrintPred(classes[i], text[i + 1], types[i + 1]));
    restricted_[var.index] = preds.size() == 1 ? fmt::format("{} => {}", preds[0], text[0])
                                               : fmt::format("({}) => {}", fmt::join(preds, ", "), text[0]);
  }
}

void Checker::Generalise(llvm::ArrayRef<VarId> members, bool restricted, Sizes sizes, size_t wanted_mark,
                         uint32_t errors_before) {
  SolveFrom(wanted_mark);
  RetryTangents(Guess::Ours);
  bool failed = Failures() != errors_before;
  if (restricted)
    for (size_t i = wanted_mark; i < wanted_.size(); ++i) unify_.Lower(wanted_[i].type, unify_.level);
  llvm::SmallVector<MetaId> metas;
  for (VarId var : members) {
    TypeId type = program_.vars[var].scheme.type = unify_.Zonk(program_.vars[var].scheme.type);
    if (types_.SizeOf(type) > kMaxTypeSize) {
      Error(Diag::TypeTooLarge, program_.vars[var].span, Text(program_.vars[var].name), kMaxTypeSize);
      program_.vars[var].scheme.type = unify_.Fresh();
      failed = true;
      continue;
    }
    if (sizes != Sizes::Free) ShareSizes(type, sizes);
    llvm::SmallVector<MetaId> found;
    unify_.FreeMetas(type, found);
    for (MetaId meta : found)
      if (unify_.LevelOf(meta) > unify_.level && std::find(metas.begin(), metas.end(), meta) == metas.end())
        metas.push_back(meta);
  }
  llvm::erase_if(metas, [&](MetaId meta) { return unify_.LevelOf(meta) <= unify_.level; });  // shared by a later member
  if (!unify_.open_dims.empty()) ReportOpenDims(&metas);
  std::vector<Wanted> retained;
  if (!restricted) {
    // Constraints on generalised variables go into the scheme; those on variables of nobody are defaulted.
    auto split = [&] {
      std::vector<Wanted> rest;
      for (size_t i = wanted_mark; i < wanted_.size(); ++i) {
        llvm::SmallVector<MetaId> found;
        unify_.FreeMetas(wanted_[i].type, found);
        bool ours = !found.empty();
        for (MetaId meta : found)
          ours &= std::find(metas.begin(), metas.end(), meta) != metas.end() ||
                  unify_.LevelOf(meta) <= unify_.level;
        bool outer = std::all_of(found.begin(), found.end(),
                                 [&](MetaId meta) { return unify_.LevelOf(meta) <= unify_.level; });
        if (ours && !outer) retained.push_back(wanted_[i]);
        else rest.push_back(wanted_[i]);
      }
      wanted_.resize(wanted_mark);
      wanted_.insert(wanted_.end(), rest.begin(), rest.end());
    };
    split();
    DefaultAll(wanted_mark, !failed, unify_.level + 1);
    failed |= Failures() != errors_before;
    MinimalPreds(retained);
  }
  if (restricted && !options_.library) RememberRestricted(members, wanted_mark);
  llvm::DenseSet<uint32_t> taken;
  for (const auto& [name, entry] : scoped_types_) taken.insert(name.index);
  std::vector<TyVarId> tyvars;
  llvm::SmallVector<TypeId> as_types;
  for (MetaId meta : metas) {
    TyVarId var = types_.NewVar(FreshTyVarName(taken));
    tyvars.push_back(var);
    as_types.push_back(types_.Var(var));
    unify_.Solve(meta, as_types.back());
  }
  std::vector<core::Pred> preds;
  for (const Wanted& wanted : retained)
    preds.push_back({wanted.cls, unify_.Zonk(wanted.type), wanted.origin.span});
  auto type_args = program_.Copy<TypeId>(as_types);
  for (VarId var : members) {
    core::Scheme& scheme = program_.vars[var].scheme;
    scheme.tyvars = tyvars;
    scheme.preds = preds;
    scheme.type = unify_.Zonk(scheme.type);
    for (core::VarExpr* use : group_uses_[var.index]) use->type_args = type_args;
    group_uses_.erase(var.index);
    if (failed) broken_.insert(var.index);
  }
}

}  // namespace df::check
