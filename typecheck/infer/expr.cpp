// Expressions: inference and elaboration, one member per form.
#include "lang/budget.h"
#include "typecheck/checker.h"

namespace df::check {
namespace {

bool IsWholeType(const Types& types, TypeId head) {
  if (types.Kind(head) != TypeKind::Con) return false;
  Builtin builtin = types.cons[types.ConOf(head)].builtin;
  return builtin == Builtin::Int || builtin == Builtin::Integer;
}

}  // namespace

// Why a part of a list or tuple has its type. A signature tells of parts as it does of the whole.
Reason PartOf(const Reason& why) {
  if (why.kind == Reason::None || why.kind == Reason::Signature || why.kind == Reason::Annotation) return why;
  Reason part{Reason::Part};
  part.outer = &why;
  return part;
}

// ---------------------------------------------------------------- core nodes

core::Expr* Checker::ErrorNode(TypeId type, Span span) {
  unify_.MarkAny(type);
  core::FailExpr node{};
  node.type = type;
  node.span = span;
  node.message = Intern("this expression did not compile");
  return Node(node);
}

core::Expr* Checker::AppNode(const core::Expr* fn, llvm::ArrayRef<const core::Expr*> args, Span span) {
  if (args.empty()) return const_cast<core::Expr*>(fn);
  core::AppExpr node{};
  TypeId type = fn->type;
  for (size_t i = 0; i < args.size(); ++i) {
    TypeId to;
    if (!unify_.IsFun(type, nullptr, &to)) break;
    type = to;
  }
  node.type = type;
  node.span = span;
  node.fn = fn;
  node.args = program_.Copy<const core::Expr*>(args);
  return Node(node);
}

core::Expr* Checker::LambdaNode(llvm::ArrayRef<VarId> params, const core::Expr* body, Span span) {
  if (params.empty()) return const_cast<core::Expr*>(body);
  core::LambdaExpr node{};
  node.type = body->type;
  for (size_t i = params.size(); i-- > 0;)
    node.type = types_.Fun(program_.vars[params[i]].scheme.type, node.type);
  node.span = span;
  node.params = program_.Copy<VarId>(params);
  node.body = body;
  return Node(node);
}

core::Expr* Checker::LetNode(VarId var, const core::Expr* value, const core::Expr* body, bool recursive) {
  core::LetExpr node{};
  node.type = body->type;
  node.span = body->span;
  node.recursive = recursive;
  node.bindings = program_.Copy<core::Binding>({core::Binding{var, value}});
  node.body = body;
  return Node(node);
}

core::Expr* Checker::VarNode(VarId local, Span span) {
  core::VarExpr node{};
  node.type = program_.vars[local].scheme.type;
  node.span = span;
  node.var = local;
  return Node(node);
}

core::Expr* Checker::IfNode(const core::Expr* cond, const core::Expr* then_, const core::Expr* else_,
                            Span span) {
  core::CaseExpr node{};
  node.type = then_->type;
  node.span = span;
  node.scrutinee = cond;
  core::Alt yes{}, no{};
  yes.kind = no.kind = core::AltKind::Con;
  yes.con = program_.true_con;
  yes.body = then_;
  no.con = program_.false_con;
  no.body = else_;
  node.alts = program_.Copy<core::Alt>({no, yes});
  return Node(node);
}

// ---------------------------------------------------------------- names

core::Expr* Checker::Use(VarId id, Span span) {
  core::VarExpr node{};
  node.span = span;
  node.var = id;
  if (broken_.count(id.index)) {
    node.type = unify_.Fresh();
    unify_.MarkAny(node.type);
    return Node(node);
  }
  core::Scheme& scheme = program_.vars[id].scheme;
  if (scheme.tyvars.empty()) {
    node.type = scheme.type;
    core::VarExpr* made = Node(node);
    // Inside its own group a variable is monomorphic; its type arguments are known once the group is closed.
    auto group = group_uses_.find(id.index);
    if (group != group_uses_.end()) group->second.push_back(made);
    return made;
  }
  TypeArgs args;
  for (TyVarId var : scheme.tyvars) {
    args.push_back(unify_.Fresh(Shown(types_.vars[var].span).valid() ? types_.vars[var].name : Symbol()));
    if (refuted_.count(var.index)) unify_.MarkAny(args.back());
  }
  node.type = types_.Substitute(scheme.type, scheme.tyvars, args);
  for (const core::Pred& pred : scheme.preds) {
    Origin origin{Origin::Use, span, program_.vars[id].name, id, pred.span};
    Require(pred.cls, types_.Substitute(pred.type, scheme.tyvars, args), origin);
  }
  node.type_args = program_.Copy<TypeId>(args);
  return Node(node);
}

core::Expr* Checker::UseCon(ConId id, Span span) {
  const core::DataCon& con = program_.constructors[id];
  const TyCon& tycon = types_.cons[con.tycon];
  core::ConExpr node{};
  node.span = span;
  node.con = id;
  TypeArgs args;
  for (size_t i = 0; i < tycon.params.size(); ++i) args.push_back(unify_.Fresh());
  node.type = types_.Con(con.tycon, args);
  for (size_t i = con.fields.size(); i-- > 0;)
    node.type =
        types_.Fun(types_.Substitute(con.fields[i].type, types_.cons[con.tycon].params, args), node.type);
  node.type_args = program_.Copy<TypeId>(args);
  return Node(node);
}

core::Expr* Checker::CheckVar(const ast::Name& name, Span span, TypeId expected, const Reason& why) {
  StackUse stack;
  if (FindStackUse(name, 0, expected, stack)) return CheckStackUse(stack, {}, span, span, expected, why);
  if (IsHole(name)) return CheckHole(name, span, expected);
  const bool open = stack.open && local_groups_ > 0;
  VarId var = open ? stack.var : FindValue(name);
  if (!var.valid()) return ErrorNode(expected, span);
  core::Expr* use = open ? OpenStackUse(name, stack, span) : Use(var, span);
  subject_ = var;
  bool ok = Expect(expected, use->type, span, why);
  subject_ = VarId();
  return ok ? use : ErrorNode(expected, span);
}

core::Expr* Checker::UseConstructor(ConId con, Span span) {
  if (options_.library || !IsSequencePattern(con)) return UseCon(con, span);
  std::string_view name = Text(program_.constructors[con].name);
  return Use(KnownVar(name == ":<|" ? "primAddFront" : name == ":|>" ? "primAddBack" : "primEmptySeq"), span);
}

core::Expr* Checker::CheckCon(const ast::Name& name, Span span, TypeId expected, const Reason& why) {
  ConId con = FindConstructorOf(name, expected);
  if (!con.valid()) return ErrorNode(expected, span);
  core::Expr* use = UseConstructor(con, span);
  return Expect(expected, use->type, span, why) ? use : ErrorNode(expected, span);
}

// f @T: the function's type variables in the order in which its signature has them, a method's class first.
core::Expr* Checker::CheckTypeApp(const ast::TypeAppExpr* expr, TypeId expected, const Reason& why) {
  core::Expr* use = nullptr;
  core::List<TypeId> args;
  std::vector<KindId> kinds;
  ast::Name name;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(expr->fn)) {
    name = var->name;
    VarId id = FindValue(name);
    if (!id.valid()) return ErrorNode(expected, expr->span);
    use = Use(id, expr->fn->span);
    // What is inferred has its variables in an order that nobody wrote.
    const core::Var& row = program_.vars[id];
    if (row.kind == core::VarKind::Method || row.from_library || signature_of_.count(id.index)) {
      args = llvm::cast<core::VarExpr>(use)->type_args;
      for (TyVarId tyvar : row.scheme.tyvars) kinds.push_back(KindIn(row.scheme, tyvar));
    }
  } else {
    name = llvm::cast<ast::ConExpr>(expr->fn)->name;
    ConId id = FindConstructor(name);
    if (!id.valid()) return ErrorNode(expected, expr->span);
    use = UseCon(id, expr->fn->span);
    args = llvm::cast<core::ConExpr>(use)->type_args;
    KindId kind = env_.KindOf(program_.constructors[id].tycon), of;
    while (env_.kinds.IsArrow(kind, &of, &kind)) kinds.push_back(of);
  }
  if (expr->types.size() > std::min(args.size(), kinds.size())) {
    Diagnostics& diag = Error(Diag::TooManyArguments, expr->span, fmt::format("`{}`", Text(name.text)), args.size(),
                              args.size() == 1 ? "type argument" : "type arguments", expr->types.size());
    if (args.empty()) diag.Hint("they are the variables of a signature, in their order there");
    return ErrorNode(expected, expr->span);
  }
  for (size_t i = 0; i < expr->types.size(); ++i) {
    if (!expr->types[i]) continue;
    TypeVarScope scope = ScopedTypeVars();
    scope.implicit = false;
    unify_.Unify(args[i], ConvertType(expr->types[i], scope, kinds[i]));
  }
  return Expect(expected, use->type, expr->span, why) ? use : ErrorNode(expected, expr->span);
}

// The kind of a scheme's variable, by where it stands.
KindId Checker::KindIn(const core::Scheme& scheme, TyVarId var) {
  for (const core::Pred& pred : scheme.preds)
    if (types_.Kind(pred.type) == TypeKind::Var && types_.VarOf(pred.type) == var) return env_.class_kinds[pred.cls.index];
  KindId found;
  auto look = [&](auto& self, TypeId type, KindId kind) -> void {
    if (types_.Kind(type) == TypeKind::Var) {
      if (types_.VarOf(type) == var) found = kind;
      return;
    }
    llvm::SmallVector<TypeId> args;
    TyConId head = types_.Head(type, &args);
    if (!head.valid()) {
      if (args.empty()) return;  // a dimension
      while (types_.Kind(type) == TypeKind::App) type = types_.FnOf(type);
      self(self, type, env_.kinds.Arrows(static_cast<uint32_t>(args.size())));
    }
    KindId rest = head.valid() ? env_.KindOf(head) : KindId(), of;
    for (TypeId arg : args) self(self, arg, rest.valid() && env_.kinds.IsArrow(rest, &of, &rest) ? of : env_.kinds.Star());
  };
  look(look, scheme.type, env_.kinds.Star());
  return found.valid() ? found : env_.kinds.Star();
}

// ---------------------------------------------------------------- literals

// OverloadedStrings: `"abc"` is `fromString "abc"`, unless its type is known to be a list or to have no such instance.
bool Checker::IsOverloadedString(TypeId expected) {
  if (!string_classes_) return false;
  TypeId head = unify_.Head(expected);
  if (types_.Kind(head) != TypeKind::Con) return true;
  return types_.BuiltinOf(head) != Builtin::List &&
         env_.instances.count({KnownClass("IsString").index, types_.ConOf(head).index});
}

core::Expr* Checker::CheckLiteral(const ast::Literal& literal, bool negative, Span span, TypeId expected,
                                  const Reason& why) {
  core::LiteralExpr node{};
  node.span = span;
  node.text = negative ? Intern("-" + std::string(Text(literal.text))) : literal.text;
  node.type = expected;
  switch (literal.kind) {
    case ast::LiteralKind::Integer:
    case ast::LiteralKind::Fractional: {
      bool integer = literal.kind == ast::LiteralKind::Integer;
      node.literal = integer ? core::LiteralKind::Integer : core::LiteralKind::Fractional;
      ClassId cls = KnownClass(integer ? "Num" : "Fractional");
      if (!cls.valid()) {
        Error(Diag::ConstructUnavailable, span, "a number literal", integer ? "Num" : "Fractional");
        return ErrorNode(expected, span);
      }
      // Where the type is known already and cannot be this number's, the clash has two places: say both.
      bool whole = !integer && IsWholeType(types_, unify_.Head(expected));
      if (!whole && IsRefused(cls, expected)) return ErrorNode(expected, span);
      if (whole || !IsNumberType(expected)) {
        std::string number = fmt::format("the number `{}`", Text(node.text));
        if (whole) Error(Diag::FractionMismatch, span, Text(node.text), PrintType(expected));
        else Error(Diag::NumberMismatch, span, number, PrintType(expected));
        if (why.kind == Reason::Branch || why.kind == Reason::Alternative || why.kind == Reason::Element ||
            why.kind == Reason::Clause)
          diags_.Note(why.span, fmt::format("this has the type `{}`", PrintType(expected)));
        else Explain(why);
        ExplainPlace(expected, span);
        HintAtClash(expected, TypeId(), span, why);
        return ErrorNode(expected, span);
      }
      Require(cls, expected, {integer ? Origin::Number : Origin::Fraction, span, node.text});
      return Node(node);
    }
    case ast::LiteralKind::Char: {
      node.literal = core::LiteralKind::Char;
      node.type = types_.Scalar(Builtin::Char);
      break;
    }
    case ast::LiteralKind::String: {
      node.literal = core::LiteralKind::String;
      node.type = types_.List(types_.Scalar(Builtin::Char));
      if (!IsOverloadedString(expected)) break;
      size_t mark = wanted_.size();
      Symbol shown = Intern(diags_.sources().Text(span));
      core::Expr* from = Use(Needed("fromString", "a string literal", span), span);
      for (size_t i = mark; i < wanted_.size(); ++i) wanted_[i].origin = {Origin::String, span, shown};
      core::Expr* value = AppNode(from, {Node(node)}, span);
      return Expect(expected, value->type, span, why) ? value : ErrorNode(expected, span);
    }
  }
  return Expect(expected, node.type, span, why) ? Node(node) : ErrorNode(expected, span);
}

core::Expr* Checker::CheckNegate(const ast::NegateExpr* expr, TypeId expected, const Reason& why) {
  // A literal is negated here, except zero: -0.0 is not 0.0.
  const ast::Expr* inner = StripParens(expr->operand);
  if (const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(inner)) {
    std::string_view text = Text(literal->value.text);
    if ((literal->value.kind == ast::LiteralKind::Integer ||
         literal->value.kind == ast::LiteralKind::Fractional) &&
        text.find_first_of("123456789") != std::string_view::npos)
      return CheckLiteral(literal->value, true, expr->span, expected, why);
  }
  VarId negate = Needed("negate", "negation", expr->span);
  if (!negate.valid()) return ErrorNode(expected, expr->span);
  Span minus = expr->span;
  minus.end = std::max(minus.begin, expr->operand->span.begin);
  size_t mark = wanted_.size();
  core::Expr* fn = Use(negate, minus);
  for (size_t i = mark; i < wanted_.size(); ++i) wanted_[i].origin.kind = Origin::Negation;
  TypeId from, to;
  unify_.IsFun(fn->type, &from, &to);
  bool ok = Expect(expected, to, expr->span, why);
  core::Expr* operand = Check(expr->operand, from, why);
  return ok ? AppNode(fn, {operand}, expr->span) : ErrorNode(expected, expr->span);
}

// ---------------------------------------------------------------- forms

core::Expr* Checker::CheckIf(const ast::IfExpr* expr, TypeId expected, const Reason& why) {
  core::Expr* cond = Check(expr->cond, types_.Scalar(Builtin::Bool), {Reason::Condition, expr->cond->span});
  bool open = types_.Kind(unify_.Prune(expected)) == TypeKind::Meta;
  core::Expr* then_ = Check(expr->then_, expected, why);
  Reason other{Reason::Branch, expr->then_->span};
  core::Expr* else_ = Check(expr->else_, expected, open ? other : why);
  return IfNode(cond, then_, else_, expr->span);
}

// `mapM_ (\i x -> ..) (zip [0 ..] xs)`
void Checker::HintAtParameters(const ast::LambdaExpr* expr, llvm::ArrayRef<TypeId> given) {
  std::vector<std::string_view> names;
  for (const ast::Pat* param : expr->params) names.push_back(diags_.sources().Text(param->span));
  TypeId only = unify_.Prune(given[0]);
  bool may_be_tuple = given.size() == 1 && (types_.Kind(only) == TypeKind::Meta || types_.IsTuple(only));
  std::string pair = may_be_tuple ? fmt::format("; `\\({}) -> ..` takes a tuple apart", fmt::join(names, ", ")) : std::string();
  diags_.Hint(fmt::format("this lambda has {} parameters one after the other, and is given {}{}", names.size(), given.size(), pair));
}

core::Expr* Checker::CheckLambda(const ast::LambdaExpr* expr, TypeId expected, const Reason& why) {
  size_t mark = LocalMark();
  std::vector<TypeId> params;
  TypeId result = expected;
  for (size_t i = 0; i < expr->params.size(); ++i) {
    TypeId from, to;
    if (!unify_.IsFun(result, &from, &to)) {
      from = unify_.Fresh(), to = unify_.Fresh();
      if (types_.Kind(unify_.Prune(result)) == TypeKind::Meta) {
        unify_.Unify(result, types_.Fun(from, to));
      } else {
        // Not a function at all, or one of fewer arguments. The lambda is still looked into for its own
        // errors.
        TypeId found = types_.Fun(from, to);
        if (i == 0) {
          Expect(result, found, expr->span, why);
        } else if (!Expect(expected, types_.Fun(params, found), expr->span, why)) {
          HintAtParameters(expr, params);
        }
      }
    }
    params.push_back(from);
    result = to;
  }
  std::vector<Bound> bound;
  std::vector<const core::Pat*> pats;
  bool simple = true;
  for (size_t i = 0; i < expr->params.size(); ++i) {
    pats.push_back(
        CheckOuterPat(expr->params[i], params[i], why.kind == Reason::Signature ? why : Reason{}, bound));
    simple &= pats.back()->kind == core::PatKind::Var || pats.back()->kind == core::PatKind::Wildcard;
  }
  CheckDistinct(bound);
  BindAll(bound);
  Reason inner;
  if (why.kind == Reason::Signature || why.kind == Reason::Annotation) inner = why;
  const ast::LambdaExpr* around = std::exchange(lambda_, expr);
  core::Expr* body = Check(expr->body, result, inner);
  lambda_ = around;
  UnbindTo(mark);
  std::vector<VarId> vars;
  for (size_t i = 0; i < pats.size(); ++i)
    vars.push_back(
        pats[i]->kind == core::PatKind::Var && simple
            ? pats[i]->var
            : program_.NewLocal(Intern("x" + std::to_string(i + 1)), params[i], expr->params[i]->span));
  if (!simple) {
    core::Row row{program_.Copy<const core::Pat*>(pats), body, expr->span};
    body = MatchNode(core::MatchContext::Lambda, Symbol(), vars, {row}, result, expr->span);
  }
  core::Expr* lambda = LambdaNode(vars, body, expr->span);
  lambda->type = expected;
  return lambda;
}

core::Expr* Checker::CheckTuple(llvm::ArrayRef<const ast::Expr*> elements, Span span, TypeId expected,
                                const Reason& why) {
  if (elements.size() > 62) {
    Error(Diag::TupleTooLong, span, elements.size());
    return ErrorNode(expected, span);
  }
  ConId con = TupleConstructor(env_, program_, static_cast<uint32_t>(elements.size()));
  core::Expr* fn = UseCon(con, span);
  TypeArgs params;
  TypeId result = types_.SplitFun(fn->type, params);
  bool ok = Expect(expected, result, span, why);
  std::vector<const core::Expr*> args;
  Reason part = PartOf(why);
  size_t wrong = elements.size();  // the first component that is
  for (size_t i = 0; i < elements.size(); ++i) {
    const uint32_t before = diags_.error_count();
    if (wrong == elements.size()) {
      args.push_back(Check(elements[i], params[i], ok ? part : Reason{}));
      if (diags_.error_count() != before) wrong = i;
      continue;
    }
    // `(state, value)` for `(value, state)`: one message tells it.
    core::Expr* component = Infer(elements[i]);
    args.push_back(component);
    if (diags_.error_count() != before) continue;
    TypeId given = unify_.Zonk(component->type);
    if (given == unify_.Zonk(params[wrong]) && given != unify_.Zonk(params[i]) && !types_.HasMeta(given))
      diags_.Hint("the components look as if they were given in another order");
    else Expect(params[i], component->type, elements[i]->span, ok ? part : Reason{});
  }
  return ok ? AppNode(fn, args, span) : ErrorNode(expected, span);
}

core::Expr* Checker::CheckList(const ast::ListExpr* expr, TypeId expected, const Reason& why) {
  if (TypeId head = unify_.Head(expected); types_.BuiltinOf(head) == Builtin::Tensor)
    return CheckTensorLiteral(expr, expected, why);
  TypeId element = unify_.Fresh();
  TypeId list = types_.List(element);
  bool ok = Expect(expected, list, expr->span, why);
  bool open = types_.Kind(unify_.Prune(element)) == TypeKind::Meta;
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
      elements.push_back(ErrorNode(element, item->span));
      continue;
    }
    // `['a', 'b']` for a list of strings: what is wrong of one is so of the others of its kind.
    TypeId quick = wrong.empty() || number ? TypeId() : QuickType(item);
    if (quick.valid() && llvm::is_contained(wrong, quick)) {
      elements.push_back(ErrorNode(element, item->span));
      continue;
    }
    uint32_t errors = diags_.error_count();
    elements.push_back(Check(item, element, open && item != expr->elements[0] ? first : part));
    if (diags_.error_count() == errors) continue;
    no_numbers |= number;
    no_rows |= rows && diags_.all().back().span == item->span;
    if (!number && diags_.all().back().span == item->span)
      if (TypeId type = QuickType(item); type.valid()) wrong.push_back(type);
  }
  return ok ? ListNode(elements, element, expr->span) : ErrorNode(expected, expr->span);
}

core::Expr* Checker::ListNode(llvm::ArrayRef<core::Expr*> elements, TypeId element, Span span) {
  TypeId list = types_.List(element);
  auto con = [&](ConId id, TypeId type) {
    core::ConExpr node{};
    node.span = span;
    node.con = id;
    node.type = type;
    node.type_args = program_.Copy<TypeId>({element});
    return Node(node);
  };
  core::Expr* result = con(program_.nil_con, list);
  if (elements.empty()) return result;
  core::Expr* cons = con(program_.cons_con, types_.Fun(element, types_.Fun(list, list)));
  for (size_t i = elements.size(); i-- > 0;) result = AppNode(cons, {elements[i], result}, elements[i]->span);
  return result;
}

// `e :: T`. A polymorphic T is checked as a local definition with a signature would be.
core::Expr* Checker::CheckTyped(const ast::TypedExpr* expr, TypeId expected, const Reason& why) {
  std::unique_ptr<Signature> signature = ConvertSignature(expr->type, expr->type.span);
  if (!signature) {
    Infer(expr->expr);
    return ErrorNode(expected, expr->span);
  }
  Reason annotation{Reason::Annotation, expr->type.span};
  if (signature->scheme.tyvars.empty()) {
    for (const core::Pred& pred : signature->scheme.preds)
      Require(pred.cls, pred.type, {Origin::Use, pred.span});
    uint32_t errors = diags_.error_count();
    core::Expr* inner = Check(expr->expr, signature->scheme.type, annotation);
    // An annotation that does not fit may be what is wrong: what it says clashes with nothing more.
    if (diags_.error_count() != errors && diags_.all().back().span == expr->expr->span) return ErrorNode(expected, expr->span);
    return Expect(expected, signature->scheme.type, expr->span, why) ? inner
                                                                     : ErrorNode(expected, expr->span);
  }
  VarId var = program_.NewLocal(Intern("annotated"), signature->scheme.type, expr->span);
  core::Expr* value =
      CheckAgainst(signature->scheme, expr->type.span, Symbol(), signature->scoped,
                   [&](TypeId type, const Reason& reason) { return Check(expr->expr, type, annotation); });
  program_.vars[var].scheme = signature->scheme;
  core::Expr* use = Use(var, expr->span);
  if (!Expect(expected, use->type, expr->span, why)) return ErrorNode(expected, expr->span);
  return LetNode(var, value, use);
}

core::Expr* Checker::Check(const ast::Expr* expr, TypeId expected, const Reason& why) {
  CheckBudget();
  switch (expr->kind) {
    case ast::ExprKind::Var: return CheckVar(llvm::cast<ast::VarExpr>(expr)->name, expr->span, expected, why);
    case ast::ExprKind::Con:
      if (IsEmptyList(llvm::cast<ast::ConExpr>(expr)->name) && types_.BuiltinOf(unify_.Head(expected)) == Builtin::Tensor)
        return CheckTensorLiteral(expr, expected, why);
      return CheckCon(llvm::cast<ast::ConExpr>(expr)->name, expr->span, expected, why);
    case ast::ExprKind::Literal:
      return CheckLiteral(llvm::cast<ast::LiteralExpr>(expr)->value, false, expr->span, expected, why);
    case ast::ExprKind::App: {
      const auto* app = llvm::cast<ast::AppExpr>(expr);
      return CheckApp(app->fn, llvm::ArrayRef<const ast::Expr*>(app->args.data(), app->args.size()), false,
                      expr->span, expected, why);
    }
    case ast::ExprKind::Binary: {
      const auto* binary = llvm::cast<ast::BinaryExpr>(expr);
      return CheckApp(binary->op, {binary->left, binary->right}, true, expr->span, expected, why);
    }
    case ast::ExprKind::Negate: return CheckNegate(llvm::cast<ast::NegateExpr>(expr), expected, why);
    case ast::ExprKind::Lambda: return CheckLambda(llvm::cast<ast::LambdaExpr>(expr), expected, why);
    case ast::ExprKind::Let: {
      const auto* let = llvm::cast<ast::LetExpr>(expr);
      return CheckLet(let->decls, expr->span, [&] { return Check(let->body, expected, why); });
    }
    case ast::ExprKind::If: return CheckIf(llvm::cast<ast::IfExpr>(expr), expected, why);
    case ast::ExprKind::MultiIf: {
      const auto* multi = llvm::cast<ast::MultiIfExpr>(expr);
      core::Expr* body = CheckGuarded(multi->alternatives, expected, why);
      // A match of nothing: where no guard holds it fails with the place of the `if`.
      core::Row row{{}, body, expr->span};
      return MatchNode(core::MatchContext::Guard, Intern("if"), {}, {row}, expected, expr->span);
    }
    case ast::ExprKind::Case: {
      const auto* match = llvm::cast<ast::CaseExpr>(expr);
      return CheckCase(match->scrutinee, match->alternatives, expr->span, expected, why);
    }
    case ast::ExprKind::LambdaCase:
      return CheckLambdaCase(llvm::cast<ast::LambdaCaseExpr>(expr), expected, why);
    case ast::ExprKind::Do: {
      const auto& stmts = llvm::cast<ast::DoExpr>(expr)->stmts;
      if (stmts.size() > 1) SettleMonad(stmts, expr->span, expected);
      return CheckDo(stmts, expr->span, expected, why);
    }
    case ast::ExprKind::Tuple: {
      const auto* tuple = llvm::cast<ast::TupleExpr>(expr);
      return CheckTuple(llvm::ArrayRef<const ast::Expr*>(tuple->elements.data(), tuple->elements.size()),
                        expr->span, expected, why);
    }
    case ast::ExprKind::TupleSection:
      return CheckTupleSection(llvm::cast<ast::TupleSectionExpr>(expr), expected, why);
    case ast::ExprKind::List: return CheckList(llvm::cast<ast::ListExpr>(expr), expected, why);
    case ast::ExprKind::Sequence: return CheckSequence(llvm::cast<ast::SequenceExpr>(expr), expected, why);
    case ast::ExprKind::Comprehension: {
      const auto* list = llvm::cast<ast::ComprehensionExpr>(expr);
      return CheckComprehension(list->element, list->stmts, expr->span, expected, why);
    }
    case ast::ExprKind::LeftSection:
      return CheckLeftSection(llvm::cast<ast::LeftSectionExpr>(expr), expected, why);
    case ast::ExprKind::RightSection:
      return CheckRightSection(llvm::cast<ast::RightSectionExpr>(expr), expected, why);
    case ast::ExprKind::Paren: return Check(llvm::cast<ast::ParenExpr>(expr)->expr, expected, why);
    case ast::ExprKind::Typed: return CheckTyped(llvm::cast<ast::TypedExpr>(expr), expected, why);
    case ast::ExprKind::TypeApp: return CheckTypeApp(llvm::cast<ast::TypeAppExpr>(expr), expected, why);
    case ast::ExprKind::RecordCon: return CheckRecordCon(llvm::cast<ast::RecordConExpr>(expr), expected, why);
    case ast::ExprKind::RecordUpdate:
      return CheckRecordUpdate(llvm::cast<ast::RecordUpdateExpr>(expr), expected, why);
    case ast::ExprKind::Infix:
    case ast::ExprKind::Error: break;
  }
  ++unreported_;  // it was, before the check; what it stands in is broken
  return ErrorNode(expected, expr->span);
}

}  // namespace df::check
