// lower/graph/copy_call.h
//
// A call's callee copied into the function that calls it. Places remember the call, so call paths stay.
#pragma once

#include <vector>

#include "lower/graph/function_graph.h"
#include "tagged_ir/places.h"

namespace df::fg {

class CallCopier {
 public:
  explicit CallCopier(Program& program) : p_(program), places_(program.positions, program.files) {}

  // Whether a callee can be copied. What a paired function is given may come late; a call of a spread or placed one stays.
  static bool CanCopy(const Program& program, const Function& callee) {
    return !callee.delayed && !callee.paired && !callee.spread && PartOf(program, callee) == ir::kAnywhere;
  }
  // Adds copies of the callee's nodes to the function, those of its body to `nodes`, and gives what stands for the call's results.
  // A self tail call becomes a call of the callee. The callee is another function.
  std::vector<Value> Copy(Function& function, NodeId call, std::vector<NodeId>& nodes);

 private:
  bool GivesAction(const Function& callee) const;

  Program& p_;
  ir::Places places_;
};

}  // namespace df::fg
