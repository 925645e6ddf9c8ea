// lower/gradient/errors.h
//
// Which values of a function may be errors although the function has a value. What is cheap is computed before it is asked for
// (Builder::Lazy), and an error spoils only what uses it: in `let e = error "no" * x in head [x, e]` the product fails, and nobody
// looks. A gradient must not look either. Internal to the gradient passes.
#pragma once

#include <map>
#include <set>

#include "lower/graph/function_graph.h"

namespace df::fg {

class UnneededErrors {
 public:
  // Of a function without self tail calls; with a value: for those of its results that `counts` names.
  UnneededErrors(const Program& program, const Function& function);
  UnneededErrors(const Program& program, const Function& function, llvm::function_ref<bool(uint32_t)> counts);

  bool MayBe(Value value) const { return errors_.count(value) > 0; }
  // Whether all that hangs on the operands of a node may be an error: an op's result, what a Branch gives if its predicate is one,
  // all results of a call.
  bool MayFail(NodeId node) const;

 private:
  // The values that have not failed, of this block and of those around it, if this yield of it has not.
  const std::set<Value>& Needs(BlockId block, uint32_t yield);
  // What a value needs of its own block and of those around it.
  void AddOperands(Value value, std::vector<Value>& work);
  // Notes what is needed in a block of which a yield is, and in those inside.
  void Mark(BlockId block, uint32_t yield);
  void FindErrors();

  const Program& p_;
  const Function& f_;
  std::vector<BlockId> home_;  // by node
  std::map<std::pair<uint32_t, uint32_t>, std::set<Value>> needs_;
  std::set<std::pair<uint32_t, uint32_t>> marked_;
  std::set<Value> needed_, errors_;
};

}  // namespace df::fg
