// data, newtype and type declarations: type constructors, their constructors and field selectors, kinds.
#include "typecheck/declare/data.h"

#include "llvm/ADT/ScopeExit.h"
#include "typecheck/declare/family.h"
#include "typecheck/declare/tangent.h"
#include "typecheck/explain/explain.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/resolve/promote.h"
#include "typecheck/resolve/types.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// `C :: a -> T [a]`: a variable that stands alone in the result is the type's parameter, anything else is what the parameter has to be;
// the other variables are hidden.
void SettleResult(State& s, const ast::DataDecl* data, const ast::ConstructorDecl& decl, TypeVarScope& scope, core::DataCon& con) {
  const TypeId result = ConvertType(s, decl.result, scope, s.env.kinds.Star());
  const std::vector<TyVarId> params = s.types.cons[con.tycon].params;
  llvm::SmallVector<TypeId> args;
  if (s.types.Head(result, &args) != con.tycon || args.size() != params.size()) {
    if (!s.types.HasMeta(result))
      s.Error(Diag::TypeMismatch, decl.result->span, s.types.Print(result), Text(data->name.text))
          .Hint("a constructor gives a value of the type that is declared");
    return;
  }
  llvm::SmallVector<TyVarId> own;
  llvm::SmallVector<TypeId> meant;
  llvm::SmallVector<size_t> told;
  for (size_t i = 0; i < params.size(); ++i) {
    const bool variable = s.types.Kind(args[i]) == TypeKind::Var && !llvm::is_contained(own, s.types.VarOf(args[i]));
    if (!variable) {
      told.push_back(i);
      continue;
    }
    own.push_back(s.types.VarOf(args[i]));
    meant.push_back(s.types.Var(params[i]));
  }
  for (size_t i : told) con.equations.push_back({params[i], s.types.Substitute(args[i], own, meant)});
  for (core::Field& field : con.fields) field.type = s.types.Substitute(field.type, own, meant);
  for (core::Pred& pred : con.context) pred.type = s.types.Substitute(pred.type, own, meant);
  con.exists.clear();
  for (TyVarId var : scope.fresh)
    if (!llvm::is_contained(own, var)) con.exists.push_back(var);
}

// Once, though a type that is read before may have asked for them (resolve/promote.h).
void DeclareConstructors(State& s, const ast::DataDecl* data) {
  TyConId id = s.scope->types.Find(data->name.text)->con;
  thread_local llvm::SmallVector<const ast::DataDecl*, 2> being_declared;
  if (!s.types.cons[id].constructors.empty() || llvm::is_contained(being_declared, data)) return;
  being_declared.push_back(data);
  auto done = llvm::make_scope_exit([] { being_declared.pop_back(); });
  TypeVarScope scope;
  scope.implicit = false;
  KindId kind = s.env.KindOf(id);
  llvm::SmallVector<TypeId> params;
  CheckDistinctParameters(s, data->params);
  for (size_t i = 0; i < data->params.size(); ++i) {
    KindId from, to;
    s.env.kinds.IsArrow(kind, &from, &to);
    params.push_back(s.types.Var(s.types.cons[id].params[i]));
    scope.names.push_back({data->params[i].text, {params.back(), from}});
    kind = to;
  }
  const bool strict_fields = HasExtension(s, "StrictData") || HasExtension(s, "Strict");
  const TypeVarScope head = scope;
  for (const ast::ConstructorDecl& decl : data->constructors) {
    // A GADT's constructor has variables of its own alone.
    scope = decl.result ? TypeVarScope{} : head;
    CheckDistinctParameters(s, decl.forall);
    for (const ast::Name& binder : decl.forall) {
      TyVarId var = s.types.NewVar(binder.text, binder.span);
      scope.fresh.push_back(var);
      scope.names.push_back({binder.text, {s.types.Var(var), s.env.kinds.Fresh()}});
      s.open_kinds.push_back(scope.names.back().second.second);
      UseWrittenKind(s, binder, scope.names.back().second.second);
    }
    scope.implicit = decl.result && decl.forall.empty();
    core::DataCon con;
    con.name = decl.name.text;
    con.tycon = id;
    con.infix = decl.infix;
    con.span = decl.name.span;
    con.index = static_cast<uint32_t>(s.types.cons[id].constructors.size());
    for (const ast::FieldDecl& field : decl.fields) {
      core::Field row;
      row.type = ConvertType(s, field.type, scope, s.env.kinds.Star());
      row.name = field.name.text;
      row.strict = !data->newtype && (field.strict || strict_fields);
      for (const core::Field& other : con.fields)
        if (row.name.valid() && other.name == row.name) {
          s.Error(Diag::DuplicateField, field.name.span, Text(row.name), Text(decl.name.text));
          row.name = Symbol();
        }
      con.fields.push_back(row);
    }
    con.exists.assign(scope.fresh.begin(), scope.fresh.end());
    ConvertContext(s, decl.context, scope, con.context);
    if (decl.result) SettleResult(s, data, decl, scope, con);
    for (const auto& [name, entry] : scope.names) s.open_kinds.push_back(entry.second);
    if (data->newtype && (!con.exists.empty() || !con.context.empty() || !con.equations.empty()))
      s.Error(Diag::NewtypeShape, decl.name.span, Text(data->name.text), "a constructor that hides a type or tells one").Hint("`data` has such constructors");
    s.types.cons[id].packs |= !con.exists.empty() || !con.equations.empty();
    if (auto it = s.exports.constructors.find(con.name); it != s.exports.constructors.end()) {
      s.Error(Diag::DuplicateConstructor, con.span, Text(con.name))
          .Note(s.program.constructors[it->second].span, "it is declared here first");
      continue;
    }
    ConId con_id = s.program.constructors.Add(con);
    s.types.cons[id].constructors.push_back(con_id);
    s.scope->constructors.Add(con.name, con_id);
    if (s.module.name.text.valid()) s.scope->constructors.Add(con.name, con_id, s.module.name.text);
    s.exports.constructors[con.name] = con_id;
  }
  if (id == s.types.Known(Builtin::Bool) && s.types.cons[id].constructors.size() == 2) {
    s.program.false_con = s.types.cons[id].constructors[0];
    s.program.true_con = s.types.cons[id].constructors[1];
  }
}

void DeclareConstructor(State& s, Symbol name) {
  for (const auto& [data, id] : s.data)
    if (llvm::any_of(data->constructors, [&](const ast::ConstructorDecl& con) { return con.name.text == name; })) return DeclareConstructors(s, data);
}

void DeclareDependencies(State& s, const ast::ClassDecl* decl, core::Class& row) {
  auto number = [&](const ast::Name& name, std::vector<uint32_t>& out) {
    const auto* found = llvm::find_if(decl->params, [&](const ast::Name& param) { return param.text == name.text; });
    if (found == decl->params.end()) s.Error(Diag::UnboundTypeVariable, name.span, Text(name.text));
    else out.push_back(static_cast<uint32_t>(found - decl->params.begin()));
  };
  for (const ast::Dependency& dependency : decl->dependencies) {
    core::Dependency made;
    for (const ast::Name& name : dependency.from) number(name, made.from);
    for (const ast::Name& name : dependency.to) number(name, made.to);
    row.dependencies.push_back(made);
  }
}

// A class with its parameters. Of several parameters it has a type constructor (core::Class).
void EnterClass(State& s, const ast::ClassDecl* cls) {
  core::Class row;
  row.name = cls->name.text;
  row.span = cls->name.span;
  CheckDistinctParameters(s, cls->params);
  std::vector<KindId> kinds;
  for (const ast::Name& param : cls->params) {
    row.params.push_back(s.types.NewVar(param.text, param.span));
    kinds.push_back(s.env.kinds.Fresh());
    s.open_kinds.push_back(kinds.back());
    UseWrittenKind(s, param, kinds.back());
  }
  row.param = row.params.back();
  DeclareDependencies(s, cls, row);
  KindId kind = kinds[0];
  if (kinds.size() > 1) {
    TyCon args;
    args.name = cls->name.text;
    args.arity = static_cast<uint32_t>(kinds.size());
    args.tangent = TangentForm::Unit;
    row.args = s.types.cons.Add(std::move(args));
    kind = s.env.kinds.Star();
    for (KindId param : llvm::reverse(kinds)) kind = s.env.kinds.Arrow(param, kind);
    s.env.SetKind(row.args, kind);
    kind = s.env.kinds.Star();
  }
  ClassId id = s.program.classes.Add(std::move(row));
  s.env.SetKind(id, kind);
  s.classes.push_back({cls, id});
  s.scope->classes.Add(cls->name.text, id);
  s.exports.classes[cls->name.text] = id;
}

}  // namespace

void DeclareTypes(State& s) {
  std::map<Symbol, Span> seen_types;
  auto is_new = [&](const ast::Name& name) {
    auto [it, fresh] = seen_types.try_emplace(name.text, name.span);
    if (!fresh)
      s.Error(Diag::DuplicateType, name.span, Text(name.text)).Note(it->second, "it is declared here first");
    return fresh;
  };
  s.first_synonym = static_cast<uint32_t>(s.env.synonyms.size());
  for (const ast::Decl* decl : s.module.decls) {
    if (const auto* data = llvm::dyn_cast<ast::DataDecl>(decl)) {
      if (!is_new(data->name)) continue;
      TyConId id;
      // The library declares these; the compiler knows them by these very declarations.
      for (Builtin builtin : {Builtin::Bool, Builtin::Ordering, Builtin::IO, Builtin::Action, Builtin::Text, Builtin::State})
        if (s.options.library && s.types.cons[s.types.Known(builtin)].name == data->name.text)
          id = s.types.Known(builtin);
      if (!id.valid()) {
        TyCon con;
        con.name = data->name.text;
        id = s.types.cons.Add(std::move(con));
      }
      TyCon& con = s.types.cons[id];
      con.arity = static_cast<uint32_t>(data->params.size());
      con.is_newtype = data->newtype;
      con.span = data->name.span;
      con.params.clear();
      con.constructors.clear();
      KindId kind = s.env.kinds.Star();
      for (size_t i = 0; i < data->params.size(); ++i) kind = s.env.kinds.Arrow(s.env.kinds.Fresh(), kind);
      for (const ast::Name& param : data->params) {
        TyVarId var = s.types.NewVar(param.text, param.span);
        s.types.cons[id].params.push_back(var);
      }
      s.env.SetKind(id, kind);
      s.open_kinds.push_back(kind);
      s.data.push_back({data, id});
      s.scope->types.Add(data->name.text, TypeName{id});
      if (s.module.name.text.valid()) s.scope->types.Add(data->name.text, TypeName{id}, s.module.name.text);
      s.exports.types[data->name.text] = TypeName{id};
    } else if (const auto* synonym = llvm::dyn_cast<ast::TypeSynonymDecl>(decl)) {
      if (!is_new(synonym->name)) continue;
      Synonym row;
      row.name = synonym->name.text;
      row.span = synonym->name.span;
      CheckDistinctParameters(s, synonym->params);
      for (const ast::Name& param : synonym->params) {
        row.params.push_back(s.types.NewVar(param.text, param.span));
        row.param_kinds.push_back(s.env.kinds.Fresh());
        s.open_kinds.push_back(row.param_kinds.back());
        UseWrittenKind(s, param, row.param_kinds.back());
      }
      row.result_kind = s.env.kinds.Fresh();
      s.open_kinds.push_back(row.result_kind);
      TypeName name;
      name.synonym = static_cast<uint32_t>(s.env.synonyms.size());
      s.env.synonyms.push_back(std::move(row));
      s.synonym_decls.push_back({synonym, name.synonym});
      s.synonym_state.push_back(0);
      s.scope->types.Add(synonym->name.text, name);
      s.exports.types[synonym->name.text] = name;
    } else if (const auto* cls = llvm::dyn_cast<ast::ClassDecl>(decl)) {
      if (!is_new(cls->name)) continue;
      EnterClass(s, cls);
    }
  }
  EnterFamilies(s);
  // Kinds name types of the module, too.
  for (const auto& [data, id] : s.data) {
    KindId rest = s.env.KindOf(id), from;
    for (const ast::Name& param : data->params) {
      s.env.kinds.IsArrow(rest, &from, &rest);
      UseWrittenKind(s, param, from);
    }
  }
  SettleFamilyKinds(s);
  DeclareRoles(s);
  declare_constructor = DeclareConstructor;
  for (const auto& [decl, index] : s.synonym_decls) ResolveSynonym(s, index);
  for (const auto& [data, id] : s.data) DeclareConstructors(s, data);
  DeclareEquations(s);
  ClassifyTangents(s);
}

void DeclareDefaults(State& s) {
  const ast::Decl* first = nullptr;
  for (const ast::Decl* decl : s.module.decls) {
    const auto* defaults = llvm::dyn_cast<ast::DefaultDecl>(decl);
    if (!defaults) continue;
    if (first) s.Error(Diag::DuplicateDefinition, decl->span, "default").Note(first->span, "it is defined here first");
    first = decl;
    s.has_defaults = true;
    const ClassId num = KnownClass(s, "Num");
    for (const ast::Type* type : defaults->types) {
      TypeVarScope scope;
      scope.implicit = false;
      TypeId made = ConvertType(s, type, scope, s.env.kinds.Star());
      if (num.valid() && !s.types.HasMeta(made) && !s.string_classes && !HasInstance(s, num, made))
        s.Error(Diag::NoInstance, type->span, "the `default` declaration", core::PrintPred(s.program, num, made));
      s.default_types.push_back(made);
    }
  }
}

void DefaultKinds(State& s) {
  for (KindId kind : s.open_kinds) s.env.kinds.Default(kind);
  s.open_kinds.clear();
}

// A field whose type is hidden is seen by patterns alone.
static bool Mentions(State& s, TypeId type, const std::vector<TyVarId>& vars) {
  llvm::SmallVector<TyVarId> free;
  s.types.FreeVars(type, free);
  return llvm::any_of(free, [&](TyVarId var) { return llvm::is_contained(vars, var); });
}

void DefineSelectors(State& s, const ast::DataDecl* data) {
  TyConId id = s.scope->types.Find(data->name.text)->con;
  llvm::SmallVector<TypeId> params;
  for (TyVarId param : s.types.cons[id].params) params.push_back(s.types.Var(param));
  TypeId whole = s.types.Con(id, params);
  struct Found {
    Symbol name;
    Span span;
    TypeId type;
  };
  std::vector<Found> found;
  for (size_t c = 0; c < data->constructors.size(); ++c) {
    if (c >= s.types.cons[id].constructors.size()) break;
    const core::DataCon& con = s.program.constructors[s.types.cons[id].constructors[c]];
    for (size_t f = 0; f < con.fields.size(); ++f) {
      if (!con.fields[f].name.valid() || Mentions(s, con.fields[f].type, con.exists)) continue;
      Span span = data->constructors[c].fields[f].name.span;
      bool known = false;
      for (const Found& other : found) {
        if (other.name != con.fields[f].name) continue;
        known = true;
        if (other.type != con.fields[f].type)
          s.Error(Diag::FieldTypesDiffer, span, Text(other.name), PrintType(s, con.fields[f].type),
                PrintType(s, other.type))
              .Note(other.span, "the other constructor has it here");
      }
      if (!known) found.push_back({con.fields[f].name, span, con.fields[f].type});
    }
  }
  for (const Found& field : found) {
    if (auto it = s.exports.values.find(field.name); it != s.exports.values.end()) {
      s.Error(Diag::DuplicateDefinition, field.span, Text(field.name))
          .Note(s.program.vars[it->second].span, "it is defined here first");
      continue;
    }
    // Of a polymorphic field the selector is as polymorphic: `run :: forall a r. P a -> String -> r`.
    core::Scheme given;
    given.type = field.type;
    if (s.types.Kind(field.type) == TypeKind::Forall) given = core::OpenPoly(s.program, field.type);
    core::List<TypeId> given_at;
    {
      TypeArgs at;
      for (TyVarId var : given.tyvars) at.push_back(s.types.Var(var));
      given_at = s.program.Copy<TypeId>(at);
    }
    VarId selector = NewVar(s, field.name, s.types.Fun(whole, given.type), true, field.span);
    core::Scheme& scheme = s.program.vars[selector].scheme;
    scheme.tyvars = s.types.cons[id].params;
    scheme.tyvars.insert(scheme.tyvars.end(), given.tyvars.begin(), given.tyvars.end());
    scheme.preds = given.preds;
    s.scope->values.Add(field.name, selector);
    s.exports.values[field.name] = selector;
    s.env.field_owner[selector.index] = id;

    VarId record = s.program.NewLocal(Intern("record"), whole, field.span);
    std::vector<core::Row> rows;
    for (ConId con_id : s.types.cons[id].constructors) {
      const core::DataCon& hides = s.program.constructors[con_id];
      llvm::SmallVector<const core::Pat*> args;
      VarId value;
      for (uint32_t f = 0; f < s.program.constructors[con_id].fields.size(); ++f) {
        core::Field row = s.program.constructors[con_id].fields[f];
        core::Pat pat{};
        pat.kind = core::PatKind::Wildcard;
        pat.type = row.type;
        pat.span = field.span;
        if (row.name == field.name) {
          value = s.program.NewLocal(field.name, field.type, field.span);
          pat.kind = core::PatKind::Var;
          pat.var = value;
        }
        args.push_back(MakePat(s, pat));
      }
      if (!value.valid()) continue;
      core::Pat pat{};
      pat.kind = core::PatKind::Con;
      pat.type = whole;
      pat.span = field.span;
      pat.con = con_id;
      pat.type_args = s.program.Copy<TypeId>(params);
      pat.args = s.program.Copy<const core::Pat*>(args);
      pat.exists = s.program.Copy<TyVarId>(hides.exists);
      pat.opens = !hides.exists.empty() || !hides.equations.empty();
      const core::Pat* made = MakePat(s, pat);
      auto* use = llvm::cast<core::VarExpr>(VarNode(s, value, field.span));
      use->type = given.type;
      use->type_args = given_at;
      rows.push_back({s.program.Copy<const core::Pat*>({made}), use, field.span});
    }
    if (rows.size() < s.types.cons[id].constructors.size())
      rows.push_back(FailRow(s, whole, given.type,
                             fmt::format("no match in record selector `{}`", Text(field.name)), field.span));
    core::Expr* match =
        MatchNode(s, core::MatchContext::Function, field.name, {record}, rows, given.type, field.span);
    s.definitions.push_back({selector, LambdaNode(s, {record}, match, field.span)});
  }
}

}  // namespace df::check
