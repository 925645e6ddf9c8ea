#include "typecheck/state/env.h"

namespace df::check {
namespace {

TyVarId AddParam(core::Program& program, TyConId con, const std::string& name) {
  TyVarId var = program.types.NewVar(Intern(name));
  program.types.cons[con].params.push_back(var);
  return var;
}

core::ConId AddCon(core::Program& program, TyConId tycon, const char* name, llvm::ArrayRef<TypeId> fields) {
  core::DataCon con;
  con.name = Intern(name);
  con.tycon = tycon;
  con.index = static_cast<uint32_t>(program.types.cons[tycon].constructors.size());
  for (TypeId type : fields) con.fields.push_back({type, Symbol(), false});
  core::ConId id = program.constructors.Add(std::move(con));
  program.types.cons[tycon].constructors.push_back(id);
  return id;
}

}  // namespace

void DeclareBuiltins(Env& env, core::Program& program) {
  Types& types = program.types;
  for (uint32_t i = 0; i < types.cons.size(); ++i) {
    TyConId con(i);
    env.SetKind(con, env.kinds.Arrows(types.cons[con].arity));
    // The module Gradient gives `Tangent` its name in programs, and Data.Text `Text`.
    Builtin builtin = types.cons[con].builtin;
    bool named = builtin == Builtin::Tangent || builtin == Builtin::Text;
    env.builtin.types.Add(named ? Intern("Prim" + std::string(Text(types.cons[con].name))) : types.cons[con].name, TypeName{con});
  }
  Kinds& kinds = env.kinds;
  env.SetKind(types.Known(Builtin::Tensor), kinds.Arrow(kinds.Star(), kinds.Arrow(kinds.Shape(), kinds.Star())));
  env.SetKind(types.Known(Builtin::ShapeNil), kinds.Shape());
  env.SetKind(types.Known(Builtin::ShapeCons), kinds.Arrow(kinds.Dim(), kinds.Arrow(kinds.Shape(), kinds.Shape())));
  // `a ~ b`. Its sides are of any kind (ConvertClassArguments).
  core::Class equality;
  equality.name = Intern("~");
  equality.params = {types.NewVar(Intern("a")), types.NewVar(Intern("b"))};
  equality.param = equality.params.back();
  TyCon sides;
  sides.name = equality.name;
  sides.arity = 2;
  sides.tangent = TangentForm::Unit;
  equality.args = types.cons.Add(std::move(sides));
  env.SetKind(equality.args, kinds.Arrows(2));
  program.equality = program.classes.Add(std::move(equality));
  env.SetKind(program.equality, kinds.Star());
  TyConId unit = types.Known(Builtin::Unit);
  program.unit_con = AddCon(program, unit, "()", {});
  TyConId list = types.Known(Builtin::List);
  TypeId element = types.Var(AddParam(program, list, "a"));
  program.nil_con = AddCon(program, list, "[]", {});
  program.cons_con = AddCon(program, list, ":", {element, types.List(element)});
  env.builtin.constructors.Add(Intern("()"), program.unit_con);
  env.builtin.constructors.Add(Intern("[]"), program.nil_con);
  env.builtin.constructors.Add(Intern(":"), program.cons_con);
}

core::ConId TupleConstructor(Env& env, core::Program& program, uint32_t size) {
  if (program.tuple_cons.size() <= size) program.tuple_cons.resize(size + 1);
  if (program.tuple_cons[size].valid()) return program.tuple_cons[size];
  Types& types = program.types;
  TyConId con = types.TupleCon(size);
  env.SetKind(con, env.kinds.Arrows(size));
  std::vector<TypeId> fields;
  for (uint32_t i = 0; i < size; ++i) {
    std::string name = size <= 26 ? std::string(1, static_cast<char>('a' + i)) : "t" + std::to_string(i);
    fields.push_back(types.Var(AddParam(program, con, name)));
  }
  program.tuple_cons[size] = AddCon(program, con, std::string(Text(types.cons[con].name)).c_str(), fields);
  return program.tuple_cons[size];
}

}  // namespace df::check
