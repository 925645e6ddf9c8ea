// Tensors made of numbers alone go into the region that uses them, where it is one. See plan/build.h.
//
// The cotangent of one element of a vector is SetElement 0 k d, and its sum and what is spread of that are ops on numbers too. They are
// ready as soon as d is, before what the forward pass has computed may be there: a region of their own, whose group would not be deferred,
// so that each activation would compute a handful of tiny tensors one by one. Next to their users they are a part of the group there.
#include "llvm/ADT/STLExtras.h"
#include "runtime/engines/plan/build.h"
#include "tagged_ir/op_facts.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

namespace {

// Whether an op fails for operands that are no errors.
enum class Fails { Never, Checked, Perhaps };  // Checked: with what it needs for that there from the beginning, but for numbers
Fails MayFail(const Wiring& w, NodeId id) {
  const ir::Graph& g = w.g;
  const ir::OpFacts& facts = ir::FactsOf(g.nodes[id].op);
  if (!facts.fails) return Fails::Never;
  if (facts.shape != ir::Shape::ElementOf && facts.shape != ir::Shape::ElementSet) return Fails::Perhaps;
  const ir::Node& index = g.nodes[w.In(id, static_cast<uint32_t>(facts.index)).node];
  if (index.op == Op::Const) {
    auto at = static_cast<int64_t>(g.constants[ir::ConstId(index.attr)].word);
    return at >= 0 && at < ElementsOfFirst(g, id) ? Fails::Never : Fails::Perhaps;
  }
  return facts.shape == ir::Shape::ElementSet && w.IsConstant(w.In(id, 0).node) ? Fails::Checked : Fails::Perhaps;
}

}  // namespace

void FindOfNumbers(Wiring& wiring) {
  const ir::Graph& g = wiring.g;
  wiring.of_numbers.assign(g.nodes.size(), false);
  wiring.checked.assign(g.nodes.size(), false);
  // Operands may have higher numbers; what is found so late is left where it is.
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    NodeId id(n);
    if (wiring.IsConstant(id) || wiring.made_at_use[n] || !IsDeferrable(g, id) || MayFail(wiring, id) == Fails::Perhaps) continue;
    wiring.of_numbers[n] = llvm::all_of(g.InputsOf(id), [&](Edge edge) {
      bool number = g.types.Kind(g.TypeOf(edge).type) != ir::TypeKind::Tensor;
      return number || wiring.IsConstant(edge.node) || wiring.of_numbers[edge.node.index];
    });
  }
  // Who else uses it may want it at once.
  for (uint32_t n = 0; n < g.nodes.size(); ++n)
    for (Edge edge : g.InputsOf(NodeId(n)))
      if (!IsDeferrable(g, NodeId(n)) || g.nodes[NodeId(n)].scope != g.nodes[edge.node].scope)
        wiring.of_numbers[edge.node.index] = false;
}

// After all nodes were visited. Users come first: what they use may go with them.
void Partition::Sink(const std::vector<NodeId>& order) {
  if (w_.of_numbers.empty()) return;
  llvm::DenseMap<uint32_t, uint32_t> used_in;  // by node: the set of all its users; kNever: there are several
  for (NodeId id : llvm::reverse(order)) {
    if (IsDeferrable(g_, id)) {
      if (auto to = used_in.find(id.index); w_.of_numbers[id.index] && to != used_in.end() && to->second != kNever) {
        uint32_t from = SetOf({id, 0});
        if (from != kNever && from != to->second) {
          std::vector<Item>& items = regions[RegionOf(from)].local;
          auto item = llvm::find_if(items, [&](const Item& i) { return i.node == id; });
          Item moved = *item;
          if (MayFail(w_, id) == Fails::Checked) {
            item->code = Code::Check;
            w_.checked[id.index] = true;
          } else {
            items.erase(item);
          }
          std::vector<Item>& there = regions[RegionOf(to->second)].local;
          there.insert(there.begin(), moved);
          SetRow(id, 0, to->second);
        }
      }
    }
    uint32_t set = g_.nodes[id].num_results ? SetOf({id, 0}) : kNever;
    for (Edge edge : g_.InputsOf(id)) {
      if (!w_.of_numbers[edge.node.index]) continue;
      auto [it, fresh] = used_in.try_emplace(edge.node.index, set);
      if (!fresh && it->second != set) it->second = kNever;
    }
  }
}

}  // namespace df::tagged
