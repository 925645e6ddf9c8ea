// `forall a. t` where it is a type among others: of a function's argument, of a field.
//
// Two such types that differ in the names of their variables alone are one type, with one TypeId. So the variables are not those that were
// written: a Forall in whose body Foralls stand h deep in each other has the h-th row of variables, which none of those has. To put something
// into a body stand-ins take the place of its variables first, and the whole is made anew: what is put in may itself hold a Forall.
//
// `Functor f => t` within a Forall is the type `Qualifier (f) t`, of a type constructor of the class (TyCon::qualifies): so contexts are
// compared, and variables in them replaced, as other parts are.
#include "lang/budget.h"
#include "typecheck/types/type.h"

namespace df {

TypeId Types::BoundVar(uint32_t height, uint32_t number) {
  if (bound_.size() <= height) bound_.resize(height + 1);
  while (bound_[height].size() <= number) {
    TyVar row;
    row.name = Intern(std::string(1, static_cast<char>('a' + bound_[height].size() % 26)));
    row.bound = true;
    bound_[height].push_back(vars.Add(row));
  }
  return Var(bound_[height][number]);
}

TypeId Types::Forall(llvm::ArrayRef<TyVarId> of, TypeId body) {
  if (of.empty()) return body;
  const uint32_t height = rows_[body.index].height;
  llvm::SmallVector<TypeId, 2> own;
  llvm::SmallVector<Symbol, 2> names;
  for (size_t i = 0; i < of.size(); ++i) {
    own.push_back(BoundVar(height, static_cast<uint32_t>(i)));
    names.push_back(vars[of[i]].name);
  }
  body = Substitute(body, of, own);
  const Row row = rows_[body.index];
  const TypeId made = Make(TypeKind::Forall, static_cast<uint32_t>(of.size()), body.index, row.has_var, row.has_meta);
  binder_names_.try_emplace(made.index, std::move(names));
  return made;
}

llvm::SmallVector<Symbol, 2> Types::BinderNames(TypeId type) const {
  auto found = binder_names_.find(type.index);
  return found == binder_names_.end() ? llvm::SmallVector<Symbol, 2>() : found->second;
}

TypeId Types::Instantiate(TypeId type, llvm::ArrayRef<TypeId> args) {
  const TypeId body = RawBody(type);
  const uint32_t height = rows_[body.index].height;
  llvm::SmallVector<TyVarId, 2> own;
  for (uint32_t i = 0; i < BindersOf(type); ++i) own.push_back(VarOf(BoundVar(height, i)));
  return Substitute(body, own, args);
}

TypeId Types::MapBody(TypeId type, llvm::function_ref<TypeId(TypeId)> of) {
  const size_t outer = open_;
  const llvm::SmallVector<Symbol, 2> names = BinderNames(type);
  llvm::SmallVector<TyVarId, 2> own;
  llvm::SmallVector<TypeId, 2> args;
  for (uint32_t i = 0; i < BindersOf(type); ++i, ++open_) {
    if (opened_.size() <= open_) opened_.push_back(NewVar(Symbol()));
    vars[opened_[open_]].name = i < names.size() ? names[i] : Symbol();
    own.push_back(opened_[open_]);
    args.push_back(Var(own.back()));
  }
  const TypeId body = of(Instantiate(type, args));
  const TypeId made = Forall(own, body);
  open_ = outer;
  return made;
}

// `forall a. t`, and `C a => t` in it.
void Types::PrintForall(TypeId type, int precedence, std::string& out) const {
  if (precedence > 0) out += '(';
  const size_t outer = printed_.size();
  if (Kind(type) == TypeKind::Forall) {
    const llvm::SmallVector<Symbol, 2> names = BinderNames(type);
    const TypeId body = RawBody(type);
    out += "forall";
    for (uint32_t i = 0; i < BindersOf(type); ++i) {
      const TyVarId var = bound_[rows_[body.index].height][i];
      printed_.push_back({var.index, i < names.size() && names[i].valid() && !Text(names[i]).empty() ? names[i] : vars[var].name});
      out += ' ';
      out += Text(printed_.back().second);
    }
    out += ". ";
    type = body;
  }
  std::vector<std::string> preds;
  for (;;) {
    llvm::SmallVector<TypeId> args;
    const TyConId head = Head(type, &args);
    if (!head.valid() || cons[head].qualifies == UINT32_MAX || args.size() != 2) break;
    // Of a class with several parameters what it is of has its name in it already.
    const TyConId of = Head(args[0]);
    const bool whole = of.valid() && cons[of].name == cons[head].name;
    preds.push_back(whole ? Print(args[0]) : std::string(Text(cons[head].name)) + " " + PrintArgument(args[0]));
    type = args[1];
  }
  for (size_t i = 0; i < preds.size(); ++i) out += (i > 0 ? ", " : preds.size() > 1 ? "(" : "") + preds[i];
  if (!preds.empty()) out += preds.size() > 1 ? ") => " : " => ";
  PrintTo(type, 0, out);
  printed_.resize(outer);
  if (precedence > 0) out += ')';
}

}  // namespace df
