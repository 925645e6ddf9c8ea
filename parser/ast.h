// parser/ast.h
//
// The syntax tree of one module: what the text says, before names, fixities or types are known.
// Nodes live in the Ast's arena and never move; children are pointers or arrays in the same arena.
// Every node has the span of its text. LLVM casting works on Expr, Pat, Type, Decl and Stmt
// (llvm::isa, llvm::cast, llvm::dyn_cast), by each struct's classof.
#pragma once

#include <cstdint>
#include <memory>

#include "lang/interner.h"
#include "lang/source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/raw_ostream.h"

namespace df::ast {

template <typename T>
using List = llvm::ArrayRef<T>;

// A name as written, with its module qualifier if it had one (`Map.insert`: qualifier `Map`, name `insert`).
struct Name {
  Symbol text;
  Symbol qualifier;
  Span span;
};

// A qualifier that no program can write: the name is the library's, whatever is in scope.
inline constexpr const char* kLibraryQualifier = "%library";

enum class LiteralKind : uint8_t { Integer, Fractional, Char, String };

// A literal's value. Integer and Fractional keep their digits as decimal text ("255" for 0xFF; "1.5e3" as
// written, without underscores), since they may exceed every machine type. Char and String hold UTF-8.
struct Literal {
  LiteralKind kind;
  Symbol text;
};

#define DF_AST_NODE(Base, Name)                           \
  static constexpr Base##Kind kKind = Base##Kind::Name;   \
  static bool classof(const Base* node) { return node->kind == kKind; }
#define DF_AST_BASE(Base)                                       \
  Base##Kind kind;                                              \
  Span span;                                                    \
  Base(Base##Kind k, Span s) : kind(k), span(s) {}

// ---------------------------------------------------------------- types

enum class TypeKind : uint8_t { Con, Var, App, Fun, Tuple, List, Dim, DimOp, Bang, Error };

struct Type {
  DF_AST_BASE(Type)
};
// `Int`, `Map.Map`; also the bare constructors `()`, `[]`, `(->)`, `(,)` under those names.
struct ConType : Type { DF_AST_NODE(Type, Con) Name name; ConType(Span s, Name n) : Type(kKind, s), name(n) {} };
struct VarType : Type { DF_AST_NODE(Type, Var) Symbol name; VarType(Span s, Symbol n) : Type(kKind, s), name(n) {} };
struct AppType : Type { DF_AST_NODE(Type, App) Type* fn; Type* arg; AppType(Span s, Type* f, Type* a) : Type(kKind, s), fn(f), arg(a) {} };
struct FunType : Type { DF_AST_NODE(Type, Fun) Type* from; Type* to; FunType(Span s, Type* f, Type* t) : Type(kKind, s), from(f), to(t) {} };
struct TupleType : Type { DF_AST_NODE(Type, Tuple) List<Type*> elements; TupleType(Span s, List<Type*> e) : Type(kKind, s), elements(e) {} };  // () has none
// `[a]`; `Tensor Float [m, n]` has a list of several dimensions as its last argument.
struct ListType : Type { DF_AST_NODE(Type, List) List<Type*> elements; ListType(Span s, List<Type*> e) : Type(kKind, s), elements(e) {} };
struct DimType : Type { DF_AST_NODE(Type, Dim) Symbol digits; DimType(Span s, Symbol d) : Type(kKind, s), digits(d) {} };
struct DimOpType : Type { DF_AST_NODE(Type, DimOp) char op; Type* left; Type* right; DimOpType(Span s, char o, Type* l, Type* r) : Type(kKind, s), op(o), left(l), right(r) {} };
struct BangType : Type { DF_AST_NODE(Type, Bang) Type* type; BangType(Span s, Type* t) : Type(kKind, s), type(t) {} };  // a strict field
struct ErrorType : Type { DF_AST_NODE(Type, Error) explicit ErrorType(Span s) : Type(kKind, s) {} };

// `Eq a` in a context; `type` is the class's argument.
struct Constraint {
  Name cls;
  Type* type;
  Span span;
};
// `(Eq a, Num a) => a -> a`.
struct QualType {
  List<Constraint> context;
  Type* type;
  Span span;
  List<Name> forall;  // the variables of an explicit `forall`, which scope over the definition
};

// ---------------------------------------------------------------- patterns

enum class PatKind : uint8_t { Wildcard, Var, Literal, Con, Record, Tuple, List, As, Bang, Lazy, Paren, Infix, Typed, Error };

struct Pat {
  DF_AST_BASE(Pat)
};
struct Expr;
struct WildcardPat : Pat { DF_AST_NODE(Pat, Wildcard) explicit WildcardPat(Span s) : Pat(kKind, s) {} };
struct VarPat : Pat { DF_AST_NODE(Pat, Var) Symbol name; VarPat(Span s, Symbol n) : Pat(kKind, s), name(n) {} };
struct LiteralPat : Pat { DF_AST_NODE(Pat, Literal) Literal value; bool negative; LiteralPat(Span s, Literal v, bool neg) : Pat(kKind, s), value(v), negative(neg) {} };
struct ConPat : Pat { DF_AST_NODE(Pat, Con) Name name; List<Pat*> args; ConPat(Span s, Name n, List<Pat*> a) : Pat(kKind, s), name(n), args(a) {} };
struct FieldPat { Name field; Pat* pat; };
// `C { x = p, y, .. }`; `wildcard` is the place of the dots, whose fields ResolveFixity adds.
struct RecordPat : Pat { DF_AST_NODE(Pat, Record) Name name; List<FieldPat> fields; Span wildcard; RecordPat(Span s, Name n, List<FieldPat> f, Span w = {}) : Pat(kKind, s), name(n), fields(f), wildcard(w) {} };
struct TuplePat : Pat { DF_AST_NODE(Pat, Tuple) List<Pat*> elements; TuplePat(Span s, List<Pat*> e) : Pat(kKind, s), elements(e) {} };  // () has none
struct ListPat : Pat { DF_AST_NODE(Pat, List) List<Pat*> elements; ListPat(Span s, List<Pat*> e) : Pat(kKind, s), elements(e) {} };
struct AsPat : Pat { DF_AST_NODE(Pat, As) Symbol name; Span name_span; Pat* pat; AsPat(Span s, Symbol n, Span ns, Pat* p) : Pat(kKind, s), name(n), name_span(ns), pat(p) {} };
struct BangPat : Pat { DF_AST_NODE(Pat, Bang) Pat* pat; BangPat(Span s, Pat* p) : Pat(kKind, s), pat(p) {} };
struct LazyPat : Pat { DF_AST_NODE(Pat, Lazy) Pat* pat; LazyPat(Span s, Pat* p) : Pat(kKind, s), pat(p) {} };
struct ParenPat : Pat { DF_AST_NODE(Pat, Paren) Pat* pat; ParenPat(Span s, Pat* p) : Pat(kKind, s), pat(p) {} };
// `p : ps : qs` as written; ResolveFixity replaces it by ConPats.
struct InfixPat : Pat { DF_AST_NODE(Pat, Infix) List<Pat*> operands; List<Name> ops; InfixPat(Span s, List<Pat*> p, List<Name> o) : Pat(kKind, s), operands(p), ops(o) {} };
struct TypedPat : Pat { DF_AST_NODE(Pat, Typed) Pat* pat; QualType type; TypedPat(Span s, Pat* p, QualType t) : Pat(kKind, s), pat(p), type(t) {} };
struct ErrorPat : Pat { DF_AST_NODE(Pat, Error) explicit ErrorPat(Span s) : Pat(kKind, s) {} };

// ---------------------------------------------------------------- expressions

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
struct VarExpr : Expr { DF_AST_NODE(Expr, Var) Name name; VarExpr(Span s, Name n) : Expr(kKind, s), name(n) {} };  // also an operator in parentheses
struct ConExpr : Expr { DF_AST_NODE(Expr, Con) Name name; ConExpr(Span s, Name n) : Expr(kKind, s), name(n) {} };  // also `(:)`, `(,)`, `[]`, `()`
struct LiteralExpr : Expr { DF_AST_NODE(Expr, Literal) Literal value; LiteralExpr(Span s, Literal v) : Expr(kKind, s), value(v) {} };
struct AppExpr : Expr { DF_AST_NODE(Expr, App) Expr* fn; List<Expr*> args; AppExpr(Span s, Expr* f, List<Expr*> a) : Expr(kKind, s), fn(f), args(a) {} };
// `- a + b * c` as written: a null operand before a `-` marks prefix negation. ResolveFixity replaces it.
struct InfixExpr : Expr { DF_AST_NODE(Expr, Infix) List<Expr*> operands; List<Expr*> ops; InfixExpr(Span s, List<Expr*> e, List<Expr*> o) : Expr(kKind, s), operands(e), ops(o) {} };  // ops are VarExpr or ConExpr
struct BinaryExpr : Expr { DF_AST_NODE(Expr, Binary) Expr* op; Expr* left; Expr* right; BinaryExpr(Span s, Expr* o, Expr* l, Expr* r) : Expr(kKind, s), op(o), left(l), right(r) {} };
struct NegateExpr : Expr { DF_AST_NODE(Expr, Negate) Expr* operand; NegateExpr(Span s, Expr* e) : Expr(kKind, s), operand(e) {} };
struct LambdaExpr : Expr { DF_AST_NODE(Expr, Lambda) List<Pat*> params; Expr* body; LambdaExpr(Span s, List<Pat*> p, Expr* b) : Expr(kKind, s), params(p), body(b) {} };
struct LetExpr : Expr { DF_AST_NODE(Expr, Let) List<Decl*> decls; Expr* body; LetExpr(Span s, List<Decl*> d, Expr* b) : Expr(kKind, s), decls(d), body(b) {} };
struct IfExpr : Expr { DF_AST_NODE(Expr, If) Expr* cond; Expr* then_; Expr* else_; IfExpr(Span s, Expr* c, Expr* t, Expr* e) : Expr(kKind, s), cond(c), then_(t), else_(e) {} };
struct MultiIfExpr : Expr { DF_AST_NODE(Expr, MultiIf) List<GuardedExpr> alternatives; MultiIfExpr(Span s, List<GuardedExpr> a) : Expr(kKind, s), alternatives(a) {} };
struct CaseExpr : Expr { DF_AST_NODE(Expr, Case) Expr* scrutinee; List<Alternative> alternatives; CaseExpr(Span s, Expr* e, List<Alternative> a) : Expr(kKind, s), scrutinee(e), alternatives(a) {} };
struct LambdaCaseExpr : Expr { DF_AST_NODE(Expr, LambdaCase) List<Alternative> alternatives; LambdaCaseExpr(Span s, List<Alternative> a) : Expr(kKind, s), alternatives(a) {} };
struct DoExpr : Expr { DF_AST_NODE(Expr, Do) List<Stmt*> stmts; DoExpr(Span s, List<Stmt*> st) : Expr(kKind, s), stmts(st) {} };
struct TupleExpr : Expr { DF_AST_NODE(Expr, Tuple) List<Expr*> elements; TupleExpr(Span s, List<Expr*> e) : Expr(kKind, s), elements(e) {} };  // at least two; () is a ConExpr
struct TupleSectionExpr : Expr { DF_AST_NODE(Expr, TupleSection) List<Expr*> elements; TupleSectionExpr(Span s, List<Expr*> e) : Expr(kKind, s), elements(e) {} };  // null where missing
struct ListExpr : Expr { DF_AST_NODE(Expr, List) List<Expr*> elements; ListExpr(Span s, List<Expr*> e) : Expr(kKind, s), elements(e) {} };
struct SequenceExpr : Expr { DF_AST_NODE(Expr, Sequence) Expr* from; Expr* then_; Expr* to; SequenceExpr(Span s, Expr* f, Expr* t, Expr* e) : Expr(kKind, s), from(f), then_(t), to(e) {} };  // then_, to may be null
struct ComprehensionExpr : Expr { DF_AST_NODE(Expr, Comprehension) Expr* element; List<Stmt*> stmts; ComprehensionExpr(Span s, Expr* e, List<Stmt*> st) : Expr(kKind, s), element(e), stmts(st) {} };
struct LeftSectionExpr : Expr { DF_AST_NODE(Expr, LeftSection) Expr* operand; Expr* op; LeftSectionExpr(Span s, Expr* e, Expr* o) : Expr(kKind, s), operand(e), op(o) {} };  // (x +)
struct RightSectionExpr : Expr { DF_AST_NODE(Expr, RightSection) Expr* op; Expr* operand; RightSectionExpr(Span s, Expr* o, Expr* e) : Expr(kKind, s), op(o), operand(e) {} };  // (+ x)
struct ParenExpr : Expr { DF_AST_NODE(Expr, Paren) Expr* expr; ParenExpr(Span s, Expr* e) : Expr(kKind, s), expr(e) {} };
struct TypedExpr : Expr { DF_AST_NODE(Expr, Typed) Expr* expr; QualType type; TypedExpr(Span s, Expr* e, QualType t) : Expr(kKind, s), expr(e), type(t) {} };
// `read @Int`, of a VarExpr or ConExpr; null for `@_`.
struct TypeAppExpr : Expr { DF_AST_NODE(Expr, TypeApp) Expr* fn; List<Type*> types; TypeAppExpr(Span s, Expr* f, List<Type*> t) : Expr(kKind, s), fn(f), types(t) {} };
struct RecordConExpr : Expr { DF_AST_NODE(Expr, RecordCon) Name con; List<FieldBinding> fields; Span wildcard; RecordConExpr(Span s, Name c, List<FieldBinding> f, Span w = {}) : Expr(kKind, s), con(c), fields(f), wildcard(w) {} };
struct RecordUpdateExpr : Expr { DF_AST_NODE(Expr, RecordUpdate) Expr* record; List<FieldBinding> fields; RecordUpdateExpr(Span s, Expr* e, List<FieldBinding> f) : Expr(kKind, s), record(e), fields(f) {} };
struct ErrorExpr : Expr { DF_AST_NODE(Expr, Error) explicit ErrorExpr(Span s) : Expr(kKind, s) {} };

enum class StmtKind : uint8_t { Bind, Let, Expr };
struct Stmt {
  DF_AST_BASE(Stmt)
};
struct BindStmt : Stmt { DF_AST_NODE(Stmt, Bind) Pat* pat; Expr* expr; BindStmt(Span s, Pat* p, Expr* e) : Stmt(kKind, s), pat(p), expr(e) {} };
struct LetStmt : Stmt { DF_AST_NODE(Stmt, Let) List<Decl*> decls; LetStmt(Span s, List<Decl*> d) : Stmt(kKind, s), decls(d) {} };
struct ExprStmt : Stmt { DF_AST_NODE(Stmt, Expr) ast::Expr* expr; ExprStmt(Span s, ast::Expr* e) : Stmt(kKind, s), expr(e) {} };

// ---------------------------------------------------------------- declarations

enum class DeclKind : uint8_t { Signature, Fixity, Function, PatBind, Data, TypeSynonym, Class, Instance, Deriving, Foreign, Error };

struct Decl {
  DF_AST_BASE(Decl)
};
// `f, g :: Int -> Int`
struct SignatureDecl : Decl { DF_AST_NODE(Decl, Signature) List<Name> names; QualType type; SignatureDecl(Span s, List<Name> n, QualType t) : Decl(kKind, s), names(n), type(t) {} };
enum class Associativity : uint8_t { Left, Right, None };
struct FixityDecl : Decl { DF_AST_NODE(Decl, Fixity) Associativity assoc; uint8_t precedence; List<Name> ops; FixityDecl(Span s, Associativity a, uint8_t p, List<Name> o) : Decl(kKind, s), assoc(a), precedence(p), ops(o) {} };
// One equation `f p1 .. pn | g = e where ..`. Neighbouring equations of one name are one FunctionDecl.
struct Clause {
  List<Pat*> params;
  Rhs rhs;
  Span span;
};
// A function or variable: at least one clause, all with the same number of parameters (checked by the parser).
struct FunctionDecl : Decl { DF_AST_NODE(Decl, Function) Name name; List<Clause> clauses; FunctionDecl(Span s, Name n, List<Clause> c) : Decl(kKind, s), name(n), clauses(c) {} };
// `(a, b) = e`, `!x = e`, `Just y | g = e`
struct PatBindDecl : Decl { DF_AST_NODE(Decl, PatBind) Pat* pat; Rhs rhs; PatBindDecl(Span s, Pat* p, Rhs r) : Decl(kKind, s), pat(p), rhs(r) {} };
struct FieldDecl {
  Name name;      // no text if the constructor is not a record
  Type* type;     // without its strictness mark
  bool strict;
};
struct ConstructorDecl {
  Name name;
  List<FieldDecl> fields;
  bool record;
  bool infix;  // `a :+ b`, "a `C` b"
  Span span;
};
// How an instance is derived, if the program says so: `deriving newtype Num`.
enum class DerivingStrategy : uint8_t { None, Stock, Newtype, Anyclass };
struct DerivedClass {
  Name cls;
  DerivingStrategy strategy;
  List<Type*> args = {};  // `MonadState Int`: what the class has before its last parameter
};
// `data T a = A Int | B { x :: !a } deriving (Eq, Show)`; also `newtype`.
struct DataDecl : Decl { DF_AST_NODE(Decl, Data) bool newtype; List<Constraint> context; Name name; List<Name> params; List<ConstructorDecl> constructors; List<DerivedClass> deriving; DataDecl(Span s, bool nt, List<Constraint> c, Name n, List<Name> p, List<ConstructorDecl> cs, List<DerivedClass> d) : Decl(kKind, s), newtype(nt), context(c), name(n), params(p), constructors(cs), deriving(d) {} };
struct TypeSynonymDecl : Decl { DF_AST_NODE(Decl, TypeSynonym) Name name; List<Name> params; Type* type; TypeSynonymDecl(Span s, Name n, List<Name> p, Type* t) : Decl(kKind, s), name(n), params(p), type(t) {} };
// `class (Eq a) => Ord a where ...`; members are Signature, Fixity and Function/PatBind declarations.
// `{-# MINIMAL area, (name | label) #-}`: which methods an instance has to define.
struct Minimal {
  enum class Kind : uint8_t { Method, All, Any };
  Kind kind = Kind::All;
  Name method;          // of a Method
  List<Minimal> parts;  // of the others
};
struct ClassDecl : Decl { DF_AST_NODE(Decl, Class) List<Constraint> context; Name name; Name param; List<Decl*> members; const Minimal* minimal; Span minimal_span; ClassDecl(Span s, List<Constraint> c, Name n, Name p, List<Decl*> m, const Minimal* f, Span fs) : Decl(kKind, s), context(c), name(n), param(p), members(m), minimal(f), minimal_span(fs) {} };
struct InstanceDecl : Decl { DF_AST_NODE(Decl, Instance) List<Constraint> context; Name cls; Type* type; List<Decl*> members; InstanceDecl(Span s, List<Constraint> c, Name n, Type* t, List<Decl*> m) : Decl(kKind, s), context(c), cls(n), type(t), members(m) {} };
// `deriving instance Eq a => Eq (T a)`
struct DerivingDecl : Decl { DF_AST_NODE(Decl, Deriving) DerivedClass derived; List<Constraint> context; Type* type; DerivingDecl(Span s, DerivedClass d, List<Constraint> c, Type* t) : Decl(kKind, s), derived(d), context(c), type(t) {} };
// `foreign import prim "Add" primIntAdd :: Int -> Int -> Int`: only the standard library may say it. `op` names
// a row of tagged_ir/op.def.
struct ForeignDecl : Decl { DF_AST_NODE(Decl, Foreign) Symbol op; Name name; QualType type; ForeignDecl(Span s, Symbol o, Name n, QualType t) : Decl(kKind, s), op(o), name(n), type(t) {} };
struct ErrorDecl : Decl { DF_AST_NODE(Decl, Error) explicit ErrorDecl(Span s) : Decl(kKind, s) {} };

// One item of an export or import list: `insert`, `Map`, `Maybe(..)`, `Maybe(Just)`, `module Data.Char`.
struct Item {
  Name name;
  bool all_members = false;  // `T(..)`
  bool is_module = false;    // `module M`, only in an export list
  List<Name> members;        // `T(A, b)`: constructors and fields, or a class's methods
};
// `import qualified Data.Map as Map (insert, Map(..))`, `hiding` alike.
struct Import {
  Name module;
  bool qualified;
  Name as;  // no text if absent
  bool has_items;
  bool hiding;
  List<Item> items;
  Span span;
};

struct Module {
  Name name;  // no text if there was no header
  bool has_exports = false;  // an export list, perhaps an empty one
  List<Item> exports;
  List<Symbol> extensions;  // of LANGUAGE pragmas that we know
  List<std::pair<Span, Type*>> kinds;  // `(f :: Type -> Type)`: the variable's place and its kind, as a type
  List<Import> imports;
  List<Decl*> decls;
};

#undef DF_AST_NODE
#undef DF_AST_BASE

// Owns the nodes of one module.
class Ast {
 public:
  FileId file;
  Module module;
  uint32_t complaints = 0;  // errors behind which the tree is still that of the text: an ErrorExpr stands where it is not

  template <typename T, typename... Args>
  T* New(Args&&... args) {
    return new (arena_->Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  template <typename T>
  List<T> Copy(llvm::ArrayRef<T> items) {
    if (items.empty()) return {};
    T* to = static_cast<T*>(arena_->Allocate(sizeof(T) * items.size(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), to);
    return List<T>(to, items.size());
  }

 private:
  std::unique_ptr<llvm::BumpPtrAllocator> arena_ = std::make_unique<llvm::BumpPtrAllocator>();
};

}  // namespace df::ast
