// A verified graph -> tagged::Program: slots and code. See code/code.h.
#include <limits>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "runtime/engines/plan/build.h"
#include "runtime/engines/tagged/code/cell.h"
#include "runtime/engines/tagged/code/frame.h"
#include "runtime/engines/tagged/code/frameless.h"
#include "runtime/ops/tensor_kernels.h"
#include "tagged_ir/spread.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

namespace {

constexpr size_t kLargeScope = 48;  // nodes

class Compiler {
 public:
  Compiler(const ir::Graph& graph, const Options& options, Program& program)
      : g_(graph), options_(options), p_(program), w_(graph) {
    if (options.placed) w_.device_of = options.placed->of_node;
  }
  std::string Run();

 private:
  std::string Unsupported() const;
  void MakeSites();
  void FindContinued();
  void MakeParameters(ir::ScopeId scope);
  std::vector<bool> FindShortLived(ir::ScopeId scope) const;
  void AssignSlots(ir::ScopeId scope);
  void EmitScope(ir::ScopeId scope);
  void FuseDelays(std::vector<Item>& items) const;
  void EmitEvents(ir::ScopeId scope);
  void Emit(ir::ScopeId scope, const Item& item);
  void FillSites();
  void FindPieces(SiteCode& site) const;
  void FinishFrames();
  void MarkUsers();
  uint32_t NewSlot(ir::ScopeId scope) { return p_.scopes[scope.index].num_slots++; }
  // The slot of an edge; of a Trigger, which has no value, one that nobody writes.
  uint32_t SlotOf(Edge edge) {
    uint32_t slot = p_.slot_of[w_.RowOf(edge)];
    return slot == kNone ? 0 : slot;
  }
  uint32_t EventOf(Edge edge) const { return p_.event_of[w_.RowOf(edge)]; }
  Delivery Deliver(NodeId node, Edge from, uint32_t row) {
    Delivery d;
    d.node = node;
    d.from = SlotOf(from);
    if (NodeId merge = w_.merge_of[row]; merge.valid()) {
      d.merge = merge;
      d.to = SlotOf({merge, 0});
      d.event = EventOf({merge, 0});
    }
    return d;
  }

  uint32_t False() {
    if (false_ == kNone) {
      false_ = kConstant | static_cast<uint32_t>(p_.constants.size());
      p_.constants.push_back(Value::Word(0));
    }
    return false_;
  }

  const ir::Graph& g_;
  const Options& options_;
  Program& p_;
  Wiring w_;
  std::vector<std::unique_ptr<Partition>> parts_;  // by scope
  uint32_t false_ = kNone;                         // the constant, once it is wanted
};

std::string Compiler::Unsupported() const {
  for (uint32_t s = 0; s < g_.sites.size(); ++s)
    if (w_.TakesCalls(s)) return fmt::format("site {}: arguments of a delayed call by Calls are not supported", s);
  return "";
}

void Compiler::MakeSites() {
  p_.sites.resize(g_.sites.size() + g_.scopes.size() + 1);
  p_.scopes.resize(g_.scopes.size());
  for (uint32_t s = 0; s < g_.sites.size(); ++s) {
    const ir::Site& site = g_.sites[ir::SiteId(s)];
    SiteCode& code = p_.sites[s];
    code.type = site.kind == ir::SiteKind::Delay ? SiteType::Delay : SiteType::Call;
    code.label = s;
    code.caller = &p_.scopes[site.caller.index];
    code.callee = &p_.scopes[site.callee.index];
    // A delayed body is computed where its reference is forced.
    if (const uint32_t place = g_.scopes[site.callee].place; options_.processes > 1 && site.kind == ir::SiteKind::Call && place != ir::kAnywhere) {
      p_.placed = true;
      if (place % options_.processes != options_.rank) p_.scopes[site.callee.index].process = place % options_.processes;
    }
    code.trigger = w_.sites[s].trigger;
  }
  for (uint32_t i = 0; i < g_.scopes.size(); ++i) {
    ir::ScopeId id(i);
    ScopeCode& scope = p_.scopes[i];
    scope.id = id;
    scope.kind = g_.scopes[id].kind;
    scope.results = w_.results_of[i];
    scope.num_results = static_cast<uint32_t>(scope.results.size());
    scope.spread = options_.shares && g_.scopes[id].spread;
    scope.read_by_outers = !w_.read_by_outers[i].empty();
    if (scope.kind == ir::ScopeKind::Root) {
      p_.sites.back().type = SiteType::Root;
      p_.sites.back().callee = &scope;
      scope.num_results = 1;  // held by the run itself
    }
    if (scope.kind != ir::ScopeKind::Loop) continue;
    SiteCode& code = p_.sites[w_.LoopSite(id)];
    code.type = SiteType::Loop;
    code.label = i;
    code.caller = &p_.scopes[g_.scopes[id].parent.index];
    code.callee = &scope;
    code.trigger = w_.sites[w_.LoopSite(id)].trigger;
  }
}

// The calls on the side of a loop that an Offer gives away, of the loop's own function or of one that ends in calling it.
void Compiler::FindContinued() {
  for (uint32_t s = 0; s < g_.sites.size(); ++s) {
    const ir::Site& site = g_.sites[ir::SiteId(s)];
    if (site.kind != ir::SiteKind::Call || g_.scopes[site.caller].kind != ir::ScopeKind::Loop) continue;
    Edge trigger = w_.In(w_.sites[s].trigger, 0);
    if (g_.nodes[trigger.node].op != Op::Switch || trigger.port != 0 || g_.nodes[w_.In(trigger.node, 0).node].op != Op::Offer) continue;
    ir::ScopeId function = g_.scopes[site.caller].parent;
    p_.scopes[function.index].continued = true;
    p_.sites[s].continues = site.callee == function;
    if (site.callee == function) continue;
    for (uint32_t other = 0; other < g_.sites.size(); ++other) {
      const ir::Site& last = g_.sites[ir::SiteId(other)];
      if (last.caller != site.callee || last.callee != function || last.kind != ir::SiteKind::Call) continue;
      p_.sites[s].continues = p_.sites[other].continues = true;
      p_.scopes[site.callee.index].stays_in_events = true;
    }
  }
}

// Parameters have the first slots, then what the engine keeps in a frame.
void Compiler::MakeParameters(ir::ScopeId scope) {
  for (NodeId id : w_.nodes_in[scope.index]) {
    Op op = g_.nodes[id].op;
    if ((op == Op::EntryMerge || op == Op::LoopMerge) && !w_.IsTrigger({id, 0}))
      p_.slot_of[w_.RowOf(id)] = NewSlot(scope);
  }
  ScopeCode& code = p_.scopes[scope.index];
  if (code.kind == ir::ScopeKind::Loop) code.iteration_slot = NewSlot(scope);
}

// The values of a scope that are used in the region alone that computes them, by index in the scope.
std::vector<bool> Compiler::FindShortLived(ir::ScopeId scope) const {
  const std::vector<NodeId>& nodes = w_.nodes_in[scope.index];
  std::vector<uint32_t> home(nodes.size(), kNone);  // region
  const Partition& part = *parts_[scope.index];
  for (uint32_t r = 0; r < part.regions.size(); ++r)
    for (const Item& item : part.regions[r].local)
      if (item.code == Code::Op || item.code == Code::OpMany || item.code == Code::Construct) home[w_.index_in_scope[item.node.index]] = r;
  // What a Switch passes on in the end: they may stand one behind the other in tens of thousands.
  std::vector<NodeId> passed(nodes.size());
  std::vector<uint32_t> chain;
  auto passed_on = [&](NodeId at) {
    chain.clear();
    while (g_.nodes[at].op == Op::Switch && g_.nodes[at].scope == scope) {
      uint32_t index = w_.index_in_scope[at.index];
      if (passed[index].valid()) {
        at = passed[index];
        break;
      }
      chain.push_back(index);
      at = w_.In(at, 1).node;
    }
    for (uint32_t index : chain) passed[index] = at;
    return at;
  };
  std::vector<bool> is_short(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) is_short[i] = home[i] != kNone;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ir::Node& node = g_.nodes[nodes[i]];
    if (node.op == Op::EntryMerge || node.op == Op::LoopMerge || node.op == Op::Return || node.op == Op::Outer) continue;
    for (uint32_t k = 0; k < node.num_inputs; ++k) {
      if (node.op == Op::Switch && k == 1) continue;  // who uses what it passes on counts
      NodeId from = passed_on(w_.In(nodes[i], k).node);
      if (g_.nodes[from].scope != scope) continue;
      uint32_t at = w_.index_in_scope[from.index];
      if (home[i] != home[at]) is_short[at] = false;
    }
  }
  // What the scope gives.
  for (uint32_t row : w_.results_of[scope.index])
    for (NodeId from = w_.node_of_row[row]; g_.nodes[from].scope == scope; from = w_.In(from, 1).node) {
      is_short[w_.index_in_scope[from.index]] = false;
      if (g_.nodes[from].op != Op::Switch) break;
    }
  return is_short;
}

void Compiler::AssignSlots(ir::ScopeId scope) {
  // Of a large frame, what is used in several regions comes first: most of what an activation goes on with later, when the caches have
  // seen many others, is close together then.
  const std::vector<NodeId>& nodes = w_.nodes_in[scope.index];
  std::vector<NodeId> order = nodes;
  if (nodes.size() >= kLargeScope) {
    std::vector<bool> is_short = FindShortLived(scope);
    std::stable_partition(order.begin(), order.end(), [&](NodeId id) { return !is_short[w_.index_in_scope[id.index]]; });
  }
  // Switches share the slot of what they switch, so those come after everything else, innermost last.
  std::vector<NodeId> switches;
  for (NodeId id : order) {
    const ir::Node& node = g_.nodes[id];
    if (w_.IsConstant(id)) {
      p_.slot_of[w_.RowOf(id)] = kConstant | w_.constant_of[id.index];
      continue;
    }
    switch (node.op) {
      case Op::EntryMerge:
      case Op::LoopMerge:
      case Op::Call:
      case Op::Enter:
      case Op::NextIteration:
      case Op::Dead:
      case Op::Result:
      case Op::Start: break;
      case Op::Switch: switches.push_back(id); break;
      case Op::Return:
        if (node.num_results) p_.slot_of[w_.RowOf(id)] = NewSlot(scope);
        break;
      default: p_.slot_of[w_.RowOf(id)] = NewSlot(scope); break;
    }
  }
  std::vector<NodeId> chain;
  for (NodeId id : switches) {
    NodeId at = id;
    while (g_.nodes[at].op == Op::Switch && p_.slot_of[w_.RowOf(at)] == kNone && !w_.IsTrigger({at, 0})) {
      chain.push_back(at);
      at = w_.In(at, 1).node;
    }
    while (!chain.empty()) {
      NodeId s = chain.back();
      chain.pop_back();
      for (uint32_t side = 0; side < g_.nodes[s].num_results; ++side)
        p_.slot_of[w_.RowOf({s, side})] = p_.slot_of[w_.RowOf(w_.In(s, 1))];
    }
  }
}

// The targets of each event, by region.
void Compiler::EmitEvents(ir::ScopeId scope) {
  Partition& part = *parts_[scope.index];
  ScopeCode& code = p_.scopes[scope.index];
  code.activation = part.activation;
  code.regions.resize(part.regions.size());
  code.ready_bytes = static_cast<uint32_t>((part.regions.size() + 7) / 8);
  for (uint32_t r = 0; r < part.regions.size(); ++r) {
    Region& region = code.regions[r];
    llvm::ArrayRef<uint32_t> set = part.sets[part.regions[r].set];
    region.events.assign(set.begin(), set.end());
    if (region.events.size() > 1) {
      region.mask = code.num_masks++;
      region.bits = static_cast<uint8_t>((1u << region.events.size()) - 1);
      code.masks.push_back(region.bits);
    }
  }
  code.events.resize(part.events.size());
  auto each = [&](auto visit) {
    for (uint32_t r = 0; r < code.regions.size(); ++r)
      for (size_t i = 0; i < code.regions[r].events.size(); ++i) visit(r, i, code.events[code.regions[r].events[i]]);
  };
  each([](uint32_t, size_t, Event& event) { ++event.num_targets; });
  uint32_t first = 0;
  for (Event& event : code.events) {
    event.first_target = first;
    first += std::exchange(event.num_targets, 0);
  }
  code.targets.resize(first);
  each([&](uint32_t r, size_t i, Event& event) {
    code.targets[event.first_target + event.num_targets++] = {r, code.regions[r].mask, static_cast<uint8_t>(1u << i)};
  });
  for (auto [row, event] : part.event_of_row) p_.event_of[row] = event;
  for (Partition::BranchInfo& from : part.branches) {
    Branch branch;
    branch.is_bool = g_.types.Kind(g_.TypeOf(from.predicate).type) == ir::TypeKind::Bool;
    branch.watched = from.watched;
    branch.sides = from.sides;
    branch.merges = std::move(from.merges);
    branch.switches = std::move(from.switches);
    code.branches.push_back(std::move(branch));
  }
}

void Compiler::Emit(ir::ScopeId scope, const Item& item) {
  Instr in;
  in.code = item.code;
  NodeId id = item.node;
  auto dst = [&] { return p_.slot_of[w_.RowOf(id)]; };
  switch (item.code) {
    case Code::Op:
      in.a = dst();
      in.b = SlotOf(w_.In(id, 0));
      if (g_.nodes[id].num_inputs > 1) in.c = SlotOf(w_.In(id, 1));
      break;
    case Code::OpMany:
    case Code::Check:
      in.a = dst();
      in.b = static_cast<uint32_t>(p_.lists.size());
      in.c = g_.nodes[id].num_inputs;
      for (Edge edge : g_.InputsOf(id)) p_.lists.push_back(SlotOf(edge));
      break;
    case Code::Construct:
      in.a = dst();
      in.b = static_cast<uint32_t>(p_.lists.size());
      in.c = g_.nodes[id].num_inputs - 1;
      for (Edge edge : g_.InputsOf(id).drop_front()) p_.lists.push_back(SlotOf(edge));
      break;
    case Code::DelayAll:
      in.c = static_cast<uint32_t>(p_.lists.size());
      for (Edge edge : g_.InputsOf(id).drop_front()) p_.lists.push_back(SlotOf(edge));
      [[fallthrough]];
    case Code::Delay:
      in.a = dst();
      in.b = g_.nodes[id].attr;
      break;
    case Code::DelayArg:
      in.a = dst();
      in.b = SlotOf(w_.In(id, item.index + 1));
      in.c = item.index;
      break;
    case Code::Force:
    case Code::Wait:
    case Code::Offer:
      in.a = dst();
      in.b = item.code == Code::Offer ? False() : SlotOf(w_.In(id, 0));
      in.c = EventOf({id, 0});
      break;
    case Code::Outer:
      in.a = dst();
      in.b = w_.RowOf(w_.In(id, 1));
      in.c = EventOf({id, 0});
      break;
    case Code::Publish: in.a = item.index; break;
    case Code::Branch:
      in.a = SlotOf(parts_[scope.index]->branches[item.index].predicate);
      in.b = item.index;
      break;
    case Code::Merge:
      in.a = dst();
      if (w_.IsTrigger({id, 0})) in.aux = kTrigger;
      in.b = SlotOf(w_.In(id, item.index));
      break;
    case Code::Fire:
    case Code::Defer: in.c = item.index; break;
    case Code::Input:
      in.a = dst();
      in.b = g_.nodes[id].attr;
      break;
    case Code::Result: in.b = SlotOf(w_.In(id, 0)); break;
    case Code::Return:
      in.a = item.index;
      in.b = p_.slot_of[w_.results_of[scope.index][item.index]];
      break;
    case Code::Exit:
      in.a = item.index;
      in.b = SlotOf(w_.In(id, 1));
      break;
    case Code::Call: in.b = item.index; break;
    case Code::CallLate:
    case Code::NextLate: {
      bool call = item.code == Code::CallLate;
      in.b = call ? item.index : w_.LoopSite(scope);
      const std::vector<Delivery>& list = call ? p_.sites[in.b].late : p_.sites[in.b].next_late;
      for (uint32_t i = 0; i < list.size(); ++i)
        if (list[i].node == id) in.c = i;
      break;
    }
    case Code::Next: in.b = w_.LoopSite(scope); break;
    case Code::End: break;
  }
  p_.ops.emplace_back();
  if (in.code == Code::Op || in.code == Code::OpMany || in.code == Code::Check) {
    const ir::Node& node = g_.nodes[id];
    p_.ops.back() = {node.op, TypesOf(g_, id), static_cast<uint16_t>(node.num_inputs), node.attr};
    // Where batches are computed one thread runs the graph; a device takes no rows.
    if (node.op == Op::Accumulate && options_.batch && !options_.away) p_.ops.back().attr = kMayStayRows;
  }
  p_.code.push_back(in);
  p_.node_of.push_back(id);
  p_.scope_of.push_back(scope.index);
}

// A Delay whose operands are all there where it stands keeps them at once.
void Compiler::FuseDelays(std::vector<Item>& items) const {
  if (llvm::none_of(items, [](const Item& item) { return item.code == Code::Delay; })) return;
  std::map<NodeId, size_t> made_at;  // by node of this region
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].code != Code::DelayArg && items[i].code != Code::Fire) made_at.try_emplace(items[i].node, i);
  std::map<NodeId, uint32_t> arguments;  // of each Delay, in this region
  for (const Item& item : items) arguments[item.node] += item.code == Code::DelayArg;
  std::set<NodeId> fused;
  for (size_t i = 0; i < items.size(); ++i) {
    NodeId id = items[i].node;
    llvm::ArrayRef<Edge> in = g_.InputsOf(id.valid() ? id : NodeId(0));
    if (items[i].code != Code::Delay || in.size() < 2 || arguments[id] != in.size() - 1) continue;
    bool there = true;
    for (Edge edge : in.drop_front()) {
      while (g_.nodes[edge.node].op == Op::Switch) edge = w_.In(edge.node, 1);
      // A Force of this region may still have to wait; then the Delay would stand elsewhere.
      auto it = made_at.find(edge.node);
      there &= it == made_at.end() || it->second < i;
    }
    if (!there) continue;
    items[i].code = Code::DelayAll;
    fused.insert(id);
  }
  std::erase_if(items, [&](const Item& item) { return item.code == Code::DelayArg && fused.count(item.node); });
}

void Compiler::EmitScope(ir::ScopeId scope) {
  Partition& part = *parts_[scope.index];
  for (uint32_t r = 0; r < part.regions.size(); ++r) {
    p_.scopes[scope.index].regions[r].pc = static_cast<uint32_t>(p_.code.size());
    if (options_.full_delays) FuseDelays(part.regions[r].local);
    if (options_.batch) DeferTensors(w_, part.regions[r].local);
    for (const Item& item : part.regions[r].local) Emit(scope, item);
    for (const Item& item : part.regions[r].tail) Emit(scope, item);
    Emit(scope, {Code::End, NodeId()});
  }
}

// What goes over each site, once the slots of both ends are known.
void Compiler::FillSites() {
  auto add = [&](NodeId node, Edge from, uint32_t row, std::vector<Delivery>& together, std::vector<Delivery>& late) {
    Delivery d = Deliver(node, from, row);
    if (d.to != kNone) (d.event == kNone ? together : late).push_back(d);
  };
  for (uint32_t s = 0; s + 1 < p_.sites.size(); ++s) {
    SiteCode& site = p_.sites[s];
    if (!site.callee) continue;  // the place of a loop whose scope is none
    const SiteNodes& nodes = w_.sites[s];
    site.plain = site.type != SiteType::Delay;
    site.returns.resize(site.callee->num_results);
    for (NodeId id : nodes.returns) {
      ReturnTo& to = site.returns[w_.result_of_return[id.index]];
      to = {p_.slot_of[w_.RowOf(id)], p_.event_of[w_.RowOf(id)], id};
    }
    if (site.type == SiteType::Delay) {
      const ir::Node& delay = g_.nodes[nodes.trigger];
      site.cell_result = w_.result_of_return[nodes.cell_return.index];
      for (uint32_t k = 1; k < delay.num_inputs; ++k)
        site.together.push_back(Deliver(nodes.trigger, w_.In(nodes.trigger, k), delay.first_result + k + 1));
      for (const Delivery& d : site.together) site.late_operands |= d.event != kNone || d.to == kNone;
      ScopeCode& callee = p_.scopes[g_.sites[ir::SiteId(s)].callee.index];
      if (callee.cell_slot == kNone) callee.cell_slot = callee.num_slots++;
      continue;
    }
    for (NodeId id : nodes.arguments) add(id, w_.In(id, 0), w_.RowOf(id), site.together, site.late);
    for (NodeId id : nodes.next) add(id, w_.In(id, 0), w_.RowOf(id), site.next_together, site.next_late);
    ScopeCode& caller = p_.scopes[site.caller->id.index];
    ScopeCode& callee = p_.scopes[site.callee->id.index];
    if (!site.late.empty()) {
      site.child_slot = caller.num_slots++;
      site.plain = false;
    }
    if (!site.next_late.empty()) site.next_slot = callee.num_slots++;
    if (callee.spread) FindPieces(site);
  }
}

// Which arguments of the call of a spread scope say what it is to give: the last two parameters, and perhaps the one before.
void Compiler::FindPieces(SiteCode& site) const {
  NodeId last, before, given;
  for (NodeId id : w_.nodes_in[site.callee->id.index])
    if (g_.nodes[id].op == Op::EntryMerge && !w_.IsTrigger({id, 0})) given = std::exchange(before, std::exchange(last, id));
  if (!site.late.empty() || site.together.size() >= SiteCode::kNoPieces) return;
  for (uint8_t i = 0; i < site.together.size(); ++i) {
    if (site.together[i].merge == before) site.spread_from = i;
    if (site.together[i].merge == last) site.spread_to = i;
    if (site.together[i].merge == given && given.valid()) site.spread_given = i;
  }
  if (site.spread_to == SiteCode::kNoPieces) site.spread_from = SiteCode::kNoPieces;
  if (site.spread_given == SiteCode::kNoPieces || site.returns.empty() || !site.returns[0].node.valid()) return;
  const std::optional<uint32_t> constructor = ir::GivenPieces(g_.types, g_.ResultsOf(given)[0], g_.ResultsOf(site.returns[0].node)[0]);
  if (constructor) site.given_constructor = *constructor;
  else site.spread_given = SiteCode::kNoPieces;
}

void Compiler::FinishFrames() {
  for (bool changed = true; changed;) {
    changed = false;
    for (SiteCode& site : p_.sites) {
      if (!site.callee || !site.callee->needs_outer) continue;
      site.needs_outer = true;
      if (site.caller && !site.caller->needs_outer) p_.scopes[site.caller->id.index].needs_outer = changed = true;
    }
  }
  for (SiteCode& site : p_.sites)
    site.keeps_home = site.type == SiteType::Delay &&
                      (site.needs_outer || llvm::any_of(site.returns, [](const ReturnTo& to) { return to.slot != kNone; }));
  for (ScopeCode& scope : p_.scopes) {
    scope.first_sent = scope.num_slots;
    uint64_t rest = uint64_t{scope.num_slots} + scope.num_results + scope.ready_bytes;
    scope.init.assign((rest + scope.num_masks) / 8 + 1, 0);
    if (scope.num_masks) std::memcpy(reinterpret_cast<char*>(scope.init.data()) + rest, scope.masks.data(), scope.num_masks);
    uint64_t bytes = sizeof(Frame) + uint64_t{scope.num_slots} * 8 + scope.init.size() * 8;
    scope.init_offset = static_cast<uint32_t>(sizeof(Frame) + scope.num_slots * 8);
    scope.mask_offset = static_cast<uint32_t>(scope.init_offset + rest);
    scope.ready_offset = scope.mask_offset - scope.ready_bytes;
    for (Target& target : scope.targets) {
      target.ready_at = scope.ready_offset + target.region / 8;
      target.ready_bit = static_cast<uint8_t>(1u << target.region % 8);
      if (target.mask != kNone) target.mask_at = scope.mask_offset + target.mask;
    }
    scope.frame_bytes = static_cast<uint32_t>((bytes + Pool<Frame>::kUnit - 1) / Pool<Frame>::kUnit * Pool<Frame>::kUnit);
    scope.cold_bytes = scope.frame_bytes;
  }
}

void Compiler::MarkUsers() {
  auto for_each_use = [&](auto visit) {
    for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
      NodeId id(i);
      const ir::Node& node = g_.nodes[id];
      switch (node.op) {
        case Op::EntryMerge:
        case Op::LoopMerge:
        case Op::Call:
        case Op::Enter:
        case Op::NextIteration:
        case Op::Return:
        case Op::Outer: break;
        default:
          for (uint32_t k = 0; k < node.num_inputs; ++k) visit(w_.RowOf(w_.In(id, k)), Edge{id, k});
      }
    }
  };
  p_.first_user.assign(g_.results.size() + 1, 0);
  for_each_use([&](uint32_t row, Edge) { ++p_.first_user[row]; });
  uint32_t behind = 0;
  for (uint32_t& first : p_.first_user) first = behind += first;
  p_.users.resize(behind);
  // From the last one back, so that each row's begin where they should in the end.
  for_each_use([&](uint32_t row, Edge use) { p_.users[--p_.first_user[row]] = use; });
  for (uint32_t row = 0; row < g_.results.size(); ++row)
    std::reverse(p_.users.begin() + p_.first_user[row], p_.users.begin() + p_.first_user[row + 1]);
  for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
    Op op = g_.nodes[NodeId(i)].op;
    if (ir::InfoOf(op).cls == ir::OpClass::Ordinary && op != Op::Const) p_.types[i] = TypesOf(g_, NodeId(i));
  }
}

std::string Compiler::Run() {
  if (std::string why = Unsupported(); !why.empty()) return why;
  p_.graph = &g_;
  p_.slot_of.assign(g_.results.size(), kNone);
  p_.event_of.assign(g_.results.size(), kNone);
  p_.types.resize(g_.nodes.size());
  p_.result_of_node = w_.result_of_return;
  FindConstants(w_, p_, options_.batch);
  if (options_.batch) FindOfNumbers(w_);
  if (options_.group) {
    FindStrictParameters(w_);
    Group(w_);
  } else {
    w_.together.assign(g_.nodes.size(), false);
  }
  parts_.resize(g_.scopes.size());
  for (bool good = false; !good;) {
    good = true;
    for (uint32_t i = 0; i < g_.scopes.size(); ++i) {
      parts_[i] = std::make_unique<Partition>(w_, ir::ScopeId(i));
      good &= parts_[i]->Run();
    }
  }
  MakeSites();
  FindContinued();
  for (uint32_t i = 0; i < g_.scopes.size(); ++i) MakeParameters(ir::ScopeId(i));
  for (uint32_t i = 0; i < g_.scopes.size(); ++i) AssignSlots(ir::ScopeId(i));
  for (uint32_t i = 0; i < g_.nodes.size(); ++i) {
    const ir::Node& node = g_.nodes[NodeId(i)];
    if (node.op == Op::Outer) p_.scopes[node.scope.index].needs_outer = true;
  }
  for (uint32_t i = 0; i < g_.scopes.size(); ++i) EmitEvents(ir::ScopeId(i));
  FillSites();
  for (uint32_t i = 0; i < g_.scopes.size(); ++i) EmitScope(ir::ScopeId(i));
  if (options_.batch) FindComputedAgain(p_, w_);
  if (options_.move)
    for (uint32_t i = 0; i < g_.scopes.size(); ++i) MarkLastUses(p_, w_, *parts_[i], ir::ScopeId(i));
  if (options_.batch) ReadTensorGroups(p_, w_, options_);
  FinishFrames();
  auto too_many = [&](ir::ScopeId scope, const char* what, size_t count, size_t most) {
    return fmt::format("`{}` {} {} values, more than the {} that this engine holds: divide it, a long list into several for instance, "
                       "or run with `--engine=demand`", g_.scopes[scope].name, what, count, most);
  };
  constexpr uint32_t kMostSlots = (1u << (32 - kFlagBits)) - 1;
  for (const ScopeCode& scope : p_.scopes)
    if (scope.num_slots > kMostSlots) return too_many(scope.id, "computes", scope.num_slots, kMostSlots);
  for (const SiteCode& site : p_.sites)
    if (site.type == SiteType::Delay && site.together.size() > kMostCaptured)
      return too_many(site.callee->id, "is delayed with", site.together.size(), kMostCaptured);
  MarkUsers();
  p_.implied = w_.implied;
  p_.count = options_.count;
  for (SiteCode& site : p_.sites)
    if (site.type == SiteType::Delay) DelayCell::Measure(site);
  if (!options_.fast_later) MakeFastCode(p_, options_, [] {});
  return "";
}

// Scopes have no fast code.
void DropFastCode(Program& program) {
  for (ScopeCode& scope : program.scopes) {
    scope.scheduled = scope.plain = scope.frameless = kNone;
    scope.unboxed = nullptr;
    scope.frame_bytes = scope.cold_bytes;
  }
  for (SiteCode& site : program.sites) {
    site.ahead = site.frameless = false;
    site.native_body = nullptr;
  }
  program.scheduled = {};
  program.native = nullptr;
  program.frameless = {};
}

}  // namespace

void MakeFastCode(Program& program, const Options& options, llvm::function_ref<void()> pause) {
  try {
    if (options.scheduled) MakeScheduled(program, options, pause);
    if (options.scheduled && options.frameless) MakeFrameless(program);
    program.scheduled.first_unboxed = static_cast<uint32_t>(program.scheduled.code.size());
    if (options.scheduled && options.unboxed) MakeUnboxed(program, options, pause);
    if (options.scheduled && options.native && make_native) make_native(program, options.most_native, pause);
  } catch (...) {
    DropFastCode(program);
    throw;
  }
  for (SiteCode& site : program.sites)
    if (site.callee) site.free_list = FramePool::ListOf(site.callee->frame_bytes);
  program.fast = true;
}

uint64_t Program::OrderOf(uint32_t pc) const {
  const Instr& in = code[pc];
  switch (in.code) {
    case Code::Call:
    case Code::CallLate: return uint64_t{sites[in.b].trigger.index} * 2 + (in.code == Code::CallLate);
    case Code::Next: return UINT64_MAX - 1;
    case Code::NextLate: return UINT64_MAX;
    default: return uint64_t{node_of[pc].index} * 2;
  }
}

std::string Compile(const ir::Graph& graph, const Options& options, Program* program) {
  return Compiler(graph, options, *program).Run();
}

}  // namespace df::tagged
