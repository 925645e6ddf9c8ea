// data, newtype and type declarations: type constructors, their constructors and field selectors, kinds.
#include "typecheck/checker.h"

namespace df::check {

// Enters every type, synonym and class of the module before any of them is looked into: they may be mutually
// recursive.
void Checker::DeclareTypes() {
  std::map<Symbol, Span> seen_types;
  auto is_new = [&](const ast::Name& name) {
    auto [it, fresh] = seen_types.try_emplace(name.text, name.span);
    if (!fresh)
      Error(Diag::DuplicateType, name.span, Text(name.text)).Note(it->second, "it is declared here first");
    return fresh;
  };
  first_synonym_ = static_cast<uint32_t>(env_.synonyms.size());
  for (const ast::Decl* decl : module_.decls) {
    if (const auto* data = llvm::dyn_cast<ast::DataDecl>(decl)) {
      if (!is_new(data->name)) continue;
      TyConId id;
      // The library declares these; the compiler knows them by these very declarations.
      for (Builtin builtin : {Builtin::Bool, Builtin::Ordering, Builtin::IO, Builtin::Action, Builtin::Text})
        if (options_.library && types_.cons[types_.Known(builtin)].name == data->name.text)
          id = types_.Known(builtin);
      if (!id.valid()) {
        TyCon con;
        con.name = data->name.text;
        id = types_.cons.Add(std::move(con));
      }
      TyCon& con = types_.cons[id];
      con.arity = static_cast<uint32_t>(data->params.size());
      con.is_newtype = data->newtype;
      con.span = data->name.span;
      con.params.clear();
      con.constructors.clear();
      KindId kind = env_.kinds.Star();
      for (size_t i = 0; i < data->params.size(); ++i) kind = env_.kinds.Arrow(env_.kinds.Fresh(), kind);
      for (const ast::Name& param : data->params) {
        TyVarId var = types_.NewVar(param.text, param.span);
        types_.cons[id].params.push_back(var);
      }
      env_.SetKind(id, kind);
      open_kinds_.push_back(kind);
      KindId rest = kind, from;
      for (const ast::Name& param : data->params) {
        env_.kinds.IsArrow(rest, &from, &rest);
        UseWrittenKind(param, from);
      }
      data_.push_back({data, id});
      scope_->types.Add(data->name.text, TypeName{id});
      if (module_.name.text.valid()) scope_->types.Add(data->name.text, TypeName{id}, module_.name.text);
      exports_.types[data->name.text] = TypeName{id};
    } else if (const auto* synonym = llvm::dyn_cast<ast::TypeSynonymDecl>(decl)) {
      if (!is_new(synonym->name)) continue;
      Synonym row;
      row.name = synonym->name.text;
      row.span = synonym->name.span;
      CheckDistinctParameters(synonym->params);
      for (const ast::Name& param : synonym->params) {
        row.params.push_back(types_.NewVar(param.text, param.span));
        row.param_kinds.push_back(env_.kinds.Fresh());
        open_kinds_.push_back(row.param_kinds.back());
        UseWrittenKind(param, row.param_kinds.back());
      }
      row.result_kind = env_.kinds.Fresh();
      open_kinds_.push_back(row.result_kind);
      TypeName name;
      name.synonym = static_cast<uint32_t>(env_.synonyms.size());
      env_.synonyms.push_back(std::move(row));
      synonym_decls_.push_back({synonym, name.synonym});
      synonym_state_.push_back(0);
      scope_->types.Add(synonym->name.text, name);
      exports_.types[synonym->name.text] = name;
    } else if (const auto* cls = llvm::dyn_cast<ast::ClassDecl>(decl)) {
      if (!is_new(cls->name)) continue;
      core::Class row;
      row.name = cls->name.text;
      row.span = cls->name.span;
      row.param = types_.NewVar(cls->param.text, cls->param.span);
      ClassId id = program_.classes.Add(std::move(row));
      env_.SetKind(id, env_.kinds.Fresh());
      open_kinds_.push_back(env_.class_kinds[id.index]);
      UseWrittenKind(cls->param, env_.class_kinds[id.index]);
      classes_.push_back({cls, id});
      scope_->classes.Add(cls->name.text, id);
      exports_.classes[cls->name.text] = id;
    }
  }
  for (const auto& [decl, index] : synonym_decls_) ResolveSynonym(index);
  for (const auto& [data, id] : data_) DeclareConstructors(data);
  ClassifyTangents();
}

void Checker::CheckDistinctParameters(llvm::ArrayRef<ast::Name> params) {
  for (size_t i = 0; i < params.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (params[j].text == params[i].text) {
        Error(Diag::DuplicateTypeVariable, params[i].span, Text(params[i].text)).Note(params[j].span, "it is bound here first");
        break;
      }
}

void Checker::ResolveSynonym(uint32_t index) {
  if (index < first_synonym_) return;
  uint32_t at = index - first_synonym_;
  if (synonym_state_[at] == 2) return;
  const ast::TypeSynonymDecl* decl = synonym_decls_[at].first;
  if (synonym_state_[at] == 1) {
    Error(Diag::SynonymCycle, decl->name.span, Text(decl->name.text))
        .Hint("a `data` or `newtype` may refer to itself");
    if (!env_.synonyms[index].body.valid()) env_.synonyms[index].body = types_.Scalar(Builtin::Unit);
    return;
  }
  synonym_state_[at] = 1;
  TypeVarScope scope;
  scope.implicit = false;
  for (size_t i = 0; i < decl->params.size(); ++i)
    scope.names.push_back(
        {decl->params[i].text,
         {types_.Var(env_.synonyms[index].params[i]), env_.synonyms[index].param_kinds[i]}});
  TypeId body = ConvertType(decl->type, scope, env_.synonyms[index].result_kind);
  env_.synonyms[index].body = body;
  synonym_state_[at] = 2;
}

void Checker::DeclareConstructors(const ast::DataDecl* data) {
  TyConId id = scope_->types.Find(data->name.text)->con;
  TypeVarScope scope;
  scope.implicit = false;
  KindId kind = env_.KindOf(id);
  llvm::SmallVector<TypeId> params;
  CheckDistinctParameters(data->params);
  for (size_t i = 0; i < data->params.size(); ++i) {
    KindId from, to;
    env_.kinds.IsArrow(kind, &from, &to);
    params.push_back(types_.Var(types_.cons[id].params[i]));
    scope.names.push_back({data->params[i].text, {params.back(), from}});
    kind = to;
  }
  const bool strict_fields = HasExtension("StrictData") || HasExtension("Strict");
  for (const ast::ConstructorDecl& decl : data->constructors) {
    core::DataCon con;
    con.name = decl.name.text;
    con.tycon = id;
    con.infix = decl.infix;
    con.span = decl.name.span;
    con.index = static_cast<uint32_t>(types_.cons[id].constructors.size());
    for (const ast::FieldDecl& field : decl.fields) {
      core::Field row;
      row.type = ConvertType(field.type, scope, env_.kinds.Star());
      row.name = field.name.text;
      row.strict = !data->newtype && (field.strict || strict_fields);
      for (const core::Field& other : con.fields)
        if (row.name.valid() && other.name == row.name) {
          Error(Diag::DuplicateField, field.name.span, Text(row.name), Text(decl.name.text));
          row.name = Symbol();
        }
      con.fields.push_back(row);
    }
    if (auto it = exports_.constructors.find(con.name); it != exports_.constructors.end()) {
      Error(Diag::DuplicateConstructor, con.span, Text(con.name))
          .Note(program_.constructors[it->second].span, "it is declared here first");
      continue;
    }
    ConId con_id = program_.constructors.Add(con);
    types_.cons[id].constructors.push_back(con_id);
    scope_->constructors.Add(con.name, con_id);
    if (module_.name.text.valid()) scope_->constructors.Add(con.name, con_id, module_.name.text);
    exports_.constructors[con.name] = con_id;
  }
  if (id == types_.Known(Builtin::Bool) && types_.cons[id].constructors.size() == 2) {
    program_.false_con = types_.cons[id].constructors[0];
    program_.true_con = types_.cons[id].constructors[1];
  }
}

void Checker::DefaultKinds() {
  for (KindId kind : open_kinds_) env_.kinds.Default(kind);
  open_kinds_.clear();
}

// One selector per field name: a function that takes the value apart by every constructor that has the field.
void Checker::DefineSelectors(const ast::DataDecl* data) {
  TyConId id = scope_->types.Find(data->name.text)->con;
  llvm::SmallVector<TypeId> params;
  for (TyVarId param : types_.cons[id].params) params.push_back(types_.Var(param));
  TypeId whole = types_.Con(id, params);
  struct Found {
    Symbol name;
    Span span;
    TypeId type;
  };
  std::vector<Found> found;
  for (size_t c = 0; c < data->constructors.size(); ++c) {
    if (c >= types_.cons[id].constructors.size()) break;
    const core::DataCon& con = program_.constructors[types_.cons[id].constructors[c]];
    for (size_t f = 0; f < con.fields.size(); ++f) {
      if (!con.fields[f].name.valid()) continue;
      Span span = data->constructors[c].fields[f].name.span;
      bool known = false;
      for (const Found& other : found) {
        if (other.name != con.fields[f].name) continue;
        known = true;
        if (other.type != con.fields[f].type)
          Error(Diag::FieldTypesDiffer, span, Text(other.name), PrintType(con.fields[f].type),
                PrintType(other.type))
              .Note(other.span, "the other constructor has it here");
      }
      if (!known) found.push_back({con.fields[f].name, span, con.fields[f].type});
    }
  }
  for (const Found& field : found) {
    if (auto it = exports_.values.find(field.name); it != exports_.values.end()) {
      Error(Diag::DuplicateDefinition, field.span, Text(field.name))
          .Note(program_.vars[it->second].span, "it is defined here first");
      continue;
    }
    VarId selector = NewVar(field.name, types_.Fun(whole, field.type), true, field.span);
    program_.vars[selector].scheme.tyvars = types_.cons[id].params;
    scope_->values.Add(field.name, selector);
    exports_.values[field.name] = selector;
    env_.field_owner[selector.index] = id;

    VarId record = program_.NewLocal(Intern("record"), whole, field.span);
    std::vector<core::Row> rows;
    for (ConId con_id : types_.cons[id].constructors) {
      llvm::SmallVector<const core::Pat*> args;
      VarId value;
      for (uint32_t f = 0; f < program_.constructors[con_id].fields.size(); ++f) {
        core::Field row = program_.constructors[con_id].fields[f];
        core::Pat pat{};
        pat.kind = core::PatKind::Wildcard;
        pat.type = row.type;
        pat.span = field.span;
        if (row.name == field.name) {
          value = program_.NewLocal(field.name, field.type, field.span);
          pat.kind = core::PatKind::Var;
          pat.var = value;
        }
        args.push_back(MakePat(pat));
      }
      if (!value.valid()) continue;
      core::Pat pat{};
      pat.kind = core::PatKind::Con;
      pat.type = whole;
      pat.span = field.span;
      pat.con = con_id;
      pat.type_args = program_.Copy<TypeId>(params);
      pat.args = program_.Copy<const core::Pat*>(args);
      const core::Pat* made = MakePat(pat);
      rows.push_back({program_.Copy<const core::Pat*>({made}), VarNode(value, field.span), field.span});
    }
    if (rows.size() < types_.cons[id].constructors.size())
      rows.push_back(FailRow(whole, field.type,
                             fmt::format("no match in record selector `{}`", Text(field.name)), field.span));
    core::Expr* match =
        MatchNode(core::MatchContext::Function, field.name, {record}, rows, field.type, field.span);
    definitions_.push_back({selector, LambdaNode({record}, match, field.span)});
  }
}

}  // namespace df::check
