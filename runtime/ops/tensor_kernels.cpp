#include "runtime/ops/tensor_kernels.h"

#include "backends/cpu/elementwise.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/product.h"
#include "backends/cpu/random.h"
#include "backends/cpu/reduce.h"
#include "fmt/format.h"
#include "runtime/base/by_element.h"
#include "runtime/base/interruptible_loops.h"
#include "runtime/ops/accumulate.h"
#include "runtime/ops/linear_kernels.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/tensor_rules.h"

namespace df {
namespace {

using ir::Op;
using ir::TypeKind;
using Dims = llvm::ArrayRef<int64_t>;

cpu::AxisView ViewOf(Dims dims, uint32_t attr) {
  size_t axis = ir::AxisOf(attr, dims.size());
  cpu::AxisView view;
  for (size_t i = 0; i < axis; ++i) view.outer *= static_cast<size_t>(dims[i]);
  view.length = static_cast<size_t>(dims[axis]);
  for (size_t i = axis + 1; i < dims.size(); ++i) view.inner *= static_cast<size_t>(dims[i]);
  return view;
}

// One firing.
class TensorFiring {
 public:
  TensorFiring(Op op, const KernelTypes& types, uint32_t attr, llvm::ArrayRef<Value> in, KernelError* error, bool* failed)
      : op_(op), types_(types), attr_(attr), in_(in), error_(error), failed_(failed) {}
  Value Run();

 private:
  Value Fail(ErrorCode code, std::string message) {
    *error_ = {code, std::move(message)};
    *failed_ = true;
    return {};
  }
  Value Unsupported() { return Fail(ErrorCode::User, std::string(ir::InfoOf(op_).name) + " has no meaning for operands of this type"); }
  Value OutOfRange(int64_t index, int64_t size) {
    return Fail(ErrorCode::Range, fmt::format("{}: the index {} is not in a range of {}", ir::InfoOf(op_).name, index, size));
  }

  const TensorObject& Operand(size_t k) const { return *TensorIn(in_[k]); }
  bool IsTensor(size_t k) const { return TensorIn(in_[k]) != nullptr; }
  TypeKind ResultElement() const { return types_.result_type->element; }
  Dims ResultDims() const { return types_.result_type->dims; }
  bool ScalarResult() const { return types_.result != TypeKind::Tensor; }

  // Operand k itself if nobody else holds it and it is as large as the result: the op may write over it.
  Value Take(size_t k) const {
    TensorObject* tensor = TensorIn(in_[k]);
    if (!tensor || !tensor->refs.IsOne() || tensor->element() != ResultElement() || tensor->dims() != ResultDims()) return {};
    return tensor->PrepareToWrite() ? in_[k] : Value();
  }
  Value New() const { return MakeTensor(ResultElement(), ResultDims()); }
  // For ops that compute each element of the result from the operands' elements at the same place.
  Value Reuse() const {
    for (size_t k = 0; k < in_.size(); ++k)
      if (Value own = Take(k); TensorIn(own)) return own;
    return New();
  }
  // Operand 0, to be changed in part: itself if nobody else holds it, else a copy.
  Value Own() const {
    if (Value own = Take(0); TensorIn(own)) return own;
    Value copy = New();
    CopyInPieces(TensorIn(copy)->data(), Operand(0).data(), Operand(0).bytes());
    return copy;
  }
  // What an op writes that gives a scalar or a tensor: room for the one element, and its value afterwards.
  template <typename F>
  Value Write(TypeKind element, F write) {
    if (!ScalarResult()) {
      Value out = New();
      write(TensorIn(out)->data());
      return out;
    }
    Value scalar = MakeTensor(element, {});
    write(TensorIn(scalar)->data());
    return ElementOf(*TensorIn(scalar), 0);
  }

  Value Elementwise();
  Value Where();
  Value Product();
  Value Reduction();
  Value Indices(cpu::AxisView view);
  Value Rows();
  Value Concat();
  Value Slices();
  Value Gather();
  Value ScatterAdd();
  Value Transpose();
  Value Reshape();
  Value Expand();
  Value OneHot();
  Value Iota();
  Value GetElement();
  Value SetElement();
  Value Text();
  Value Random();
  // The first of `count` indices that is no row of `size`, reported; else false.
  bool BadIndex(const int64_t* at, size_t count, int64_t size) {
    for (size_t i = 0; i < count; ++i)
      if (at[i] < 0 || at[i] >= size) {
        OutOfRange(at[i], size);
        return true;
      }
    return false;
  }
  llvm::ArrayRef<int64_t> IndicesOf(size_t k, int64_t* one) const {
    if (IsTensor(k)) return {Operand(k).as<int64_t>(), Operand(k).count()};
    *one = in_[k].word();
    return {one, 1};
  }

  Op op_;
  const KernelTypes& types_;
  uint32_t attr_;
  llvm::ArrayRef<Value> in_;
  KernelError* error_;
  bool* failed_;
};

Value TensorFiring::Elementwise() {
  const TensorObject& x = Operand(0);
  size_t count = x.count();
  bool good = true;
  Value out;
  if (op_ == Op::Convert) {
    if (x.element() == ResultElement()) return in_[0];
    out = New();
    ForNumbers(x.element(), [&](auto from) {
      ForNumbers(ResultElement(), [&](auto to) {
        if constexpr (!std::is_same_v<decltype(from), decltype(to)>)
          InPieces(count, kPiece, [&](size_t at, size_t n) {
            cpu::Convert(x.as<decltype(from)>() + at, TensorIn(out)->as<decltype(to)>() + at, n);
          });
      });
    });
    return out;
  }
  if (op_ == Op::Not) {
    out = Reuse();
    InPieces(count, kPiece, [&](size_t at, size_t n) { cpu::Not(x.as<uint8_t>() + at, TensorIn(out)->as<uint8_t>() + at, n); });
    return out;
  }
  bool compare = ir::IsComparison(op_);
  out = compare && x.element() != TypeKind::Bool ? New() : Reuse();
  if (compare) {
    ForElements(x.element(), [&](auto t) {
      using T = decltype(t);
      const T *a = x.as<T>(), *b = Operand(1).as<T>();
      InPieces(count, kPiece, [&](size_t at, size_t n) { good &= cpu::Compare(op_, a + at, b + at, TensorIn(out)->as<uint8_t>() + at, n); });
    });
  } else {
    ForNumbers(x.element(), [&](auto t) {
      using T = decltype(t);
      const T *a = x.as<T>(), *b = in_.size() == 2 ? Operand(1).as<T>() : nullptr;
      T* to = TensorIn(out)->as<T>();
      InPieces(count, kPiece, [&](size_t at, size_t n) {
        if (b) good &= cpu::Binary(op_, a + at, b + at, to + at, n);
        else good &= x.dims().empty() ? cpu::UnaryOfNumbers(op_, a, to, n) : cpu::Unary(op_, a + at, to + at, n);
      });
    });
  }
  return good ? out : Unsupported();
}

Value TensorFiring::Where() {
  Value out = New();
  ForElements(ResultElement(), [&](auto t) {
    using T = decltype(t);
    InPieces(Operand(0).count(), kPiece, [&](size_t at, size_t n) {
      cpu::Select(Operand(0).as<uint8_t>() + at, Operand(1).as<T>() + at, Operand(2).as<T>() + at, TensorIn(out)->as<T>() + at, n);
    });
  });
  return out;
}

Value TensorFiring::Product() {
  const TensorObject &x = Operand(0), &y = Operand(1);
  const ir::ProductSizes sizes = ir::SizesOfProduct(op_, x.dims(), y.dims());
  const size_t m = sizes.m, k = sizes.k, n = sizes.n;
  return Write(x.element(), [&](char* to) {
    ForNumbers(x.element(), [&](auto t) {
      using T = decltype(t);
      if (op_ == Op::Gemm) cpu::MatMulTransposed<T>({x.as<T>(), k}, {y.as<T>(), k}, {reinterpret_cast<T*>(to), n}, {m, k, n});
      else cpu::MatMul(x.as<T>(), y.as<T>(), reinterpret_cast<T*>(to), m, k, n);
    });
  });
}

Value TensorFiring::Reduction() {
  const TensorObject& x = Operand(0);
  if (op_ == Op::ArgMax) return Indices(ViewOf(x.dims(), attr_));
  return Write(x.element(), [&](char* to) { Reduce(op_, attr_, x.element(), x.dims(), 1, x.data(), to); });
}

Value TensorFiring::Indices(cpu::AxisView view) {
  const TensorObject& x = Operand(0);
  return Write(TypeKind::Int, [&](char* to) {
    ForNumbers(x.element(), [&](auto t) { cpu::ArgMax(x.as<decltype(t)>(), view, reinterpret_cast<int64_t*>(to)); });
  });
}

// Softmax, LogSoftmax, LayerNormalization.
Value TensorFiring::Rows() {
  const TensorObject& x = Operand(0);
  Value out = New();
  if (op_ != Op::LayerNormalization) {
    Reduce(op_, attr_, x.element(), x.dims(), 1, x.data(), TensorIn(out)->data());
    return out;
  }
  ForReals(x.element(), [&](auto t) {
    using T = decltype(t);
    cpu::AxisView view = ViewOf(x.dims(), ir::kLastAxis);
    cpu::LayerNorm(x.as<T>(), view.outer, view.length, Operand(1).as<T>(), Operand(2).as<T>(), T(1e-5), TensorIn(out)->as<T>());
  });
  return out;
}

Value TensorFiring::Concat() {
  const TensorObject &x = Operand(0), &y = Operand(1);
  Value out = New();
  size_t size = ir::ElementBytes(x.element());
  cpu::AxisView a = ViewOf(x.dims(), attr_), b = ViewOf(y.dims(), attr_);
  size_t left = a.length * a.inner * size, right = b.length * b.inner * size;
  char* to = TensorIn(out)->data();
  cpu::CopyBlocks(x.data(), left, to, left + right, left, a.outer);
  cpu::CopyBlocks(y.data(), right, to + left, left + right, right, a.outer);
  return out;
}

Value TensorFiring::Slices() {
  const TensorObject& x = Operand(0);
  bool dynamic = op_ == Op::SliceAt;
  uint32_t axis = dynamic ? 0 : attr_ & (ir::kFromEnd - 1);
  cpu::AxisView from = ViewOf(x.dims(), axis), to = ViewOf(ResultDims(), axis);
  int64_t start = 0, rest = static_cast<int64_t>(from.length - to.length);
  if (dynamic) {
    start = in_[1].word();
    if (start < 0 || start > rest)
      return Fail(ErrorCode::Range, fmt::format("SliceAt: {} elements from index {} on are not in a range of {}", to.length,
                                                start, from.length));
  } else if (attr_ & ir::kFromEnd) {
    start = rest;
  }
  Value out = New();
  size_t block = from.inner * ir::ElementBytes(x.element());
  cpu::CopyBlocks(x.data() + static_cast<size_t>(start) * block, from.length * block, TensorIn(out)->data(), to.length * block,
                  to.length * block, from.outer);
  return out;
}

Value TensorFiring::Gather() {
  const TensorObject& x = Operand(0);
  int64_t one;
  llvm::ArrayRef<int64_t> at = IndicesOf(1, &one);
  if (BadIndex(at.data(), at.size(), x.dims()[0])) return {};
  size_t row = x.dims()[0] == 0 ? 0 : x.bytes() / static_cast<size_t>(x.dims()[0]);
  Value out = New();
  char* to = TensorIn(out)->data();
  for (size_t i = 0; i < at.size() && row > 0; ++i) std::memcpy(to + i * row, x.data() + static_cast<size_t>(at[i]) * row, row);
  return out;
}

Value TensorFiring::ScatterAdd() {
  const TensorObject &at = Operand(1), &rows = Operand(2);
  if (BadIndex(at.as<int64_t>(), at.count(), Operand(0).dims()[0])) return {};
  Value out = Own();
  size_t each = at.count() == 0 ? 0 : rows.count() / at.count();
  ForNumbers(rows.element(), [&](auto t) {
    using T = decltype(t);
    for (size_t i = 0; i < at.count(); ++i) {
      T* to = TensorIn(out)->as<T>() + static_cast<size_t>(at.as<int64_t>()[i]) * each;
      const T* from = rows.as<T>() + i * each;
      for (size_t k = 0; k < each; ++k) {
        // Ints wrap.
        if constexpr (std::is_integral_v<T>) to[k] = static_cast<T>(static_cast<uint64_t>(to[k]) + static_cast<uint64_t>(from[k]));
        else to[k] += from[k];
      }
    }
  });
  return out;
}

Value TensorFiring::Transpose() {
  const TensorObject& x = Operand(0);
  Value out = New();
  cpu::Transpose(x.data(), x.dims(), ir::OrderOfAxes(attr_, x.dims().size()), ir::ElementBytes(x.element()), TensorIn(out)->data());
  return out;
}

Value TensorFiring::Reshape() {
  TensorObject* x = TensorIn(in_[0]);
  if (x->refs.IsOne()) {
    x->Reshape(ResultDims());
    return in_[0];
  }
  Value out = New();
  CopyInPieces(TensorIn(out)->data(), x->data(), x->bytes());
  return out;
}

Value TensorFiring::Expand() {
  Value out = New();
  TensorObject& to = *TensorIn(out);
  if (to.bytes() == 0) return out;
  size_t block = ir::ElementBytes(to.element());
  if (IsTensor(0)) {
    block = Operand(0).bytes();
    std::memcpy(to.data(), Operand(0).data(), block);
  } else {
    ::df::SetElement(to, 0, in_[0]);
  }
  for (size_t done = block; done < to.bytes();) {  // what is there is copied behind itself, twice as much each time
    size_t more = std::min(done, to.bytes() - done);
    CopyInPieces(to.data() + done, to.data(), more);
    done += more;
  }
  return out;
}

Value TensorFiring::OneHot() {
  int64_t one;
  llvm::ArrayRef<int64_t> at = IndicesOf(0, &one);
  Value out = New();
  TensorObject& to = *TensorIn(out);
  int64_t size = to.dims().back();
  std::memset(to.data(), 0, to.bytes());
  ForNumbers(to.element(), [&](auto t) {
    using T = decltype(t);
    for (size_t i = 0; i < at.size(); ++i)
      if (at[i] >= 0 && at[i] < size) to.as<T>()[i * static_cast<size_t>(size) + static_cast<size_t>(at[i])] = T(1);
  });
  return out;
}

Value TensorFiring::Iota() {
  Value out = New();
  auto next = static_cast<uint64_t>(in_[0].word());
  for (size_t i = 0; i < TensorIn(out)->count(); ++i) TensorIn(out)->as<int64_t>()[i] = static_cast<int64_t>(next++);
  return out;
}

Value TensorFiring::GetElement() {
  const TensorObject& x = Operand(0);
  int64_t at = in_[1].word(), count = static_cast<int64_t>(x.count());
  if (BadIndex(&at, 1, count)) return {};
  if (ScalarResult()) return ElementOf(x, static_cast<size_t>(at));
  Value out = New();
  size_t size = ir::ElementBytes(x.element());
  std::memcpy(TensorIn(out)->data(), x.data() + static_cast<size_t>(at) * size, size);
  return out;
}

Value TensorFiring::SetElement() {
  int64_t at = in_[1].word(), count = static_cast<int64_t>(Operand(0).count());
  if (BadIndex(&at, 1, count)) return {};
  Value out = Own();
  ::df::SetElement(*TensorIn(out), static_cast<size_t>(at), IsTensor(2) ? ElementOf(Operand(2), 0) : in_[2]);
  return out;
}

Value TensorFiring::Text() {
  const TensorObject& x = Operand(0);
  constexpr size_t kLongestElement = 25;  // of any type, with a comma
  if (x.count() > memory::Available() / kLongestElement) throw std::bad_alloc();
  std::string text;
  ShowTensor(x, [&](std::string_view part) { text += part; });
  return Value::Adopt(ValueKind::Object, new TextObject(std::move(text)));
}

Value TensorFiring::Random() {
  Value out = New();
  auto key = static_cast<uint64_t>(in_[0].word());
  ForReals(ResultElement(), [&](auto t) {
    using T = decltype(t);
    if (op_ == Op::RandomUniform) cpu::Uniform(key, TensorIn(out)->as<T>(), TensorIn(out)->count());
    else cpu::Normal(key, TensorIn(out)->as<T>(), TensorIn(out)->count());
  });
  return out;
}

Value TensorFiring::Run() {
  switch (ir::FactsOf(op_).shape) {
    case ir::Shape::Elementwise: return Elementwise();
    case ir::Shape::Chosen: return Where();
    case ir::Shape::Product:
    case ir::Shape::ProductTransposed: return Product();
    case ir::Shape::Reduced:
    case ir::Shape::IndexOfLargest: return Reduction();
    case ir::Shape::AlongAxis:
    case ir::Shape::Normalised: return Rows();
    case ir::Shape::Joined: return Concat();
    case ir::Shape::Sliced:
    case ir::Shape::SlicedAt: return Slices();
    case ir::Shape::Gathered: return Gather();
    case ir::Shape::Scattered: return ScatterAdd();
    case ir::Shape::Permuted: return Transpose();
    case ir::Shape::Reshaped: return Reshape();
    case ir::Shape::Repeated: return Expand();
    case ir::Shape::Marked: return OneHot();
    case ir::Shape::Counted: return Iota();
    case ir::Shape::Sized: return Value::Word(static_cast<int64_t>(Operand(0).count()));
    case ir::Shape::DimOf: return Value::Word(Operand(0).dims()[ir::AxisOf(attr_, Operand(0).dims().size())]);
    case ir::Shape::Summed: return Accumulate(*types_.result_type, *types_.types, types_.sum, in_[0], attr_ == kMayStayRows);
    case ir::Shape::ElementOf: return GetElement();
    case ir::Shape::ElementSet: return SetElement();
    case ir::Shape::Shown: return Text();
    case ir::Shape::Random: return Random();
    case ir::Shape::OfMatrices: return ApplyLinear(op_, types_, attr_, in_);
    case ir::Shape::NoTensors:
    case ir::Shape::Passed: return Unsupported();
  }
  return Unsupported();
}

}  // namespace

bool WorksOnTensors(Op op, const KernelTypes& types) {
  if (types.operand != TypeKind::Tensor && types.result != TypeKind::Tensor) return false;
  return ir::FactsOf(op).shape > ir::Shape::Passed && types.result_type;
}

namespace {

// What an op gives of operands of which some could not be computed; nullopt if all could. A Where does not look at what it does not choose.
std::optional<Value> FromFailed(Op op, const KernelTypes& types, llvm::ArrayRef<Value> in) {
  if (op == Op::Size || op == Op::Dim) return std::nullopt;
  ErrorObject* error = nullptr;
  for (const Value& value : in) {
    TensorObject* tensor = TensorIn(value);
    if (tensor && (error = tensor->Failure())) break;
  }
  if (!error) return std::nullopt;
  if (op == Op::Where && !TensorIn(in[0])->failure()) {
    const TensorObject& chosen = *TensorIn(in[0]);
    const size_t count = chosen.count(), first = static_cast<size_t>(std::count(chosen.as<uint8_t>(), chosen.as<uint8_t>() + count, uint8_t{1}));
    if (first == count || first == 0) return in[first == count ? 1 : 2];
  }
  if (types.result == TypeKind::Tensor) return Value::Adopt(ValueKind::Object, new TensorObject(*types.result_type, error));
  error->refs.Retain();
  return Value::Adopt(ValueKind::Error, error);
}

}  // namespace

Value ApplyTensor(Op op, const KernelTypes& types, uint32_t attr, llvm::ArrayRef<Value> operands, KernelError* error, bool* failed) {
  if (std::optional<Value> value = FromFailed(op, types, operands)) return *value;
  return TensorFiring(op, types, attr, operands, error, failed).Run();
}

bool IsReduction(Op op) { return ir::FactsOf(op).shape == ir::Shape::Reduced || ir::FactsOf(op).shape == ir::Shape::AlongAxis; }

void Reduce(Op op, uint32_t attr, TypeKind element, Dims dims, size_t count, const char* x, char* out) {
  bool softmax = op == Op::Softmax || op == Op::LogSoftmax;
  cpu::AxisView view;
  if (attr == ir::kAllAxes && !softmax) view.length = static_cast<size_t>(ir::ElementCount(dims));
  else view = ViewOf(dims, attr);
  view.outer *= count;
  auto how = op == Op::ReduceSum    ? cpu::Reduce::Sum
             : op == Op::ReduceMean ? cpu::Reduce::Mean
             : op == Op::ReduceMax  ? cpu::Reduce::Max
                                    : cpu::Reduce::Min;
  ForNumbers(element, [&](auto t) {
    using T = decltype(t);
    auto* from = reinterpret_cast<const T*>(x);
    auto* to = reinterpret_cast<T*>(out);
    if (!softmax) return cpu::ReduceAxis(how, from, view, to);
    if constexpr (!std::is_same_v<T, int64_t>) cpu::Softmax(from, view, op == Op::LogSoftmax, to);
  });
}

}  // namespace df
