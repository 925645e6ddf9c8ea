// data, newtype and type declarations: type constructors, their constructors and field selectors, kinds.
#include "typecheck/declare/data.h"

#include "typecheck/declare/tangent.h"
#include "typecheck/explain/explain.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/resolve/types.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

void DeclareConstructors(State& s, const ast::DataDecl* data) {
  TyConId id = s.scope->types.Find(data->name.text)->con;
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
  for (const ast::ConstructorDecl& decl : data->constructors) {
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
      KindId rest = kind, from;
      for (const ast::Name& param : data->params) {
        s.env.kinds.IsArrow(rest, &from, &rest);
        UseWrittenKind(s, param, from);
      }
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
      core::Class row;
      row.name = cls->name.text;
      row.span = cls->name.span;
      row.param = s.types.NewVar(cls->param.text, cls->param.span);
      ClassId id = s.program.classes.Add(std::move(row));
      s.env.SetKind(id, s.env.kinds.Fresh());
      s.open_kinds.push_back(s.env.class_kinds[id.index]);
      UseWrittenKind(s, cls->param, s.env.class_kinds[id.index]);
      s.classes.push_back({cls, id});
      s.scope->classes.Add(cls->name.text, id);
      s.exports.classes[cls->name.text] = id;
    }
  }
  for (const auto& [decl, index] : s.synonym_decls) ResolveSynonym(s, index);
  for (const auto& [data, id] : s.data) DeclareConstructors(s, data);
  ClassifyTangents(s);
}

void DefaultKinds(State& s) {
  for (KindId kind : s.open_kinds) s.env.kinds.Default(kind);
  s.open_kinds.clear();
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
      if (!con.fields[f].name.valid()) continue;
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
    VarId selector = NewVar(s, field.name, s.types.Fun(whole, field.type), true, field.span);
    s.program.vars[selector].scheme.tyvars = s.types.cons[id].params;
    s.scope->values.Add(field.name, selector);
    s.exports.values[field.name] = selector;
    s.env.field_owner[selector.index] = id;

    VarId record = s.program.NewLocal(Intern("record"), whole, field.span);
    std::vector<core::Row> rows;
    for (ConId con_id : s.types.cons[id].constructors) {
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
      const core::Pat* made = MakePat(s, pat);
      rows.push_back({s.program.Copy<const core::Pat*>({made}), VarNode(s, value, field.span), field.span});
    }
    if (rows.size() < s.types.cons[id].constructors.size())
      rows.push_back(FailRow(s, whole, field.type,
                             fmt::format("no match in record selector `{}`", Text(field.name)), field.span));
    core::Expr* match =
        MatchNode(s, core::MatchContext::Function, field.name, {record}, rows, field.type, field.span);
    s.definitions.push_back({selector, LambdaNode(s, {record}, match, field.span)});
  }
}

}  // namespace df::check
