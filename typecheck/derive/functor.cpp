// deriving Functor, Foldable, Traversable: along the last parameter of the type, as GHC's DeriveTraversable.
#include "typecheck/derive/derive.h"

namespace df::check {
namespace {

// Writes the methods field by field, by the shape of the field's type. `f` is the method's function throughout.
class AlongLast {
 public:
  AlongLast(Builder& make, Types& types, TyVarId last, std::vector<TypeId>& needs)
      : make_(make), types_(types), last_(last), needs_(needs) {}

  TypeId obstacle;  // the first type that has no such method

  bool Mentions(TypeId type) const {
    llvm::SmallVector<TyVarId> vars;
    types_.FreeVars(type, vars);
    return llvm::is_contained(vars, last_);
  }

  // fmap f x. In a function's argument the other direction is needed (`co` is false), which only functions have:
  // `(a -> r) -> r` is mapped by \y -> x (\z -> y (f z)).
  ast::Expr* Map(TypeId type, ast::Expr* x, bool co = true) {
    TypeId from, to;
    if (!Mentions(type)) return x;
    if (types_.IsFun(type, &from, &to)) {
      std::string y = Fresh();
      return make_.Lambda({make_.VarPat(y)}, Map(to, make_.App(x, {Map(from, make_.Var(y), !co)}), co));
    }
    if (!co) return Refuse(type, x);
    if (IsLast(type)) return make_.App(make_.Var("f"), {x});
    if (llvm::SmallVector<TypeId> parts; types_.IsTuple(type, &parts)) {
      std::vector<std::string> names = FreshNames(parts.size());
      std::vector<ast::Expr*> mapped;
      for (size_t i = 0; i < parts.size(); ++i) mapped.push_back(Map(parts[i], make_.Var(names[i])));
      return make_.Case(x, {make_.Alt(make_.TuplePat(Pats(names)), make_.Tuple(mapped))});
    }
    if (!Container(type)) return Refuse(type, x);
    return make_.Call("fmap", {Each([&](ast::Expr* y) { return Map(types_.ArgOf(type), y); }, types_.ArgOf(type)), x});
  }

  // foldr f rest x
  ast::Expr* Fold(TypeId type, ast::Expr* x, ast::Expr* rest) {
    if (!Mentions(type)) return rest;
    if (IsLast(type)) return make_.App(make_.Var("f"), {x, rest});
    if (llvm::SmallVector<TypeId> parts; types_.IsTuple(type, &parts)) {
      std::vector<std::string> names = FreshNames(parts.size());
      for (size_t i = parts.size(); i-- > 0;) rest = Fold(parts[i], make_.Var(names[i]), rest);
      return make_.Case(x, {make_.Alt(make_.TuplePat(Pats(names)), rest)});
    }
    if (types_.IsFun(type) || !Container(type)) return Refuse(type, rest);
    ast::Expr* step = make_.Var("f");
    if (!IsLast(types_.ArgOf(type))) {
      std::string y = Fresh(), r = Fresh();
      step = make_.Lambda({make_.VarPat(y), make_.VarPat(r)}, Fold(types_.ArgOf(type), make_.Var(y), make_.Var(r)));
    }
    return make_.Call("foldr", {step, rest, x});
  }

  // traverse f x, of a type that mentions the parameter
  ast::Expr* Traverse(TypeId type, ast::Expr* x) {
    if (IsLast(type)) return make_.App(make_.Var("f"), {x});
    if (llvm::SmallVector<TypeId> parts; types_.IsTuple(type, &parts)) {
      std::vector<std::string> names = FreshNames(parts.size());
      ast::Expr* whole =
          TraverseAll(parts, names, [&](llvm::ArrayRef<ast::Expr*> values) { return make_.Tuple(values); });
      return make_.Case(x, {make_.Alt(make_.TuplePat(Pats(names)), whole)});
    }
    if (types_.IsFun(type) || !Container(type)) return Refuse(type, x);
    return make_.Call(
        "traverse", {Each([&](ast::Expr* y) { return Traverse(types_.ArgOf(type), y); }, types_.ArgOf(type)), x});
  }

  // fmap (\y z -> build x1 y x3 z) (traverse f x2) <*> traverse f x4, from left to right
  ast::Expr* TraverseAll(llvm::ArrayRef<TypeId> parts, const std::vector<std::string>& names,
                         llvm::function_ref<ast::Expr*(llvm::ArrayRef<ast::Expr*>)> build) {
    std::vector<ast::Expr*> values, actions;
    std::vector<ast::Pat*> params;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!Mentions(parts[i])) {
        values.push_back(make_.Var(names[i]));
        continue;
      }
      std::string y = Fresh();
      params.push_back(make_.VarPat(y));
      values.push_back(make_.Var(y));
      actions.push_back(Traverse(parts[i], make_.Var(names[i])));
    }
    ast::Expr* whole = build(values);
    if (actions.empty()) return make_.Call("pure", {whole});
    ast::Expr* all = make_.Call("fmap", {make_.Lambda(params, whole), actions[0]});
    for (size_t i = 1; i < actions.size(); ++i) all = make_.Call("<*>", {all, actions[i]});
    return all;
  }

 private:
  bool IsLast(TypeId type) const { return types_.Kind(type) == TypeKind::Var && types_.VarOf(type) == last_; }

  // `g t` with the parameter in t only: g has to have the class too.
  bool Container(TypeId type) {
    if (types_.Kind(type) != TypeKind::App || Mentions(types_.FnOf(type))) return false;
    if (!llvm::is_contained(needs_, types_.FnOf(type))) needs_.push_back(types_.FnOf(type));
    return true;
  }

  // The function for the elements of a container: f itself, or \y -> ..
  ast::Expr* Each(llvm::function_ref<ast::Expr*(ast::Expr*)> body, TypeId element) {
    if (IsLast(element)) return make_.Var("f");
    std::string y = Fresh();
    return make_.Lambda({make_.VarPat(y)}, body(make_.Var(y)));
  }

  ast::Expr* Refuse(TypeId type, ast::Expr* instead) {
    if (!obstacle.valid()) obstacle = type;
    return instead;
  }

  std::string Fresh() { return "y" + std::to_string(++fresh_); }
  std::vector<std::string> FreshNames(size_t count) {
    std::vector<std::string> names(count);
    for (std::string& name : names) name = Fresh();
    return names;
  }
  std::vector<ast::Pat*> Pats(const std::vector<std::string>& names) {
    std::vector<ast::Pat*> pats;
    for (const std::string& name : names) pats.push_back(make_.VarPat(name));
    return pats;
  }

  Builder& make_;
  Types& types_;
  TyVarId last_;
  std::vector<TypeId>& needs_;
  uint32_t fresh_ = 0;
};

}  // namespace

bool DeriveFunctorLike(Builder& make, Types& types, const Shape& shape, std::string_view cls, TyVarId last,
                       std::vector<TypeId>& needs, TypeId& obstacle) {
  AlongLast along(make, types, last, needs);
  for (const core::DataCon* con : shape.cons) {
    size_t fields = con->fields.size();
    std::vector<TypeId> parts;
    std::vector<std::string> names;
    for (size_t i = 0; i < fields; ++i) {
      parts.push_back(con->fields[i].type);
      names.push_back(Builder::Field("x", i));
    }
    auto build = [&](llvm::ArrayRef<ast::Expr*> values) { return make.App(make.Con(con->name), values); };
    ast::Pat* pat = make.ConPat(con->name, fields, "x");
    if (cls == "Functor") {
      std::vector<ast::Expr*> mapped;
      for (size_t i = 0; i < fields; ++i) mapped.push_back(along.Map(parts[i], make.Var(names[i])));
      make.Clause({make.VarPat("f"), pat}, build(mapped));
    } else if (cls == "Foldable") {
      ast::Expr* rest = make.Var("z");
      for (size_t i = fields; i-- > 0;) rest = along.Fold(parts[i], make.Var(names[i]), rest);
      make.Clause({make.VarPat("f"), make.VarPat("z"), pat}, rest);
    } else {
      make.Clause({make.VarPat("f"), pat}, along.TraverseAll(parts, names, build));
    }
  }
  if (shape.cons.empty()) {
    if (cls == "Foldable") make.Clause({make.Any(), make.VarPat("z"), make.Any()}, make.Var("z"));
    else make.Clause({make.Any(), make.Any()}, make.LibVar("undefined"));
  }
  make.Method(cls == "Functor" ? "fmap" : cls == "Foldable" ? "foldr" : "traverse");
  obstacle = along.obstacle;
  return !obstacle.valid();
}

}  // namespace df::check
