#include "typecheck/state/deps.h"

#include <algorithm>

namespace df::check {
namespace {

// Walks syntax with a count of the binders in force for each target name.
class UseWalker {
 public:
  UseWalker(const Targets& targets, Symbol own, std::vector<uint32_t>& out) : targets_(targets), own_(own), out_(out) {}

  void Walk(const ast::Decl* decl) {
    if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) {
      for (const ast::Clause& clause : function->clauses) {
        size_t mark = Mark();
        for (const ast::Pat* param : clause.params) Bind(param);
        Walk(clause.rhs);
        Unbind(mark);
      }
    } else if (const auto* pattern = llvm::dyn_cast<ast::PatBindDecl>(decl)) {
      WalkViews(pattern->pat);
      Walk(pattern->rhs);
    }
  }

 private:
  size_t Mark() const { return trail_.size(); }
  void Unbind(size_t mark) {
    while (trail_.size() > mark) {
      --bound_[trail_.back()];
      trail_.pop_back();
    }
  }
  void BindName(Symbol name) {
    if (!targets_.count(name.index)) return;
    ++bound_[name.index];
    trail_.push_back(name.index);
  }
  void Bind(const ast::Pat* pat) {
    WalkViews(pat);
    std::vector<std::pair<Symbol, Span>> names;
    PatternNames(pat, names);
    for (const auto& [name, span] : names) BindName(name);
  }
  // The functions of `(e -> p)`.
  void WalkViews(const ast::Pat* pat) {
    if (!pat) return;
    switch (pat->kind) {
      case ast::PatKind::View:
        Walk(llvm::cast<ast::ViewPat>(pat)->view);
        return WalkViews(llvm::cast<ast::ViewPat>(pat)->pat);
      case ast::PatKind::Con:
        MentionSynonym(llvm::cast<ast::ConPat>(pat)->name);
        for (const ast::Pat* arg : llvm::cast<ast::ConPat>(pat)->args) WalkViews(arg);
        return;
      case ast::PatKind::Record:
        for (const ast::FieldPat& field : llvm::cast<ast::RecordPat>(pat)->fields) WalkViews(field.pat);
        return;
      case ast::PatKind::Tuple:
        for (const ast::Pat* element : llvm::cast<ast::TuplePat>(pat)->elements) WalkViews(element);
        return;
      case ast::PatKind::List:
        for (const ast::Pat* element : llvm::cast<ast::ListPat>(pat)->elements) WalkViews(element);
        return;
      case ast::PatKind::As: return WalkViews(llvm::cast<ast::AsPat>(pat)->pat);
      case ast::PatKind::Bang: return WalkViews(llvm::cast<ast::BangPat>(pat)->pat);
      case ast::PatKind::Lazy: return WalkViews(llvm::cast<ast::LazyPat>(pat)->pat);
      case ast::PatKind::Paren: return WalkViews(llvm::cast<ast::ParenPat>(pat)->pat);
      case ast::PatKind::Typed: return WalkViews(llvm::cast<ast::TypedPat>(pat)->pat);
      default: return;
    }
  }
  void BindDecls(ast::List<ast::Decl*> decls) {
    for (const ast::Decl* decl : decls) {
      if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) BindName(function->name.text);
      if (const auto* pattern = llvm::dyn_cast<ast::PatBindDecl>(decl)) Bind(pattern->pat);
    }
  }
  void Mention(const ast::Name& name) {
    auto it = targets_.find(name.text.index);
    if (it == targets_.end()) return;
    if (name.qualifier.valid()) {
      if (own_.valid() && name.qualifier == own_) out_.push_back(it->second);
      return;
    }
    auto bound = bound_.find(name.text.index);
    if (bound != bound_.end() && bound->second > 0) return;
    out_.push_back(it->second);
  }
  // A pattern synonym is a use of the function that it becomes.
  void MentionSynonym(ast::Name name) {
    name.text = Intern("%" + std::string(Text(name.text)));
    Mention(name);
  }
  void Walk(const ast::Rhs& rhs) {
    size_t mark = Mark();
    BindDecls(rhs.where);
    for (const ast::Decl* decl : rhs.where) Walk(decl);
    Walk(rhs.guarded);
    Unbind(mark);
  }
  void Walk(ast::List<ast::GuardedExpr> guarded) {
    for (const ast::GuardedExpr& alternative : guarded) {
      size_t mark = Mark();
      for (const ast::Stmt* guard : alternative.guards) Walk(guard);
      Walk(alternative.body);
      Unbind(mark);
    }
  }
  // A statement's binders stay in force for those after it.
  void Walk(const ast::Stmt* stmt) {
    if (const auto* bind = llvm::dyn_cast<ast::BindStmt>(stmt)) {
      Walk(bind->expr);
      Bind(bind->pat);
    } else if (const auto* let = llvm::dyn_cast<ast::LetStmt>(stmt)) {
      BindDecls(let->decls);
      for (const ast::Decl* decl : let->decls) Walk(decl);
    } else {
      Walk(llvm::cast<ast::ExprStmt>(stmt)->expr);
    }
  }
  // Of the branches of a comprehension each is out of scope of the others; what all bind is in force behind them.
  void WalkBranches(const ast::ComprehensionExpr& list) {
    llvm::SmallVector<ast::List<ast::Stmt*>> branches{list.stmts};
    branches.append(list.beside.begin(), list.beside.end());
    std::vector<uint32_t> bound;
    for (ast::List<ast::Stmt*> branch : branches) {
      const size_t mark = Mark();
      for (const ast::Stmt* stmt : branch) Walk(stmt);
      bound.insert(bound.end(), trail_.begin() + static_cast<std::ptrdiff_t>(mark), trail_.end());
      Unbind(mark);
    }
    for (uint32_t name : bound) ++bound_[name], trail_.push_back(name);
  }
  void Walk(ast::List<ast::Alternative> alternatives) {
    for (const ast::Alternative& alternative : alternatives) {
      size_t mark = Mark();
      Bind(alternative.pat);
      Walk(alternative.rhs);
      Unbind(mark);
    }
  }
  void Walk(ast::List<ast::Expr*> exprs) {
    for (const ast::Expr* expr : exprs) Walk(expr);
  }
  void Walk(const ast::Expr* expr) {
    if (!expr) return;
    size_t mark = Mark();
    switch (expr->kind) {
      case ast::ExprKind::Var: Mention(llvm::cast<ast::VarExpr>(expr)->name); break;
      case ast::ExprKind::App:
        Walk(llvm::cast<ast::AppExpr>(expr)->fn);
        Walk(llvm::cast<ast::AppExpr>(expr)->args);
        break;
      case ast::ExprKind::Infix:
        Walk(llvm::cast<ast::InfixExpr>(expr)->operands);
        Walk(llvm::cast<ast::InfixExpr>(expr)->ops);
        break;
      case ast::ExprKind::Binary:
        Walk(llvm::cast<ast::BinaryExpr>(expr)->op);
        Walk(llvm::cast<ast::BinaryExpr>(expr)->left);
        Walk(llvm::cast<ast::BinaryExpr>(expr)->right);
        break;
      case ast::ExprKind::Negate: Walk(llvm::cast<ast::NegateExpr>(expr)->operand); break;
      case ast::ExprKind::Lambda:
        for (const ast::Pat* param : llvm::cast<ast::LambdaExpr>(expr)->params) Bind(param);
        Walk(llvm::cast<ast::LambdaExpr>(expr)->body);
        break;
      case ast::ExprKind::Let:
        BindDecls(llvm::cast<ast::LetExpr>(expr)->decls);
        for (const ast::Decl* decl : llvm::cast<ast::LetExpr>(expr)->decls) Walk(decl);
        Walk(llvm::cast<ast::LetExpr>(expr)->body);
        break;
      case ast::ExprKind::If:
        Walk(llvm::cast<ast::IfExpr>(expr)->cond);
        Walk(llvm::cast<ast::IfExpr>(expr)->then_);
        Walk(llvm::cast<ast::IfExpr>(expr)->else_);
        break;
      case ast::ExprKind::MultiIf: Walk(llvm::cast<ast::MultiIfExpr>(expr)->alternatives); break;
      case ast::ExprKind::Case:
        Walk(llvm::cast<ast::CaseExpr>(expr)->scrutinee);
        Walk(llvm::cast<ast::CaseExpr>(expr)->alternatives);
        break;
      case ast::ExprKind::LambdaCase: Walk(llvm::cast<ast::LambdaCaseExpr>(expr)->alternatives); break;
      case ast::ExprKind::Do:
        for (const ast::Stmt* stmt : llvm::cast<ast::DoExpr>(expr)->stmts) Walk(stmt);
        break;
      case ast::ExprKind::Tuple: Walk(llvm::cast<ast::TupleExpr>(expr)->elements); break;
      case ast::ExprKind::TupleSection: Walk(llvm::cast<ast::TupleSectionExpr>(expr)->elements); break;
      case ast::ExprKind::List: Walk(llvm::cast<ast::ListExpr>(expr)->elements); break;
      case ast::ExprKind::Sequence:
        Walk(llvm::cast<ast::SequenceExpr>(expr)->from);
        Walk(llvm::cast<ast::SequenceExpr>(expr)->then_);
        Walk(llvm::cast<ast::SequenceExpr>(expr)->to);
        break;
      case ast::ExprKind::Comprehension:
        WalkBranches(*llvm::cast<ast::ComprehensionExpr>(expr));
        Walk(llvm::cast<ast::ComprehensionExpr>(expr)->element);
        break;
      case ast::ExprKind::LeftSection:
        Walk(llvm::cast<ast::LeftSectionExpr>(expr)->operand);
        Walk(llvm::cast<ast::LeftSectionExpr>(expr)->op);
        break;
      case ast::ExprKind::RightSection:
        Walk(llvm::cast<ast::RightSectionExpr>(expr)->op);
        Walk(llvm::cast<ast::RightSectionExpr>(expr)->operand);
        break;
      case ast::ExprKind::Paren: Walk(llvm::cast<ast::ParenExpr>(expr)->expr); break;
      case ast::ExprKind::Typed: Walk(llvm::cast<ast::TypedExpr>(expr)->expr); break;
      case ast::ExprKind::TypeApp: Walk(llvm::cast<ast::TypeAppExpr>(expr)->fn); break;
      case ast::ExprKind::RecordCon:
        for (const ast::FieldBinding& field : llvm::cast<ast::RecordConExpr>(expr)->fields) Walk(field.value);
        break;
      case ast::ExprKind::RecordUpdate:
        Walk(llvm::cast<ast::RecordUpdateExpr>(expr)->record);
        for (const ast::FieldBinding& field : llvm::cast<ast::RecordUpdateExpr>(expr)->fields)
          Walk(field.value);
        break;
      case ast::ExprKind::Con: Mention(llvm::cast<ast::ConExpr>(expr)->name); break;
      case ast::ExprKind::Literal:
      case ast::ExprKind::Error: break;
    }
    Unbind(mark);
  }

  const Targets& targets_;
  const Symbol own_;
  std::vector<uint32_t>& out_;
  llvm::DenseMap<uint32_t, uint32_t> bound_;
  std::vector<uint32_t> trail_;
};

}  // namespace

void PatternNames(const ast::Pat* pat, std::vector<std::pair<Symbol, Span>>& out) {
  switch (pat->kind) {
    case ast::PatKind::Var: out.push_back({llvm::cast<ast::VarPat>(pat)->name, pat->span}); break;
    case ast::PatKind::Con:
      for (const ast::Pat* arg : llvm::cast<ast::ConPat>(pat)->args) PatternNames(arg, out);
      break;
    case ast::PatKind::Record:
      for (const ast::FieldPat& field : llvm::cast<ast::RecordPat>(pat)->fields)
        if (field.pat) PatternNames(field.pat, out);
      break;
    case ast::PatKind::Tuple:
      for (const ast::Pat* element : llvm::cast<ast::TuplePat>(pat)->elements) PatternNames(element, out);
      break;
    case ast::PatKind::List:
      for (const ast::Pat* element : llvm::cast<ast::ListPat>(pat)->elements) PatternNames(element, out);
      break;
    case ast::PatKind::As:
      out.push_back({llvm::cast<ast::AsPat>(pat)->name, llvm::cast<ast::AsPat>(pat)->name_span});
      PatternNames(llvm::cast<ast::AsPat>(pat)->pat, out);
      break;
    case ast::PatKind::Bang: PatternNames(llvm::cast<ast::BangPat>(pat)->pat, out); break;
    case ast::PatKind::Lazy: PatternNames(llvm::cast<ast::LazyPat>(pat)->pat, out); break;
    case ast::PatKind::Paren: PatternNames(llvm::cast<ast::ParenPat>(pat)->pat, out); break;
    case ast::PatKind::Typed: PatternNames(llvm::cast<ast::TypedPat>(pat)->pat, out); break;
    case ast::PatKind::View: PatternNames(llvm::cast<ast::ViewPat>(pat)->pat, out); break;
    case ast::PatKind::Infix:
      for (const ast::Pat* operand : llvm::cast<ast::InfixPat>(pat)->operands) PatternNames(operand, out);
      break;
    case ast::PatKind::Wildcard:
    case ast::PatKind::Literal:
    case ast::PatKind::Error: break;
  }
}

std::vector<uint32_t> CollectUses(const ast::Decl* decl, const Targets& targets, Symbol own) {
  std::vector<uint32_t> out;
  UseWalker(targets, own, out).Walk(decl);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace df::check
