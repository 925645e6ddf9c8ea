// Patterns.
#include "typecheck/infer/pat.h"

#include "typecheck/explain/explain.h"
#include "typecheck/explain/hint.h"
#include "typecheck/explain/origin.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/infer/pattern_scope.h"
#include "typecheck/infer/poly.h"
#include "typecheck/infer/record.h"
#include "typecheck/resolve/find.h"
#include "typecheck/resolve/types.h"
#include "typecheck/solve/constraints.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// `x : xs`
bool IsCons(const ast::Pat* pat) {
  const auto* con = llvm::dyn_cast<ast::ConPat>(pat);
  return con && Text(con->name.text) == ":";
}

// For messages about uses of the variable. What is not known yet gets its type from a use.
void RememberReason(State& s, VarId var, const Reason& why) {
  bool tells = why.kind == Reason::Signature || why.kind == Reason::Annotation || why.kind == Reason::Scrutinee;
  if (tells && !s.options.library && s.types.Kind(s.unify.Prune(s.program.vars[var].scheme.type)) != TypeKind::Meta)
    s.var_reasons[var.index] = why;
}

// A pattern while it is checked: what is expected of it, and what it becomes, a wildcard to begin with.
struct PatCheck {
  State& s;
  const ast::Pat* pat;
  TypeId expected;
  const Reason& why;
  std::vector<Bound>& bound;
  core::Pat node;

  const core::Pat* Sub(const ast::Pat* sub, TypeId type) { return CheckPat(s, sub, type, why, bound); }
  // One whose place is not known for what it is: nothing is told of its type.
  const core::Pat* Any(const ast::Pat* sub, TypeId type) { return CheckPat(s, sub, type, Reason{}, bound); }
};

// `f (x, y) = ..` under `f :: Int -> Int -> Int`
void HintAtTuple(const PatCheck& p) {
  State& s = p.s;
  const auto* tuple = llvm::dyn_cast<ast::TuplePat>(p.pat);
  if (!tuple || s.types.IsTuple(s.unify.Prune(p.expected)) || p.why.kind != Reason::Signature) return;
  auto text = [&](const ast::Pat* part) { return s.diags.sources().Text(part->span); };
  if (text(p.pat).size() >= 40 || !llvm::all_of(tuple->elements, llvm::IsaPred<ast::VarPat>)) return;
  std::string apart;
  for (const ast::Pat* part : tuple->elements) apart += fmt::format("{}{}", apart.empty() ? "" : " ", text(part));
  if (s.types.BuiltinOf(s.unify.Head(p.expected)) != Builtin::List)
    s.diags.Hint(fmt::format("parameters stand one after the other: `{}`", apart));
  else if (tuple->elements.size() == 2)
    s.diags.Hint(fmt::format("`({} : {})` takes a list apart", text(tuple->elements[0]), text(tuple->elements[1])));
}

void ReportPatternClash(const PatCheck& p, const UnifyResult& result, TypeId actual) {
  State& s = p.s;
  bool rigid = s.types.Kind(result.left) == TypeKind::Var || s.types.Kind(result.right) == TypeKind::Var;
  if (result.clash != Clash::Mismatch || rigid) return ReportMismatch(s, result, p.expected, actual, p.pat->span, p.why);
  std::vector<std::string> text = PrintTypes(s, {actual, p.expected});
  s.Error(Diag::PatternMismatch, p.pat->span, text[0], text[1]);
  Explain(s, p.why);
  ExplainPlace(s, p.expected, p.pat->span);
  HintAtTangent(s, actual, p.expected);
  HintAtTuple(p);
}

// Whether a pattern of this type may stand here; reports otherwise.
bool IsExpected(const PatCheck& p, TypeId actual) {
  State& s = p.s;
  s.unify.numbers_solved.clear();
  if (!s.options.library) RecordPlace(s, actual, p.pat->span, Reason{});
  UnifyResult result = s.unify.Unify(p.expected, actual);
  s.unify.place = kNoPlace;
  if (result.ok()) return s.unify.numbers_solved.empty() || NumbersFit(s, p.expected, actual, false, p.pat->span, p.why);
  ReportPatternClash(p, result, actual);
  return false;
}

// A constructor with patterns for its fields; a field without one, or with a null pointer, may be anything.
void CheckFields(PatCheck& p, ConId con, llvm::ArrayRef<const ast::Pat*> args) {
  State& s = p.s;
  const TyConId owner = s.program.constructors[con].tycon;
  TypeArgs type_args;
  for (size_t i = 0; i < s.types.cons[owner].params.size(); ++i) type_args.push_back(s.unify.Fresh());
  bool ok = IsExpected(p, s.types.Con(owner, type_args));
  const core::DataCon row = s.program.constructors[con];
  const bool tells = !row.exists.empty() || !row.equations.empty();
  llvm::SmallVector<TyVarId> hidden;
  if ((tells || !row.context.empty()) && ok) ok = OpenConstructor(s, con, p.pat->span, type_args, hidden);
  const std::vector<TyVarId> vars = VariablesOf(s, con);
  TypeArgs all = type_args;
  for (TyVarId var : hidden) all.push_back(s.types.Var(var));
  std::vector<const core::Pat*> core_args;
  for (size_t i = 0; i < s.program.constructors[con].fields.size(); ++i) {
    TypeId type = ok ? s.types.Substitute(s.program.constructors[con].fields[i].type, vars, all) : s.unify.FreshAny();
    if (i < args.size() && args[i]) {
      core_args.push_back(p.Sub(args[i], type));
    } else {
      core::Pat wildcard{};
      wildcard.kind = core::PatKind::Wildcard;
      wildcard.type = type;
      wildcard.span = p.pat->span;
      core_args.push_back(MakePat(s, wildcard));
    }
  }
  if (!ok) return;
  p.node.kind = core::PatKind::Con;
  p.node.con = con;
  p.node.type_args = s.program.Copy<TypeId>(type_args);
  p.node.exists = s.program.Copy<TyVarId>(hidden);
  p.node.opens = tells;
  p.node.args = s.program.Copy<const core::Pat*>(core_args);
}

void CheckVarPat(PatCheck& p, const ast::VarPat* var) {
  p.node.kind = core::PatKind::Var;
  p.node.var = p.s.program.NewLocal(var->name, p.expected, var->span);
  p.bound.push_back({var->name, p.node.var, var->span});
  RememberReason(p.s, p.node.var, p.why);
}

void CheckStringPat(PatCheck& p) {
  State& s = p.s;
  p.node.literal = core::LiteralKind::String;
  if (IsOverloadedString(s, p.expected)) {
    Origin origin{Origin::String, p.pat->span, Intern(s.diags.sources().Text(p.pat->span))};
    Require(s, KnownClass(s, "Eq"), p.expected, origin);
    Require(s, KnownClass(s, "IsString"), p.expected, origin);
    return;
  }
  if (!IsExpected(p, s.types.List(s.types.Scalar(Builtin::Char)))) p.node.kind = core::PatKind::Wildcard;
}

void CheckNumberPat(PatCheck& p, bool integer) {
  State& s = p.s;
  p.node.literal = integer ? core::LiteralKind::Integer : core::LiteralKind::Fractional;
  TypeId head = s.unify.Head(p.expected);
  if (s.types.Kind(head) == TypeKind::Con && !s.env.instances.count({KnownClass(s, "Num").index, s.types.ConOf(head).index})) {
    s.Error(Diag::NumberPattern, p.pat->span, Text(p.node.text), PrintType(s, p.expected));
    Explain(s, p.why);
    p.node.kind = core::PatKind::Wildcard;
    return;
  }
  Origin origin{Origin::LiteralPattern, p.pat->span, p.node.text};
  Require(s, KnownClass(s, "Eq"), p.expected, origin);
  Require(s, KnownClass(s, integer ? "Num" : "Fractional"), p.expected, origin);
}

void CheckLiteralPat(PatCheck& p, const ast::LiteralPat* literal) {
  p.node.kind = core::PatKind::Literal;
  p.node.text = literal->negative ? Intern("-" + std::string(Text(literal->value.text))) : literal->value.text;
  switch (literal->value.kind) {
    case ast::LiteralKind::Char:
      p.node.literal = core::LiteralKind::Char;
      if (!IsExpected(p, p.s.types.Scalar(Builtin::Char))) p.node.kind = core::PatKind::Wildcard;
      break;
    case ast::LiteralKind::String: CheckStringPat(p); break;
    case ast::LiteralKind::Integer:
    case ast::LiteralKind::Fractional: CheckNumberPat(p, literal->value.kind == ast::LiteralKind::Integer);
  }
}

// `x :<| xs` of a sequence: the constructor is one of what a look at an end of the sequence gives.
void CheckSequencePat(PatCheck& p, ConId con) {
  State& s = p.s;
  bool right = s.program.constructors[con].name == Intern(":|>");
  core::Expr* view = Use(s, KnownVar(s, right ? "primViewBack" : "primViewFront"), p.pat->span);
  TypeId from, to;
  s.unify.IsFun(view->type, &from, &to);
  const bool ok = IsExpected(p, from);
  const core::Pat* made = ok ? p.Sub(p.pat, to) : p.Any(p.pat, to);
  if (!ok) return;
  p.node.kind = core::PatKind::View;
  p.node.view = view;
  p.node.args = s.program.Copy<const core::Pat*>({made});
}

// `P p q` of a pattern synonym: what its function gives is Just (p, q), or Right p.
void CheckSynonymPat(PatCheck& p, const ast::ConPat* pat, VarId matcher) {
  State& s = p.s;
  core::Expr* view = Use(s, matcher, pat->name.span);
  TypeId from, to;
  if (!s.unify.IsFun(view->type, &from, &to)) {  // it holds an error
    for (const ast::Pat* arg : pat->args) p.Any(arg, s.unify.FreshAny());
    return;
  }
  llvm::SmallVector<TypeId> found, parts;
  const TypeId head = s.unify.Head(to, &found);
  const bool one = found.size() == 2;
  s.types.IsTuple(s.unify.Zonk(found.back()), &parts);
  const size_t arity = one ? 1 : parts.size();
  if (s.types.Kind(head) == TypeKind::Con && arity != pat->args.size()) {
    Diagnostics& diag = s.Error(Diag::PatternArity, pat->span, Text(pat->name.text), arity, arity == 1 ? "field" : "fields", pat->args.size());
    if (Span at = Shown(s, s.program.vars[matcher].span); at.valid()) diag.Note(at, "the pattern synonym is declared here");
    for (const ast::Pat* arg : pat->args) p.Any(arg, s.unify.FreshAny());
    return;
  }
  if (!IsExpected(p, from)) {
    for (const ast::Pat* arg : pat->args) p.Any(arg, s.unify.FreshAny());
    return;
  }
  const ast::Name give{Intern(one ? "Right" : "Just"), s.generated_qualifier, pat->span};
  ast::Pat* inner = one ? pat->args[0] : s.generated.New<ast::TuplePat>(pat->span, pat->args);
  p.node.kind = core::PatKind::View;
  p.node.view = view;
  p.node.written = true;
  p.node.args = s.program.Copy<const core::Pat*>(
      {p.Any(s.generated.New<ast::ConPat>(pat->span, give, s.generated.Copy<ast::Pat*>({inner})), to)});
}

void CheckConPat(PatCheck& p, const ast::ConPat* pat) {
  State& s = p.s;
  if (!LookUpConstructor(s, pat->name).valid())
    if (const VarId matcher = SynonymMatcher(s, pat->name); matcher.valid()) return CheckSynonymPat(p, pat, matcher);
  ConId con = FindConstructorOf(s, pat->name, p.expected);
  if (!con.valid()) {
    for (const ast::Pat* arg : pat->args) p.Any(arg, s.unify.Fresh());
    return;
  }
  if (!s.options.library && IsSequencePattern(s, con) && s.types.Head(s.unify.Zonk(p.expected)) != s.program.constructors[con].tycon)
    return CheckSequencePat(p, con);
  size_t fields = s.program.constructors[con].fields.size();
  if (pat->args.size() == fields) return CheckFields(p, con, llvm::ArrayRef<const ast::Pat*>(pat->args.data(), pat->args.size()));
  Diagnostics& diag = s.Error(Diag::PatternArity, pat->span, Text(pat->name.text), fields, fields == 1 ? "field" : "fields", pat->args.size());
  if (Shown(s, s.program.constructors[con].span).valid()) diag.Note(s.program.constructors[con].span, "the constructor is declared here");
  if (pat->args.empty()) s.diags.Hint(fmt::format("with its fields it stands in parentheses: `({} ..)`", Text(pat->name.text)));
  // Which of the fields they were meant for is open.
  for (const ast::Pat* arg : pat->args) {
    TypeId type = s.unify.Fresh();
    p.Any(arg, type);
    s.unify.MarkAny(type);
  }
  CheckFields(p, con, {});
}

void CheckRecordPat(PatCheck& p, const ast::RecordPat* record) {
  State& s = p.s;
  ConId con = FindConstructorOf(s, record->name, p.expected);
  if (!con.valid()) {
    for (const ast::FieldPat& field : record->fields)
      if (field.pat) p.Any(field.pat, s.unify.Fresh());
    return;
  }
  std::vector<const ast::Pat*> args(s.program.constructors[con].fields.size(), nullptr);
  for (const ast::FieldPat& field : record->fields) {
    int index = FieldIndex(s, con, field.field);
    if (index < 0) {
      if (field.pat) p.Any(field.pat, s.unify.Fresh());
    } else if (args[index]) {
      s.Error(Diag::FieldTwice, field.field.span, Text(field.field.text));
    } else {
      args[index] = field.pat;
    }
  }
  CheckFields(p, con, args);
}

void CheckTuplePat(PatCheck& p, const ast::TuplePat* tuple) {
  State& s = p.s;
  if (tuple->elements.empty()) return CheckFields(p, s.program.unit_con, {});
  if (tuple->elements.size() > 62) {
    s.Error(Diag::TupleTooLong, tuple->span, tuple->elements.size());
    for (const ast::Pat* element : tuple->elements) p.Any(element, s.unify.Fresh());
    return;
  }
  CheckFields(p, TupleConstructor(s.env, s.program, static_cast<uint32_t>(tuple->elements.size())),
              llvm::ArrayRef<const ast::Pat*>(tuple->elements.data(), tuple->elements.size()));
}

void CheckListPat(PatCheck& p, const ast::ListPat* list) {
  State& s = p.s;
  TypeId element = s.unify.Fresh();
  bool ok = IsExpected(p, s.types.List(element));
  std::vector<const core::Pat*> elements;
  for (const ast::Pat* item : list->elements) {
    uint32_t errors = s.diags.error_count();
    elements.push_back(p.Sub(item, ok ? element : s.unify.Fresh()));
    if (s.diags.error_count() != errors && list->elements.size() == 1 && IsCons(item))
      s.diags.Hint(fmt::format("`({})` takes a list apart; in brackets it is the only element of a list", s.diags.sources().Text(item->span)));
  }
  if (!ok) return;
  core::Pat made = p.node;
  made.kind = core::PatKind::Con;
  made.con = s.program.nil_con;
  made.type_args = s.program.Copy<TypeId>({element});
  for (size_t i = elements.size(); i-- > 0;) {
    const core::Pat* rest = MakePat(s, made);
    made.con = s.program.cons_con;
    made.args = s.program.Copy<const core::Pat*>({elements[i], rest});
  }
  p.node = made;
}

// A pattern of the same type within: `!p`, `~p`.
void CheckInner(PatCheck& p, core::PatKind kind, const ast::Pat* sub) {
  const bool may_open = std::exchange(p.s.may_open, p.s.may_open && kind != core::PatKind::Lazy);
  const core::Pat* made = p.Sub(sub, p.expected);
  p.s.may_open = may_open;
  p.node.kind = kind;
  p.node.args = p.s.program.Copy<const core::Pat*>({made});
}

void CheckAsPat(PatCheck& p, const ast::AsPat* as) {
  VarId var = p.s.program.NewLocal(as->name, p.expected, as->name_span);
  p.bound.push_back({as->name, var, as->name_span});
  RememberReason(p.s, var, p.why);
  CheckInner(p, core::PatKind::As, as->pat);
  p.node.var = var;
}

// `(e -> p)`: what is bound further left is in scope of e.
void CheckViewPat(PatCheck& p, const ast::ViewPat* view) {
  State& s = p.s;
  const size_t mark = s.LocalMark();
  BindAll(s, p.bound);
  core::Expr* function = Infer(s, view->view);
  UnbindTo(s, mark);
  TypeId from, to;
  if (!s.unify.IsFun(function->type, &from, &to)) {
    from = s.unify.Fresh(), to = s.unify.Fresh();
    if (!Expect(s, s.types.Fun(from, to), function->type, view->view->span, Reason{})) {
      p.Any(view->pat, s.unify.FreshAny());
      return;
    }
  }
  if (!IsExpected(p, from)) return void(p.Any(view->pat, to));
  const core::Pat* made = p.Any(view->pat, to);
  p.node.kind = core::PatKind::View;
  p.node.view = function;
  p.node.written = true;
  p.node.args = s.program.Copy<const core::Pat*>({made});
}

const core::Pat* CheckTypedPat(PatCheck& p, const ast::TypedPat* typed) {
  State& s = p.s;
  TypeVarScope scope = ScopedTypeVars(s);
  core::Scheme scheme = ConvertScheme(s, typed->type, scope);
  // A variable that is not in scope stands for whatever the pattern's type turns out to be.
  TypeArgs fresh;
  for (size_t i = 0; i < scheme.tyvars.size(); ++i) fresh.push_back(s.unify.Fresh());
  TypeId type = IsPoly(s, p.expected) || !typed->type.forall.empty() ? core::PolyType(s.program, scheme)
                                                                     : s.types.Substitute(scheme.type, scheme.tyvars, fresh);
  IsExpected(p, type);
  return CheckPat(s, typed->pat, type, Reason{Reason::Annotation, typed->type.span}, p.bound);
}

}  // namespace

const core::Pat* CheckPat(State& s, const ast::Pat* pat, TypeId expected, const Reason& why, std::vector<Bound>& bound) {
  PatCheck p{s, pat, expected, why, bound, {}};
  p.node.kind = core::PatKind::Wildcard;
  p.node.type = expected;
  p.node.span = pat->span;
  switch (pat->kind) {
    case ast::PatKind::Var: CheckVarPat(p, llvm::cast<ast::VarPat>(pat)); break;
    case ast::PatKind::Literal: CheckLiteralPat(p, llvm::cast<ast::LiteralPat>(pat)); break;
    case ast::PatKind::Con: CheckConPat(p, llvm::cast<ast::ConPat>(pat)); break;
    case ast::PatKind::Record: CheckRecordPat(p, llvm::cast<ast::RecordPat>(pat)); break;
    case ast::PatKind::Tuple: CheckTuplePat(p, llvm::cast<ast::TuplePat>(pat)); break;
    case ast::PatKind::List: CheckListPat(p, llvm::cast<ast::ListPat>(pat)); break;
    case ast::PatKind::As: CheckAsPat(p, llvm::cast<ast::AsPat>(pat)); break;
    case ast::PatKind::Bang: CheckInner(p, core::PatKind::Bang, llvm::cast<ast::BangPat>(pat)->pat); break;
    case ast::PatKind::Lazy: CheckInner(p, core::PatKind::Lazy, llvm::cast<ast::LazyPat>(pat)->pat); break;
    case ast::PatKind::Paren: return CheckPat(s, llvm::cast<ast::ParenPat>(pat)->pat, expected, why, bound);
    case ast::PatKind::Typed: return CheckTypedPat(p, llvm::cast<ast::TypedPat>(pat));
    case ast::PatKind::View: CheckViewPat(p, llvm::cast<ast::ViewPat>(pat)); break;
    case ast::PatKind::Wildcard:
    case ast::PatKind::Infix:
    case ast::PatKind::Error: break;
  }
  return MakePat(s, p.node);
}

const core::Pat* CheckOuterPat(State& s, const ast::Pat* pat, TypeId expected, const Reason& why, std::vector<Bound>& bound) {
  const core::Pat* made = CheckPat(s, pat, expected, why, bound);
  if (!s.strict || made->kind == core::PatKind::Bang) return made;
  while (const auto* paren = llvm::dyn_cast<ast::ParenPat>(pat)) pat = paren->pat;
  if (!llvm::isa<ast::LazyPat>(pat)) return BangPat(s, made);
  // `~p` takes the bang away and says nothing more, as in GHC: `~(C x)` is matched like `C x` without the extension.
  return made->args[0];
}

void BindAll(State& s, const std::vector<Bound>& bound) {
  for (const Bound& binder : bound) BindLocal(s, binder.name, binder.var);
}

bool CheckDistinct(State& s, const std::vector<Bound>& bound) {
  bool ok = true;
  llvm::DenseMap<uint32_t, Span> seen;
  for (const Bound& binder : bound) {
    auto [it, fresh] = seen.try_emplace(binder.name.index, binder.span);
    if (fresh) continue;
    ok = false;
    s.Error(Diag::DuplicateBinder, binder.span, Text(binder.name)).Note(it->second, "it is bound here first");
  }
  return ok;
}

ConId FindConstructorOf(State& s, const ast::Name& name, TypeId expected) {
  s.constructed_type = expected;
  ConId con = FindConstructor(s, name);
  s.constructed_type = TypeId();
  return con;
}

const core::Pat* Project(State& s, const core::Pat* pat, VarId keep, VarId by) {
  core::Pat copy = *pat;
  if (pat->kind == core::PatKind::Var) {
    if (pat->var == keep) copy.var = by;
    else copy.kind = core::PatKind::Wildcard, copy.var = VarId();
  } else if (pat->kind == core::PatKind::As) {
    if (pat->var == keep) copy.var = by;
    else return Project(s, pat->args[0], keep, by);
  }
  std::vector<const core::Pat*> args;
  for (const core::Pat* arg : pat->args) args.push_back(Project(s, arg, keep, by));
  copy.args = s.program.Copy<const core::Pat*>(args);
  return MakePat(s, copy);
}

}  // namespace df::check
