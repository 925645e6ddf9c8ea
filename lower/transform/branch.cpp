// The transform of branches and loops: Switch, BranchMerge, and self tail calls as Enter, LoopMerge, NextIteration and
// Exit. See transform.h.
#include "lower/transform/transform.h"

namespace df::lower {

// Finds what each Branch's blocks take from outside. Each use climbs from its block to the block of the definition and
// stops at the first Branch that knows the value: then all outer ones do.
void Transformer::FindFreeValues(const fg::Function& function) {
  free_values_.clear();
  std::vector<fg::BlockId> home(function.nodes.size());           // of each node
  std::vector<fg::NodeId> branch_of(function.blocks.size());      // the Branch whose block it is
  std::vector<fg::BlockId> order = {function.body};
  for (size_t i = 0; i < order.size(); ++i) {
    for (fg::NodeId node : function.blocks[order[i]].nodes) {
      home[node.index] = order[i];
      // Also of a Branch that takes nothing: emitting its sides must not make an entry, which moves those in use.
      if (!function.nodes[node].blocks.empty()) free_values_.try_emplace(node.index);
      for (fg::BlockId inner : function.nodes[node].blocks) {
        branch_of[inner.index] = node;
        order.push_back(inner);
      }
    }
  }
  auto use = [&](fg::Value value, fg::BlockId block) {
    while (block != home[value.node.index] && branch_of[block.index].valid()) {
      fg::NodeId branch = branch_of[block.index];
      if (!free_values_[branch.index].insert(Key(value))) return;
      block = home[branch.index];
    }
  };
  for (fg::BlockId id : order) {
    const fg::Block& block = function.blocks[id];
    for (fg::NodeId node : block.nodes)
      for (fg::Value operand : function.nodes[node].operands) use(operand, id);
    for (fg::Value value : block.yields) use(value, id);
  }
}

// Makes the Switch of each value that the blocks of `branch` take from outside: sides[k][i] is the i-th of them for
// block k.
void Transformer::EnterSides(fg::NodeId id, std::vector<Trigger>& triggers, std::vector<Edges>& sides) {
  const fg::Node& branch = function_->nodes[id];
  uint32_t count = static_cast<uint32_t>(branch.blocks.size());
  ir::Edge predicate = EdgeOf(branch.operands[0]);
  triggers.resize(count);
  for (uint32_t k = 0; k < count; ++k) triggers[k] = {{}, trigger_, predicate, k, &triggers};
  sides.assign(count, {});
  for (uint64_t key : free_values_.find(id.index)->second) {
    fg::Value value{fg::NodeId(static_cast<uint32_t>(key >> 32)), static_cast<uint32_t>(key)};
    llvm::SmallVector<ir::PortType, 2> types(count, function_->TypeOf(value));
    ir::NodeId node = AddWithOperands(ir::Op::Switch, predicate, value, types, 0, branch.pos);
    for (uint32_t k = 0; k < count; ++k) sides[k].push_back({node, k});
  }
}

// Runs `emit` with the values and the trigger of one side in place.
template <typename Emit>
void Transformer::OnSide(fg::NodeId branch, uint32_t side, std::vector<Trigger>& triggers,
                         const std::vector<Edges>& sides, Emit emit) {
  const llvm::SetVector<uint64_t>& free = free_values_.find(branch.index)->second;
  Edges saved;
  std::vector<std::pair<uint64_t, std::vector<Use>>> waiting;
  for (size_t i = 0; i < free.size(); ++i) {
    saved.push_back(values_.lookup(free[i]));
    values_[free[i]] = sides[side][i];
    // What waits for the value outside of the branch must not be served by the inner one.
    if (auto it = awaited_.find(free[i]); it != awaited_.end()) {
      waiting.emplace_back(free[i], std::move(it->second));
      awaited_.erase(it);
    }
  }
  Trigger* outer = trigger_;
  trigger_ = &triggers[side];
  emit();
  trigger_ = outer;
  for (size_t i = 0; i < free.size(); ++i) {
    if (saved[i].node.valid()) values_[free[i]] = saved[i];
    else values_.erase(free[i]);
  }
  for (auto& [key, uses] : waiting) awaited_[key] = std::move(uses);
}

void Transformer::EmitBranch(fg::NodeId id) {
  const fg::Node& node = function_->nodes[id];
  std::vector<Trigger> triggers;
  std::vector<Edges> sides, results(node.blocks.size());
  EnterSides(id, triggers, sides);
  for (uint32_t k = 0; k < node.blocks.size(); ++k)
    OnSide(id, k, triggers, sides, [&] { results[k] = EmitBlock(node.blocks[k]); });
  ir::Edge predicate = EdgeOf(node.operands[0]);
  for (uint32_t j = 0; j < node.results.size(); ++j) {
    Edges merged;
    for (const Edges& side : results) merged.push_back(side[j]);
    Define({id, j}, MergeSides(predicate, merged, node.results[j], node.pos));
  }
}

ir::Edge Transformer::TriggerEdge(Trigger* trigger) {
  if (trigger->edge.node.valid()) return trigger->edge;
  ir::Edge outer = TriggerEdge(trigger->outer);
  llvm::SmallVector<ir::PortType, 2> types(trigger->siblings->size(), TriggerType());
  ir::NodeId node = Add(ir::Op::Switch, {trigger->predicate, outer}, types);
  for (Trigger& side : *trigger->siblings) side.edge = {node, side.side};
  return trigger->edge;
}

ir::Edge Transformer::MergeSides(ir::Edge predicate, llvm::ArrayRef<ir::Edge> sides, ir::PortType type,
                                 ir::PosId pos) {
  Edges operands = {predicate};
  operands.append(sides.begin(), sides.end());
  return {Add(ir::Op::BranchMerge, operands, type, 0, pos), 0};
}

// The Branch at the end of a block, if the block yields just its results; else invalid.
fg::NodeId Transformer::TailBranch(fg::BlockId id) const {
  const fg::Block& block = function_->blocks[id];
  if (block.again || block.yields.empty()) return {};
  fg::NodeId last = block.yields[0].node;
  const fg::Node& node = function_->nodes[last];
  if (node.kind != fg::NodeKind::Branch || node.results.size() != block.yields.size()) return {};
  for (uint32_t i = 0; i < block.yields.size(); ++i)
    if (block.yields[i] != fg::Value{last, i}) return {};
  // It must be this block's own, not one further out. It is near the end.
  return std::find(block.nodes.rbegin(), block.nodes.rend(), last) != block.nodes.rend() ? last : fg::NodeId();
}

bool Transformer::HasAgain(fg::BlockId id) {
  if (auto it = again_.find(id.index); it != again_.end()) return it->second;
  bool again = function_->blocks[id].again;
  if (fg::NodeId tail = TailBranch(id); tail.valid())
    for (fg::BlockId inner : function_->nodes[tail].blocks) again |= HasAgain(inner);
  return again_[id.index] = again;
}

void Transformer::FindInvariants(fg::BlockId id, llvm::SmallVectorImpl<bool>& invariant) const {
  const fg::Block& block = function_->blocks[id];
  if (block.again) {
    for (size_t i = 0; i < block.yields.size(); ++i) {
      const fg::Node& node = function_->nodes[block.yields[i].node];
      if (node.kind != fg::NodeKind::Param || node.attr != i) invariant[i] = false;
    }
    return;
  }
  if (fg::NodeId tail = TailBranch(id); tail.valid())
    for (fg::BlockId inner : function_->nodes[tail].blocks) FindInvariants(inner, invariant);
}

ir::Edge Transformer::Constant(bool value) {
  ir::ConstId& id = bool_constants_[value];
  if (!id.valid()) id = graph_.constants.Add({BoolType().type, value, ""});
  return {Add(ir::Op::Const, TriggerEdge(trigger_), BoolType(), id.index), 0};
}

ir::Edge Transformer::Dead(ir::PortType type) {
  return {Add(ir::Op::Dead, TriggerEdge(trigger_), type), 0};
}

// A function with self tail calls: its parameters and its trigger become loop variables.
Transformer::Edges Transformer::EmitLoop(const fg::Function& function, llvm::ArrayRef<ir::Edge> params) {
  ir::ScopeId outer_scope = scope_;
  Trigger* outer_trigger = trigger_;
  ir::ScopeId loop = graph_.scopes.Add({ir::ScopeKind::Loop, function.name + ".loop", outer_scope, function.pos});
  scope_ = loop;

  auto enter = [&](ir::Edge from, llvm::ArrayRef<ir::PortType> types) {
    return graph_.AddNode(ir::Op::Enter, outer_scope, from, types, loop.index, function.pos);
  };
  auto merge = [&](ir::NodeId entry, ir::PortType type) {
    return Add(ir::Op::LoopMerge, {ir::Edge{entry, 0}, ir::Edge()}, type, 0, function.pos);
  };
  ir::NodeId trigger_enter = enter(TriggerEdge(outer_trigger), {TriggerType(), TriggerType()});
  ir::NodeId trigger_merge = merge(trigger_enter, TriggerType());
  llvm::SmallVector<ir::NodeId, 4> merges;
  for (size_t i = 0; i < params.size(); ++i)
    merges.push_back(merge(enter(params[i], function.params[i].type), function.params[i].type));
  for (fg::NodeId id : function.blocks[function.body].nodes)
    if (function.nodes[id].kind == fg::NodeKind::Param) Define({id, 0}, {merges[function.nodes[id].attr], 0});

  invariant_.assign(params.size(), true);
  FindInvariants(function.body, invariant_);
  Trigger header;
  header.edge = {trigger_merge, 0};
  trigger_ = &header;
  Tail tail = EmitTail(function.body);

  auto next = [&](ir::NodeId to, ir::Edge value, ir::PortType type) {
    graph_.SetInput(to, 1, {Add(ir::Op::NextIteration, {value, tail.go_on}, type, loop.index, function.pos), 0});
  };
  for (size_t i = 0; i < params.size(); ++i)
    next(merges[i], invariant_[i] ? ir::Edge{merges[i], 0} : tail.next[i], function.params[i].type);
  next(trigger_merge, header.edge, TriggerType());
  scope_ = outer_scope;
  trigger_ = outer_trigger;
  Edges results;
  for (size_t k = 0; k < tail.results.size(); ++k)
    results.push_back({Add(ir::Op::Exit, {tail.go_on, tail.results[k], ir::Edge{trigger_enter, 1}},
                           function.results[k], loop.index, function.pos),
                       0});
  return results;
}

Transformer::Tail Transformer::EmitTail(fg::BlockId id) {
  EmitNodesBeforeTail(id);
  Tail tail;
  const fg::Block& block = function_->blocks[id];
  if (fg::NodeId branch = TailBranch(id); branch.valid() && HasAgain(id)) return EmitTailBranch(branch);
  tail.go_on = Constant(block.again);
  if (block.again) {
    for (size_t i = 0; i < block.yields.size(); ++i)
      tail.next.push_back(invariant_[i] ? ir::Edge() : EdgeOf(block.yields[i]));
    for (ir::PortType type : function_->results) tail.results.push_back(Dead(type));
  } else {
    for (size_t i = 0; i < function_->params.size(); ++i)
      tail.next.push_back(invariant_[i] ? ir::Edge() : Dead(function_->params[i].type));
    for (fg::Value value : block.yields) tail.results.push_back(EdgeOf(value));
  }
  return tail;
}

// All nodes but the Branch that goes on or ends the loop: EmitTailBranch takes that one.
void Transformer::EmitNodesBeforeTail(fg::BlockId id) {
  fg::NodeId tail = HasAgain(id) ? TailBranch(id) : fg::NodeId();
  for (fg::NodeId node : function_->blocks[id].nodes)
    if (node != tail) EmitNode(node);
}

Transformer::Tail Transformer::EmitTailBranch(fg::NodeId id) {
  const fg::Node& node = function_->nodes[id];
  std::vector<Trigger> triggers;
  std::vector<Edges> sides;
  std::vector<Tail> tails(node.blocks.size());
  EnterSides(id, triggers, sides);
  for (uint32_t k = 0; k < node.blocks.size(); ++k)
    OnSide(id, k, triggers, sides, [&] { tails[k] = EmitTail(node.blocks[k]); });
  ir::Edge predicate = EdgeOf(node.operands[0]);
  auto merged = [&](auto pick, ir::PortType type) {
    Edges all;
    for (const Tail& tail : tails) all.push_back(pick(tail));
    return MergeSides(predicate, all, type, node.pos);
  };
  Tail out;
  out.go_on = merged([](const Tail& tail) { return tail.go_on; }, BoolType());
  for (size_t i = 0; i < function_->params.size(); ++i)
    out.next.push_back(invariant_[i] ? ir::Edge()
                                     : merged([&](const Tail& tail) { return tail.next[i]; },
                                              function_->params[i].type));
  for (size_t k = 0; k < function_->results.size(); ++k)
    out.results.push_back(merged([&](const Tail& tail) { return tail.results[k]; }, function_->results[k]));
  return out;
}

}  // namespace df::lower
