// The derivatives of linear algebra, which are formulas of matrices: the words Change and Back of tagged_ir/derivative.def. Of y = f(a, b ..), Change0 is how
// y changes with a in the direction d, and Back0 what goes to a of the cotangent d; each is the transpose of the other.
// docs/linear-algebra.md has the formulas and where they come from.
#include "lower/gradient/rules.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"

namespace df::fg {
namespace {

using ir::Op;
using Dims = llvm::SmallVector<int64_t, 4>;

class LinearRule {
 public:
  LinearRule(Writer& w, const DerivativeOperands& in, Value d) : w_(w), in_(in), d_(d), a_(in.operands[0]), y_(in.result) {}

  Value Change(uint32_t operand) {
    switch (w_.function().nodes[y_.node].op) {
      case Op::Cholesky: return CholeskyChange();
      case Op::SolveTriangular: return operand == 0 ? TriangularChange() : SolveLike(Matrix(d_), 0);
      case Op::LuSolve: return operand == 0 ? LuChange() : LuLike(Matrix(d_), 0);
      case Op::LuDet: return DetChange();
      case Op::Eigh: return EighChange();
      case Op::GapQuotient: return operand == 0 ? Over(d_, in_.operands[1]) : Negative(Over(Times(y_, Gaps(d_)), in_.operands[1]));
      case Op::Qr: return QrChange();
      case Op::Svd: return SvdChange();
      case Op::Pinv: return PinvChange();
      default: return ExpChange(a_);
    }
  }
  Value Back(uint32_t operand) {
    switch (w_.function().nodes[y_.node].op) {
      case Op::Cholesky: return CholeskyBack();
      case Op::SolveTriangular: return TriangularBack(operand);
      case Op::LuSolve: return LuBack(operand);
      case Op::LuDet: return DetBack();
      case Op::Eigh: return EighBack();
      case Op::GapQuotient: return operand == 0 ? Over(d_, in_.operands[1]) : GapsBack();
      case Op::Qr: return QrBack();
      case Op::Svd: return SvdBack();
      case Op::Pinv: return PinvBack();
      default: return ExpChange(Turned(a_));
    }
  }

 private:
  enum Triangle : uint32_t { kLower = 0, kUpper = 1, kStrictlyLower = 2 };             // of Trilu
  enum Solve : uint32_t { kOfUpper = 1, kTransposed = 2, kUnit = 4, kLuTransposed = 1 };  // of SolveTriangular and LuSolve

  // ---------------------------------------------------------------- words

  Dims DimsOf(Value x) const {
    const ir::Type& type = w_.program().types[w_.TypeOf(x).type];
    return Dims(type.dims.begin(), type.dims.end());
  }
  int64_t Rows(Value x) const { return DimsOf(x)[0]; }
  int64_t Columns(Value x) const { return DimsOf(x)[1]; }
  ir::TypeId Type(llvm::ArrayRef<int64_t> dims) { return w_.program().types.Tensor(ElementOf(w_, w_.TypeOf(a_).type), dims); }
  Value Make(Op op, llvm::ArrayRef<Value> operands, llvm::ArrayRef<int64_t> dims, uint32_t attr = 0) { return w_.Shared(op, operands, Type(dims), attr); }
  Value Shaped(Value x, llvm::ArrayRef<int64_t> dims) { return llvm::ArrayRef<int64_t>(DimsOf(x)) == dims ? x : Make(Op::Reshape, x, dims); }
  // Right sides may have any shape that begins with the matrix's rows.
  Value Matrix(Value x) {
    const Dims dims = DimsOf(x);
    return Shaped(x, {dims[0], ir::ElementCount(llvm::ArrayRef<int64_t>(dims).drop_front())});
  }
  Value Product(Value x, Value y) { return Make(Op::MatMul, {x, y}, {Rows(x), Columns(y)}); }
  Value ByTurned(Value x, Value y) { return Make(Op::Gemm, {x, y}, {Rows(x), Rows(y)}); }  // x times y transposed
  Value Turned(Value x) { return Make(Op::Transpose, x, {Columns(x), Rows(x)}); }
  Value Plus(Value x, Value y) { return Make(Op::Add, {x, y}, DimsOf(x)); }
  Value Minus(Value x, Value y) { return Make(Op::Sub, {x, y}, DimsOf(x)); }
  Value Negative(Value x) { return Make(Op::Neg, x, DimsOf(x)); }
  Value Times(Value x, Value y) { return Make(Op::StrongMul, {x, y}, DimsOf(x)); }  // by elements
  Value Half(Value x) { return Make(Op::Mul, {x, w_.Real(Type(DimsOf(x)), 0.5)}, DimsOf(x)); }
  Value Symmetric(Value x) { return Half(Plus(x, Turned(x))); }
  Value Part(Value x, uint32_t triangle) { return Make(Op::Trilu, x, DimsOf(x), triangle); }
  // The lower triangle, with half of the diagonal.
  Value LowerHalf(Value x) { return Half(Plus(Part(x, kLower), Part(x, kStrictlyLower))); }
  Value First(Value x, int64_t rows) { return Make(Op::Slice, x, {rows, Columns(x)}, 0); }
  Value Last(Value x, int64_t rows) { return Make(Op::Slice, x, {rows, Columns(x)}, ir::kFromEnd); }
  Value RowAt(Value x, int64_t at) { return Shaped(Last(First(x, at + 1), 1), {Columns(x)}); }
  Value Below(Value x, Value y) { return Make(Op::Concat, {x, y}, {Rows(x) + Rows(y), Columns(x)}, 0); }
  Value Beside(Value x, Value y) { return Make(Op::Concat, {x, y}, {Rows(x), Columns(x) + Columns(y)}, 1); }
  Value AsRow(Value v) { return Shaped(v, {1, DimsOf(v)[0]}); }
  Value Repeated(Value v, int64_t rows) { return Make(Op::Expand, v, {rows, DimsOf(v)[0]}); }
  Value ScaledColumns(Value x, Value v) { return Times(x, Repeated(v, Rows(x))); }
  Value ScaledRows(Value x, Value v) { return Times(x, Turned(Repeated(v, Columns(x)))); }
  Value SumOfColumns(Value x) { return Make(Op::ReduceSum, x, {Columns(x)}, 0); }
  Value SumOfRows(Value x) { return Make(Op::ReduceSum, x, {Rows(x)}, 1); }
  Value Eye(int64_t n) {
    ir::TypeTable& types = w_.program().types;
    Value zero = w_.Const({types.Builtin(ir::TypeKind::Int), 0, ""});
    return Make(Op::OneHot, w_.Shared(Op::Iota, zero, types.Tensor(ir::TypeKind::Int, n)), {n, n});
  }
  Value Triangular(Value t, Value b, uint32_t how = 0) { return Make(Op::SolveTriangular, {t, b}, DimsOf(b), how); }
  // x over a triangular matrix on its right, or over that transposed.
  Value OverRight(Value x, Value t, uint32_t how) { return Turned(Triangular(t, Turned(x), how ^ kTransposed)); }
  // Each p[i, j] over v[j] - v[i].
  Value Over(Value p, Value v) { return Make(Op::GapQuotient, {p, v}, DimsOf(p)); }
  Value Gaps(Value v) {
    Value rows = Repeated(v, DimsOf(v)[0]);
    return Minus(rows, Turned(rows));
  }

  // ---------------------------------------------------------------- L L^T = a (Murray 2016)

  Value CholeskyChange() { return Product(y_, LowerHalf(OverRight(Triangular(y_, d_), y_, kTransposed))); }
  Value CholeskyBack() {
    Value p = LowerHalf(Product(Turned(y_), d_));
    return Symmetric(OverRight(Triangular(y_, p, kTransposed), y_, 0));
  }

  // ---------------------------------------------------------------- t y = b, t^T y = b

  uint32_t TriangleOf() const { return (in_.attr & kOfUpper ? uint32_t{kUpper} : 0) | (in_.attr & kUnit ? uint32_t{kStrictlyLower} : 0); }
  Value SolveLike(Value b, uint32_t turn) { return Shaped(Triangular(a_, b, in_.attr ^ turn), DimsOf(in_.operands[1])); }
  Value TriangularChange() {
    Value d = Part(d_, TriangleOf());
    return Negative(SolveLike(Product(in_.attr & kTransposed ? Turned(d) : d, Matrix(y_)), 0));
  }
  Value TriangularBack(uint32_t operand) {
    if (operand == 1) return SolveLike(Matrix(d_), kTransposed);
    Value back = Triangular(a_, Matrix(d_), in_.attr ^ kTransposed), y = Matrix(y_);
    return Negative(Part(in_.attr & kTransposed ? ByTurned(y, back) : ByTurned(back, y), TriangleOf()));
  }

  // ---------------------------------------------------------------- a y = b, a^T y = b, and determinants, by the factors of a, which are operand 1

  Value Lu(Value b, uint32_t attr) { return Make(Op::LuSolve, {a_, in_.operands[1], b}, DimsOf(b), attr); }
  Value LuLike(Value b, uint32_t turn) { return Shaped(Lu(b, in_.attr ^ turn), DimsOf(in_.operands[2])); }
  Value LuChange() { return Negative(LuLike(Product(in_.attr & kLuTransposed ? Turned(d_) : d_, Matrix(y_)), 0)); }
  Value LuBack(uint32_t operand) {
    if (operand == 2) return LuLike(Matrix(d_), kLuTransposed);
    Value back = Lu(Matrix(d_), in_.attr ^ kLuTransposed), y = Matrix(y_);
    return Negative(in_.attr & kLuTransposed ? ByTurned(y, back) : ByTurned(back, y));
  }
  // d |a| = |a| trace (a^-1 da); without |a| of its logarithm; the sign does not change.
  static constexpr uint32_t kDet = 0, kSign = 1;
  Value DetChange() {
    const ir::TypeId type = w_.TypeOf(y_).type;
    if (in_.attr == kSign) return w_.Real(type, 0);
    Value trace = w_.Shared(Op::ReduceSum, Times(Eye(Rows(a_)), Lu(d_, 0)), type, ir::kAllAxes);
    return in_.attr == kDet ? w_.Shared(Op::StrongMul, {y_, trace}, type) : trace;
  }
  Value DetBack() {
    const Dims dims = DimsOf(a_);
    if (in_.attr == kSign) return w_.Real(Type(dims), 0);
    Value scale = in_.attr == kDet ? w_.Shared(Op::StrongMul, {y_, d_}, w_.TypeOf(y_).type) : d_;
    return Lu(Times(Eye(dims[0]), Make(Op::Expand, scale, dims)), kLuTransposed);
  }

  // ---------------------------------------------------------------- a = V diag(w) V^T (Giles 2008). With the attribute 1 the values alone

  struct Spectrum {
    Value values, vectors;
  };
  Spectrum EighOf(Value packed) { return {RowAt(packed, 0), Last(packed, Rows(packed) - 1)}; }
  Spectrum EighOfOperand() {
    const int64_t n = Rows(a_);
    return EighOf(in_.attr == 1 ? Make(Op::Eigh, a_, {n + 1, n}, 0) : y_);
  }
  Value EighChange() {
    Spectrum e = EighOfOperand();
    Value moved = Product(d_, e.vectors), values = SumOfColumns(Times(e.vectors, moved));
    if (in_.attr == 1) return values;
    return Below(AsRow(values), Product(e.vectors, Over(Product(Turned(e.vectors), moved), e.values)));
  }
  Value EighBack() {
    Spectrum e = EighOfOperand();
    if (in_.attr == 1) return ByTurned(ScaledColumns(e.vectors, d_), e.vectors);
    Spectrum d = EighOf(d_);
    Value inner = Over(Product(Turned(e.vectors), d.vectors), e.values);
    return Symmetric(ByTurned(Plus(Product(e.vectors, inner), ScaledColumns(e.vectors, d.values)), e.vectors));
  }
  // Of p[i, j] / (v[j] - v[i]), for v.
  Value GapsBack() {
    Value part = Over(Times(d_, y_), in_.operands[1]);
    return Minus(SumOfRows(part), SumOfColumns(part));
  }

  // ---------------------------------------------------------------- a = Q R (Walter and Lehmann 2010)

  Value QrChange() {
    Value q = First(y_, Rows(a_)), r = Last(y_, Columns(a_));
    Value moved = OverRight(d_, r, kOfUpper), c = Product(Turned(q), moved), lower = Part(c, kStrictlyLower);
    Value upper = Plus(Minus(c, lower), Turned(lower));
    return Below(Minus(moved, Product(q, upper)), Product(upper, r));
  }
  Value QrBack() {
    Value q = First(y_, Rows(a_)), r = Last(y_, Columns(a_));
    Value dq = First(d_, Rows(a_)), dr = Part(Last(d_, Columns(a_)), kUpper);
    Value m = Minus(ByTurned(r, dr), Product(Turned(dq), q));
    Value both = Plus(Part(m, kLower), Turned(Part(m, kStrictlyLower)));
    return OverRight(Plus(dq, Product(q, both)), r, kOfUpper | kTransposed);
  }

  // ---------------------------------------------------------------- a = U diag(s) V^T (Townsend 2016). With the attribute 1 the values alone

  struct Singular {
    Value u, s, v;
  };
  Singular SvdOf(Value packed) {
    const int64_t m = Rows(a_), n = Columns(a_);
    return {First(packed, m), RowAt(packed, m), Last(packed, n)};
  }
  Singular SvdOfOperand() {
    const int64_t m = Rows(a_), n = Columns(a_);
    return SvdOf(in_.attr == 1 ? Make(Op::Svd, a_, {m + 1 + n, n}, 0) : y_);
  }
  Value OverValues(Value x, Value s) { return OverRight(x, ScaledColumns(Eye(Columns(a_)), s), 0); }
  Value WithTurned(Value x) { return Plus(x, Turned(x)); }
  Value Skew(Value x) { return Minus(x, Turned(x)); }
  Value SvdChange() {
    Singular f = SvdOfOperand();
    Value moved = Product(d_, f.v), values = SumOfColumns(Times(f.u, moved));
    if (in_.attr == 1) return values;
    Value x = Product(Turned(f.u), moved), squares = Times(f.s, f.s);
    Value du = Product(f.u, Over(WithTurned(ScaledColumns(x, f.s)), squares));
    Value dv = Product(f.v, Over(WithTurned(ScaledRows(x, f.s)), squares));
    if (Rows(a_) > Columns(a_)) du = Plus(du, OverValues(Minus(moved, Product(f.u, x)), f.s));
    return Below(Below(du, AsRow(values)), dv);
  }
  Value SvdBack() {
    Singular f = SvdOfOperand();
    if (in_.attr == 1) return ByTurned(ScaledColumns(f.u, d_), f.v);
    Singular d = SvdOf(d_);
    Value squares = Times(f.s, f.s), inside = Product(Turned(f.u), d.u);
    Value left = ScaledColumns(Over(Skew(inside), squares), f.s);
    Value right = ScaledRows(Over(Skew(Product(Turned(f.v), d.v)), squares), f.s);
    Value sum = Plus(Product(f.u, Plus(left, right)), ScaledColumns(f.u, d.s));
    if (Rows(a_) > Columns(a_)) sum = Plus(sum, OverValues(Minus(d.u, Product(f.u, inside)), f.s));
    return ByTurned(sum, f.v);
  }

  // ---------------------------------------------------------------- pseudo-inverses, of constant rank (Golub and Pereyra 1973)

  Value PinvChange() {
    Value d = Turned(d_), k = Product(ByTurned(y_, y_), d), l = Product(d, Product(Turned(y_), y_));
    Value inside = Negative(Product(Product(y_, d_), y_));
    Value rows = Minus(k, Product(Product(k, a_), y_)), columns = Minus(l, Product(y_, Product(a_, l)));
    return Plus(Plus(inside, rows), columns);
  }
  Value PinvBack() {
    Value d = Turned(d_), p = Turned(y_), k = Product(d, ByTurned(y_, y_)), l = Product(Product(p, y_), d);
    Value inside = Negative(Product(Product(p, d_), p));
    Value rows = Minus(k, Product(a_, Product(y_, k))), columns = Minus(l, Product(Product(l, y_), a_));
    return Plus(Plus(inside, rows), columns);
  }

  // ---------------------------------------------------------------- exp [[x, d], [0, x]] = [[exp x, L(x, d)], [0, exp x]] (Mathias 1996)

  Value ExpChange(Value x) {
    const int64_t n = Rows(x);
    Value block = Below(Beside(x, d_), Beside(w_.Real(Type({n, n}), 0), x));
    Value rows = First(Make(Op::MatrixExp, block, {2 * n, 2 * n}), n);
    return Make(Op::Slice, rows, {n, n}, 1 | ir::kFromEnd);
  }

  Writer& w_;
  const DerivativeOperands& in_;
  Value d_, a_, y_;
};

}  // namespace

Value WriteLinear(Writer& w, const ir::DerivativeExpr& expr, Value x, const DerivativeOperands& in) {
  LinearRule rule(w, in, x);
  return expr.kind == ir::DerivativeExpr::Kind::Change ? rule.Change(expr.operand) : rule.Back(expr.operand);
}

}  // namespace df::fg
