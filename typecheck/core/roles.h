// typecheck/core/roles.h
//
// Which types are represented alike: newtypes are what they hold, and the roles of a type's parameters say where that may be made use of, as in
// GHC (Breitner et al. 2014). The checker decides by it what `coerce` may do, and lowering which types are one type of the graph.
#pragma once

#include "typecheck/core/core.h"

namespace df::core {

class Roles {
 public:
  explicit Roles(Program& program) : program_(program), types_(program.types) {}

  // By parameter. A type that hides types, or is of some types only, takes each of its arguments as it is.
  const std::vector<Role>& Of(TyConId con);
  // What a newtype on these arguments holds; invalid if it is none, or not on all of them.
  TypeId Held(TypeId type, ConId* con = nullptr);
  // The type with newtypes in the arguments of types replaced by what they hold, where roles allow it; those that hold themselves stay.
  TypeId Alike(TypeId type);

 private:
  TypeId AlikeWithin(TypeId type);
  bool Unfolds(TyConId con);  // a newtype that may be replaced anywhere
  void Reach(TypeId type, llvm::SmallVectorImpl<TyConId>& out);
  bool Mark(TyConId of, TypeId type, Role role);
  bool MarkAll(TyConId con);

  Program& program_;
  Types& types_;
  llvm::DenseMap<uint32_t, std::vector<Role>> roles_;
  llvm::DenseMap<uint32_t, bool> unfolds_;
  llvm::DenseMap<uint32_t, TypeId> alike_;
};

// How a comparison of two types went: they are alike, they are not, or more has to be known of metas.
enum class Coerced : uint8_t { Yes, No, Later };

// The rules by which one type is coerced to another. What is known of types is the caller's business.
class Coercion {
 public:
  explicit Coercion(Program& program) : program(program), roles(program) {}
  virtual ~Coercion() = default;
  Coerced Compare(TypeId a, TypeId b, int depth = 0);

  Program& program;
  Roles roles;
  std::string obstacle;  // of a No: what stands in the way

 protected:
  virtual TypeId Known(TypeId type) = 0;              // the type as far as its head is known
  virtual bool MayOpen(ConId con) = 0;                // whether the newtype's constructor may be used here
  virtual Coerced Equal(TypeId a, TypeId b) = 0;      // whether they are one type
  virtual Coerced Given(TypeId a, TypeId b) = 0;      // two types of which one is a variable or not known

 private:
  Coerced Arguments(TyConId con, llvm::ArrayRef<TypeId> a, llvm::ArrayRef<TypeId> b, int depth);
};

}  // namespace df::core
