// Ops on tensors: see ops.h. What is about shapes alone is a constant, but where a size is open.
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
  // One open size follows from the number of elements.
  std::vector<int64_t> known = ListOf(dims);
  int64_t open = 0;
  for (int64_t& dim : known)
    if (w_.IsOpen(dim)) ++open, dim = -1;
  const bool zero = llvm::is_contained(known, 0);
  return w_.Node("Reshape", {x, open == 1 && !zero ? w_.Ints(known) : w_.ShapeOf(dims)}, x.element, dims, Attribute{"allowzero", int64_t{1}});
}

Tensor Ops::Flat(const Tensor& x) {
  if (!w_.IsOpen(x.dims)) return Reshape(x, {ir::ElementCount(x.dims)});
  if (x.dims.size() == 1) return x;
  return w_.Node("Reshape", {x, w_.Ints({-1})}, x.element, {ir::ElementCount(x.dims)});
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

Tensor Ops::LastIndex(ir::Op op, const Dims& x, llvm::ArrayRef<int64_t> dims) {
  if (!w_.IsOpen(x) && !w_.IsOpen(dims)) return w_.Int(ir::LargestIndex(op, x, dims));
  if (op == ir::Op::SliceAt) return Same("Sub", {w_.SizeOf(x[0]), w_.SizeOf(dims[0])});
  const bool of_all = op == ir::Op::GetElement || op == ir::Op::SetElement;
  return Same("Sub", {of_all ? w_.CountOf(x) : w_.SizeOf(x[0]), w_.Int(1)});
}

Checked Ops::Index(const Tensor& index, const Tensor& last) {
  if (index.known && last.known && *index.known >= 0 && *index.known <= *last.known) return {index, {}};
  const Tensor bad = Or(w_, Less(index, w_.Int(0)), w_.Node("Less", {last, index}, Element::Bool, index.dims));
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
  const Tensor last = LastIndex(op, x.dims, dims);
  if (last.known && *last.known < 0) {  // there is nothing to be found
    const bool none = ir::ElementCount(in[1].dims) == 0;
    return {w_.Zero(element, dims), none ? Tensor() : w_.Bool(true)};
  }
  Checked at = Index(in[1], last);
  switch (op) {
    case ir::Op::Gather: return {w_.Node("Gather", {x, at.value}, element, dims, Attribute{"axis", int64_t{0}}), at.failed};
    case ir::Op::SliceAt: {
      const Tensor from = Reshape(at.value, {1}), to = Same("Add", {from, w_.ShapeOf({dims[0]})});
      return {w_.Node("Slice", {x, from, to, w_.Ints({0})}, element, dims), at.failed};
    }
    case ir::Op::GetElement: return {w_.Node("Gather", {Flat(x), at.value}, element, dims, Attribute{"axis", int64_t{0}}), at.failed};
    case ir::Op::SetElement: {
      const Tensor flat = Flat(x);
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
      if (w_.IsOpen(x.dims[at]) || w_.IsOpen(dims[at])) {
        const Tensor length = w_.ShapeOf({dims[at]}), from = attr & ir::kFromEnd ? Same("Sub", {w_.ShapeOf({x.dims[at]}), length}) : w_.Ints({0});
        return w_.Node("Slice", {x, from, Same("Add", {from, length}), w_.Ints({axis})}, element, dims);
      }
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
      return w_.Node("Expand", {x, w_.ShapeOf(dims)}, element, dims);
    case ir::Op::OneHot: {
      std::vector<int64_t> numbers, last = ListOf(x.dims);
      last.push_back(1);
      if (w_.IsOpen(dims.back())) {
        const Tensor all = w_.Node("Range", {w_.Int(0), w_.SizeOf(dims.back()), w_.Int(1)}, Element::Int, {dims.back()});
        return Cast(w_.Node("Equal", {Reshape(x, last), all}, Element::Bool, dims), element);
      }
      for (int64_t i = 0; i < dims.back(); ++i) numbers.push_back(i);
      return Cast(w_.Node("Equal", {Reshape(x, last), w_.Ints(numbers)}, Element::Bool, dims), element);
    }
    case ir::Op::Iota: {
      const Tensor numbers = w_.Node("Range", {w_.Int(0), w_.CountOf(dims), w_.Int(1)}, Element::Int, {ir::ElementCount(dims)});
      return Same("Add", {Reshape(numbers, dims), x});
    }
    case ir::Op::Size: return w_.CountOf(x.dims);
    case ir::Op::Dim: return w_.SizeOf(x.dims[static_cast<size_t>(axis)]);
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
