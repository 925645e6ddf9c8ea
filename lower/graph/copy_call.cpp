// See copy_call.h.
#include "lower/graph/copy_call.h"

#include "lang/budget.h"
#include "tagged_ir/action.h"

namespace df::fg {

std::vector<Value> CallCopier::Copy(Function& function, NodeId call, std::vector<NodeId>& nodes) {
  const FunctionId callee_id = function.nodes[call].callee;
  const Function& callee = p_.functions[callee_id];
  const llvm::SmallVector<Value, 4> arguments = function.nodes[call].operands;
  const ir::PosId site = function.nodes[call].pos;
  const bool action = GivesAction(callee);
  std::vector<NodeId> copies(callee.nodes.size());
  for (uint32_t i = 0; i < copies.size(); ++i)
    if (callee.nodes[NodeId(i)].kind != NodeKind::Param) copies[i] = function.nodes.Add(Node());
  auto map = [&](Value value) {
    const Node& node = callee.nodes[value.node];
    return node.kind == NodeKind::Param ? arguments[node.attr] : Value{copies[value.node.index], value.result};
  };
  std::vector<BlockId> blocks(callee.blocks.size());
  for (uint32_t i = 0; i < blocks.size(); ++i)
    if (BlockId(i) != callee.body) blocks[i] = function.blocks.Add(Block());
  for (uint32_t i = 0; i < copies.size(); ++i) {
    CheckBudget();
    if (!copies[i].valid()) continue;
    Node copy = callee.nodes[NodeId(i)];
    for (Value& operand : copy.operands) operand = map(operand);
    for (BlockId& block : copy.blocks) block = blocks[block.index];
    copy.pos = places_.InlinedAt(copy.pos, site, action);
    function.nodes[copies[i]] = std::move(copy);
  }
  // What a block yields; `order` gets the nodes of its copy.
  auto copy_block = [&](const Block& from, std::vector<NodeId>& order) {
    std::vector<Value> yields;
    for (NodeId id : from.nodes)
      if (copies[id.index].valid()) order.push_back(copies[id.index]);
    for (Value value : from.yields) yields.push_back(map(value));
    if (!from.again) return yields;
    Node next;
    next.kind = NodeKind::Apply;
    next.callee = callee_id;
    next.operands.assign(yields.begin(), yields.end());
    next.results.assign(callee.results.begin(), callee.results.end());
    next.pos = places_.InlinedAt(from.pos, site, action);
    NodeId id = function.nodes.Add(std::move(next));
    order.push_back(id);
    yields.clear();
    for (uint32_t r = 0; r < callee.results.size(); ++r) yields.push_back({id, r});
    return yields;
  };
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    if (BlockId(i) == callee.body) continue;
    const Block& from = callee.blocks[BlockId(i)];
    std::vector<NodeId> order;
    std::vector<Value> yields = copy_block(from, order);
    Block& to = function.blocks[blocks[i]];
    to.nodes = std::move(order);
    to.yields = std::move(yields);
    to.pos = places_.InlinedAt(from.pos, site, action);
  }
  return copy_block(callee.blocks[callee.body], nodes);
}

// As mono::Program's.
bool CallCopier::GivesAction(const Function& callee) const {
  return p_.action && callee.results.size() == 1 &&
         ir::GivesAction(p_.types, callee.results[0].type, p_.functions[p_.main].results[0].type);
}

}  // namespace df::fg
