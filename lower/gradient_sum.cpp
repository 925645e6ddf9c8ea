// Cotangents of matrices, and of tensors of more dimensions: sums that are not computed until their elements are needed. See
// gradient_types.h. What the terms may be, tagged_ir/tensor_rules.h says (AccumulateFault).
#include "lower/gradient_types.h"

namespace df::fg {

// The constructors that each has; the others are made as they are met.
static constexpr uint32_t kZero = 0, kTensor = 1, kSum = 2;

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
  p_.types[id].constructors = {{"zero#", {}}, {"tensor#", {whole}}, {"sum#", {part, part}}};
  return id;
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
    ir::Constructor made{fmt::format("term#{}", rows.size() - kSum), {}};
    for (Value field : fields) made.fields.push_back({Strict(w.TypeOf(field).type), true, ""});
    row = rows.insert(rows.end(), std::move(made));
  }
  return w.Construct(sum, static_cast<uint32_t>(row - rows.begin()), fields);
}

Value GradientTypes::Whole(Writer& w, Value cotangent) {
  ir::TypeId type = w.TypeOf(cotangent).type;
  return IsSum(type) ? w.Shared(ir::Op::Accumulate, cotangent, TensorOf(type)) : cotangent;
}

Value GradientTypes::AsCotangent(Writer& w, ir::TypeId wanted, Value value) {
  if (!IsSum(wanted)) return Whole(w, value);
  return IsSum(w.TypeOf(value).type) ? value : w.Construct(wanted, kTensor, value);
}

Value GradientTypes::AddVectors(Writer& w, Value a, Value b) {
  ir::TypeId type = w.TypeOf(a).type;
  if (type == w.TypeOf(b).type && !IsSum(type)) return w.Op(ir::Op::Add, {a, b}, type);
  ir::TypeId sum = IsSum(type) ? type : w.TypeOf(b).type;
  return w.Construct(sum, kSum, {AsCotangent(w, sum, a), AsCotangent(w, sum, b)});
}

Value GradientTypes::ZeroVector(Writer& w, ir::TypeId type) {
  return IsSum(type) ? w.Construct(type, kZero, {}) : w.Real(type, 0);
}

Value GradientTypes::TangentOfTerm(Writer& w, ir::TypeId sum, uint32_t con, llvm::ArrayRef<Value> fields,
                                   llvm::ArrayRef<std::optional<Value>> tangents) {
  std::optional<Value> total;
  if (con == kSum) {
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
  if (con == kTensor || con == kSum) {
    for (Value field : fields) contribute(field, cotangent);
    return;
  }
  Value whole = Whole(w, cotangent), x = fields[0], y = fields[1];
  ir::TypeId left = w.TypeOf(x).type, right = w.TypeOf(y).type;
  if (!IsReal(left)) return contribute(y, w.Shared(ir::Op::Gather, {whole, x}, right));
  // Of x transposed times y: y times the transposed cotangent, and x times it.
  contribute(y, w.Shared(ir::Op::MatMul, {x, whole}, right));
  if (p_.types[left].dims.size() == 1) return contribute(x, w.Shared(ir::Op::MatMul, {whole, y}, left));
  contribute(x, w.Shared(ir::Op::Gemm, {y, whole}, left));
}

}  // namespace df::fg
