// Ops on tensors: see ops.h. Shapes are known, so whatever is about shapes alone is a constant.
#include "lower/onnx/ops.h"
#include "tagged_ir/sum_parts.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"

namespace df::to_onnx {
namespace {

std::vector<int64_t> ListOf(llvm::ArrayRef<int64_t> dims) { return {dims.begin(), dims.end()}; }

}  // namespace

Tensor Ops::Reshape(const Tensor& x, llvm::ArrayRef<int64_t> dims) {
  if (llvm::ArrayRef<int64_t>(x.dims) == dims) return x;
  return w_.Node("Reshape", {x, w_.Ints(dims)}, x.element, dims, Attribute{"allowzero", int64_t{1}});
}

Tensor Ops::Transposed(const Tensor& x) { return w_.Node("Transpose", x, x.element, {x.dims[1], x.dims[0]}); }

Tensor Ops::Reduce(ir::Op op, uint32_t attr, const Tensor& x, Element element, llvm::ArrayRef<int64_t> dims) {
  const char* name = op == ir::Op::ReduceSum    ? "ReduceSum"
                     : op == ir::Op::ReduceMean ? "ReduceMean"
                     : op == ir::Op::ReduceMax  ? "ReduceMax"
                                                : "ReduceMin";
  std::vector<int64_t> axes;
  if (attr != ir::kAllAxes) axes.push_back(static_cast<int64_t>(ir::AxisOf(attr, x.dims.size())));
  else
    for (size_t i = 0; i < x.dims.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (axes.empty()) return x;
  return w_.Node(name, {x, w_.Ints(axes)}, element, dims, Attribute{"keepdims", int64_t{0}});
}

Tensor Ops::Product(const Tensor& x, const Tensor& y, llvm::ArrayRef<int64_t> dims) { return w_.Node("MatMul", {x, y}, x.element, dims); }

Checked Ops::Index(const Tensor& index, int64_t last) {
  if (index.known && *index.known >= 0 && *index.known <= last) return {index, {}};
  const Tensor bad = Or(w_, Less(index, w_.Int(0)), Less(w_.Int(last), index));
  Checked out{Where(bad, w_.Int(0), index), bad};
  if (index.dims.empty()) return out;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < index.dims.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  const Tensor count = w_.Node("ReduceSum", {Cast(bad, Element::Int), w_.Ints(axes)}, Element::Int, {}, Attribute{"keepdims", int64_t{0}});
  out.failed = Less(w_.Int(0), count);
  return out;
}

Checked Ops::Indexed(ir::Op op, llvm::ArrayRef<Tensor> in, Element element, llvm::ArrayRef<int64_t> dims) {
  const Tensor& x = in[0];
  const int64_t last = ir::LargestIndex(op, x.dims, dims);
  if (last < 0) {  // there is nothing to be found
    const bool none = ir::ElementCount(in[1].dims) == 0;
    return {w_.Zero(element, dims), none ? Tensor() : w_.Bool(true)};
  }
  Checked at = Index(in[1], last);
  const int64_t count = ir::ElementCount(x.dims);
  switch (op) {
    case ir::Op::Gather: return {w_.Node("Gather", {x, at.value}, element, dims, Attribute{"axis", int64_t{0}}), at.failed};
    case ir::Op::SliceAt: {
      const Tensor from = Reshape(at.value, {1}), to = Same("Add", {from, w_.Ints({dims[0]})});
      return {w_.Node("Slice", {x, from, to, w_.Ints({0})}, element, dims), at.failed};
    }
    case ir::Op::GetElement: return {w_.Node("Gather", {Reshape(x, {count}), at.value}, element, dims, Attribute{"axis", int64_t{0}}), at.failed};
    case ir::Op::SetElement: {
      const Tensor flat = Reshape(x, {count});
      return {Reshape(Same("ScatterElements", {flat, Reshape(at.value, {1}), Reshape(in[2], {1})}, Attribute{"axis", int64_t{0}}), dims), at.failed};
    }
    default: {  // ScatterAdd
      const Tensor rows = Reshape(at.value, {at.value.dims[0], 1});
      return {Same("ScatterND", {x, rows, in[2]}, Attribute{"reduction", "add"}), at.failed};
    }
  }
}

std::optional<Checked> Ops::ApplyTensor(ir::Op op, uint32_t attr, llvm::ArrayRef<Tensor> in, Element element, llvm::ArrayRef<int64_t> dims) {
  switch (op) {
    case ir::Op::Gather:
    case ir::Op::SliceAt:
    case ir::Op::GetElement:
    case ir::Op::SetElement:
    case ir::Op::ScatterAdd: return Indexed(op, in, element, dims);
    default: break;
  }
  std::optional<Tensor> out = ApplyShape(op, attr, in, element, dims);
  if (!out) return std::nullopt;
  return Checked{*out, {}};
}

std::optional<Tensor> Ops::ApplyShape(ir::Op op, uint32_t attr, llvm::ArrayRef<Tensor> in, Element element, llvm::ArrayRef<int64_t> dims) {
  const Tensor& x = in[0];
  const auto axis = static_cast<int64_t>(ir::AxisOf(attr & (ir::kFromEnd - 1), x.dims.size()));
  switch (op) {
    case ir::Op::Where: return Where(x, in[1], in[2]);
    case ir::Op::MatMul: return Product(x, in[1], dims);
    case ir::Op::Gemm: return Product(x, Transposed(in[1]), dims);
    case ir::Op::ReduceSum:
    case ir::Op::ReduceMean:
    case ir::Op::ReduceMax:
    case ir::Op::ReduceMin: return Reduce(op, attr, x, element, dims);
    case ir::Op::ArgMax: return w_.Node("ArgMax", x, Element::Int, dims, {Attribute{"axis", axis}, Attribute{"keepdims", int64_t{0}}});
    case ir::Op::Softmax: return Same("Softmax", x, Attribute{"axis", axis});
    case ir::Op::LogSoftmax: return Same("LogSoftmax", x, Attribute{"axis", axis});
    case ir::Op::LayerNormalization: return Same("LayerNormalization", in, {Attribute{"axis", int64_t{-1}}, Attribute{"epsilon", 1e-5f}});
    case ir::Op::Concat: return w_.Node("Concat", in, element, dims, Attribute{"axis", axis});
    case ir::Op::Slice: {
      const auto at = static_cast<size_t>(axis);
      const int64_t from = attr & ir::kFromEnd ? x.dims[at] - dims[at] : 0;
      return w_.Node("Slice", {x, w_.Ints({from}), w_.Ints({from + dims[at]}), w_.Ints({axis})}, element, dims);
    }
    case ir::Op::Transpose: {
      std::vector<int64_t> order;
      for (uint8_t each : ir::OrderOfAxes(attr, x.dims.size())) order.push_back(each);
      return w_.Node("Transpose", x, element, dims, Attribute{"perm", order});
    }
    case ir::Op::Reshape: return Reshape(x, dims);
    case ir::Op::Expand:
      if (llvm::ArrayRef<int64_t>(x.dims) == dims) return x;
      return w_.Node("Expand", {x, w_.Ints(dims)}, element, dims);
    case ir::Op::OneHot: {
      std::vector<int64_t> numbers, last = ListOf(x.dims);
      for (int64_t i = 0; i < dims.back(); ++i) numbers.push_back(i);
      last.push_back(1);
      return Cast(w_.Node("Equal", {Reshape(x, last), w_.Ints(numbers)}, Element::Bool, dims), element);
    }
    case ir::Op::Iota: {
      const int64_t count = ir::ElementCount(dims);
      const Tensor numbers = w_.Node("Range", {w_.Int(0), w_.Int(count), w_.Int(1)}, Element::Int, {count});
      return Same("Add", {Reshape(numbers, dims), x});
    }
    case ir::Op::Size: return w_.Int(ir::ElementCount(x.dims));
    case ir::Op::Dim: return w_.Int(x.dims[static_cast<size_t>(axis)]);
    case ir::Op::Trilu: {
      const bool upper = attr & 1, without = attr & 2;
      return Same("Trilu", {x, w_.Int(without ? upper ? 1 : -1 : 0)}, Attribute{"upper", int64_t{upper}});
    }
    default: return std::nullopt;
  }
}

// The term in these fields (tensor_rules.h, AccumulateFault).
std::optional<Tensor> Ops::Term(llvm::ArrayRef<Value> fields, const Tensor& wanted, Tensor* failed) {
  llvm::SmallVector<Tensor, 2> held;
  for (const Value& field : fields) {
    if (!field) return std::nullopt;
    *failed = Or(w_, *failed, field->failed);
    if (field->none || !field->tensor.valid()) return std::nullopt;
    held.push_back(field->tensor);
  }
  const Tensor& x = held[0];
  if (held.size() == 1) return Reshape(x, wanted.dims);
  const Tensor& y = held[1];
  if (x.element != Element::Int) {  // a product, or several
    if (x.dims.size() == 1) return Product(Reshape(x, {x.dims[0], 1}), Reshape(y, {1, y.dims[0]}), wanted.dims);
    return Product(Transposed(x), y, wanted.dims);
  }
  const Tensor zero = w_.Zero(wanted.element, wanted.dims);
  const bool one = y.dims.empty();  // an element; else rows
  const Checked found = one ? Indexed(ir::Op::SetElement, {zero, x, y}, wanted.element, wanted.dims)
                            : Indexed(ir::Op::ScatterAdd, {zero, x.dims.empty() ? Reshape(x, {1}) : x,
                                                           x.dims.empty() ? Reshape(y, [&] {
                                                             Dims dims = {1};
                                                             dims.append(y.dims.begin(), y.dims.end());
                                                             return dims;
                                                           }()) : y},
                                      wanted.element, wanted.dims);
  *failed = Or(w_, *failed, found.failed);
  return found.value;
}

Tensor Ops::Sum(const Value& sum, uint32_t weight, const Tensor& wanted, Tensor* failed) {
  if (!sum) return {};
  *failed = Or(w_, *failed, sum->failed);
  if (sum->none) return {};
  Tensor total;
  for (size_t k = 0; k < sum->fields.size(); ++k) {
    if (sum->constructor >= 0 && static_cast<size_t>(sum->constructor) != k) continue;
    llvm::SmallVector<ir::SumPart, 8> parts;
    const std::vector<Value>& fields = sum->fields[k];
    if (fields.empty() || !ir::FindSumParts(types_, sum->type, static_cast<uint32_t>(k), weight, &parts)) continue;
    Tensor here;
    for (const ir::SumPart& part : parts) {
      Tensor each;
      if (!part.term) each = Sum(fields[part.field], part.weight, wanted, failed);
      else if (std::optional<Tensor> term = Term(llvm::ArrayRef(fields).slice(part.field, part.fields), wanted, failed)) each = *term;
      if (each.valid()) here = here.valid() ? Same("Add", {here, each}) : each;
    }
    if (!here.valid()) continue;
    if (sum->constructor < 0) here = w_.Node("Where", {Equal(sum->tensor, w_.Int(static_cast<int64_t>(k))), here, w_.Zero(wanted.element, {})}, wanted.element, wanted.dims);
    total = total.valid() ? Same("Add", {total, here}) : here;
  }
  return total;
}

}  // namespace df::to_onnx
