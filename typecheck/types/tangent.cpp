// `Tangent t`: the type of gradients with respect to a t, and of small changes of it. A function of types that the
// compiler computes:
//
//   Tangent Double = Double, Tangent Float = Float
//   Tangent (Tensor a s) = Tensor (Tangent a) s     and a tensor of () is ()
//   Tangent (T a b) = T (Tangent a) (Tangent b)   if every leaf of T is a real number or a part of type a or b
//   Tangent T = ()                                if T holds no real number: Int, Bool, functions, enumerations
//                                                 (dimensions and shapes stay as they are)
//   Tangent T                                     else a type of its own: T's constructors, on tangents of the fields
//
// `Types::App` reduces as soon as the argument is known far enough. An equation with a tangent of an unknown type waits
// (Unifier::deferred); when its definition is generalised and the type is still unknown, it is taken to be its own
// tangent, which it is if all its leaves are real.
#include "typecheck/types/type.h"

namespace df {

TypeId Types::Tangent(TypeId type) { return App(Con(Known(Builtin::Tangent)), type); }

bool Types::IsTangent(TypeId type, TypeId* of) const {
  const Row& row = rows_[type.index];
  if (row.kind != TypeKind::App) return false;
  const Row& fn = rows_[row.a];
  if (fn.kind != TypeKind::Con || fn.a != Known(Builtin::Tangent).index) return false;
  if (of) *of = TypeId(row.b);
  return true;
}

TypeId Types::ReduceTangent(TypeId of) {
  llvm::SmallVector<TypeId> args;
  TyConId head = Head(of, &args);
  if (IsTangent(of)) return of;  // a small change of a small change is one
  if (Kind(of) == TypeKind::Forall) return Scalar(Builtin::Unit);  // a function, as good as
  if (!head.valid()) return {};
  if (TypeId element, shape; IsTensor(of, &element, &shape))
    return Kind(element) == TypeKind::Meta ? TypeId() : Tensor(Tangent(element), shape);
  switch (cons[head].tangent) {
    case TangentForm::Open:
    case TangentForm::Own: return {};
    case TangentForm::Unit: return Scalar(Builtin::Unit);
    case TangentForm::Same: break;
  }
  const std::vector<bool>& measures = cons[head].measures;
  for (size_t i = 0; i < args.size(); ++i)
    if (i >= measures.size() || !measures[i]) args[i] = Tangent(args[i]);
  return Con(head, args);
}

TypeId Types::Reduced(TypeId type) {
  if (Kind(type) != TypeKind::App) return type;
  TypeId fn = Reduced(FnOf(type));
  return App(fn, Reduced(ArgOf(type)));
}

}  // namespace df
