// Records: construction and update.
#include "typecheck/checker.h"

namespace df::check {
namespace {

// "`a`", "`a` and `b`", "`a`, `b` and `c`"; of very many the first ones.
std::string ListNames(llvm::ArrayRef<std::string_view> names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

}  // namespace

int Checker::FieldIndex(ConId con, const ast::Name& field) {
  const core::DataCon& row = program_.constructors[con];
  std::vector<std::string_view> names;
  for (size_t i = 0; i < row.fields.size(); ++i) {
    if (row.fields[i].name == field.text) return static_cast<int>(i);
    if (row.fields[i].name.valid()) names.push_back(Text(row.fields[i].name));
  }
  ReportNoSuchField(field, fmt::format("the constructor `{}`", Text(row.name)), row.span, names);
  return -1;
}

// A field that is none of `names`, which are those of `owner`, a constructor or a type.
void Checker::ReportNoSuchField(const ast::Name& field, std::string_view owner, Span declared, llvm::ArrayRef<std::string_view> names) {
  Error(Diag::NoSuchField, field.span, owner, Text(field.text));
  if (Shown(declared).valid())
    NoteOnce(declared, names.empty() ? std::string("it has no fields with names")
                                      : fmt::format("its {} {}", names.size() == 1 ? "field is" : "fields are", ListNames(names)));
  std::string_view near = NearestName(Text(field.text), {names.begin(), names.end()});
  if (!near.empty()) diags_.Hint(fmt::format("did you mean `{}`?", near));
}

// An update of what is no field: of which type it is, is told by the other fields, by what is expected, or by the record itself.
void Checker::ReportUnknownFields(const ast::RecordUpdateExpr* expr, llvm::ArrayRef<ast::Name> unknown, TyConId owner, TypeId expected, TypeId record) {
  for (TypeId type : {expected, record})
    if (TypeId head = unify_.Head(type); !owner.valid() && types_.Kind(head) == TypeKind::Con) owner = types_.ConOf(head);
  std::vector<std::string_view> names;
  auto add = [&](Symbol name) {
    if (name.valid() && !llvm::is_contained(names, Text(name))) names.push_back(Text(name));
  };
  if (owner.valid() && !types_.cons[owner].constructors.empty() && Shown(types_.cons[owner].span).valid()) {
    const TyCon& type = types_.cons[owner];
    for (ConId con : type.constructors)
      for (const core::Field& field : program_.constructors[con].fields) add(field.name);
    const core::DataCon& first = program_.constructors[type.constructors[0]];
    const bool only = type.constructors.size() == 1;
    for (const ast::Name& name : unknown)
      ReportNoSuchField(name, fmt::format("{} `{}`", only ? "the constructor" : "the type", Text(only ? first.name : type.name)),
                        only ? first.span : type.span, names);
    return;
  }
  // Of the names in scope only fields fit.
  std::vector<std::string_view> own;
  for (const auto& [var, type] : env_.field_owner)
    if (const core::Var& field = program_.vars[VarId(var)]; scope_->values.Find(field.name)) {
      add(field.name);
      if (Shown(field.span).valid()) own.push_back(Text(field.name));
    }
  llvm::sort(names);
  llvm::sort(own);
  for (const ast::Name& name : unknown) {
    ReportUnbound(Diag::UnboundName, name, names);
    if (NearestName(Text(name.text), names).empty() && !own.empty() && own.size() <= 8 && diags_.dropped() == 0)
      diags_.Hint(fmt::format("the {} in scope {} {}", own.size() == 1 ? "field" : "fields", own.size() == 1 ? "is" : "are", ListNames(own)));
  }
}

// The last row of a generated match: any other value is a run-time error. Nobody wrote the match, so it is no
// case for a warning.
core::Row Checker::FailRow(TypeId scrutinee, TypeId result, std::string_view message, Span span) {
  core::Pat pat{};
  pat.kind = core::PatKind::Wildcard;
  pat.type = scrutinee;
  pat.span = span;
  core::FailExpr fail{};
  fail.type = result;
  fail.span = span;
  fail.message = Intern(message);
  return {program_.Copy<const core::Pat*>({MakePat(pat)}), Node(fail), span};
}

// C { f = e, .. }: fields that are not given are run-time errors; strict ones have to be given.
core::Expr* Checker::CheckRecordCon(const ast::RecordConExpr* expr, TypeId expected, const Reason& why) {
  ConId con = FindConstructor(expr->con);
  if (!con.valid()) {
    for (const ast::FieldBinding& field : expr->fields) Infer(field.value);
    return ErrorNode(expected, expr->span);
  }
  core::Expr* fn = UseCon(con, expr->con.span);
  TypeArgs params;
  TypeId result = types_.SplitFun(fn->type, params, program_.constructors[con].fields.size());
  bool ok = Expect(expected, result, expr->span, why);
  std::vector<const core::Expr*> args(params.size(), nullptr);
  bool misnamed = false;  // then one of these may be a field that is left out
  for (const ast::FieldBinding& field : expr->fields) {
    if (field.implied && !IsLocal(field.field.text)) continue;
    int index = FieldIndex(con, field.field);
    if (index < 0 || args[index]) {
      if (index >= 0) Error(Diag::FieldTwice, field.field.span, Text(field.field.text));
      misnamed = true;
      Infer(field.value);
      continue;
    }
    args[index] =
        Check(field.value, params[index], {Reason::Field, program_.constructors[con].span, field.field.text});
  }
  std::vector<std::string> absent;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i]) continue;
    core::Field field = program_.constructors[con].fields[i];
    if (field.strict) {
      Error(Diag::StrictFieldMissing, expr->span, Text(expr->con.text),
            field.name.valid() ? Text(field.name) : std::string_view("_"));
      ok = false;
    }
    if (field.name.valid()) absent.push_back(fmt::format("`{}`", Text(field.name)));
    core::FailExpr fail{};
    fail.type = params[i];
    fail.span = expr->span;
    fail.message = Intern(fmt::format("the field `{}` of `{}` was not given",
                                      field.name.valid() ? Text(field.name) : std::string_view("_"),
                                      Text(expr->con.text)));
    args[i] = Node(fail);
  }
  if (ok && !absent.empty() && !misnamed && options_.warnings && !options_.library)
    diags_.Report(Diag::MissingField, expr->span, Text(expr->con.text), fmt::format("{}", fmt::join(absent, ", ")))
        .Hint(absent.size() == 1 ? "to look at this field would end the program" : "to look at these fields would end the program");
  return ok ? AppNode(fn, args, expr->span) : ErrorNode(expected, expr->span);
}

// r { f = e, .. }: a case over the constructors that have all these fields. Type parameters that only the new
// fields mention may change.
core::Expr* Checker::CheckRecordUpdate(const ast::RecordUpdateExpr* expr, TypeId expected,
                                       const Reason& why) {
  TyConId owner;
  bool ok = !expr->fields.empty();
  llvm::SmallVector<ast::Name> unknown;
  for (const ast::FieldBinding& field : expr->fields) {
    // A field is meant, whatever local variable has its name.
    const VarId* global = scope_->values.Find(field.field.text, field.field.qualifier);
    bool known = FindValue(field.field, false).valid();
    VarId selector = global && IsLocal(field.field.text) ? *global : known ? FindValue(field.field) : VarId();
    if (!selector.valid() && !known) unknown.push_back(field.field);
    if (!selector.valid()) {
      ok = false;
      continue;
    }
    auto it = env_.field_owner.find(selector.index);
    if (it == env_.field_owner.end()) {
      Error(Diag::NotAField, field.field.span, Text(field.field.text));
      ok = false;
    } else if (owner.valid() && owner != it->second) {
      Error(Diag::FieldsOfTwoTypes, field.field.span, Text(field.field.text), Text(types_.cons[owner].name));
      ok = false;
    } else {
      owner = it->second;
    }
  }
  std::vector<ConId> matching;
  if (ok)
    for (ConId con : types_.cons[owner].constructors) {
      bool all = true;
      for (const ast::FieldBinding& binding : expr->fields) {
        bool has = false;
        for (const core::Field& field : program_.constructors[con].fields)
          has |= field.name == binding.field.text;
        all &= has;
      }
      if (all) matching.push_back(con);
    }
  if (ok && matching.empty()) {
    Error(Diag::NoConstructorWithFields, expr->span, Text(types_.cons[owner].name));
    ok = false;
  }
  if (!ok) {
    TypeId type = Infer(expr->record)->type;
    if (!unknown.empty()) ReportUnknownFields(expr, unknown, owner, expected, type);
    for (const ast::FieldBinding& field : expr->fields) Infer(field.value);
    return ErrorNode(expected, expr->span);
  }
  auto updated = [&](Symbol name) {
    for (size_t i = 0; i < expr->fields.size(); ++i)
      if (expr->fields[i].field.text == name) return static_cast<int>(i);
    return -1;
  };
  const std::vector<TyVarId> params = types_.cons[owner].params;
  TypeArgs before, after;
  for (TyVarId param : params) {
    bool kept = false;
    bool mentioned = false;
    for (ConId con : types_.cons[owner].constructors)
      for (const core::Field& field : program_.constructors[con].fields) {
        llvm::SmallVector<TyVarId> vars;
        types_.FreeVars(field.type, vars);
        bool has = std::find(vars.begin(), vars.end(), param) != vars.end();
        if (has) mentioned = true;
        if (has && updated(field.name) < 0) kept = true;
      }
    before.push_back(unify_.Fresh());
    after.push_back(kept || !mentioned ? before.back() : unify_.Fresh());
  }
  TypeId old_type = types_.Con(owner, before), new_type = types_.Con(owner, after);
  core::Expr* record = Check(expr->record, old_type, Reason{});
  ok = Expect(expected, new_type, expr->span, why);
  std::vector<std::pair<VarId, core::Expr*>> values;
  for (const ast::FieldBinding& binding : expr->fields) {
    TypeId type;
    Span declared;
    for (const core::Field& field : program_.constructors[matching[0]].fields)
      if (field.name == binding.field.text) type = types_.Substitute(field.type, params, after);
    declared = program_.constructors[matching[0]].span;
    core::Expr* value = Check(binding.value, type, {Reason::Field, declared, binding.field.text});
    values.push_back({program_.NewLocal(binding.field.text, type, binding.value->span), value});
  }
  if (!ok) return ErrorNode(expected, expr->span);
  bool fresh;
  VarId scrutinee = Scrutinee(record, &fresh);
  std::vector<core::Row> rows;
  for (ConId con : matching) {
    std::vector<const core::Pat*> pats;
    std::vector<const core::Expr*> args;
    TypeId type = new_type;
    std::vector<TypeId> new_fields;
    for (size_t i = 0; i < program_.constructors[con].fields.size(); ++i) {
      core::Field field = program_.constructors[con].fields[i];
      core::Pat pat{};
      pat.span = expr->span;
      pat.type = types_.Substitute(field.type, params, before);
      new_fields.push_back(types_.Substitute(field.type, params, after));
      int index = updated(field.name);
      if (index >= 0) {
        pat.kind = core::PatKind::Wildcard;
        args.push_back(VarNode(values[index].first, expr->span));
      } else {
        pat.kind = core::PatKind::Var;
        pat.var = program_.NewLocal(field.name.valid() ? field.name : Intern("field"), pat.type, expr->span);
        args.push_back(VarNode(pat.var, expr->span));
      }
      pats.push_back(MakePat(pat));
    }
    core::Pat pat{};
    pat.kind = core::PatKind::Con;
    pat.span = expr->span;
    pat.type = old_type;
    pat.con = con;
    pat.type_args = program_.Copy<TypeId>(before);
    pat.args = program_.Copy<const core::Pat*>(pats);
    core::ConExpr node{};
    node.span = expr->span;
    node.con = con;
    node.type = types_.Fun(new_fields, type);
    node.type_args = program_.Copy<TypeId>(after);
    rows.push_back(
        {program_.Copy<const core::Pat*>({MakePat(pat)}), AppNode(Node(node), args, expr->span), expr->span});
  }
  if (rows.size() < types_.cons[owner].constructors.size())
    rows.push_back(FailRow(old_type, new_type, "the updated record has no such field", expr->span));
  core::Expr* result = MatchNode(core::MatchContext::Case, Symbol(), {scrutinee}, rows, new_type, expr->span);
  for (size_t i = values.size(); i-- > 0;) result = LetNode(values[i].first, values[i].second, result);
  return fresh ? LetNode(scrutinee, record, result) : result;
}

}  // namespace df::check
