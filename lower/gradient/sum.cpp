// Cotangents of matrices, and of tensors of more dimensions: sums that are not computed until their elements are needed. What the
// terms may be, tagged_ir/tensor_rules.h says (AccumulateFault). And symbolic cotangents, of numbers and tensors behind lazy
// ports. See gradient/types.h.
#include <set>

#include "lower/gradient/rules.h"
#include "lower/gradient/types.h"

namespace df::fg {

// The constructors that each has; the others are made as they are met.
static constexpr uint32_t kZero = 0, kTensor = 1, kSum = 2, kSumOfThree = 3;
// Of symbolic cotangents and of sums: what holds the number or tensor itself.
static constexpr uint32_t kWhole = kTensor;
// Sums of more constructors than these are left to Accumulate, which goes over the result once.
static constexpr uint32_t kFewTerms = 8;

bool GradientTypes::HasSum(ir::TypeId type) const {
  return p_.types.Kind(type) == ir::TypeKind::Tensor && IsReal(type) && p_.types[type].dims.size() >= 2;
}

ir::TypeId GradientTypes::TensorOf(ir::TypeId type) const {
  auto it = tensors_.find(type.index);
  return it == tensors_.end() ? type : it->second;
}

ir::TypeId GradientTypes::SumOf(ir::TypeId tensor) {
  if (auto it = cotangents_.find(tensor.index); it != cotangents_.end()) return it->second;
  ir::TypeId id = NewData("Cotangent " + p_.types[tensor].name);
  cotangents_[tensor.index] = id;
  tensors_[id.index] = tensor;
  ir::FieldType whole{Strict(tensor), true, ""}, part{Strict(id), true, ""};
  p_.types[id].constructors = {{"zero#", {}}, {"tensor#", {whole}}, {"sum#", {part, part}}, {"sum3#", {part, part, part}}};
  return id;
}

ir::TypeId GradientTypes::SymbolicOf(ir::TypeId real) {
  if (auto it = symbolic_.find(real.index); it != symbolic_.end()) return it->second;
  ir::TypeId id = NewData("Cotangent lazy " + p_.types[real].name);
  symbolic_[real.index] = id;
  reals_[id.index] = real;
  p_.types[id].constructors = {{"zero#", {}}, {"value#", {{Strict(real), true, ""}}}};
  return id;
}

FunctionId GradientTypes::SymbolicSumFunction(ir::TypeId cotangent) {
  return Function({Helper::SymbolicSum, cotangent.index, 0}, "add " + p_.types[cotangent].name,
                  {Strict(cotangent), Strict(cotangent)}, cotangent, [&](Writer& w, llvm::ArrayRef<Value> in) {
    return IfUsed(w, in[0], cotangent, [&](bool first) {
      if (!first) return in[1];
      return IfUsed(w, in[1], cotangent, [&](bool second) {
        if (!second) return in[0];
        if (IsSum(cotangent)) return w.Construct(cotangent, kSum, {in[0], in[1]});
        if (auto record = record_of_.find(cotangent.index); record != record_of_.end()) return AddRecords(w, record->second, {in[0], in[1]}, {});
        return w.Construct(cotangent, kWhole, AddVectors(w, w.Field(in[0], kWhole, 0), w.Field(in[1], kWhole, 0)));
      });
    });
  });
}

NodeId GradientTypes::BranchOnUse(Writer& w, llvm::ArrayRef<Value> cotangents, llvm::ArrayRef<PortType> results,
                                  llvm::function_ref<Values(bool)> side) {
  Value cotangent = cotangents[0];
  if (cotangents.size() > 1) {
    PortType boolean{p_.types.Builtin(ir::TypeKind::Bool), false};
    Value any = IsNotZero(w, cotangent);
    for (Value other : cotangents.drop_front())
      any = {w.Branch(any, 2, boolean, [&](uint32_t k) -> Values {
        return {k == 0 ? w.Const({boolean.type, 1, ""}) : IsNotZero(w, other)};
      }), 0};
    return w.Branch(any, 2, results, [&](uint32_t k) { return side(k == 0); });
  }
  if (!IsSymbolic(w.TypeOf(cotangent).type))
    return w.Branch(IsNotZero(w, cotangent), 2, results, [&](uint32_t k) { return side(k == 0); });
  Value chosen = w.Shared(ir::Op::Match, cotangent, p_.types.Builtin(ir::TypeKind::Alt));
  return w.Branch(chosen, 2, results, [&](uint32_t k) { return side(k != 0); });
}

Value GradientTypes::IfUsed(Writer& w, Value cotangent, ir::TypeId result, llvm::function_ref<Value(bool)> side) {
  return {BranchOnUse(w, cotangent, Strict(result), [&](bool used) -> Values { return {side(used)}; }), 0};
}

Value GradientTypes::Term(Writer& w, ir::TypeId sum, llvm::ArrayRef<Value> fields) {
  auto fits = [&](const ir::Constructor& con) {
    if (con.fields.size() != fields.size()) return false;
    for (size_t i = 0; i < fields.size(); ++i)
      if (con.fields[i].type.type != w.TypeOf(fields[i]).type) return false;
    return true;
  };
  std::vector<ir::Constructor>& rows = p_.types[sum].constructors;
  auto row = llvm::find_if(rows, fits);
  if (row == rows.end()) {
    ir::Constructor made{fmt::format("term#{}", rows.size() - kSumOfThree), {}};
    for (Value field : fields) made.fields.push_back({Strict(w.TypeOf(field).type), true, ""});
    row = rows.insert(rows.end(), std::move(made));
  }
  return w.Construct(sum, static_cast<uint32_t>(row - rows.begin()), fields);
}

// What a sum that was made here of few tensors and outer products is, by ordinary ops; none if its terms are not known, or are rows of a table.
// Ops wait for others like them where Accumulate, which has to look into the sum, would compute its terms at once: such is the cotangent
// of a matrix that each activation makes for itself, as those of an RNTN's slices or of attention's keys are.
std::optional<Value> GradientTypes::SumHere(Writer& w, Value sum, uint32_t* terms) {
  const Node& node = w.function().nodes[sum.node];
  if (node.kind != NodeKind::Op || node.op != ir::Op::Construct || ++*terms > kFewTerms) return std::nullopt;
  const uint32_t con = node.attr;
  const Values fields(node.operands.begin(), node.operands.end());
  const ir::TypeId tensor = TensorOf(w.TypeOf(sum).type);
  if (con == kZero) return w.Real(tensor, 0);
  if (con == kTensor) return fields[0];
  if (con == kSum || con == kSumOfThree) {
    std::optional<Value> total;
    for (Value field : fields) {
      std::optional<Value> part = SumHere(w, field, terms);
      if (!part) return std::nullopt;
      total = total ? w.Shared(ir::Op::Add, {*total, *part}, tensor) : *part;
    }
    return total;
  }
  if (fields.size() == 2 && p_.types.Kind(w.TypeOf(fields[0]).type) == ir::TypeKind::Int && p_.types[w.TypeOf(fields[1]).type].dims.empty())
    return w.Shared(ir::Op::SetElement, {w.Real(tensor, 0), fields[0], fields[1]}, tensor);
  if (fields.size() != 2 || !IsReal(w.TypeOf(fields[0]).type)) return std::nullopt;
  // x transposed times y; a vector is a row.
  auto matrix = [&](Value x, bool turned) {
    const ir::Type row = p_.types[w.TypeOf(x).type];
    const llvm::ArrayRef<int64_t> dims = row.dims;
    auto of = [&](int64_t m, int64_t n) { return p_.types.Tensor(row.element, {m, n}); };
    if (dims.size() == 1) return w.Shared(ir::Op::Reshape, x, turned ? of(dims[0], 1) : of(1, dims[0]));
    return turned ? w.Shared(ir::Op::Transpose, x, of(dims[1], dims[0])) : x;
  };
  return w.Shared(ir::Op::MatMul, {matrix(fields[0], true), matrix(fields[1], false)}, tensor);
}

namespace {

// Whether a function computes one of its results by an op, and does not hand on what it was given. What is on the way is taken to be so.
class Computes {
 public:
  explicit Computes(const Program& program) : program_(program) {}
  bool Result(FunctionId function, uint32_t result) {
    if (!seen_.insert({function.index, result}).second) return true;
    const Function& f = program_.functions[function];
    return f.blocks[f.body].again || Yielded(f, f.blocks[f.body].yields[result]);
  }

 private:
  bool Yielded(const Function& f, Value value) {
    const Node& node = f.nodes[value.node];
    switch (node.kind) {
      case NodeKind::Op:
        if (node.op == ir::Op::Seq) return Yielded(f, node.operands[1]);
        return node.op != ir::Op::Field && node.op != ir::Op::Force;
      case NodeKind::Apply: return Result(node.callee, value.result);
      case NodeKind::Branch:
        return llvm::all_of(node.blocks, [&](BlockId block) { return f.blocks[block].again || Yielded(f, f.blocks[block].yields[value.result]); });
      default: return false;
    }
  }

  const Program& program_;
  std::set<std::pair<uint32_t, uint32_t>> seen_;
};

}  // namespace

Value GradientTypes::ForResult(Writer& w, FunctionId function, uint32_t result, Value cotangent) {
  uint32_t terms = 0;
  const ir::TypeId type = w.TypeOf(cotangent).type;
  if (!IsSum(type) || !Computes(w.program()).Result(function, result)) return cotangent;
  std::optional<Value> here = SumHere(w, cotangent, &terms);
  return here ? w.Construct(type, kTensor, *here) : cotangent;
}

Value GradientTypes::Whole(Writer& w, Value cotangent) {
  ir::TypeId type = w.TypeOf(cotangent).type;
  if (IsSum(type)) {
    uint32_t terms = 0;
    if (std::optional<Value> here = SumHere(w, cotangent, &terms)) return *here;
    return w.Shared(ir::Op::Accumulate, cotangent, TensorOf(type));
  }
  if (!IsSymbolic(type)) return cotangent;
  ir::TypeId real = reals_[type.index];
  return IfUsed(w, cotangent, real, [&](bool used) { return used ? w.Field(cotangent, kWhole, 0) : w.Real(real, 0); });
}

Value GradientTypes::AsCotangent(Writer& w, ir::TypeId wanted, Value value) {
  ir::TypeId type = w.TypeOf(value).type;
  if (type == wanted) return value;
  if (!IsSum(wanted) && !IsSymbolic(wanted)) return Whole(w, value);
  if (IsReal(type)) return w.Construct(wanted, kWhole, value);
  return IfUsed(w, value, wanted, [&](bool used) {
    if (!used) return ZeroOf(w, wanted);
    return w.Construct(wanted, kWhole, IsSum(type) ? Whole(w, value) : w.Field(value, kWhole, 0));
  });
}

Value GradientTypes::AddVectors(Writer& w, Value a, Value b) {
  ir::TypeId type = w.TypeOf(a).type;
  if (type == w.TypeOf(b).type && !IsSum(type)) {
    if (std::optional<Value> joined = JoinPadded(w, a, b)) return *joined;
    return w.Op(ir::Op::Add, {a, b}, type);
  }
  ir::TypeId sum = IsSum(type) ? type : w.TypeOf(b).type;
  return w.Construct(sum, kSum, {AsCotangent(w, sum, a), AsCotangent(w, sum, b)});
}

Value GradientTypes::AddSums(Writer& w, Value a, Value b, Value c) {
  ir::TypeId sum = w.TypeOf(a).type;
  return w.Construct(sum, kSumOfThree, {a, AsCotangent(w, sum, b), AsCotangent(w, sum, c)});
}

Value GradientTypes::ZeroVector(Writer& w, ir::TypeId type) {
  return IsSum(type) ? w.Construct(type, kZero, {}) : w.Real(type, 0);
}

Value GradientTypes::TangentOfTerm(Writer& w, ir::TypeId sum, uint32_t con, llvm::ArrayRef<Value> fields,
                                   llvm::ArrayRef<std::optional<Value>> tangents) {
  std::optional<Value> total;
  if (con == kSum || con == kSumOfThree) {
    Values parts;
    for (const std::optional<Value>& tangent : tangents) parts.push_back(tangent ? *tangent : ZeroVector(w, sum));
    return w.Construct(sum, con, parts);
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!tangents[i]) continue;
    Values parts(fields.begin(), fields.end());
    parts[i] = *tangents[i];
    Value term = w.Construct(sum, con, parts);
    total = total ? AddVectors(w, *total, term) : term;
  }
  return total ? *total : ZeroVector(w, sum);
}

void GradientTypes::TransposeTerm(Writer& w, uint32_t con, llvm::ArrayRef<Value> fields, Value cotangent,
                                  llvm::function_ref<void(Value, Value)> contribute) {
  if (con == kZero) return;
  if (con == kTensor || con == kSum || con == kSumOfThree) {
    for (Value field : fields) contribute(field, cotangent);
    return;
  }
  Value whole = Whole(w, cotangent), x = fields[0], y = fields[1];
  ir::TypeId left = w.TypeOf(x).type, right = w.TypeOf(y).type;
  if (!IsReal(left)) return contribute(y, w.Shared(p_.types.Kind(right) == ir::TypeKind::Tensor ? ir::Op::Gather : ir::Op::GetElement, {whole, x}, right));
  // Of x transposed times y: y times the transposed cotangent, and x times it.
  contribute(y, w.Shared(ir::Op::MatMul, {x, whole}, right));
  if (p_.types[left].dims.size() == 1) return contribute(x, w.Shared(ir::Op::MatMul, {whole, y}, left));
  contribute(x, w.Shared(ir::Op::Gemm, {y, whole}, left));
}

}  // namespace df::fg
