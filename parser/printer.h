// parser/printer.h
//
// The printer of trees behind --emit=ast: private to dump.cpp (tokens, names, types, patterns) and dump_terms.cpp (expressions and
// declarations). A tree is printed as Haskell with every block in braces and every compound expression in parentheses; what has no
// Haskell form is in angle brackets.
#pragma once

#include <string>
#include <string_view>

#include "llvm/Support/raw_ostream.h"
#include "parser/ast.h"

namespace df {

// A literal's text as it could stand in a source.
std::string Quoted(std::string_view text, char quote);

class Printer {
 public:
  explicit Printer(llvm::raw_ostream& out) : out_(out) {}

  void Print(const ast::Module& module);

 private:
  template <typename T, typename F>
  void Separated(ast::List<T> items, const char* separator, F print) {
    bool first = true;
    for (const T& item : items) {
      if (!first) out_ << separator;
      first = false;
      print(item);
    }
  }
  void Items(ast::List<ast::Name> names);
  void Print(const ast::Name& name);
  void PrintPrefix(const ast::Name& name);
  void PrintPrefix(Symbol name) { PrintPrefix(ast::Name{name, {}, {}}); }
  void PrintInfix(const ast::Name& name);
  void PrintInfix(const ast::Expr* op);
  void Print(const ast::Literal& literal);
  void Print(const ast::Import& import);
  void PrintItems(ast::List<ast::Item> items);
  void Print(const ast::Type* type, bool atomic = false);
  void Print(ast::List<ast::Constraint> context);
  void Print(const ast::QualType& type);
  void Print(const ast::Pat* pat);
  void Block(ast::List<ast::Decl*> decls);
  void Print(const ast::Stmt* stmt);
  void Print(ast::List<ast::Stmt*> stmts, const char* separator);
  void Print(const ast::GuardedExpr& guarded, const char* arrow);
  void Print(const ast::Rhs& rhs, const char* arrow);
  void Print(ast::List<ast::Alternative> alternatives);
  void Print(ast::List<ast::FieldBinding> fields);
  void Elements(ast::List<ast::Expr*> elements);
  void Print(const ast::Expr* expr);
  void PrintApplication(const ast::Expr* expr);
  void PrintForm(const ast::Expr* expr);
  void PrintElements(const ast::Expr* expr);
  void PrintTypedOrRecord(const ast::Expr* expr);
  void Head(const ast::Name& name, ast::List<ast::Name> params);
  void Print(const ast::ConstructorDecl& con);
  void Members(ast::List<ast::Decl*> members);
  void Print(const ast::Decl* decl);
  void PrintTypeDecl(const ast::Decl* decl);

  llvm::raw_ostream& out_;
};

}  // namespace df
