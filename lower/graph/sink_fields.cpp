// See sink_fields.h.
//
// A Field moves past the nodes behind it to the next Branch of its block, a copy of it into each side that uses it, and on from
// there. Until that Branch the whole constructor is held in place of what the field holds. So nothing on the way may take
// long, or a large structure could stay that would have gone bit by bit: only arithmetic on what has surely come once
// the block runs. What is forced may take long; past a Force Fields move if the constructor holds nothing but what they read, and
// numbers that are there.
#include "lower/graph/sink_fields.h"

#include <algorithm>

#include "lang/budget.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace df::fg {
namespace {

constexpr uint32_t kMostCopies = 8;     // of one Field for one Branch
constexpr uint32_t kMostSunkOps = 64;       // from a predicate back to what is there
constexpr size_t kVisitsPerNode = 64;   // so that the pass is linear, however deep branches nest

class Sinker {
 public:
  Sinker(const Program& program, Function& function) : p_(program), f_(function), there_(function.nodes.size(), false), visits_(kVisitsPerNode * function.nodes.size()) {}

  void Run() {
    if (f_.paired) return;  // there any node may use values of later ones
    SinkIn(f_.body);
  }

 private:
  // What a block, with those within it, uses of the nodes around it.
  struct Uses {
    llvm::DenseMap<uint32_t, uint32_t> count;  // by node
    uint32_t Of(NodeId node) const { return count.lookup(node.index); }
    uint32_t Of(Value value) const { return Of(value.node); }
  };

  void AddUses(BlockId id, Uses& uses) {
    visits_ -= std::min(visits_, f_.blocks[id].nodes.size());
    for (NodeId node : f_.blocks[id].nodes) AddUses(f_.nodes[node], uses);
    for (Value value : f_.blocks[id].yields) ++uses.count[value.node.index];
  }
  void AddUses(const Node& node, Uses& uses) {
    CheckBudget();
    for (Value operand : node.operands) ++uses.count[operand.node.index];
    for (BlockId block : node.blocks) AddUses(block, uses);
  }

  bool IsField(NodeId id) const { return f_.nodes[id].kind == NodeKind::Op && f_.nodes[id].op == ir::Op::Field; }

  // Whether the value has come as soon as the block runs in which the walk is, or follows from such values at once; but for
  // what is forced.
  bool IsThere(Value value, uint32_t& most, bool& forces) const {
    const Node& node = f_.nodes[value.node];
    if (node.kind == NodeKind::Param || there_[value.node.index]) return true;
    if (most == 0) return false;
    --most;
    if (!IsBrief(node)) return false;
    forces |= node.op == ir::Op::Force;
    return llvm::all_of(node.operands, [&](Value operand) { return IsThere(operand, most, forces); });
  }
  bool IsBrief(const Node& node) const {
    if (node.kind != NodeKind::Op) return node.kind == NodeKind::Delay;
    auto tensor = [&](ir::TypeId type) { return p_.types.Kind(type) == ir::TypeKind::Tensor; };
    return llvm::none_of(node.results, [&](ir::PortType type) { return tensor(type.type); }) &&
           llvm::none_of(node.operands, [&](Value operand) { return tensor(f_.TypeOf(operand).type); });
  }
  // What holds no other values.
  bool IsNumber(ir::TypeId type) const {
    switch (p_.types.Kind(type)) {
      case ir::TypeKind::Unit:
      case ir::TypeKind::Bool:
      case ir::TypeKind::Char:
      case ir::TypeKind::Int:
      case ir::TypeKind::Integer:
      case ir::TypeKind::Float:
      case ir::TypeKind::Double: return true;
      case ir::TypeKind::Data:
        return llvm::all_of(p_.types[type].constructors, [](const ir::Constructor& constructor) { return constructor.fields.empty(); });
      default: return false;
    }
  }

  void SinkIn(BlockId id) {
    for (size_t at = 0; at < f_.blocks[id].nodes.size(); ++at) {
      NodeId branch = f_.blocks[id].nodes[at];
      if (f_.nodes[branch].kind != NodeKind::Branch) continue;
      uint32_t most = kMostSunkOps;
      bool forces = false;
      if (visits_ > 0 && IsThere(f_.nodes[branch].operands[0], most, forces)) at -= SinkInto(id, at, forces);
      // What the predicate was computed from is there on each side.
      std::vector<uint32_t> marked;
      Mark(f_.nodes[branch].operands[0], marked);
      for (BlockId side : llvm::SmallVector<BlockId, 2>(f_.nodes[branch].blocks)) SinkIn(side);
      for (uint32_t node : marked) there_[node] = false;
    }
  }

  void Mark(Value value, std::vector<uint32_t>& marked) {
    CheckBudget();
    if (there_[value.node.index]) return;
    there_[value.node.index] = true;
    marked.push_back(value.node.index);
    const Node& node = f_.nodes[value.node];
    if (node.kind != NodeKind::Op || node.op == ir::Op::Force) return;
    for (Value operand : node.operands)
      if (!f_.TypeOf(operand).lazy) Mark(operand, marked);
  }

  // Moves Fields of a block into the Branch at `at`: how many. `forces`: its predicate waits for what is forced.
  size_t SinkInto(BlockId id, size_t at, bool forces) {
    NodeId branch = f_.blocks[id].nodes[at];
    llvm::SmallVector<NodeId, 8> moving;
    for (size_t i = at; i-- > 0;) {
      NodeId node = f_.blocks[id].nodes[i];
      if (!IsBrief(f_.nodes[node])) break;
      forces |= f_.nodes[node].op == ir::Op::Force;
      if (IsField(node)) moving.push_back(node);
    }
    if (moving.empty()) return 0;
    std::reverse(moving.begin(), moving.end());

    std::vector<Uses> sides;
    for (BlockId side : f_.nodes[branch].blocks) AddUses(side, sides.emplace_back());
    Uses around;
    for (size_t i = 0; i < f_.blocks[id].nodes.size(); ++i) {
      const Node& node = f_.nodes[f_.blocks[id].nodes[i]];
      if (i != at) AddUses(node, around);
    }
    for (Value operand : f_.nodes[branch].operands) ++around.count[operand.node.index];
    for (Value value : f_.blocks[id].yields) ++around.count[value.node.index];

    llvm::erase_if(moving, [&](NodeId field) { return around.Of(field) > 0; });
    llvm::erase_if(moving, [&, all = moving](NodeId field) { return !Pays(field, all, sides); });
    if (forces) llvm::erase_if(moving, [&, all = moving](NodeId field) { return !HoldsNothingElse(f_.nodes[field], all, f_.blocks[id]); });
    for (NodeId field : moving) MoveInto(field, branch, sides);
    llvm::erase_if(f_.blocks[id].nodes, [&](NodeId node) { return llvm::is_contained(moving, node); });
    return moving.size();
  }

  // Whether the constructor that a Field reads holds nothing but what the moving ones read, and evaluated numbers.
  bool HoldsNothingElse(const Node& field, llvm::ArrayRef<NodeId> moving, const Block& block) const {
    Value data = field.operands[0];
    uint32_t constructor = field.attr >> 16;
    auto reads = [&](NodeId other, uint32_t attr) { return f_.nodes[other].operands[0] == data && f_.nodes[other].attr == attr; };
    const auto& fields = p_.types[f_.TypeOf(data).type].constructors[constructor].fields;
    for (uint32_t i = 0; i < fields.size(); ++i) {
      uint32_t attr = constructor << 16 | i;
      if (llvm::any_of(moving, [&](NodeId other) { return reads(other, attr); })) continue;
      bool evaluated = !fields[i].type.lazy || llvm::any_of(block.nodes, [&](NodeId other) {
        return IsField(other) && reads(other, attr) && !f_.nodes[other].results[0].lazy;
      });
      if (!evaluated || !IsNumber(fields[i].type.type)) return false;
    }
    return true;
  }

  // Whether the Fields of what `read` reads should move: on some side it stays, or there nothing is read. The two of a list's cell are best read
  // together: delayed bodies mostly run as frameless code, which counts nothing that it looks at, and has an instruction for that.
  bool Pays(NodeId read, llvm::ArrayRef<NodeId> moving, llvm::ArrayRef<Uses> sides) const {
    Value data = f_.nodes[read].operands[0];
    uint32_t together = 0, copies = 0;
    bool idle_side = false, stays = false;
    for (const Uses& side : sides) {
      uint32_t used = 0;
      for (NodeId field : moving) used += f_.nodes[field].operands[0] == data && side.Of(field) > 0;
      together = std::max(together, used);
      copies += used > 0;
      idle_side |= used == 0;
      stays |= side.Of(data) > 0;
    }
    if (copies == 0 || copies > kMostCopies) return false;
    bool pair = p_.types[f_.TypeOf(data).type].constructors[f_.nodes[read].attr >> 16].fields.size() <= 2;
    return (stays && !(pair && f_.delayed)) || (idle_side && together > 1 && !pair);
  }

  void MoveInto(NodeId field, NodeId branch, llvm::ArrayRef<Uses> sides) {
    bool first = true;
    for (size_t i = 0; i < sides.size(); ++i) {
      if (sides[i].Of(field) == 0) continue;
      NodeId here = field;
      if (!first) {
        Node copy = f_.nodes[field];
        here = f_.nodes.Add(copy);
        there_.push_back(false);
      }
      first = false;
      BlockId side = f_.nodes[branch].blocks[i];
      if (here != field) Replace(side, field, here);
      std::vector<NodeId>& nodes = f_.blocks[side].nodes;
      // Behind those that were moved before it, in front of what reads it.
      auto end = std::find_if(nodes.begin(), nodes.end(), [&](NodeId node) { return !IsField(node) || f_.nodes[node].operands[0].node == here; });
      nodes.insert(end, here);
    }
  }

  void Replace(BlockId id, NodeId from, NodeId to) {
    auto replace = [&](Value& value) {
      if (value.node == from) value.node = to;
    };
    for (NodeId node : f_.blocks[id].nodes) {
      for (Value& operand : f_.nodes[node].operands) replace(operand);
      for (BlockId inner : llvm::SmallVector<BlockId, 2>(f_.nodes[node].blocks)) Replace(inner, from, to);
    }
    for (Value& value : f_.blocks[id].yields) replace(value);
  }

  const Program& p_;
  Function& f_;
  std::vector<bool> there_;  // by node: whether its value has come when the block runs in which the walk is
  size_t visits_;            // that may still be made
};

}  // namespace

void SinkFields(Program& program) {
  for (Function& function : program.functions) Sinker(program, function).Run();
}

}  // namespace df::fg
