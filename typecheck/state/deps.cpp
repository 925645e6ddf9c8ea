#include "typecheck/state/deps.h"

#include <algorithm>

#include "parser/walk.h"

namespace df::check {
namespace {

// Walks syntax with a count of the binders in force for each target name.
class UseWalker : public ast::Walker<UseWalker> {
 public:
  UseWalker(const Targets& targets, Symbol own, std::vector<uint32_t>& out) : targets_(targets), own_(own), out_(out) {}

  // A pattern's functions, those of `(e -> p)`, and the synonyms in it, by themselves; Bind takes its names.
  void OnPattern(const ast::Pat* pat) {
    if (const auto* con = llvm::dyn_cast<ast::ConPat>(pat)) MentionSynonym(con->name);
    Inside(pat);
  }
  void OnClause(const ast::Clause& clause) {
    const size_t mark = Mark();
    for (const ast::Pat* param : clause.params) Bind(param);
    OnRhs(clause.rhs);
    Unbind(mark);
  }
  void OnAlternative(const ast::Alternative& alternative) {
    const size_t mark = Mark();
    Bind(alternative.pat);
    OnRhs(alternative.rhs);
    Unbind(mark);
  }
  void OnRhs(const ast::Rhs& rhs) {
    const size_t mark = Mark();
    BindDecls(rhs.where);
    Inside(rhs);
    Unbind(mark);
  }
  void OnGuarded(const ast::GuardedExpr& guarded) {
    const size_t mark = Mark();
    Inside(guarded);
    Unbind(mark);
  }
  // A statement's binders stay in force for those after it.
  void OnStmt(const ast::Stmt* stmt) {
    if (const auto* let = llvm::dyn_cast<ast::LetStmt>(stmt)) BindDecls(let->decls);
    if (const auto* bind = llvm::dyn_cast<ast::BindStmt>(stmt)) {
      One(bind->expr);
      Bind(bind->pat);
    } else {
      Inside(stmt);
    }
  }
  // What an expression binds holds within it.
  void OnExpr(const ast::Expr* expr) {
    const size_t mark = Mark();
    switch (expr->kind) {
      case ast::ExprKind::Var: Mention(llvm::cast<ast::VarExpr>(expr)->name); break;
      case ast::ExprKind::Con: Mention(llvm::cast<ast::ConExpr>(expr)->name); break;
      case ast::ExprKind::Lambda:
        for (const ast::Pat* param : llvm::cast<ast::LambdaExpr>(expr)->params) Bind(param);
        One(llvm::cast<ast::LambdaExpr>(expr)->body);
        break;
      case ast::ExprKind::Let:
        BindDecls(llvm::cast<ast::LetExpr>(expr)->decls);
        Inside(expr);
        break;
      case ast::ExprKind::Comprehension:
        WalkBranches(*llvm::cast<ast::ComprehensionExpr>(expr));
        One(llvm::cast<ast::ComprehensionExpr>(expr)->element);
        break;
      default: Inside(expr);
    }
    Unbind(mark);
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
    OnPattern(pat);
    std::vector<std::pair<Symbol, Span>> names;
    PatternNames(pat, names);
    for (const auto& [name, span] : names) BindName(name);
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
  // Of the branches of a comprehension each is out of scope of the others; what all bind is in force behind them.
  void WalkBranches(const ast::ComprehensionExpr& list) {
    llvm::SmallVector<ast::List<ast::Stmt*>> branches{list.stmts};
    branches.append(list.beside.begin(), list.beside.end());
    std::vector<uint32_t> bound;
    for (ast::List<ast::Stmt*> branch : branches) {
      const size_t mark = Mark();
      Stmts(branch);
      bound.insert(bound.end(), trail_.begin() + static_cast<std::ptrdiff_t>(mark), trail_.end());
      Unbind(mark);
    }
    for (uint32_t name : bound) ++bound_[name], trail_.push_back(name);
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
  if (!llvm::isa<ast::ClassDecl, ast::InstanceDecl>(decl)) UseWalker(targets, own, out).OnDecl(decl);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace df::check
