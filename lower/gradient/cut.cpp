// See gradient/cut.h.
#include "lower/gradient/cut.h"

#include "llvm/ADT/STLExtras.h"
#include "lower/gradient/errors.h"

namespace df::fg {
namespace {

// What is as cheap to compute again as to look up, or cannot be kept.
bool IsRepeated(const Node& node) {
  return node.kind == NodeKind::Op && (node.op == ir::Op::Const || node.op == ir::Op::Match);
}

}  // namespace

Cuts::Cuts(const Program& program) : p_(program) {
  for (const Function& function : p_.functions) {
    bool cut = llvm::any_of(function.params, [](const Param& param) { return param.cotangent; });
    for (const Block& block : function.blocks) cut &= !block.again;
    cuts_.emplace_back();
    if (cut) cuts_.back().emplace();
  }
  // Whoever cannot be cut changes what those do that call it.
  for (bool again = true; again;) {
    again = false;
    for (uint32_t f = 0; f < cuts_.size(); ++f) {
      if (!cuts_[f]) continue;
      const Function& function = p_.functions[FunctionId(f)];
      *cuts_[f] = {};
      cuts_[f]->cotangents.assign(function.results.size(), false);
      for (const Node& node : function.nodes) cuts_[f]->late.emplace_back(node.results.size(), false);
    }
    auto drop_unless = [&](bool fits, uint32_t f) {
      if (fits) return;
      cuts_[f].reset();
      again = true;
    };
    for (bool changed = true; changed && !again;) {
      changed = false;
      for (uint32_t f = 0; f < cuts_.size(); ++f) {
        if (!cuts_[f]) continue;
        std::vector<bool> before = cuts_[f]->cotangents;
        drop_unless(FindLate(FunctionId(f)), f);
        if (again) break;
        changed |= cuts_[f]->cotangents != before;
      }
    }
    for (uint32_t f = 0; f < cuts_.size() && !again; ++f)
      if (cuts_[f]) drop_unless(FindNeeds(FunctionId(f)), f);
  }
}

// What hangs on a cotangent. False if a paired call that is not cut does: its values would come too late.
bool Cuts::FindLate(FunctionId id) {
  const Function& function = p_.functions[id];
  Cut& cut = *cuts_[id.index];
  auto is_late = [&](Value value) { return cut.late[value.node.index][value.result]; };
  bool changed = true;
  auto set = [&](uint32_t node, uint32_t result) {
    changed |= !cut.late[node][result];
    cut.late[node][result] = true;
  };
  while (changed) {
    changed = false;
    for (uint32_t n = 0; n < function.nodes.size(); ++n) {
      const Node& node = function.nodes[NodeId(n)];
      bool all = node.kind == NodeKind::Param && function.params[node.attr].cotangent;
      bool cotangent = false;  // one that is passed to a cut function as such
      for (uint32_t i = 0; i < node.operands.size(); ++i) {
        if (!is_late(node.operands[i])) continue;
        if (IsCutCall(node) && p_.functions[node.callee].params[i].cotangent) cotangent = true;
        else all = true;
      }
      if (all && (node.kind == NodeKind::Apply || node.kind == NodeKind::Delay) && !IsCutCall(node) && p_.functions[node.callee].paired)
        return false;
      for (uint32_t k = 0; k < node.results.size(); ++k) {
        bool late = all || (IsCutCall(node) && Of(node.callee)->cotangents[k] && (cotangent || node.kind == NodeKind::Delay));
        for (BlockId block : node.blocks) late |= is_late(function.blocks[block].yields[k]);
        if (late) set(n, k);
      }
    }
  }
  for (uint32_t k = 0; k < function.results.size(); ++k) {
    // Of a delayed expression one result comes before its cotangents.
    cut.cotangents[k] = is_late(function.blocks[function.body].yields[k]) || (function.delayed && k > 0);
  }
  return !function.delayed || !cut.cotangents[0];
}

bool Cuts::CallsValues(const std::set<Value>& needed, NodeId id, const Node& node) const {
  for (uint32_t k = 0; k < node.results.size(); ++k)
    if (!Of(node.callee)->cotangents[k] && needed.count({id, k})) return true;
  return false;
}
bool Cuts::CallsGradient(const std::set<Value>& needed, NodeId id, const Node& node) const {
  for (uint32_t k = 0; k < node.results.size(); ++k)
    if (Of(node.callee)->cotangents[k] && needed.count({id, k})) return true;
  return false;
}

// Whether the forward pass has the value anyway.
bool Cuts::IsKept(const Function& function, const Cut& cut, Value value) const {
  const Node& node = function.nodes[value.node];
  if (IsRepeated(node) || cut.late[value.node.index][value.result]) return false;
  if (node.kind == NodeKind::Param || cut.forward.count(value)) return true;
  // A call has all of its results.
  if (IsCutCall(node)) return !Of(node.callee)->cotangents[value.result] && CallsValues(cut.forward, value.node, node);
  if (node.kind != NodeKind::Apply) return false;
  for (uint32_t k = 0; k < node.results.size(); ++k)
    if (cut.forward.count({value.node, k})) return true;
  return false;
}

void Cuts::Need(const Function& function, Cut& cut, bool gradient, std::vector<Value> work) {
  std::set<Value>& needed = gradient ? cut.gradient : cut.forward;
  std::set<Value> kept;
  while (!work.empty()) {
    Value value = work.back();
    work.pop_back();
    if (gradient && IsKept(function, cut, value)) {
      kept.insert(value);
      continue;
    }
    if (!needed.insert(value).second) continue;
    const Node& node = function.nodes[value.node];
    for (BlockId block : node.blocks) work.push_back(function.blocks[block].yields[value.result]);
    if (!IsCutCall(node)) {
      work.insert(work.end(), node.operands.begin(), node.operands.end());
      continue;
    }
    const Function& callee = p_.functions[node.callee];
    bool cotangent = Of(node.callee)->cotangents[value.result];
    // A gradient needs its forward pass, on one side or the other.
    bool values = !cotangent || !gradient || !CallsValues(cut.forward, value.node, node);
    for (uint32_t i = 0; i < node.operands.size(); ++i)
      if (callee.params[i].cotangent ? cotangent : values) work.push_back(node.operands[i]);
    // The cotangents of a Delay are asked for once it is forced.
    if (cotangent && node.kind == NodeKind::Delay) work.push_back({value.node, 0});
  }
  for (Value value : kept) cut.kept.push_back(value);
}

// False if what the gradient needs cannot be kept.
bool Cuts::FindNeeds(FunctionId id) {
  const Function& function = p_.functions[id];
  Cut& cut = *cuts_[id.index];
  std::vector<Value> values, cotangents;
  for (uint32_t k = 0; k < function.results.size(); ++k)
    (cut.cotangents[k] ? cotangents : values).push_back(function.blocks[function.body].yields[k]);
  Need(function, cut, false, values);
  Need(function, cut, true, cotangents);
  // A table is whole when all that fills it has run. A branch that may fail in vain, or a call, would leave it an error.
  UnneededErrors errors(p_, function, [&](uint32_t k) { return !cut.cotangents[k]; });
  for (uint32_t n = 0; n < function.nodes.size(); ++n) {
    const Node& node = function.nodes[NodeId(n)];
    bool fills = node.kind == NodeKind::Branch || (node.kind == NodeKind::Apply && IsCutCall(node));
    if (fills && cut.forward.lower_bound({NodeId(n), 0}) != cut.forward.lower_bound({NodeId(n + 1), 0}) && errors.MayFail(NodeId(n))) return false;
  }
  return llvm::none_of(cut.kept, [&](Value value) { return p_.types.Kind(function.TypeOf(value).type) == ir::TypeKind::Alt; });
}

}  // namespace df::fg
