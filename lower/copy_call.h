// lower/copy_call.h
//
// A call's callee copied into the function that calls it. Places remember the call, so call paths stay.
#pragma once

#include <map>
#include <vector>

#include "lower/function_graph.h"

namespace df::fg {

class CallCopier {
 public:
  explicit CallCopier(Program& program) : p_(program) {}

  // Whether a callee can be copied. What a paired function is given may come late.
  static bool CanCopy(const Function& callee) { return !callee.delayed && !callee.paired; }
  // Adds copies of the callee's nodes to the function, those of its body to `nodes`, and gives what stands for the call's results.
  // A self tail call becomes a call of the callee. The callee is another function.
  std::vector<Value> Copy(Function& function, NodeId call, std::vector<NodeId>& nodes);

 private:
  bool GivesAction(const Function& callee) const;
  bool IsOwn(ir::PosId pos) const;
  ir::PosId InlinedAt(ir::PosId pos, ir::PosId site, bool action);

  Program& p_;
  std::map<std::pair<uint32_t, uint32_t>, ir::PosId> inlined_;
};

}  // namespace df::fg
