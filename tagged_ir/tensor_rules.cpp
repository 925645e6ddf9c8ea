#include "tagged_ir/tensor_rules.h"

#include <set>

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/sum_parts.h"
#include "tagged_ir/tensor_type.h"

namespace df::ir {

ProductSizes SizesOfProduct(Op op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y) {
  return {x.size() == 2 ? static_cast<size_t>(x[0]) : 1, static_cast<size_t>(x.back()),
          y.size() == 2 ? static_cast<size_t>(y[op == Op::Gemm ? 0 : 1]) : 1};
}

size_t AxisOf(uint32_t attr, size_t rank) {
  if (attr == kLastAxis) return rank == 0 ? 0 : rank - 1;
  return std::min<size_t>(attr, rank);
}

int64_t LargestIndex(Op op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> result) {
  switch (FactsOf(op).shape) {
    case Shape::ElementOf:
    case Shape::ElementSet: return ElementCount(x) - 1;
    case Shape::SlicedAt: return x[0] - result[0];
    default: return x[0] - 1;
  }
}

llvm::SmallVector<uint8_t, 8> OrderOfAxes(uint32_t attr, size_t rank) {
  llvm::SmallVector<uint8_t, 8> order;
  if (attr == 0) {
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<uint8_t>(i));
    return order;
  }
  uint32_t seen = 0;
  for (size_t i = 0; i < rank; ++i, attr >>= 3) {
    uint8_t axis = attr & 7;
    if (axis >= rank || (seen >> axis & 1)) return {};
    seen |= 1u << axis;
    order.insert(order.begin(), axis);
  }
  if (attr != 1) return {};
  return order;
}

namespace {

using Dims = llvm::SmallVector<int64_t, 4>;

// One op's types. Each rule returns "" or the fault.
class Rule {
 public:
  Rule(Op op, uint32_t attr, llvm::ArrayRef<const Type*> in, const Type& out) : op_(op), attr_(attr), in_(in), out_(out) {}
  std::string Run();

 private:
  // The shape of a tensor; of a scalar that of none.
  static Dims DimsOf(const Type& type) { return Dims(type.dims.begin(), type.dims.end()); }
  static TypeKind ElementOf(const Type& type) { return type.kind == TypeKind::Tensor ? type.element : type.kind; }
  static bool IsReal(TypeKind kind) { return kind == TypeKind::Float || kind == TypeKind::Double; }
  static bool IsNumber(TypeKind kind) { return IsReal(kind) || kind == TypeKind::Int; }

  // The result has these elements and this shape; a scalar stands for no dimensions if `scalar`.
  std::string Want(TypeKind element, llvm::ArrayRef<int64_t> dims, bool scalar) const {
    bool is_scalar = out_.kind != TypeKind::Tensor, may_be = scalar && dims.empty();
    if (ElementOf(out_) == element && llvm::ArrayRef<int64_t>(out_.dims) == dims && (may_be || !is_scalar)) return "";
    std::string want = may_be ? "a scalar" : "the shape " + ShapeText(dims);
    return fmt::format("the result is a `{}`, want {} with elements of the operand's type", out_.name, want);
  }
  // A scalar, or a tensor without dimensions, as elements of the tensor.
  static bool IsElement(const Type& type, const Type& tensor) { return ElementOf(type) == tensor.element && type.dims.empty(); }
  std::string Elementwise();
  std::string Product();
  std::string TransposedProduct();
  std::string Reduction();
  std::string Concatenation();
  std::string Slices();
  std::string Indexed();
  std::string Scattered();
  std::string Transposed();
  std::string Expanded();
  std::string Hot();
  std::string Normalised();
  std::string Linear();
  std::string Solved(const Type& b, uint32_t attributes);
  std::string Chosen();
  std::string AlongAxis();
  std::string Reshaped();

  Op op_;
  uint32_t attr_;
  llvm::ArrayRef<const Type*> in_;
  const Type& out_;
};

std::string Rule::Elementwise() {
  for (const Type* type : in_)
    if (type->kind != TypeKind::Tensor || type->dims != in_[0]->dims)
      return fmt::format("operands `{}` and `{}`: the shapes differ", in_[0]->name, type->name);
  if (out_.kind != TypeKind::Tensor || out_.dims != in_[0]->dims)
    return fmt::format("the result is a `{}`, and the operand a `{}`", out_.name, in_[0]->name);
  return "";
}

std::string Rule::Product() {
  const Type &x = *in_[0], &y = *in_[1];
  Dims a = DimsOf(x), b = DimsOf(y);
  if (x.element != y.element || !IsNumber(x.element))
    return fmt::format("`{}` and `{}`: want numbers of one type", x.name, y.name);
  if (a.empty() || a.size() > 2 || b.empty() || b.size() > 2 || a.back() != b.front())
    return fmt::format("shapes {} and {}: rows of the first are not as long as columns of the second", ShapeText(a), ShapeText(b));
  Dims want;
  if (a.size() == 2) want.push_back(a[0]);
  if (b.size() == 2) want.push_back(b[1]);
  return Want(x.element, want, a.size() == 1 && b.size() == 1);
}

std::string Rule::TransposedProduct() {
  const Type &x = *in_[0], &y = *in_[1];
  Dims a = DimsOf(x), b = DimsOf(y);
  if (x.element != y.element || !IsNumber(x.element))
    return fmt::format("`{}` and `{}`: want numbers of one type", x.name, y.name);
  if (a.size() != 2 || b.size() != 2 || a[1] != b[1])
    return fmt::format("shapes {} and {}: want two matrices with rows of one length", ShapeText(a), ShapeText(b));
  return Want(x.element, {a[0], b[0]}, false);
}

std::string Rule::Reduction() {
  const Type& x = *in_[0];
  bool arg = op_ == Op::ArgMax, extreme = arg || op_ == Op::ReduceMax || op_ == Op::ReduceMin;
  if (!(IsReal(x.element) || (x.element == TypeKind::Int && op_ != Op::ReduceMean)))
    return fmt::format("a `{}`: its elements have none", x.name);
  TypeKind element = arg ? TypeKind::Int : x.element;
  Dims dims = DimsOf(x);
  if (attr_ == kAllAxes && !arg) {
    if (extreme && ElementCount(dims) == 0) return "of no elements none is the largest or smallest";
    return Want(element, {}, true);
  }
  size_t axis = AxisOf(attr_, dims.size());
  if (axis >= dims.size()) return fmt::format("`{}` has no axis {}", x.name, attr_);
  if (extreme && dims[axis] == 0) return "of no elements none is the largest or smallest";
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  return Want(element, dims, false);
}

std::string Rule::Concatenation() {
  const Type &x = *in_[0], &y = *in_[1];
  Dims dims = DimsOf(x);
  size_t axis = AxisOf(attr_, dims.size());
  if (x.element != y.element || y.dims.size() != dims.size() || axis >= dims.size())
    return fmt::format("`{}` and `{}` cannot stand behind each other", x.name, y.name);
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != axis && dims[i] != y.dims[i])
      return fmt::format("shapes {} and {} differ in axis {}", ShapeText(dims), ShapeText(y.dims), i);
  dims[axis] += y.dims[axis];
  return Want(x.element, dims, false);
}

std::string Rule::Slices() {
  const Type& x = *in_[0];
  Dims dims = DimsOf(x);
  if (op_ == Op::Slice && attr_ >= 2 * kFromEnd) return fmt::format("`{}` is no attribute of a slice", attr_);
  size_t axis = FactsOf(op_).shape == Shape::SlicedAt ? 0 : AxisOf(attr_ & (kFromEnd - 1), dims.size());
  if (axis >= dims.size()) return fmt::format("`{}` has no such axis", x.name);
  if (out_.dims.size() != dims.size() || out_.dims[axis] > dims[axis])
    return fmt::format("the shape {} has no slice of the shape {}", ShapeText(dims), ShapeText(out_.dims));
  dims[axis] = out_.dims[axis];
  return Want(x.element, dims, false);
}

std::string Rule::Indexed() {
  const Type &x = *in_[0], &at = *in_[1];
  if (ElementOf(at) != TypeKind::Int) return fmt::format("indices of type `{}`, want Ints", at.name);
  if (x.dims.empty()) return fmt::format("`{}` has no axis", x.name);
  Dims dims = DimsOf(at);
  dims.append(x.dims.begin() + 1, x.dims.end());
  return Want(x.element, dims, false);
}

std::string Rule::Scattered() {
  const Type &x = *in_[0], &at = *in_[1], &rows = *in_[2];
  if (at.element != TypeKind::Int || at.dims.size() != 1) return fmt::format("indices of type `{}`, want a vector of Ints", at.name);
  if (x.dims.empty() || rows.element != x.element || !IsNumber(x.element) || rows.dims.size() != x.dims.size() ||
      rows.dims[0] != at.dims[0] || !std::equal(rows.dims.begin() + 1, rows.dims.end(), x.dims.begin() + 1))
    return fmt::format("`{}` has no rows like those of `{}`, one for each of {} indices", rows.name, x.name, at.dims[0]);
  return "";
}

std::string Rule::Transposed() {
  const Type& x = *in_[0];
  auto order = OrderOfAxes(attr_, x.dims.size());
  if (order.size() != x.dims.size()) return fmt::format("{} is no order of the axes of `{}`", attr_, x.name);
  Dims dims;
  for (uint8_t axis : order) dims.push_back(x.dims[axis]);
  return Want(x.element, dims, false);
}

std::string Rule::Expanded() {
  const Type& x = *in_[0];
  if (x.kind != TypeKind::Tensor)
    return x.kind == out_.element ? "" : fmt::format("a `{}` does not fill a `{}`", x.name, out_.name);
  llvm::ArrayRef<int64_t> have(x.dims), want(out_.dims);
  if (x.element != out_.element || have.size() > want.size() || want.take_back(have.size()) != have)
    return fmt::format("the shape {} is not the end of the shape {}", ShapeText(have), ShapeText(want));
  return "";
}

std::string Rule::Hot() {
  const Type& at = *in_[0];
  if (ElementOf(at) != TypeKind::Int) return fmt::format("indices of type `{}`, want Ints", at.name);
  if (out_.dims.empty() || !IsNumber(out_.element)) return fmt::format("a `{}` marks nothing", out_.name);
  Dims dims = DimsOf(at);
  dims.push_back(out_.dims.back());
  return Want(out_.element, dims, false);
}

std::string Rule::Normalised() {
  const Type &x = *in_[0], &scale = *in_[1];
  if (!IsReal(x.element) || scale.element != x.element) return fmt::format("`{}` and `{}`: want Float or Double", x.name, scale.name);
  if (x.dims.empty() || scale.dims.size() != 1 || scale.dims[0] != x.dims.back())
    return fmt::format("a scale of the shape {} for rows of the shape {}", ShapeText(scale.dims), ShapeText(x.dims));
  return "";
}

// The x of a x = b, for a b of any shape that begins with the rows of a.
std::string Rule::Solved(const Type& b, uint32_t attributes) {
  if (attr_ >= attributes) return fmt::format("`{}` is no attribute of this op", attr_);
  if (b.element != in_[0]->element || b.dims.empty() || b.dims[0] != in_[0]->dims[0])
    return fmt::format("`{}` has no right side like `{}`", in_[0]->name, b.name);
  return "";
}

std::string Rule::Linear() {
  const Type& a = *in_[0];
  if (!IsReal(a.element) || a.dims.size() != 2) return fmt::format("a `{}`, want a matrix of Floats or Doubles", a.name);
  const int64_t m = a.dims[0], n = a.dims[1];
  auto of = [&](uint32_t attributes, llvm::ArrayRef<int64_t> dims) {
    return attr_ < attributes ? Want(a.element, dims, false) : fmt::format("`{}` is no attribute of this op", attr_);
  };
  switch (op_) {
    case Op::Trilu: return attr_ < 4 ? "" : fmt::format("`{}` is no triangle", attr_);
    case Op::Pinv: return of(1, {n, m});
    case Op::Qr:
    case Op::Svd:
      if (m < n) return fmt::format("a `{}` has more columns than rows", a.name);
      if (op_ == Op::Qr) return of(1, {m + n, n});
      return attr_ == 1 ? of(2, {n}) : of(2, {m + 1 + n, n});
    default: break;
  }
  if (m != n) return fmt::format("a `{}`, want as many rows as columns", a.name);
  if (op_ == Op::LuSolve || op_ == Op::LuDet)
    if (in_[1]->element != a.element || llvm::ArrayRef<int64_t>(in_[1]->dims) != llvm::ArrayRef<int64_t>({n + 1, n}))
      return fmt::format("`{}` are no factors of `{}`", in_[1]->name, a.name);
  switch (op_) {
    case Op::SolveTriangular: return Solved(*in_[1], 8);
    case Op::LuSolve: return Solved(*in_[2], 2);
    case Op::LuDet: return attr_ < 4 ? Want(a.element, {}, true) : fmt::format("`{}` is no attribute of this op", attr_);
    case Op::Lu: return of(1, {n + 1, n});
    case Op::Eigh: return attr_ == 1 ? of(2, {n}) : of(2, {n + 1, n});
    case Op::GapQuotient:
      if (in_[1]->element != a.element || in_[1]->dims.size() != 1 || in_[1]->dims[0] != n)
        return fmt::format("`{}` are no values for `{}`", in_[1]->name, a.name);
      return "";
    default: return "";
  }
}

std::string Rule::Chosen() {
  if (in_[0]->element != TypeKind::Bool) return fmt::format("a `{}` chooses nothing, want Bools", in_[0]->name);
  return Elementwise();
}

std::string Rule::AlongAxis() {
  if (!IsReal(in_[0]->element)) return fmt::format("a `{}`: want Float or Double", in_[0]->name);
  return AxisOf(attr_, in_[0]->dims.size()) < in_[0]->dims.size() ? "" : fmt::format("`{}` has no axis {}", in_[0]->name, attr_);
}

std::string Rule::Reshaped() {
  int64_t have = ElementCount(in_[0]->dims), want = ElementCount(out_.dims);
  if (have != want)
    return fmt::format("the shape {} has {} element{}, and {} has {}", ShapeText(in_[0]->dims), have, have == 1 ? "" : "s",
                       ShapeText(out_.dims), want);
  return in_[0]->element == out_.element ? "" : "a reshape does not change the elements";
}

std::string Rule::Run() {
  const bool tensors = out_.kind == TypeKind::Tensor || llvm::any_of(in_, [](const Type* type) { return type->kind == TypeKind::Tensor; });
  switch (FactsOf(op_).shape) {
    case Shape::NoTensors: return tensors ? "this op does not work on tensors" : "";
    case Shape::Elementwise: return tensors ? Elementwise() : "";
    case Shape::Chosen: return Chosen();
    case Shape::Product: return Product();
    case Shape::ProductTransposed: return TransposedProduct();
    case Shape::Reduced:
    case Shape::IndexOfLargest: return Reduction();
    case Shape::AlongAxis: return AlongAxis();
    case Shape::Normalised: return Normalised();
    case Shape::Joined: return Concatenation();
    case Shape::Sliced:
    case Shape::SlicedAt: return Slices();
    case Shape::Gathered: return Indexed();
    case Shape::Scattered: return Scattered();
    case Shape::Permuted: return Transposed();
    case Shape::Reshaped: return Reshaped();
    case Shape::Repeated: return Expanded();
    case Shape::Marked: return Hot();
    case Shape::Counted: return out_.element == TypeKind::Int ? "" : "the result has no Ints";
    case Shape::DimOf: return AxisOf(attr_, in_[0]->dims.size()) < in_[0]->dims.size() ? "" : "no such axis";
    case Shape::ElementOf: return IsElement(out_, *in_[0]) ? "" : fmt::format("no `{}` is in a `{}`", out_.name, in_[0]->name);
    case Shape::ElementSet: return IsElement(*in_[2], *in_[0]) ? "" : fmt::format("no `{}` is in a `{}`", in_[2]->name, in_[0]->name);
    case Shape::OfMatrices: return Linear();
    case Shape::Random: return IsReal(out_.element) ? "" : "random numbers are Float or Double";
    case Shape::Passed:
    case Shape::Sized:
    case Shape::Shown:
    case Shape::Summed: return "";  // AccumulateFault
  }
  return "";
}

}  // namespace

std::string TensorFault(Op op, uint32_t attr, llvm::ArrayRef<const Type*> operands, const Type& result) {
  return Rule(op, attr, operands, result).Run();
}

namespace {

// Whether these fields are a term of a sum: of a tensor of the result's shape.
bool IsTerm(const TypeTable& types, llvm::ArrayRef<FieldType> fields, const Type& result) {
  if (fields.size() > 2) return false;
  const Type &x = types[fields[0].type.type], &y = types[fields.back().type.type];
  if (fields.size() == 1) return x.kind == TypeKind::Tensor && x.name == result.name;
  llvm::ArrayRef<int64_t> left(x.dims), right(y.dims), whole(result.dims);
  if (x.kind == TypeKind::Int && right.empty() && (y.kind == TypeKind::Tensor ? y.element : y.kind) == result.element) return !whole.empty();
  if (y.kind != TypeKind::Tensor || y.element != result.element) return false;
  if (x.kind == TypeKind::Int || (x.kind == TypeKind::Tensor && x.element == TypeKind::Int)) {
    if (x.kind != TypeKind::Int && (left.size() != 1 || right.empty() || right[0] != left[0])) return false;
    return !whole.empty() && whole.drop_front() == (x.kind == TypeKind::Int ? right : right.drop_front());
  }
  return x.kind == TypeKind::Tensor && x.element == result.element && whole.size() == 2 && left.size() == right.size() &&
         (left.size() == 1 || (left.size() == 2 && left[0] == right[0])) && left.back() == whole[0] && right.back() == whole[1];
}

}  // namespace

std::string AccumulateFault(const TypeTable& types, TypeId sum, const Type& result) {
  constexpr size_t kMostStates = 10000;
  if (result.kind != TypeKind::Tensor || (result.element != TypeKind::Float && result.element != TypeKind::Double))
    return fmt::format("a `{}` is no tensor of real numbers", result.name);
  // What is to be looked at: a sum, or a weight of a record.
  std::vector<std::pair<TypeId, uint32_t>> found = {{sum, 0}};
  std::set<std::pair<TypeId, uint32_t>> seen(found.begin(), found.end());
  for (size_t at = 0; at < found.size(); ++at) {
    auto [type, weight] = found[at];
    for (uint32_t k = 0; k < types[type].constructors.size(); ++k) {
      const Constructor& con = types[type].constructors[k];
      llvm::SmallVector<SumPart, 8> parts;
      bool fits = found.size() <= kMostStates && FindSumParts(types, type, k, weight, &parts);
      fits &= llvm::all_of(con.fields, [](const FieldType& field) { return field.strict && !field.type.lazy; });
      fits &= parts.size() <= 3 || IsSumRecord(types, type);
      for (const SumPart& part : parts) {
        if (!fits) break;
        TypeId held = con.fields[part.field].type.type;
        if (part.term) fits = IsTerm(types, llvm::ArrayRef(con.fields).slice(part.field, part.fields), result);
        else if (held != type && types.Kind(held) != TypeKind::Data) fits = false;
        else if (seen.insert({held, part.weight}).second) found.push_back({held, part.weight});
      }
      if (!fits) return fmt::format("`{}` of `{}` is no term of a `{}`", con.name, types[type].name, result.name);
    }
  }
  return "";
}

}  // namespace df::ir
