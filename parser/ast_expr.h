// parser/ast_expr.h
//
// Expressions and statements, as written.
#pragma once

#include "parser/ast_pattern.h"

namespace df::ast {

struct Decl;
struct Stmt;

// `| g1, p <- e = rhs`: guards are Stmts (a boolean guard is an ExprStmt).
struct GuardedExpr {
  List<Stmt*> guards;  // none: always
  Expr* body;
  Span span;
};
// The right side of an equation or alternative: guarded expressions and the `where` over all of them.
struct Rhs {
  List<GuardedExpr> guarded;
  List<Decl*> where;
  Span span;
};
struct Alternative {
  Pat* pat;
  Rhs rhs;
  Span span;
};
struct FieldBinding {
  Name field;
  Expr* value;
  bool implied = false;  // by `..`: if a local variable has its name
};

enum class ExprKind : uint8_t {
  Var, Con, Literal, App, Infix, Binary, Negate, Lambda, Let, If, MultiIf, Case, LambdaCase, Do, Tuple,
  TupleSection, List, Sequence, Comprehension, LeftSection, RightSection, Paren, Typed, RecordCon,
  RecordUpdate, TypeApp, Error
};

struct Expr {
  DF_AST_BASE(Expr)
};
// Also an operator in parentheses.
struct VarExpr : Expr {
  DF_AST_NODE(Expr, Var)
  Name name;
  VarExpr(Span s, Name n) : Expr(kKind, s), name(n) {}
};
// Also `(:)`, `(,)`, `[]`, `()`.
struct ConExpr : Expr {
  DF_AST_NODE(Expr, Con)
  Name name;
  ConExpr(Span s, Name n) : Expr(kKind, s), name(n) {}
};
struct LiteralExpr : Expr {
  DF_AST_NODE(Expr, Literal)
  Literal value;
  LiteralExpr(Span s, Literal v) : Expr(kKind, s), value(v) {}
};
struct AppExpr : Expr {
  DF_AST_NODE(Expr, App)
  Expr* fn;
  List<Expr*> args;
  AppExpr(Span s, Expr* f, List<Expr*> a) : Expr(kKind, s), fn(f), args(a) {}
};
// `- a + b * c` as written: a null operand before a `-` marks prefix negation. ResolveFixity replaces it.
struct InfixExpr : Expr {
  DF_AST_NODE(Expr, Infix)
  List<Expr*> operands;
  List<Expr*> ops;  // VarExpr or ConExpr
  InfixExpr(Span s, List<Expr*> e, List<Expr*> o) : Expr(kKind, s), operands(e), ops(o) {}
};
struct BinaryExpr : Expr {
  DF_AST_NODE(Expr, Binary)
  Expr* op;
  Expr* left;
  Expr* right;
  BinaryExpr(Span s, Expr* o, Expr* l, Expr* r) : Expr(kKind, s), op(o), left(l), right(r) {}
};
struct NegateExpr : Expr {
  DF_AST_NODE(Expr, Negate)
  Expr* operand;
  NegateExpr(Span s, Expr* e) : Expr(kKind, s), operand(e) {}
};
struct LambdaExpr : Expr {
  DF_AST_NODE(Expr, Lambda)
  List<Pat*> params;
  Expr* body;
  LambdaExpr(Span s, List<Pat*> p, Expr* b) : Expr(kKind, s), params(p), body(b) {}
};
struct LetExpr : Expr {
  DF_AST_NODE(Expr, Let)
  List<Decl*> decls;
  Expr* body;
  LetExpr(Span s, List<Decl*> d, Expr* b) : Expr(kKind, s), decls(d), body(b) {}
};
struct IfExpr : Expr {
  DF_AST_NODE(Expr, If)
  Expr* cond;
  Expr* then_;
  Expr* else_;
  IfExpr(Span s, Expr* c, Expr* t, Expr* e) : Expr(kKind, s), cond(c), then_(t), else_(e) {}
};
struct MultiIfExpr : Expr {
  DF_AST_NODE(Expr, MultiIf)
  List<GuardedExpr> alternatives;
  MultiIfExpr(Span s, List<GuardedExpr> a) : Expr(kKind, s), alternatives(a) {}
};
struct CaseExpr : Expr {
  DF_AST_NODE(Expr, Case)
  Expr* scrutinee;
  List<Alternative> alternatives;
  CaseExpr(Span s, Expr* e, List<Alternative> a) : Expr(kKind, s), scrutinee(e), alternatives(a) {}
};
struct LambdaCaseExpr : Expr {
  DF_AST_NODE(Expr, LambdaCase)
  List<Alternative> alternatives;
  LambdaCaseExpr(Span s, List<Alternative> a) : Expr(kKind, s), alternatives(a) {}
};
struct DoExpr : Expr {
  DF_AST_NODE(Expr, Do)
  List<Stmt*> stmts;
  DoExpr(Span s, List<Stmt*> st) : Expr(kKind, s), stmts(st) {}
};
struct TupleExpr : Expr {
  DF_AST_NODE(Expr, Tuple)
  List<Expr*> elements;  // at least two; () is a ConExpr
  TupleExpr(Span s, List<Expr*> e) : Expr(kKind, s), elements(e) {}
};
struct TupleSectionExpr : Expr {
  DF_AST_NODE(Expr, TupleSection)
  List<Expr*> elements;  // null where missing
  TupleSectionExpr(Span s, List<Expr*> e) : Expr(kKind, s), elements(e) {}
};
struct ListExpr : Expr {
  DF_AST_NODE(Expr, List)
  List<Expr*> elements;
  ListExpr(Span s, List<Expr*> e) : Expr(kKind, s), elements(e) {}
};
struct SequenceExpr : Expr {
  DF_AST_NODE(Expr, Sequence)
  Expr* from;
  Expr* then_;  // may be null
  Expr* to;  // may be null
  SequenceExpr(Span s, Expr* f, Expr* t, Expr* e) : Expr(kKind, s), from(f), then_(t), to(e) {}
};
struct ComprehensionExpr : Expr {
  DF_AST_NODE(Expr, Comprehension)
  Expr* element;
  List<Stmt*> stmts;
  List<List<Stmt*>> beside;  // `[e | x <- xs | y <- ys]`: the branches behind the first, walked in step with it
  ComprehensionExpr(Span s, Expr* e, List<Stmt*> st, List<List<Stmt*>> b = {}) : Expr(kKind, s), element(e), stmts(st), beside(b) {}
};
// `(x +)`
struct LeftSectionExpr : Expr {
  DF_AST_NODE(Expr, LeftSection)
  Expr* operand;
  Expr* op;
  LeftSectionExpr(Span s, Expr* e, Expr* o) : Expr(kKind, s), operand(e), op(o) {}
};
// `(+ x)`
struct RightSectionExpr : Expr {
  DF_AST_NODE(Expr, RightSection)
  Expr* op;
  Expr* operand;
  RightSectionExpr(Span s, Expr* o, Expr* e) : Expr(kKind, s), op(o), operand(e) {}
};
struct ParenExpr : Expr {
  DF_AST_NODE(Expr, Paren)
  Expr* expr;
  ParenExpr(Span s, Expr* e) : Expr(kKind, s), expr(e) {}
};
struct TypedExpr : Expr {
  DF_AST_NODE(Expr, Typed)
  Expr* expr;
  QualType type;
  TypedExpr(Span s, Expr* e, QualType t) : Expr(kKind, s), expr(e), type(t) {}
};
// `read @Int`, of a VarExpr or ConExpr.
struct TypeAppExpr : Expr {
  DF_AST_NODE(Expr, TypeApp)
  Expr* fn;
  List<Type*> types;  // null for `@_`
  TypeAppExpr(Span s, Expr* f, List<Type*> t) : Expr(kKind, s), fn(f), types(t) {}
};
struct RecordConExpr : Expr {
  DF_AST_NODE(Expr, RecordCon)
  Name con;
  List<FieldBinding> fields;
  Span wildcard;  // the place of the dots of `C {..}`
  RecordConExpr(Span s, Name c, List<FieldBinding> f, Span w = {})
      : Expr(kKind, s), con(c), fields(f), wildcard(w) {}
};
struct RecordUpdateExpr : Expr {
  DF_AST_NODE(Expr, RecordUpdate)
  Expr* record;
  List<FieldBinding> fields;
  RecordUpdateExpr(Span s, Expr* e, List<FieldBinding> f) : Expr(kKind, s), record(e), fields(f) {}
};
struct ErrorExpr : Expr { DF_AST_NODE(Expr, Error) explicit ErrorExpr(Span s) : Expr(kKind, s) {} };

enum class StmtKind : uint8_t { Bind, Let, Expr };
struct Stmt {
  DF_AST_BASE(Stmt)
};
struct BindStmt : Stmt {
  DF_AST_NODE(Stmt, Bind)
  Pat* pat;
  Expr* expr;
  BindStmt(Span s, Pat* p, Expr* e) : Stmt(kKind, s), pat(p), expr(e) {}
};
struct LetStmt : Stmt {
  DF_AST_NODE(Stmt, Let)
  List<Decl*> decls;
  LetStmt(Span s, List<Decl*> d) : Stmt(kKind, s), decls(d) {}
};
struct ExprStmt : Stmt {
  DF_AST_NODE(Stmt, Expr)
  ast::Expr* expr;
  ExprStmt(Span s, ast::Expr* e) : Stmt(kKind, s), expr(e) {}
};

}  // namespace df::ast
