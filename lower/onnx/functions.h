// lower/onnx/functions.h
//
// Function graphs -> graphs of ONNX. A call's callee is written where the call stands; a function that calls itself in its tail is a Loop, a
// branch an If, an expression that is delayed is written where it is first needed. Nodes are written as somebody asks for their values, each
// into the graph of its own block.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "lower/onnx/ops.h"

namespace df::to_onnx {

// A function's parameter: a value, or how to get it when it is asked for.
struct Argument {
  Value value;
  std::function<Value()> ask;
};

// One call of a function, as it is written out.
struct Activation {
  fg::FunctionId id;
  const fg::Function* function = nullptr;
  const Activation* caller = nullptr;
  std::vector<Argument> params;
  struct NodeState {
    std::vector<Value> results;
    std::vector<bool> busy;      // of each result: somebody has asked for it who waits
    Activation* callee = nullptr;
  };
  std::vector<NodeState> nodes;
  std::vector<Subgraph*> graphs;  // of each block that has been entered
};

class Functions {
 public:
  Functions(Writer& writer, const fg::Program& program) : w_(writer), program_(program), ops_(writer, program.types), facts_(program.functions.size()) {}

  // The results of the program's main of these inputs, evaluated to their ends. Throws a Refusal.
  std::vector<Value> Main(std::vector<Value> inputs);

 private:
  // Of a function, found once.
  struct Facts {
    bool found = false;
    bool loops = false;               // it calls itself in its tail
    std::vector<fg::BlockId> home;    // of each node
    std::vector<bool> invariant;      // parameters that no such call changes
    int may_loop = -1;                // it, or what it calls
  };
  struct Tail {
    Tensor go_on;
    std::vector<Value> next, results;
  };
  // A branch while its sides are written.
  struct Sides {
    Subgraph* here;
    Value predicate;
    bool boolean;
    std::vector<uint32_t> which;         // the alternatives that there may be
    std::vector<Subgraph*> graphs;       // of these; of one alone it is `here`
    std::vector<Subgraph*> rests;        // what is not the first, second, ..
    std::vector<Tensor> outputs;
    std::vector<std::vector<Tensor>> given;  // of each output, by side
  };

  // functions.cpp
  const Facts& FactsOf(fg::FunctionId id);
  bool MayLoop(fg::FunctionId id);
  Activation& Enter(fg::FunctionId id, const Activation* caller, std::vector<Argument> params, ir::PosId pos);
  Value Eval(Activation& at, fg::Value value);
  Value EvalNode(Activation& at, fg::NodeId id, uint32_t result);
  Value EvalOp(Activation& at, fg::NodeId id);
  Value EvalPlain(Activation& at, fg::NodeId id);
  Value EvalConst(ir::ConstId id);
  Value EvalConstruct(Activation& at, const fg::Node& node);
  Value Delayed(Activation& at, fg::NodeId id);
  Value Evaluated(const Value& value);
  Value Settled(const Value& value, bool loops_too);
  Value Surely(ir::TypeId type);
  std::vector<Argument> ArgumentsOf(Activation& at, const fg::Node& node);
  [[noreturn]] void Refuse(std::string what, std::string why, std::string hint = "") const;
  // branches.cpp
  void CheckNesting(const Subgraph* graph) const;
  void EvalBranch(Activation& at, fg::NodeId id, std::optional<uint32_t> only);
  Sides Open(const Value& predicate, size_t count);
  void Close(Sides& sides);
  Value JoinSides(Sides& sides, llvm::ArrayRef<Value> values);
  Tensor LeafOf(Sides& sides, llvm::ArrayRef<Tensor> tensors, const Tensor& wanted);
  void EvalBranchResult(Activation& at, fg::NodeId id, uint32_t result);
  static void NodesIn(const fg::Function& function, fg::BlockId block, std::vector<fg::NodeId>& nodes);
  std::vector<Value> Loop(fg::FunctionId id, const Activation* caller, std::vector<Argument> params, ir::PosId pos);
  bool LoopOnce(fg::FunctionId id, const Activation* caller, const std::vector<Argument>& params, llvm::ArrayRef<Value> first,
                std::vector<Value>& shapes, std::vector<Value>& results, ir::PosId pos);
  Tail EvalTail(Activation& at, fg::BlockId block);
  Tail EvalTailBranch(Activation& at, fg::NodeId branch);
  static fg::NodeId TailBranch(const fg::Function& function, fg::BlockId block);
  static bool HasAgain(const fg::Function& function, fg::BlockId block);
  static void FindInvariants(const fg::Function& function, fg::BlockId block, std::vector<bool>& invariant);

  Writer& w_;
  const fg::Program& program_;
  Ops ops_;
  std::vector<Facts> facts_;
  std::deque<Activation> activations_;
  ir::PosId pos_;   // of what is being written
  uint64_t steps_ = 0;
  uint32_t depth_ = 0;
};

}  // namespace df::to_onnx
