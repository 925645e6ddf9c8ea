// See gradient_rules.h.
#include "lower/gradient_rules.h"


namespace df::fg {

Value WriteDerivative(Writer& w, const ir::DerivativeExpr& expr, const DerivativeOperands& in) {
  using Kind = ir::DerivativeExpr::Kind;
  switch (expr.kind) {
    case Kind::Operand: return in.operands[expr.operand];
    case Kind::Result: return in.result;
    case Kind::Direction: return in.direction;
    case Kind::Number: return w.Real(w.TypeOf(in.direction).type, expr.number);
    case Kind::If: {
      Value predicate = WriteDerivative(w, expr.args[0], in);
      NodeId branch = w.Branch(predicate, 2, PortType{in.type, false}, [&](uint32_t side) -> Values {
        return {WriteDerivative(w, expr.args[side + 1], in)};
      });
      return {branch, 0};
    }
    case Kind::Op: break;
  }
  Values args;
  for (const ir::DerivativeExpr& arg : expr.args) args.push_back(WriteDerivative(w, arg, in));
  ir::TypeId type = w.TypeOf(args[0]).type;
  if (expr.op == ir::Op::Convert) type = in.type;
  if (expr.op == ir::Op::Gt || expr.op == ir::Op::Lt || expr.op == ir::Op::Eq)
    type = w.program().types.Builtin(ir::TypeKind::Bool);
  return w.Op(expr.op, args, type);
}

}  // namespace df::fg
