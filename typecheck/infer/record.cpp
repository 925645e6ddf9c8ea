// Records: construction and update.
#include "typecheck/infer/record.h"

#include "typecheck/explain/name.h"
#include "typecheck/explain/origin.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/match.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/resolve/find.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

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

// A field that is none of `names`, which are those of `owner`, a constructor or a type.
void ReportNoSuchField(State& s, const ast::Name& field, std::string_view owner, Span declared, llvm::ArrayRef<std::string_view> names) {
  s.Error(Diag::NoSuchField, field.span, owner, Text(field.text));
  if (Shown(s, declared).valid())
    NoteOnce(s, declared, names.empty() ? std::string("it has no fields with names")
                                      : fmt::format("its {} {}", names.size() == 1 ? "field is" : "fields are", ListNames(names)));
  std::string_view near = NearestName(Text(field.text), {names.begin(), names.end()});
  if (!near.empty()) s.diags.Hint(fmt::format("did you mean `{}`?", near));
}

// An update of what is no field: of which type it is, is told by the other fields, by what is expected, or by the record itself.
void ReportUnknownFields(State& s, const ast::RecordUpdateExpr* expr, llvm::ArrayRef<ast::Name> unknown, TyConId owner, TypeId expected, TypeId record) {
  for (TypeId type : {expected, record})
    if (TypeId head = s.unify.Head(type); !owner.valid() && s.types.Kind(head) == TypeKind::Con) owner = s.types.ConOf(head);
  std::vector<std::string_view> names;
  auto add = [&](Symbol name) {
    if (name.valid() && !llvm::is_contained(names, Text(name))) names.push_back(Text(name));
  };
  if (owner.valid() && !s.types.cons[owner].constructors.empty() && Shown(s, s.types.cons[owner].span).valid()) {
    const TyCon& type = s.types.cons[owner];
    for (ConId con : type.constructors)
      for (const core::Field& field : s.program.constructors[con].fields) add(field.name);
    const core::DataCon& first = s.program.constructors[type.constructors[0]];
    const bool only = type.constructors.size() == 1;
    for (const ast::Name& name : unknown)
      ReportNoSuchField(s, name, fmt::format("{} `{}`", only ? "the constructor" : "the type", Text(only ? first.name : type.name)),
                        only ? first.span : type.span, names);
    return;
  }
  // Of the names in scope only fields fit.
  std::vector<std::string_view> own;
  for (const auto& [var, type] : s.env.field_owner)
    if (const core::Var& field = s.program.vars[VarId(var)]; s.scope->values.Find(field.name)) {
      add(field.name);
      if (Shown(s, field.span).valid()) own.push_back(Text(field.name));
    }
  llvm::sort(names);
  llvm::sort(own);
  for (const ast::Name& name : unknown) {
    ReportUnbound(s, Diag::UnboundName, name, names);
    if (NearestName(Text(name.text), names).empty() && !own.empty() && own.size() <= 8 && s.diags.dropped() == 0)
      s.diags.Hint(fmt::format("the {} in scope {} {}", own.size() == 1 ? "field" : "fields", own.size() == 1 ? "is" : "are", ListNames(own)));
  }
}

// The type of which all the fields are; reports those that are none, and those of another type. What is not in scope is added to
// `unknown`, and told when more is known of the record. False if something is wrong.
bool FindOwner(State& s, const ast::RecordUpdateExpr* expr, TyConId& owner, llvm::SmallVectorImpl<ast::Name>& unknown) {
  bool ok = !expr->fields.empty();
  for (const ast::FieldBinding& field : expr->fields) {
    // A field is meant, whatever local variable has its name.
    const VarId* global = s.scope->values.Find(field.field.text, field.field.qualifier);
    bool known = LookUpValue(s, field.field).valid();
    VarId selector = global && IsLocal(s, field.field.text) ? *global : known ? FindValue(s, field.field) : VarId();
    if (!selector.valid() && !known) unknown.push_back(field.field);
    if (!selector.valid()) {
      ok = false;
      continue;
    }
    auto it = s.env.field_owner.find(selector.index);
    if (it == s.env.field_owner.end()) {
      s.Error(Diag::NotAField, field.field.span, Text(field.field.text));
      ok = false;
    } else if (owner.valid() && owner != it->second) {
      s.Error(Diag::FieldsOfTwoTypes, field.field.span, Text(field.field.text), Text(s.types.cons[owner].name));
      ok = false;
    } else {
      owner = it->second;
    }
  }
  return ok;
}

// The constructors that have all the fields.
std::vector<ConId> ConstructorsWith(State& s, TyConId owner, llvm::ArrayRef<ast::FieldBinding> bindings) {
  std::vector<ConId> matching;
  for (ConId con : s.types.cons[owner].constructors) {
    auto has = [&](const ast::FieldBinding& binding) {
      return llvm::any_of(s.program.constructors[con].fields, [&](const core::Field& field) { return field.name == binding.field.text; });
    };
    if (llvm::all_of(bindings, has)) matching.push_back(con);
  }
  return matching;
}

// What a constructor hides would be another type after the update.
bool HidesTypes(State& s, llvm::ArrayRef<ConId> cons, Span span) {
  for (ConId con : cons)
    if (const core::DataCon& row = s.program.constructors[con]; !row.exists.empty() || !row.equations.empty()) {
      s.Error(Diag::HiddenType, span, Text(row.name), "a record update").Hint("`case` takes it apart, and the constructor builds it anew");
      return true;
    }
  return false;
}

// A record update, elaborated: the type's arguments before and after, and a variable for each new value.
struct Update {
  State& s;
  const ast::RecordUpdateExpr* expr;
  TyConId owner;
  TypeArgs before, after;
  TypeId old_type, new_type;
  std::vector<std::pair<VarId, core::Expr*>> values;  // by the index of the field in `expr`

  // The index of a field that gets a new value, or -1.
  int IndexOf(Symbol name) const {
    for (size_t i = 0; i < expr->fields.size(); ++i)
      if (expr->fields[i].field.text == name) return static_cast<int>(i);
    return -1;
  }
};

// A parameter of the type stays what it was unless all the fields that mention it are new.
void FindTypeArgs(Update& u) {
  State& s = u.s;
  for (TyVarId param : std::vector<TyVarId>(s.types.cons[u.owner].params)) {
    bool kept = false, mentioned = false;
    for (ConId con : s.types.cons[u.owner].constructors)
      for (const core::Field& field : s.program.constructors[con].fields) {
        llvm::SmallVector<TyVarId> vars;
        s.types.FreeVars(field.type, vars);
        if (!llvm::is_contained(vars, param)) continue;
        mentioned = true;
        if (u.IndexOf(field.name) < 0) kept = true;
      }
    u.before.push_back(s.unify.Fresh());
    u.after.push_back(kept || !mentioned ? u.before.back() : s.unify.Fresh());
  }
  u.old_type = s.types.Con(u.owner, u.before);
  u.new_type = s.types.Con(u.owner, u.after);
}

void CheckNewFields(Update& u, ConId con) {
  State& s = u.s;
  const std::vector<TyVarId> params = s.types.cons[u.owner].params;
  for (const ast::FieldBinding& binding : u.expr->fields) {
    TypeId type;
    for (const core::Field& field : s.program.constructors[con].fields)
      if (field.name == binding.field.text) type = s.types.Substitute(field.type, params, u.after);
    core::Expr* value = Check(s, binding.value, type, {Reason::Field, s.program.constructors[con].span, binding.field.text});
    u.values.push_back({s.program.NewLocal(binding.field.text, type, binding.value->span), value});
  }
}

// `C a b c -> C a new c`
core::Row UpdatedRow(const Update& u, ConId con) {
  State& s = u.s;
  const Span span = u.expr->span;
  const std::vector<TyVarId> params = s.types.cons[u.owner].params;
  std::vector<const core::Pat*> pats;
  std::vector<const core::Expr*> args;
  std::vector<TypeId> new_fields;
  for (size_t i = 0; i < s.program.constructors[con].fields.size(); ++i) {
    core::Field field = s.program.constructors[con].fields[i];
    core::Pat pat{};
    pat.span = span;
    pat.type = s.types.Substitute(field.type, params, u.before);
    new_fields.push_back(s.types.Substitute(field.type, params, u.after));
    int index = u.IndexOf(field.name);
    if (index >= 0) {
      pat.kind = core::PatKind::Wildcard;
      args.push_back(VarNode(s, u.values[index].first, span));
    } else {
      pat.kind = core::PatKind::Var;
      pat.var = s.program.NewLocal(field.name.valid() ? field.name : Intern("field"), pat.type, span);
      args.push_back(VarNode(s, pat.var, span));
    }
    pats.push_back(MakePat(s, pat));
  }
  core::Pat pat{};
  pat.kind = core::PatKind::Con;
  pat.span = span;
  pat.type = u.old_type;
  pat.con = con;
  pat.type_args = s.program.Copy<TypeId>(u.before);
  pat.args = s.program.Copy<const core::Pat*>(pats);
  core::ConExpr node{};
  node.span = span;
  node.con = con;
  node.type = s.types.Fun(new_fields, u.new_type);
  node.type_args = s.program.Copy<TypeId>(u.after);
  return {s.program.Copy<const core::Pat*>({MakePat(s, pat)}), AppNode(s, s.Node(node), args, span), span};
}

}  // namespace

int FieldIndex(State& s, ConId con, const ast::Name& field) {
  const core::DataCon& row = s.program.constructors[con];
  std::vector<std::string_view> names;
  for (size_t i = 0; i < row.fields.size(); ++i) {
    if (row.fields[i].name == field.text) return static_cast<int>(i);
    if (row.fields[i].name.valid()) names.push_back(Text(row.fields[i].name));
  }
  ReportNoSuchField(s, field, fmt::format("the constructor `{}`", Text(row.name)), row.span, names);
  return -1;
}

core::Expr* CheckRecordCon(State& s, const ast::RecordConExpr* expr, TypeId expected, const Reason& why) {
  ConId con = FindConstructor(s, expr->con);
  if (!con.valid()) {
    for (const ast::FieldBinding& field : expr->fields) Infer(s, field.value);
    return ErrorNode(s, expected, expr->span);
  }
  core::Expr* fn = UseCon(s, con, expr->con.span);
  TypeArgs params;
  TypeId result = s.types.SplitFun(fn->type, params, s.program.constructors[con].fields.size());
  bool ok = Expect(s, expected, result, expr->span, why);
  std::vector<const core::Expr*> args(params.size(), nullptr);
  bool misnamed = false;  // then one of these may be a field that is left out
  for (const ast::FieldBinding& field : expr->fields) {
    if (field.implied && !IsLocal(s, field.field.text)) continue;
    int index = FieldIndex(s, con, field.field);
    if (index < 0 || args[index]) {
      if (index >= 0) s.Error(Diag::FieldTwice, field.field.span, Text(field.field.text));
      misnamed = true;
      Infer(s, field.value);
      continue;
    }
    args[index] =
        Check(s, field.value, params[index], {Reason::Field, s.program.constructors[con].span, field.field.text});
  }
  std::vector<std::string> absent;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i]) continue;
    core::Field field = s.program.constructors[con].fields[i];
    if (field.strict) {
      s.Error(Diag::StrictFieldMissing, expr->span, Text(expr->con.text),
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
    args[i] = s.Node(fail);
  }
  if (ok && !absent.empty() && !misnamed && s.options.warnings && !s.options.library)
    s.diags.Report(Diag::MissingField, expr->span, Text(expr->con.text), fmt::format("{}", fmt::join(absent, ", ")))
        .Hint(absent.size() == 1 ? "to look at this field would end the program" : "to look at these fields would end the program");
  return ok ? AppNode(s, fn, args, expr->span) : ErrorNode(s, expected, expr->span);
}

core::Expr* CheckRecordUpdate(State& s, const ast::RecordUpdateExpr* expr, TypeId expected, const Reason& why) {
  Update u{s, expr};
  llvm::SmallVector<ast::Name> unknown;
  bool ok = FindOwner(s, expr, u.owner, unknown);
  std::vector<ConId> matching;
  if (ok) matching = ConstructorsWith(s, u.owner, expr->fields);
  if (ok && matching.empty()) {
    s.Error(Diag::NoConstructorWithFields, expr->span, Text(s.types.cons[u.owner].name));
    ok = false;
  }
  if (ok && HidesTypes(s, matching, expr->span)) ok = false;
  if (!ok) {
    TypeId type = Infer(s, expr->record)->type;
    if (!unknown.empty()) ReportUnknownFields(s, expr, unknown, u.owner, expected, type);
    for (const ast::FieldBinding& field : expr->fields) Infer(s, field.value);
    return ErrorNode(s, expected, expr->span);
  }
  FindTypeArgs(u);
  core::Expr* record = Check(s, expr->record, u.old_type, Reason{});
  ok = Expect(s, expected, u.new_type, expr->span, why);
  CheckNewFields(u, matching[0]);
  if (!ok) return ErrorNode(s, expected, expr->span);
  bool fresh;
  VarId scrutinee = Scrutinee(s, record, &fresh);
  std::vector<core::Row> rows;
  for (ConId con : matching) rows.push_back(UpdatedRow(u, con));
  if (rows.size() < s.types.cons[u.owner].constructors.size())
    rows.push_back(FailRow(s, u.old_type, u.new_type, "the updated record has no such field", expr->span));
  core::Expr* result = MatchNode(s, core::MatchContext::Case, Symbol(), {scrutinee}, rows, u.new_type, expr->span);
  for (size_t i = u.values.size(); i-- > 0;) result = LetNode(s, u.values[i].first, u.values[i].second, result);
  return fresh ? LetNode(s, scrutinee, record, result) : result;
}

}  // namespace df::check
