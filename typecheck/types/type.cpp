#include "lang/budget.h"
#include "typecheck/types/type.h"

#include <cassert>

#include <fmt/format.h>

namespace df {

Types::Types() {
  known_.resize(static_cast<size_t>(Builtin::Tangent) + 1);
  AddBuiltin(Builtin::Function, "->", 2);
  AddBuiltin(Builtin::Unit, "()", 0);
  AddBuiltin(Builtin::List, "[]", 1, TangentForm::Same);
  AddBuiltin(Builtin::Int, "Int", 0);
  AddBuiltin(Builtin::Integer, "Integer", 0);
  AddBuiltin(Builtin::Float, "Float", 0, TangentForm::Same);
  AddBuiltin(Builtin::Double, "Double", 0, TangentForm::Same);
  AddBuiltin(Builtin::Char, "Char", 0);
  AddBuiltin(Builtin::Bool, "Bool", 0);
  AddBuiltin(Builtin::Ordering, "Ordering", 0);
  AddBuiltin(Builtin::Text, "Text", 0);  // packed
  AddBuiltin(Builtin::IO, "IO", 1);
  AddBuiltin(Builtin::Action, "PrimAction", 0);
  AddBuiltin(Builtin::State, "PrimState", 0);
  AddBuiltin(Builtin::Store, "PrimStore", 1);
  AddBuiltin(Builtin::Frozen, "PrimFrozen", 1);
  AddBuiltin(Builtin::Tensor, "Tensor", 2);
  AddBuiltin(Builtin::ShapeNil, "PrimShapeNil", 0);
  AddBuiltin(Builtin::ShapeCons, "PrimShapeCons", 2);
  AddBuiltin(Builtin::Tangent, "Tangent", 1);
}

TyConId Types::AddBuiltin(Builtin builtin, const char* name, uint32_t arity, TangentForm tangent) {
  TyCon con;
  con.name = Intern(name);
  con.arity = arity;
  con.builtin = builtin;
  con.tangent = tangent;
  TyConId id = cons.Add(std::move(con));
  known_[static_cast<size_t>(builtin)] = id;
  return id;
}

TypeId Types::Make(TypeKind kind, uint32_t a, uint32_t b, bool has_var, bool has_meta) {
  CheckBudget();
  std::pair<uint64_t, uint32_t> key((static_cast<uint64_t>(kind) << 32) | a, b);
  auto [it, fresh] = ids_.try_emplace(key, size());
  if (fresh) {
    Row row{kind, has_var, has_meta, a, b, 1};
    if (kind == TypeKind::App) {
      row.size = std::min(kMaxSize, rows_[a].size + rows_[b].size);
      row.height = std::max(rows_[a].height, rows_[b].height);
      row.has_bound = rows_[a].has_bound || rows_[b].has_bound;
      row.waits = rows_[a].waits > 1 ? rows_[a].waits - 1 : 0;
      row.has_family = row.waits == 1 || rows_[a].has_family || rows_[b].has_family;
    } else if (kind == TypeKind::Forall) {
      row.size = std::min(kMaxSize, rows_[b].size + 1);
      row.height = static_cast<uint16_t>(rows_[b].height + 1);
      row.has_bound = rows_[b].has_bound;
      row.has_family = rows_[b].has_family;
    } else if (kind == TypeKind::Con) {
      if (const TyCon& con = cons[TyConId(a)]; con.family != UINT32_MAX) row.waits = static_cast<uint8_t>(con.arity + 1);
      row.has_family = row.waits == 1;
    } else if (kind == TypeKind::Var) {
      row.has_bound = vars[TyVarId(a)].bound;
    }
    rows_.push_back(row);
  }
  return TypeId(it->second);
}

TypeId Types::Con(TyConId con) {
  const TypeId type = Make(TypeKind::Con, con.index, 0, false, false);
  if (rows_[type.index].waits != 1 || families[cons[con].family].equations.empty()) return type;
  return families[cons[con].family].equations[0].right;  // of no arguments
}

TypeId Types::Con(TyConId con, llvm::ArrayRef<TypeId> args) {
  TypeId type = Con(con);
  for (TypeId arg : args) type = App(type, arg);
  return type;
}

TypeId Types::App(TypeId fn, TypeId arg) {
  if (rows_[fn.index].kind == TypeKind::Con && rows_[fn.index].a == Known(Builtin::Tangent).index) {
    if (TypeId reduced = ReduceTangent(arg); reduced.valid()) return reduced;
    TypeId element = arg;
    IsTensor(arg, &element);
    if (rows_[element.index].kind == TypeKind::Meta) tangents_of.push_back(element);
  }
  // A tensor of nothing holds nothing: what Tensor (Tangent a) s is at a type a without real numbers.
  if (rows_[fn.index].kind == TypeKind::App && FnOf(fn) == Con(Known(Builtin::Tensor)) && ArgOf(fn) == Scalar(Builtin::Unit))
    return Scalar(Builtin::Unit);
  if (rows_[fn.index].waits == 2)
    if (TypeId reduced = ReduceFamily(fn, arg); reduced.valid()) return reduced;
  Row f = rows_[fn.index], x = rows_[arg.index];
  return Make(TypeKind::App, fn.index, arg.index, f.has_var || x.has_var, f.has_meta || x.has_meta);
}

TypeId Types::Var(TyVarId var) { return Make(TypeKind::Var, var.index, 0, !vars[var].bound, false); }
TypeId Types::Meta(MetaId meta) { return Make(TypeKind::Meta, meta.index, 0, false, true); }

TypeId Types::Dim(const Dimension& dim) {
  if (auto atom = dim.SingleAtom()) return *atom;
  auto [it, fresh] = dim_ids_.try_emplace(dim.Key());
  if (!fresh) return it->second;
  bool has_var = false, has_meta = false;
  uint32_t leaves = 1;
  for (const DimTerm& term : dim.terms())
    for (TypeId atom : term.atoms) {
      has_var |= rows_[atom.index].has_var;
      has_meta |= rows_[atom.index].has_meta;
      ++leaves;
    }
  dims_.push_back(dim);
  rows_.push_back({TypeKind::Dim, has_var, has_meta, static_cast<uint32_t>(dims_.size() - 1), 0, leaves});
  return it->second = TypeId(size() - 1);
}

Dimension Types::DimensionOf(TypeId type) const {
  const Row& row = rows_[type.index];
  return row.kind == TypeKind::Dim ? dims_[row.a] : Dimension::Atom(type);
}

std::optional<int64_t> Types::DimLiteral(TypeId type) const { return DimensionOf(type).Literal(); }

TypeId Types::MapAtoms(TypeId dim, llvm::function_ref<TypeId(TypeId)> of) {
  return Dim(DimensionOf(dim).Substitute([&](TypeId atom) { return DimensionOf(of(atom)); }));
}

TypeId Types::Shape(llvm::ArrayRef<TypeId> dims) {
  TypeId shape = Con(Known(Builtin::ShapeNil));
  for (TypeId dim : llvm::reverse(dims)) shape = ShapeCons(dim, shape);
  return shape;
}

bool Types::IsTensor(TypeId type, TypeId* element, TypeId* shape) const {
  llvm::SmallVector<TypeId> args;
  if (BuiltinOf(type) != Builtin::Tensor) return false;
  Head(type, &args);
  if (args.size() != 2) return false;
  if (element) *element = args[0];
  if (shape) *shape = args[1];
  return true;
}

bool Types::SplitShape(TypeId shape, llvm::SmallVectorImpl<TypeId>& dims, TypeId* rest) const {
  while (BuiltinOf(shape) == Builtin::ShapeCons && Kind(shape) == TypeKind::App && Kind(FnOf(shape)) == TypeKind::App) {
    dims.push_back(ArgOf(FnOf(shape)));
    shape = ArgOf(shape);
  }
  if (rest) *rest = shape;
  return BuiltinOf(shape) == Builtin::ShapeNil;
}

TypeId Types::Fun(TypeId from, TypeId to) { return App(App(Con(Known(Builtin::Function)), from), to); }

TypeId Types::Fun(llvm::ArrayRef<TypeId> from, TypeId to) {
  for (size_t i = from.size(); i-- > 0;) to = Fun(from[i], to);
  return to;
}

TypeId Types::Tuple(llvm::ArrayRef<TypeId> elements) {
  if (elements.empty()) return Scalar(Builtin::Unit);
  if (elements.size() == 1) return elements[0];
  return Con(TupleCon(static_cast<uint32_t>(elements.size())), elements);
}

TypeId Types::List(TypeId element) { return App(Con(Known(Builtin::List)), element); }
TypeId Types::Scalar(Builtin builtin) { return Con(Known(builtin)); }
TyConId Types::Known(Builtin builtin) const { return known_[static_cast<size_t>(builtin)]; }

TyConId Types::TupleCon(uint32_t size) {
  assert(size >= 2);
  if (tuples_.size() <= size) tuples_.resize(size + 1);
  if (!tuples_[size].valid()) {
    TyCon con;
    con.name = Intern("(" + std::string(size - 1, ',') + ")");
    con.arity = size;
    con.builtin = Builtin::Tuple;
    con.tangent = TangentForm::Same;
    tuples_[size] = cons.Add(std::move(con));
  }
  return tuples_[size];
}

TyVarId Types::NewVar(Symbol name, Span span) { return vars.Add({name, span}); }

TypeKind Types::Kind(TypeId type) const { return rows_[type.index].kind; }
TyConId Types::ConOf(TypeId type) const { return TyConId(rows_[type.index].a); }
TyVarId Types::VarOf(TypeId type) const { return TyVarId(rows_[type.index].a); }
MetaId Types::MetaOf(TypeId type) const { return MetaId(rows_[type.index].a); }
TypeId Types::FnOf(TypeId type) const { return TypeId(rows_[type.index].a); }
TypeId Types::ArgOf(TypeId type) const { return TypeId(rows_[type.index].b); }

TyConId Types::Head(TypeId type, llvm::SmallVectorImpl<TypeId>* args) const {
  size_t first = args ? args->size() : 0;
  while (Kind(type) == TypeKind::App) {
    if (args) args->push_back(ArgOf(type));
    type = FnOf(type);
  }
  if (args) std::reverse(args->begin() + first, args->end());
  return Kind(type) == TypeKind::Con ? ConOf(type) : TyConId();
}

bool Types::IsFun(TypeId type, TypeId* from, TypeId* to) const {
  if (Kind(type) != TypeKind::App) return false;
  TypeId fn = FnOf(type);
  if (Kind(fn) != TypeKind::App) return false;
  TypeId head = FnOf(fn);
  if (Kind(head) != TypeKind::Con || cons[ConOf(head)].builtin != Builtin::Function) return false;
  if (from) *from = ArgOf(fn);
  if (to) *to = ArgOf(type);
  return true;
}

bool Types::IsTuple(TypeId type, llvm::SmallVectorImpl<TypeId>* elements) const {
  TyConId head = Head(type);
  if (!head.valid() || cons[head].builtin != Builtin::Tuple) return false;
  if (elements) Head(type, elements);
  return true;
}

Builtin Types::BuiltinOf(TypeId type) const {
  TyConId head = Head(type);
  return head.valid() ? cons[head].builtin : Builtin::None;
}

TypeId Types::SplitFun(TypeId type, llvm::SmallVectorImpl<TypeId>& params, size_t limit) const {
  TypeId from, to;
  while (params.size() < limit && IsFun(type, &from, &to)) {
    params.push_back(from);
    type = to;
  }
  return type;
}

TypeId Types::Substitute(TypeId type, llvm::ArrayRef<TyVarId> from, llvm::ArrayRef<TypeId> to) {
  CheckBudget();
  Row row = rows_[type.index];
  if (!row.has_var && !row.has_bound && !row.has_family) return type;
  if (row.kind == TypeKind::Var) {
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i].index == row.a) return to[i];
    return type;
  }
  if (row.kind == TypeKind::Dim) return MapAtoms(type, [&](TypeId atom) { return Substitute(atom, from, to); });
  if (row.kind == TypeKind::Forall) return MapBody(type, [&](TypeId body) { return Substitute(body, from, to); });
  if (row.kind != TypeKind::App) return type;
  TypeId fn = Substitute(TypeId(row.a), from, to);
  return App(fn, Substitute(TypeId(row.b), from, to));
}

bool Types::IsGround(TypeId type) const {
  const Row& row = rows_[type.index];
  return !row.has_var && !row.has_meta;
}

void Types::FreeVars(TypeId type, llvm::SmallVectorImpl<TyVarId>& out) const {
  const Row& row = rows_[type.index];
  if (!row.has_var) return;
  if (row.kind == TypeKind::Var) {
    for (TyVarId seen : out)
      if (seen.index == row.a) return;
    out.push_back(TyVarId(row.a));
  } else if (row.kind == TypeKind::Dim) {
    for (const DimTerm& term : dims_[row.a].terms())
      for (TypeId atom : term.atoms) FreeVars(atom, out);
  } else if (row.kind == TypeKind::App) {
    FreeVars(TypeId(row.a), out);
    FreeVars(TypeId(row.b), out);
  } else if (row.kind == TypeKind::Forall) {
    FreeVars(TypeId(row.b), out);
  }
}

bool Types::IsSize(TyVarId var, TypeId type) const {
  constexpr uint32_t kMostLeaves = 5000;
  if (SizeOf(type) > kMostLeaves) return false;
  if (Kind(type) == TypeKind::Dim) {
    llvm::SmallVector<TyVarId> vars;
    FreeVars(type, vars);
    return llvm::is_contained(vars, var);
  }
  llvm::SmallVector<TypeId> args;
  const TyConId head = Head(type, &args);
  if (!head.valid()) return false;
  const TyCon& con = cons[head];
  for (size_t i = 0; i < args.size(); ++i) {
    const bool size = con.builtin == Builtin::ShapeCons ? i == 0 : i < con.measures.size() && con.measures[i];
    if (size && Kind(args[i]) == TypeKind::Var && VarOf(args[i]) == var) return true;
    if (IsSize(var, args[i])) return true;
  }
  return false;
}

// Precedence: 0 anything, 1 left of an arrow, 2 argument of an application.
void Types::PrintTo(TypeId type, int precedence, std::string& out) const {
  TypeId from, to;
  if (IsFun(type, &from, &to)) {
    if (precedence > 0) out += '(';
    PrintTo(from, 1, out);
    out += " -> ";
    PrintTo(to, 0, out);
    if (precedence > 0) out += ')';
    return;
  }
  llvm::SmallVector<TypeId> args;
  TyConId head = Head(type, &args);
  if (head.valid() && cons[head].qualifies != UINT32_MAX && args.size() == 2) return PrintForall(type, precedence, out);
  if (head.valid() && cons[head].builtin == Builtin::Tuple && args.size() == cons[head].arity) {
    out += '(';
    for (size_t i = 0; i < args.size(); ++i) {
      if (i) out += ", ";
      PrintTo(args[i], 0, out);
    }
    out += ')';
    return;
  }
  if (head.valid() && cons[head].builtin == Builtin::List && args.size() == 1) {
    if (BuiltinOf(args[0]) == Builtin::Char) {
      out += "String";
      return;
    }
    out += '[';
    PrintTo(args[0], 0, out);
    out += ']';
    return;
  }
  if (PrintShape(type, out)) return;
  if (args.size() == 2 && head.valid() && PrintOperator(cons[head], args, precedence, out)) return;
  switch (Kind(type)) {
    case TypeKind::Con:
      if (cons[ConOf(type)].builtin == Builtin::Function) out += "(->)";
      else out += Text(cons[ConOf(type)].name);
      return;
    case TypeKind::Var: {
      for (const auto& [var, name] : llvm::reverse(printed_))
        if (var == VarOf(type).index) return void(out += Text(name));
      out += Text(vars[VarOf(type)].name);
      return;
    }
    case TypeKind::Forall: return PrintForall(type, precedence, out);
    case TypeKind::Meta: out += fmt::format("t{}", MetaOf(type).index); return;
    case TypeKind::Dim: {
      const Dimension& dim = dims_[rows_[type.index].a];
      const bool parentheses = precedence > 1 && dim.IsCompound();
      if (parentheses) out += '(';
      out += dim.Print([&](TypeId atom) { return BuiltinOf(atom) == Builtin::Unit ? "_" : Print(atom); });
      if (parentheses) out += ')';
      return;
    }
    case TypeKind::App: break;
  }
  if (precedence > 1) out += '(';
  PrintTo(FnOf(type), 1, out);
  out += ' ';
  // A size or a shape that nothing settles.
  const bool size = head.valid() && (cons[head].builtin == Builtin::Tensor ? args.size() == 2
                                                                           : args.size() <= cons[head].measures.size() && cons[head].measures[args.size() - 1]);
  if (size && BuiltinOf(ArgOf(type)) == Builtin::Unit) out += '_';
  else PrintTo(ArgOf(type), 2, out);
  if (precedence > 1) out += ')';
}

// `n + m`, `a ~ b`, `'[a, b]`.
bool Types::PrintOperator(const TyCon& con, llvm::ArrayRef<TypeId> args, int precedence, std::string& out) const {
  const std::string_view name = Text(con.name);
  const auto first = static_cast<unsigned char>(name[0]);
  if (std::isalpha(first) || first == '_' || first == '(' || first == '[' || con.builtin != Builtin::None || first >= 0x80) return false;
  if (precedence > 0) out += '(';
  PrintTo(args[0], 1, out);
  out += ' ';
  if (name == ":") out += '\'';  // a list of types
  out += name;
  out += ' ';
  PrintTo(args[1], 1, out);
  if (precedence > 0) out += ')';
  return true;
}

// [m, n], or (m : s).
bool Types::PrintShape(TypeId type, std::string& out) const {
  llvm::SmallVector<TypeId> dims;
  TypeId rest;
  bool closed = SplitShape(type, dims, &rest);
  if (dims.empty() && !closed) return false;
  out += closed ? '[' : '(';
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += closed ? ", " : " : ";
    if (BuiltinOf(dims[i]) == Builtin::Unit) out += '_';  // nothing settles it
    else PrintTo(dims[i], 0, out);
  }
  if (!closed) {
    out += " : ";
    PrintTo(rest, 0, out);
  }
  out += closed ? ']' : ')';
  return true;
}

std::string Types::Print(TypeId type) const {
  std::string out;
  PrintTo(type, 0, out);
  return out;
}

std::string Types::PrintArgument(TypeId type) const {
  std::string out;
  PrintTo(type, 2, out);
  return out;
}

}  // namespace df
