// Events and regions of one scope. See plan/build.h and docs/tagged-engine/regions.md.
//
// Each edge has the set of events after which its value is there. A set is kept small: what another member implies is left
// out, and a set of more than 8 is replaced by the events that say that parts of it have come. Nodes with the same set
// become ready at the same moment, so putting them into one region adds no dependency (Traub's separation constraint is
// met by construction).
#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "runtime/engines/plan/build.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

namespace {

constexpr size_t kMaxBits = 8;       // of a region's mask
constexpr uint32_t kMaxSteps = 200;  // of a search for an implication; giving up only makes a mask longer

}  // namespace

uint32_t Partition::NewEvent(uint32_t set) {
  uint32_t level = 0;
  for (uint32_t event : sets[set]) level = std::max(level, events[event].level + 1);
  events.push_back({set, level});
  return static_cast<uint32_t>(events.size() - 1);
}

// Whether `other` has certainly happened when `event` does.
bool Partition::Implies(uint32_t event, uint32_t other) const {
  if (events[event].level <= events[other].level) return false;
  uint32_t steps = 0;
  llvm::SmallVector<uint32_t, 32> todo{event};
  while (!todo.empty() && ++steps < kMaxSteps) {
    uint32_t now = todo.back();
    todo.pop_back();
    for (uint32_t before : sets[events[now].set]) {
      if (before == other) return true;
      if (events[before].level > events[other].level) todo.push_back(before);
    }
  }
  return false;
}

uint32_t Partition::Single(uint32_t event) {
  if (single_.size() <= event) single_.resize(events.size(), kNone);
  if (single_[event] == kNone) single_[event] = sets.Intern(event);
  return single_[event];
}

uint32_t Partition::Union(uint32_t a, uint32_t b) {
  if (a == kNever || b == kNever) return kNever;
  if (a == b) return a;
  if (auto it = unions_.find({a, b}); it != unions_.end()) return it->second;
  uint32_t set = FindUnion(a, b);
  unions_[{a, b}] = set;
  return set;
}

uint32_t Partition::FindUnion(uint32_t a, uint32_t b) {
  llvm::ArrayRef<uint32_t> one = sets[a], other_one = sets[b];
  llvm::SmallVector<uint32_t, 16> all, needed;
  std::set_union(one.begin(), one.end(), other_one.begin(), other_one.end(), std::back_inserter(all));
  for (uint32_t event : all)
    if (std::none_of(all.begin(), all.end(), [&](uint32_t other) { return other != event && Implies(other, event); }))
      needed.push_back(event);
  return Bound(needed);
}

bool Partition::IsFalse(Edge edge) const {
  const ir::Node& node = g_.nodes[edge.node];
  if (node.op == Op::Switch) return IsFalse(g_.InputsOf(edge.node)[1]);
  return node.op == Op::Const && g_.constants[ir::ConstId(node.attr)].word == 0;
}

// Whether `value` is there when all triggers are and the events of `set` have happened, but for sides that are chosen then. A
// loop's first trigger is the predicate that it goes on: where a side of its merges is False, nobody asks for the value.
bool Partition::IsAtHand(Edge value, llvm::ArrayRef<Edge> triggers, uint32_t set, int* looked) {
  if (Includes(set, SetOf(value))) return true;
  if (--*looked < 0) return false;
  const ir::Node& node = g_.nodes[value.node];
  llvm::ArrayRef<Edge> in = g_.InputsOf(value.node);
  auto at_hand = [&](Edge edge) { return IsAtHand(edge, triggers, set, looked); };
  if (node.op == Op::Offer) return false;
  if (node.op == Op::Switch) return Includes(set, Single(SideEvent(in[0], value.port))) && at_hand(in[1]);
  if (node.op == Op::Delay) return llvm::all_of(w_.waits[value.node.index] ? in : in.take_front(1), at_hand);
  if (ir::InfoOf(node.op).cls == ir::OpClass::Ordinary || node.op == Op::Construct) return llvm::all_of(in, at_hand);
  if (node.op != Op::BranchMerge || SetOf(in[0]) == kNever) return false;
  // Triggers that merge by the same predicate have come by the same side.
  bool same = false, asked = true;
  auto merges_so = [&](Edge trigger) {
    return g_.nodes[trigger.node].op == Op::BranchMerge && w_.RowOf(w_.In(trigger.node, 0)) == w_.RowOf(in[0]);
  };
  for (Edge trigger : triggers) same |= merges_so(trigger);
  if (!same && !at_hand(in[0])) return false;
  for (uint32_t k = 1; k < in.size(); ++k) {
    uint32_t then = Union(set, Single(SideEvent(in[0], k - 1)));
    llvm::SmallVector<Edge, 8> through;
    for (Edge trigger : triggers) {
      through.push_back(merges_so(trigger) ? w_.In(trigger.node, k) : trigger);
      if (uint32_t more = SetOf(through.back()); more != kNever) then = Union(then, more);
    }
    asked = g_.nodes[in[k].node].op != Op::Dead || !IsFalse(through.front());
    if (asked && !IsAtHand(in[k], through, then, looked)) return false;
  }
  return true;
}

bool Partition::IsLater(Edge value, llvm::ArrayRef<Edge> triggers) {
  constexpr int kMostLooked = 60;  // nodes behind a value
  uint32_t set = SetOf(triggers.front());
  if (set == kNever) return true;
  for (Edge trigger : triggers.drop_front())
    if (uint32_t more = SetOf(trigger); more != kNever) set = Union(set, more);
  int looked = kMostLooked;
  return !IsAtHand(value, triggers, set, &looked);
}

// At most kMaxBits events that together say the same.
uint32_t Partition::Bound(llvm::SmallVectorImpl<uint32_t>& all) {
  while (all.size() > kMaxBits) {
    llvm::SmallVector<uint32_t, 16> fewer;
    for (size_t i = 0; i < all.size(); i += kMaxBits) {
      llvm::ArrayRef<uint32_t> part = llvm::ArrayRef<uint32_t>(all).slice(i, std::min(kMaxBits, all.size() - i));
      if (part.size() == 1) {
        fewer.push_back(part[0]);
        continue;
      }
      uint32_t set = sets.Intern(part);
      uint32_t region = RegionOf(set);
      if (regions[region].done == kNone) regions[region].done = NewEvent(set);
      fewer.push_back(regions[region].done);
    }
    std::sort(fewer.begin(), fewer.end());
    all = std::move(fewer);
  }
  return sets.Intern(all);
}

uint32_t Partition::SetOf(Edge edge) const {
  auto it = set_of_.find(w_.RowOf(edge));
  return it == set_of_.end() ? kNever : it->second;
}

uint32_t Partition::RegionOf(uint32_t set) {
  if (region_ids_.size() <= set) region_ids_.resize(sets.size(), kNone);
  if (region_ids_[set] == kNone) {
    region_ids_[set] = static_cast<uint32_t>(regions.size());
    regions.push_back({set, kNone, {}, {}});
  }
  return region_ids_[set];
}

uint32_t Partition::BranchOf(Edge predicate) {
  auto [it, added] = branch_of_.try_emplace(w_.RowOf(predicate), static_cast<uint32_t>(branches.size()));
  if (added) branches.push_back({predicate, {}, {}, {}, false});
  return it->second;
}

uint32_t Partition::SideEvent(Edge predicate, uint32_t side) {
  uint32_t set = SetOf(predicate);
  if (set == kNever) return kNone;
  std::vector<uint32_t>& sides = branches[BranchOf(predicate)].sides;
  if (sides.size() <= side) sides.resize(side + 1, kNone);
  if (sides[side] == kNone) {
    uint32_t event = NewEvent(set);
    branches[BranchOf(predicate)].sides[side] = event;
    return event;
  }
  return sides[side];
}

void Partition::Place(uint32_t set, Item item) {
  if (set == kNever) return;
  RegionInfo& region = regions[RegionOf(set)];
  std::vector<Item>& items = IsTail(item.code) ? region.tail : region.local;
  if (items.empty()) items.reserve(4);
  items.push_back(item);
}

// The operands that must have come before anything can be said of the node's results.
llvm::ArrayRef<Edge> Partition::NeededFor(NodeId id) const {
  const ir::Node& node = g_.nodes[id];
  llvm::ArrayRef<Edge> in = g_.InputsOf(id);
  switch (node.op) {
    case Op::EntryMerge:
    case Op::LoopMerge:
    case Op::Call:
    case Op::Enter:
    case Op::NextIteration:
    case Op::Result: return {};
    case Op::Return:
      if (node.num_results == 0) return {};
      return g_.InputsOf(w_.sites[node.attr].trigger).take_front(1);
    case Op::Exit: return g_.InputsOf(w_.sites[w_.LoopSite(g_.LoopOf(id))].trigger).take_front(1);
    case Op::Delay:
      if (w_.waits[id.index]) return in;
      return in.take_front(1);
    case Op::BranchMerge:
    case Op::Outer: return in.take_front(1);
    default: return in;
  }
}

// Whether each node has a larger number than those that it waits for: then numbers are the order.
bool Partition::IsOrdered() const {
  return llvm::all_of(w_.nodes_in[scope_.index], [&](NodeId id) {
    auto before = [&](Edge edge) { return edge.node < id && g_.nodes[edge.node].scope == scope_; };
    return llvm::all_of(NeededFor(id), before) && (g_.nodes[id].op != Op::BranchMerge || llvm::all_of(g_.InputsOf(id).drop_front(), before));
  });
}

// Operands first, else by number; a BranchMerge after its sides, unless it is in a cycle with them. What waits for itself
// is left out: it never fires.
std::vector<NodeId> Partition::Order() const {
  const std::vector<NodeId>& nodes = w_.nodes_in[scope_.index];
  if (IsOrdered()) return nodes;
  // By place in `nodes`, which is ordered by number. Users of a node: a list through `next`, newest first.
  struct Waiting {
    uint32_t needed = 0, sides = 0;
    uint32_t users = kNone;
    bool ordered = false;
  };
  struct User {
    uint32_t node, next;
    bool as_side;
  };
  std::vector<Waiting> waiting(nodes.size());
  std::vector<User> users;
  using Queue = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;
  Queue ready, could_do;  // could_do: only sides are missing
  auto wait_for = [&](uint32_t user, Edge edge, bool as_side) {
    ++(as_side ? waiting[user].sides : waiting[user].needed);
    if (g_.nodes[edge.node].scope != scope_) return;  // never comes in this order
    uint32_t& list = waiting[w_.index_in_scope[edge.node.index]].users;
    users.push_back({user, std::exchange(list, static_cast<uint32_t>(users.size())), as_side});
  };
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    for (Edge edge : NeededFor(nodes[i])) wait_for(i, edge, false);
    if (g_.nodes[nodes[i]].op == Op::BranchMerge)
      for (Edge edge : g_.InputsOf(nodes[i]).drop_front()) wait_for(i, edge, true);
    if (!waiting[i].needed && !waiting[i].sides) ready.push(i);
  }
  std::vector<NodeId> order;
  order.reserve(nodes.size());
  while (!ready.empty() || !could_do.empty()) {
    Queue& from = ready.empty() ? could_do : ready;
    uint32_t i = from.top();
    from.pop();
    if (std::exchange(waiting[i].ordered, true)) continue;
    order.push_back(nodes[i]);
    for (uint32_t use = waiting[i].users; use != kNone; use = users[use].next) {
      Waiting& user = waiting[users[use].node];
      --(users[use].as_side ? user.sides : user.needed);
      if (!user.needed) (user.sides ? could_do : ready).push(users[use].node);
    }
  }
  return order;
}

// A BranchMerge may have no value on a side whose operand is Dead. That does no harm where only NextIterations and Exits
// look at it, because those look at the loop's predicate too.
void Partition::FindLoopOnly(const std::vector<NodeId>& order) {
  const std::vector<NodeId>& nodes = w_.nodes_in[scope_.index];
  loop_only_.assign(nodes.size(), false);
  std::vector<bool> is_seen(nodes.size(), false);  // by somebody else
  auto see = [&](NodeId id) {
    if (g_.nodes[id].scope == scope_) is_seen[w_.index_in_scope[id.index]] = true;
  };
  for (uint32_t row : w_.read_by_outers[scope_.index]) see(w_.node_of_row[row]);
  if (g_.scopes[scope_].kind != ir::ScopeKind::Loop)
    for (uint32_t row : w_.results_of[scope_.index]) see(w_.node_of_row[row]);
  for (NodeId id : w_.nodes_in[scope_.index]) {
    const ir::Node& node = g_.nodes[id];
    uint32_t blind = node.op == Op::BranchMerge ? node.num_inputs : 0;  // operands from 1 to this: see below
    for (uint32_t k = 0; k < node.num_inputs; ++k) {
      bool looks = node.op == Op::NextIteration ? k > 0 : k == 0 || k >= blind;
      if (looks) see(w_.In(id, k).node);
    }
  }
  for (size_t i = order.size(); i-- > 0;) {
    NodeId id = order[i];
    if (g_.nodes[id].op != Op::BranchMerge) continue;
    bool seen = is_seen[w_.index_in_scope[id.index]];
    loop_only_[w_.index_in_scope[id.index]] = !seen;
    if (!seen) continue;
    for (Edge edge : g_.InputsOf(id).drop_front()) see(edge.node);
  }
}

// The event of a BranchMerge: shared with others of the same predicate if their sides come together.
uint32_t Partition::MergeEvent(NodeId id) {
  llvm::ArrayRef<Edge> in = g_.InputsOf(id);
  uint32_t implied = SetOf(in[0]);
  if (implied == kNever) return kNone;
  std::vector<uint32_t> sides;
  bool known = true, has_dead = false;
  for (uint32_t k = 1; k < in.size(); ++k) {
    known &= g_.nodes[in[k].node].scope == scope_ && visited_[w_.index_in_scope[in[k].node.index]];
    uint32_t set = SetOf(in[k]);
    sides.push_back(set == kNever ? kNever : Union(set, Single(SideEvent(in[0], k - 1))));
    has_dead |= set == kNever;
  }
  if (!known || (has_dead && !loop_only_[w_.index_in_scope[id.index]])) return NewEvent(implied);
  std::vector<MergeGroup>& groups = merge_groups_[w_.RowOf(in[0])];
  for (MergeGroup& group : groups) {
    bool same = true;
    for (size_t k = 0; k < sides.size(); ++k)
      same &= sides[k] == group.sides[k] || sides[k] == kNever || group.sides[k] == kNever;
    if (!same) continue;
    for (size_t k = 0; k < sides.size(); ++k)
      if (group.sides[k] == kNever) group.sides[k] = sides[k];
    return group.event;
  }
  groups.push_back({NewEvent(implied), std::move(sides)});
  return groups.back().event;
}

// Operand k of a BranchMerge or Exit counts from `set` on, when its side is chosen.
void Partition::SideValue(NodeId id, uint32_t k, uint32_t set) {
  if (SetOf(w_.In(id, k)) == set) w_.implied[g_.nodes[id].first_input + k] = true;
  else branches[BranchOf(w_.In(id, 0))].watched = true;
}

void Partition::PlaceMerges() {
  std::vector<std::pair<uint32_t, uint32_t>> fires;  // set and event
  for (NodeId id : w_.nodes_in[scope_.index]) {
    const ir::Node& node = g_.nodes[id];
    if (node.op != Op::BranchMerge || !event_of_row.count(w_.RowOf(id))) continue;
    for (uint32_t side = 0; side + 1 < node.num_inputs; ++side) {
      uint32_t event = SideEvent(w_.In(id, 0), side);
      uint32_t set = Union(SetOf(w_.In(id, side + 1)), Single(event));
      if (set == kNever) continue;
      Place(set, {Code::Merge, id, side + 1});
      SideValue(id, side + 1, set);
      fires.push_back({set, event_of_row[w_.RowOf(id)]});
    }
  }
  std::sort(fires.begin(), fires.end());
  fires.erase(std::unique(fires.begin(), fires.end()), fires.end());
  for (auto [set, event] : fires) Place(set, {Code::Fire, NodeId(), event});
}

// Result 0 of the node comes by an event of its own.
uint32_t Partition::EventRow(NodeId node, uint32_t implied) {
  if (implied == kNever) return kNone;
  uint32_t event = NewEvent(implied);
  event_of_row[w_.RowOf(node)] = event;
  SetRow(node, 0, Single(event));
  return event;
}

// What has happened before a call or loop is entered: its trigger has come, and the arguments that go together with it. (Of
// those, what comes after the site in the order is left out, which only says less.)
uint32_t Partition::Entered(uint32_t s) {
  const SiteNodes& site = w_.sites[s];
  uint32_t set = SetOf(w_.In(site.trigger, 0));
  for (NodeId call : site.arguments) {
    NodeId merge = w_.merge_of[w_.RowOf(call)];
    if (!merge.valid() || !w_.together[merge.index]) continue;
    uint32_t argument = SetOf(w_.In(call, 0));
    if (argument != kNever) set = Union(set, argument);
  }
  return set;
}

void Partition::Visit(NodeId id) {
  const ir::Node& node = g_.nodes[id];
  llvm::ArrayRef<Edge> in = g_.InputsOf(id);
  switch (node.op) {
    case Op::Start: SetRow(id, 0, Single(activation)); return;
    case Op::EntryMerge:
    case Op::LoopMerge:
      if (w_.together[id.index] || w_.IsTrigger({id, 0})) SetRow(id, 0, Single(activation));
      else EventRow(id, Single(activation));
      return;
    case Op::Switch: {
      branches[BranchOf(in[0])].switches.push_back(id);
      uint32_t datum = SetOf(in[1]);
      for (uint32_t side = 0; side < node.num_results; ++side) {
        uint32_t event = SideEvent(in[0], side);
        uint32_t set = event == kNone ? kNever : Union(datum, Single(event));
        SetRow(id, side, set);
        if (set != kNever && set != Single(event) && !w_.IsTrigger(in[1])) branches[BranchOf(in[0])].watched = true;
      }
      return;
    }
    case Op::BranchMerge: {
      branches[BranchOf(in[0])].merges.push_back(id);
      uint32_t event = MergeEvent(id);
      if (event == kNone) return;
      event_of_row[w_.RowOf(id)] = event;
      SetRow(id, 0, Single(event));
      return;
    }
    case Op::Return:
      if (node.num_results) EventRow(id, Entered(node.attr));
      return;
    case Op::Exit:
      EventRow(id, Entered(w_.LoopSite(g_.LoopOf(id))));
      return;
    case Op::Call:
    case Op::Enter:
    case Op::NextIteration:
    case Op::Result: return;
    case Op::Dead: SetRow(id, 0, kNever); return;
    case Op::Delay: {
      uint32_t set = SetOf(in[0]);
      if (w_.waits[id.index])
        for (Edge edge : in.drop_front()) set = Union(set, SetOf(edge));
      SetRow(id, 0, set);
      Place(set, {Code::Delay, id});
      return;
    }
    case Op::Force: {
      uint32_t set = SetOf(in[0]);
      Place(set, {Code::Force, id});
      Place(set, {Code::Wait, id});
      EventRow(id, set);
      return;
    }
    case Op::Offer: {
      uint32_t set = SetOf(in[0]);
      Place(set, {Code::Offer, id});
      EventRow(id, set);
      return;
    }
    case Op::Outer: {
      uint32_t set = SetOf(in[0]);
      Place(set, {Code::Outer, id});
      EventRow(id, set);
      return;
    }
    default: {
      uint32_t set = SetOf(in[0]);
      for (Edge edge : in.drop_front()) set = Union(set, SetOf(edge));
      SetRow(id, 0, set);
      if (w_.IsConstant(id) || w_.made_at_use[id.index]) return;  // an operand of whoever uses it; with its user
      PlaceMadeFor(id, set);
      Code code = node.op == Op::Construct ? Code::Construct
                  : node.op == Op::Input   ? Code::Input
                  : in.size() > 2          ? Code::OpMany
                                           : Code::Op;
      Place(set, {code, id});
      return;
    }
  }
}

// Operands that are made in the region of their user, and what they need themselves.
void Partition::PlaceMadeFor(NodeId user, uint32_t set) {
  for (Edge edge : g_.InputsOf(user)) {
    if (!w_.made_at_use[edge.node.index]) continue;
    PlaceMadeFor(edge.node, set);
    SetRow(edge.node, 0, set);
    Place(set, {Code::Op, edge.node});
  }
}

// The Calls of a site, or the Enters of a loop, that stand in this scope.
bool Partition::PlaceSite(uint32_t s) {
  const SiteNodes& site = w_.sites[s];
  uint32_t trigger = SetOf(w_.In(site.trigger, 0));
  if (trigger == kNever) return true;
  uint32_t all = trigger;
  bool good = true;
  std::vector<uint32_t> late;
  for (uint32_t i = 0; i < site.arguments.size(); ++i) {
    NodeId call = site.arguments[i], merge = w_.merge_of[w_.RowOf(call)];
    uint32_t set = SetOf(w_.In(call, 0));
    if (!merge.valid()) continue;  // nobody wants it
    if (!w_.together[merge.index]) {
      late.push_back(i);
    } else if (set == kNever) {
      w_.together[merge.index] = false;
      good = false;
    } else {
      all = Union(all, set);
    }
  }
  Place(all, {Code::Call, site.trigger, s});
  for (uint32_t i : late)
    Place(Union(all, SetOf(w_.In(site.arguments[i], 0))), {Code::CallLate, site.arguments[i], s});
  return good;
}

bool Partition::PlaceNext() {
  const SiteNodes& loop = w_.sites[w_.LoopSite(scope_)];
  if (!loop.next_trigger.valid()) return true;
  uint32_t go_on = SideEvent(w_.In(loop.next_trigger, 1), 0);
  uint32_t trigger = go_on == kNone ? kNever : Union(SetOf(w_.In(loop.next_trigger, 0)), Single(go_on));
  if (trigger == kNever) return true;
  uint32_t all = trigger;
  bool good = true;
  std::vector<NodeId> late;
  for (NodeId next : loop.next) {
    NodeId merge = w_.merge_of[w_.RowOf(next)];
    uint32_t set = SetOf(w_.In(next, 0));
    if (!merge.valid()) continue;
    if (!w_.together[merge.index]) {
      late.push_back(next);
    } else if (set == kNever) {
      w_.together[merge.index] = false;
      good = false;
    } else {
      all = Union(all, set);
    }
  }
  Place(all, {Code::Next, loop.next_trigger});
  for (NodeId next : late) Place(Union(all, SetOf(w_.In(next, 0))), {Code::NextLate, next});
  return good;
}

// What has no result in this scope, after all edges have their sets.
void Partition::PlaceRest() {
  const std::vector<NodeId>& nodes = w_.nodes_in[scope_.index];
  for (NodeId id : nodes) {
    const ir::Node& node = g_.nodes[id];
    if (node.op != Op::Delay) continue;
    for (uint32_t k = 1; k < node.num_inputs; ++k)
      Place(Union(SetOf(w_.In(id, k)), SetOf({id, 0})), {Code::DelayArg, id, k - 1});
  }
  for (uint32_t row : w_.read_by_outers[scope_.index])
    if (auto it = set_of_.find(row); it != set_of_.end()) Place(it->second, {Code::Publish, NodeId(), row});
  for (NodeId id : nodes) {
    const ir::Node& node = g_.nodes[id];
    if (node.op == Op::Result) Place(SetOf(w_.In(id, 0)), {Code::Result, id});
  }
  PlaceMerges();
  bool loop = g_.scopes[scope_].kind == ir::ScopeKind::Loop;
  const std::vector<uint32_t>& results = w_.results_of[scope_.index];
  for (uint32_t r = 0; r < results.size(); ++r) {
    if (!loop) {
      if (auto it = set_of_.find(results[r]); it != set_of_.end()) Place(it->second, {Code::Return, NodeId(), r});
      continue;
    }
    NodeId exit = w_.sites[w_.LoopSite(scope_)].returns[r];
    uint32_t event = SideEvent(w_.In(exit, 0), 1);
    if (event == kNone) continue;
    uint32_t set = Union(SetOf(w_.In(exit, 1)), Single(event));
    Place(set, {Code::Exit, exit, r});
    if (set != kNever) SideValue(exit, 1, set);
  }
}

bool Partition::Run() {
  activation = NewEvent(0);
  visited_.assign(w_.nodes_in[scope_.index].size(), false);
  bool as_found = !w_.order.empty() && llvm::none_of(w_.nodes_in[scope_.index], [&](NodeId id) { return w_.waits[id.index]; });
  std::vector<NodeId> own;
  if (!as_found) own = Order();
  const std::vector<NodeId>& order = as_found ? w_.order[scope_.index] : own;
  FindLoopOnly(order);
  for (NodeId id : order) {
    Visit(id);
    visited_[w_.index_in_scope[id.index]] = true;
  }
  Sink(order);
  bool good = true;
  for (NodeId id : w_.nodes_in[scope_.index]) {
    const ir::Node& node = g_.nodes[id];
    if (node.op == Op::Call && w_.sites[node.attr].trigger == id) good &= PlaceSite(node.attr);
    if (node.op == Op::Enter && w_.sites[w_.LoopSite(g_.LoopOf(id))].trigger == id)
      good &= PlaceSite(w_.LoopSite(g_.LoopOf(id)));
  }
  if (g_.scopes[scope_].kind == ir::ScopeKind::Loop) good &= PlaceNext();
  PlaceRest();
  for (uint32_t b = 0; b < branches.size(); ++b)
    Place(SetOf(branches[b].predicate), {Code::Branch, branches[b].predicate.node, b});
  // An event is made after those that it implies. So if all that region A waits for is implied by what B waits for, then
  // A's events, latest first, come before B's in the order of the alphabet: in this order values are there when used.
  std::stable_sort(regions.begin(), regions.end(), [&](const RegionInfo& a, const RegionInfo& b) {
    llvm::ArrayRef<uint32_t> one = sets[a.set], other = sets[b.set];
    return std::lexicographical_compare(one.rbegin(), one.rend(), other.rbegin(), other.rend());
  });
  for (RegionInfo& region : regions) {
    if (region.done != kNone) region.local.push_back({Code::Fire, NodeId(), region.done});
    // In program order; a late argument after what makes its frame; a loop goes on when all else is done. As
    // Program::OrderOf.
    auto key = [&](const Item& item) {
      bool site = item.code == Code::Call || item.code == Code::CallLate;
      uint32_t rank = item.code == Code::Next ? 1 : item.code == Code::NextLate ? 2 : 0;
      return std::tuple(rank, site ? w_.sites[item.index].trigger : item.node, item.code == Code::CallLate, item.node);
    };
    std::stable_sort(region.tail.begin(), region.tail.end(),
                     [&](const Item& a, const Item& b) { return key(a) < key(b); });
  }
  return good;
}

}  // namespace df::tagged
