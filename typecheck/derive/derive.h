// typecheck/derive/derive.h
//
// The methods of derived instances, as syntax. Names of the library are written with a qualifier that no program can
// write, so that they mean the library's whatever the module defines or hides.
#pragma once

#include <optional>

#include "typecheck/state/parts.h"

namespace df::check {

// Makes syntax at one span.
class Builder {
 public:
  Builder(ast::Ast& ast, Symbol library, Span span) : ast_(ast), library_(library), span_(span) {}

  Span span() const { return span_; }
  ast::Name Lib(std::string_view name) const { return {Intern(name), library_, span_}; }
  ast::Name Plain(Symbol name) const { return {name, Symbol(), span_}; }
  // A constructor of the type at hand, whatever is imported under its name.
  ast::Name Own(Symbol con) const { return {con, Intern(kOwnQualifier), span_}; }
  ast::Expr* Var(std::string_view local) { return ast_.New<ast::VarExpr>(span_, Plain(Intern(local))); }
  ast::Expr* LibVar(std::string_view name) { return ast_.New<ast::VarExpr>(span_, Lib(name)); }
  ast::Expr* LibCon(std::string_view name) { return ast_.New<ast::ConExpr>(span_, Lib(name)); }
  ast::Expr* Con(Symbol name) { return ast_.New<ast::ConExpr>(span_, Own(name)); }
  // A method at a type as written: `(method @T)`; the class's other parameters are left open.
  ast::Expr* At(ast::Expr* method, size_t before, ast::Type* type) {
    std::vector<ast::Type*> types(before, nullptr);
    types.push_back(type);
    return ast_.New<ast::TypeAppExpr>(span_, method, ast_.Copy<ast::Type*>(types));
  }
  // A constructor by its number, whatever is in scope.
  ast::Name Numbered(ConId con) const { return Lib("%" + std::to_string(con.index)); }
  ast::Expr* NumberedCon(ConId con) { return ast_.New<ast::ConExpr>(span_, Numbered(con)); }
  ast::Pat* NumberedPat(ConId con, ast::Pat* arg) { return ast_.New<ast::ConPat>(span_, Numbered(con), ast_.Copy<ast::Pat*>({arg})); }
  ast::Expr* App(ast::Expr* fn, llvm::ArrayRef<ast::Expr*> args) {
    return args.empty() ? fn : ast_.New<ast::AppExpr>(span_, fn, ast_.Copy<ast::Expr*>(args));
  }
  ast::Expr* Call(std::string_view fn, llvm::ArrayRef<ast::Expr*> args) { return App(LibVar(fn), args); }
  ast::Expr* Int(int64_t value) {
    ast::Literal literal{ast::LiteralKind::Integer, Intern(std::to_string(value))};
    ast::QualType type{};
    type.type = ast_.New<ast::ConType>(span_, Lib("Int"));
    type.span = span_;
    return ast_.New<ast::TypedExpr>(span_, ast_.New<ast::LiteralExpr>(span_, literal), type);
  }
  ast::Expr* String(std::string_view text) {
    return ast_.New<ast::LiteralExpr>(span_, ast::Literal{ast::LiteralKind::String, Intern(text)});
  }
  ast::Pat* VarPat(std::string_view name) { return ast_.New<ast::VarPat>(span_, Intern(name)); }
  ast::Pat* Any() { return ast_.New<ast::WildcardPat>(span_); }
  ast::Pat* AnyOf(Symbol con) {
    return ast_.New<ast::RecordPat>(span_, Own(con), ast::List<ast::FieldPat>());
  }
  ast::Pat* LibConPat(std::string_view con) {
    return ast_.New<ast::ConPat>(span_, Lib(con), ast::List<ast::Pat*>());
  }
  ast::Pat* IntPat(int64_t value) {
    return ast_.New<ast::LiteralPat>(
        span_, ast::Literal{ast::LiteralKind::Integer, Intern(std::to_string(value))}, false);
  }
  ast::Expr* Tuple(llvm::ArrayRef<ast::Expr*> parts) {
    return ast_.New<ast::TupleExpr>(span_, ast_.Copy<ast::Expr*>(parts));
  }
  ast::Pat* TuplePat(llvm::ArrayRef<ast::Pat*> parts) {
    return ast_.New<ast::TuplePat>(span_, ast_.Copy<ast::Pat*>(parts));
  }
  ast::Pat* Lazy(ast::Pat* pat) { return ast_.New<ast::LazyPat>(span_, pat); }
  ast::Expr* Lambda(llvm::ArrayRef<ast::Pat*> params, ast::Expr* body) {
    return ast_.New<ast::LambdaExpr>(span_, ast_.Copy<ast::Pat*>(params), body);
  }
  // C x1 .. xn
  ast::Pat* ConPat(Symbol con, size_t fields, std::string_view prefix) {
    std::vector<ast::Pat*> args;
    for (size_t i = 0; i < fields; ++i) args.push_back(VarPat(Field(prefix, i)));
    return ConPat(con, args);
  }
  ast::Pat* ConPat(Symbol con, llvm::ArrayRef<ast::Pat*> args) {
    return ast_.New<ast::ConPat>(span_, Own(con), ast_.Copy<ast::Pat*>(args));
  }
  static std::string Field(std::string_view prefix, size_t i) {
    return std::string(prefix) + std::to_string(i + 1);
  }
  ast::Rhs Body(ast::Expr* body) {
    ast::GuardedExpr only{{}, body, span_};
    return {ast_.Copy<ast::GuardedExpr>({only}), {}, span_};
  }
  ast::Alternative Alt(ast::Pat* pat, ast::Expr* body) { return {pat, Body(body), span_}; }
  ast::Expr* Case(ast::Expr* scrutinee, llvm::ArrayRef<ast::Alternative> alternatives) {
    return ast_.New<ast::CaseExpr>(span_, scrutinee, ast_.Copy<ast::Alternative>(alternatives));
  }
  void Clause(llvm::ArrayRef<ast::Pat*> params, ast::Expr* body) {
    clauses_.push_back({ast_.Copy<ast::Pat*>(params), Body(body), span_});
  }
  // The clauses so far as the method `name`.
  void Method(std::string_view name) {
    methods_.push_back(
        ast_.New<ast::FunctionDecl>(span_, Plain(Intern(name)), ast_.Copy<ast::Clause>(clauses_)));
    clauses_.clear();
  }
  ast::List<ast::Decl*> Methods() { return ast_.Copy<ast::Decl*>(methods_); }

 private:
  ast::Ast& ast_;
  Symbol library_;
  Span span_;
  std::vector<ast::Clause> clauses_;
  std::vector<ast::Decl*> methods_;
};

// The data type, as far as a derived method looks at it.
struct Shape {
  Symbol type;
  std::vector<const core::DataCon*> cons;
  bool enumeration() const {
    for (const core::DataCon* con : cons)
      if (!con->fields.empty()) return false;
    return !cons.empty();
  }
  bool has_nullary() const {
    for (const core::DataCon* con : cons)
      if (con->fields.empty()) return true;
    return false;
  }
};

// Functor, Foldable and Traversable, along the last parameter of the type (derive/functor.cpp). `needs` are the types
// that have to have the class as well. False: a field stands in the way, `obstacle`.
bool DeriveFunctorLike(Builder& make, Types& types, const Shape& shape, std::string_view cls, TyVarId last,
                       std::vector<TypeId>& needs, TypeId& obstacle);

// The methods of `cls` at the type `whole`, each of which is that of the type `via`, which the program writes as `written`, if
// it does (derive/newtype.cpp). `coerces`: `coerce` can be used for what constructors alone do not do.
// Both are without the parameters that the class leaves open.
enum class ViaResult : uint8_t { Made, Mismatch, Obstacle };
ViaResult DeriveVia(Builder& make, core::Program& program, const core::Class& cls, bool of_library, TypeId whole, TypeId via,
                    ast::Type* written, bool coerces, VarId& obstacle);

}  // namespace df::check
