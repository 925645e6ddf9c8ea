// Values that are operands of whoever uses them and have no slot: Const nodes, and where tensors are batched small tensors of one number.
// A gradient is full of the latter, as the 1 of 1 - y * y: each activation would make its own. See plan/build.h.
#include <map>

#include "runtime/engines/plan/build.h"
#include "runtime/ops/tensor_kernels.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;

// A tensor of one number is ready when the number is, often long before what it is multiplied with. It is large where the number is small; and next to its
// user it may be that nobody has to make it (BatchRegion::Step).
static void FindMadeAtUse(Wiring& wiring) {
  const ir::Graph& g = wiring.g;
  std::vector<uint32_t> uses(g.results.size(), 0);
  for (uint32_t n = 0; n < g.nodes.size(); ++n)
    for (ir::Edge edge : g.InputsOf(NodeId(n))) ++uses[wiring.RowOf(edge)];
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (!IsDeferrable(g, NodeId(n))) continue;
    for (ir::Edge edge : g.InputsOf(NodeId(n))) {
      if (g.nodes[edge.node].op != Op::Expand || g.nodes[edge.node].scope != g.nodes[NodeId(n)].scope || uses[wiring.RowOf(edge)] != 1) continue;
      bool number = g.types.Kind(g.TypeOf(wiring.In(edge.node, 0)).type) != ir::TypeKind::Tensor;
      wiring.made_at_use[edge.node.index] = number && !wiring.IsConstant(edge.node);
    }
  }
  // The product of a step as well: where the weight and its gradient stand behind lazy fields, they come one after the other.
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (g.nodes[NodeId(n)].op != Op::Sub || !IsDeferrable(g, NodeId(n))) continue;
    const ir::Edge product = wiring.In(NodeId(n), 1);
    if (g.nodes[product.node].op != Op::Mul || g.nodes[product.node].scope != g.nodes[NodeId(n)].scope || uses[wiring.RowOf(product)] != 1) continue;
    for (ir::Edge factor : g.InputsOf(product.node))
      if (wiring.made_at_use[factor.node.index]) wiring.made_at_use[product.node.index] = true;
  }
}

void FindConstants(Wiring& wiring, Program& program, bool filled) {
  constexpr size_t kMostBytes = 4096;
  const ir::Graph& g = wiring.g;
  for (uint32_t c = 0; c < g.constants.size(); ++c) program.constants.push_back(Materialize(g, ir::ConstId(c)));
  if (!filled) return;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> made;  // by number and type
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    NodeId id(n);
    if (g.nodes[id].op != Op::Expand) continue;
    NodeId from = wiring.In(id, 0).node;
    while (g.nodes[from].op == Op::Switch) from = wiring.In(from, 1).node;
    if (g.nodes[from].op != Op::Const) continue;
    const Value& number = program.constants[g.nodes[from].attr];
    ir::TypeId type_id = g.TypeOf({id, 0}).type;
    const ir::Type& type = g.types[type_id];
    if (!number.is_word() || ir::BytesOf(type) > kMostBytes) continue;
    auto [it, fresh] = made.try_emplace({g.nodes[from].attr, type_id.index}, static_cast<uint32_t>(program.constants.size()));
    if (fresh) {
      KernelError error;
      bool failed = false;
      program.constants.push_back(ApplyTensor(Op::Expand, TypesOf(g, id), g.nodes[id].attr, number, &error, &failed));
    }
    wiring.constant_of[n] = it->second;
  }
  FindMadeAtUse(wiring);
}

}  // namespace df::tagged
