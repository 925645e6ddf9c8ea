// Quick looks at types and expressions, before they are checked or for a message.
#include "typecheck/state/looks.h"

#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {

VarId LocalSignature(const State& s, TyVarId var) {
  const Span bound = s.types.vars[var].span;
  for (const auto& [id, signature] : s.signature_of) {
    const Span whole = signature->type_span;
    if (bound.valid() && s.program.vars[VarId(id)].kind == core::VarKind::Local && bound.file == whole.file && whole.begin <= bound.begin &&
        bound.end <= whole.end)
      return VarId(id);
  }
  return VarId();
}

// What the library declares is told, and not shown: its source is no reading for those who made a mistake.
Span Shown(const State& s, Span span) {
  return span.valid() && s.env.library_files.count(span.file.index) ? Span() : span;
}

// Looks at heads only and reports nothing, so that it may be asked before an expression is checked.
TypeId QuickType(State& s, const ast::Expr* expr, int depth) {
  if (depth == 0) return TypeId();
  auto known = [&](TypeId type) {
    type = s.unify.Zonk(type);
    return s.types.HasMeta(type) || s.types.HasVar(type) ? TypeId() : type;
  };
  auto applied = [&](const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args) {
    const auto* name = llvm::dyn_cast<ast::VarExpr>(fn);
    VarId var = name ? LookUpValue(s, name->name) : VarId();
    if (!var.valid() || s.broken.count(var.index)) return TypeId();
    llvm::SmallVector<TypeId> params;
    TypeId result = s.types.SplitFun(s.unify.Zonk(s.program.vars[var].scheme.type), params, args.size());
    if (params.size() != args.size()) return TypeId();
    if (s.types.Kind(result) != TypeKind::Var) return known(result);
    for (size_t i = 0; i < args.size(); ++i)
      if (params[i] == result)
        if (TypeId type = QuickType(s, args[i], depth - 1); type.valid()) return type;
    return TypeId();
  };
  switch (expr->kind) {
    case ast::ExprKind::Paren: return QuickType(s, llvm::cast<ast::ParenExpr>(expr)->expr, depth);
    case ast::ExprKind::Literal:
      switch (llvm::cast<ast::LiteralExpr>(expr)->value.kind) {
        case ast::LiteralKind::Char: return s.types.Scalar(Builtin::Char);
        case ast::LiteralKind::String: return s.string_classes ? TypeId() : s.types.List(s.types.Scalar(Builtin::Char));
        default: return TypeId();
      }
    case ast::ExprKind::Var: {
      VarId var = LookUpValue(s, llvm::cast<ast::VarExpr>(expr)->name);
      return var.valid() && !s.broken.count(var.index) ? known(s.program.vars[var].scheme.type) : TypeId();
    }
    case ast::ExprKind::App: {
      const auto* app = llvm::cast<ast::AppExpr>(expr);
      return applied(app->fn, llvm::ArrayRef<const ast::Expr*>(app->args.data(), app->args.size()));
    }
    case ast::ExprKind::Binary: {
      const auto* binary = llvm::cast<ast::BinaryExpr>(expr);
      return applied(binary->op, {binary->left, binary->right});
    }
    default: return TypeId();
  }
}

size_t Arity(State& s, const ast::Expr* expr) {
  if (const auto* made = llvm::dyn_cast<ast::ConExpr>(expr)) {
    ConId con = LookUpConstructor(s, made->name);
    return con.valid() ? s.program.constructors[con].fields.size() : 0;
  }
  const auto* name = llvm::dyn_cast<ast::VarExpr>(expr);
  VarId var = name ? LookUpValue(s, name->name) : VarId();
  if (!var.valid() || s.broken.count(var.index)) return 0;
  llvm::SmallVector<TypeId> params;
  s.types.SplitFun(s.unify.Zonk(s.program.vars[var].scheme.type), params);
  return params.size();
}

Symbol OperatorName(const ast::Expr* op) {
  const auto* var = llvm::dyn_cast<ast::VarExpr>(op);
  return var ? var->name.text : Symbol();
}

bool IsFunction(State& s, const ast::Expr* expr) {
  expr = StripParens(expr);
  return llvm::isa<ast::LambdaExpr>(expr) || llvm::isa<ast::LeftSectionExpr>(expr) || llvm::isa<ast::RightSectionExpr>(expr) ||
         Arity(s, expr) > 0;
}

bool IsNumeric(const State& s, TypeId type) {
  switch (s.types.BuiltinOf(type)) {
    case Builtin::Int:
    case Builtin::Integer:
    case Builtin::Float:
    case Builtin::Double: return true;
    default: return false;
  }
}

bool IsAction(const State& s, TypeId type) {
  TypeId head = s.unify.Head(type);
  return s.types.Kind(head) == TypeKind::Con && s.types.cons[s.types.ConOf(head)].builtin == Builtin::IO;
}

Symbol FreshTyVarName(State& s, llvm::DenseSet<uint32_t>& taken) {
  for (uint32_t i = 0;; ++i) {
    std::string name(1, static_cast<char>('a' + i % 26));
    if (i >= 26) name += std::to_string(i / 26);
    Symbol symbol = Intern(name);
    if (taken.insert(symbol.index).second) return symbol;
  }
}

bool IsTransformer(const State& s, TyConId con) {
  const TyCon& row = s.types.cons[con];
  if (!row.span.valid() || !s.env.library_files.count(row.span.file.index)) return false;
  std::string_view name = Text(row.name);
  return name == "StateT" || name == "ReaderT" || name == "WriterT" || name == "RWST" || name == "ExceptT" || name == "MaybeT" ||
         name == "ContT";
}

TyConId MonadOf(const State& s, TypeId action) {
  TypeId head = s.unify.Head(action);
  return s.types.Kind(head) == TypeKind::Con ? s.types.ConOf(head) : TyConId();
}

bool IsEmptyList(const ast::Name& name) { return !name.qualifier.valid() && Text(name.text) == "[]"; }

}  // namespace df::check
