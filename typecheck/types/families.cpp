// Type families: functions of types whose equations a program gives.
//
// `Types::App` reduces an application as soon as an equation fits, so that a type is what it is computed to be wherever it was made: also when
// lowering puts types in the place of variables. What no equation fits yet stays, an application of the family's constructor, until more is known
// of its arguments. Of a closed family an equation is taken if those before it are surely apart from the type, or agree with it wherever both fit
// (GHC's rule, Eisenberg et al. 2014).
#include "lang/budget.h"
#include "llvm/ADT/STLExtras.h"
#include "typecheck/types/type.h"

namespace df {
namespace {

// Whether two lists of types may become one: variables, metas and what families have not computed yet may be anything, the same one everywhere.
class Together {
 public:
  explicit Together(Types& types) : types_(types) {}

  bool apart = false;
  bool endless = false;  // they could be one if types were without end: nothing is known of that

  void Add(TypeId a, TypeId b) {
    CheckBudget();
    if (apart) return;
    a = Walk(a), b = Walk(b);
    if (a == b) return;
    if (IsOpen(a)) return Bind(a, b);
    if (IsOpen(b)) return Bind(b, a);
    if (types_.Kind(a) != TypeKind::App || types_.Kind(b) != TypeKind::App) {
      apart = true;
      return;
    }
    Add(types_.FnOf(a), types_.FnOf(b));
    Add(types_.ArgOf(a), types_.ArgOf(b));
  }
  // The type with all that is known put in.
  TypeId Resolved(TypeId type) {
    CheckBudget();
    type = Walk(type);
    if (types_.Kind(type) != TypeKind::App || IsOpen(type)) return type;
    const TypeId fn = Resolved(types_.FnOf(type));
    return types_.App(fn, Resolved(types_.ArgOf(type)));
  }

 private:
  TypeId Walk(TypeId type) const {
    for (auto it = bound_.find(type.index); it != bound_.end(); it = bound_.find(type.index)) type = it->second;
    return type;
  }
  bool IsOpen(TypeId type) const {
    const TypeKind kind = types_.Kind(type);
    return kind == TypeKind::Var || kind == TypeKind::Meta || types_.IsFamily(type) || kind == TypeKind::Forall ||
           (kind == TypeKind::Dim && !types_.DimLiteral(type));
  }
  void Bind(TypeId open, TypeId type) {
    if (Holds(type, open)) endless = true;
    else bound_[open.index] = type;
  }
  bool Holds(TypeId type, TypeId part) const {
    type = Walk(type);
    if (type == part) return true;
    return types_.Kind(type) == TypeKind::App && (Holds(types_.FnOf(type), part) || Holds(types_.ArgOf(type), part));
  }

  Types& types_;
  llvm::DenseMap<uint32_t, TypeId> bound_;
};

// Whether the type is one of the pattern; `bound` is what its variables are then.
bool Matches(const Types& types, TypeId pattern, TypeId type, llvm::ArrayRef<TyVarId> vars, llvm::MutableArrayRef<TypeId> bound) {
  CheckBudget();
  if (types.Kind(pattern) == TypeKind::Var) {
    TypeId& place = bound[static_cast<size_t>(llvm::find(vars, types.VarOf(pattern)) - vars.begin())];
    if (!place.valid()) place = type;
    return place == type;
  }
  if (types.Kind(pattern) != TypeKind::App) return pattern == type;
  return types.Kind(type) == TypeKind::App && !types.IsFamily(type) && Matches(types, types.FnOf(pattern), types.FnOf(type), vars, bound) &&
         Matches(types, types.ArgOf(pattern), types.ArgOf(type), vars, bound);
}

}  // namespace

void Types::MakeFamily(TyConId con, uint32_t arity, bool closed, Span span) {
  cons[con].arity = arity;
  cons[con].family = static_cast<uint32_t>(families.size());
  cons[con].tangent = TangentForm::Open;
  TypeFamily family;
  family.con = con;
  family.closed = closed;
  family.span = span;
  families.push_back(std::move(family));
}

bool Types::Agree(const FamilyEquation& a, const FamilyEquation& b) {
  Together both(*this);
  for (size_t i = 0; i < a.left.size(); ++i) both.Add(a.left[i], b.left[i]);
  if (both.apart) return true;
  return !both.endless && both.Resolved(a.right) == both.Resolved(b.right);
}

void Types::AddEquation(uint32_t family, FamilyEquation equation) { families[family].equations.push_back(std::move(equation)); }

void Types::DropEquations(uint32_t family, size_t count) {
  if (families[family].equations.size() == count) return;
  families[family].equations.resize(count);
  reduced_.clear();
}

TypeId Types::ReduceFamily(TypeId fn, TypeId arg) {
  if (endless.valid()) return {};  // told as soon as the types around it are made
  if (auto known = reduced_.find({fn.index, arg.index}); known != reduced_.end()) return known->second;
  llvm::SmallVector<TypeId, 4> args;
  const TyConId con = Head(fn, &args);
  args.push_back(arg);
  const uint32_t number = cons[con].family;
  if (reducing_ >= kMostReductions) {
    if (!endless.valid()) endless = Make(TypeKind::App, fn.index, arg.index, HasVar(fn) || HasVar(arg), HasMeta(fn) || HasMeta(arg));
    return {};
  }
  llvm::SmallVector<size_t, 4> before;  // equations that may fit once more is known
  for (size_t i = 0; i < families[number].equations.size(); ++i) {
    const FamilyEquation& equation = families[number].equations[i];
    llvm::SmallVector<TypeId, 4> bound(equation.vars.size());
    bool fits = true;
    for (size_t k = 0; k < args.size() && fits; ++k) fits = Matches(*this, equation.left[k], args[k], equation.vars, bound);
    if (!fits) {
      if (!families[number].closed) continue;
      Together may(*this);
      for (size_t k = 0; k < args.size(); ++k) may.Add(equation.left[k], args[k]);
      if (!may.apart) before.push_back(i);
      continue;
    }
    if (!llvm::all_of(before, [&](size_t earlier) { return Agree(families[number].equations[earlier], equation); })) return {};
    ++reducing_;
    const TypeId result = Substitute(equation.right, equation.vars, bound);
    --reducing_;
    reduced_[{fn.index, arg.index}] = result;
    return result;
  }
  return {};
}

TypeId Types::Renewed(TypeId type) {
  if (!HasFamily(type)) return type;
  if (Kind(type) == TypeKind::Con) return Con(ConOf(type));
  if (Kind(type) == TypeKind::Forall) return MapBody(type, [&](TypeId body) { return Renewed(body); });
  if (Kind(type) != TypeKind::App) return type;
  const TypeId fn = Renewed(FnOf(type));
  return App(fn, Renewed(ArgOf(type)));
}

}  // namespace df
