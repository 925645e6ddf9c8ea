// Values of any type in one (stdlib/Prelude/IO.df, PrimPacked), of which the constructor says what type they have: what is thrown. Every
// type that the program packs or asks for gets a constructor, so that the graph is typed as any other.
#include "lower/mono/specialise.h"

namespace df::mono {

core::ConId Specialiser::PackedAt(df::TypeId packed, df::TypeId type) {
  const TyConId tycon = p_.core.types.Head(packed);
  std::vector<core::ConId>& constructors = p_.core.types.cons[tycon].constructors;
  const std::string name = "PrimPacked " + p_.core.types.Print(type);
  // At a prompt there are those of earlier programs too; where types go with the input that failed, another may have their number.
  for (core::ConId id : constructors) {
    const core::DataCon& con = p_.core.constructors[id];
    if (con.fields.size() == 1 && con.fields[0].type == type && Text(con.name) == name) return id;
  }
  core::DataCon con;
  con.name = Intern(name);
  con.tycon = tycon;
  con.index = static_cast<uint32_t>(constructors.size());
  con.fields.push_back({type, Symbol(), false});
  const core::ConId id = p_.core.constructors.Add(std::move(con));
  p_.core.types.cons[tycon].constructors.push_back(id);
  return id;
}

Expr* Specialiser::Packed(Expr* value, df::TypeId packed, ir::PosId pos) {
  Expr* made = p_.New(Kind::Con, packed, pos);
  made->con = PackedAt(packed, value->type);
  made->args.push_back(value);
  return made;
}

// Just the value, or Nothing if it is of another type.
Expr* Specialiser::Unpacked(Expr* packed, df::TypeId maybe, ir::PosId pos) {
  llvm::SmallVector<df::TypeId> args;
  const TyConId tycon = p_.core.types.Head(maybe, &args);
  const std::vector<core::ConId> ends = p_.core.types.cons[tycon].constructors;
  Expr* made = p_.New(Kind::Case, maybe, pos);
  made->head = packed;
  const VarId value = p_.NewVar("value", args[0]);
  for (core::ConId end : ends) {
    Expr* body = p_.New(Kind::Con, maybe, pos);
    body->con = end;
    if (p_.core.constructors[end].fields.empty()) {
      made->alts.push_back({core::AltKind::Default, {}, {}, {}, body});
    } else {
      body->args.push_back(p_.NewVarExpr(value, pos));
      made->alts.insert(made->alts.begin(), {core::AltKind::Con, PackedAt(packed->type, args[0]), {value}, {}, body});
    }
  }
  return made;
}

}  // namespace df::mono
