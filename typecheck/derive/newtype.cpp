// Deriving by a newtype (GHC's GeneralizedNewtypeDeriving): each method is that of the type inside, with the
// constructor put on and taken off where the method's type says so. Newtypes vanish in lowering, and so do these.
#include "typecheck/derive/derive.h"

namespace df::check {
namespace {

class Wrapper {
 public:
  Wrapper(Builder& make, Types& types, TyVarId param, Symbol con)
      : make_(make), types_(types), param_(param), con_(con) {}

  bool refused = false;

  // `value`, whose type is `type` with the class's parameter being the type inside, at the newtype; `on` is false
  // for the other direction.
  ast::Expr* Convert(TypeId type, ast::Expr* value, bool on) {
    if (!Mentions(type)) return value;
    TypeId from, to;
    if (types_.IsFun(type, &from, &to)) {
      std::string x = Fresh();
      return make_.Lambda({make_.VarPat(x)}, Convert(to, make_.App(value, {Convert(from, make_.Var(x), !on)}), on));
    }
    if (llvm::SmallVector<TypeId> parts; types_.IsTuple(type, &parts)) {
      std::vector<ast::Pat*> pats;
      std::vector<ast::Expr*> converted;
      for (TypeId part : parts) {
        std::string x = Fresh();
        pats.push_back(make_.VarPat(x));
        converted.push_back(Convert(part, make_.Var(x), on));
      }
      // The pair of a method may be lazier than a case on it.
      return make_.Case(value, {make_.Alt(make_.Lazy(make_.TuplePat(pats)), make_.Tuple(converted))});
    }
    llvm::SmallVector<TypeId> args;
    TyConId head = types_.Head(type, &args);
    if (!head.valid() && IsParam(type)) {
      if (on) return make_.App(make_.Con(con_), {value});
      std::string x = Fresh();
      ast::Pat* inside = make_.ConPat(con_, {make_.VarPat(x)});
      return make_.Case(value, {make_.Alt(inside, make_.Var(x))});
    }
    // `[a]`, `NonEmpty a`
    if (head.valid() && types_.Kind(type) == TypeKind::App && !Mentions(types_.FnOf(type))) {
      std::string x = Fresh();
      ast::Expr* each = make_.Lambda({make_.VarPat(x)}, Convert(types_.ArgOf(type), make_.Var(x), on));
      return make_.Call("fmap", {each, value});
    }
    refused = true;
    return value;
  }

 private:
  bool Mentions(TypeId type) const {
    llvm::SmallVector<TyVarId> vars;
    types_.FreeVars(type, vars);
    return llvm::is_contained(vars, param_);
  }
  // The class's parameter, or its application to types without it.
  bool IsParam(TypeId type) const {
    for (; types_.Kind(type) == TypeKind::App; type = types_.FnOf(type))
      if (Mentions(types_.ArgOf(type))) return false;
    return types_.Kind(type) == TypeKind::Var && types_.VarOf(type) == param_;
  }
  // No program can write it, so that it hides no method.
  std::string Fresh() { return "%" + std::to_string(++fresh_); }

  Builder& make_;
  Types& types_;
  TyVarId param_;
  Symbol con_;
  uint32_t fresh_ = 0;
};

}  // namespace

bool DeriveByNewtype(Builder& make, core::Program& program, const Shape& shape, const core::Class& cls, bool of_library,
                     VarId& obstacle) {
  for (VarId id : cls.methods) {
    const core::Var method = program.vars[id];
    Wrapper wrapper(make, program.types, cls.param, shape.cons.front()->name);
    // By its number: of mtl's methods several modules have one of that name.
    ast::Expr* inside = of_library ? make.LibVar("%" + std::to_string(id.index)) : make.Var(Text(method.name));
    make.Clause({}, wrapper.Convert(method.scheme.type, inside, true));
    make.Method(Text(method.name));
    if (wrapper.refused) {
      obstacle = id;
      return false;
    }
  }
  return true;
}

}  // namespace df::check
