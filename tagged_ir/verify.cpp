// Verify, and the names that its messages use. The parts are in verify_tables.cpp, verify_nodes.cpp,
// verify_wiring.cpp and verify_branches.cpp.

#include "tagged_ir/verify.h"

#include "tagged_ir/spread.h"

namespace df::ir {

std::string Verifier::Run() {
  if (CheckTables() && CheckNodes() && CheckWiring() && CheckCycles() && CheckBranches()) return CheckSpread(g);
  return error_;
}

std::string Verifier::Name(NodeId id) const {
  const Node& node = g.nodes[id];
  bool known = static_cast<uint32_t>(node.op) < OpCount();
  return fmt::format("node {} ({})", id.index, known ? InfoOf(node.op).name : "?");
}

std::string Verifier::ScopeName(ScopeId id) const { return "`" + g.scopes[id].name + "`"; }

std::string Verify(const Graph& graph) { return Verifier(graph).Run(); }

}  // namespace df::ir
