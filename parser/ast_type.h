// parser/ast_type.h
//
// Types, as written.
#pragma once

#include "parser/ast_node.h"

namespace df::ast {

enum class TypeKind : uint8_t { Con, Var, App, Fun, Tuple, List, Dim, DimOp, Bang, Forall, Error };

struct Type {
  DF_AST_BASE(Type)
};
// `Int`, `Map.Map`; also the bare constructors `()`, `[]`, `(->)`, `(,)` under those names.
struct ConType : Type {
  DF_AST_NODE(Type, Con)
  Name name;
  ConType(Span s, Name n) : Type(kKind, s), name(n) {}
};
struct VarType : Type {
  DF_AST_NODE(Type, Var)
  Symbol name;
  VarType(Span s, Symbol n) : Type(kKind, s), name(n) {}
};
struct AppType : Type {
  DF_AST_NODE(Type, App)
  Type* fn;
  Type* arg;
  AppType(Span s, Type* f, Type* a) : Type(kKind, s), fn(f), arg(a) {}
};
struct FunType : Type {
  DF_AST_NODE(Type, Fun)
  Type* from;
  Type* to;
  FunType(Span s, Type* f, Type* t) : Type(kKind, s), from(f), to(t) {}
};
struct TupleType : Type {
  DF_AST_NODE(Type, Tuple)
  List<Type*> elements;  // () has none
  TupleType(Span s, List<Type*> e) : Type(kKind, s), elements(e) {}
};
// `[a]`; `Tensor Float [m, n]` has a list of several dimensions as its last argument.
struct ListType : Type {
  DF_AST_NODE(Type, List)
  List<Type*> elements;
  bool promoted = false;  // `'[a]` (DataKinds): a list of types
  ListType(Span s, List<Type*> e) : Type(kKind, s), elements(e) {}
};
struct DimType : Type {
  DF_AST_NODE(Type, Dim)
  Symbol digits;
  DimType(Span s, Symbol d) : Type(kKind, s), digits(d) {}
};
struct DimOpType : Type {
  DF_AST_NODE(Type, DimOp)
  char op;
  Type* left;
  Type* right;
  DimOpType(Span s, char o, Type* l, Type* r) : Type(kKind, s), op(o), left(l), right(r) {}
};
// A strict field.
struct BangType : Type {
  DF_AST_NODE(Type, Bang)
  Type* type;
  BangType(Span s, Type* t) : Type(kKind, s), type(t) {}
};
struct ErrorType : Type { DF_AST_NODE(Type, Error) explicit ErrorType(Span s) : Type(kKind, s) {} };

// `Eq a` in a context; `type` is the class's argument. `a ~ b` is one of the class `~`, with two arguments.
struct Constraint {
  Name cls;
  Type* type;
  Span span;
  List<Type*> args = {};  // `MonadState s m`: all of them, if there are several; `type` is then the last one
};
// `(Eq a, Num a) => a -> a`.
struct QualType {
  List<Constraint> context;
  Type* type;
  Span span;
  List<Name> forall;  // the variables of an explicit `forall`, which scope over the definition
};

// `forall a. Eq a => a -> a` within a type.
struct ForallType : Type {
  DF_AST_NODE(Type, Forall)
  QualType body;
  ForallType(Span s, QualType b) : Type(kKind, s), body(b) {}
};

}  // namespace df::ast
