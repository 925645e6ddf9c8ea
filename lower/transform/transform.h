// lower/transform/transform.h
//
// Function graphs -> the one tagged graph: the Call/Merge/Return transform of the paper (section 3) with the triggers,
// loops and delayed calls of docs/graph.md. Internal to this folder; lower/lower.h has the entry, Transform().
//
//   a function       a scope with one EntryMerge for its trigger and one per parameter
//   an Apply         a site: one trigger Call, one Call per argument, one Return per result; the trigger Call alone
//                    has control edges to the Returns
//   a Delay          a site whose operands wait; its body's result goes to the Return that fills the cell
//   a Branch         a Switch for its trigger and for each value that a block takes from outside, n-way for an Alt;
//                    a BranchMerge per result
//   self tail calls  a loop scope: Enter, LoopMerge, NextIteration and Exit per parameter, trigger and result
//
// The graph is linear in the program, but for the Switches: one per value and per Branch that it is passed into.
#pragma once

#include <deque>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "lower/graph/function_graph.h"
#include "lower/options/options.h"
#include "tagged_ir/graph.h"

namespace df::lower {

class Transformer {
 public:
  Transformer(const fg::Program& program, const LowerOptions& options) : program_(program), options_(options) {}
  ir::Graph Run();

 private:
  using Edges = llvm::SmallVector<ir::Edge, 4>;

  // What the graph holds of one function.
  struct Body {
    ir::ScopeId scope;
    ir::NodeId trigger;              // EntryMerge
    std::vector<ir::NodeId> params;  // EntryMerges
    std::vector<std::vector<ir::Edge>> arrivals;  // operands of the trigger's EntryMerge, then of the parameters'
    Edges results;
    struct Site {
      ir::SiteId id;
      llvm::SmallVector<ir::NodeId, 2> returns;  // one per result; operand 0 is set at the end
    };
    std::vector<Site> sites;
  };

  // The trigger of an activation, branch or iteration. That of a branch is switched when it is first asked for: a
  // branch that starts nothing needs none.
  struct Trigger {
    ir::Edge edge;           // invalid: not made yet
    Trigger* outer = nullptr;
    ir::Edge predicate;      // of the Branch
    uint32_t side = 0;
    std::vector<Trigger>* siblings = nullptr;  // the triggers of all sides are made at once
  };

  // What the end of a function with self tail calls yields: whether to go on, the next parameters, the results.
  struct Tail {
    ir::Edge go_on;
    Edges next;
    Edges results;
  };

  // transform.cpp
  Body& BodyOf(fg::FunctionId id);
  void EmitFunction(fg::FunctionId id);
  void EmitMain();
  Edges EmitBody(const fg::Function& function, llvm::ArrayRef<ir::Edge> params);
  Edges EmitBlock(fg::BlockId id);
  void EmitNode(fg::NodeId id);
  void EmitOp(fg::NodeId id);
  Edges EmitCall(fg::FunctionId callee, llvm::ArrayRef<fg::Value> operands, ir::PosId pos);
  void EmitDelay(fg::NodeId id);
  void WireSites();

  // transform/branch.cpp: what each Branch takes from outside, Switches, loops
  void EmitBranch(fg::NodeId id);
  void FindFreeValues(const fg::Function& function);
  void EnterSides(fg::NodeId branch, std::vector<Trigger>& triggers, std::vector<Edges>& sides);
  template <typename Emit>
  void OnSide(fg::NodeId branch, uint32_t side, std::vector<Trigger>& triggers, const std::vector<Edges>& sides,
              Emit emit);
  ir::Edge TriggerEdge(Trigger* trigger);
  Edges EmitLoop(const fg::Function& function, llvm::ArrayRef<ir::Edge> params);
  Tail EmitTail(fg::BlockId id);
  void EmitNodesBeforeTail(fg::BlockId id);
  Tail EmitTailBranch(fg::NodeId id);
  ir::Edge MergeSides(ir::Edge predicate, llvm::ArrayRef<ir::Edge> sides, ir::PortType type, ir::PosId pos);
  fg::NodeId TailBranch(fg::BlockId id) const;
  bool HasAgain(fg::BlockId id);
  void FindInvariants(fg::BlockId id, llvm::SmallVectorImpl<bool>& invariant) const;

  // Values of the function that is being emitted.
  ir::Edge EdgeOf(fg::Value value) const;
  void Define(fg::Value value, ir::Edge edge);
  // Adds a node whose operands may be values that are defined later: these are filled in then.
  ir::NodeId AddWithOperands(ir::Op op, llvm::ArrayRef<ir::Edge> before, llvm::ArrayRef<fg::Value> operands,
                             llvm::ArrayRef<ir::PortType> results, uint32_t attr, ir::PosId pos);
  ir::NodeId Add(ir::Op op, llvm::ArrayRef<ir::Edge> operands, llvm::ArrayRef<ir::PortType> results,
                 uint32_t attr = 0, ir::PosId pos = {});
  ir::Edge Constant(bool value);
  ir::Edge Dead(ir::PortType type);
  ir::PortType TriggerType() const { return {graph_.types.Builtin(ir::TypeKind::Trigger), false}; }
  ir::PortType BoolType() const { return {graph_.types.Builtin(ir::TypeKind::Bool), false}; }
  static uint64_t Key(fg::Value value) { return (uint64_t{value.node.index} << 32) | value.result; }

  const fg::Program& program_;
  const LowerOptions& options_;
  ir::Graph graph_;
  std::vector<std::unique_ptr<Body>> bodies_;  // by function; null until it is first used
  std::deque<fg::FunctionId> to_emit_;
  ir::ConstId bool_constants_[2];

  // Of the function that is being emitted:
  const fg::Function* function_ = nullptr;
  fg::FunctionId function_id_;
  ir::ScopeId scope_;
  Trigger* trigger_ = nullptr;
  llvm::DenseMap<uint64_t, ir::Edge> values_;
  struct Use {
    ir::NodeId node;
    uint32_t operand;
  };
  llvm::DenseMap<uint64_t, std::vector<Use>> awaited_;  // uses of values that are not defined yet
  llvm::DenseMap<uint32_t, llvm::SetVector<uint64_t>> free_values_;  // of each Branch
  llvm::DenseMap<uint32_t, bool> again_;  // of each block that was asked for: whether a self tail call ends it
  llvm::SmallVector<bool> invariant_;                                // parameters that no self tail call changes
};

}  // namespace df::lower
