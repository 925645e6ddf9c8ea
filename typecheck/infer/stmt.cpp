// do, list comprehensions and arithmetic sequences: calls of library functions.
#include "typecheck/infer/stmt.h"

#include "llvm/Support/SaveAndRestore.h"
#include "typecheck/explain/name.h"
#include "typecheck/infer/app.h"
#include "typecheck/infer/bind.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/infer/pat.h"
#include "typecheck/infer/pattern_scope.h"
#include "typecheck/match/pattern.h"
#include "typecheck/resolve/find.h"
#include "typecheck/solve/expect.h"
#include "typecheck/state/deps.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

TyConId GivenBy(State& s, const ast::Expr* expr, size_t given = 0);

// The type constructor of what an expression gives with that many more arguments, as far as its function's type tells.
TyConId GivenBy(State& s, const ast::Expr* expr, size_t given) {
  switch (expr->kind) {
    case ast::ExprKind::Paren: return GivenBy(s, llvm::cast<ast::ParenExpr>(expr)->expr, given);
    case ast::ExprKind::App: {
      const auto* app = llvm::cast<ast::AppExpr>(expr);
      return GivenBy(s, app->fn, given + app->args.size());
    }
    case ast::ExprKind::Binary: {
      const auto* binary = llvm::cast<ast::BinaryExpr>(expr);
      return s.diags.sources().Text(binary->op->span) == "$" ? GivenBy(s, binary->left, given + 1) : TyConId();
    }
    case ast::ExprKind::Var: {
      VarId var = LookUpValue(s, llvm::cast<ast::VarExpr>(expr)->name);
      if (!var.valid() || s.broken.count(var.index)) return TyConId();
      llvm::SmallVector<TypeId> params;
      TypeId head = s.unify.Head(s.types.SplitFun(s.unify.Zonk(s.program.vars[var].scheme.type), params, given));
      return params.size() == given && s.types.Kind(head) == TypeKind::Con ? s.types.ConOf(head) : TyConId();
    }
    default: return TyConId();
  }
}

// `[x | x < xs]`, where there is no x: reported, and x not again.
bool IsMisreadGenerator(State& s, const ast::Stmt* stmt) {
  const auto* only = llvm::dyn_cast<ast::ExprStmt>(stmt);
  const auto* test = only ? llvm::dyn_cast<ast::BinaryExpr>(only->expr) : nullptr;
  const auto* name = test ? llvm::dyn_cast<ast::VarExpr>(test->left) : nullptr;
  if (!name || name->name.qualifier.valid() || s.diags.sources().Text(test->op->span) != "<" || LookUpValue(s, name->name).valid()) return false;
  const uint32_t errors = s.diags.error_count();
  ReportUnbound(s, Diag::UnboundName, name->name, {});
  std::string_view right = s.diags.sources().Text(test->right->span);
  if (s.diags.error_count() != errors && right.size() <= 40 && right.find('\n') == std::string_view::npos)
    s.diags.Hint(fmt::format("`{} <- {}` takes each element", Text(name->name.text), right));
  Infer(s, test->right);
  return true;
}

}  // namespace

void SettleMonad(State& s, llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected) {
  if (s.options.library || s.types.Kind(s.unify.Head(expected)) != TypeKind::Meta || s.unify.NumberOrigin(expected).valid()) return;
  const ast::Expr* witness = nullptr;
  for (const ast::Stmt* stmt : stmts) {
    const auto* bind = llvm::dyn_cast<ast::BindStmt>(stmt);
    const auto* only = llvm::dyn_cast<ast::ExprStmt>(stmt);
    const ast::Expr* expr = bind ? bind->expr : only ? only->expr : nullptr;
    TyConId con = expr ? GivenBy(s, expr) : TyConId();
    if (!con.valid()) continue;
    if (s.types.cons[con].builtin == Builtin::IO) witness = witness ? witness : expr;
    else if (IsTransformer(s, con) || Shown(s, s.types.cons[con].span).valid()) return;
  }
  if (!witness) return;
  s.witnesses.push_back({span, witness->span});
  s.unify.Unify(expected, s.types.Con(s.types.Known(Builtin::IO), {s.unify.Fresh()}));
}

core::Expr* CheckDo(State& s, llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected, const Reason& why) {
  if (stmts.empty()) return ErrorNode(s, expected, span);
  const ast::Stmt* first = stmts[0];
  const auto* only = llvm::dyn_cast<ast::ExprStmt>(first);
  // What is wrong in one statement is no reason to be silent about the others.
  llvm::SaveAndRestore<Span> region(s.region, first->span);
  if (stmts.size() == 1) {
    if (only) return Check(s, only->expr, expected, why);
    s.Error(Diag::DoWithoutResult, first->span).Hint("its last line is what it gives: `return x`, say");
    return ErrorNode(s, expected, span);
  }
  auto rest = [&](TypeId type) { return CheckDo(s, stmts.drop_front(), span, type, why); };
  if (const auto* let = llvm::dyn_cast<ast::LetStmt>(first))
    return CheckLet(s, let->decls, first->span, [&] { return rest(expected); });
  VarId bind = Needed(s, only ? ">>" : ">>=", "`do`", first->span);
  if (!bind.valid()) {
    // Reported once for the whole block.
    return ErrorNode(s, expected, span);
  }
  if (s.types.Kind(s.unify.Prune(expected)) == TypeKind::Con) {
    // No action at all is expected, an `Int` say: what the statements are of is told in full.
    uint32_t before = s.diags.error_count();
    core::Expr* whole = CheckDo(s, stmts, span, s.unify.Fresh(), Reason{});
    if (s.diags.error_count() == before) Expect(s, expected, whole->type, first->span, why);
    return ErrorNode(s, expected, span);
  }
  size_t mark = s.wanted.size();
  core::Expr* fn = Use(s, bind, first->span);
  for (size_t i = mark; i < s.wanted.size(); ++i) s.wanted[i].origin.kind = Origin::Do;
  TypeArgs params;
  TypeId result = fn->type, from, to;
  for (int i = 0; i < 2 && s.unify.IsFun(result, &from, &to); ++i) params.push_back(from), result = to;
  size_t places = s.places.size();
  bool ok = params.size() == 2 && Expect(s, expected, result, first->span, why);
  if (s.places.size() > places) s.places.back().span = span;  // it is the whole that has this type, not its first statement
  if (params.size() != 2) return ErrorNode(s, expected, span);
  Reason statement{Reason::Statement, span};
  if (only) {
    core::Expr* action = Check(s, only->expr, params[0], statement);
    core::Expr* next = rest(params[1]);
    return ok ? AppNode(s, fn, {action, next}, first->span) : ErrorNode(s, expected, span);
  }
  const auto* stmt = llvm::cast<ast::BindStmt>(first);
  uint32_t errors = s.diags.error_count();
  core::Expr* action = Check(s, stmt->expr, params[0], statement);
  TypeId value, next_type;
  s.unify.IsFun(params[1], &value, &next_type);
  if (s.diags.error_count() != errors) s.unify.MarkAny(value);  // what is bound is as unknown as its action
  size_t locals = s.LocalMark();
  PatternScope scope(s);
  std::vector<Bound> bound;
  const core::Pat* pat = CheckOuterPat(s, stmt->pat, value, {Reason::Scrutinee, stmt->expr->span}, bound);
  CheckDistinct(s, bound);
  BindAll(s, bound);
  core::Expr* next = rest(next_type);
  UnbindTo(s, locals);
  scope.Close();
  VarId param;
  if (pat->kind == core::PatKind::Var) {
    param = pat->var;
  } else {
    param = s.program.NewLocal(Intern("x"), value, stmt->pat->span);
    std::vector<core::Row> rows{{s.program.Copy<const core::Pat*>({pat}), next, first->span}};
    VarId fail = KnownVar(s, "fail");
    if (fail.valid() && !IsIrrefutable(s.program, pat)) {
      // A pattern that may not fit: the monad's own `fail` (Haskell 2010 section 3.14).
      core::Pat wildcard{};
      wildcard.kind = core::PatKind::Wildcard;
      wildcard.type = value;
      wildcard.span = stmt->pat->span;
      core::LiteralExpr text{};
      text.type = s.types.List(s.types.Scalar(Builtin::Char));
      text.span = stmt->pat->span;
      text.literal = core::LiteralKind::String;
      text.text =
          Intern("Pattern match failure in do expression at " + s.diags.sources().Describe(stmt->pat->span));
      core::Expr* failing = CallKnown(s, fail, {s.Node(text)}, stmt->pat->span, next_type, Reason{});
      rows.push_back({s.program.Copy<const core::Pat*>({MakePat(s, wildcard)}), failing, first->span});
    }
    next = MatchNode(s, core::MatchContext::Lambda, Symbol(), {param}, rows, next_type, first->span);
  }
  core::Expr* lambda = LambdaNode(s, {param}, next, first->span);
  return ok ? AppNode(s, fn, {action, lambda}, first->span) : ErrorNode(s, expected, span);
}

core::Expr* CheckComprehension(State& s, const ast::Expr* element, llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected,
                               const Reason& why, VarId tail) {
  TypeId type = s.unify.Fresh(), list = s.types.List(type);
  if (!Expect(s, expected, list, span, why)) list = expected;
  auto end = [&]() -> core::Expr* {
    if (tail.valid()) return VarNode(s, tail, span);
    core::ConExpr node{};
    node.span = span;
    node.con = s.program.nil_con;
    node.type = list;
    node.type_args = s.program.Copy<TypeId>({type});
    return s.Node(node);
  };
  if (stmts.empty()) {
    core::Expr* value = Check(s, element, type, Reason{});
    core::ConExpr cons{};
    cons.span = span;
    cons.con = s.program.cons_con;
    cons.type = s.types.Fun({type, list}, list);
    cons.type_args = s.program.Copy<TypeId>({type});
    return AppNode(s, s.Node(cons), {value, end()}, element->span);
  }
  const ast::Stmt* first = stmts[0];
  if (IsMisreadGenerator(s, first)) return CheckComprehension(s, element, stmts.drop_front(), span, list, Reason{}, tail);
  auto rest = [&] { return CheckComprehension(s, element, stmts.drop_front(), span, list, Reason{}, tail); };
  if (const auto* let = llvm::dyn_cast<ast::LetStmt>(first)) return CheckLet(s, let->decls, first->span, rest);
  if (const auto* test = llvm::dyn_cast<ast::ExprStmt>(first)) {
    core::Expr* cond = Check(s, test->expr, s.types.Scalar(Builtin::Bool), {Reason::Guard, test->expr->span});
    return IfNode(s, cond, rest(), end(), first->span);
  }
  const auto* bind = llvm::cast<ast::BindStmt>(first);
  const uint32_t failures = s.Failures();
  VarId foldr = Needed(s, "primFoldr", "a list comprehension", first->span);
  TypeId item = s.unify.Fresh();
  core::Expr* source = Check(s, bind->expr, s.types.List(item), {Reason::Generator, span});
  size_t locals = s.LocalMark();
  PatternScope scope(s);
  std::vector<Bound> bound;
  const core::Pat* pat = CheckOuterPat(s, bind->pat, item, {Reason::Scrutinee, bind->expr->span}, bound);
  CheckDistinct(s, bound);
  BindAll(s, bound);
  VarId after = s.program.NewLocal(Intern("rest"), list, first->span);
  core::Expr* inner = CheckComprehension(s, element, stmts.drop_front(), span, list, Reason{}, after);
  UnbindTo(s, locals);
  scope.Close();
  if (!foldr.valid() || s.Failures() != failures) return ErrorNode(s, expected, span);  // what it is made of says nothing to anybody
  VarId param =
      pat->kind == core::PatKind::Var ? pat->var : s.program.NewLocal(Intern("x"), item, bind->pat->span);
  if (pat->kind != core::PatKind::Var) {
    std::vector<core::Row> rows{{s.program.Copy<const core::Pat*>({pat}), inner, first->span}};
    if (!IsIrrefutable(s.program, pat)) {
      core::Pat wildcard{};
      wildcard.kind = core::PatKind::Wildcard;
      wildcard.type = item;
      wildcard.span = bind->pat->span;
      rows.push_back({s.program.Copy<const core::Pat*>({MakePat(s, wildcard)}), VarNode(s, after, span), first->span});
    }
    inner = MatchNode(s, core::MatchContext::Lambda, Symbol(), {param}, rows, list, first->span);
  }
  return CallKnown(s, foldr, {LambdaNode(s, {param, after}, inner, first->span), end(), source}, span, list, Reason{});
}

core::Expr* CheckParallel(State& s, const ast::ComprehensionExpr* list, TypeId expected, const Reason& why) {
  // Of each branch the list of what it binds, as a tuple; from the last one on they are zipped.
  llvm::SmallVector<ast::List<ast::Stmt*>> branches{list->stmts};
  branches.append(list->beside.begin(), list->beside.end());
  ast::Ast& made = s.generated;
  ast::Expr* zipped = nullptr;
  ast::Pat* bound = nullptr;
  for (ast::List<ast::Stmt*> branch : llvm::reverse(branches)) {
    std::vector<std::pair<Symbol, Span>> names;
    for (const ast::Stmt* stmt : branch) {
      if (const auto* bind = llvm::dyn_cast<ast::BindStmt>(stmt)) PatternNames(bind->pat, names);
      if (const auto* let = llvm::dyn_cast<ast::LetStmt>(stmt))
        for (const ast::Decl* decl : let->decls) {
          if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) names.push_back({function->name.text, function->name.span});
          if (const auto* pattern = llvm::dyn_cast<ast::PatBindDecl>(decl)) PatternNames(pattern->pat, names);
        }
    }
    const Span span = branch.empty() ? list->span : branch[0]->span;
    llvm::SmallVector<ast::Expr*> values;
    llvm::SmallVector<ast::Pat*> pats;
    for (size_t i = 0; i < names.size(); ++i) {
      // A later one of the branch hides an earlier one.
      if (llvm::any_of(llvm::ArrayRef(names).drop_front(i + 1), [&](const auto& later) { return later.first == names[i].first; })) continue;
      values.push_back(made.New<ast::VarExpr>(names[i].second, ast::Name{names[i].first, {}, names[i].second}));
      pats.push_back(made.New<ast::VarPat>(names[i].second, names[i].first));
    }
    ast::Expr* value = values.size() == 1 ? values[0]
                       : values.empty()   ? made.New<ast::ConExpr>(span, ast::Name{Intern("()"), {}, span})
                                          : static_cast<ast::Expr*>(made.New<ast::TupleExpr>(span, made.Copy<ast::Expr*>(values)));
    ast::Pat* pat = pats.size() == 1 ? pats[0] : made.New<ast::TuplePat>(span, made.Copy<ast::Pat*>(pats));
    ast::Expr* items = made.New<ast::ComprehensionExpr>(span, value, branch);
    if (!zipped) {
      zipped = items, bound = pat;
      continue;
    }
    ast::Expr* zip = made.New<ast::VarExpr>(span, ast::Name{Intern("zip"), s.generated_qualifier, span});
    zipped = made.New<ast::AppExpr>(span, zip, made.Copy<ast::Expr*>({items, zipped}));
    bound = made.New<ast::TuplePat>(span, made.Copy<ast::Pat*>({pat, bound}));
  }
  ast::Stmt* all = made.New<ast::BindStmt>(list->span, bound, zipped);
  return CheckComprehension(s, list->element, {all}, list->span, expected, why);
}

core::Expr* CheckSequence(State& s, const ast::SequenceExpr* expr, TypeId expected, const Reason& why) {
  const char* name =
      expr->then_ ? (expr->to ? "enumFromThenTo" : "enumFromThen") : (expr->to ? "enumFromTo" : "enumFrom");
  VarId fn = Needed(s, name, "an arithmetic sequence", expr->span);
  TypeId element = s.unify.Fresh();
  bool ok = Expect(s, expected, s.types.List(element), expr->span, why) && fn.valid();
  std::vector<core::Expr*> args;
  for (const ast::Expr* part : {expr->from, expr->then_, expr->to}) {
    if (!part) continue;
    Reason first{Reason::Element, expr->from->span};
    args.push_back(Check(s, part, element, part == expr->from ? Reason{} : first));
  }
  if (!ok) return ErrorNode(s, expected, expr->span);
  size_t mark = s.wanted.size();
  core::Expr* call = CallKnown(s, fn, args, expr->span, s.types.List(element), Reason{});
  for (size_t i = mark; i < s.wanted.size(); ++i) s.wanted[i].origin.kind = Origin::Sequence;
  return call;
}

}  // namespace df::check
