// tagged_ir/verify.h
//
// The parts of Verify, for its own files only. Each part trusts what the parts before it have checked:
//
//   CheckTables   types, positions, scopes, sites, constants, inputs and results of the graph
//   CheckNodes    each node for itself: handles in range, signature, attribute
//   CheckWiring   both ends of each edge, calls, loops, alternatives
//   CheckCycles   what could never fire
//   CheckBranches that branches are kept apart, and that results are never dead
//   CheckTokens   that each token of state has one use
//
// Each takes time linear in the graph (but for a logarithm of the nesting of branches) and stops at the first
// fault.
#pragma once

#include <string>
#include <utility>
#include <unordered_map>
#include <vector>

#include "fmt/format.h"
#include "tagged_ir/graph.h"

namespace df::ir {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : g(graph) {}
  std::string Run();

 private:
  bool CheckTables();
  bool CheckNodes();
  bool CheckWiring();
  bool CheckCycles();
  bool CheckBranches();
  bool CheckTokens();

  // verify_tables.cpp
  bool CheckTypes();
  bool CheckPositions();
  bool CheckScopes();
  bool CheckSites();
  bool CheckConstants();
  bool CheckPorts();
  bool CheckPos(PosId pos, const std::string& owner);
  bool LayOutScopes();

  // verify_nodes.cpp
  bool CheckHandles(NodeId id);
  bool CheckSignature(NodeId id);
  bool CheckAttribute(NodeId id);
  bool CheckTensors(NodeId id);
  bool CheckTable(NodeId id);
  bool CheckElements(NodeId id);
  bool CheckConstruct(NodeId id);
  bool CheckField(NodeId id);

  // verify_wiring.cpp
  bool CheckPlace(NodeId id);
  bool CheckEdges(NodeId id);
  bool CheckCallSite(NodeId id);
  bool CheckEntryMerge(NodeId id);
  bool CheckLoopNode(NodeId id);
  bool CheckGraphPorts();
  bool CheckSitesComplete();
  bool CheckAlternatives();
  // The scope under whose tags a result appears, and from whose tags an operand must come.
  ScopeId ScopeOfResult(Edge edge) const;
  ScopeId ScopeOfOperand(NodeId id, uint32_t index) const;
  SiteId SiteFeeding(Edge edge) const;
  bool IsTriggerCall(NodeId id) const;

  // Whether `outer` is `inner` or one of its ancestors. After LayOutScopes.
  bool Encloses(ScopeId outer, ScopeId inner) const {
    return first_[outer.index] <= first_[inner.index] && last_[inner.index] <= last_[outer.index];
  }
  TypeKind KindOf(Edge edge) const { return g.types.Kind(g.TypeOf(edge).type); }
  std::string Name(NodeId id) const;
  std::string ScopeName(ScopeId id) const;

  template <typename... Args>
  bool Fail(fmt::format_string<Args...> format, Args&&... args) {
    error_ = fmt::format(format, std::forward<Args>(args)...);
    return false;
  }
  template <typename... Args>
  bool FailAt(NodeId id, fmt::format_string<Args...> format, Args&&... args) {
    error_ = Name(id) + ": " + fmt::format(format, std::forward<Args>(args)...);
    return false;
  }

  const Graph& g;
  std::string error_;
  std::vector<uint32_t> first_,
      last_;  // of each scope: its numbers before and after a walk of its descendants

  struct SiteUse {
    NodeId delay, trigger_call, cell_return;
    NodeId any_return;
  };
  std::vector<SiteUse> sites_;
  struct LoopUse {
    NodeId trigger_enter;
    Edge predicate;  // of its NextIterations and Exits
    NodeId predicate_user;
  };
  std::vector<LoopUse> loops_;
  std::vector<NodeId> trigger_entry_;  // of each function: the EntryMerge of its trigger
  std::vector<uint32_t> sites_into_;   // of each scope: how many sites enter it
  std::vector<uint32_t> stamp_;        // of each site: the last EntryMerge that it was seen at
  std::unordered_map<uint32_t, TypeId> entry_types_;  // of tables of activations, by number
  std::unordered_map<uint32_t, TypeId> element_types_;  // of arrays that change, by the ops' attribute
  std::vector<bool> merged_;           // of each row of g.results: whether a merge takes it
};

}  // namespace df::ir
