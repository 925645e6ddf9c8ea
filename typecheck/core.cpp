// Program's own members: locals, definitions, tuple constructors. The passes over core have files of their own.
#include "typecheck/core.h"
#include "lang/budget.h"

namespace df::core {

VarId Program::NewLocal(Symbol name, TypeId type, Span span) {
  CheckBudget();
  Var var;
  var.name = name;
  var.scheme.type = type;
  var.kind = VarKind::Local;
  var.span = span;
  return vars.Add(std::move(var));
}

const Expr* Program::DefinitionOf(VarId top) const {
  auto it = definition_of_.find(top.index);
  return it == definition_of_.end() ? nullptr : definitions[it->second].value;
}

// A second definition of one variable takes the place of the first (match compilation does this).
void Program::Define(VarId top, const Expr* value) {
  auto [it, fresh] = definition_of_.try_emplace(top.index, static_cast<uint32_t>(definitions.size()));
  if (fresh) definitions.push_back({top, value});
  else definitions[it->second].value = value;
}

ConId Program::TupleCon(uint32_t size) const {
  return size < tuple_cons.size() ? tuple_cons[size] : ConId();
}

bool IsRecordList(const Program& program, TypeId type) {
  llvm::SmallVector<TypeId> args;
  TyConId list = program.types.Head(type, &args);
  if (!list.valid() || program.types.cons[list].builtin != Builtin::List || args.size() != 1) return false;
  TyConId element = program.types.Head(args[0]);
  if (!element.valid() || program.types.cons[element].is_newtype || program.types.cons[element].constructors.size() != 1) return false;
  const DataCon& con = program.constructors[program.types.cons[element].constructors[0]];
  return !con.fields.empty() && !Text(con.fields[0].name).empty();
}

}  // namespace df::core
