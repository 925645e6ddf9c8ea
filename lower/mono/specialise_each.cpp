// Ops on all real numbers of values of data types: `foreign import prim "Each Add" add :: a -> Tangent a -> a` adds number by
// number, tensor by tensor, whatever a is. A function is made for each type, as `Instance` makes one for each use of a function;
// it takes its arguments apart and builds the result, so that all that follows sees ordinary code.
//
//   Each OP     the op on each real number, or tensor, of arguments of one shape; what holds none is the first argument's
//   Each Fill   Double -> a -> Tangent a: the number in place of each
//   Each First  a -> Tangent a: the numbers alone; Each Second, a -> Tangent a -> a: the value with these numbers in the places of its own
//   Each Step   Double -> a -> Tangent a -> a: x - g * k of each real number x, the other's g and the number k. Three ops that stay next
//               to each other, so that an engine may do them as one (runtime/device/batch_region.h)
#include "lower/mono/specialise.h"
#include "tagged_ir/tensor_type.h"

namespace df::mono {

// Whether the first argument is a number, and what has a shape comes behind it.
static bool HasNumber(std::string_view op) { return op == "Fill" || op == "Step"; }

bool Specialiser::HasReals(df::TypeId type) {
  return p_.core.types.Tangent(type) != p_.core.types.Scalar(df::Builtin::Unit);
}

// The types of a constructor's fields; of a tangent of its own, the tangents of these.
llvm::SmallVector<df::TypeId> Specialiser::FieldTypes(df::TypeId type, core::ConId con) {
  df::Types& types = p_.core.types;
  df::TypeId of = type;
  bool tangent = types.IsTangent(type, &of);
  llvm::SmallVector<df::TypeId> args, fields;
  TyConId head = types.Head(of, &args);
  std::vector<TyVarId> params = types.cons[head].params;
  for (const core::Field& field : std::vector<core::Field>(p_.core.constructors[con].fields)) {
    df::TypeId each = params.size() == args.size() ? types.Substitute(field.type, params, args) : field.type;
    fields.push_back(p_.Repr(tangent ? types.Tangent(each) : each));
  }
  return fields;
}

Expr* Specialiser::Each(std::string_view op, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos) {
  type = p_.Repr(type);
  df::Builtin builtin = p_.core.types.BuiltinOf(type);
  Expr* shape = args[HasNumber(op) ? 1 : 0];
  // What is filled, or has numbers alone, has the tangent's type; without real numbers that is ().
  if (!HasReals(type)) return op == "Fill" || op == "First" ? p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Unit), 0, ""}, type, pos) : shape;
  if (builtin == df::Builtin::Float || builtin == df::Builtin::Double || builtin == df::Builtin::Tensor) {
    if (op == "First" || op == "Second") return args.back();
    if (!HasNumber(op)) return p_.NewOp(*ir::OpNamed(op), args, type, pos);
    df::TypeId element = type;
    p_.core.types.IsTensor(type, &element);
    Expr* number = args[0];
    if (p_.core.types.BuiltinOf(element) == df::Builtin::Float) number = p_.NewOp(ir::Op::Convert, number, element, pos);
    if (builtin == df::Builtin::Tensor) number = p_.NewOp(ir::Op::Expand, number, type, pos);
    if (op == "Fill") return number;
    return p_.NewOp(ir::Op::Sub, {args[1], p_.NewOp(ir::Op::Mul, {args[2], number}, type, pos)}, type, pos);
  }
  std::vector<df::TypeId> key = {type};
  for (Expr* arg : args) key.push_back(p_.Repr(arg->type));
  auto [it, fresh] = each_.try_emplace({std::string(op), key});
  if (fresh) {
    Function function;
    function.source_name = fmt::format("each {}", op);
    function.name = p_.UniqueName(fmt::format("{} {}", function.source_name, p_.core.types.Print(type)));
    function.pos = pos;
    function.from_library = true;
    function.result = type;
    for (size_t i = 1; i < key.size(); ++i) function.params.push_back(p_.NewVar(i == 1 ? "x" : "y", key[i]));
    llvm::SmallVector<VarId, 4> params = function.params;
    FunId id = p_.functions.Add(std::move(function));
    it->second = id;
    Expr* body = EachBody(op, params, type, pos);
    p_.functions[id].body = body;
  }
  llvm::SmallVector<df::TypeId> from(key.begin() + 1, key.end());
  Expr* callee = p_.NewFun(each_.at({std::string(op), key}), p_.core.types.Fun(from, type), pos);
  return p_.NewApp(callee, args, type, pos);
}

// Of a tuple, and of any data with one constructor, that of zeros: a vector of tuples begins so.
Expr* Specialiser::Zero(df::TypeId type, int depth, ir::PosId pos) {
  constexpr int kMostNested = 8;  // types that are parts of themselves have no end
  type = p_.Repr(type);
  ir::TypeId row = p_.IrType(type);
  ir::TypeKind kind = p_.ir_types.Kind(row);
  if (kind >= ir::TypeKind::Unit && kind <= ir::TypeKind::Double) return p_.NewConst({row, 0, kind == ir::TypeKind::Integer ? "0" : ""}, type, pos);
  const TyCon& tycon = p_.core.types.cons[p_.core.types.Head(type)];
  if (depth == kMostNested || kind != ir::TypeKind::Data || tycon.packs || tycon.constructors.size() != 1)
    return p_.NewFail("MArray: undefined array element", 0, type, pos);
  const core::ConId con = tycon.constructors[0];
  Expr* made = p_.New(Kind::Con, type, pos);
  made->con = con;
  for (df::TypeId field : FieldTypes(type, con)) made->args.push_back(Zero(field, depth + 1, pos));
  return made;
}

// A match on all arguments that have a shape, and the constructor again, of fields that are evaluated: what is updated step by step
// is not to grow into a chain of delayed updates.
Expr* Specialiser::EachBody(std::string_view op, llvm::ArrayRef<VarId> params, df::TypeId type, ir::PosId pos) {
  bool number = HasNumber(op);
  llvm::ArrayRef<VarId> shaped = params.drop_front(number ? 1 : 0);
  df::TypeId first = p_.vars[shaped[0]].type;
  Expr* match = p_.New(Kind::Case, type, pos);
  match->head = p_.NewVarExpr(shaped[0], pos);
  for (core::ConId con : std::vector<core::ConId>(p_.ConstructorsOf(first))) {
    // Of each argument the fields of this constructor; where a field is () it holds nothing.
    llvm::SmallVector<llvm::SmallVector<VarId, 2>> fields;
    for (VarId param : shaped) {
      fields.emplace_back();
      for (df::TypeId field : FieldTypes(p_.vars[param].type, con)) fields.back().push_back(p_.NewVar("field", field));
    }
    Expr* made = p_.New(Kind::Con, type, pos);
    made->con = con;
    llvm::SmallVector<df::TypeId> results = FieldTypes(type, con);
    std::vector<Binding> values;
    for (size_t i = 0; i < results.size(); ++i) {
      llvm::SmallVector<Expr*> args;
      if (number) args.push_back(p_.NewVarExpr(params[0], pos));
      for (const auto& own : fields) args.push_back(p_.NewVarExpr(own[i], pos));
      VarId value = p_.NewVar("part", results[i]);
      values.push_back({value, Each(op, args, results[i], pos)});
      made->args.push_back(p_.NewVarExpr(value, pos));
    }
    Expr* body = made;
    for (const Binding& binding : llvm::reverse(values)) {
      if (!HasReals(p_.vars[binding.var].type)) {
        body = p_.NewLet(binding.var, binding.value, body, pos);
        continue;
      }
      Expr* evaluate = p_.New(Kind::Case, type, pos);
      evaluate->head = binding.value;
      evaluate->var = binding.var;
      evaluate->alts.push_back({core::AltKind::Default, {}, {}, {}, body});
      body = evaluate;
    }
    for (size_t k = shaped.size(); k-- > 1;) {
      Expr* other = p_.New(Kind::Case, type, pos);
      other->head = p_.NewVarExpr(shaped[k], pos);
      other->alts.push_back({core::AltKind::Con, con, fields[k], {}, body});
      if (p_.ConstructorsOf(first).size() > 1)
        other->alts.push_back({core::AltKind::Default, {}, {}, {}, p_.NewFail("values of different shapes are combined", 0, type, pos)});
      body = other;
    }
    match->alts.push_back({core::AltKind::Con, con, fields[0], {}, body});
  }
  return match;
}

}  // namespace df::mono
