// parser/ast_decl.h
//
// Declarations, as written.
#pragma once

#include "parser/ast_expr.h"

namespace df::ast {

enum class DeclKind : uint8_t { Signature, Fixity, Function, PatBind, Data, TypeSynonym, Class, Instance, Deriving,
  Foreign, Default, TypeFamily, TypeInstance, Role, Error };

struct Decl {
  DF_AST_BASE(Decl)
};
// `f, g :: Int -> Int`
struct SignatureDecl : Decl {
  DF_AST_NODE(Decl, Signature)
  List<Name> names;
  QualType type;
  bool is_default = false;  // `default f :: ..` in a class: the type of the default method
  SignatureDecl(Span s, List<Name> n, QualType t) : Decl(kKind, s), names(n), type(t) {}
};
enum class Associativity : uint8_t { Left, Right, None };
struct FixityDecl : Decl {
  DF_AST_NODE(Decl, Fixity)
  Associativity assoc;
  uint8_t precedence;
  List<Name> ops;
  FixityDecl(Span s, Associativity a, uint8_t p, List<Name> o)
      : Decl(kKind, s), assoc(a), precedence(p), ops(o) {}
};
// One equation `f p1 .. pn | g = e where ..`. Neighbouring equations of one name are one FunctionDecl.
struct Clause {
  List<Pat*> params;
  Rhs rhs;
  Span span;
};
// A function or variable: at least one clause, all with the same number of parameters (checked by the parser).
struct FunctionDecl : Decl {
  DF_AST_NODE(Decl, Function)
  Name name;
  List<Clause> clauses;
  FunctionDecl(Span s, Name n, List<Clause> c) : Decl(kKind, s), name(n), clauses(c) {}
};
// `(a, b) = e`, `!x = e`, `Just y | g = e`
struct PatBindDecl : Decl {
  DF_AST_NODE(Decl, PatBind)
  Pat* pat;
  Rhs rhs;
  PatBindDecl(Span s, Pat* p, Rhs r) : Decl(kKind, s), pat(p), rhs(r) {}
};
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
  List<Name> forall = {};           // `forall a. Area a => Shape a`: variables that the type does not have
  List<Constraint> context = {};
  Type* result = nullptr;           // `C :: Int -> T Int`: what it makes, with variables of its own
};
// How an instance is derived, if the program says so: `deriving newtype Num`.
enum class DerivingStrategy : uint8_t { None, Stock, Newtype, Anyclass, Via };
struct DerivedClass {
  Name cls;
  DerivingStrategy strategy;
  List<Type*> args = {};  // `MonadState Int`: what the class has before its last parameter
  Type* via = nullptr;    // `deriving Num via Sum Int`: the type whose instance it is
};
// `data T a = A Int | B { x :: !a } deriving (Eq, Show)`; also `newtype`.
struct DataDecl : Decl {
  DF_AST_NODE(Decl, Data)
  bool newtype;
  List<Constraint> context;
  Name name;
  List<Name> params;
  List<ConstructorDecl> constructors;
  List<DerivedClass> deriving;
  DataDecl(Span s, bool nt, List<Constraint> c, Name n, List<Name> p, List<ConstructorDecl> cs, List<DerivedClass> d)
      : Decl(kKind, s), newtype(nt), context(c), name(n), params(p), constructors(cs), deriving(d) {}
};
struct TypeSynonymDecl : Decl {
  DF_AST_NODE(Decl, TypeSynonym)
  Name name;
  List<Name> params;
  Type* type;
  TypeSynonymDecl(Span s, Name n, List<Name> p, Type* t) : Decl(kKind, s), name(n), params(p), type(t) {}
};
// `{-# MINIMAL area, (name | label) #-}`: which methods an instance has to define.
struct Minimal {
  enum class Kind : uint8_t { Method, All, Any };
  Kind kind = Kind::All;
  Name method;          // of a Method
  List<Minimal> parts;  // of the others
};
// `m r -> s`: what the first ones are settles the others.
struct Dependency {
  List<Name> from, to;
};
// `class (Eq a) => Ord a where ...`, `class Monad m => MonadState s m | m -> s where ..`
struct ClassDecl : Decl {
  DF_AST_NODE(Decl, Class)
  List<Constraint> context;
  Name name;
  List<Name> params;  // at least one
  List<Dependency> dependencies;
  List<Decl*> members;  // Signature, Fixity and Function/PatBind declarations
  const Minimal* minimal;  // null if it has none
  Span minimal_span;
  ClassDecl(Span s, List<Constraint> c, Name n, List<Name> p, List<Dependency> d, List<Decl*> m, const Minimal* f, Span fs)
      : Decl(kKind, s), context(c), name(n), params(p), dependencies(d), members(m), minimal(f), minimal_span(fs) {}
};
struct InstanceDecl : Decl {
  DF_AST_NODE(Decl, Instance)
  List<Constraint> context;
  Name cls;
  Type* type;
  List<Type*> args;  // of a class with several parameters: all of them; `type` is the last one
  List<Decl*> members;
  InstanceDecl(Span s, List<Constraint> c, Name n, Type* t, List<Type*> a, List<Decl*> m)
      : Decl(kKind, s), context(c), cls(n), type(t), args(a), members(m) {}
};
// `deriving instance Eq a => Eq (T a)`
struct DerivingDecl : Decl {
  DF_AST_NODE(Decl, Deriving)
  DerivedClass derived;
  List<Constraint> context;
  Type* type;
  DerivingDecl(Span s, DerivedClass d, List<Constraint> c, Type* t)
      : Decl(kKind, s), derived(d), context(c), type(t) {}
};
// `foreign import prim "Add" primIntAdd :: Int -> Int -> Int`: only the standard library may say it. `op` names
// a row of tagged_ir/op.def.
struct ForeignDecl : Decl {
  DF_AST_NODE(Decl, Foreign)
  Symbol op;
  Name name;
  QualType type;
  ForeignDecl(Span s, Symbol o, Name n, QualType t) : Decl(kKind, s), op(o), name(n), type(t) {}
};
// `default (Int, Double)`
struct DefaultDecl : Decl {
  DF_AST_NODE(Decl, Default)
  List<Type*> types;
  DefaultDecl(Span s, List<Type*> t) : Decl(kKind, s), types(t) {}
};
// `F [a] = a`: the family with its arguments, and what that is.
struct TypeEquation {
  Type* left;
  Type* right;
  Span span;
};
// `type family F a :: Type where { F [a] = a; .. }`; without a `where` it is open. In a class `type F a`.
struct TypeFamilyDecl : Decl {
  DF_AST_NODE(Decl, TypeFamily)
  Name name;
  List<Name> params;
  Type* result;  // its kind as written; null if it is not
  bool closed;
  List<TypeEquation> equations;
  TypeFamilyDecl(Span s, Name n, List<Name> p, Type* r, bool c, List<TypeEquation> e)
      : Decl(kKind, s), name(n), params(p), result(r), closed(c), equations(e) {}
};
// `type instance F [a] = a`; in an instance `type F [a] = a`, and in a class the default of its family.
struct TypeInstanceDecl : Decl {
  DF_AST_NODE(Decl, TypeInstance)
  TypeEquation equation;
  TypeInstanceDecl(Span s, TypeEquation e) : Decl(kKind, s), equation(e) {}
};
// `type role T nominal representational`; `_` is the role that the compiler finds.
struct RoleDecl : Decl {
  DF_AST_NODE(Decl, Role)
  Name name;
  List<Name> roles;
  RoleDecl(Span s, Name n, List<Name> r) : Decl(kKind, s), name(n), roles(r) {}
};
struct ErrorDecl : Decl { DF_AST_NODE(Decl, Error) explicit ErrorDecl(Span s) : Decl(kKind, s) {} };

}  // namespace df::ast

#undef DF_AST_NODE
#undef DF_AST_BASE
