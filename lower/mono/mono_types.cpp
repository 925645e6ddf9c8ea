// Types of the mid-level tree: newtypes are looked through, data types are declared to the graph as they are met.
#include "lower/mono/mono.h"

namespace df::mono {

Program::Program(core::Program& core, Diagnostics& diags) : core(core), diags(diags), roles_(core) {
  for (uint32_t i = 0; i < core.vars.size() && !coerces_; ++i) {
    const Symbol prim = core.vars[core::VarId(i)].prim;
    coerces_ = prim.valid() && Text(prim) == "<coerce>";
  }
}

df::TypeId Program::Repr(df::TypeId type) {
  df::Types& types = core.types;
  // newtype N = N N has no values; the bound only ends the search.
  for (int depth = 0; depth < 100; ++depth) {
    llvm::SmallVector<df::TypeId> args;
    if (df::TypeId of; types.IsTangent(type, &of)) {
      // Of a newtype with a tangent of its own: that of what it holds.
      df::TypeId held = Repr(of);
      return held == of ? type : Repr(types.Tangent(held));
    }
    if (types.Kind(type) == TypeKind::Forall) {
      const PolyType& poly = polys[PolyIndex(type)];
      if (!poly.plain) return types.Con(poly.tycon);
      type = core.constructors[poly.con].fields[0].type;
      continue;
    }
    TyConId head = types.Head(type, &args);
    if (head.valid() && types.cons[head].packs && Packs(type)) return types.Con(packed[PackedIndex(type)].tycon);
    if (!head.valid() || !types.cons[head].is_newtype || types.cons[head].constructors.size() != 1) return type;
    const TyCon& con = types.cons[head];
    if (args.size() < con.params.size()) return type;
    df::TypeId inner = core.constructors[con.constructors[0]].fields[0].type;
    inner = types.Substitute(inner, con.params, llvm::ArrayRef(args).take_front(con.params.size()));
    for (df::TypeId extra : llvm::ArrayRef(args).drop_front(con.params.size())) inner = types.App(inner, extra);
    type = inner;
  }
  return types.Scalar(df::Builtin::Unit);
}

bool Program::IsFunction(df::TypeId type) { return !defunctionalised && core.types.IsFun(Repr(type)); }

// newtype P = P (Int -> P): such a function has no last parameter.
bool Program::EndlessArrows(df::TypeId type) {
  constexpr size_t kLimit = 64;
  llvm::SmallVector<df::TypeId, 8> seen;
  df::TypeId to;
  while (core.types.IsFun(Repr(type), nullptr, &to)) {
    if (seen.size() == kLimit) return true;
    // Only a newtype can bring a type back.
    if (!core.types.IsFun(type) && llvm::is_contained(seen, type)) return true;
    seen.push_back(type);
    type = to;
  }
  return false;
}

// All parameters, or the first one where there is no last.
df::TypeId Program::SplitFun(df::TypeId type, llvm::SmallVectorImpl<df::TypeId>& params) {
  df::TypeId from, to;
  bool endless = EndlessArrows(type);
  while (core.types.IsFun(Repr(type), &from, &to)) {
    params.push_back(from);
    type = to;
    if (endless) break;
  }
  return type;
}

df::TypeId Program::ResultAfter(df::TypeId type, size_t params) {
  df::TypeId to;
  for (; params > 0 && core.types.IsFun(Repr(type), nullptr, &to); --params) type = to;
  return type;
}

df::TypeId Program::PlainFun(df::TypeId type) {
  llvm::SmallVector<df::TypeId> params;
  df::TypeId result = SplitFun(type, params);
  return Alike(core.types.Fun(params, result));
}

df::Builtin Program::BuiltinOf(df::TypeId type) { return core.types.BuiltinOf(Repr(type)); }

bool Program::IsTuple(df::TypeId type, llvm::SmallVectorImpl<df::TypeId>* elements) {
  return core.types.IsTuple(Repr(type), elements);
}

llvm::ArrayRef<core::ConId> Program::ConstructorsOf(df::TypeId type) {
  df::TypeId repr = Repr(type);
  core.types.IsTangent(repr, &repr);  // of its own: it has the same constructors
  TyConId head = core.types.IsFun(repr) ? closure_types.lookup(PlainFun(repr).index) : core.types.Head(repr);
  if (!head.valid()) return {};
  return core.types.cons[head].constructors;
}

std::string Program::DataName(df::TypeId type) {
  std::string name = core.types.Print(type);
  if (core.types.BuiltinOf(type) == df::Builtin::List && name == "String") name = "[Char]";
  // A user's type may have the name of a built-in one, or of another module's.
  auto taken = [&] {
    if (ir_types.Find(name).valid()) return true;
    for (uint32_t i = 0; i < static_cast<uint32_t>(ir::TypeKind::Data); ++i)
      if (ir_types[ir::TypeId(i)].name == name) return true;
    return false;
  };
  while (taken()) name += '\'';
  return name;
}

ir::TypeId Program::IrType(df::TypeId type) {
  auto known = ir_type_ids_.find(type.index);
  if (known != ir_type_ids_.end()) {
    ir::TypeId id = known->second;
    auto open = without_constructors_.find(id.index);
    if (declaring_.empty() && open != without_constructors_.end()) {
      df::TypeId whole = open->second;
      without_constructors_.erase(open);
      DeclareConstructors(id, whole);
    }
    return id;
  }
  df::TypeId repr = Repr(type);
  repr = core.types.IsFun(repr) ? PlainFun(repr) : Alike(repr);
  if (repr != type) {
    ir::TypeId id = IrType(repr);
    return ir_type_ids_[type.index] = id;
  }
  auto builtin = [&](ir::TypeKind kind) { return ir_type_ids_[type.index] = ir_types.Builtin(kind); };
  switch (core.types.BuiltinOf(type)) {
    case df::Builtin::Unit: return builtin(ir::TypeKind::Unit);
    case df::Builtin::Int: return builtin(ir::TypeKind::Int);
    case df::Builtin::Integer: return builtin(ir::TypeKind::Integer);
    case df::Builtin::Float: return builtin(ir::TypeKind::Float);
    case df::Builtin::Double: return builtin(ir::TypeKind::Double);
    case df::Builtin::Char: return builtin(ir::TypeKind::Char);
    case df::Builtin::Bool: return builtin(ir::TypeKind::Bool);
    case df::Builtin::Text: return builtin(ir::TypeKind::Text);
    case df::Builtin::State: return builtin(ir::TypeKind::State);
    case df::Builtin::Store: return builtin(ir::TypeKind::Store);
    case df::Builtin::Frozen: return builtin(ir::TypeKind::Frozen);
    case df::Builtin::Tensor: {
      // Of a type without values nothing but failures is ever made: any shape will do.
      ir::TypeKind element;
      llvm::SmallVector<int64_t> dims;
      TensorShape(type, &element, &dims);
      return ir_type_ids_[type.index] = ir_types.Tensor(element, dims);
    }
    default: break;
  }
  ir::TypeId id = ir_types.AddData(DataName(type));
  ir_type_ids_[type.index] = id;
  DeclareConstructors(id, type);
  return id;
}

void Program::DeclareConstructors(ir::TypeId id, df::TypeId type) {
  llvm::SmallVector<df::TypeId> args;
  TyConId head = core.types.Head(type, &args);
  if (core.types.IsFun(type)) {
    if (!defunctionalised) {  // of arrays of functions, whose elements are numbered: nobody knows the closures yet
      without_constructors_[id.index] = type;
      return;
    }
    head = closure_types.lookup(type.index);
    args.clear();
  }
  if (!head.valid()) return;
  if (auto poly = poly_con_.find(head.index); poly != poly_con_.end() && polys_open) {  // it has not all its fields yet
    polys[poly->second].declared = true;
    without_constructors_[id.index] = type;
    return;
  }
  bool tangent = false;  // a tangent of its own: the constructors of what it is the tangent of, on tangents
  if (df::TypeId of; core.types.IsTangent(type, &of)) {
    args.clear();
    head = core.types.Head(of, &args);
    tangent = true;
  }
  uint32_t within = declaring_.lookup(head.index);
  if (within == kMaxNesting || (!declaring_.empty() && ir_types.size() > kMaxDeclared)) {
    without_constructors_[id.index] = type;
    return;
  }
  declaring_[head.index] = within + 1;
  std::vector<core::ConId> cons(core.types.cons[head].constructors);
  std::vector<TyVarId> params(core.types.cons[head].params);
  // Those of an action that asks nothing end before that.
  if (!asks && head == core.types.Known(df::Builtin::Action))
    cons.erase(llvm::find_if(cons, [&](core::ConId con) { return Text(core.constructors[con].name) == "PrimServe"; }), cons.end());
  std::vector<ir::Constructor> rows;
  for (core::ConId con_id : cons) {
    const core::DataCon& con = core.constructors[con_id];
    ir::Constructor row{std::string(Text(con.name)), {}};
    for (const core::Field& field : con.fields) {
      df::TypeId field_type =
          params.size() == args.size() ? core.types.Substitute(field.type, params, args) : field.type;
      if (tangent) field_type = core.types.Tangent(field_type);
      row.fields.push_back({{IrType(field_type), !field.strict}, field.strict, std::string(Text(field.name))});
    }
    rows.push_back(std::move(row));
  }
  ir_types[id].constructors = std::move(rows);
  if (within == 0)
    declaring_.erase(head.index);
  else
    declaring_[head.index] = within;
}

void Program::DeclareClosures() {
  llvm::SmallVector<std::pair<uint32_t, df::TypeId>> open;
  for (const auto& [index, type] : without_constructors_)
    if (core.types.IsFun(type)) open.push_back({index, type});
  // What can be thrown, and what hides types, got constructors while functions were specialised: a type that was met before has not all of them.
  for (const auto& [index, id] : ir_type_ids_) {
    const df::TypeId type(index);
    const TyConId head = core.types.Head(type);
    if (Repr(type) == type && head.valid() && ir_types.Kind(id) == ir::TypeKind::Data && !core.types.IsFun(type) && !without_constructors_.contains(id.index) &&
        core.types.cons[head].constructors.size() > ir_types[id].constructors.size())
      open.push_back({id.index, type});
  }
  llvm::sort(open, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [index, type] : open) {
    without_constructors_.erase(index);
    DeclareConstructors(ir::TypeId(index), type);
  }
}

void Program::DeclareHeld(df::TypeId type) {
  llvm::SmallVector<ir::TypeId> work = {IrType(type)};
  llvm::DenseSet<uint32_t> seen;
  while (!work.empty()) {
    ir::TypeId id = work.pop_back_val();
    if (!seen.insert(id.index).second) continue;
    if (auto open = without_constructors_.find(id.index); open != without_constructors_.end()) {
      if (ir_types.size() > kMaxDeclared) return;
      IrType(open->second);
    }
    for (const ir::Constructor& con : ir_types[id].constructors)
      for (const ir::FieldType& field : con.fields) work.push_back(field.type.type);
  }
}

}  // namespace df::mono
