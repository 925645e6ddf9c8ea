// See choice.h.
#include "lower/graph/choice.h"

#include <set>

#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"

namespace df::fg {

using ir::Op;
using ir::TypeKind;

namespace {

// More are not worth it: of two sides that a branch has, one is computed.
constexpr size_t kMostOps = 12;
constexpr size_t kMostElements = 64;
// Of what a predicate looks at, so much is gone through.
constexpr size_t kMostLookedAt = 256;

class Choices {
 public:
  Choices(const Program& program, const Function& function) : p_(program), f_(function) {}

  std::set<NodeId> Find() {
    FindIn(f_.body);
    return std::move(found_);
  }

 private:
  void FindIn(BlockId block) {
    for (NodeId id : f_.blocks[block].nodes) {
      const Node& node = f_.nodes[id];
      if (node.kind != NodeKind::Branch) continue;
      inside_.clear();
      if (HasCheapSides(node) && Agree(node) &&
          llvm::all_of(inside_, [&](NodeId in) { return f_.nodes[in].kind != NodeKind::Branch || Agree(f_.nodes[in]); }))
        found_.insert(id);
      around_.push_back(node.operands[0]);
      for (BlockId side : node.blocks) FindIn(side);
      around_.pop_back();
    }
  }
  // As far as types and the ops of its sides go, which are noted.
  bool HasCheapSides(const Node& branch) {
    if (branch.kind != NodeKind::Branch || p_.types.Kind(f_.TypeOf(branch.operands[0]).type) != TypeKind::Bool) return false;
    for (ir::PortType result : branch.results)
      if (result.lazy || !ir::IsElement(p_.types.Kind(result.type))) return false;
    for (BlockId id : branch.blocks) {
      const Block& block = f_.blocks[id];
      if (block.again || llvm::any_of(block.yields, [&](Value v) { return f_.TypeOf(v).lazy; })) return false;
      for (NodeId node : block.nodes) {
        if (inside_.size() == kMostOps) return false;
        inside_.insert(node);
        if (!CannotFail(f_.nodes[node]) && !HasCheapSides(f_.nodes[node])) return false;
      }
    }
    return true;
  }
  // An error on one side is one on the other side too, or of the predicate.
  bool Agree(const Node& branch) const {
    std::set<Value> looked_at;
    AddOperands(branch.operands[0], looked_at);
    for (Value predicate : around_) AddOperands(predicate, looked_at);
    for (uint32_t r = 0; r < branch.results.size(); ++r) {
      std::set<Value> sides[2];
      for (size_t side : {0, 1}) AddOrigins(f_.blocks[branch.blocks[side]].yields[r], sides[side]);
      auto there = [&](const std::set<Value>& other) { return [&](Value v) { return other.count(v) > 0 || looked_at.count(v) > 0; }; };
      if (!llvm::all_of(sides[0], there(sides[1])) || !llvm::all_of(sides[1], there(sides[0]))) return false;
    }
    return true;
  }
  bool IsOrdinary(const Node& node) const { return node.kind == NodeKind::Op && ir::InfoOf(node.op).cls == ir::OpClass::Ordinary; }
  // Nothing but an error among its operands makes it one. A field is taken where its data was matched.
  bool CannotFail(const Node& node) const {
    if (!IsOrdinary(node)) return false;
    if (node.op == Op::Field) return !node.results[0].lazy;
    switch (ir::FactsOf(node.op).shape) {
      case ir::Shape::ElementOf: {
        const Node& index = f_.nodes[node.operands[1].node];
        if (index.kind != NodeKind::Op || index.op != Op::Const) return false;
        const int64_t word = p_.constants[ir::ConstId(index.attr)].word;
        return IsSmall(node.operands[0]) && word >= 0 && static_cast<size_t>(word) < CountOf(node.operands[0]);
      }
      case ir::Shape::Elementwise:
      case ir::Shape::Reduced:
      case ir::Shape::IndexOfLargest: break;
      default:
        if (node.op != Op::Const && node.op != Op::BoolToInt) return false;
    }
    return llvm::all_of(node.operands, [&](Value v) { return IsSmall(v); });
  }
  size_t CountOf(Value tensor) const { return ir::ElementCount(p_.types[f_.TypeOf(tensor).type].dims); }
  // A number, or a tensor of a few of them and not of none.
  bool IsSmall(Value value) const {
    const TypeKind kind = p_.types.Kind(f_.TypeOf(value).type);
    return kind == TypeKind::Tensor ? CountOf(value) > 0 && CountOf(value) <= kMostElements : ir::IsElement(kind);
  }

  // Values that may be an error, from which this one is computed by what cannot fail.
  void AddOrigins(Value value, std::set<Value>& to) const {
    std::set<Value> seen;
    std::vector<Value> work = {value};
    while (!work.empty()) {
      const Value at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) continue;
      const Node& node = f_.nodes[at.node];
      if (node.kind == NodeKind::Branch && inside_.count(at.node)) {
        work.push_back(node.operands[0]);
        for (BlockId block : node.blocks) work.push_back(f_.blocks[block].yields[at.result]);
      } else if (!CannotFail(node)) {
        to.insert(at);
      } else {
        work.insert(work.end(), node.operands.begin(), node.operands.end());
      }
    }
  }
  // Values of which an error would make this one an error.
  void AddOperands(Value value, std::set<Value>& to) const {
    std::vector<Value> work = {value};
    while (!work.empty() && to.size() < kMostLookedAt) {
      const Value at = work.back();
      work.pop_back();
      if (!to.insert(at).second) continue;
      const Node& node = f_.nodes[at.node];
      if (IsOrdinary(node)) work.insert(work.end(), node.operands.begin(), node.operands.end());
    }
  }

  const Program& p_;
  const Function& f_;
  std::vector<Value> around_;  // the predicates of the branches around the one at hand
  std::set<NodeId> inside_;    // what its sides have
  std::set<NodeId> found_;
};

}  // namespace

std::set<NodeId> FindChoices(const Program& program, const Function& function) { return Choices(program, function).Find(); }

}  // namespace df::fg
