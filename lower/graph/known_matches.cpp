// See known_matches.h.
#include "lower/graph/known_matches.h"

#include <algorithm>
#include <map>

#include "lang/budget.h"
#include "llvm/ADT/STLExtras.h"
#include "lower/graph/copy_call.h"

namespace df::fg {
namespace {

constexpr uint32_t kMostCallee = 48;     // nodes of a function that is copied because it matches a known constructor,
constexpr uint32_t kMostUnfolded = 16;   // how often for one call,
constexpr uint32_t kMostWritten = 8;     // for a list of so many elements,
constexpr uint32_t kMostNodes = 400;     // and of the function with the copies

class Matcher {
 public:
  Matcher(const Program& program, Function& function, CallCopier& copier) : p_(program), f_(function), copier_(copier) {}

  void Run() {
    if (f_.paired) return;  // there any node may use values of later ones
    f_.blocks[f_.body].nodes = Take(f_.body);
    ReplaceAll();
    Sink();
  }

 private:
  // The constructor that gives the value, if that is known. One with a strict field may have failed.
  const Node* ConstructOf(Value value) const {
    const Node& node = f_.nodes[value.node];
    if (node.kind != NodeKind::Op || node.op != ir::Op::Construct) return nullptr;
    for (const auto& field : p_.types[node.results[0].type].constructors[node.attr].fields)
      if (!field.type.lazy) return nullptr;
    return &node;
  }
  Value Now(Value value) const {
    for (auto it = instead_.find(value); it != instead_.end(); it = instead_.find(value)) value = it->second;
    return value;
  }

  // The nodes of a block, those of branches whose side is known in the place of these.
  std::vector<NodeId> Take(BlockId id) {
    std::vector<NodeId> nodes;
    for (NodeId at : std::vector<NodeId>(f_.blocks[id].nodes)) TakeNode(at, nodes);
    return nodes;
  }

  void TakeNode(NodeId id, std::vector<NodeId>& nodes) {
    CheckBudget();
    for (Value& operand : f_.nodes[id].operands) operand = Now(operand);
    if (f_.nodes[id].kind == NodeKind::Op && TakeField(id)) return;
    if (f_.nodes[id].kind == NodeKind::Apply && Unfolds(f_.nodes[id])) {
      ++unfolded_;
      std::vector<NodeId> copies;
      std::vector<Value> results = copier_.Copy(f_, id, copies);
      for (NodeId copy : copies) TakeNode(copy, nodes);
      for (uint32_t r = 0; r < results.size(); ++r) instead_[{id, r}] = Now(results[r]);
      --unfolded_;
      return;
    }
    if (f_.nodes[id].kind == NodeKind::Branch) {
      std::optional<BlockId> side = KnownSide(f_.nodes[id]);
      if (side) {
        for (NodeId inner : std::vector<NodeId>(f_.blocks[*side].nodes)) TakeNode(inner, nodes);
        for (uint32_t r = 0; r < f_.nodes[id].results.size(); ++r) instead_[{id, r}] = Now(f_.blocks[*side].yields[r]);
        return;
      }
      for (BlockId block : llvm::SmallVector<BlockId, 2>(f_.nodes[id].blocks)) {
        std::vector<NodeId> inner = Take(block);
        f_.blocks[block].nodes = std::move(inner);
      }
    }
    if (defined_.size() < f_.nodes.size()) defined_.resize(f_.nodes.size(), false);
    defined_[id.index] = true;
    nodes.push_back(id);
  }

  // A list, or another recursive type, that is written out to its ends.
  bool IsWrittenOut(Value value, uint32_t most = kMostWritten) const {
    const Node* made = ConstructOf(value);
    if (!made) return false;
    ir::TypeId type = made->results[0].type;
    for (Value operand : made->operands)
      if (f_.TypeOf(operand).type == type && (most == 0 || !IsWrittenOut(operand, most - 1))) return false;
    return llvm::any_of(p_.types[type].constructors, [&](const auto& constructor) {
      return llvm::any_of(constructor.fields, [&](const auto& field) { return field.type.type == type; });
    });
  }

  // Whether the callee is small, a loop, and begins with a match of what is written out here. What it goes on with is less.
  bool Unfolds(const Node& call) const {
    const Function& callee = p_.functions[call.callee];
    if (&callee == &f_ || !CallCopier::CanCopy(p_, callee) || unfolded_ == kMostUnfolded || callee.nodes.size() > kMostCallee ||
        f_.nodes.size() + callee.nodes.size() > kMostNodes)
      return false;
    for (NodeId id : callee.blocks[callee.body].nodes) {
      const Node& node = callee.nodes[id];
      if (node.kind == NodeKind::Param || (node.kind == NodeKind::Op && node.op == ir::Op::Const)) continue;
      if (node.kind != NodeKind::Op || node.op != ir::Op::Match) return false;
      const Node& matched = callee.nodes[node.operands[0].node];
      if (matched.kind != NodeKind::Param || !IsWrittenOut(call.operands[matched.attr])) return false;
      bool loops = false;
      for (const Block& block : callee.blocks) {
        if (!block.again) continue;
        if (block.yields[matched.attr].node == node.operands[0].node) return false;
        loops = true;
      }
      return loops;
    }
    return false;
  }

  // A Field of a known constructor, and a Force of what needs none, is another value.
  bool TakeField(NodeId id) {
    const Node& node = f_.nodes[id];
    if (node.operands.empty()) return false;
    if (node.op == ir::Op::Force) {
      if (f_.TypeOf(node.operands[0]).lazy) return false;
      instead_[{id, 0}] = node.operands[0];
      return true;
    }
    if (node.op != ir::Op::Field) return false;
    const Node* made = ConstructOf(node.operands[0]);
    if (!made || made->attr != node.attr >> 16) return false;
    Value field = made->operands[node.attr & 0xffff];
    // In a knot it may come later, or be less evaluated than what was said of all constructors that may be matched here.
    if (field.node.index >= defined_.size() || !defined_[field.node.index] || (f_.TypeOf(field).lazy && !node.results[0].lazy)) return false;
    instead_[{id, 0}] = field;
    return true;
  }

  std::optional<BlockId> KnownSide(const Node& branch) const {
    const Node& match = f_.nodes[branch.operands[0].node];
    if (match.kind != NodeKind::Op || match.op != ir::Op::Match) return std::nullopt;
    const Node* made = ConstructOf(match.operands[0]);
    if (!made || made->attr >= branch.blocks.size() || f_.blocks[branch.blocks[made->attr]].again) return std::nullopt;
    return branch.blocks[made->attr];
  }

  void ReplaceAll() {
    if (instead_.empty()) return;
    for (Node& node : f_.nodes)
      for (Value& operand : node.operands) operand = Now(operand);
    for (Block& block : f_.blocks)
      for (Value& value : block.yields) value = Now(value);
    DropMatches();
  }
  // Those whose branches are gone. They would keep what they match where it is.
  void DropMatches() {
    std::vector<bool> used(f_.nodes.size(), false);
    ForEachNode(f_.body, [&](NodeId node) {
      for (Value operand : f_.nodes[node].operands) used[operand.node.index] = true;
    });
    for (Block& block : f_.blocks)
      llvm::erase_if(block.nodes, [&](NodeId node) {
        return f_.nodes[node].kind == NodeKind::Op && f_.nodes[node].op == ir::Op::Match && !used[node.index];
      });
  }
  template <typename Visit>
  void ForEachNode(BlockId id, Visit visit) const {
    for (NodeId node : f_.blocks[id].nodes) {
      visit(node);
      for (BlockId inner : f_.nodes[node].blocks) ForEachNode(inner, visit);
    }
  }

  // ---------------------------------------------------------------- to the side that needs them

  struct Home {
    BlockId block;  // where a node stands, or a block's Branch does; invalid for the body
    NodeId branch;  // of a block
  };

  void Place(BlockId id) {
    for (NodeId node : f_.blocks[id].nodes) {
      of_node_[node.index] = id;
      order_[node.index] = ++placed_;
      for (BlockId inner : f_.nodes[node].blocks) {
        of_block_[inner.index] = {id, node};
        Place(inner);
      }
    }
  }

  void Sink() {
    of_node_.assign(f_.nodes.size(), BlockId());
    order_.assign(f_.nodes.size(), 0);
    of_block_.assign(f_.blocks.size(), Home());
    Place(f_.body);
    uses_.assign(f_.nodes.size(), {});
    for (uint32_t i = 0; i < f_.nodes.size(); ++i)
      if (of_node_[i].valid())
        for (Value operand : f_.nodes[NodeId(i)].operands) uses_[operand.node.index].push_back(of_node_[i]);
    for (uint32_t i = 0; i < f_.blocks.size(); ++i)
      if (BlockId(i) == f_.body || of_block_[i].block.valid())
        for (Value value : f_.blocks[BlockId(i)].yields) uses_[value.node.index].push_back(BlockId(i));
    SinkFrom(f_.body);
  }

  // Last ones first: what uses a node may go where the node then goes, too.
  void SinkFrom(BlockId id) {
    std::vector<NodeId> nodes = f_.blocks[id].nodes, stay;
    for (size_t i = nodes.size(); i-- > 0;) {
      std::optional<BlockId> side = OnlySide(nodes[i], id);
      if (!side) {
        stay.push_back(nodes[i]);
        continue;
      }
      // In front of all, and so of what has been moved there before.
      std::vector<NodeId>& to = f_.blocks[*side].nodes;
      to.insert(to.begin(), nodes[i]);
      of_node_[nodes[i].index] = *side;
      for (Value operand : f_.nodes[nodes[i]].operands) {
        std::vector<BlockId>& uses = uses_[operand.node.index];
        *std::find(uses.begin(), uses.end(), id) = *side;
      }
    }
    std::reverse(stay.begin(), stay.end());
    f_.blocks[id].nodes = stay;
    for (NodeId node : stay)
      for (BlockId inner : f_.nodes[node].blocks) SinkFrom(inner);
  }

  // The block in `home` in which all uses of the node are, directly or in blocks within it.
  std::optional<BlockId> OnlySide(NodeId id, BlockId home) const {
    const Node& node = f_.nodes[id];
    bool moves = node.kind == NodeKind::Delay || (node.kind == NodeKind::Op && node.op == ir::Op::Construct);
    if (!moves || node.results.size() != 1 || uses_[id.index].empty()) return std::nullopt;
    for (Value operand : node.operands)
      if (order_[operand.node.index] >= order_[id.index]) return std::nullopt;  // a knot
    std::optional<BlockId> side;
    for (BlockId use : uses_[id.index]) {
      while (use.valid() && of_block_[use.index].block != home) use = of_block_[use.index].block;
      if (!use.valid() || (side && *side != use)) return std::nullopt;
      side = use;
    }
    return side;
  }

  const Program& p_;
  Function& f_;
  CallCopier& copier_;
  uint32_t unfolded_ = 0;                    // calls around, in whose copies this one stands
  std::map<Value, Value> instead_;
  std::vector<bool> defined_;                // by node
  std::vector<BlockId> of_node_;
  std::vector<Home> of_block_;
  std::vector<uint32_t> order_;              // of nodes, as they are written
  std::vector<std::vector<BlockId>> uses_;   // by node: where
  uint32_t placed_ = 0;
};

}  // namespace

void TakeKnownMatches(Program& program) {
  CallCopier copier(program);
  for (Function& function : program.functions) Matcher(program, function, copier).Run();
}

}  // namespace df::fg
