// Binding groups: dependency order, signatures, generalisation, pattern bindings.
//
// All variables of a group are generalised over the same type variables (as Haskell 2010 has it), so that
// inside the group every use of a member is at exactly these; a binder of `(a, b) = e` is a selection from
// the value of e.
#include "typecheck/infer/bind.h"

#include "lang/components.h"
#include "typecheck/explain/class.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/hint.h"
#include "typecheck/infer/match.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/infer/pat.h"
#include "typecheck/resolve/types.h"
#include "typecheck/solve/constraints.h"
#include "typecheck/solve/dims.h"
#include "typecheck/solve/tangents.h"
#include "typecheck/state/deps.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// Types double with every `(x, x)`, and a few lines can write one that fills the memory.
constexpr uint32_t kMaxTypeSize = 100000;

void InferPatternBinding(State& s, Binding& binding, bool top, BoundGroup& out);
void ForceVariable(State& s, VarId var, Span span, BoundGroup& out);
void Generalise(State& s, llvm::ArrayRef<VarId> members, bool restricted, Sizes sizes, size_t wanted_mark, uint32_t errors_before);

// A list of declarations while its names are entered.
struct DeclList {
  State& s;
  llvm::ArrayRef<ast::Decl*> decls;
  bool top;
  llvm::DenseMap<uint32_t, Signature*> signatures{};
  llvm::DenseSet<uint32_t> unreadable{};  // what has such a signature may have been meant to have any type
  std::vector<std::pair<ast::Name, Signature*>> in_order;
  llvm::DenseMap<uint32_t, Span> seen{};  // the names that are defined
};

void CollectSignatures(DeclList& list) {
  State& s = list.s;
  llvm::DenseMap<uint32_t, Span> signed_names;
  for (const ast::Decl* decl : list.decls) {
    const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(decl);
    if (!signature) continue;
    for (const ast::Name& name : signature->names) {
      auto [it, fresh] = signed_names.try_emplace(name.text.index, name.span);
      if (!fresh) {
        s.Error(Diag::DuplicateSignature, name.span, Text(name.text)).Note(it->second, "the first one is here");
        continue;
      }
      std::unique_ptr<Signature> made = ConvertSignature(s, signature->type, name.span);
      if (!made) {
        list.unreadable.insert(name.text.index);
        continue;
      }
      list.signatures[name.text.index] = made.get();
      list.in_order.push_back({name, made.get()});
      s.signatures.push_back(std::move(made));
    }
  }
}

// Brings a name into scope; invalid, and reported, if there is one already. `equation`: of a function with parameters.
VarId DeclareName(DeclList& list, Symbol name, Span span, bool equation = false) {
  State& s = list.s;
  auto [it, fresh] = list.seen.try_emplace(name.index, span);
  if (!fresh) {
    Diagnostics& diag = s.Error(Diag::DuplicateDefinition, span, Text(name)).Note(it->second, "it is defined here first");
    if (equation) diag.Hint("the equations of a function stand one after the other, with nothing between them");
    return VarId();
  }
  if (list.top)
    if (auto other = s.exports.values.find(name); other != s.exports.values.end()) {
      s.Error(Diag::DuplicateDefinition, span, Text(name)).Note(s.program.vars[other->second].span, "it is defined here first");
      return VarId();
    }
  VarId var = NewVar(s, name, s.unify.Fresh(), list.top, span);
  if (list.unreadable.count(name.index)) s.broken.insert(var.index);
  if (list.top) {
    s.scope->values.Add(name, var);
    if (s.module.name.text.valid()) s.scope->values.Add(name, var, s.module.name.text);
    s.exports.values[name] = var;
  } else {
    BindLocal(s, name, var);
  }
  return var;
}

// False if there is nothing to bind.
bool CollectFunction(DeclList& list, const ast::FunctionDecl* function, Binding& binding) {
  State& s = list.s;
  VarId var = DeclareName(list, function->name.text, function->name.span, !function->clauses[0].params.empty());
  if (!var.valid()) return false;
  binding.function = function;
  binding.binders = {var};
  if (auto it = list.signatures.find(function->name.text.index); it != list.signatures.end()) {
    binding.signature = it->second;
    binding.signature->used = true;
    s.program.vars[var].scheme = it->second->scheme;
    s.signature_of[var.index] = it->second;
  }
  return true;
}

void CollectPattern(DeclList& list, const ast::PatBindDecl* pattern, Binding& binding) {
  State& s = list.s;
  std::vector<std::pair<Symbol, Span>> names;
  PatternNames(pattern->pat, names);
  binding.pattern = pattern;
  for (const auto& [name, span] : names) {
    VarId var = DeclareName(list, name, span);
    binding.binders.push_back(var);
    if (!var.valid()) continue;
    if (auto it = list.signatures.find(name.index); it != list.signatures.end()) {
      it->second->used = true;
      s.signature_of[var.index] = it->second;
      if (!it->second->scheme.tyvars.empty())
        s.Error(Diag::PolymorphicPatternSignature, it->second->type_span, Text(name)).Note(span, "it is bound by a pattern");
    }
  }
  binding.tuple = NewVar(s, Intern("pattern"), s.unify.Fresh(), list.top, pattern->pat->span);
}

void CollectForeign(DeclList& list, const ast::ForeignDecl* foreign) {
  State& s = list.s;
  if (!s.options.library) {
    s.Error(Diag::ForeignOutsideLibrary, foreign->span);
    return;
  }
  VarId var = DeclareName(list, foreign->name.text, foreign->name.span);
  if (!var.valid()) return;
  std::unique_ptr<Signature> signature = ConvertSignature(s, foreign->type, foreign->name.span);
  if (!signature) return;
  s.program.vars[var].scheme = signature->scheme;
  s.program.vars[var].kind = core::VarKind::Primitive;
  s.program.vars[var].prim = foreign->op;
}

void CheckFixities(const DeclList& list) {
  State& s = list.s;
  if (s.options.repl) return;
  for (const ast::Decl* decl : list.decls) {
    const auto* fixity = llvm::dyn_cast<ast::FixityDecl>(decl);
    if (!fixity) continue;
    for (const ast::Name& op : fixity->ops)
      if (!list.seen.count(op.text.index) && !list.seen.count(Intern("%" + std::string(Text(op.text))).index) && !(list.top && (s.exports.values.count(op.text) || s.exports.constructors.count(op.text) || s.exports.types.count(op.text) || s.exports.classes.count(op.text))))
        s.Error(Diag::FixityWithoutBinding, op.span, Text(op.text));
  }
}

void ReportUnusedSignatures(const DeclList& list) {
  State& s = list.s;
  for (const auto& [name, signature] : list.in_order) {
    if (signature->used) continue;
    std::vector<std::string_view> names;
    for (const auto& [symbol, span] : list.seen) names.push_back(Text(Symbol(symbol)));
    std::sort(names.begin(), names.end());
    Diagnostics& diag = s.Error(Diag::SignatureWithoutBinding, name.span, Text(name.text));
    std::string_view near = NearestName(Text(name.text), names);
    if (!near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
    if (list.top) {
      // Its uses have the promised type: no follow-ups.
      VarId var = NewVar(s, name.text, signature->scheme.type, true, name.span);
      s.program.vars[var].scheme = signature->scheme;
      s.scope->values.Add(name.text, var);
    }
  }
}

// Signatures first, then the binders of every definition; all of them come into scope.
void CollectBindings(State& s, llvm::ArrayRef<ast::Decl*> decls, bool top, std::vector<Binding>& bindings) {
  DeclList list{s, decls, top};
  CollectSignatures(list);
  for (const ast::Decl* decl : decls) {
    Binding binding;
    if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) {
      if (!CollectFunction(list, function, binding)) continue;
    } else if (const auto* pattern = llvm::dyn_cast<ast::PatBindDecl>(decl)) {
      CollectPattern(list, pattern, binding);
    } else {
      if (const auto* foreign = llvm::dyn_cast<ast::ForeignDecl>(decl); foreign && top) CollectForeign(list, foreign);
      continue;
    }
    bindings.push_back(std::move(binding));
  }
  CheckFixities(list);
  ReportUnusedSignatures(list);
}

// What is run: `main`, or the prompt's `it`. It is run at one type, which defaulting settles.
bool IsEntry(const State& s, const Binding& binding, bool top) {
  if (!top || s.options.library || !s.options.restricted || !binding.function) return false;
  Symbol entry = s.options.entry.valid() ? s.options.entry : Intern(s.options.repl ? "it" : "main");
  return binding.function->name.text == entry;
}

bool IsConstructorName(Symbol name) {
  const auto first = static_cast<unsigned char>(Text(name)[0]);
  return first == ':' || std::isupper(first);
}

// The type belongs to what is around the group; but for sizes of tensors, if `sizes`: of main's parameters the inputs say them.
void LowerAllBut(State& s, TypeId type, bool sizes) {
  TypeId element, shape, whole = s.unify.Prune(type);
  if (sizes && s.types.IsTensor(s.unify.Zonk(whole), &element, &shape)) return s.unify.Lower(element, s.unify.level);
  if (!sizes || s.types.Kind(whole) != TypeKind::App) return s.unify.Lower(whole, s.unify.level);
  LowerAllBut(s, s.types.FnOf(whole), sizes);
  LowerAllBut(s, s.types.ArgOf(whole), sizes);
}

void InferGroup(State& s, llvm::ArrayRef<Binding*> group, bool top, BoundGroup& out) {
  uint32_t errors_before = s.Failures();
  size_t wanted_mark = s.wanted.size();
  bool restricted = false, entry = false;
  const bool monomorphic = !HasExtension(s, "NoMonomorphismRestriction");
  std::vector<VarId> members;
  ++s.unify.level;
  for (Binding* binding : group) {
    // (A pattern synonym without parameters is as polymorphic as a constructor.)
    restricted |= monomorphic && (binding->pattern || (binding->function->clauses[0].params.empty() && !IsConstructorName(binding->function->name.text)));
    if (binding->pattern) members.push_back(binding->tuple);
    if (IsEntry(s, *binding, top)) restricted = entry = true;
    for (VarId var : binding->binders)
      if (var.valid()) members.push_back(var);
  }
  Span members_span = group[0]->function ? group[0]->function->clauses[0].rhs.span : group[0]->span();
  for (VarId var : members) {
    s.program.vars[var].scheme.type = s.unify.Fresh();
    s.group_uses[var.index];
    auto signature = s.signature_of.find(var.index);
    if (signature != s.signature_of.end() && signature->second->scheme.tyvars.empty())
      s.program.vars[var].scheme.type = signature->second->scheme.type;
  }
  for (Binding* binding : group) {
    if (binding->pattern) {
      InferPatternBinding(s, *binding, top, out);
      continue;
    }
    const ast::FunctionDecl* function = binding->function;
    VarId var = binding->binders[0];
    core::Expr* value = CheckClauses(s, function->name.text, function->clauses, function->name.span,
                                     s.program.vars[var].scheme.type, Reason{});
    out.bindings.push_back({var, value});
    if (s.strict && !top && function->clauses[0].params.empty()) ForceVariable(s, var, function->name.span, out);
  }
  // Of what a signature would settle that could not be read nothing is missing.
  for (VarId var : members)
    if (s.broken.count(var.index)) s.unify.MarkAny(s.program.vars[var].scheme.type);
  --s.unify.level;
  const bool pattern = llvm::any_of(group, [](const Binding* binding) { return binding->pattern != nullptr; });
  restricted &= s.options.restricted && !(s.options.generalises && top && !pattern);
  if (!out.strict.empty() || entry)
    for (VarId var : members) LowerAllBut(s, s.program.vars[var].scheme.type, entry && !s.options.repl);
  if (entry) PreferAction(s, s.program.vars[members[0]].scheme.type, wanted_mark);
  if (entry && s.options.repl && s.options.shows_entry && s.Failures() == errors_before &&
      !IsAction(s, s.program.vars[members[0]].scheme.type))
    Require(s, KnownClass(s, "Show"), s.program.vars[members[0]].scheme.type, {Origin::Printing, members_span});
  // What is defined at a prompt is used by later lines, which have nothing to say here.
  const bool free = (!restricted && !pattern) || (top && s.options.repl);
  const Sizes sizes = free ? Sizes::Free : top ? Sizes::FreeUnlessSums : Sizes::Shared;
  Generalise(s, members, restricted, sizes, wanted_mark, errors_before);
}

// p = e: the value of e, and for each variable of p its selection from that value.
void InferPatternBinding(State& s, Binding& binding, bool top, BoundGroup& out) {
  const ast::Pat* pat = binding.pattern->pat;
  TypeId type = s.program.vars[binding.tuple].scheme.type;
  std::vector<Bound> bound;
  if (const auto* con = llvm::dyn_cast<ast::ConPat>(pat); con && !LookUpConstructor(s, con->name).valid() && !SynonymMatcher(s, con->name).valid() &&
                                                          !con->name.qualifier.valid() && !con->args.empty()) {
    // `Add x y = x + y`: meant as a function.
    std::string small(Text(con->name.text));
    small[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(small[0])));
    if (std::isalpha(static_cast<unsigned char>(small[0]))) {
      s.Error(Diag::UnboundConstructor, con->name.span, Text(con->name.text))
          .Hint(fmt::format("the name of a function begins with a small letter: `{}`", small));
      s.meant_as_functions.insert(con->name.text.index);
      return;
    }
  }
  const bool may_open = std::exchange(s.may_open, false);
  const core::Pat* made = CheckPat(s, pat, type, Reason{}, bound);
  s.may_open = may_open;
  bool strict = made->kind == core::PatKind::Bang;
  if (strict) made = made->args[0];
  if (s.strict && !top && made->kind != core::PatKind::Lazy) strict = true;
  // By name: a record's fields may stand in another order than that of the declaration, which is the one of `bound`.
  llvm::DenseMap<uint32_t, VarId> declared;
  for (VarId var : binding.binders)
    if (var.valid()) declared[s.program.vars[var].name.index] = var;
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
    UnifyResult result = s.unify.Unify(s.program.vars[var].scheme.type, s.program.vars[binder.var].scheme.type);
    if (!result.ok()) {
      auto signature = s.signature_of.find(var.index);
      Reason why{Reason::Signature, signature != s.signature_of.end() ? signature->second->type_span : Span(),
                 binder.name};
      ReportMismatch(s, result, s.program.vars[var].scheme.type, s.program.vars[binder.var].scheme.type,
                     binder.span, why);
    }
  }
  core::Expr* value = CheckRhs(s, binding.pattern->rhs, type, {Reason::PatternValue, pat->span});
  bool plain = binding.pattern->rhs.guarded.size() == 1 && binding.pattern->rhs.guarded[0].guards.empty();
  if (!plain) {
    core::Row row{{}, value, pat->span};
    value = MatchNode(s, core::MatchContext::PatternBinding, Symbol(), {}, {row}, type, pat->span);
  }
  out.bindings.push_back({binding.tuple, value});
  auto use_tuple = [&] {
    core::VarExpr* use = llvm::cast<core::VarExpr>(VarNode(s, binding.tuple, pat->span));
    s.group_uses[binding.tuple.index].push_back(use);
    return use;
  };
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!outer[i].valid()) continue;
    TypeId field = s.program.vars[outer[i]].scheme.type;
    VarId inner = s.program.NewLocal(bound[i].name, field, bound[i].span);
    VarId scrutinee = s.program.NewLocal(Intern("whole"), type, pat->span);
    core::Row row{s.program.Copy<const core::Pat*>({Project(s, made, bound[i].var, inner)}),
                  VarNode(s, inner, bound[i].span), pat->span};
    core::Expr* match =
        MatchNode(s, core::MatchContext::PatternBinding, bound[i].name, {scrutinee}, {row}, field, pat->span);
    out.bindings.push_back({outer[i], LetNode(s, scrutinee, use_tuple(), match)});
  }
  if (strict) out.strict.push_back({binding.tuple, BangPat(s, Project(s, made, VarId(), VarId()))});
}

void CheckSigned(State& s, Binding& binding, BoundGroup& out) {
  const ast::FunctionDecl* function = binding.function;
  VarId var = binding.binders[0];
  const Signature& signature = *binding.signature;
  core::Expr* value = CheckAgainst(s, signature.scheme, signature.type_span, function->name.text,
                                   signature.scoped, [&](TypeId type, const Reason& why) {
                                     return CheckClauses(s, function->name.text, function->clauses,
                                                         function->name.span, type, why);
                                   });
  out.bindings.push_back({var, value});
  if (s.strict && s.program.vars[var].kind == core::VarKind::Local && function->clauses[0].params.empty() &&
      signature.scheme.tyvars.empty())
    ForceVariable(s, var, function->name.span, out);
}

// Under `Strict` a local variable is evaluated where it is bound.
void ForceVariable(State& s, VarId var, Span span, BoundGroup& out) {
  core::Pat any{};
  any.kind = core::PatKind::Wildcard;
  any.type = s.program.vars[var].scheme.type;
  any.span = span;
  out.strict.push_back({var, BangPat(s, MakePat(s, any))});
}

// What the type of a variable would be without the monomorphism restriction, for messages about its uses.
void RememberRestricted(State& s, llvm::ArrayRef<VarId> members, size_t wanted_mark) {
  for (VarId var : members) {
    llvm::SmallVector<MetaId> own;
    s.unify.FreeMetas(s.program.vars[var].scheme.type, own);
    if (own.empty()) continue;
    std::vector<TypeId> types{s.program.vars[var].scheme.type};
    std::vector<ClassId> classes;
    for (size_t i = wanted_mark; i < s.wanted.size(); ++i) {
      TypeId type = s.unify.Prune(s.wanted[i].type);
      if (s.types.Kind(type) != TypeKind::Meta || std::find(own.begin(), own.end(), s.types.MetaOf(type)) == own.end())
        continue;
      types.push_back(type);
      classes.push_back(s.wanted[i].cls);
    }
    if (classes.empty()) continue;
    std::vector<std::string> text = PrintTypes(s, types), preds;
    for (size_t i = 0; i < classes.size(); ++i) preds.push_back(PrintPred(s, classes[i], text[i + 1], types[i + 1]));
    s.restricted[var.index] = preds.size() == 1 ? fmt::format("{} => {}", preds[0], text[0])
                                               : fmt::format("({}) => {}", fmt::join(preds, ", "), text[0]);
  }
}

// Functional dependencies: what the variables of the type settle belongs to it, `s` of `MonadState s m`.
void AddDeterminedMetas(State& s, size_t wanted_mark, llvm::SmallVectorImpl<MetaId>& metas) {
  for (bool more = true; more;) {
    const size_t before = metas.size();
    for (size_t i = wanted_mark; i < s.wanted.size(); ++i) {
      const std::vector<core::Dependency>& dependencies = s.program.classes[s.wanted[i].cls].dependencies;
      if (dependencies.empty()) continue;
      llvm::SmallVector<TypeId, 4> args;
      s.unify.Head(s.wanted[i].type, &args);
      for (const core::Dependency& dependency : dependencies) {
        llvm::SmallVector<MetaId> from, to;
        for (uint32_t at : dependency.from) s.unify.FreeMetas(args[at], from);
        for (uint32_t at : dependency.to) s.unify.FreeMetas(args[at], to);
        if (!llvm::all_of(from, [&](MetaId meta) { return llvm::is_contained(metas, meta) || s.unify.LevelOf(meta) <= s.unify.level; })) continue;
        for (MetaId meta : to)
          if (s.unify.LevelOf(meta) > s.unify.level && !llvm::is_contained(metas, meta)) metas.push_back(meta);
      }
    }
    more = metas.size() != before;
  }
}

void Generalise(State& s, llvm::ArrayRef<VarId> members, bool restricted, Sizes sizes, size_t wanted_mark, uint32_t errors_before) {
  SolveFrom(s, wanted_mark);
  RetryTangents(s, Guess::Ours);
  bool failed = s.Failures() != errors_before;
  if (restricted)
    for (size_t i = wanted_mark; i < s.wanted.size(); ++i) s.unify.Lower(s.wanted[i].type, s.unify.level);
  llvm::SmallVector<MetaId> metas;
  for (VarId var : members) {
    TypeId type = s.program.vars[var].scheme.type = s.unify.Zonk(s.program.vars[var].scheme.type);
    if (s.types.SizeOf(type) > kMaxTypeSize) {
      s.Error(Diag::TypeTooLarge, s.program.vars[var].span, Text(s.program.vars[var].name), kMaxTypeSize);
      s.program.vars[var].scheme.type = s.unify.Fresh();
      failed = true;
      continue;
    }
    if (sizes != Sizes::Free) ShareSizes(s, type, sizes);
    llvm::SmallVector<MetaId> found;
    s.unify.FreeMetas(type, found);
    for (MetaId meta : found)
      if (s.unify.LevelOf(meta) > s.unify.level && std::find(metas.begin(), metas.end(), meta) == metas.end())
        metas.push_back(meta);
  }
  llvm::erase_if(metas, [&](MetaId meta) { return s.unify.LevelOf(meta) <= s.unify.level; });  // shared by a later member
  if (!restricted) AddDeterminedMetas(s, wanted_mark, metas);
  if (!s.unify.open_dims.empty()) ReportOpenDims(s, &metas);
  std::vector<Wanted> retained;
  if (!restricted) {
    // Constraints on generalised variables go into the scheme; those on variables of nobody are defaulted.
    auto split = [&] {
      std::vector<Wanted> rest;
      for (size_t i = wanted_mark; i < s.wanted.size(); ++i) {
        llvm::SmallVector<MetaId> found;
        s.unify.FreeMetas(s.wanted[i].type, found);
        bool ours = !found.empty();
        for (MetaId meta : found)
          ours &= std::find(metas.begin(), metas.end(), meta) != metas.end() ||
                  s.unify.LevelOf(meta) <= s.unify.level;
        bool outer = std::all_of(found.begin(), found.end(),
                                 [&](MetaId meta) { return s.unify.LevelOf(meta) <= s.unify.level; });
        if (ours && !outer) retained.push_back(s.wanted[i]);
        else rest.push_back(s.wanted[i]);
      }
      s.wanted.resize(wanted_mark);
      s.wanted.insert(s.wanted.end(), rest.begin(), rest.end());
    };
    split();
    DefaultAll(s, wanted_mark, !failed, s.unify.level + 1);
    failed |= s.Failures() != errors_before;
    MinimalPreds(s, retained);
  }
  if (restricted && !s.options.library) RememberRestricted(s, members, wanted_mark);
  llvm::DenseSet<uint32_t> taken;
  for (const auto& [name, entry] : s.scoped_types) taken.insert(name.index);
  std::vector<TyVarId> tyvars;
  llvm::SmallVector<TypeId> as_types;
  for (MetaId meta : metas) {
    TyVarId var = s.types.NewVar(FreshTyVarName(s, taken));
    tyvars.push_back(var);
    as_types.push_back(s.types.Var(var));
    s.unify.Solve(meta, as_types.back());
  }
  std::vector<core::Pred> preds;
  for (const Wanted& wanted : retained)
    preds.push_back({wanted.cls, s.unify.Zonk(wanted.type), wanted.origin.span});
  auto type_args = s.program.Copy<TypeId>(as_types);
  for (VarId var : members) {
    core::Scheme& scheme = s.program.vars[var].scheme;
    scheme.tyvars = tyvars;
    scheme.preds = preds;
    scheme.type = s.unify.Zonk(scheme.type);
    for (core::VarExpr* use : s.group_uses[var.index]) use->type_args = type_args;
    s.group_uses.erase(var.index);
    if (failed) s.broken.insert(var.index);
  }
}

}  // namespace

core::Expr* CheckLet(State& s, llvm::ArrayRef<ast::Decl*> decls, Span span, llvm::function_ref<core::Expr*()> body) {
  size_t mark = s.LocalMark();
  std::vector<BoundGroup> groups = CheckDecls(s, decls, false);
  core::Expr* result = body();
  UnbindTo(s, mark);
  for (size_t i = groups.size(); i-- > 0;) {
    const BoundGroup& group = groups[i];
    for (size_t at = group.strict.size(); at-- > 0;) {
      const auto& [var, pat] = group.strict[at];
      core::Row row{s.program.Copy<const core::Pat*>({pat}), result, pat->span};
      result = MatchNode(s, core::MatchContext::PatternBinding, Symbol(), {var}, {row}, result->type, span);
    }
    core::LetExpr node{};
    node.type = result->type;
    node.span = span;
    node.recursive = group.recursive;
    node.bindings = s.program.Copy<core::Binding>(group.bindings);
    node.body = result;
    result = s.Node(node);
  }
  return result;
}

std::vector<BoundGroup> CheckDecls(State& s, llvm::ArrayRef<ast::Decl*> decls, bool top) {
  std::vector<Binding> bindings;
  CollectBindings(s, decls, top, bindings);
  Targets targets;
  for (uint32_t i = 0; i < bindings.size(); ++i)
    for (VarId var : bindings[i].binders)
      if (var.valid()) targets[s.program.vars[var].name.index] = i;
  std::vector<std::vector<uint32_t>> edges(bindings.size());
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    const ast::Decl* decl = bindings[i].function ? static_cast<const ast::Decl*>(bindings[i].function)
                                                 : static_cast<const ast::Decl*>(bindings[i].pattern);
    edges[i] = bindings[i].uses = CollectUses(decl, targets, top ? OwnQualifier(s) : Symbol());
  }
  std::vector<BoundGroup> groups;
  for (const std::vector<uint32_t>& component : Components(edges)) {
    BoundGroup group;
    if (top) ++s.definition;
    group.recursive = component.size() > 1 ||
                      std::find(edges[component[0]].begin(), edges[component[0]].end(), component[0]) !=
                          edges[component[0]].end();
    if (component.size() == 1) {
      Binding& only = bindings[component[0]];
      if (only.signature) CheckSigned(s, only, group);
      else InferGroup(s, {&only}, top, group);
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
          CheckSigned(s, *members[0], group);
        } else {
          InferGroup(s, members, top, group);
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

void PreferAction(State& s, TypeId type, size_t wanted_mark) {
  type = s.unify.Prune(type);
  for (TypeId from, to; s.unify.IsFun(type, &from, &to);) type = s.unify.Prune(to);
  // `printf ".."`: nothing is known of its type but that an action is one.
  const bool whole = s.types.Kind(type) == TypeKind::Meta;
  if (!whole && s.types.Kind(type) != TypeKind::App) return;
  TypeId monad = whole ? type : s.unify.Prune(s.types.FnOf(type));
  if (s.types.Kind(monad) != TypeKind::Meta) return;
  if (whole) SolveFrom(s, wanted_mark);  // of a function's constraints only those on its result are left
  TyConId io = s.types.Known(Builtin::IO);
  bool asked = false;
  for (size_t i = wanted_mark; i < s.wanted.size(); ++i) {
    if (s.unify.Prune(s.wanted[i].type) != monad) continue;
    if (!s.env.instances.count({s.wanted[i].cls.index, io.index})) return;
    asked = true;
  }
  if (!asked) return;
  s.unify.Solve(s.types.MetaOf(monad), whole ? s.types.Con(io, {s.types.Scalar(Builtin::Unit)}) : s.types.Con(io));
}

core::Expr* CheckAgainst(State& s, const core::Scheme& scheme, Span from, Symbol name, const ScopedTypes& scoped,
                         llvm::function_ref<core::Expr*(TypeId, const Reason&)> body) {
  size_t wanted_mark = s.wanted.size(), given_mark = s.givens.size(), scoped_mark = s.scoped_types.size(), assumed_mark = s.unify.AssumedMark();
  ++s.unify.level;
  for (TyVarId var : scheme.tyvars) s.unify.SetRigid(var, s.unify.level);
  s.scoped_types.insert(s.scoped_types.end(), scoped.begin(), scoped.end());
  for (const core::Pred& pred : scheme.preds) PushGiven(s, pred.cls, pred.type);
  core::Expr* value = body(scheme.type, {Reason::Signature, from, name});
  --s.unify.level;
  // What still depends on variables of this body alone can only be settled by defaulting; the rest is the
  // surroundings' business.
  RetryTangents(s, Guess::Ours);
  DefaultAll(s, wanted_mark, true, s.unify.level + 1);
  s.givens.resize(given_mark);
  s.unify.Forget(assumed_mark);
  s.scoped_types.resize(scoped_mark);
  return value;
}

}  // namespace df::check
