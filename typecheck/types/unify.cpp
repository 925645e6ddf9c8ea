#include "lang/budget.h"
#include "typecheck/types/unify.h"

namespace df::check {

TypeId Unifier::Fresh(Symbol name) {
  metas_.push_back({TypeId(), level});
  metas_.back().name = name;
  return types_->Meta(MetaId(static_cast<uint32_t>(metas_.size() - 1)));
}

TypeId Unifier::Prune(TypeId type) const {
  TypeId end = type;
  PlaceIndex end_place = kNoPlace;
  while (types_->Kind(end) == TypeKind::Meta) {
    const Row& row = metas_[types_->MetaOf(end).index];
    if (!row.solution.valid()) break;
    end = row.solution;
    end_place = row.place;
  }
  while (type != end) {
    Row& row = metas_[types_->MetaOf(type).index];
    row.place = end_place;  // of a chain, the last link is where the type came in
    type = std::exchange(row.solution, end);
  }
  if (!assumed_.empty() && types_->Kind(end) == TypeKind::Var)
    if (auto known = assumed_.find(types_->VarOf(end).index); known != assumed_.end()) return Prune(known->second);
  if (types_->IsTangent(end)) return PruneTangent(end);
  if (types_->IsFamily(end)) return PruneFamily(end);
  return end;
}

// What a family's equations say by now, or what is assumed of this type.
TypeId Unifier::PruneFamily(TypeId type) const {
  constexpr int kMostRewritings = 200;
  if (rewriting_ > kMostRewritings) return type;
  ++rewriting_;
  auto* self = const_cast<Unifier*>(this);  // what it remembers is no part of its state
  llvm::SmallVector<TypeId, 4> args;
  const TyConId con = types_->Head(type, &args);
  for (TypeId& arg : args) arg = self->Zonk(arg);
  TypeId whole = types_->Con(con, args);
  if (!types_->IsFamily(whole)) {
    whole = Prune(whole);
  } else {
    for (const auto& [family, is] : assumed_families_) {
      llvm::SmallVector<TypeId, 4> given;
      if (types_->Head(family, &given) != con) continue;
      bool same = true;
      for (size_t i = 0; i < args.size() && same; ++i) same = self->Zonk(given[i]) == args[i];
      if (!same) continue;
      whole = Prune(is);
      break;
    }
  }
  --rewriting_;
  return whole;
}

// `Tangent t` is reduced as soon as the head of t is known.
TypeId Unifier::PruneTangent(TypeId type) const {
  TypeId of;
  types_->IsTangent(type, &of);
  llvm::SmallVector<TypeId> args;
  TypeId whole = Head(of, &args);
  for (TypeId arg : args) whole = types_->App(whole, Prune(arg));
  TypeId reduced = types_->Tangent(whole);
  return types_->IsTangent(reduced) ? reduced : Prune(reduced);
}

PlaceIndex Unifier::PlaceOf(TypeId type) const {
  if (types_->Kind(type) != TypeKind::Meta || types_->Kind(Prune(type)) == TypeKind::Meta) return kNoPlace;
  return metas_[types_->MetaOf(type).index].place;
}

void Unifier::MarkNumber(MetaId meta, Span origin, bool literal) {
  Row& row = metas_[meta.index];
  if (row.number.valid() && (row.literal || !literal)) return;
  row.number = origin;
  row.literal = literal;
}

Span Unifier::NumberOrigin(TypeId type) const {
  type = Prune(type);
  return types_->Kind(type) == TypeKind::Meta ? metas_[types_->MetaOf(type).index].number : Span();
}

void Unifier::MarkAny(TypeId type) {
  llvm::SmallVector<MetaId> found;
  ++stamp_;
  Collect(type, found);
  for (MetaId meta : found) metas_[meta.index].any = true;
}

void Unifier::Unsolve(MetaId meta) {
  metas_[meta.index].solution = TypeId();
  ++epoch_;
}

// A type may be a small graph and a huge tree, so what was seen since the last solution is not walked again.
TypeId Unifier::Zonk(TypeId type) {
  type = Prune(type);
  const bool open = types_->HasMeta(type) || (!assumed_.empty() && types_->HasVar(type)) || types_->HasFamily(type);
  if (!open || types_->Kind(type) == TypeKind::Meta || types_->Kind(type) == TypeKind::Var || types_->Kind(type) == TypeKind::Con) return type;
  if (zonked_.size() <= type.index) zonked_.resize(types_->size() + types_->size() / 2 + 16);
  if (zonked_[type.index].first == epoch_) return zonked_[type.index].second;
  if (types_->Kind(type) == TypeKind::Dim) {
    TypeId result = types_->MapAtoms(type, [&](TypeId atom) { return Zonk(atom); });
    if (zonked_.size() <= type.index) zonked_.resize(types_->size() + types_->size() / 2 + 16);
    zonked_[type.index] = {epoch_, result};
    return result;
  }
  if (types_->Kind(type) == TypeKind::Forall) {
    TypeId result = types_->MapBody(type, [&](TypeId body) { return Zonk(body); });
    if (zonked_.size() <= type.index) zonked_.resize(types_->size() + types_->size() / 2 + 16);
    zonked_[type.index] = {epoch_, result};
    return result;
  }
  TypeId fn = types_->FnOf(type), arg = types_->ArgOf(type);
  TypeId new_fn = Zonk(fn), new_arg = Zonk(arg);
  TypeId result = new_fn == fn && new_arg == arg && !types_->HasFamily(type) ? type : types_->App(new_fn, new_arg);
  if (types_->HasFamily(result) && result != type) result = Zonk(result);
  if (zonked_.size() <= type.index) zonked_.resize(types_->size() + types_->size() / 2 + 16);
  zonked_[type.index] = {epoch_, result};
  return result;
}

bool Unifier::IsFun(TypeId type, TypeId* from, TypeId* to) const {
  type = Prune(type);
  if (types_->Kind(type) != TypeKind::App) return false;
  TypeId fn = Prune(types_->FnOf(type));
  if (types_->Kind(fn) != TypeKind::App) return false;
  if (Prune(types_->FnOf(fn)) != types_->Con(types_->Known(Builtin::Function))) return false;
  if (from) *from = types_->ArgOf(fn);
  if (to) *to = types_->ArgOf(type);
  return true;
}

TypeId Unifier::Head(TypeId type, llvm::SmallVectorImpl<TypeId>* args) const {
  CheckBudget();
  size_t first = args ? args->size() : 0;
  type = Prune(type);
  while (types_->Kind(type) == TypeKind::App) {
    if (args) args->push_back(types_->ArgOf(type));
    type = Prune(types_->FnOf(type));
  }
  if (args) std::reverse(args->begin() + first, args->end());
  return type;
}

void Unifier::SetRigid(TyVarId var, uint32_t at_level) {
  if (rigid_level_.size() <= var.index) rigid_level_.resize(var.index + 1, 0);
  rigid_level_[var.index] = at_level;
}

void Unifier::Assume(TyVarId var, TypeId type) {
  assumed_[var.index] = type;
  assumed_trail_.push_back(var);
  ++epoch_;  // what was zonked before may say less
}

void Unifier::AssumeFamily(TypeId family, TypeId type) {
  assumed_families_.push_back({family, type});
  assumed_trail_.push_back(TyVarId());
  ++epoch_;
}

void Unifier::Forget(size_t mark) {
  if (assumed_trail_.size() == mark) return;
  for (; assumed_trail_.size() > mark; assumed_trail_.pop_back()) {
    if (assumed_trail_.back().valid()) assumed_.erase(assumed_trail_.back().index);
    else assumed_families_.pop_back();
  }
  ++epoch_;
}

bool Unifier::Visit(TypeId type) {
  if (stamps_.size() <= type.index) stamps_.resize(types_->size() + type.index / 2 + 16, 0);
  if (stamps_[type.index] == stamp_) return false;
  stamps_[type.index] = stamp_;
  return true;
}

// Occurs check, levels and escaping rigid variables in one walk.
Clash Unifier::Adjust(MetaId meta, TypeId type, uint32_t at_level, TypeId* culprit) {
  type = Prune(type);
  if (!types_->HasMeta(type) && !types_->HasVar(type)) return Clash::None;
  if (!Visit(type)) return Clash::None;
  switch (types_->Kind(type)) {
    case TypeKind::Meta: {
      MetaId other = types_->MetaOf(type);
      if (other == meta) return Clash::Infinite;
      metas_[other.index].level = std::min(metas_[other.index].level, at_level);
      return Clash::None;
    }
    case TypeKind::Var: {
      uint32_t index = types_->VarOf(type).index;
      if (index < rigid_level_.size() && rigid_level_[index] > at_level) {
        *culprit = type;
        return Clash::Escape;
      }
      return Clash::None;
    }
    case TypeKind::App: {
      Clash clash = Adjust(meta, types_->FnOf(type), at_level, culprit);
      return clash != Clash::None ? clash : Adjust(meta, types_->ArgOf(type), at_level, culprit);
    }
    case TypeKind::Dim: {
      Dimension dim = types_->DimensionOf(type);
      for (const DimTerm& term : dim.terms())
        for (TypeId atom : term.atoms)
          if (Clash clash = Adjust(meta, atom, at_level, culprit); clash != Clash::None) return clash;
      return Clash::None;
    }
    case TypeKind::Forall: return Adjust(meta, types_->RawBody(type), at_level, culprit);
    default: return Clash::None;
  }
}

UnifyResult Unifier::Bind(MetaId meta, TypeId type) {
  ++stamp_;
  TypeId culprit;
  Clash clash = Adjust(meta, type, metas_[meta.index].level, &culprit);
  if (clash == Clash::Escape) return {clash, culprit, types_->Meta(meta)};
  if (clash != Clash::None) return {clash, types_->Meta(meta), type};
  if (metas_[meta.index].number.valid()) numbers_solved.push_back({meta, metas_[meta.index].number});
  if (metas_[meta.index].any) MarkAny(type);
  Solve(meta, type);
  return {};
}

// At least one of them is what a family has not computed. That waits for metas in it; without any, it is nothing but itself.
UnifyResult Unifier::UnifyFamilies(TypeId a, TypeId b) {
  a = Zonk(a), b = Zonk(b);
  if (a == b) return {};
  if ((types_->IsFamily(a) && types_->HasMeta(a)) || (types_->IsFamily(b) && types_->HasMeta(b))) {
    postponed.emplace_back(a, b);
    return {};
  }
  return {Clash::Mismatch, a, b};
}

UnifyResult Unifier::Unify(TypeId a, TypeId b) {
  CheckBudget();
  TypeId a_from = a, b_from = b;
  a = Prune(a);
  b = Prune(b);
  if (a == b) return {};
  TypeKind ka = types_->Kind(a), kb = types_->Kind(b);
  if (ka == TypeKind::Dim || kb == TypeKind::Dim) {
    UnifyResult result = UnifyDims(a, b);
    if (!result.ok()) result.left_from = a_from, result.right_from = b_from;
    return result;
  }
  if (ka == TypeKind::Meta && kb == TypeKind::Meta) {
    // The younger variable points to the older one, so that no level has to be lowered.
    MetaId x = types_->MetaOf(a), y = types_->MetaOf(b);
    if (metas_[x.index].level < metas_[y.index].level ||
        (metas_[x.index].level == metas_[y.index].level && x.index < y.index))
      std::swap(x, y), std::swap(a, b);
    metas_[y.index].applied |= metas_[x.index].applied;
    metas_[y.index].any |= metas_[x.index].any;
    if (!metas_[y.index].name.valid()) metas_[y.index].name = metas_[x.index].name;
    if (metas_[x.index].number.valid()) MarkNumber(y, metas_[x.index].number, metas_[x.index].literal);
    Solve(x, b);
    return {};
  }
  // a = Tangent a holds for many a.
  if (TypeId of; (ka == TypeKind::Meta && types_->IsTangent(b, &of) && Prune(of) == a) ||
                 (kb == TypeKind::Meta && types_->IsTangent(a, &of) && Prune(of) == b)) {
    deferred.emplace_back(a, b);
    return {};
  }
  const bool families = types_->HasFamily(a) || types_->HasFamily(b);
  if (ka == TypeKind::Meta) {
    UnifyResult result = Bind(types_->MetaOf(a), b);
    // `t = F t` may hold for some t.
    if (result.clash == Clash::Infinite && families) return postponed.emplace_back(a, b), UnifyResult{};
    return result;
  }
  if (kb == TypeKind::Meta) {
    UnifyResult result = Bind(types_->MetaOf(b), a);
    if (result.clash == Clash::Infinite && families) return postponed.emplace_back(a, b), UnifyResult{};
    if (result.clash == Clash::Infinite) std::swap(result.left, result.right);
    return result;
  }
  if (families && (types_->IsFamily(a) || types_->IsFamily(b))) return UnifyFamilies(a, b);
  TypeId of_a, of_b;
  bool tangent_a = types_->IsTangent(a, &of_a), tangent_b = types_->IsTangent(b, &of_b);
  bool open_a = tangent_a && types_->HasMeta(Prune(of_a)), open_b = tangent_b && types_->HasMeta(Prune(of_b));
  // Two tangents of unknown types are equal if these are. (They may be in other ways too, Tangent Int and Tangent Bool
  // are both (), but then one of them was known.) Of a variable of a signature, Tangent a is that of Tangent a as well.
  if (tangent_a && tangent_b && open_a == open_b) return Unify(of_a, of_b);
  if (open_a || open_b) {
    deferred.emplace_back(a, b);
    return {};
  }
  if (ka == TypeKind::App && kb == TypeKind::App && !tangent_a && !tangent_b) {
    TypeId fa = types_->FnOf(a), fb = types_->FnOf(b);
    UnifyResult result = Unify(fa, fb);
    if (!result.ok()) {
      // `Maybe Int` against `[Int]`: the whole types tell more than `Maybe` against `[]`.
      if (result.clash == Clash::Mismatch && Prune(fa) == result.left && Prune(fb) == result.right)
        return {Clash::Mismatch, a, b};
      return result;
    }
    return Unify(types_->ArgOf(a), types_->ArgOf(b));
  }
  if (ka == TypeKind::Forall && kb == TypeKind::Forall && types_->BindersOf(a) == types_->BindersOf(b)) {
    // Equal for any types in place of the variables, which nothing outside can know.
    llvm::SmallVector<TypeId, 2> rigid;
    for (Symbol name : types_->BinderNames(a)) {
      const TyVarId var = types_->NewVar(name);
      SetRigid(var, level + 1);
      rigid.push_back(types_->Var(var));
    }
    const UnifyResult result = Unify(types_->Instantiate(a, rigid), types_->Instantiate(b, rigid));
    return result.ok() ? result : UnifyResult{Clash::Mismatch, a, b};
  }
  return {Clash::Mismatch, a, b};
}

void Unifier::Collect(TypeId type, llvm::SmallVectorImpl<MetaId>& out) {
  type = Prune(type);
  if (!types_->HasMeta(type) || !Visit(type)) return;
  if (types_->Kind(type) == TypeKind::Meta) {
    out.push_back(types_->MetaOf(type));
  } else if (types_->Kind(type) == TypeKind::Dim) {
    Dimension dim = types_->DimensionOf(type);
    for (const DimTerm& term : dim.terms())
      for (TypeId atom : term.atoms) Collect(atom, out);
  } else if (types_->Kind(type) == TypeKind::Forall) {
    Collect(types_->RawBody(type), out);
  } else {
    Collect(types_->FnOf(type), out);
    Collect(types_->ArgOf(type), out);
  }
}

void Unifier::FreeMetas(TypeId type, llvm::SmallVectorImpl<MetaId>& out) {
  llvm::SmallVector<MetaId> found;
  ++stamp_;
  Collect(type, found);
  for (MetaId meta : found)
    if (std::find(out.begin(), out.end(), meta) == out.end()) out.push_back(meta);
}

void Unifier::Lower(TypeId type, uint32_t at_level) {
  llvm::SmallVector<MetaId> found;
  ++stamp_;
  Collect(type, found);
  for (MetaId meta : found) metas_[meta.index].level = std::min(metas_[meta.index].level, at_level);
}

}  // namespace df::check
