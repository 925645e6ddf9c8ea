// Deriving by a newtype (GHC's GeneralizedNewtypeDeriving), or via another type: each method is that of the other type, with
// constructors put on and taken off where the method's type says so. Newtypes vanish in lowering, and so do these.
#include "typecheck/core/roles.h"
#include "typecheck/derive/derive.h"

namespace df::check {
namespace {

// As in types without variables that are still to be found.
class ClosedCoercion : public core::Coercion {
 public:
  using core::Coercion::Coercion;

 protected:
  TypeId Known(TypeId type) override { return program.types.Renewed(type); }
  bool MayOpen(ConId) override { return true; }
  core::Coerced Equal(TypeId a, TypeId b) override { return a == b ? core::Coerced::Yes : core::Coerced::No; }
  core::Coerced Given(TypeId a, TypeId b) override { return Equal(a, b); }
};

class Wrapper {
 public:
  Wrapper(Builder& make, core::Program& program, TyVarId param, TypeId whole, TypeId inside, bool coerces)
      : make_(make), program_(program), types_(program.types), param_(param), whole_(whole), inside_(inside), coerces_(coerces) {}

  bool refused = false;   // a method's type stands in the way
  bool mismatch = false;  // the two types are not made of the same

  // `value`, whose type is `type` with the class's parameter being the other type, at the type that derives; `on` is false
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
      TypeId own = types_.Substitute(type, param_, whole_), other = types_.Substitute(type, param_, inside_);
      return on ? Recast(value, other, own) : Recast(value, own, other);
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
  // A newtype's constructor around the type, and what it holds.
  struct Layer {
    ConId con;
    TypeId held;
  };
  std::optional<Layer> LayerOf(TypeId type) const {
    llvm::SmallVector<TypeId> args;
    const TyConId head = types_.Head(type, &args);
    if (!head.valid()) return std::nullopt;
    const TyCon& con = types_.cons[head];
    if (!con.is_newtype || con.constructors.size() != 1 || args.size() < con.params.size()) return std::nullopt;
    TypeId held = types_.Substitute(program_.constructors[con.constructors[0]].fields[0].type, con.params, llvm::ArrayRef(args).take_front(con.params.size()));
    for (TypeId extra : llvm::ArrayRef(args).drop_front(con.params.size())) held = types_.App(held, extra);
    return Layer{con.constructors[0], held};
  }
  // The types that a value of the type is, one within the other.
  std::vector<std::pair<TypeId, ConId>> Chain(TypeId type) const {
    constexpr size_t kMost = 100;
    std::vector<std::pair<TypeId, ConId>> chain{{type, ConId()}};
    for (std::optional<Layer> layer = LayerOf(type); layer && chain.size() < kMost; layer = LayerOf(layer->held)) {
      chain.back().second = layer->con;
      chain.push_back({layer->held, ConId()});
    }
    return chain;
  }
  // The value of the type `from` as one of `to`: constructors off until both are one type, and others on.
  ast::Expr* Recast(ast::Expr* value, TypeId from, TypeId to) {
    const auto off = Chain(from), on = Chain(to);
    for (size_t i = 0; i < off.size(); ++i)
      for (size_t j = 0; j < on.size(); ++j) {
        if (off[i].first != on[j].first) continue;
        for (size_t k = 0; k < i; ++k) {
          std::string x = Fresh();
          value = make_.Case(value, {make_.Alt(make_.NumberedPat(off[k].second, make_.VarPat(x)), make_.Var(x))});
        }
        for (size_t k = j; k-- > 0;) value = make_.App(make_.NumberedCon(on[k].second), {value});
        return value;
      }
    // Newtypes below other types: `(Sum Int, [a])`.
    if (coerces_ && ClosedCoercion(program_).Compare(from, to) == core::Coerced::Yes) return make_.Call("coerce", {value});
    mismatch = true;
    return value;
  }
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
  core::Program& program_;
  Types& types_;
  TyVarId param_;
  TypeId whole_, inside_;
  bool coerces_;
  uint32_t fresh_ = 0;
};

}  // namespace

ViaResult DeriveVia(Builder& make, core::Program& program, const core::Class& cls, bool of_library, TypeId whole, TypeId via,
                    ast::Type* written, bool coerces, VarId& obstacle) {
  for (VarId id : cls.methods) {
    const core::Var method = program.vars[id];
    Wrapper wrapper(make, program, cls.param, whole, via, coerces);
    // By its number: of mtl's methods several modules have one of that name.
    ast::Expr* inside = of_library ? make.LibVar("%" + std::to_string(id.index)) : make.Var(Text(method.name));
    if (written) inside = make.At(inside, cls.params.size() - 1, written);
    make.Clause({}, wrapper.Convert(method.scheme.type, inside, true));
    make.Method(Text(method.name));
    if (wrapper.mismatch) return ViaResult::Mismatch;
    if (wrapper.refused) {
      obstacle = id;
      return ViaResult::Obstacle;
    }
  }
  return ViaResult::Made;
}

}  // namespace df::check
