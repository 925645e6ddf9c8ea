// See gradient/types.h.
#include "lower/gradient/types.h"

#include "llvm/ADT/DenseSet.h"
#include "tagged_ir/tensor_rules.h"

namespace df::fg {

bool GradientTypes::IsReal(ir::TypeId type) const {
  ir::TypeKind kind = p_.types.Kind(type);
  if (kind == ir::TypeKind::Tensor) kind = p_.types[type].element;
  return kind == ir::TypeKind::Float || kind == ir::TypeKind::Double;
}

// Whether `wanted` holds of the type or of one that can be reached through fields.
static bool Reaches(const ir::TypeTable& types, ir::TypeId type, llvm::function_ref<bool(ir::TypeId)> wanted) {
  llvm::DenseSet<uint32_t> seen = {type.index};
  llvm::SmallVector<ir::TypeId> work = {type};
  while (!work.empty()) {
    ir::TypeId next = work.pop_back_val();
    if (wanted(next)) return true;
    for (const ir::Constructor& con : types[next].constructors)
      for (const ir::FieldType& field : con.fields)
        if (seen.insert(field.type.type.index).second) work.push_back(field.type.type);
  }
  return false;
}

bool GradientTypes::Active(ir::TypeId type) {
  auto known = active_.find(type.index);
  if (known != active_.end()) return known->second;
  return active_[type.index] = Reaches(p_.types, type, [&](ir::TypeId part) { return IsReal(part); });
}

ir::TypeId GradientTypes::NewData(const std::string& name) {
  std::string unique = name;
  while (p_.types.Find(unique).valid()) unique += '\'';
  return p_.types.AddData(unique);
}

std::string GradientTypes::FreshName(const std::string& base) {
  if (names_.empty())
    for (const fg::Function& function : p_.functions) names_[function.name] = 1;
  std::string name = base;
  while (names_.count(name)) name = fmt::format("{}'{}", base, ++names_[base]);
  names_[name] = 1;
  return name;
}

FunctionId GradientTypes::Function(Key key, const std::string& name, llvm::ArrayRef<PortType> params,
                                   ir::TypeId result,
                                   llvm::function_ref<Value(Writer&, llvm::ArrayRef<Value>)> body) {
  if (auto it = functions_.find(key); it != functions_.end()) return it->second;
  fg::Function function;
  function.name = FreshName(name);
  function.delayed = key.helper != Helper::SymbolicSum;  // it may be called by a Delay as well as by an Apply
  function.results = {Strict(result)};
  for (size_t i = 0; i < params.size(); ++i) function.params.push_back({i ? "c" : "x", params[i]});
  FunctionId id = p_.functions.Add(function);
  functions_[key] = id;
  Writer w(p_, function, {});
  w.block = function.body = function.blocks.Add({});
  Values values;
  for (uint32_t i = 0; i < params.size(); ++i) {
    Node node;
    node.kind = NodeKind::Param;
    node.attr = i;
    node.results = {params[i]};
    values.push_back({w.Add(std::move(node)), 0});
  }
  Value yield = body(w, values);
  function.blocks[function.body].yields = {yield};
  p_.functions[id] = std::move(function);
  return id;
}

Value GradientTypes::Call(Writer& w, PortType wanted, FunctionId callee, llvm::ArrayRef<Value> operands) {
  if (wanted.lazy) return w.Delay(callee, operands, "a part of a gradient may not be needed");
  return {w.Apply(callee, operands), 0};
}

// ---------------------------------------------------------------- cotangents

ir::TypeId GradientTypes::Cotangent(ir::TypeId type) {
  if (HasSum(type)) return SumOf(type);
  if (p_.types.Kind(type) != ir::TypeKind::Data || IsSum(type)) return type;
  if (auto it = cotangents_.find(type.index); it != cotangents_.end()) return it->second;
  ir::TypeId id = NewData("Cotangent " + p_.types[type].name);
  cotangents_[type.index] = id;
  // The cotangent of a cotangent has two zeros.
  std::string zero = "zero#";
  while (llvm::any_of(p_.types[type].constructors, [&](const ir::Constructor& con) { return con.name == zero; })) zero += '#';
  std::vector<ir::Constructor> rows = {{zero, {}}};
  if (IsRecord(type)) {
    record_of_[id.index] = type;
    rows = RowsOfRecord(type);
    p_.types[id].constructors = std::move(rows);
    return id;
  }
  for (uint32_t c = 0; c < p_.types[type].constructors.size(); ++c) {
    ir::Constructor row{p_.types[type].constructors[c].name, {}};
    for (uint32_t i = 0; i < p_.types[type].constructors[c].fields.size(); ++i)
      if (Active(p_.types[type].constructors[c].fields[i].type.type)) row.fields.push_back({Strict(FieldCotangent(type, c, i)), true, ""});
    rows.push_back(std::move(row));
  }
  p_.types[id].constructors = std::move(rows);
  return id;
}

ir::TypeId GradientTypes::Cotangent(PortType port) {
  return port.lazy && IsReal(port.type) && !HasSum(port.type) ? SymbolicOf(port.type) : Cotangent(port.type);
}

bool GradientTypes::FieldHasSum(ir::TypeId data, uint32_t con, uint32_t field) {
  ir::TypeId type = p_.types[data].constructors[con].fields[field].type.type;
  if (HasSum(type) || element_fields.count({data.index, con, field})) return true;
  return p_.types.Kind(type) == ir::TypeKind::Tensor && p_.types[type].dims.size() == 1 && IsReal(type) && HoldsSums(data);
}

ir::TypeId GradientTypes::FieldCotangent(ir::TypeId data, uint32_t con, uint32_t field) {
  PortType port = p_.types[data].constructors[con].fields[field].type;
  return FieldHasSum(data, con, field) ? SumOf(port.type) : Cotangent(port);
}

bool GradientTypes::HoldsSums(ir::TypeId data) {
  auto [it, fresh] = holds_sum_.try_emplace(data.index);
  if (fresh) it->second = Reaches(p_.types, data, [&](ir::TypeId part) { return HasSum(part) || IsSum(part); });
  return it->second;
}

llvm::SmallVector<int, 4> GradientTypes::ActiveFields(ir::TypeId type, uint32_t con) {
  llvm::SmallVector<int, 4> numbers;
  int next = 0;
  for (const ir::FieldType& field : p_.types[type].constructors[con].fields)
    numbers.push_back(Active(field.type.type) ? next++ : -1);
  return numbers;
}

Value GradientTypes::ZeroOf(Writer& w, ir::TypeId cotangent) {
  return IsReal(cotangent) ? w.Real(cotangent, 0) : w.Construct(cotangent, 0, {});
}

Value GradientTypes::Sum(Writer& w, PortType port, Value a, Value b) {
  ir::TypeId left = w.TypeOf(a).type, right = w.TypeOf(b).type;
  if (IsRecord(port.type) && !port.lazy) return AddRecords(w, port.type, {a, b}, {});
  if (!IsVector(port.type)) {
    if (IsRecord(port.type)) return {w.Apply(SymbolicSumFunction(Cotangent(port.type)), {a, b}), 0};
    if (auto fields = WrittenFields(w, b)) return AddFields(w, port, a, w.function().nodes[b.node].attr - 1, *fields);
    return {w.Apply(SumFunction(port.type), {a, b}), 0};
  }
  // What is not known to be used stays symbolic, so that zero plus zero is zero.
  if (left == right && (IsSymbolic(left) || (port.lazy && IsSum(left) && !IsWritten(w, a) && !IsWritten(w, b)))) return {w.Apply(SymbolicSumFunction(left), {a, b}), 0};
  if (IsSymbolic(left) && IsSum(right)) return Sum(w, port, AsCotangent(w, right, a), b);
  if (IsSymbolic(right) && IsSum(left)) return Sum(w, port, a, AsCotangent(w, left, b));
  if (IsSymbolic(left) && IsReal(right))
    return IfUsed(w, a, right, [&](bool used) { return used ? AddVectors(w, w.Field(a, 1, 0), b) : b; });
  if (IsSymbolic(right) && IsReal(left))
    return IfUsed(w, b, left, [&](bool used) { return used ? AddVectors(w, a, w.Field(b, 1, 0)) : a; });
  return AddVectors(w, a, b);
}

Value GradientTypes::Sum(Writer& w, PortType port, Value a, Value b, Value c) {
  if (IsRecord(port.type)) return port.lazy ? Sum(w, port, Sum(w, port, a, b), c) : AddRecords(w, port.type, {a, b, c}, {});
  if (!IsVector(port.type)) return {w.Apply(SumOfThreeFunction(port.type), {a, b, c}), 0};
  if (IsSum(w.TypeOf(a).type) && !port.lazy) return AddSums(w, a, b, c);
  return Sum(w, port, Sum(w, port, a, b), c);
}

Value GradientTypes::IsNotZero(Writer& w, Value cotangent) {
  ir::TypeId boolean = p_.types.Builtin(ir::TypeKind::Bool), integer = p_.types.Builtin(ir::TypeKind::Int);
  if (IsReal(w.TypeOf(cotangent).type)) return w.Const({boolean, 1, ""});
  Value chosen = w.Op(ir::Op::Match, cotangent, p_.types.Builtin(ir::TypeKind::Alt));
  Value number = w.Op(ir::Op::AltToInt, chosen, integer);
  return w.Op(ir::Op::Ne, {number, w.Const({integer, 0, ""})}, boolean);
}

bool GradientTypes::IsWritten(const Writer& w, Value sum) {
  const Node& node = w.function().nodes[sum.node];
  return node.kind == NodeKind::Op && node.op == ir::Op::Construct && node.attr != 0;
}

static constexpr const char* kOtherShapes = "cotangents of one value have different shapes";
// Fields of a constructor of which a number of 32 bits says which are given.
static constexpr uint32_t kMostFields = 24;

FunctionId GradientTypes::SumFunction(ir::TypeId type) {
  PortType cotangent = Strict(Cotangent(type));
  return Function({Helper::Sum, type.index, 0}, "add " + p_.types[cotangent.type].name, {cotangent, cotangent},
                  cotangent.type, [&](Writer& w, llvm::ArrayRef<Value> in) {
    return w.Match(in[0], cotangent, [&](uint32_t k) -> Value {
      if (k == 0) return in[1];
      return w.Match(in[1], cotangent, [&](uint32_t j) -> Value {
        if (j == 0) return in[0];
        if (j != k) return w.Fail(kOtherShapes, cotangent.type);
        Values fields;
        uint32_t next = 0;
        for (uint32_t i = 0; i < p_.types[type].constructors[k - 1].fields.size(); ++i) {
          PortType field = p_.types[type].constructors[k - 1].fields[i].type;
          if (!Active(field.type)) continue;
          Value a = w.Field(in[0], k, next), b = w.Field(in[1], k, next);
          fields.push_back(Sum(w, field, a, b));
          ++next;
        }
        return w.Construct(cotangent.type, k, fields);
      });
    });
  });
}

FunctionId GradientTypes::SumOfThreeFunction(ir::TypeId type) {
  PortType cotangent = Strict(Cotangent(type));
  return Function({Helper::SumOfThree, type.index, 0}, "add three " + p_.types[cotangent.type].name, {cotangent, cotangent, cotangent},
                  cotangent.type, [&](Writer& w, llvm::ArrayRef<Value> in) {
    return w.Match(in[0], cotangent, [&](uint32_t k) -> Value {
      if (k == 0) return Sum(w, Strict(type), in[1], in[2]);
      return w.Match(in[1], cotangent, [&](uint32_t j) -> Value {
        if (j == 0) return Sum(w, Strict(type), in[0], in[2]);
        if (j != k) return w.Fail(kOtherShapes, cotangent.type);
        return w.Match(in[2], cotangent, [&](uint32_t l) -> Value {
          if (l == 0) return Sum(w, Strict(type), in[0], in[1]);
          if (l != k) return w.Fail(kOtherShapes, cotangent.type);
          Values fields;
          for (const ir::FieldType& field : std::vector<ir::FieldType>(p_.types[type].constructors[k - 1].fields)) {
            if (!Active(field.type.type)) continue;
            auto i = static_cast<uint32_t>(fields.size());
            fields.push_back(Sum(w, field.type, w.Field(in[0], k, i), w.Field(in[1], k, i), w.Field(in[2], k, i)));
          }
          return w.Construct(cotangent.type, k, fields);
        });
      });
    });
  });
}

// The sum of a cotangent, or of two, and one of constructor `con`, of which fields are given that are not zero: bit i of `given` says whether field i is. It
// need not be built, and what it does not have is not added.
FunctionId GradientTypes::SumOfFieldsFunction(ir::TypeId type, bool two, uint32_t con, uint32_t given) {
  ir::TypeId whole = Cotangent(type);
  llvm::SmallVector<PortType, 4> params(two ? 2 : 1, Strict(whole));
  llvm::ArrayRef<ir::FieldType> rows = p_.types[whole].constructors[con + 1].fields;
  for (uint32_t i = 0; i < rows.size(); ++i)
    if (given >> i & 1) params.push_back(rows[i].type);
  Key key{two ? Helper::SumOfTwoAndFields : Helper::SumOfFields, type.index, con << kMostFields | given};
  std::string name = fmt::format("add {}fields {}", two ? "two and " : "", p_.types[whole].name);
  return Function(key, name, params, whole, [&](Writer& w, llvm::ArrayRef<Value> in) {
    const ptrdiff_t first = two ? 2 : 1;
    auto construct = [&](llvm::function_ref<Value(PortType, uint32_t, const Value*)> field_of) {
      Values fields;
      const Value* next = in.begin() + first;
      for (const ir::FieldType& field : std::vector<ir::FieldType>(p_.types[type].constructors[con].fields)) {
        if (!Active(field.type.type)) continue;
        auto i = static_cast<uint32_t>(fields.size());
        bool is_given = given >> i & 1;
        fields.push_back(field_of(field.type, i, is_given ? next : nullptr));
        next += is_given;
      }
      return w.Construct(whole, con + 1, fields);
    };
    return w.Match(in[0], Strict(whole), [&](uint32_t k) -> Value {
      if (k != 0 && k != con + 1) return w.Fail(kOtherShapes, whole);
      if (!two && k == 0)
        return construct([&](PortType, uint32_t i, const Value* part) {
          return part ? *part : ZeroOf(w, p_.types[whole].constructors[con + 1].fields[i].type.type);
        });
      if (!two)
        return construct([&](PortType port, uint32_t i, const Value* part) {
          Value before = w.Field(in[0], k, i);
          return part ? Sum(w, port, before, *part) : before;
        });
      // One of the two, and the fields.
      auto add_to = [&](Value other) -> Value {
        Values operands = {other};
        operands.append(in.begin() + first, in.end());
        return {w.Apply(SumOfFieldsFunction(type, false, con, given), operands), 0};
      };
      if (k == 0) return add_to(in[1]);
      return w.Match(in[1], Strict(whole), [&](uint32_t j) -> Value {
        if (j == 0) return add_to(in[0]);
        if (j != k) return w.Fail(kOtherShapes, whole);
        return construct([&](PortType port, uint32_t i, const Value* part) {
          Value a = w.Field(in[0], k, i), b = w.Field(in[1], k, i);
          return part ? Sum(w, port, a, b, *part) : Sum(w, port, a, b);
        });
      });
    });
  });
}

static bool HasFieldsFunction(uint32_t con, size_t fields) { return fields <= kMostFields && con < 1u << (32 - kMostFields); }

Value GradientTypes::AddFields(Writer& w, PortType port, llvm::ArrayRef<Value> cotangents, uint32_t con, llvm::ArrayRef<std::optional<Value>> fields) {
  if (IsRecord(port.type)) {
    if (!port.lazy) return AddRecords(w, port.type, cotangents, fields);
    Value total = AddRecords(w, port.type, {}, fields);
    for (Value cotangent : llvm::reverse(cotangents)) total = Sum(w, port, cotangent, total);
    return total;
  }
  if (!HasFieldsFunction(con, fields.size())) {
    Value whole = OfFields(w, port.type, con, fields);
    return cotangents.size() == 1 ? Sum(w, port, cotangents[0], whole) : Sum(w, port, cotangents[0], cotangents[1], whole);
  }
  llvm::ArrayRef<ir::FieldType> rows = p_.types[Cotangent(port.type)].constructors[con + 1].fields;
  llvm::SmallVector<ir::TypeId, 8> wanted;
  for (const ir::FieldType& row : rows) wanted.push_back(row.type.type);
  Values operands(cotangents.begin(), cotangents.end());
  uint32_t given = 0;
  for (uint32_t i = 0; i < fields.size(); ++i) {
    if (!fields[i]) continue;
    given |= 1u << i;
    operands.push_back(AsCotangent(w, wanted[i], *fields[i]));
  }
  return {w.Apply(SumOfFieldsFunction(port.type, cotangents.size() == 2, con, given), operands), 0};
}

std::optional<llvm::SmallVector<std::optional<Value>, 4>> GradientTypes::WrittenFields(const Writer& w, Value cotangent) const {
  auto construct = [&](Value value) -> const Node* {
    const Node& node = w.function().nodes[value.node];
    return node.kind == NodeKind::Op && node.op == ir::Op::Construct ? &node : nullptr;
  };
  const Node* node = construct(cotangent);
  if (!node || node->attr == 0 || !HasFieldsFunction(node->attr - 1, node->operands.size())) return std::nullopt;
  llvm::SmallVector<std::optional<Value>, 4> fields;
  for (Value operand : node->operands) {
    const Node* field = construct(operand);
    fields.push_back(field && field->operands.empty() ? std::nullopt : std::optional(operand));
  }
  return fields;
}

Value GradientTypes::OfFields(Writer& w, ir::TypeId type, uint32_t con, llvm::ArrayRef<std::optional<Value>> fields) {
  if (IsRecord(type)) return AddRecords(w, type, {}, fields);
  Values operands;
  for (const std::optional<Value>& field : fields) {
    ir::TypeId wanted = p_.types[Cotangent(type)].constructors[con + 1].fields[operands.size()].type.type;
    operands.push_back(AsCotangent(w, wanted, field ? *field : ZeroOf(w, wanted)));
  }
  return w.Construct(Cotangent(type), con + 1, operands);
}

// ---------------------------------------------------------------- tangents that programs see

Value GradientTypes::Materialise(Writer& w, PortType wanted, Value primal, std::optional<Value> cotangent) {
  ir::TypeId type = w.TypeOf(primal).type;
  if (p_.types.Kind(wanted.type) == ir::TypeKind::Unit) return w.Unit();
  if (IsReal(wanted.type)) return cotangent ? Whole(w, *cotangent) : w.Real(wanted.type, 0);
  Values operands = {primal};
  if (cotangent) operands.push_back(*cotangent);
  return Call(w, wanted, MaterialiseFunction(type, wanted.type, !cotangent), operands);
}

// x and its cotangent; without one, x alone. Constructors of type and tangent have the same numbers.
FunctionId GradientTypes::MaterialiseFunction(ir::TypeId type, ir::TypeId tangent, bool zero) {
  llvm::SmallVector<PortType, 2> params = {Lazy(type)};
  if (!zero) params.push_back(Strict(Cotangent(type)));
  Key key{zero ? Helper::MaterialiseZero : Helper::Materialise, type.index, tangent.index};
  std::string name = fmt::format("{} {}", zero ? "zero" : "tangent", p_.types[type].name);
  return Function(key, name, params, tangent, [&](Writer& w, llvm::ArrayRef<Value> in) {
    auto construct = [&](uint32_t con, Value primal, std::optional<Value> cotangent) {
      Values fields;
      llvm::SmallVector<int, 4> active = ActiveFields(type, con);
      for (uint32_t i = 0; i < active.size(); ++i) {
        PortType wanted = p_.types[tangent].constructors[con].fields[i].type;
        std::optional<Value> part;
        if (cotangent && active[i] >= 0 && p_.types.Kind(wanted.type) != ir::TypeKind::Unit) {
          auto field = static_cast<uint32_t>(active[i]);
          part = IsRecord(type) ? FieldOfRecord(w, type, *cotangent, field) : w.Field(*cotangent, con + 1, field);
        }
        bool shape = p_.types.Kind(wanted.type) == ir::TypeKind::Data;
        fields.push_back(Materialise(w, wanted, shape ? w.Field(primal, con, i) : primal, part));
      }
      return w.Construct(tangent, con, fields);
    };
    if (zero) {
      Value primal = w.Forced(in[0]);
      return w.Match(primal, Strict(tangent), [&](uint32_t k) { return construct(k, primal, std::nullopt); });
    }
    if (IsRecord(type))
      return IfUsed(w, in[1], tangent, [&](bool used) -> Value {
        if (!used) return {w.Apply(MaterialiseFunction(type, tangent, true), in[0]), 0};
        return construct(0, w.Forced(in[0]), in[1]);
      });
    return w.Match(in[1], Strict(tangent), [&](uint32_t k) -> Value {
      if (k == 0) return {w.Apply(MaterialiseFunction(type, tangent, true), in[0]), 0};
      return construct(k - 1, w.Forced(in[0]), in[1]);
    });
  });
}

std::optional<Value> GradientTypes::Embed(Writer& w, PortType port, Value tangent) {
  if (!Active(port.type)) return std::nullopt;
  ir::TypeId from = w.TypeOf(tangent).type, to = Cotangent(port);
  if (p_.types.Kind(from) == ir::TypeKind::Unit) return ZeroOf(w, to);
  Value given = w.Forced(tangent);
  if (!IsReal(port.type)) return Value{w.Apply(EmbedFunction(port.type, from), given), 0};
  if (!port.lazy) return AsCotangent(w, to, given);
  // Perhaps nobody has looked at the value: a zero is no reason to do it now.
  Value size = given;
  ir::TypeId number = from;
  if (p_.types.Kind(from) == ir::TypeKind::Tensor) {
    number = p_.types.Builtin(p_.types[from].element);
    size = w.Op(ir::Op::ReduceSum, w.Op(ir::Op::Abs, given, from), number, ir::kAllAxes);
  }
  Value used = w.Op(ir::Op::Ne, {size, w.Real(number, 0)}, p_.types.Builtin(ir::TypeKind::Bool));
  return Value{w.Branch(used, 2, Strict(to), [&](uint32_t side) -> Values {
    return {side == 0 ? AsCotangent(w, to, given) : ZeroOf(w, to)};
  }), 0};
}

FunctionId GradientTypes::EmbedFunction(ir::TypeId type, ir::TypeId tangent) {
  ir::TypeId to = Cotangent(type);
  return Function({Helper::Embed, type.index, tangent.index}, "cotangent " + p_.types[type].name, Strict(tangent), to,
                  [&](Writer& w, llvm::ArrayRef<Value> in) {
    return w.Match(in[0], Strict(to), [&](uint32_t k) {
      Values fields;
      for (uint32_t i = 0; i < p_.types[type].constructors[k].fields.size(); ++i) {
        PortType field = p_.types[type].constructors[k].fields[i].type;
        if (!Active(field.type)) continue;
        ir::TypeId wanted = p_.types[to].constructors[k + 1].fields[fields.size()].type.type;
        fields.push_back(AsCotangent(w, wanted, *Embed(w, field, w.Field(in[0], k, i))));
      }
      return w.Construct(to, k + 1, fields);
    });
  });
}

// ---------------------------------------------------------------- duals

ir::TypeId GradientTypes::Dual(ir::TypeId type) {
  if (!Active(type)) return type;
  if (auto it = duals_.find(type.index); it != duals_.end()) return it->second;
  ir::TypeId id = NewData("Dual " + p_.types[type].name);
  duals_[type.index] = id;
  std::vector<ir::Constructor> rows;
  if (IsVector(type)) {
    rows = {{"dual#", {{Strict(type), true, ""}, {Strict(type), true, ""}}}};
  } else {
    for (uint32_t c = 0; c < p_.types[type].constructors.size(); ++c) {
      ir::Constructor row{p_.types[type].constructors[c].name, {}};
      for (size_t i = 0; i < p_.types[type].constructors[c].fields.size(); ++i) {
        ir::FieldType field = p_.types[type].constructors[c].fields[i];
        row.fields.push_back({Dual(field.type), field.strict, field.name});
      }
      rows.push_back(std::move(row));
    }
  }
  p_.types[id].constructors = std::move(rows);
  return id;
}

// x and dx, of types that fit, as a dual. A tangent of type unit is zero.
Value GradientTypes::Join(Writer& w, PortType wanted, Value primal, Value tangent) {
  ir::TypeId type = w.TypeOf(primal).type;
  if (!Active(type)) return wanted.lazy ? primal : w.Forced(primal);
  return Call(w, wanted, JoinFunction(type, w.TypeOf(tangent).type), {primal, tangent});
}

FunctionId GradientTypes::JoinFunction(ir::TypeId type, ir::TypeId tangent) {
  ir::TypeId to = Dual(type);
  bool constant = p_.types.Kind(tangent) == ir::TypeKind::Unit;
  return Function({Helper::Join, type.index, tangent.index}, "dual " + p_.types[type].name,
                  {Lazy(type), Lazy(tangent)}, to, [&](Writer& w, llvm::ArrayRef<Value> in) {
    Value primal = w.Forced(in[0]);
    if (IsVector(type))
      return w.Construct(to, 0, {primal, constant ? ZeroVector(w, type) : w.Forced(in[1])});
    return w.Match(primal, Strict(to), [&](uint32_t k) -> Value {
      auto join = [&](Value part) {
        Values fields;
        for (uint32_t i = 0; i < p_.types[type].constructors[k].fields.size(); ++i)
          fields.push_back(Join(w, p_.types[to].constructors[k].fields[i].type, w.Field(primal, k, i),
                                constant ? w.Unit() : w.Field(part, k, i)));
        return w.Construct(to, k, fields);
      };
      if (constant) return join(primal);
      Value given = w.Forced(in[1]);
      return w.Match(given, Strict(to), [&](uint32_t j) -> Value {
        if (j != k) return w.Fail("the tangent has not the shape of the value", to);
        return join(given);
      });
    });
  });
}

Value GradientTypes::Primal(Writer& w, PortType wanted, Value dual) {
  if (!Active(wanted.type)) return wanted.lazy ? dual : w.Forced(dual);
  return Call(w, wanted, PrimalFunction(wanted.type), dual);
}

FunctionId GradientTypes::PrimalFunction(ir::TypeId type) {
  ir::TypeId from = Dual(type);
  return Function({Helper::Primal, type.index, 0}, "primal " + p_.types[type].name, Lazy(from), type,
                  [&](Writer& w, llvm::ArrayRef<Value> in) {
    Value dual = w.Forced(in[0]);
    if (IsVector(type)) return w.Field(dual, 0, 0);
    return w.Match(dual, Strict(type), [&](uint32_t k) {
      Values fields;
      for (uint32_t i = 0; i < p_.types[type].constructors[k].fields.size(); ++i)
        fields.push_back(Primal(w, p_.types[type].constructors[k].fields[i].type, w.Field(dual, k, i)));
      return w.Construct(type, k, fields);
    });
  });
}

Value GradientTypes::TangentOf(Writer& w, PortType wanted, ir::TypeId type, Value dual) {
  if (p_.types.Kind(wanted.type) == ir::TypeKind::Unit) return w.Unit();
  if (!Active(type)) return Call(w, wanted, MaterialiseFunction(type, wanted.type, true), dual);
  return Call(w, wanted, TangentFunction(type, wanted.type), dual);
}

FunctionId GradientTypes::TangentFunction(ir::TypeId type, ir::TypeId tangent) {
  ir::TypeId from = Dual(type);
  return Function({Helper::Tangent, type.index, tangent.index}, "tangent of " + p_.types[from].name, Lazy(from), tangent,
                  [&](Writer& w, llvm::ArrayRef<Value> in) {
    Value dual = w.Forced(in[0]);
    if (IsVector(type)) return w.Field(dual, 0, 1);
    return w.Match(dual, Strict(tangent), [&](uint32_t k) {
      Values fields;
      for (uint32_t i = 0; i < p_.types[type].constructors[k].fields.size(); ++i)
        fields.push_back(TangentOf(w, p_.types[tangent].constructors[k].fields[i].type,
                                   p_.types[type].constructors[k].fields[i].type.type, w.Field(dual, k, i)));
      return w.Construct(tangent, k, fields);
    });
  });
}

}  // namespace df::fg
