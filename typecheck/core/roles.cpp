// See roles.h.
#include "typecheck/core/roles.h"

#include <fmt/format.h>

#include "lang/budget.h"
#include "llvm/ADT/STLExtras.h"

namespace df::core {

TypeId Roles::Held(TypeId type, ConId* made) {
  llvm::SmallVector<TypeId> args;
  const TyConId head = types_.Head(type, &args);
  if (!head.valid()) return {};
  const TyCon& con = types_.cons[head];
  if (!con.is_newtype || con.constructors.size() != 1 || args.size() < con.params.size()) return {};
  if (made) *made = con.constructors[0];
  TypeId held = types_.Substitute(program_.constructors[con.constructors[0]].fields[0].type, con.params, llvm::ArrayRef(args).take_front(con.params.size()));
  for (TypeId extra : llvm::ArrayRef(args).drop_front(con.params.size())) held = types_.App(held, extra);
  return held;
}

void Roles::Reach(TypeId type, llvm::SmallVectorImpl<TyConId>& out) {
  switch (types_.Kind(type)) {
    case TypeKind::Con:
      if (!llvm::is_contained(out, types_.ConOf(type))) out.push_back(types_.ConOf(type));
      return;
    case TypeKind::App:
      Reach(types_.FnOf(type), out);
      return Reach(types_.ArgOf(type), out);
    case TypeKind::Forall: return Reach(types_.RawBody(type), out);
    default: return;
  }
}

// The parameters of `of` in the type have at most this role. Whether one had more.
bool Roles::Mark(TyConId of, TypeId type, Role role) {
  CheckBudget();
  switch (types_.Kind(type)) {
    case TypeKind::Var: {
      const std::vector<TyVarId>& params = types_.cons[of].params;
      const size_t at = static_cast<size_t>(llvm::find(params, types_.VarOf(type)) - params.begin());
      if (at >= params.size() || roles_[of.index][at] <= role) return false;
      roles_[of.index][at] = role;
      return true;
    }
    case TypeKind::Forall: return Mark(of, types_.RawBody(type), role);
    case TypeKind::App: break;
    default: return false;
  }
  llvm::SmallVector<TypeId> args;
  TypeId head = type;
  for (; types_.Kind(head) == TypeKind::App; head = types_.FnOf(head)) args.push_back(types_.ArgOf(head));
  std::reverse(args.begin(), args.end());
  bool changed = types_.Kind(head) == TypeKind::Con ? false : Mark(of, head, role);
  for (size_t i = 0; i < args.size(); ++i) {
    Role of_argument = Role::Nominal;
    if (role != Role::Nominal && types_.Kind(head) == TypeKind::Con) {
      const auto known = roles_.find(types_.ConOf(head).index);
      if (known != roles_.end() && i < known->second.size()) of_argument = known->second[i];
    }
    if (of_argument != Role::Phantom) changed |= Mark(of, args[i], of_argument);
  }
  return changed;
}

bool Roles::MarkAll(TyConId con) {
  bool changed = false;
  for (ConId id : types_.cons[con].constructors) {
    for (const Field& field : program_.constructors[id].fields) changed |= Mark(con, field.type, Role::Representational);
    for (const Pred& pred : program_.constructors[id].context) changed |= Mark(con, pred.type, Role::Nominal);
  }
  return changed;
}

const std::vector<Role>& Roles::Of(TyConId con) {
  if (auto known = roles_.find(con.index); known != roles_.end()) return known->second;
  // With all types that it is made of: they may be made of each other.
  llvm::SmallVector<TyConId> reached{con};
  for (size_t i = 0; i < reached.size(); ++i) {
    if (roles_.contains(reached[i].index)) continue;
    for (ConId id : types_.cons[reached[i]].constructors)
      for (const Field& field : program_.constructors[id].fields) Reach(field.type, reached);
  }
  llvm::SmallVector<TyConId> open;
  for (TyConId of : reached) {
    if (roles_.contains(of.index)) continue;
    const TyCon& row = types_.cons[of];
    const bool kept = row.packs || row.family != UINT32_MAX || row.builtin == Builtin::Tensor || row.builtin == Builtin::Tangent || row.builtin == Builtin::ShapeCons;
    const bool of_compiler = row.constructors.empty() && row.builtin != Builtin::None;
    std::vector<Role> roles(std::max<size_t>(row.arity, row.params.size()), kept ? Role::Nominal : of_compiler ? Role::Representational : Role::Phantom);
    if (row.builtin == Builtin::Tuple || row.builtin == Builtin::List) roles.assign(row.arity, Role::Representational);
    else if (!kept && !of_compiler) open.push_back(of);
    for (size_t i = 0; i < row.written_roles.size() && i < roles.size(); ++i)
      if (row.written_roles[i]) roles[i] = *row.written_roles[i];
    roles_[of.index] = std::move(roles);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (TyConId of : open) changed |= MarkAll(of);
  }
  return roles_[con.index];
}

bool Roles::Unfolds(TyConId con) {
  auto [it, fresh] = unfolds_.try_emplace(con.index, false);
  if (!fresh) return it->second;
  const TyCon& row = types_.cons[con];
  if (!row.is_newtype || row.constructors.size() != 1) return false;
  const TypeId field = program_.constructors[row.constructors[0]].fields[0].type;
  if (types_.Kind(field) == TypeKind::Forall) return false;
  llvm::SmallVector<TyConId> reached;
  Reach(field, reached);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == con) return false;
    const std::vector<ConId> constructors = types_.cons[reached[i]].constructors;
    for (ConId id : constructors)
      for (const Field& inner : program_.constructors[id].fields) Reach(inner.type, reached);
  }
  return unfolds_[con.index] = true;
}

TypeId Roles::AlikeWithin(TypeId type) {
  for (;;) {
    const TyConId head = types_.Head(type);
    if (!head.valid() || !Unfolds(head)) break;
    const TypeId held = Held(type);
    if (!held.valid()) break;
    type = held;
  }
  return Alike(type);
}

TypeId Roles::Alike(TypeId type) {
  if (types_.Kind(type) != TypeKind::App) return type;
  if (auto known = alike_.find(type.index); known != alike_.end()) return known->second;
  llvm::SmallVector<TypeId> args;
  const TyConId head = types_.Head(type, &args);
  TypeId made = type;
  if (head.valid()) {
    const std::vector<Role> roles = Of(head);
    for (size_t i = 0; i < args.size() && i < roles.size(); ++i) {
      if (roles[i] == Role::Representational) args[i] = AlikeWithin(args[i]);
      if (roles[i] == Role::Phantom) args[i] = types_.Scalar(Builtin::Unit);
    }
    made = types_.Con(head, args);
  }
  return alike_[type.index] = made;
}

// ---------------------------------------------------------------- coercions

Coerced Coercion::Arguments(TyConId con, llvm::ArrayRef<TypeId> a, llvm::ArrayRef<TypeId> b, int depth) {
  const std::vector<Role> of = roles.Of(con);
  Coerced result = Coerced::Yes;
  for (size_t i = 0; i < a.size(); ++i) {
    const Role role = i < of.size() ? of[i] : Role::Nominal;
    if (role == Role::Phantom) continue;
    const Coerced part = role == Role::Representational ? Compare(a[i], b[i], depth + 1) : Equal(a[i], b[i]);
    if (part == Coerced::No) {
      if (role == Role::Nominal && obstacle.empty())
        obstacle = fmt::format("of `{}` the role of argument {} is nominal, so it has to be the same type in both", Text(program.types.cons[con].name), i + 1);
      return part;
    }
    if (part == Coerced::Later) result = part;
  }
  return result;
}

Coerced Coercion::Compare(TypeId a, TypeId b, int depth) {
  constexpr int kMostDepth = 100;
  CheckBudget();
  Types& types = program.types;
  a = Known(a), b = Known(b);
  if (a == b) return Coerced::Yes;
  const auto is_open = [&](TypeId type) { return types.Kind(type) == TypeKind::Meta || types.Kind(type) == TypeKind::Var || types.IsFamily(type); };
  if (types.Kind(a) == TypeKind::Meta || types.Kind(b) == TypeKind::Meta) return Given(a, b);
  if (depth < kMostDepth) {
    // `T (N Int)` and `T Int` are compared within, also where T is a newtype whose constructor is not in scope.
    bool hidden = false;
    for (const bool first : {true, false}) {
      ConId con;
      const TypeId held = roles.Held(first ? a : b, &con);
      if (!held.valid()) continue;
      if (MayOpen(con)) return first ? Compare(held, b, depth + 1) : Compare(a, held, depth + 1);
      if (!std::exchange(hidden, true) && types.Head(a) != types.Head(b))
        obstacle = fmt::format("the constructor `{}` of the newtype is not in scope", Text(program.constructors[con].name));
    }
  }
  if (is_open(a) || is_open(b)) return Given(a, b);
  if (types.Kind(a) == TypeKind::Forall && types.Kind(b) == TypeKind::Forall && types.BindersOf(a) == types.BindersOf(b)) {
    llvm::SmallVector<TypeId, 2> vars;
    for (Symbol name : types.BinderNames(a)) vars.push_back(types.Var(types.NewVar(name)));
    return Compare(types.Instantiate(a, vars), types.Instantiate(b, vars), depth + 1);
  }
  llvm::SmallVector<TypeId> mine, theirs;
  TypeId left = a, right = b;
  for (; types.Kind(left) == TypeKind::App; left = Known(types.FnOf(left))) mine.push_back(types.ArgOf(left));
  for (; types.Kind(right) == TypeKind::App; right = Known(types.FnOf(right))) theirs.push_back(types.ArgOf(right));
  std::reverse(mine.begin(), mine.end());
  std::reverse(theirs.begin(), theirs.end());
  if (types.Kind(left) == TypeKind::Con && left == right && mine.size() == theirs.size()) return Arguments(types.ConOf(left), mine, theirs, depth);
  if (types.Kind(left) == TypeKind::Meta || types.Kind(right) == TypeKind::Meta) return Given(a, b);
  if (types.Kind(left) != TypeKind::Con || types.Kind(right) != TypeKind::Con) {
    // `m a` of a variable m: whatever that does with its argument.
    if (types.Kind(a) == TypeKind::App && types.Kind(b) == TypeKind::App) {
      const Coerced fn = Compare(types.FnOf(a), types.FnOf(b), depth + 1);
      if (fn == Coerced::No) return fn;
      const Coerced arg = Equal(types.ArgOf(a), types.ArgOf(b));
      if (arg == Coerced::No && obstacle.empty()) obstacle = "nothing is known of what a type variable does with its argument";
      return arg == Coerced::Yes ? fn : arg;
    }
    return Given(a, b);
  }
  if (obstacle.empty()) obstacle = fmt::format("values of `{}` and `{}` are not represented alike", types.Print(a), types.Print(b));
  return Coerced::No;
}

}  // namespace df::core
