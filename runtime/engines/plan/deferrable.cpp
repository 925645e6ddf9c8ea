// Which ops on tensors may be deferred (docs/batching.md).
#include "runtime/engines/plan/build.h"
#include "runtime/ops/tensor_kernels.h"
#include "tagged_ir/op_facts.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;
using ir::TypeKind;

bool IsDeferrable(const ir::Graph& g, NodeId id) {
  const ir::Node& node = g.nodes[id];
  if (ir::InfoOf(node.op).cls != ir::OpClass::Ordinary || node.op == Op::Const || node.num_inputs == 0) return false;
  KernelTypes types = TypesOf(g, id);
  if (!WorksOnTensors(node.op, types) || types.result != TypeKind::Tensor) return false;
  llvm::ArrayRef<Edge> in = g.InputsOf(id);
  for (Edge edge : in)
    if (g.TypeOf(edge).lazy) return false;
  switch (ir::FactsOf(node.op).batch) {
    case ir::Batch::Batched:
    case ir::Batch::OneByOne: return true;
    // At a word when they are deferred.
    case ir::Batch::BatchedAtInt: return g.types.Kind(g.TypeOf(in[static_cast<size_t>(ir::FactsOf(node.op).index)]).type) == TypeKind::Int;
    case ir::Batch::Alone:
    case ir::Batch::Unsaid: return false;
  }
  return false;
}

}  // namespace df::tagged
