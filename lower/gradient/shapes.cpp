// The words of tagged_ir/derivative.def that depend on shapes: the transposes of ops that move, repeat or sum elements.
#include "lower/gradient/rules.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"

namespace df::fg {
namespace {

using ir::Op;
using Dims = llvm::SmallVector<int64_t, 4>;

const ir::Type& RowOf(const Writer& w, Value value) { return w.program().types[w.TypeOf(value).type]; }
// A copy: rows move when types are added.
Dims DimsOf(const Writer& w, Value value) { return Dims(RowOf(w, value).dims.begin(), RowOf(w, value).dims.end()); }

ir::TypeId Tensor(Writer& w, Value like, llvm::ArrayRef<int64_t> dims) {
  return w.program().types.Tensor(ElementOf(w, w.TypeOf(like).type), dims);
}

// The axis that is gone becomes the first, and goes to its place.
Value Spread(Writer& w, Value x, const DerivativeOperands& in) {
  ir::TypeId type = w.TypeOf(in.operands[0]).type;
  uint32_t attr = ReducedAxis(w, in);
  if (attr == ir::kAllAxes) return w.Shared(Op::Expand, x, type);
  Dims dims = DimsOf(w, in.operands[0]);
  size_t axis = ir::AxisOf(attr, dims.size());
  if (axis == 0) return w.Shared(Op::Expand, x, type);
  Dims first = {dims[axis]};
  uint32_t order = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != axis) first.push_back(dims[i]);
    order = order * 8 + static_cast<uint32_t>(i == axis ? 0 : i < axis ? i + 1 : i);
  }
  return w.Shared(Op::Transpose, w.Shared(Op::Expand, x, Tensor(w, x, first)), type, order);
}

// Leading axes become one, which is summed.
Value Collapse(Writer& w, Value x, ir::TypeId to) {
  if (w.TypeOf(x).type == to) return x;
  if (w.program().types.Kind(to) != ir::TypeKind::Tensor) return w.Shared(Op::ReduceSum, x, to, ir::kAllAxes);
  Dims dims(w.program().types[to].dims.begin(), w.program().types[to].dims.end()), have = DimsOf(w, x);
  int64_t repeats = ir::ElementCount(llvm::ArrayRef(have).drop_back(dims.size()));
  dims.insert(dims.begin(), repeats);
  if (dims != have) x = w.Shared(Op::Reshape, x, Tensor(w, x, dims));
  return w.Shared(Op::ReduceSum, x, to, 0);
}

Value Pad(Writer& w, Value x, const DerivativeOperands& in) {
  Dims rest = DimsOf(w, in.operands[0]), have = DimsOf(w, x);
  uint32_t attr = in.attr & (ir::kFromEnd - 1);
  size_t axis = ir::AxisOf(attr, rest.size());
  rest[axis] -= have[axis];
  if (rest[axis] == 0) return x;
  Value zero = w.Real(Tensor(w, x, rest), 0);
  Values parts = {x, zero};
  if (in.attr & ir::kFromEnd) std::swap(parts[0], parts[1]);
  return w.Shared(Op::Concat, parts, in.type, attr);
}

Value Restore(Writer& w, Value x, const DerivativeOperands& in) {
  if (in.attr == 0) return w.Shared(Op::Transpose, x, in.type, 0);
  auto order = ir::OrderOfAxes(in.attr, DimsOf(w, x).size());
  uint32_t inverse = 1;
  for (size_t i = 0; i < order.size(); ++i)
    inverse = inverse * 8 + static_cast<uint32_t>(llvm::find(order, i) - order.begin());
  return w.Shared(Op::Transpose, x, in.type, inverse);
}

// What a Gather or SliceAt took, back at its indices of the first axis, and 0 elsewhere.
Value Scatter(Writer& w, Value x, const DerivativeOperands& in) {
  Value at = in.operands[1];
  Dims rows = DimsOf(w, in.operands[0]), indices = DimsOf(w, at);
  if (w.function().nodes[in.result.node].op == Op::SliceAt) {
    rows[0] = DimsOf(w, x)[0];
    at = w.Shared(Op::Iota, at, w.program().types.Tensor(ir::TypeKind::Int, rows[0]));
  } else if (in.sum && RowOf(w, at).kind != ir::TypeKind::Tensor) {
    return in.types->Term(w, in.types->SumOf(in.type), {at, x});
  } else {  // indices as a vector, and a row for each
    rows[0] = ir::ElementCount(indices);
    ir::TypeId vector = w.program().types.Tensor(ir::TypeKind::Int, rows[0]);
    if (vector != w.TypeOf(at).type) at = w.Shared(RowOf(w, at).kind == ir::TypeKind::Tensor ? Op::Reshape : Op::Expand, at, vector);
    ir::TypeId type = Tensor(w, x, rows);
    if (type != w.TypeOf(x).type) x = w.Shared(Op::Reshape, x, type);
  }
  if (in.sum) return in.types->Term(w, in.types->SumOf(in.type), {at, x});
  return w.Shared(Op::ScatterAdd, {w.Real(in.type, 0), at, x}, in.type);
}

// Of the product of x and y, or y transposed. A vector on the left is a row, on the right a column, and the product of the two is
// a scalar.
Value TransposedProduct(Writer& w, Value d, const DerivativeOperands& in, bool left) {
  Value x = in.operands[0], y = in.operands[1], other = left ? y : x;
  bool row = DimsOf(w, x).size() == 1, column = DimsOf(w, y).size() == 1;
  if (row && column) return w.Shared(Op::StrongMul, {w.Shared(Op::Expand, d, in.type), other}, in.type);
  auto transposed = [&](Value matrix) {
    Dims dims = DimsOf(w, matrix);
    return w.Shared(Op::Transpose, matrix, Tensor(w, matrix, {dims[1], dims[0]}), 0);
  };
  // u transposed times v, for vectors that outer product: a term of a sum, not computed here.
  auto product = [&](Value u, Value v) { return in.types->Term(w, in.types->Cotangent(in.type), {u, v}); };
  if (left) {
    if (row) return w.Shared(Op::MatMul, {y, d}, in.type);  // y times the column d
    if (column) return product(d, y);
    // d times y transposed: at once, unless it is larger than what it is made of, as if x is a weight and y a few columns.
    Dims a = DimsOf(w, x), b = DimsOf(w, y);
    bool larger = a[0] * a[1] > a[0] * b[1] + b[0] * b[1];
    return larger ? product(transposed(d), transposed(y)) : w.Shared(Op::Gemm, {d, y}, in.type);
  }
  if (w.function().nodes[in.result.node].op == Op::Gemm) return product(d, x);
  if (column) return w.Shared(Op::MatMul, {d, x}, in.type);  // the row d times x
  return product(x, d);
}

}  // namespace

ir::TypeKind ElementOf(const Writer& w, ir::TypeId type) {
  const ir::Type& row = w.program().types[type];
  return row.kind == ir::TypeKind::Tensor ? row.element : row.kind;
}

ir::TypeId WithElement(Writer& w, ir::TypeId shape, ir::TypeKind element) {
  ir::TypeTable& types = w.program().types;
  if (types.Kind(shape) != ir::TypeKind::Tensor) return types.Builtin(element);
  Dims dims(types[shape].dims.begin(), types[shape].dims.end());
  return types.Tensor(element, dims);
}

uint32_t ReducedAxis(const Writer& w, const DerivativeOperands& in) {
  return w.function().nodes[in.result.node].op == Op::LayerNormalization ? ir::kLastAxis : in.attr;
}

std::optional<Value> JoinPadded(Writer& w, Value a, Value b) {
  auto node_of = [&](Value value) -> const Node& { return w.function().nodes[value.node]; };
  auto is_op = [&](Value value, Op op) { return node_of(value).kind == NodeKind::Op && node_of(value).op == op; };
  if (!is_op(a, Op::Concat) || !is_op(b, Op::Concat) || node_of(a).attr != node_of(b).attr) return std::nullopt;
  auto is_zero = [&](Value value) {
    if (!is_op(value, Op::Expand)) return false;
    Value number = node_of(value).operands[0];
    if (!is_op(number, Op::Const)) return false;
    return w.program().constants[ir::ConstId(node_of(number).attr)].word == 0;
  };
  if (!is_zero(node_of(a).operands[1])) std::swap(a, b);
  Value x = node_of(a).operands[0], after_x = node_of(a).operands[1], before_y = node_of(b).operands[0], y = node_of(b).operands[1];
  if (!is_zero(after_x) || !is_zero(before_y) || w.TypeOf(x).type != w.TypeOf(before_y).type) return std::nullopt;
  return w.Shared(Op::Concat, {x, y}, w.TypeOf(a).type, node_of(a).attr);
}

int64_t ReducedLength(const Writer& w, const DerivativeOperands& in) {
  Dims dims = DimsOf(w, in.operands[0]);
  uint32_t attr = ReducedAxis(w, in);
  return attr == ir::kAllAxes ? ir::ElementCount(dims) : dims[ir::AxisOf(attr, dims.size())];
}

ir::TypeId ReducedType(Writer& w, Value x, const DerivativeOperands& in) {
  uint32_t attr = ReducedAxis(w, in);
  if (attr == ir::kAllAxes) return w.program().types.Builtin(ElementOf(w, w.TypeOf(x).type));
  Dims dims = DimsOf(w, x);
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(ir::AxisOf(attr, dims.size())));
  return Tensor(w, x, dims);
}

Value WriteShaped(Writer& w, const ir::DerivativeExpr& expr, Value x, const DerivativeOperands& in) {
  using Kind = ir::DerivativeExpr::Kind;
  switch (expr.kind) {
    case Kind::Spread: return Spread(w, x, in);
    case Kind::Collapse: return Collapse(w, x, in.type);
    case Kind::SliceEnd: return w.Shared(Op::Slice, x, in.type, in.attr | ir::kFromEnd);
    case Kind::Pad: return Pad(w, x, in);
    case Kind::Restore: return Restore(w, x, in);
    case Kind::Scatter: return Scatter(w, x, in);
    case Kind::Left: return TransposedProduct(w, x, in, true);
    default: return TransposedProduct(w, x, in, false);
  }
}

}  // namespace df::fg
