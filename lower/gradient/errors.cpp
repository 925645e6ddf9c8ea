// See gradient/errors.h.
#include "lower/gradient/errors.h"

#include "llvm/ADT/STLExtras.h"
#include "lower/gradient/writer.h"
#include "tagged_ir/op_facts.h"

namespace df::fg {

namespace {
// Whether a node gives an error although its operands are none. What a field holds that is not strict may be one, evaluated or not.
bool NodeCanFail(const Program& program, const Function& function, const Node& node) {
  if (node.kind != NodeKind::Op) return false;
  if (node.op != ir::Op::Field) return ir::FactsOf(node.op).fails;
  ir::TypeId data = function.TypeOf(node.operands[0]).type;
  return !program.types[data].constructors[node.attr >> 16].fields[node.attr & 0xffff].strict;
}

// The operands that an op looks at: all but those that a constructor holds without looking.
Values Strict(const Program& program, const Node& node) {
  Values operands;
  for (uint32_t i = 0; i < node.operands.size(); ++i)
    if (node.op != ir::Op::Construct || program.types[node.results[0].type].constructors[node.attr].fields[i].strict)
      operands.push_back(node.operands[i]);
  return operands;
}

}  // namespace

UnneededErrors::UnneededErrors(const Program& program, const Function& function)
    : UnneededErrors(program, function, [](uint32_t) { return true; }) {}

UnneededErrors::UnneededErrors(const Program& program, const Function& function, llvm::function_ref<bool(uint32_t)> counts)
    : p_(program), f_(function) {
  home_.resize(f_.nodes.size());
  for (uint32_t b = 0; b < f_.blocks.size(); ++b)
    for (NodeId node : f_.blocks[BlockId(b)].nodes) home_[node.index] = BlockId(b);
  bool any = llvm::any_of(f_.nodes, [&](const Node& node) { return NodeCanFail(p_, f_, node); });
  if (!any) return;  // a call that is not needed is delayed
  for (uint32_t k = 0; k < f_.results.size(); ++k)
    if (!f_.results[k].lazy && counts(k)) Mark(f_.body, k);
  FindErrors();
}

bool UnneededErrors::MayFail(NodeId id) const {
  const Node& node = f_.nodes[id];
  if (node.kind == NodeKind::Branch) return MayBe(node.operands[0]);
  for (uint32_t k = 0; k < node.results.size(); ++k)
    if (!MayBe({id, k})) return false;
  return !node.results.empty();
}

void UnneededErrors::AddOperands(Value value, std::vector<Value>& work) {
  const Node& node = f_.nodes[value.node];
  switch (node.kind) {
    case NodeKind::Param:
    case NodeKind::Delay: return;
    case NodeKind::Diff: work.push_back(node.operands[0]); return;
    case NodeKind::Op: llvm::append_range(work, Strict(p_, node)); return;
    case NodeKind::Apply:
      for (uint32_t i = 0; i < node.operands.size(); ++i)
        if (!p_.functions[node.callee].params[i].type.lazy) work.push_back(node.operands[i]);
      return;
    case NodeKind::Branch: break;
  }
  work.push_back(node.operands[0]);
  // What every side needs that can give a value.
  std::optional<std::set<Value>> all;
  for (BlockId side : node.blocks) {
    const std::set<Value>& needs = Needs(side, value.result);
    if (llvm::any_of(needs, [&](Value v) { return f_.nodes[v.node].kind == NodeKind::Op && f_.nodes[v.node].op == ir::Op::Fail; })) continue;
    if (!all) all.emplace(needs);
    else for (auto it = all->begin(); it != all->end();) it = needs.count(*it) ? std::next(it) : all->erase(it);
  }
  if (all) work.insert(work.end(), all->begin(), all->end());
}

const std::set<Value>& UnneededErrors::Needs(BlockId block, uint32_t yield) {
  auto [it, fresh] = needs_.try_emplace({block.index, yield});
  if (!fresh) return it->second;
  std::set<Value> needs;
  std::vector<Value> work = {f_.blocks[block].yields[yield]};
  while (!work.empty()) {
    Value value = work.back();
    work.pop_back();
    if (needs.insert(value).second && home_[value.node.index] == block) AddOperands(value, work);
  }
  return needs_[{block.index, yield}] = std::move(needs);
}

void UnneededErrors::Mark(BlockId block, uint32_t yield) {
  if (!marked_.insert({block.index, yield}).second) return;
  for (Value value : Needs(block, yield)) {
    if (home_[value.node.index] != block) continue;
    needed_.insert(value);
    for (BlockId side : f_.nodes[value.node].blocks) Mark(side, value.result);
  }
}

// What may fail, or hangs on what may have failed; as long as that is more.
void UnneededErrors::FindErrors() {
  auto fails = [&](NodeId id, uint32_t k) {
    const Node& node = f_.nodes[id];
    auto is_error = [&](Value value) { return MayBe(value); };
    switch (node.kind) {
      case NodeKind::Param:
      case NodeKind::Delay: return false;
      case NodeKind::Diff: return MayBe(node.operands[0]);
      case NodeKind::Op: return NodeCanFail(p_, f_, node) || llvm::any_of(Strict(p_, node), is_error);
      case NodeKind::Apply: return true;
      case NodeKind::Branch: break;
    }
    return MayBe(node.operands[0]) || llvm::any_of(node.blocks, [&](BlockId side) { return MayBe(f_.blocks[side].yields[k]); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < f_.nodes.size(); ++n) {
      if (!home_[n].valid()) continue;
      for (uint32_t k = 0; k < f_.nodes[NodeId(n)].results.size(); ++k) {
        Value value{NodeId(n), k};
        if (!needed_.count(value) && !MayBe(value) && fails(NodeId(n), k)) changed |= errors_.insert(value).second;
      }
    }
  }
}

}  // namespace df::fg
