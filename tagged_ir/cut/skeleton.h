// tagged_ir/cut/skeleton.h
//
// Tag tracking by the paper's five steps (section 5.2.2; docs/cut.md): what a part of a cut graph has to run beside its own nodes to know under
// which tags tokens will come to it, if its Recvs are to be scheduled and do not simply take what comes.
//
//   1. The nodes that make tags are captured: Call, Enter, NextIteration, and of ours Delay.
//   2. So are those that decide: Switch and the merges.
//   3. The skeleton is a graph of copies of these; its edges are those of the graph with all other nodes suppressed.
//   4. A node that makes tags is tied to the Recvs behind it, up to the next such node: they wait for tags that it makes.
//   5. Each part with such Recvs gets a copy.
//
// In a graph with triggers most of the captured nodes make tags that another one makes as well. The skeleton that is run is what of step 3 the
// triggers go through: nothing is suppressed between its nodes, and all that it has to be told is what the predicates of its Switches are, and which
// delayed calls are released.
#pragma once

#include <vector>

#include "tagged_ir/cut/cut.h"

namespace df::ir {

// Steps 1 to 3, as the paper has them.
struct Captured {
  std::vector<NodeId> makes, decides;  // steps 1 and 2, in the order of the nodes
  struct Link {
    Edge from;         // of a captured node, or of Start
    NodeId to;
    uint32_t input = 0;
    uint32_t suppressed = 0;  // nodes on the shortest way between
  };
  std::vector<Link> links;
  // Ways between captured nodes that lead through a Return or an Exit: their ends have different tags, so they are no edges of a skeleton. The paper
  // does not speak of them.
  uint32_t leading_out = 0;
};
Captured Capture(const Graph& graph);

// What is run.
class Skeleton {
 public:
  // For a verified graph, of which nothing changes afterwards.
  explicit Skeleton(const Graph& graph);

  // The nodes of which a copy runs: those whose tokens are triggers, and Start.
  bool Runs(NodeId node) const { return runs_[node.index]; }
  const std::vector<NodeId>& nodes() const { return nodes_; }
  // The edges into them that come from elsewhere: predicates, and the triggers of released delayed calls.
  const std::vector<Edge>& decisions() const { return decisions_; }
  bool IsDecision(Edge edge) const;

  // Which results of the skeleton make a tag under which the edge carries a token. One of them makes each. (Those of a Delay are decisions: its release makes
  // the tag, and is told.) None in a loop that no trigger goes round.
  std::vector<Edge> MakersOf(Edge edge) const;

 private:
  std::vector<Edge> MakersOfScope(ScopeId scope) const;

  const Graph& g;
  std::vector<bool> runs_;
  std::vector<NodeId> nodes_;
  std::vector<Edge> decisions_;
  std::vector<NodeId> trigger_call_, delay_;               // of each site; invalid if there is none
  std::vector<NodeId> trigger_enter_, trigger_next_;       // of each loop
  std::vector<NodeId> activation_;                         // of each scope: Start, the trigger's EntryMerge or LoopMerge
  std::vector<std::vector<SiteId>> sites_into_;            // of each function
};

// The five steps for this cut.
void PrintSkeletons(const Graph& graph, const Cut& cut, llvm::raw_ostream& out);

}  // namespace df::ir
