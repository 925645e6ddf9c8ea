// See inline_delayed.h.
#include "lower/inline_delayed.h"

#include <map>

namespace df::fg {
namespace {

constexpr uint32_t kMaxCallee = 48;  // nodes
constexpr uint32_t kMaxBody = 120;   // nodes of a delayed body after that

class Inliner {
 public:
  explicit Inliner(Program& program) : p_(program) {
    for (const Function& function : p_.functions) {
      bool loops = false;
      for (const Block& block : function.blocks) loops |= block.again;
      // What a paired function is given may come late.
      fits_.push_back(!function.delayed && !function.paired && !loops && function.nodes.size() <= kMaxCallee);
    }
  }

  void Run() {
    for (Function& function : p_.functions)
      if (function.delayed) RunIn(function);
  }

 private:
  void RunIn(Function& function) {
    uint32_t blocks = function.blocks.size();
    for (BlockId block(0); block.index < blocks; ++block.index) {
      std::vector<NodeId> nodes;
      for (NodeId id : std::vector<NodeId>(function.blocks[block].nodes)) {
        const Node& node = function.nodes[id];
        bool fits = node.kind == NodeKind::Apply && fits_[node.callee.index] &&
                    function.nodes.size() + p_.functions[node.callee].nodes.size() <= kMaxBody;
        if (fits) Inline(function, id, nodes);
        else nodes.push_back(id);
      }
      function.blocks[block].nodes = std::move(nodes);
    }
    Replace(function);
  }

  // Copies the callee's graph; what used the call's results uses those of the copy, once Replace has run.
  void Inline(Function& function, NodeId call, std::vector<NodeId>& nodes) {
    const Function& callee = p_.functions[function.nodes[call].callee];
    const llvm::SmallVector<Value, 4> arguments = function.nodes[call].operands;
    ir::PosId site = function.nodes[call].pos;
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
      if (!copies[i].valid()) continue;
      Node copy = callee.nodes[NodeId(i)];
      for (Value& operand : copy.operands) operand = map(operand);
      for (BlockId& block : copy.blocks) block = blocks[block.index];
      copy.pos = InlinedAt(copy.pos, site);
      function.nodes[copies[i]] = std::move(copy);
    }
    for (uint32_t i = 0; i < blocks.size(); ++i) {
      const Block& from = callee.blocks[BlockId(i)];
      std::vector<NodeId> order;
      for (NodeId id : from.nodes)
        if (copies[id.index].valid()) order.push_back(copies[id.index]);
      if (BlockId(i) == callee.body) {
        nodes.insert(nodes.end(), order.begin(), order.end());
        for (uint32_t k = 0; k < from.yields.size(); ++k) instead_[{call, k}] = map(from.yields[k]);
        continue;
      }
      Block& to = function.blocks[blocks[i]];
      to.nodes = std::move(order);
      for (Value value : from.yields) to.yields.push_back(map(value));
      to.pos = InlinedAt(from.pos, site);
    }
  }

  void Replace(Function& function) {
    if (instead_.empty()) return;
    auto replace = [&](Value& value) {
      // A result that is an argument of one call may be the result of another.
      for (auto it = instead_.find(value); it != instead_.end(); it = instead_.find(value)) value = it->second;
    };
    for (Node& node : function.nodes)
      for (Value& operand : node.operands) replace(operand);
    for (Block& block : function.blocks)
      for (Value& value : block.yields) replace(value);
    instead_.clear();
  }

  ir::PosId InlinedAt(ir::PosId pos, ir::PosId site) {
    if (!pos.valid() || !site.valid()) return pos;
    auto it = inlined_.find({pos.index, site.index});
    if (it != inlined_.end()) return it->second;
    ir::Pos copy = p_.positions[pos];
    copy.inlined_at = copy.inlined_at.valid() ? InlinedAt(copy.inlined_at, site) : site;
    return inlined_[{pos.index, site.index}] = p_.positions.Add(std::move(copy));
  }

  Program& p_;
  std::vector<bool> fits_;           // by function: may be copied
  std::map<Value, Value> instead_;   // in the function at hand
  std::map<std::pair<uint32_t, uint32_t>, ir::PosId> inlined_;
};

}  // namespace

void InlineIntoDelayed(Program& program) { Inliner(program).Run(); }

}  // namespace df::fg
