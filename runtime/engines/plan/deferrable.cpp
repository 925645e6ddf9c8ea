// Which ops on tensors may be deferred (docs/batching.md).
#include "runtime/engines/plan/build.h"
#include "runtime/ops/tensor_kernels.h"
#include "tagged_ir/tensor_rules.h"

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
  auto type_of = [&](size_t k) -> const ir::Type& { return g.types[g.TypeOf(in[k]).type]; };
  for (Edge edge : in)
    if (g.TypeOf(edge).lazy) return false;
  switch (node.op) {
    case Op::MatMul:
    case Op::Gemm:
    case Op::Where:
    case Op::ReduceSum:
    case Op::ReduceMean:
    case Op::ReduceMax:
    case Op::ReduceMin:
    case Op::ArgMax:
    case Op::Softmax:
    case Op::LogSoftmax:
    case Op::LayerNormalization:
    case Op::Concat:
    case Op::Slice:
    case Op::Transpose:
    case Op::Reshape:
    case Op::Expand:
    case Op::OneHot:
    case Op::Convert: return true;
    // These look at an index: at a word when they are deferred.
    case Op::Gather:
    case Op::GetElement:
    case Op::SetElement:
    case Op::SliceAt: return type_of(1).kind == TypeKind::Int;
    default:
      return node.op == Op::Trilu || ir::MayGiveFailedTensor(node.op) || (ir::IsElementwise(node.op) && type_of(0).kind == TypeKind::Tensor);
  }
}

}  // namespace df::tagged
