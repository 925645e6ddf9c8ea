// lower/gradient/dual.h
//
// Forward mode: a function on duals. A real number that is evaluated becomes two values, itself and its tangent; what may
// be a reference, or is data, is one value of the dual type (gradient/types.h). All else stays: loops, delays, knots, also
// those of paired functions, so that forward mode over reverse mode gives second derivatives.
#pragma once

#include "lower/gradient/types.h"

namespace df::fg {

class Gradients;

class DualBuilder {
 public:
  DualBuilder(Gradients& all, Function function);
  Function Run();

  // Name, parameters and results.
  static Function Signature(GradientTypes& types, const Function& function);
  // What a value of this type becomes.
  static llvm::SmallVector<PortType, 2> Parts(GradientTypes& types, PortType type);

 private:
  // What a value of the function is here: of a real number that is evaluated, the number, and its tangent if it has
  // one; of all else one value.
  struct Held {
    Value value;
    std::optional<Value> tangent;
  };
  bool Active(Value value) { return types_.Active(from_.TypeOf(value).type); }
  bool InTwo(PortType type) const { return types_.IsVector(type.type) && !type.lazy; }
  Held Get(Value value);
  void Define(Value value, Held held);
  void Append(Value value, PortType as, Values& out);
  Values PartsOf(llvm::ArrayRef<Value> values, llvm::function_ref<PortType(size_t)> type);
  Held Unpack(Value dual, PortType type);
  Held Placeholder(PortType type);

  BlockId Copy(BlockId block, llvm::function_ref<PortType(size_t)> yield_type);
  void CopyNode(NodeId id);
  void CopyOp(NodeId id);
  void CopyCall(NodeId id);
  void CopyBranch(NodeId id);
  void DefineResults(NodeId from, NodeId to);

  Gradients& all_;
  GradientTypes& types_;
  const Function from_;
  Function to_;
  Writer w_;
  std::map<Value, Held> held_;
  std::map<Value, Held> awaited_;             // placeholders for values that are used before they are there
  llvm::DenseMap<uint32_t, Value> replaced_;  // placeholders that are
};

// A call of the dual of `node`'s callee on operands of which the last one has a tangent: its value and the tangent.
Values CallDual(Gradients& all, Writer& w, const Node& node, llvm::ArrayRef<Value> operands, Value tangent);

}  // namespace df::fg
