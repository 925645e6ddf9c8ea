// runtime/engines/plan/build.h
//
// What is known of a graph before it runs, phase by phase:
//   Wiring            who feeds whom across scopes: sites, parameters, results
//   StrictParameters  which parameters every result needs, and which values of its own scope
//   ParameterReach    on which parameters a result may hang
//   Group             which arguments go together with their call's trigger
//   Partition         per scope: events, regions, and the order of each region's items
#pragma once

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "runtime/engines/tagged/code/code.h"

namespace df::tagged {

// The nodes of one site or loop.
struct SiteNodes {
  ir::NodeId trigger;                  // the trigger's Call or Enter; the Delay, with or without a Call for its gradient
  llvm::SmallVector<ir::NodeId, 4> arguments;   // Calls or Enters of values
  llvm::SmallVector<ir::NodeId, 2> returns;     // Returns with a result, or Exits
  ir::NodeId cell_return;              // of a Delay
  ir::NodeId next_trigger;             // loops: the trigger's NextIteration
  std::vector<ir::NodeId> next;        // loops: NextIterations of values
};

struct Wiring {
  const ir::Graph& g;
  std::vector<SiteNodes> sites;              // as Program::sites, without the root
  std::vector<std::vector<ir::NodeId>> nodes_in;   // by scope
  std::vector<uint32_t> index_in_scope;      // by node: where it is in nodes_in
  std::vector<ir::NodeId> merge_of;          // by row of Call, Delay, Enter, NextIteration: the merge that it feeds
  std::vector<std::vector<uint32_t>> results_of;   // by scope: rows, one per result
  std::vector<uint32_t> result_of_return;    // by node: of Return and Exit, which result of the callee
  std::vector<std::vector<uint32_t>> read_by_outers;  // by scope: rows
  std::vector<ir::NodeId> node_of_row;
  std::vector<bool> together;                // by node: merges that go together with the activation
  std::vector<bool> implied;                 // as Program::implied
  std::vector<bool> needed;                  // by node: merges without which no result of their scope comes
  std::vector<bool> surely;                  // by row: the same of any value, where its side of a branch is chosen
  std::vector<uint64_t> parameter_bit;               // by node: of EntryMerges, in hangs_on
  std::vector<std::vector<uint64_t>> hangs_on;       // by scope and result: the parameters on whose values it may hang
  std::vector<bool> waits;                   // by node: Delays that are made when all that they capture is there
  std::vector<uint32_t> constant_of;         // by node: its place in Program::constants, or none (make/constants.cpp)
  std::vector<bool> made_at_use;             // by node: ops that go into the region of their only user (make/constants.cpp)
  // By node: ops that make a tensor of numbers alone, for ops on tensors (plan/place_number_tensors.cpp); empty if nothing is batched.
  std::vector<bool> of_numbers;
  std::vector<bool> checked;                 // by node: of those, what may fail, and is looked at where it would have stood; as of_numbers
  // By node: which device computes its batches, as PlacedDevices::of_node; empty: all are the run's. Nothing is in a group with what is another's.
  llvm::ArrayRef<uint8_t> device_of;
  uint8_t DeviceOf(ir::NodeId node) const { return device_of.empty() ? 0 : device_of[node.index]; }
  std::vector<bool> handed_out;              // by node: ops of groups whose result is a tensor that others take (make/recompute.cpp)
  // By place in the code of a group's Defer: the ops of earlier groups that it does again, each after those that it needs; by their places.
  llvm::DenseMap<uint32_t, std::vector<uint32_t>> again;
  std::vector<std::vector<ir::NodeId>> order;  // by scope: Partition::Order while no Delay waits; from FindStrictParameters

  explicit Wiring(const ir::Graph& graph);
  uint32_t RowOf(ir::Edge edge) const { return g.nodes[edge.node].first_result + edge.port; }
  uint32_t RowOf(ir::NodeId node) const { return g.nodes[node].first_result; }
  ir::Edge In(ir::NodeId node, uint32_t k) const { return g.inputs[g.nodes[node].first_input + k]; }
  bool IsConstant(ir::NodeId node) const { return constant_of[node.index] != kNone; }
  // A delayed call some arguments of which come by Calls: the compiler makes none, it lets the Delay take all.
  bool TakesCalls(uint32_t site) const {
    return g.sites[ir::SiteId(site)].kind == ir::SiteKind::Delay && !sites[site].arguments.empty();
  }
  uint32_t LoopSite(ir::ScopeId loop) const { return g.sites.size() + loop.index; }
  bool IsTrigger(ir::Edge edge) const { return g.types.Kind(g.TypeOf(edge).type) == ir::TypeKind::Trigger; }
};

// Fills Program::constants. `filled`: also with what Expand makes of a constant number, which Wiring::constant_of then says; and what it makes
// of others is made where it is used (Wiring::made_at_use).
void FindConstants(Wiring& wiring, Program& program, bool filled);

// Fills Wiring::of_numbers.
void FindOfNumbers(Wiring& wiring);

// Fills Wiring::needed and Wiring::surely.
void FindStrictParameters(Wiring& wiring);

// Fills Wiring::parameter_bit and hangs_on, for Group.
void FindParameterReach(Wiring& wiring);

// Clears Wiring::together for every parameter for which waiting could close a cycle, and sets Wiring::waits of the Delays
// that may wait (docs/tagged-engine/regions.md, "Groups").
void Group(Wiring& wiring);

// What a region does, in order.
struct Item {
  Code code;
  ir::NodeId node;
  uint32_t index = kNone;  // operand, side, result, branch, delivery
};

// Sets of events, each once and in order. Set 0 is the empty one.
class EventSets {
 public:
  EventSets() { Intern({}); }
  // Stands until the next Intern.
  llvm::ArrayRef<uint32_t> operator[](uint32_t set) const {
    return llvm::ArrayRef(members_.data() + first_[set], first_[set + 1] - first_[set]);
  }
  uint32_t Intern(llvm::ArrayRef<uint32_t> set);
  uint32_t size() const { return static_cast<uint32_t>(first_.size()) - 1; }

 private:
  void Enter(uint32_t set);
  static uint32_t Hash(llvm::ArrayRef<uint32_t> set);

  std::vector<uint32_t> members_, first_{0};  // those of set i begin at first_[i]
  std::vector<uint32_t> table_;               // by hash, each set at the first free place; kNone: free. At most half is full
};

// One scope, cut into regions.
class Partition {
 public:
  Partition(Wiring& wiring, ir::ScopeId scope) : w_(wiring), g_(wiring.g), scope_(scope) {}
  // Its nodes, each after those that it needs.
  std::vector<ir::NodeId> Order() const;
  // False if a parameter that was to go together never comes and was taken out of its group: start again.
  bool Run();

  // After Run: whether `value` may come later than all of `triggers`. False also if all that can be missing then is the
  // choice of sides by predicates that are there: it is made before anything else happens.
  bool IsLater(ir::Edge value, llvm::ArrayRef<ir::Edge> triggers);

  struct EventInfo {
    uint32_t set = 0;    // what has certainly happened before
    uint32_t level = 0;
  };
  struct RegionInfo {
    uint32_t set = 0;
    uint32_t done = kNone;  // event
    std::vector<Item> local, tail;
  };
  struct BranchInfo {
    ir::Edge predicate;
    std::vector<uint32_t> sides;
    std::vector<ir::NodeId> merges, switches;
    bool watched = false;
  };
  std::vector<EventInfo> events;
  std::vector<RegionInfo> regions;
  std::vector<BranchInfo> branches;
  EventSets sets;
  llvm::DenseMap<uint32_t, uint32_t> event_of_row;
  uint32_t activation = 0;

  static constexpr uint32_t kNever = UINT32_MAX;

 private:
  bool IsAtHand(ir::Edge value, llvm::ArrayRef<ir::Edge> triggers, uint32_t set, int* looked);
  bool Includes(uint32_t set, uint32_t part) { return part != kNever && Union(set, part) == set; }
  bool IsFalse(ir::Edge edge) const;
  uint32_t Entered(uint32_t site);
  uint32_t NewEvent(uint32_t set);
  bool Implies(uint32_t event, uint32_t other) const;
  uint32_t Union(uint32_t a, uint32_t b);
  uint32_t Single(uint32_t event);
  uint32_t FindUnion(uint32_t a, uint32_t b);
  uint32_t SetOf(ir::Edge edge) const;
  uint32_t RegionOf(uint32_t set);
  uint32_t Bound(llvm::SmallVectorImpl<uint32_t>& events);
  uint32_t BranchOf(ir::Edge predicate);
  uint32_t SideEvent(ir::Edge predicate, uint32_t side);
  void Place(uint32_t set, Item item);
  llvm::ArrayRef<ir::Edge> NeededFor(ir::NodeId node) const;
  bool IsOrdered() const;
  void SetRow(ir::NodeId node, uint32_t port, uint32_t set) { set_of_[w_.RowOf({node, port})] = set; }
  uint32_t EventRow(ir::NodeId node, uint32_t implied);
  void Visit(ir::NodeId node);
  bool PlaceSite(uint32_t site);
  void PlaceMadeFor(ir::NodeId user, uint32_t set);
  bool PlaceNext();
  void PlaceMerges();
  void SideValue(ir::NodeId id, uint32_t operand, uint32_t set);
  void PlaceRest();
  void FindLoopOnly(const std::vector<ir::NodeId>& order);
  uint32_t MergeEvent(ir::NodeId merge);
  void Sink(const std::vector<ir::NodeId>& order);

  Wiring& w_;
  const ir::Graph& g_;
  ir::ScopeId scope_;
  llvm::DenseMap<uint32_t, uint32_t> set_of_;         // by row
  llvm::DenseMap<uint32_t, uint32_t> branch_of_;      // by row of the predicate
  std::vector<uint32_t> single_;                        // by event: the set of it alone, once there is one
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> unions_;  // that have been asked for
  // BranchMerges of one predicate whose sides come at the same moments share one event.
  struct MergeGroup {
    uint32_t event;
    std::vector<uint32_t> sides;  // sets; kNever: no member has a value there
  };
  llvm::DenseMap<uint32_t, std::vector<MergeGroup>> merge_groups_;  // by row of the predicate
  std::vector<bool> visited_;    // by index in the scope
  std::vector<bool> loop_only_;  // likewise: BranchMerges of which only NextIterations and Exits see the result
  std::vector<uint32_t> region_ids_;  // by set
};

// Puts the ops of a region's local items that are deferred together next to each other, behind an item Defer whose index is
// their number (docs/batching.md).
void DeferTensors(const Wiring& wiring, std::vector<Item>& items);
// Whether an op gives a tensor and cannot fail, but for an index that can be looked at beforehand.
bool IsDeferrable(const ir::Graph& graph, ir::NodeId node);
// Fills Wiring::handed_out and Wiring::again. The code must be complete.
void FindComputedAgain(const Program& program, Wiring& wiring);
// Fills Program::tensor_groups from the code. Last uses must be marked.
void ReadTensorGroups(Program& program, const Wiring& wiring, const Options& options);

// Marks the last use of each value in a frame of the scope: docs/tagged-engine/frames.md. Sites and code must be complete.
void MarkLastUses(Program& program, const Wiring& wiring, const Partition& part, ir::ScopeId scope);

}  // namespace df::tagged
