// That branches are kept apart, and that results are never dead; that tokens of state have one use. See verify.h.
//
// The context of an edge is the chain of sides on which its datum depends: it is dead unless each of these
// sides is taken. Contexts are a tree, shared and numbered; context 0, the empty chain, is always live. Where
// it is not clear from the edges alone what an edge depends on (a predicate that was not switched into its
// branch, a loop whose values are dead when it ends), the context that is found is too short, never too long:
// what is refused here could not work.

#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/verify.h"

namespace df::ir {
namespace {

class ContextTree {
 public:
  ContextTree() { rows_.push_back({0, 0, 0, UINT32_MAX, 0}); }

  // `parent`, and side `side` of the predicate in row `predicate` of the graph's results.
  uint32_t Enter(uint32_t parent, uint32_t predicate, uint32_t side) {
    auto next = static_cast<uint32_t>(rows_.size());
    auto [it, is_new] = known_.try_emplace({uint64_t{parent} << 32 | predicate, side}, next);
    if (!is_new) return it->second;
    // Jumps as in a skew-binary list: any ancestor is found in a logarithmic number of steps.
    uint32_t jump = rows_[parent].jump, far = rows_[jump].jump;
    bool merge = rows_[parent].depth - rows_[jump].depth == rows_[jump].depth - rows_[far].depth;
    rows_.push_back({parent, merge ? far : parent, rows_[parent].depth + 1, predicate, side});
    return next;
  }

  uint32_t Depth(uint32_t context) const { return rows_[context].depth; }
  uint32_t Parent(uint32_t context) const { return rows_[context].parent; }
  uint32_t Predicate(uint32_t context) const { return rows_[context].predicate; }
  uint32_t Side(uint32_t context) const { return rows_[context].side; }

  uint32_t AncestorAt(uint32_t context, uint32_t depth) const {
    while (rows_[context].depth > depth)
      context = rows_[rows_[context].jump].depth >= depth ? rows_[context].jump : rows_[context].parent;
    return context;
  }

  // Whether the chains part at two sides of one predicate, so that never both are taken.
  bool Exclude(uint32_t a, uint32_t b) const {
    uint32_t depth = std::min(Depth(a), Depth(b));
    a = AncestorAt(a, depth);
    b = AncestorAt(b, depth);
    if (a == b) return false;
    while (rows_[a].parent != rows_[b].parent) {
      bool far = rows_[a].jump != rows_[b].jump;
      a = far ? rows_[a].jump : rows_[a].parent;
      b = far ? rows_[b].jump : rows_[b].parent;
    }
    return rows_[a].predicate == rows_[b].predicate;
  }

 private:
  struct Row {
    uint32_t parent, jump, depth, predicate, side;
  };
  std::vector<Row> rows_;
  llvm::DenseMap<std::pair<uint64_t, uint32_t>, uint32_t> known_;
};

// The operands on which the liveness of a node's results depends: [first, first + count).
std::pair<uint32_t, uint32_t> LivenessOperands(const Node& node) {
  switch (node.op) {
    case Op::EntryMerge:
    case Op::LoopMerge: return {0, 0};
    case Op::Return: return {1, node.num_inputs - 1};
    case Op::Exit: return {2, 1};
    case Op::Delay:
    case Op::BranchMerge:
    case Op::Outer: return {0, 1};
    default: return {0, node.num_inputs};
  }
}

}  // namespace

bool Verifier::CheckBranches() {
  ContextTree tree;
  std::vector<uint32_t> context(g.nodes.size(), 0);
  auto row_of = [&](Edge edge) { return g.nodes[edge.node].first_result + edge.port; };
  auto of_edge = [&](Edge edge) {
    if (g.nodes[edge.node].op != Op::Switch) return context[edge.node.index];
    return tree.Enter(context[edge.node.index], row_of(g.InputsOf(edge.node)[0]), edge.port);
  };

  auto liveness_operands = [&](NodeId id) {
    auto [first, count] = LivenessOperands(g.nodes[id]);
    return g.InputsOf(id).slice(first, count);
  };
  // An edge that leads back to a node in progress (a knot) says nothing.
  bool sides_agree = ForEachInPostOrder(g, liveness_operands, [&](NodeId id) {
    uint32_t first = LivenessOperands(g.nodes[id]).first;
    uint32_t deepest = 0;
    for (auto [k, operand] : llvm::enumerate(liveness_operands(id))) {
      uint32_t other = of_edge(operand);
      if (tree.Exclude(deepest, other))
        return FailAt(id, "operand {} comes from another side of a branch than those before it", first + k);
      if (tree.Depth(other) > tree.Depth(deepest)) deepest = other;
    }
    context[id.index] = deepest;
    return true;
  });
  if (!sides_agree) return false;

  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    NodeId id(i);
    const Node& node = g.nodes[id];
    llvm::ArrayRef<Edge> in = g.InputsOf(id);
    if ((node.op == Op::Return || node.op == Op::Result) && of_edge(in[0]) != 0)
      return FailAt(id, "operand 0 is there only if a branch is taken");
    if (node.op != Op::BranchMerge) continue;
    uint32_t outside = of_edge(in[0]);
    for (uint32_t k = 1; k < in.size(); ++k) {
      uint32_t side = of_edge(in[k]);
      if (tree.Depth(side) <= tree.Depth(outside)) continue;
      side = tree.AncestorAt(side, tree.Depth(outside) + 1);
      if (tree.Parent(side) == outside && tree.Predicate(side) == row_of(in[0]) && tree.Side(side) != k - 1)
        return FailAt(id, "operand {} comes from side {} of its predicate", k, tree.Side(side));
    }
  }
  return true;
}

// That each state token has one use (docs/references.md). A token that two ops took would leave open in which order they change memory. An
// op that only looks, or makes a new array, gives no token but its result: the one that comes next is After's, which takes that result and
// the token that was looked under.
bool Verifier::CheckTokens() {
  std::vector<NodeId> taker(g.results.size());
  // What looks under each token, of which After says that it has been done.
  std::vector<NodeId> looks(g.results.size());
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const NodeId id(i);
    llvm::ArrayRef<Edge> in = g.InputsOf(id);
    for (uint32_t k = 0; k < in.size(); ++k) {
      if (KindOf(in[k]) != TypeKind::State) continue;
      // The guard of a Seq is asked only whether it has failed. What goes to the next iteration, or leaves the loop, goes where the loop's
      // predicate says, and nothing else of the loop is there then.
      const Op op = g.nodes[id].op;
      if ((op == Op::Seq && k == 0) || op == Op::NextIteration || op == Op::Exit) continue;
      const uint32_t row = g.nodes[in[k].node].first_result + in[k].port;
      const bool look = IsLookOfState(op);
      NodeId& before = (look ? looks : taker)[row];
      // What a body gives goes back to the one call that its activation is of.
      if (op == Op::Return && before.valid() && g.nodes[before].op == Op::Return) continue;
      if (before.valid()) return FailAt(id, "{} takes the same token: a token has one use", Name(before));
      before = id;
    }
  }
  for (size_t row = 0; row < looks.size(); ++row) {
    if (!looks[row].valid() || !taker[row].valid()) continue;
    const NodeId after = taker[row];
    if (g.nodes[after].op != Op::After || g.InputsOf(after)[0].node != looks[row])
      return FailAt(after, "{} looks under the same token, and nothing says that it has been done", Name(looks[row]));
  }
  return true;
}

}  // namespace df::ir
