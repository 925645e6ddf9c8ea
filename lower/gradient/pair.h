// lower/gradient/pair.h
//
// Reverse mode: a function and its gradient in one body (the paper, section 4; docs/gradients.md walks through one).
//
//   f(p1 .. pn) -> [y1 .. ym]   becomes   f.paired(p1 .. pn, dy1 .. dym) -> [y1 .. ym, dp1 .. dpn]
//
// with a dy and a dp for each result and parameter that holds real numbers. The body keeps the nodes of f as they are;
// behind them, in each block, come those that turn the cotangents of what a node gives into those of what it took. A call
// of a function that gets a cotangent becomes a call of its paired body: one site, whose cotangents arrive late. A Branch
// yields, besides its values, a cotangent for each value that some alternative took from outside.
#pragma once

#include "lower/gradient/errors.h"
#include "lower/gradient/types.h"
#include "tagged_ir/derivative.h"

namespace df::fg {

class Gradients;

// What refused a derivative.
struct GradientFault {
  ir::Op op;
  ir::PosId pos;
};

class PairBuilder {
 public:
  PairBuilder(Gradients& all, Function function);
  // The paired body; its name, parameters and results are those of PairedSignature.
  Function Run();

  // In the body: what stands for cotangents that need themselves (knots.h).
  llvm::ArrayRef<NodeId> failures() const { return failures_; }

  // Name, parameters and results.
  static Function Signature(GradientTypes& types, const Function& function);

 private:
  // What has been added to the cotangent of a value so far, in one block.
  struct Sum {
    Values whole;
    std::map<uint32_t, std::vector<std::optional<Value>>> fields;  // by constructor: of what was taken out of it
  };
  // A block while its gradient is written. Sums are of the block's own values, and of those it takes from outside.
  struct Scope {
    BlockId block;
    std::map<Value, Sum> sums;
    std::map<Value, Value> late;  // values that earlier nodes use, too: a node that stands for the sum
  };
  // A node that may have failed in vain, while its gradient is written: what came for its results and what goes to its operands.
  // A call's operand that cannot change some result does not wait for what came for that.
  struct Guard {
    struct Contribution {
      Value operand, cotangent;
    };
    std::vector<Value> cotangents;
    std::map<std::vector<Value>, std::vector<Contribution>> contributions;  // by the cotangents that they come of
  };

  void CallsForTailCalls();
  void FindLate(BlockId block);
  bool Active(Value value) { return types_.Active(w_.TypeOf(value).type); }
  // The type of a value for its cotangent: what may be an error that nobody needs is as lazy as a reference.
  PortType PortOf(Value value) const {
    PortType type = w_.TypeOf(value);
    type.lazy |= errors_->MayBe(value);
    return type;
  }
  // Whether the cotangent of what a value is, a parameter or a field, is a sum of elements among others (gradient/elements.h).
  bool HasElements(Value value);
  ir::TypeId CotangentOf(Value value, bool lazy) {
    return HasElements(value) ? types_.SumOf(w_.TypeOf(value).type) : types_.Cotangent({w_.TypeOf(value).type, lazy});
  }
  ir::TypeId CotangentOf(Value value) { return CotangentOf(value, PortOf(value).lazy); }
  void Contribute(Value value, Value cotangent);
  void Contribute(Value value, Value cotangent, const std::vector<Value>& of);
  void ContributeField(Value data, uint32_t con, uint32_t field, Value cotangent);
  std::optional<Value> Total(Value value);
  std::optional<Value> TakeSum(Value value);
  Value OrZero(std::optional<Value> total, Value value);

  void Backward(BlockId block);
  void Transpose(NodeId id);
  void TransposeGuarded(NodeId id);
  void TransposeNode(NodeId id);
  void TransposeOp(NodeId id, Value cotangent);
  void TransposeConstruct(NodeId id);
  void TransposeApply(NodeId id);
  void TransposeDelay(NodeId id);
  void TransposeBranch(NodeId id);
  void ResolveLate(Scope& scope);
  bool NeedsItself(Value value) const;
  bool ComesOf(Value from, std::optional<Value> end, llvm::function_ref<bool(Value)> is) const;
  void FailKnots();

  Gradients& all_;
  GradientTypes& types_;
  Function f_;
  Writer w_;
  std::optional<UnneededErrors> errors_;
  std::optional<Guard> guard_;
  std::vector<BlockId> home_;       // of each node of the function itself
  std::map<Value, bool> used_late_;
  std::vector<Scope> scopes_;
  llvm::DenseMap<uint32_t, Value> replaced_;  // placeholders
  // Of what is used by earlier nodes: the value, the block, and its placeholder; what came for its cotangent as a whole, and whether something
  // came for a field of it.
  struct Knot {
    Value value, placeholder;
    BlockId block;
    Values whole;
    bool fields;
  };
  std::vector<Knot> knots_;
  std::vector<NodeId> failures_;
};

}  // namespace df::fg
