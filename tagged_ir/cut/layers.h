// tagged_ir/cut/layers.h
//
// Which nodes of a function go elsewhere together, for outline.h: those of one region of control, on one part, that can be computed at the same moment.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tagged_ir/cut/cut.h"

namespace df::ir {

inline constexpr uint32_t kNoRegion = UINT32_MAX;

// The body of a scope, or a side of a branch in it.
struct ControlRegion {
  ScopeId scope;
  uint32_t parent = kNoRegion;
  uint32_t depth = 0;
  Edge predicate;      // of a side; invalid: the body
  uint32_t side = 0;
  NodeId chooser;      // of a side: a Switch of the predicate
  Edge trigger;        // if there is one
};

struct CutPiece {
  ScopeId scope;               // from which it is taken
  uint32_t region = kNoRegion;
  uint32_t part = 0;
  std::vector<NodeId> nodes;   // in the order of their numbers; of a loop: those of the loop, Enters and Exits
  ScopeId loop;                // valid: this loop, whole
};

class Layers {
 public:
  Layers(const Graph& graph, const Cut& cut);

  // The pieces, in the order of their first nodes.
  std::vector<CutPiece> Pieces();
  std::vector<ControlRegion>& regions() { return regions_; }
  // The part of a function's frame, by the number of a scope in it; kAnywhere: wherever it is called.
  uint32_t HomeOf(ScopeId scope) const { return home_[scope.index]; }
  // Nodes that the cut has elsewhere and which stay.
  uint32_t stay() const { return stay_; }

 private:
  using Components = std::vector<uint32_t>;  // by node; a component has a larger number than those that it hangs on
  using Operands = std::vector<std::vector<uint32_t>>;

  void FindFunctions();
  void FindLoops();
  void FindCandidates();
  Operands OperandsWithin(bool through_calls) const;
  Components ComponentsOf(const Operands& operands) const;
  void FindLate();
  void Walk();
  void Place(NodeId node);
  uint32_t RegionOfEdge(Edge edge);
  uint32_t Side(uint32_t parent, Edge predicate, uint32_t side, NodeId chooser);
  uint32_t Deeper(uint32_t a, uint32_t b) const;
  std::vector<uint32_t> WaitsOf(NodeId node) const;
  std::set<uint32_t> ImpliedBy(uint32_t region) const;
  bool IsTrigger(Edge edge) const { return g.types.Kind(g.TypeOf(edge).type) == TypeKind::Trigger; }

  const Graph& g;
  const Cut& cut_;
  std::vector<ScopeId> function_;        // by scope: the function, or the root, around it
  std::vector<uint32_t> home_;           // by scope
  std::vector<bool> used_;               // by scope: something of it goes elsewhere
  std::vector<bool> whole_;              // by scope: a loop that goes whole
  std::vector<bool> candidate_;          // by node
  std::vector<bool> alone_;              // by node: on a cycle through the sides of merges
  std::vector<bool> late_;               // by node: may come later than the activation
  std::vector<uint32_t> region_, level_; // by node
  std::vector<std::vector<uint32_t>> waits_;  // by node: the nodes for which it waits, beside the activation
  std::vector<ControlRegion> regions_;
  std::vector<uint32_t> body_;           // by scope
  std::map<std::tuple<uint32_t, Edge, uint32_t>, uint32_t> sides_;
  std::vector<std::vector<NodeId>> calls_, returns_;  // by site
  uint32_t stay_ = 0;
};

}  // namespace df::ir
