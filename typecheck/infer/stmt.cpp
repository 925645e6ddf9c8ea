// do, list comprehensions and arithmetic sequences: calls of library functions.
#include "llvm/Support/SaveAndRestore.h"
#include "typecheck/checker.h"
#include "typecheck/match/pattern.h"

namespace df::check {

// The type constructor of what an expression gives with that many more arguments, as far as its function's type tells.
TyConId Checker::GivenBy(const ast::Expr* expr, size_t given) {
  switch (expr->kind) {
    case ast::ExprKind::Paren: return GivenBy(llvm::cast<ast::ParenExpr>(expr)->expr, given);
    case ast::ExprKind::App: {
      const auto* app = llvm::cast<ast::AppExpr>(expr);
      return GivenBy(app->fn, given + app->args.size());
    }
    case ast::ExprKind::Binary: {
      const auto* binary = llvm::cast<ast::BinaryExpr>(expr);
      return diags_.sources().Text(binary->op->span) == "$" ? GivenBy(binary->left, given + 1) : TyConId();
    }
    case ast::ExprKind::Var: {
      VarId var = FindValue(llvm::cast<ast::VarExpr>(expr)->name, false);
      if (!var.valid() || broken_.count(var.index)) return TyConId();
      llvm::SmallVector<TypeId> params;
      TypeId head = unify_.Head(types_.SplitFun(unify_.Zonk(program_.vars[var].scheme.type), params, given));
      return params.size() == given && types_.Kind(head) == TypeKind::Con ? types_.ConOf(head) : TyConId();
    }
    default: return TyConId();
  }
}

// A statement that is an action of IO tells what the others are to be, those before it as well: of `x <- [1, 2]` before
// `print x` it is the list that is wrong. Where there are actions of a monad of the program's or of a stack, it may be the
// other way round.
void Checker::SettleMonad(llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected) {
  if (options_.library || types_.Kind(unify_.Head(expected)) != TypeKind::Meta || unify_.NumberOrigin(expected).valid()) return;
  const ast::Expr* witness = nullptr;
  for (const ast::Stmt* stmt : stmts) {
    const auto* bind = llvm::dyn_cast<ast::BindStmt>(stmt);
    const auto* only = llvm::dyn_cast<ast::ExprStmt>(stmt);
    const ast::Expr* expr = bind ? bind->expr : only ? only->expr : nullptr;
    TyConId con = expr ? GivenBy(expr) : TyConId();
    if (!con.valid()) continue;
    if (types_.cons[con].builtin == Builtin::IO) witness = witness ? witness : expr;
    else if (IsTransformer(con) || Shown(types_.cons[con].span).valid()) return;
  }
  if (!witness) return;
  witnesses_.push_back({span, witness->span});
  unify_.Unify(expected, types_.Con(types_.Known(Builtin::IO), {unify_.Fresh()}));
}

// { e } = e;  { e; ss } = e >> ss;  { p <- e; ss } = e >>= \p -> ss;  { let ds; ss } = let ds in ss
core::Expr* Checker::CheckDo(llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected,
                             const Reason& why) {
  if (stmts.empty()) return ErrorNode(expected, span);
  const ast::Stmt* first = stmts[0];
  const auto* only = llvm::dyn_cast<ast::ExprStmt>(first);
  // What is wrong in one statement is no reason to be silent about the others.
  llvm::SaveAndRestore<Span> region(region_, first->span);
  if (stmts.size() == 1) {
    if (only) return Check(only->expr, expected, why);
    Error(Diag::DoWithoutResult, first->span).Hint("its last line is what it gives: `return x`, say");
    return ErrorNode(expected, span);
  }
  auto rest = [&](TypeId type) { return CheckDo(stmts.drop_front(), span, type, why); };
  if (const auto* let = llvm::dyn_cast<ast::LetStmt>(first))
    return CheckLet(let->decls, first->span, [&] { return rest(expected); });
  VarId bind = Needed(only ? ">>" : ">>=", "`do`", first->span);
  if (!bind.valid()) {
    // Reported once for the whole block.
    return ErrorNode(expected, span);
  }
  if (types_.Kind(unify_.Prune(expected)) == TypeKind::Con) {
    // No action at all is expected, an `Int` say: what the statements are of is told in full.
    uint32_t before = diags_.error_count();
    core::Expr* whole = CheckDo(stmts, span, unify_.Fresh(), Reason{});
    if (diags_.error_count() == before) Expect(expected, whole->type, first->span, why);
    return ErrorNode(expected, span);
  }
  size_t mark = wanted_.size();
  core::Expr* fn = Use(bind, first->span);
  for (size_t i = mark; i < wanted_.size(); ++i) wanted_[i].origin.kind = Origin::Do;
  TypeArgs params;
  TypeId result = fn->type, from, to;
  for (int i = 0; i < 2 && unify_.IsFun(result, &from, &to); ++i) params.push_back(from), result = to;
  size_t places = places_.size();
  bool ok = params.size() == 2 && Expect(expected, result, first->span, why);
  if (places_.size() > places) places_.back().span = span;  // it is the whole that has this type, not its first statement
  if (params.size() != 2) return ErrorNode(expected, span);
  Reason statement{Reason::Statement, span};
  if (only) {
    core::Expr* action = Check(only->expr, params[0], statement);
    core::Expr* next = rest(params[1]);
    return ok ? AppNode(fn, {action, next}, first->span) : ErrorNode(expected, span);
  }
  const auto* stmt = llvm::cast<ast::BindStmt>(first);
  uint32_t errors = diags_.error_count();
  core::Expr* action = Check(stmt->expr, params[0], statement);
  TypeId value, next_type;
  unify_.IsFun(params[1], &value, &next_type);
  if (diags_.error_count() != errors) unify_.MarkAny(value);  // what is bound is as unknown as its action
  size_t locals = LocalMark();
  std::vector<Bound> bound;
  const core::Pat* pat = CheckOuterPat(stmt->pat, value, {Reason::Scrutinee, stmt->expr->span}, bound);
  CheckDistinct(bound);
  BindAll(bound);
  core::Expr* next = rest(next_type);
  UnbindTo(locals);
  VarId param;
  if (pat->kind == core::PatKind::Var) {
    param = pat->var;
  } else {
    param = program_.NewLocal(Intern("x"), value, stmt->pat->span);
    std::vector<core::Row> rows{{program_.Copy<const core::Pat*>({pat}), next, first->span}};
    VarId fail = KnownVar("fail");
    if (fail.valid() && !IsIrrefutable(program_, pat)) {
      // A pattern that may not fit: the monad's own `fail` (Haskell 2010 section 3.14).
      core::Pat wildcard{};
      wildcard.kind = core::PatKind::Wildcard;
      wildcard.type = value;
      wildcard.span = stmt->pat->span;
      core::LiteralExpr text{};
      text.type = types_.List(types_.Scalar(Builtin::Char));
      text.span = stmt->pat->span;
      text.literal = core::LiteralKind::String;
      text.text =
          Intern("Pattern match failure in do expression at " + diags_.sources().Describe(stmt->pat->span));
      core::Expr* failing = CallKnown(fail, {Node(text)}, stmt->pat->span, next_type, Reason{});
      rows.push_back({program_.Copy<const core::Pat*>({MakePat(wildcard)}), failing, first->span});
    }
    next = MatchNode(core::MatchContext::Lambda, Symbol(), {param}, rows, next_type, first->span);
  }
  core::Expr* lambda = LambdaNode({param}, next, first->span);
  return ok ? AppNode(fn, {action, lambda}, first->span) : ErrorNode(expected, span);
}

// `[x | x < xs]`, where there is no x: reported, and x not again.
bool Checker::IsMisreadGenerator(const ast::Stmt* stmt) {
  const auto* only = llvm::dyn_cast<ast::ExprStmt>(stmt);
  const auto* test = only ? llvm::dyn_cast<ast::BinaryExpr>(only->expr) : nullptr;
  const auto* name = test ? llvm::dyn_cast<ast::VarExpr>(test->left) : nullptr;
  if (!name || name->name.qualifier.valid() || diags_.sources().Text(test->op->span) != "<" || FindValue(name->name, false).valid()) return false;
  const uint32_t errors = diags_.error_count();
  ReportUnbound(Diag::UnboundName, name->name, {});
  std::string_view right = diags_.sources().Text(test->right->span);
  if (diags_.error_count() != errors && right.size() <= 40 && right.find('\n') == std::string_view::npos)
    diags_.Hint(fmt::format("`{} <- {}` takes each element", Text(name->name.text), right));
  Infer(test->right);
  return true;
}

// Without intermediate lists, after P. Wadler: [e | qs] is [e | qs] ++ [], and what stands behind is handed down as `tail`.
// [e | ] ++ t = e : t;  [e | b, qs] ++ t = if b then [e | qs] ++ t else t;
// [e | let ds, qs] ++ t = let ds in [e | qs] ++ t;
// [e | p <- l, qs] ++ t = foldr (\x rest -> case x of { p -> [e | qs] ++ rest; _ -> rest }) t l
core::Expr* Checker::CheckComprehension(const ast::Expr* element, llvm::ArrayRef<ast::Stmt*> stmts, Span span,
                                        TypeId expected, const Reason& why, VarId tail) {
  TypeId type = unify_.Fresh(), list = types_.List(type);
  if (!Expect(expected, list, span, why)) list = expected;
  auto end = [&]() -> core::Expr* {
    if (tail.valid()) return VarNode(tail, span);
    core::ConExpr node{};
    node.span = span;
    node.con = program_.nil_con;
    node.type = list;
    node.type_args = program_.Copy<TypeId>({type});
    return Node(node);
  };
  if (stmts.empty()) {
    core::Expr* value = Check(element, type, Reason{});
    core::ConExpr cons{};
    cons.span = span;
    cons.con = program_.cons_con;
    cons.type = types_.Fun({type, list}, list);
    cons.type_args = program_.Copy<TypeId>({type});
    return AppNode(Node(cons), {value, end()}, element->span);
  }
  const ast::Stmt* first = stmts[0];
  if (IsMisreadGenerator(first)) return CheckComprehension(element, stmts.drop_front(), span, list, Reason{}, tail);
  auto rest = [&] { return CheckComprehension(element, stmts.drop_front(), span, list, Reason{}, tail); };
  if (const auto* let = llvm::dyn_cast<ast::LetStmt>(first)) return CheckLet(let->decls, first->span, rest);
  if (const auto* test = llvm::dyn_cast<ast::ExprStmt>(first)) {
    core::Expr* cond = Check(test->expr, types_.Scalar(Builtin::Bool), {Reason::Guard, test->expr->span});
    return IfNode(cond, rest(), end(), first->span);
  }
  const auto* bind = llvm::cast<ast::BindStmt>(first);
  const uint32_t failures = Failures();
  VarId foldr = Needed("primFoldr", "a list comprehension", first->span);
  TypeId item = unify_.Fresh();
  core::Expr* source = Check(bind->expr, types_.List(item), {Reason::Generator, span});
  size_t locals = LocalMark();
  std::vector<Bound> bound;
  const core::Pat* pat = CheckOuterPat(bind->pat, item, {Reason::Scrutinee, bind->expr->span}, bound);
  CheckDistinct(bound);
  BindAll(bound);
  VarId after = program_.NewLocal(Intern("rest"), list, first->span);
  core::Expr* inner = CheckComprehension(element, stmts.drop_front(), span, list, Reason{}, after);
  UnbindTo(locals);
  if (!foldr.valid() || Failures() != failures) return ErrorNode(expected, span);  // what it is made of says nothing to anybody
  VarId param =
      pat->kind == core::PatKind::Var ? pat->var : program_.NewLocal(Intern("x"), item, bind->pat->span);
  if (pat->kind != core::PatKind::Var) {
    std::vector<core::Row> rows{{program_.Copy<const core::Pat*>({pat}), inner, first->span}};
    if (!IsIrrefutable(program_, pat)) {
      core::Pat wildcard{};
      wildcard.kind = core::PatKind::Wildcard;
      wildcard.type = item;
      wildcard.span = bind->pat->span;
      rows.push_back({program_.Copy<const core::Pat*>({MakePat(wildcard)}), VarNode(after, span), first->span});
    }
    inner = MatchNode(core::MatchContext::Lambda, Symbol(), {param}, rows, list, first->span);
  }
  return CallKnown(foldr, {LambdaNode({param, after}, inner, first->span), end(), source}, span, list, Reason{});
}

core::Expr* Checker::CheckSequence(const ast::SequenceExpr* expr, TypeId expected, const Reason& why) {
  const char* name =
      expr->then_ ? (expr->to ? "enumFromThenTo" : "enumFromThen") : (expr->to ? "enumFromTo" : "enumFrom");
  VarId fn = Needed(name, "an arithmetic sequence", expr->span);
  TypeId element = unify_.Fresh();
  bool ok = Expect(expected, types_.List(element), expr->span, why) && fn.valid();
  std::vector<core::Expr*> args;
  for (const ast::Expr* part : {expr->from, expr->then_, expr->to}) {
    if (!part) continue;
    Reason first{Reason::Element, expr->from->span};
    args.push_back(Check(part, element, part == expr->from ? Reason{} : first));
  }
  if (!ok) return ErrorNode(expected, expr->span);
  size_t mark = wanted_.size();
  core::Expr* call = CallKnown(fn, args, expr->span, types_.List(element), Reason{});
  for (size_t i = mark; i < wanted_.size(); ++i) wanted_[i].origin.kind = Origin::Sequence;
  return call;
}

}  // namespace df::check
