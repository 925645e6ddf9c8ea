// lower/gradient/cut.h
//
// Which nodes of a paired body belong to the forward pass and which to the gradient, and what the one has to keep for the
// other. Internal to gradient/table.cpp.
#pragma once

#include <optional>
#include <set>

#include "lower/graph/function_graph.h"

namespace df::fg {

// How one paired body is cut.
struct Cut {
  std::vector<bool> cotangents;                  // by result of the function: those that hang on its own cotangents
  std::vector<llvm::SmallVector<bool, 2>> late;  // by node and result: the same
  std::set<Value> forward, gradient;             // what each of the two has to compute
  std::vector<Value> kept;                       // of the forward pass, for the gradient; in the order of the nodes
};

// The cuts of all paired bodies of a program.
class Cuts {
 public:
  explicit Cuts(const Program& program);

  // Null: the function stays as it is. So does one with a second derivative in it, whose own paired calls give their values
  // only together with cotangents, and one with a branch that may fail where nobody needs it.
  const Cut* Of(FunctionId function) const {
    return cuts_[function.index] ? &*cuts_[function.index] : nullptr;
  }
  // A call or Delay of a function that is cut.
  bool IsCutCall(const Node& node) const {
    return (node.kind == NodeKind::Apply || node.kind == NodeKind::Delay) && Of(node.callee);
  }
  // Whether values, or cotangents, of such a call are among `needed`.
  bool CallsValues(const std::set<Value>& needed, NodeId id, const Node& node) const;
  bool CallsGradient(const std::set<Value>& needed, NodeId id, const Node& node) const;

 private:
  bool FindLate(FunctionId id);
  bool FindNeeds(FunctionId id);
  bool IsKept(const Function& function, const Cut& cut, Value value) const;
  void Need(const Function& function, Cut& cut, bool gradient, std::vector<Value> work);

  const Program& p_;
  std::vector<std::optional<Cut>> cuts_;
};

}  // namespace df::fg
