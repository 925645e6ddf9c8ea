// parser/walk.h
//
// A walk over the syntax tree below declarations: what each node has inside, in the order of the text.
//
// A walker derives from Walker<Itself> and has its own OnExpr, OnPattern, .. for what it treats in its own way; Inside(node) goes on to what the
// node has inside. Of Walker<Itself, true> the nodes may be changed. Types are not walked.
#pragma once

#include <type_traits>

#include "parser/ast.h"

namespace df::ast {

template <typename Derived, bool kChanges = false>
class Walker {
 public:
  template <typename T>
  using Node = std::conditional_t<kChanges, T, const T>;

  // None of these is called for a node that is not there.
  void OnExpr(Node<Expr>* expr) { Inside(expr); }
  // The operator between operands, and of a section.
  void OnOperator(Node<Expr>* expr) { self().OnExpr(expr); }
  void OnPattern(Node<Pat>* pat) { Inside(pat); }
  void OnStmt(Node<Stmt>* stmt) { Inside(stmt); }
  void OnDecl(Node<Decl>* decl) { Inside(decl); }
  void OnClause(const Clause& clause) { Inside(clause); }
  void OnAlternative(const Alternative& alternative) { Inside(alternative); }
  void OnRhs(const Rhs& rhs) { Inside(rhs); }
  void OnGuarded(const GuardedExpr& guarded) { Inside(guarded); }

  void Inside(const GuardedExpr& guarded) {
    Stmts(guarded.guards);
    One(guarded.body);
  }
  void Inside(const Rhs& rhs) {
    Decls(rhs.where);
    GuardedOnes(rhs.guarded);
  }
  void Inside(const Alternative& alternative) {
    if (alternative.pat) self().OnPattern(alternative.pat);
    self().OnRhs(alternative.rhs);
  }
  void Inside(const Clause& clause) {
    Patterns(clause.params);
    self().OnRhs(clause.rhs);
  }
  void Inside(Node<Stmt>* stmt) {
    switch (stmt->kind) {
      case StmtKind::Bind:
        One(llvm::cast<BindStmt>(stmt)->expr);
        return self().OnPattern(llvm::cast<BindStmt>(stmt)->pat);
      case StmtKind::Let: return Decls(llvm::cast<LetStmt>(stmt)->decls);
      case StmtKind::Expr: return One(llvm::cast<ExprStmt>(stmt)->expr);
    }
  }
  void Inside(Node<Decl>* decl) {
    switch (decl->kind) {
      case DeclKind::Function:
        for (const Clause& clause : llvm::cast<FunctionDecl>(decl)->clauses) self().OnClause(clause);
        return;
      case DeclKind::PatBind:
        self().OnPattern(llvm::cast<PatBindDecl>(decl)->pat);
        return self().OnRhs(llvm::cast<PatBindDecl>(decl)->rhs);
      case DeclKind::Class: return Decls(llvm::cast<ClassDecl>(decl)->members);
      case DeclKind::Instance: return Decls(llvm::cast<InstanceDecl>(decl)->members);
      case DeclKind::Signature:
      case DeclKind::Fixity:
      case DeclKind::Data:
      case DeclKind::TypeSynonym:
      case DeclKind::Deriving:
      case DeclKind::Foreign:
      case DeclKind::Default:
      case DeclKind::TypeFamily:
      case DeclKind::TypeInstance:
      case DeclKind::Role:
      case DeclKind::Error: return;
    }
  }
  void Inside(Node<Pat>* pat) {
    switch (pat->kind) {
      case PatKind::View:
        One(llvm::cast<ViewPat>(pat)->view);
        return self().OnPattern(llvm::cast<ViewPat>(pat)->pat);
      case PatKind::Con: return Patterns(llvm::cast<ConPat>(pat)->args);
      case PatKind::Record:
        for (const FieldPat& field : llvm::cast<RecordPat>(pat)->fields)
          if (field.pat) self().OnPattern(field.pat);
        return;
      case PatKind::Tuple: return Patterns(llvm::cast<TuplePat>(pat)->elements);
      case PatKind::List: return Patterns(llvm::cast<ListPat>(pat)->elements);
      case PatKind::As: return self().OnPattern(llvm::cast<AsPat>(pat)->pat);
      case PatKind::Bang: return self().OnPattern(llvm::cast<BangPat>(pat)->pat);
      case PatKind::Lazy: return self().OnPattern(llvm::cast<LazyPat>(pat)->pat);
      case PatKind::Paren: return self().OnPattern(llvm::cast<ParenPat>(pat)->pat);
      case PatKind::Typed: return self().OnPattern(llvm::cast<TypedPat>(pat)->pat);
      case PatKind::Infix: return Patterns(llvm::cast<InfixPat>(pat)->operands);
      case PatKind::Var:
      case PatKind::Wildcard:
      case PatKind::Literal:
      case PatKind::Error: return;
    }
  }
  void Inside(Node<Expr>* expr) {
    switch (expr->kind) {
      case ExprKind::App:
        One(llvm::cast<AppExpr>(expr)->fn);
        return Exprs(llvm::cast<AppExpr>(expr)->args);
      case ExprKind::Infix: {
        auto* infix = llvm::cast<InfixExpr>(expr);
        for (size_t i = 0; i < infix->operands.size(); ++i) {
          if (i > 0 && i <= infix->ops.size()) self().OnOperator(infix->ops[i - 1]);
          One(infix->operands[i]);
        }
        return;
      }
      case ExprKind::Binary:
        One(llvm::cast<BinaryExpr>(expr)->left);
        self().OnOperator(llvm::cast<BinaryExpr>(expr)->op);
        return One(llvm::cast<BinaryExpr>(expr)->right);
      case ExprKind::Negate: return One(llvm::cast<NegateExpr>(expr)->operand);
      case ExprKind::Lambda:
        Patterns(llvm::cast<LambdaExpr>(expr)->params);
        return One(llvm::cast<LambdaExpr>(expr)->body);
      case ExprKind::Let:
        Decls(llvm::cast<LetExpr>(expr)->decls);
        return One(llvm::cast<LetExpr>(expr)->body);
      case ExprKind::If:
        One(llvm::cast<IfExpr>(expr)->cond);
        One(llvm::cast<IfExpr>(expr)->then_);
        return One(llvm::cast<IfExpr>(expr)->else_);
      case ExprKind::MultiIf: return GuardedOnes(llvm::cast<MultiIfExpr>(expr)->alternatives);
      case ExprKind::Case:
        One(llvm::cast<CaseExpr>(expr)->scrutinee);
        return Alternatives(llvm::cast<CaseExpr>(expr)->alternatives);
      case ExprKind::LambdaCase: return Alternatives(llvm::cast<LambdaCaseExpr>(expr)->alternatives);
      case ExprKind::Do: return Stmts(llvm::cast<DoExpr>(expr)->stmts);
      case ExprKind::Tuple: return Exprs(llvm::cast<TupleExpr>(expr)->elements);
      case ExprKind::TupleSection: return Exprs(llvm::cast<TupleSectionExpr>(expr)->elements);
      case ExprKind::List: return Exprs(llvm::cast<ListExpr>(expr)->elements);
      case ExprKind::Sequence:
        One(llvm::cast<SequenceExpr>(expr)->from);
        One(llvm::cast<SequenceExpr>(expr)->then_);
        return One(llvm::cast<SequenceExpr>(expr)->to);
      case ExprKind::Comprehension:
        Stmts(llvm::cast<ComprehensionExpr>(expr)->stmts);
        for (List<Stmt*> branch : llvm::cast<ComprehensionExpr>(expr)->beside) Stmts(branch);
        return One(llvm::cast<ComprehensionExpr>(expr)->element);
      case ExprKind::LeftSection:
        One(llvm::cast<LeftSectionExpr>(expr)->operand);
        return self().OnOperator(llvm::cast<LeftSectionExpr>(expr)->op);
      case ExprKind::RightSection:
        self().OnOperator(llvm::cast<RightSectionExpr>(expr)->op);
        return One(llvm::cast<RightSectionExpr>(expr)->operand);
      case ExprKind::Paren: return One(llvm::cast<ParenExpr>(expr)->expr);
      case ExprKind::Typed: return One(llvm::cast<TypedExpr>(expr)->expr);
      case ExprKind::TypeApp: return One(llvm::cast<TypeAppExpr>(expr)->fn);
      case ExprKind::RecordCon: return Fields(llvm::cast<RecordConExpr>(expr)->fields);
      case ExprKind::RecordUpdate:
        One(llvm::cast<RecordUpdateExpr>(expr)->record);
        return Fields(llvm::cast<RecordUpdateExpr>(expr)->fields);
      case ExprKind::Var:
      case ExprKind::Con:
      case ExprKind::Literal:
      case ExprKind::Error: return;
    }
  }

  // What may be missing, and several of a kind.
  void One(Node<Expr>* expr) {
    if (expr) self().OnExpr(expr);
  }
  void Exprs(List<Expr*> exprs) {
    for (Expr* expr : exprs) One(expr);
  }
  void Stmts(List<Stmt*> stmts) {
    for (Stmt* stmt : stmts) self().OnStmt(stmt);
  }
  void Decls(List<Decl*> decls) {
    for (Decl* decl : decls) self().OnDecl(decl);
  }
  void Patterns(List<Pat*> patterns) {
    for (Pat* pat : patterns) self().OnPattern(pat);
  }
  void Alternatives(List<Alternative> alternatives) {
    for (const Alternative& alternative : alternatives) self().OnAlternative(alternative);
  }
  void GuardedOnes(List<GuardedExpr> all) {
    for (const GuardedExpr& guarded : all) self().OnGuarded(guarded);
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  void Fields(List<FieldBinding> fields) {
    for (const FieldBinding& field : fields) One(field.value);
  }
};

}  // namespace df::ast
