#include "runtime/ops/linear_kernels.h"

#include <algorithm>
#include <cmath>

#include "backends/linear/linear.h"
#include "fmt/format.h"
#include "runtime/base/by_element.h"
#include "runtime/base/interruptible_loops.h"
#include "runtime/base/memory.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"

namespace df {
namespace {

using ir::Op;

template <typename T>
bool AllOf(const T* x, size_t count, bool (*is)(T)) {
  return std::all_of(x, x + count, is);
}
template <typename T>
bool Finite(T x) { return std::isfinite(x); }
template <typename T>
bool Number(T x) { return !std::isnan(x); }

// One firing.
template <typename T>
class LinearFiring {
 public:
  LinearFiring(Op op, const KernelTypes& types, uint32_t attr, llvm::ArrayRef<Value> in)
      : op_(op), types_(types), attr_(attr), in_(in), a_(*TensorIn(in[0])),
        rows_(static_cast<size_t>(a_.dims()[0])), columns_(static_cast<size_t>(a_.dims()[1])) {}

  Value Run() {
    TensorObject::ExpectFailures();
    const bool scalar = types_.result != ir::TypeKind::Tensor;
    Value out = scalar ? MakeTensor(a_.element(), {}) : MakeTensor(types_.result_type->element, types_.result_type->dims);
    // What Eigen allocates is not counted: a few matrices, for which there has to be room.
    constexpr size_t kMatrices = 6;
    if (memory::Available() < kMatrices * std::max(a_.bytes(), TensorIn(out)->bytes())) throw std::bad_alloc();
    std::string fault = Compute(TensorIn(out)->as<T>());
    GiveUpIfAsked();
    const TensorObject& to = *TensorIn(out);
    if (fault.empty() && op_ != Op::Trilu && !AllOf(to.as<T>(), to.count(), Number<T>) && OperandsAreFinite())
      fault = fmt::format("numbers become too large, or are undefined, in {} of the {}", ir::InfoOf(op_).name, Matrix());
    if (fault.empty()) return scalar ? ElementOf(to, 0) : out;
    auto* error = new ErrorObject(ErrorCode::Range, std::move(fault), types_.node, types_.pos);
    Value holder = Value::Adopt(ValueKind::Error, error);
    return scalar ? holder : Value::Adopt(ValueKind::Object, new TensorObject(*types_.result_type, error));
  }

 private:
  std::string Matrix() const { return "matrix " + ir::ShapeText(a_.dims()); }
  const T* Operand(size_t k) const { return TensorIn(in_[k])->as<T>(); }
  // Of a right side of any shape.
  size_t Sides(size_t k) const { return rows_ == 0 ? 0 : TensorIn(in_[k])->count() / rows_; }
  bool OperandsAreFinite() const {
    return llvm::all_of(in_, [](const Value& value) { return AllOf(TensorIn(value)->as<T>(), TensorIn(value)->count(), Finite<T>); });
  }

  // "" or why it cannot be computed.
  std::string Compute(T* out) {
    const T* a = Operand(0);
    auto at = [this](size_t found, const char* kind, const char* what, const char* where) {
      return found == linear::kGood ? std::string() : fmt::format("the {}{} is {} ({} {})", kind, Matrix(), what, where, found);
    };
    auto found = [this](bool good) { return good ? std::string() : fmt::format("the {} has elements that are not finite", Matrix()); };
    switch (op_) {
      case Op::Trilu: Triangle(a, out); return "";
      case Op::Cholesky: return at(linear::Cholesky(a, out, rows_), "", "not positive definite", "row");
      case Op::SolveTriangular: {
        linear::Triangle how{(attr_ & 1) != 0, (attr_ & 2) != 0, (attr_ & 4) != 0};
        return at(linear::SolveTriangular(a, how, Operand(1), out, rows_, Sides(1)), "triangular ", "singular", "row");
      }
      case Op::Lu: linear::Lu(a, out, rows_); return "";
      case Op::LuSolve: return at(linear::LuSolve(Operand(1), attr_ == 1, Operand(2), out, rows_, Sides(2)), "", "singular", "pivot");
      case Op::LuDet:
        if (attr_ == 3 && linear::LuDeterminant(Operand(1), linear::Determinant::Sign, rows_) < 0)
          return fmt::format("the determinant of the {} is negative, and has no logarithm", Matrix());
        *out = linear::LuDeterminant(Operand(1), static_cast<linear::Determinant>(std::min(attr_, 2u)), rows_); return "";
      case Op::Eigh: return found(linear::Eigh(a, attr_ == 1, out, rows_));
      case Op::GapQuotient: return Quotients(a, Operand(1), out);
      case Op::Qr: linear::Qr(a, out, rows_, columns_); return "";
      case Op::Svd: return found(linear::Svd(a, attr_ == 1, out, rows_, columns_));
      case Op::Pinv: return found(linear::Pinv(a, out, rows_, columns_));
      default: linear::MatrixExp(a, out, rows_); return "";
    }
  }

  void Triangle(const T* x, T* out) const {
    const bool upper = attr_ & 1, strictly = attr_ & 2;
    for (size_t i = 0; i < rows_; ++i)
      for (size_t j = 0; j < columns_; ++j) {
        const bool kept = upper ? i < j + !strictly : j < i + !strictly;
        out[i * columns_ + j] = kept ? x[i * columns_ + j] : T(0);
      }
  }

  std::string Quotients(const T* p, const T* v, T* out) const {
    for (size_t i = 0; i < rows_; ++i)
      for (size_t j = 0; j < rows_; ++j) {
        const T x = p[i * rows_ + j];
        if (i != j && x != 0 && v[i] == v[j])
          return fmt::format("values {} and {} of the spectrum of a {} are equal: their vectors have no derivative", std::min(i, j), std::max(i, j), Matrix());
        out[i * rows_ + j] = i == j || x == 0 ? T(0) : x / (v[j] - v[i]);
      }
    return "";
  }

  const Op op_;
  const KernelTypes& types_;
  const uint32_t attr_;
  const llvm::ArrayRef<Value> in_;
  const TensorObject& a_;
  const size_t rows_, columns_;
};

}  // namespace

Value ApplyLinear(Op op, const KernelTypes& types, uint32_t attr, llvm::ArrayRef<Value> operands) {
  return ForReals(TensorIn(operands[0])->element(), [&](auto t) { return LinearFiring<decltype(t)>(op, types, attr, operands).Run(); });
}

}  // namespace df
