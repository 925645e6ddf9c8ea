// See gradient/rules.h.
#include "lower/gradient/rules.h"

#include "tagged_ir/tensor_rules.h"

namespace df::fg {
namespace {

using ir::DerivativeExpr;
using ir::Op;
using Kind = DerivativeExpr::Kind;

// One text at one place.
class Rule {
 public:
  Rule(Writer& w, const DerivativeOperands& in) : w_(w), in_(in) {}
  // The value of `expr`, of type `want` if that is valid.
  Value Write(const DerivativeExpr& expr, ir::TypeId want);

 private:
  // Whether it is linear in the direction, so that it is 0 where that is.
  static bool HasDirection(const DerivativeExpr& expr) {
    return expr.kind == Kind::Direction || llvm::any_of(expr.args, HasDirection);
  }
  static Op OpOf(const DerivativeExpr& expr);
  static bool IsNumber(const DerivativeExpr& expr) { return expr.kind == Kind::Number || expr.kind == Kind::Length; }
  Value WriteOp(const DerivativeExpr& expr, ir::TypeId want);
  Value WriteIf(const DerivativeExpr& expr, ir::TypeId want);
  // The type of a number that is argument `i`; `like` is the type of an argument that is none.
  ir::TypeId TypeOfNumber(Op op, size_t i, ir::TypeId like, ir::TypeId want);
  ir::TypeId TypeOfResult(Op op, llvm::ArrayRef<Value> args, ir::TypeId like);
  uint32_t AttrOf(Op op) const;
  ir::TypeKind Element() const { return ElementOf(w_, w_.TypeOf(in_.direction).type); }

  Writer& w_;
  const DerivativeOperands& in_;
};

Value Rule::Write(const DerivativeExpr& expr, ir::TypeId want) {
  switch (expr.kind) {
    case Kind::Operand: return in_.operands[expr.operand];
    case Kind::Result: return in_.result;
    case Kind::Direction: return in_.direction;
    case Kind::Number: return w_.Real(want, expr.number);
    case Kind::Length: return w_.Real(want, static_cast<double>(ReducedLength(w_, in_)));
    case Kind::If: return WriteIf(expr, want);
    case Kind::Op: return WriteOp(expr, want);
    case Kind::Change:
    case Kind::Back: return WriteLinear(w_, expr, Write(expr.args[0], {}), in_);
    default: return WriteShaped(w_, expr, Write(expr.args[0], {}), in_);
  }
}

// Of tensors both sides are there, and each element has one.
Value Rule::WriteIf(const DerivativeExpr& expr, ir::TypeId want) {
  Value predicate = Write(expr.args[0], {});
  if (w_.program().types.Kind(want) == ir::TypeKind::Tensor)
    return w_.Shared(Op::Where, {predicate, Write(expr.args[1], want), Write(expr.args[2], want)}, want);
  NodeId branch = w_.Branch(predicate, 2, PortType{want, false}, [&](uint32_t side) -> Values {
    return {Write(expr.args[side + 1], want)};
  });
  return {branch, 0};
}

ir::TypeId Rule::TypeOfNumber(Op op, size_t i, ir::TypeId like, ir::TypeId want) {
  switch (op) {
    case Op::SetElement: return i == 0 ? want : w_.program().types.Builtin(Element());
    case Op::ScatterAdd: return want;
    case Op::Concat: return w_.TypeOf(in_.operands[i]).type;
    default: return WithElement(w_, like, Element());
  }
}

ir::TypeId Rule::TypeOfResult(Op op, llvm::ArrayRef<Value> args, ir::TypeId like) {
  switch (op) {
    case Op::Eq:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: return WithElement(w_, like, ir::TypeKind::Bool);
    case Op::Where: return w_.TypeOf(args[1]).type;
    case Op::ReduceSum:
    case Op::ReduceMean: return ReducedType(w_, args[0], in_);
    case Op::Expand: return w_.TypeOf(in_.result).type;
    default: return like;
  }
}

uint32_t Rule::AttrOf(Op op) const {
  if (ir::FactsOf(op).attribute != ir::Attribute::Axes) return 0;
  return op == Op::ReduceSum || op == Op::ReduceMean ? ReducedAxis(w_, in_) : in_.attr;
}

// What is linear in the direction is 0 where that is 0, whatever the factor is: a branch, or a lane, that was not taken may have a slope that
// is infinite or NaN.
Op Rule::OpOf(const DerivativeExpr& expr) {
  if (!HasDirection(expr) || llvm::any_of(expr.args, IsNumber)) return expr.op;
  return expr.op == Op::Mul ? Op::StrongMul : expr.op == Op::FDiv ? Op::StrongDiv : expr.op;
}

Value Rule::WriteOp(const DerivativeExpr& expr, ir::TypeId want) {
  Values args(expr.args.size());
  ir::TypeId like;
  for (size_t i = 0; i < args.size(); ++i) {
    if (IsNumber(expr.args[i])) continue;
    args[i] = Write(expr.args[i], {});
    if (!like.valid()) like = w_.TypeOf(args[i]).type;
  }
  for (size_t i = 0; i < args.size(); ++i)
    if (IsNumber(expr.args[i])) args[i] = Write(expr.args[i], TypeOfNumber(expr.op, i, like, want));
  return w_.Shared(OpOf(expr), args, want.valid() ? want : TypeOfResult(expr.op, args, like), AttrOf(expr.op));
}

}  // namespace

Value WriteDerivative(Writer& w, const ir::DerivativeExpr& expr, const DerivativeOperands& in) {
  return Rule(w, in).Write(expr, in.type);
}

}  // namespace df::fg
