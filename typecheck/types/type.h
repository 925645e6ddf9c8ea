// typecheck/types/type.h
//
// Types, hash-consed: equal types have equal TypeIds. Shared by inference, core and lowering.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/id.h"
#include "lang/interner.h"
#include "lang/source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "typecheck/types/dimension.h"

namespace df {

using TypeId = Id<struct TypeTag>;
using TyConId = Id<struct TyConTag>;
using TyVarId = Id<struct TyVarTag>;
using MetaId = Id<struct MetaTag>;

enum class TypeKind : uint8_t {
  Con,   // a type constructor: Int, Maybe, (->), (,), []
  App,   // function applied to one argument: Maybe Int is App(Maybe, Int); a -> b is App(App(->, a), b)
  Var,   // a quantified (rigid) variable
  Meta,  // a unification variable; none is left after inference
  Dim,   // a tensor dimension that is not just a variable (typecheck/types/dimension.h)
  Forall,  // `forall a. t`, of an argument or a field (typecheck/types/forall.cpp)
};

// Type constructors that the compiler itself knows. Everything else is declared in the library or by the user.
enum class Builtin : uint8_t {
  None, Function, Unit, Tuple, List, Int, Integer, Float, Double, Char, Bool, Ordering, Text, IO,
  Action,  // what an IO program is once it is given its input: steps for the program that runs the graph
  State,   // the token of what changes memory (docs/references.md)
  Store,   // an array that changes
  Frozen,  // what one held
  Tensor,     // of an element type and a shape
  ShapeNil,   // the shapes: [] and d : s, of a dimension and a shape
  ShapeCons,
  Tangent,  // a function of types: what gradients with respect to a type are (tangent.cpp)
};

// What `Tangent (T a b)` is.
enum class TangentForm : uint8_t {
  Open,  // not known yet: T is being declared
  Unit,  // (): T holds no real number
  Same,  // T (Tangent a) (Tangent b): all leaves of T are real numbers or what its variables stand for
  Own,   // a type of its own, with T's constructors on the tangents of the fields
};

// How a type depends on an argument: whether types that are represented alike may stand for each other in it, as GHC's roles say.
enum class Role : uint8_t { Nominal, Representational, Phantom };

struct TyCon {
  Symbol name;
  uint32_t arity = 0;
  Builtin builtin = Builtin::None;
  bool is_newtype = false;
  std::vector<TyVarId> params;              // of a data type
  std::vector<Id<struct ConTag>> constructors;  // of a data type, in order
  TangentForm tangent = TangentForm::Open;
  uint32_t qualifies = UINT32_MAX;  // of `C a => t` within a `forall`: the number of the class C (core::ClassId)
  bool packs = false;  // a constructor has type variables that the type does not tell, or is of some types only (core::DataCon)
  uint32_t family = UINT32_MAX;  // a type family: its number in Types::families
  std::vector<std::optional<Role>> written_roles;  // by parameter: what a `type role` says
  std::vector<bool> measures;                // by parameter: a dimension or a shape; empty: none is (tangent.cpp)
  Span span;
};

// `F [a] = a` of a family.
struct FamilyEquation {
  std::vector<TyVarId> vars;
  std::vector<TypeId> left;  // the arguments
  TypeId right;
  Span span;
};

// A function of types (families.cpp).
struct TypeFamily {
  TyConId con;
  bool closed = false;  // its equations are tried in their order
  std::vector<FamilyEquation> equations;
  uint32_t owner = UINT32_MAX;  // the number of the class that it belongs to (core::ClassId)
  std::vector<TyVarId> params;  // of a family of a class with a default
  TypeId fallback;              // that default
  Span span;
};

struct TyVar {
  Symbol name;
  Span span;
  bool bound = false;  // stands for what a Forall binds
};

// Owns types, type constructors and type variables of one compilation.
class Types {
 public:
  Types();

  Table<TyConId, TyCon> cons;
  Table<TyVarId, TyVar> vars;

  TypeId Con(TyConId con);
  TypeId Con(TyConId con, llvm::ArrayRef<TypeId> args);
  TypeId App(TypeId fn, TypeId arg);               // `Tangent t` is reduced as far as t is known
  TypeId Var(TyVarId var);
  TypeId Meta(MetaId meta);
  TypeId Fun(TypeId from, TypeId to);
  TypeId Fun(llvm::ArrayRef<TypeId> from, TypeId to);
  TypeId Tuple(llvm::ArrayRef<TypeId> elements);  // () for none; the element itself for one
  TypeId List(TypeId element);
  // Tensors: [m, n] is ShapeCons m (ShapeCons n ShapeNil).
  TypeId Dim(const Dimension& dim);                  // a dimension that is just a variable is that variable
  TypeId Dim(int64_t literal) { return Dim(Dimension::Constant(literal)); }
  Dimension DimensionOf(TypeId type) const;          // what is no Dim is an atom
  std::optional<int64_t> DimLiteral(TypeId type) const;
  TypeId Shape(llvm::ArrayRef<TypeId> dims);
  TypeId ShapeCons(TypeId dim, TypeId rest) { return App(App(Con(Known(Builtin::ShapeCons)), dim), rest); }
  TypeId Tensor(TypeId element, TypeId shape) { return App(App(Con(Known(Builtin::Tensor)), element), shape); }
  // The element and shape of a tensor type.
  bool IsTensor(TypeId type, TypeId* element = nullptr, TypeId* shape = nullptr) const;
  // The dimensions of a shape; false if it ends in a variable, which is then `rest`.
  bool SplitShape(TypeId shape, llvm::SmallVectorImpl<TypeId>& dims, TypeId* rest = nullptr) const;
  // A Dim with its atoms replaced.
  TypeId MapAtoms(TypeId dim, llvm::function_ref<TypeId(TypeId)> of);
  // `forall vars. body`. Equal but for the names of their variables are equal types.
  TypeId Forall(llvm::ArrayRef<TyVarId> vars, TypeId body);
  // Of a Forall: how many variables it has, what they are called, and its body with these types in their place.
  uint32_t BindersOf(TypeId type) const { return rows_[type.index].a; }
  llvm::SmallVector<Symbol, 2> BinderNames(TypeId type) const;
  TypeId Instantiate(TypeId type, llvm::ArrayRef<TypeId> args);
  // A Forall with `of` applied to its body, in which its variables are new ones.
  TypeId MapBody(TypeId type, llvm::function_ref<TypeId(TypeId)> of);
  // The body as it is kept: for looks at metas and variables from outside.
  TypeId RawBody(TypeId type) const { return TypeId(rows_[type.index].b); }
  TypeId Tangent(TypeId type);
  // Whether it is `Tangent t`, which nothing is known of but t.
  bool IsTangent(TypeId type, TypeId* of = nullptr) const;
  std::vector<TypeId> tangents_of;  // metas whose tangent was asked for since the module began
  // `F t u` with all arguments of the family F, which no equation fits so far.
  bool IsFamily(TypeId type) const { return rows_[type.index].waits == 1; }
  // Such a type stands somewhere in it, or stood when it was made.
  bool HasFamily(TypeId type) const { return rows_[type.index].has_family; }
  std::vector<TypeFamily> families;
  // A type constructor becomes a family with so many arguments.
  void MakeFamily(TyConId con, uint32_t arity, bool closed, Span span);
  // Whether two equations give one type wherever both fit.
  bool Agree(const FamilyEquation& a, const FamilyEquation& b);
  void AddEquation(uint32_t family, FamilyEquation equation);
  // Back to so many equations, after what added others has failed.
  void DropEquations(uint32_t family, size_t count);
  static constexpr int kMostReductions = 1000;  // one within the other
  TypeId endless;  // a type of a family that took more; invalid: there was none
  // The type with what its families are by now.
  TypeId Renewed(TypeId type);
  // The type with every `Tangent t` in it reduced, after more became known of a type constructor.
  TypeId Reduced(TypeId type);
  TypeId Scalar(Builtin builtin);                  // Int, Integer, Float, Double, Char, Bool, Ordering, Text, Unit
  TyConId Known(Builtin builtin) const;            // not Tuple
  TyConId TupleCon(uint32_t size);                 // size >= 2; made on demand, up to 62
  TyVarId NewVar(Symbol name, Span span = {});

  TypeKind Kind(TypeId type) const;
  TyConId ConOf(TypeId type) const;
  TyVarId VarOf(TypeId type) const;
  MetaId MetaOf(TypeId type) const;
  TypeId FnOf(TypeId type) const;   // of App
  TypeId ArgOf(TypeId type) const;  // of App

  // T a b -> T, {a, b}; an invalid TyConId if the head is a variable.
  TyConId Head(TypeId type, llvm::SmallVectorImpl<TypeId>* args = nullptr) const;
  bool IsFun(TypeId type, TypeId* from = nullptr, TypeId* to = nullptr) const;
  bool IsTuple(TypeId type, llvm::SmallVectorImpl<TypeId>* elements = nullptr) const;  // two or more
  Builtin BuiltinOf(TypeId type) const;  // of the head
  // a -> b -> c: {a, b}, c; at most `limit` parameters.
  TypeId SplitFun(TypeId type, llvm::SmallVectorImpl<TypeId>& params, size_t limit = SIZE_MAX) const;

  // Replaces variables at once: from[i] becomes to[i].
  TypeId Substitute(TypeId type, llvm::ArrayRef<TyVarId> from, llvm::ArrayRef<TypeId> to);
  bool IsGround(TypeId type) const;  // no variable, no meta
  bool HasMeta(TypeId type) const { return rows_[type.index].has_meta; }
  // Leaves of the type written out. A small graph may be a huge tree, so this stops counting at kMaxSize.
  uint32_t SizeOf(TypeId type) const { return rows_[type.index].size; }
  static constexpr uint32_t kMaxSize = 1u << 20;
  bool HasVar(TypeId type) const { return rows_[type.index].has_var; }
  void FreeVars(TypeId type, llvm::SmallVectorImpl<TyVarId>& out) const;  // in order of appearance, once each
  // Whether the variable stands for a dimension in the type, which is not huge.
  bool IsSize(TyVarId var, TypeId type) const;
  // As Haskell prints it; variables by their own names.
  std::string Print(TypeId type) const;
  // As an argument of a constructor: `(Maybe a)`.
  std::string PrintArgument(TypeId type) const;
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }

 private:
  struct Row {
    TypeKind kind;
    bool has_var;
    bool has_meta;
    uint32_t a;
    uint32_t b;
    uint32_t size;  // leaves of the tree, up to kMaxSize
    uint16_t height = 0;     // how deep Foralls stand in each other
    bool has_bound = false;  // a variable that some Forall binds
    bool has_family = false;
    uint8_t waits = 0;  // of a family: how many arguments are missing, and one; 0 for all that is none
  };
  TypeId ReduceFamily(TypeId fn, TypeId arg);  // invalid if it stays as it is
  bool PrintShape(TypeId type, std::string& out) const;
  bool PrintOperator(const TyCon& con, llvm::ArrayRef<TypeId> args, int precedence, std::string& out) const;
  void PrintForall(TypeId type, int precedence, std::string& out) const;
  TypeId BoundVar(uint32_t height, uint32_t number);
  TypeId Make(TypeKind kind, uint32_t a, uint32_t b, bool has_var, bool has_meta);
  TypeId ReduceTangent(TypeId of);  // invalid if it stays as it is
  TyConId AddBuiltin(Builtin builtin, const char* name, uint32_t arity, TangentForm tangent = TangentForm::Unit);
  void PrintTo(TypeId type, int precedence, std::string& out) const;

  std::vector<Row> rows_;
  llvm::DenseMap<std::pair<uint64_t, uint32_t>, uint32_t> ids_;
  std::vector<Dimension> dims_;                          // Row::a of a Dim
  std::map<std::vector<int64_t>, TypeId> dim_ids_;       // by Dimension::Key
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, TypeId> reduced_;  // what families gave, by function and argument
  int reducing_ = 0;
  std::vector<TyConId> known_;
  std::vector<TyConId> tuples_;
  std::vector<std::vector<TyVarId>> bound_;  // the variables of Foralls, by height and number
  std::vector<TyVarId> opened_;              // stand-ins for them while a type is rebuilt
  size_t open_ = 0;                          // how many of these are in use
  llvm::DenseMap<uint32_t, llvm::SmallVector<Symbol, 2>> binder_names_;  // by Forall, as it was first written
  mutable std::vector<std::pair<uint32_t, Symbol>> printed_;              // by TyVarId, innermost last: while it is printed
};

}  // namespace df
