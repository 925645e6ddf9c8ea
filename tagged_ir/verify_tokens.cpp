// That each state token has one use (docs/references.md). See verify.h.
//
// A token that two ops took would leave open in which order they change memory. An op that only looks, or makes a new array, gives no token
// but its result: the one that comes next is After's, which takes that result and the token that was looked under.

#include "tagged_ir/verify.h"

namespace df::ir {

bool Verifier::CheckTokens() {
  std::vector<NodeId> taker(g.results.size());
  // What looks under each token, of which After says that it has been done.
  std::vector<NodeId> looks(g.results.size());
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const NodeId id(i);
    llvm::ArrayRef<Edge> in = g.InputsOf(id);
    for (uint32_t k = 0; k < in.size(); ++k) {
      if (KindOf(in[k]) != TypeKind::State) continue;
      const uint32_t row = g.nodes[in[k].node].first_result + in[k].port;
      const bool look = IsLookOfState(g.nodes[id].op);
      NodeId& before = (look ? looks : taker)[row];
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
