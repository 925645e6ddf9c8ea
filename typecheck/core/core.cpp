// Program's own members: locals, definitions, tuple constructors. The passes over core have files of their own.
#include "lang/budget.h"
#include "typecheck/core/core.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

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

namespace {

// Goes through the types that a value holds, as runtime/files/value_file.cpp does through the value.
class ArraysOf {
 public:
  ArraysOf(Program& program, std::string* why) : program_(program), types_(program.types), why_(*why) {}

  bool Has(TypeId type) {
    // Types may contain larger and larger ones without end.
    if (seen_.size() > kMostTypes || !seen_.insert(type.index).second) return true;
    llvm::SmallVector<TypeId> args;
    TyConId head = types_.Head(type, &args);
    if (!head.valid()) return true;
    const TyCon con = types_.cons[head];
    switch (con.builtin) {
      case Builtin::Function: return No("a function");
      case Builtin::IO: return No("an action");
      case Builtin::Char: return No("a single character");
      case Builtin::List:
        return !args.empty() && (types_.BuiltinOf(args[0]) == Builtin::Char || Has(args[0]));
      case Builtin::Tuple: return llvm::all_of(args, [&](TypeId arg) { return Has(arg); });
      case Builtin::None: break;
      default: return true;
    }
    if (con.packs || con.constructors.empty() || args.size() != con.params.size()) return No(fmt::format("a value of the type `{}`", Text(con.name)));
    for (ConId id : con.constructors) {
      const core::DataCon data = program_.constructors[id];
      for (const core::Field& field : data.fields)
        if (!Has(types_.Substitute(field.type, con.params, args))) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMostTypes = 1000;

  bool No(std::string what) {
    why_ = std::move(what);
    return false;
  }

  Program& program_;
  Types& types_;
  std::string& why_;
  llvm::DenseSet<uint32_t> seen_;
};

}  // namespace

bool HasArrays(Program& program, TypeId type, std::string* why) {
  if (program.types.BuiltinOf(type) == Builtin::Unit) {
    *why = "only `()`";
    return false;
  }
  return ArraysOf(program, why).Has(type);
}

}  // namespace df::core
