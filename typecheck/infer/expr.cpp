// Expressions: inference and elaboration, one member per form.
#include "typecheck/infer/expr.h"

#include "lang/budget.h"
#include "typecheck/explain/class.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/hint.h"
#include "typecheck/explain/holes.h"
#include "typecheck/explain/origin.h"
#include "typecheck/infer/app.h"
#include "typecheck/infer/bind.h"
#include "typecheck/infer/match.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/infer/own_state.h"
#include "typecheck/infer/pat.h"
#include "typecheck/infer/pattern_scope.h"
#include "typecheck/infer/poly.h"
#include "typecheck/infer/record.h"
#include "typecheck/infer/site.h"
#include "typecheck/infer/stmt.h"
#include "typecheck/infer/tensor.h"
#include "typecheck/resolve/find.h"
#include "typecheck/resolve/types.h"
#include "typecheck/solve/constraints.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

bool IsWholeType(const Types& types, TypeId head) {
  if (types.Kind(head) != TypeKind::Con) return false;
  Builtin builtin = types.cons[types.ConOf(head)].builtin;
  return builtin == Builtin::Int || builtin == Builtin::Integer;
}

KindId KindIn(State& s, const core::Scheme& scheme, TyVarId var);

core::Expr* CheckHole(State& s, const ast::Name& name, Span span, TypeId expected) {
  TypedHole hole{name.text, span, expected, {}, s.givens};
  llvm::DenseSet<uint32_t> seen;
  for (size_t i = s.local_trail.size(); i-- > 0;)
    if (Symbol local = s.local_trail[i]; seen.insert(local.index).second) hole.locals.push_back(s.locals[local.index].back());
  s.holes.push_back(std::move(hole));
  // It is told at the end of the module. Until then nothing else is said of what stands around it.
  s.tainted.push_back(s.region.valid() ? s.region : span);
  s.unbound.push_back(span);
  ++s.unreported;
  return ErrorNode(s, expected, span);
}

core::Expr* CheckVar(State& s, const ast::Name& name, Span span, TypeId expected, const Reason& why) {
  if (IsHole(s, name)) return CheckHole(s, name, span, expected);
  VarId var = FindValue(s, name);
  if (!var.valid()) return ErrorNode(s, expected, span);
  core::Expr* use = Use(s, var, span);
  if (WantsSite(s, var)) use = WithSite(s, use, span);
  s.subject = var;
  bool ok = Expect(s, expected, use->type, span, why);
  s.subject = VarId();
  return ok ? use : ErrorNode(s, expected, span);
}

// or the function that it is the name of
core::Expr* UseConstructor(State& s, ConId con, Span span) {
  if (s.options.library || !IsSequencePattern(s, con)) return UseCon(s, con, span);
  std::string_view name = Text(s.program.constructors[con].name);
  return Use(s, KnownVar(s, name == ":<|" ? "primAddFront" : name == ":|>" ? "primAddBack" : "primEmptySeq"), span);
}

core::Expr* CheckCon(State& s, const ast::Name& name, Span span, TypeId expected, const Reason& why) {
  if (!LookUpConstructor(s, name).valid() && SynonymMatcher(s, name).valid()) {
    if (LookUpValue(s, name).valid()) return CheckVar(s, name, span, expected, why);
    s.Error(Diag::OneWayPattern, span, Text(name.text)).Hint("a `where` behind its declaration says how it makes them");
    return ErrorNode(s, expected, span);
  }
  ConId con = FindConstructorOf(s, name, expected);
  if (!con.valid()) return ErrorNode(s, expected, span);
  core::Expr* use = UseConstructor(s, con, span);
  return Expect(s, expected, use->type, span, why) ? use : ErrorNode(s, expected, span);
}

// f @T: the function's type variables in the order in which its signature has them, a method's class first.
core::Expr* CheckTypeApp(State& s, const ast::TypeAppExpr* expr, TypeId expected, const Reason& why) {
  core::Expr* use = nullptr;
  core::List<TypeId> args;
  std::vector<KindId> kinds;
  ast::Name name;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(expr->fn)) {
    name = var->name;
    VarId id = FindValue(s, name);
    if (!id.valid()) return ErrorNode(s, expected, expr->span);
    use = Use(s, id, expr->fn->span);
    // What is inferred has its variables in an order that nobody wrote.
    const core::Var& row = s.program.vars[id];
    if (row.kind == core::VarKind::Method || row.from_library || s.signature_of.count(id.index)) {
      args = llvm::cast<core::VarExpr>(use)->type_args;
      for (TyVarId tyvar : row.scheme.tyvars) kinds.push_back(KindIn(s, row.scheme, tyvar));
    }
  } else {
    name = llvm::cast<ast::ConExpr>(expr->fn)->name;
    ConId id = FindConstructor(s, name);
    if (!id.valid()) return ErrorNode(s, expected, expr->span);
    use = UseCon(s, id, expr->fn->span);
    args = llvm::cast<core::ConExpr>(use)->type_args;
    KindId kind = s.env.KindOf(s.program.constructors[id].tycon), of;
    while (s.env.kinds.IsArrow(kind, &of, &kind)) kinds.push_back(of);
  }
  if (expr->types.size() > std::min(args.size(), kinds.size())) {
    Diagnostics& diag = s.Error(Diag::TooManyArguments, expr->span, fmt::format("`{}`", Text(name.text)), args.size(),
                              args.size() == 1 ? "type argument" : "type arguments", expr->types.size());
    if (args.empty()) diag.Hint("they are the variables of a signature, in their order there");
    return ErrorNode(s, expected, expr->span);
  }
  for (size_t i = 0; i < expr->types.size(); ++i) {
    if (!expr->types[i]) continue;
    TypeVarScope scope = ScopedTypeVars(s);
    scope.implicit = false;
    s.unify.Unify(args[i], ConvertType(s, expr->types[i], scope, kinds[i]));
  }
  if (const auto* var = llvm::dyn_cast<core::VarExpr>(use); var && WantsSite(s, var->var)) use = WithSite(s, use, expr->fn->span);
  return Expect(s, expected, use->type, expr->span, why) ? use : ErrorNode(s, expected, expr->span);
}

// The kind of a scheme's variable, by where it stands.
KindId KindIn(State& s, const core::Scheme& scheme, TyVarId var) {
  for (const core::Pred& pred : scheme.preds)
    if (s.types.Kind(pred.type) == TypeKind::Var && s.types.VarOf(pred.type) == var) return s.env.class_kinds[pred.cls.index];
  KindId found;
  auto look = [&](auto& self, TypeId type, KindId kind) -> void {
    if (s.types.Kind(type) == TypeKind::Var) {
      if (s.types.VarOf(type) == var) found = kind;
      return;
    }
    llvm::SmallVector<TypeId> args;
    TyConId head = s.types.Head(type, &args);
    if (!head.valid()) {
      if (args.empty()) return;  // a dimension
      while (s.types.Kind(type) == TypeKind::App) type = s.types.FnOf(type);
      self(self, type, s.env.kinds.Arrows(static_cast<uint32_t>(args.size())));
    }
    KindId rest = head.valid() ? s.env.KindOf(head) : KindId(), of;
    for (TypeId arg : args) self(self, arg, rest.valid() && s.env.kinds.IsArrow(rest, &of, &rest) ? of : s.env.kinds.Star());
  };
  look(look, scheme.type, s.env.kinds.Star());
  return found.valid() ? found : s.env.kinds.Star();
}

core::Expr* CheckLiteral(State& s, const ast::Literal& literal, bool negative, Span span, TypeId expected, const Reason& why) {
  core::LiteralExpr node{};
  node.span = span;
  node.text = negative ? Intern("-" + std::string(Text(literal.text))) : literal.text;
  node.type = expected;
  switch (literal.kind) {
    case ast::LiteralKind::Integer:
    case ast::LiteralKind::Fractional: {
      bool integer = literal.kind == ast::LiteralKind::Integer;
      node.literal = integer ? core::LiteralKind::Integer : core::LiteralKind::Fractional;
      ClassId cls = KnownClass(s, integer ? "Num" : "Fractional");
      if (!cls.valid()) {
        s.Error(Diag::ConstructUnavailable, span, "a number literal", integer ? "Num" : "Fractional");
        return ErrorNode(s, expected, span);
      }
      // Where the type is known already and cannot be this number's, the clash has two places: say both.
      bool whole = !integer && IsWholeType(s.types, s.unify.Head(expected));
      if (!whole && IsRefused(s, cls, expected)) return ErrorNode(s, expected, span);
      if (whole || !IsNumberType(s, expected)) {
        std::string number = fmt::format("the number `{}`", Text(node.text));
        if (whole) s.Error(Diag::FractionMismatch, span, Text(node.text), PrintType(s, expected));
        else s.Error(Diag::NumberMismatch, span, number, PrintType(s, expected));
        if (why.kind == Reason::Branch || why.kind == Reason::Alternative || why.kind == Reason::Element ||
            why.kind == Reason::Clause)
          s.diags.Note(why.span, fmt::format("this has the type `{}`", PrintType(s, expected)));
        else Explain(s, why);
        ExplainPlace(s, expected, span);
        HintAtClash(s, expected, TypeId(), span, why);
        return ErrorNode(s, expected, span);
      }
      Require(s, cls, expected, {integer ? Origin::Number : Origin::Fraction, span, node.text});
      return s.Node(node);
    }
    case ast::LiteralKind::Char: {
      node.literal = core::LiteralKind::Char;
      node.type = s.types.Scalar(Builtin::Char);
      break;
    }
    case ast::LiteralKind::String: {
      node.literal = core::LiteralKind::String;
      node.type = s.types.List(s.types.Scalar(Builtin::Char));
      if (!IsOverloadedString(s, expected)) break;
      size_t mark = s.wanted.size();
      Symbol shown = Intern(s.diags.sources().Text(span));
      core::Expr* from = Use(s, Needed(s, "fromString", "a string literal", span), span);
      for (size_t i = mark; i < s.wanted.size(); ++i) s.wanted[i].origin = {Origin::String, span, shown};
      core::Expr* value = AppNode(s, from, {s.Node(node)}, span);
      return Expect(s, expected, value->type, span, why) ? value : ErrorNode(s, expected, span);
    }
  }
  return Expect(s, expected, node.type, span, why) ? s.Node(node) : ErrorNode(s, expected, span);
}

core::Expr* CheckNegate(State& s, const ast::NegateExpr* expr, TypeId expected, const Reason& why) {
  // A literal is negated here, except zero: -0.0 is not 0.0.
  const ast::Expr* inner = StripParens(expr->operand);
  if (const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(inner)) {
    std::string_view text = Text(literal->value.text);
    if ((literal->value.kind == ast::LiteralKind::Integer ||
         literal->value.kind == ast::LiteralKind::Fractional) &&
        text.find_first_of("123456789") != std::string_view::npos)
      return CheckLiteral(s, literal->value, true, expr->span, expected, why);
  }
  VarId negate = Needed(s, "negate", "negation", expr->span);
  if (!negate.valid()) return ErrorNode(s, expected, expr->span);
  Span minus = expr->span;
  minus.end = std::max(minus.begin, expr->operand->span.begin);
  size_t mark = s.wanted.size();
  core::Expr* fn = Use(s, negate, minus);
  for (size_t i = mark; i < s.wanted.size(); ++i) s.wanted[i].origin.kind = Origin::Negation;
  TypeId from, to;
  s.unify.IsFun(fn->type, &from, &to);
  bool ok = Expect(s, expected, to, expr->span, why);
  core::Expr* operand = Check(s, expr->operand, from, why);
  return ok ? AppNode(s, fn, {operand}, expr->span) : ErrorNode(s, expected, expr->span);
}

core::Expr* CheckIf(State& s, const ast::IfExpr* expr, TypeId expected, const Reason& why) {
  core::Expr* cond = Check(s, expr->cond, s.types.Scalar(Builtin::Bool), {Reason::Condition, expr->cond->span});
  bool open = s.types.Kind(s.unify.Prune(expected)) == TypeKind::Meta;
  core::Expr* then_ = Check(s, expr->then_, expected, why);
  Reason other{Reason::Branch, expr->then_->span};
  core::Expr* else_ = Check(s, expr->else_, expected, open ? other : why);
  return IfNode(s, cond, then_, else_, expr->span);
}

// `mapM_ (\i x -> ..) (zip [0 ..] xs)`
void HintAtParameters(State& s, const ast::LambdaExpr* expr, llvm::ArrayRef<TypeId> given) {
  std::vector<std::string_view> names;
  for (const ast::Pat* param : expr->params) names.push_back(s.diags.sources().Text(param->span));
  TypeId only = s.unify.Prune(given[0]);
  bool may_be_tuple = given.size() == 1 && (s.types.Kind(only) == TypeKind::Meta || s.types.IsTuple(only));
  std::string pair = may_be_tuple ? fmt::format("; `\\({}) -> ..` takes a tuple apart", fmt::join(names, ", ")) : std::string();
  s.diags.Hint(fmt::format("this lambda has {} parameters one after the other, and is given {}{}", names.size(), given.size(), pair));
}

core::Expr* CheckLambda(State& s, const ast::LambdaExpr* expr, TypeId expected, const Reason& why) {
  size_t mark = s.LocalMark();
  std::vector<TypeId> params;
  TypeId result = expected;
  for (size_t i = 0; i < expr->params.size(); ++i) {
    TypeId from, to;
    if (!s.unify.IsFun(result, &from, &to)) {
      from = s.unify.Fresh(), to = s.unify.Fresh();
      if (s.types.Kind(s.unify.Prune(result)) == TypeKind::Meta) {
        s.unify.Unify(result, s.types.Fun(from, to));
      } else {
        // Not a function at all, or one of fewer arguments. The lambda is still looked into for its own
        // errors.
        TypeId found = s.types.Fun(from, to);
        if (i == 0) {
          Expect(s, result, found, expr->span, why);
        } else if (!Expect(s, expected, s.types.Fun(params, found), expr->span, why)) {
          HintAtParameters(s, expr, params);
        }
      }
    }
    params.push_back(from);
    result = to;
  }
  std::vector<Bound> bound;
  std::vector<const core::Pat*> pats;
  bool simple = true;
  PatternScope scope(s);
  for (size_t i = 0; i < expr->params.size(); ++i) {
    pats.push_back(
        CheckOuterPat(s, expr->params[i], params[i], why.kind == Reason::Signature ? why : Reason{}, bound));
    simple &= pats.back()->kind == core::PatKind::Var || pats.back()->kind == core::PatKind::Wildcard;
  }
  CheckDistinct(s, bound);
  BindAll(s, bound);
  Reason inner;
  if (why.kind == Reason::Signature || why.kind == Reason::Annotation) inner = why;
  const ast::LambdaExpr* around = std::exchange(s.lambda, expr);
  core::Expr* body = Check(s, expr->body, result, inner);
  s.lambda = around;
  UnbindTo(s, mark);
  scope.Close();
  std::vector<VarId> vars;
  for (size_t i = 0; i < pats.size(); ++i)
    vars.push_back(
        pats[i]->kind == core::PatKind::Var && simple
            ? pats[i]->var
            : s.program.NewLocal(Intern("x" + std::to_string(i + 1)), params[i], expr->params[i]->span));
  if (!simple) {
    core::Row row{s.program.Copy<const core::Pat*>(pats), body, expr->span};
    body = MatchNode(s, core::MatchContext::Lambda, Symbol(), vars, {row}, result, expr->span);
  }
  core::Expr* lambda = LambdaNode(s, vars, body, expr->span);
  lambda->type = expected;
  return lambda;
}

core::Expr* CheckTuple(State& s, llvm::ArrayRef<const ast::Expr*> elements, Span span, TypeId expected, const Reason& why) {
  if (elements.size() > 62) {
    s.Error(Diag::TupleTooLong, span, elements.size());
    return ErrorNode(s, expected, span);
  }
  ConId con = TupleConstructor(s.env, s.program, static_cast<uint32_t>(elements.size()));
  core::Expr* fn = UseCon(s, con, span);
  TypeArgs params;
  TypeId result = s.types.SplitFun(fn->type, params);
  bool ok = Expect(s, expected, result, span, why);
  std::vector<const core::Expr*> args;
  Reason part = PartOf(why);
  size_t wrong = elements.size();  // the first component that is
  for (size_t i = 0; i < elements.size(); ++i) {
    const uint32_t before = s.diags.error_count();
    if (wrong == elements.size()) {
      args.push_back(Check(s, elements[i], params[i], ok ? part : Reason{}));
      if (s.diags.error_count() != before) wrong = i;
      continue;
    }
    // `(state, value)` for `(value, state)`: one message tells it.
    core::Expr* component = Infer(s, elements[i]);
    args.push_back(component);
    if (s.diags.error_count() != before) continue;
    TypeId given = s.unify.Zonk(component->type);
    if (given == s.unify.Zonk(params[wrong]) && given != s.unify.Zonk(params[i]) && !s.types.HasMeta(given))
      s.diags.Hint("the components look as if they were given in another order");
    else Expect(s, params[i], component->type, elements[i]->span, ok ? part : Reason{});
  }
  return ok ? AppNode(s, fn, args, span) : ErrorNode(s, expected, span);
}

core::Expr* CheckList(State& s, const ast::ListExpr* expr, TypeId expected, const Reason& why) {
  if (TypeId head = s.unify.Head(expected); s.types.BuiltinOf(head) == Builtin::Tensor)
    return CheckTensorLiteral(s, expr, expected, why);
  TypeId element = s.unify.Fresh();
  TypeId list = s.types.List(element);
  bool ok = Expect(s, expected, list, expr->span, why);
  bool open = s.types.Kind(s.unify.Prune(element)) == TypeKind::Meta;
  std::vector<core::Expr*> elements;
  Reason part = PartOf(why);
  bool no_numbers = false, no_rows = false;  // one of them was reported already
  std::vector<TypeId> wrong;  // types of elements that were
  for (const ast::Expr* item : expr->elements) {
    Reason first{Reason::Element, expr->elements[0]->span};
    const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(item);
    bool number = literal && (literal->value.kind == ast::LiteralKind::Integer ||
                              literal->value.kind == ast::LiteralKind::Fractional);
    if (number && no_numbers) continue;
    const bool rows = llvm::isa<ast::ListExpr>(StripParens(item));
    if (rows && no_rows) {
      elements.push_back(ErrorNode(s, element, item->span));
      continue;
    }
    // `['a', 'b']` for a list of strings: what is wrong of one is so of the others of its kind.
    TypeId quick = wrong.empty() || number ? TypeId() : QuickType(s, item);
    if (quick.valid() && llvm::is_contained(wrong, quick)) {
      elements.push_back(ErrorNode(s, element, item->span));
      continue;
    }
    uint32_t errors = s.diags.error_count();
    elements.push_back(Check(s, item, element, open && item != expr->elements[0] ? first : part));
    if (s.diags.error_count() == errors) continue;
    no_numbers |= number;
    no_rows |= rows && s.diags.all().back().span == item->span;
    if (!number && s.diags.all().back().span == item->span)
      if (TypeId type = QuickType(s, item); type.valid()) wrong.push_back(type);
  }
  return ok ? ListNode(s, elements, element, expr->span) : ErrorNode(s, expected, expr->span);
}

// `e :: T`. A polymorphic T is checked as a local definition with a signature would be.
core::Expr* CheckTyped(State& s, const ast::TypedExpr* expr, TypeId expected, const Reason& why) {
  std::unique_ptr<Signature> signature = ConvertSignature(s, expr->type, expr->type.span);
  if (!signature) {
    Infer(s, expr->expr);
    return ErrorNode(s, expected, expr->span);
  }
  Reason annotation{Reason::Annotation, expr->type.span};
  if (signature->scheme.tyvars.empty()) {
    for (const core::Pred& pred : signature->scheme.preds)
      Require(s, pred.cls, pred.type, {Origin::Use, pred.span});
    uint32_t errors = s.diags.error_count();
    core::Expr* inner = Check(s, expr->expr, signature->scheme.type, annotation);
    // An annotation that does not fit may be what is wrong: what it says clashes with nothing more.
    if (s.diags.error_count() != errors && s.diags.all().back().span == expr->expr->span) return ErrorNode(s, expected, expr->span);
    return Expect(s, expected, signature->scheme.type, expr->span, why) ? inner
                                                                     : ErrorNode(s, expected, expr->span);
  }
  VarId var = s.program.NewLocal(Intern("annotated"), signature->scheme.type, expr->span);
  core::Expr* value =
      CheckAgainst(s, signature->scheme, expr->type.span, Symbol(), signature->scoped,
                   [&](TypeId type, const Reason& reason) { return Check(s, expr->expr, type, annotation); });
  s.program.vars[var].scheme = signature->scheme;
  core::Expr* use = Use(s, var, expr->span);
  if (!Expect(s, expected, use->type, expr->span, why)) return ErrorNode(s, expected, expr->span);
  return LetNode(s, var, value, use);
}

}  // namespace

// Why a part of a list or tuple has its type. A signature tells of parts as it does of the whole.
Reason PartOf(const Reason& why) {
  if (why.kind == Reason::None || why.kind == Reason::Signature || why.kind == Reason::Annotation) return why;
  Reason part{Reason::Part};
  part.outer = &why;
  return part;
}

core::Expr* Use(State& s, VarId id, Span span) {
  core::VarExpr node{};
  node.span = span;
  node.var = id;
  if (s.broken.count(id.index)) {
    node.type = s.unify.Fresh();
    s.unify.MarkAny(node.type);
    return s.Node(node);
  }
  core::Scheme& scheme = s.program.vars[id].scheme;
  if (scheme.tyvars.empty()) {
    node.type = scheme.type;
    if (IsPoly(s, node.type) && !s.group_uses.count(id.index)) Instantiate(s, node);
    core::VarExpr* made = s.Node(node);
    // Inside its own group a variable is monomorphic; its type arguments are known once the group is closed.
    auto group = s.group_uses.find(id.index);
    if (group != s.group_uses.end()) group->second.push_back(made);
    return made;
  }
  TypeArgs args;
  for (TyVarId var : scheme.tyvars) {
    args.push_back(s.unify.Fresh(Shown(s, s.types.vars[var].span).valid() ? s.types.vars[var].name : Symbol()));
    if (s.refuted.count(var.index)) s.unify.MarkAny(args.back());
  }
  const bool runs_state = RunsState(s, id);
  TyConId own;
  if (runs_state) own = OwnState(s, args[0]);
  node.type = s.types.Substitute(scheme.type, scheme.tyvars, args);
  for (const core::Pred& pred : scheme.preds) {
    Origin origin{Origin::Use, span, s.program.vars[id].name, id, pred.span};
    Require(s, pred.cls, s.types.Substitute(pred.type, scheme.tyvars, args), origin);
  }
  node.type_args = s.program.Copy<TypeId>(args);
  core::VarExpr* made = s.Node(node);
  if (runs_state) s.state_uses.push_back({made, own});
  return Instantiated(s, made);
}

core::Expr* UseCon(State& s, ConId id, Span span) {
  const core::DataCon& con = s.program.constructors[id];
  const TyCon& tycon = s.types.cons[con.tycon];
  core::ConExpr node{};
  node.span = span;
  node.con = id;
  TypeArgs args;
  const std::vector<TyVarId> vars = VariablesOf(s, id);
  for (size_t i = 0; i < vars.size(); ++i) args.push_back(s.unify.Fresh());
  node.type = s.types.Con(con.tycon, llvm::ArrayRef(args).take_front(tycon.params.size()));
  for (size_t i = con.fields.size(); i-- > 0;)
    node.type = s.types.Fun(s.types.Substitute(con.fields[i].type, vars, args), node.type);
  for (const auto& [param, type] : con.equations)
    s.unify.Unify(args[static_cast<size_t>(llvm::find(vars, param) - vars.begin())], s.types.Substitute(type, vars, args));
  const Symbol name = con.name;
  for (const core::Pred& pred : std::vector<core::Pred>(con.context))
    Require(s, pred.cls, s.types.Substitute(pred.type, vars, args), {Origin::Use, span, name, VarId(), pred.span});
  node.type_args = s.program.Copy<TypeId>(args);
  return s.Node(node);
}

// OverloadedStrings: `"abc"` is `fromString "abc"`, unless its type is known to be a list or to have no such instance.
bool IsOverloadedString(State& s, TypeId expected) {
  if (!s.string_classes) return false;
  TypeId head = s.unify.Head(expected);
  if (s.types.Kind(head) != TypeKind::Con) return true;
  return s.types.BuiltinOf(head) != Builtin::List &&
         s.env.instances.count({KnownClass(s, "IsString").index, s.types.ConOf(head).index});
}

core::Expr* Check(State& s, const ast::Expr* expr, TypeId expected, const Reason& why) {
  CheckBudget();
  if (IsPoly(s, expected)) return CheckPoly(s, expr, expected, why);
  switch (expr->kind) {
    case ast::ExprKind::Var: return CheckVar(s, llvm::cast<ast::VarExpr>(expr)->name, expr->span, expected, why);
    case ast::ExprKind::Con:
      if (IsEmptyList(llvm::cast<ast::ConExpr>(expr)->name) && s.types.BuiltinOf(s.unify.Head(expected)) == Builtin::Tensor)
        return CheckTensorLiteral(s, expr, expected, why);
      return CheckCon(s, llvm::cast<ast::ConExpr>(expr)->name, expr->span, expected, why);
    case ast::ExprKind::Literal:
      return CheckLiteral(s, llvm::cast<ast::LiteralExpr>(expr)->value, false, expr->span, expected, why);
    case ast::ExprKind::App: {
      const auto* app = llvm::cast<ast::AppExpr>(expr);
      return CheckApp(s, app->fn, llvm::ArrayRef<const ast::Expr*>(app->args.data(), app->args.size()), false,
                      expr->span, expected, why);
    }
    case ast::ExprKind::Binary: {
      const auto* binary = llvm::cast<ast::BinaryExpr>(expr);
      return CheckApp(s, binary->op, {binary->left, binary->right}, true, expr->span, expected, why);
    }
    case ast::ExprKind::Negate: return CheckNegate(s, llvm::cast<ast::NegateExpr>(expr), expected, why);
    case ast::ExprKind::Lambda: return CheckLambda(s, llvm::cast<ast::LambdaExpr>(expr), expected, why);
    case ast::ExprKind::Let: {
      const auto* let = llvm::cast<ast::LetExpr>(expr);
      return CheckLet(s, let->decls, expr->span, [&] { return Check(s, let->body, expected, why); });
    }
    case ast::ExprKind::If: return CheckIf(s, llvm::cast<ast::IfExpr>(expr), expected, why);
    case ast::ExprKind::MultiIf: {
      const auto* multi = llvm::cast<ast::MultiIfExpr>(expr);
      core::Expr* body = CheckGuarded(s, multi->alternatives, expected, why);
      // A match of nothing: where no guard holds it fails with the place of the `if`.
      core::Row row{{}, body, expr->span};
      return MatchNode(s, core::MatchContext::Guard, Intern("if"), {}, {row}, expected, expr->span);
    }
    case ast::ExprKind::Case: {
      const auto* match = llvm::cast<ast::CaseExpr>(expr);
      return CheckCase(s, match->scrutinee, match->alternatives, expr->span, expected, why);
    }
    case ast::ExprKind::LambdaCase:
      return CheckLambdaCase(s, llvm::cast<ast::LambdaCaseExpr>(expr), expected, why);
    case ast::ExprKind::Do: {
      const auto& stmts = llvm::cast<ast::DoExpr>(expr)->stmts;
      if (stmts.size() > 1) SettleMonad(s, stmts, expr->span, expected);
      return CheckDo(s, stmts, expr->span, expected, why);
    }
    case ast::ExprKind::Tuple: {
      const auto* tuple = llvm::cast<ast::TupleExpr>(expr);
      return CheckTuple(s, llvm::ArrayRef<const ast::Expr*>(tuple->elements.data(), tuple->elements.size()),
                        expr->span, expected, why);
    }
    case ast::ExprKind::TupleSection:
      return CheckTupleSection(s, llvm::cast<ast::TupleSectionExpr>(expr), expected, why);
    case ast::ExprKind::List: return CheckList(s, llvm::cast<ast::ListExpr>(expr), expected, why);
    case ast::ExprKind::Sequence: return CheckSequence(s, llvm::cast<ast::SequenceExpr>(expr), expected, why);
    case ast::ExprKind::Comprehension: {
      const auto* list = llvm::cast<ast::ComprehensionExpr>(expr);
      if (!list->beside.empty()) return CheckParallel(s, list, expected, why);
      return CheckComprehension(s, list->element, list->stmts, expr->span, expected, why);
    }
    case ast::ExprKind::LeftSection:
      return CheckLeftSection(s, llvm::cast<ast::LeftSectionExpr>(expr), expected, why);
    case ast::ExprKind::RightSection:
      return CheckRightSection(s, llvm::cast<ast::RightSectionExpr>(expr), expected, why);
    case ast::ExprKind::Paren: return Check(s, llvm::cast<ast::ParenExpr>(expr)->expr, expected, why);
    case ast::ExprKind::Typed: return CheckTyped(s, llvm::cast<ast::TypedExpr>(expr), expected, why);
    case ast::ExprKind::TypeApp: return CheckTypeApp(s, llvm::cast<ast::TypeAppExpr>(expr), expected, why);
    case ast::ExprKind::RecordCon: return CheckRecordCon(s, llvm::cast<ast::RecordConExpr>(expr), expected, why);
    case ast::ExprKind::RecordUpdate:
      return CheckRecordUpdate(s, llvm::cast<ast::RecordUpdateExpr>(expr), expected, why);
    case ast::ExprKind::Infix:
    case ast::ExprKind::Error: break;
  }
  ++s.unreported;  // it was, before the check; what it stands in is broken
  return ErrorNode(s, expected, expr->span);
}

}  // namespace df::check
