// Applications, operators and sections.
//
// The result is unified with what is expected before the arguments are looked at: with a signature the
// arguments' types are then known, and a clash is reported at the argument itself.
#include "typecheck/checker.h"

namespace df::check {
namespace {

const ast::Expr* StripParens(const ast::Expr* expr) {
  while (const auto* paren = llvm::dyn_cast<ast::ParenExpr>(expr)) expr = paren->expr;
  return expr;
}

}  // namespace

core::Expr* Checker::CheckApp(const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, bool infix,
                              Span span, TypeId expected, const Reason& why) {
  fn = StripParens(fn);
  core::Expr* head = Infer(fn);
  Reason reason;
  reason.kind = infix ? Reason::Operand : Reason::Argument;
  reason.outer = &why;
  reason.name = Intern("the function");
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(fn)) {
    reason.name = var->name.text;
    if (const auto* use = llvm::dyn_cast<core::VarExpr>(head)) reason.var = use->var;
  } else if (const auto* con = llvm::dyn_cast<ast::ConExpr>(fn)) {
    reason.name = con->name.text;
  }

  llvm::SmallVector<TypeId, 4> params;
  TypeId result = head->type;
  for (size_t i = 0; i < args.size(); ++i) {
    TypeId from, to;
    if (!unify_.IsFun(result, &from, &to)) {
      // A type that is not known yet, or `m a` with an unknown m, becomes a function's.
      from = unify_.Fresh(), to = unify_.Fresh();
      if (!unify_.Unify(result, types_.Fun(from, to)).ok()) {
        if (i == 0) {
          Error(Diag::NotAFunction, fn->span, diags_.sources().Text(fn->span), PrintType(head->type),
                args.size(), args.size() == 1 ? "argument" : "arguments");
        } else {
          Error(Diag::TooManyArguments, args[i]->span, Text(reason.name), i,
                i == 1 ? "argument" : "arguments", args.size());
          reason.index = static_cast<uint32_t>(i);
          Explain(reason);
        }
        for (size_t j = 0; j < args.size(); ++j)
          Check(args[j], j < params.size() ? params[j] : unify_.Fresh(), Reason{});
        return ErrorNode(expected, span);
      }
    }
    params.push_back(from);
    result = to;
  }
  uint32_t errors = diags_.error_count();
  bool ok = Expect(expected, result, span, why);
  llvm::SmallVector<const core::Expr*, 4> core_args;
  // Where the function's type is a variable there, an argument is tied to the result and the other arguments:
  // after an error in one of these it is checked by itself.
  llvm::SmallVector<TypeId, 4> declared;
  if (reason.var.valid()) types_.SplitFun(program_.vars[reason.var].scheme.type, declared);
  for (size_t i = 0; i < args.size(); ++i) {
    bool tied =
        i < declared.size() && types_.Kind(declared[i]) == TypeKind::Var && diags_.error_count() != errors;
    reason.index = static_cast<uint32_t>(i);
    core_args.push_back(tied ? Infer(args[i]) : Check(args[i], params[i], reason));
  }
  return ok ? AppNode(head, core_args, span) : ErrorNode(expected, span);
}

// (x op) is op applied to one argument.
core::Expr* Checker::CheckLeftSection(const ast::LeftSectionExpr* expr, TypeId expected, const Reason& why) {
  return CheckApp(expr->op, {expr->operand}, true, expr->span, expected, why);
}

// (op x) is \y -> y op x, with x outside so that it is computed once.
core::Expr* Checker::CheckRightSection(const ast::RightSectionExpr* expr, TypeId expected,
                                       const Reason& why) {
  core::Expr* op = Infer(expr->op);
  TypeId left = unify_.Fresh(), right = unify_.Fresh(), result = unify_.Fresh();
  if (!Expect(types_.Fun({left, right}, result), op->type, expr->op->span, Reason{})) {
    Infer(expr->operand);
    return ErrorNode(expected, expr->span);
  }
  bool ok = Expect(expected, types_.Fun(left, result), expr->span, why);
  Reason reason{Reason::Operand};
  reason.index = 1;
  if (const auto* var = llvm::dyn_cast<ast::VarExpr>(expr->op)) reason.name = var->name.text;
  if (const auto* use = llvm::dyn_cast<core::VarExpr>(op)) reason.var = use->var;
  core::Expr* operand = Check(expr->operand, right, reason);
  if (!ok) return ErrorNode(expected, expr->span);
  VarId param = program_.NewLocal(Intern("x"), left, expr->span);
  bool trivial = llvm::isa<core::LiteralExpr>(operand) || llvm::isa<core::VarExpr>(operand);
  if (trivial)
    return LambdaNode({param}, AppNode(op, {VarNode(param, expr->span), operand}, expr->span), expr->span);
  VarId held = program_.NewLocal(Intern("y"), right, expr->operand->span);
  core::Expr* body =
      AppNode(op, {VarNode(param, expr->span), VarNode(held, expr->operand->span)}, expr->span);
  return LetNode(held, operand, LambdaNode({param}, body, expr->span));
}

// (x,,y) is \a -> (x, a, y); what is given is computed once.
core::Expr* Checker::CheckTupleSection(const ast::TupleSectionExpr* expr, TypeId expected,
                                       const Reason& why) {
  if (expr->elements.size() > 62) {
    Error(Diag::TupleTooLong, expr->span, expr->elements.size());
    return ErrorNode(expected, expr->span);
  }
  core::Expr* con =
      UseCon(TupleConstructor(env_, program_, static_cast<uint32_t>(expr->elements.size())), expr->span);
  TypeArgs fields;
  TypeId tuple = types_.SplitFun(con->type, fields);
  TypeId type = tuple;
  for (size_t i = fields.size(); i-- > 0;)
    if (!expr->elements[i]) type = types_.Fun(fields[i], type);
  bool ok = Expect(expected, type, expr->span, why);
  std::vector<VarId> params;
  std::vector<std::pair<VarId, core::Expr*>> held;
  std::vector<const core::Expr*> args;
  for (size_t i = 0; i < fields.size(); ++i) {
    Symbol name = Intern("x" + std::to_string(i + 1));
    VarId var = program_.NewLocal(name, fields[i], expr->span);
    if (expr->elements[i]) held.push_back({var, Check(expr->elements[i], fields[i], ok ? why : Reason{})});
    else params.push_back(var);
    args.push_back(VarNode(var, expr->span));
  }
  if (!ok) return ErrorNode(expected, expr->span);
  core::Expr* result = LambdaNode(params, AppNode(con, args, expr->span), expr->span);
  for (size_t i = held.size(); i-- > 0;) result = LetNode(held[i].first, held[i].second, result);
  return result;
}

core::Expr* Checker::CallKnown(VarId fn, llvm::ArrayRef<core::Expr*> args, Span span, TypeId expected,
                               const Reason& why) {
  core::Expr* head = Use(fn, span);
  TypeId type = head->type;
  llvm::SmallVector<const core::Expr*, 4> core_args;
  for (core::Expr* arg : args) {
    TypeId from, to;
    if (!unify_.IsFun(type, &from, &to)) return ErrorNode(expected, span);
    if (!Expect(from, arg->type, arg->span, Reason{})) return ErrorNode(expected, span);
    core_args.push_back(arg);
    type = to;
  }
  return Expect(expected, type, span, why) ? AppNode(head, core_args, span) : ErrorNode(expected, span);
}

}  // namespace df::check
