// See offer_rest.h.
//
// A loop is taken if its result is what it begins with, joined with something in each iteration, by one operation that may be regrouped: then what
// it gives for `acc` is `acc` joined with what it gives for the operation's unit. (Of the larger of two that is any of them: `acc` itself.)
//
//   again (acc + e) next        e: what takes long, of which `next` makes nothing
//
// becomes
//
//   e
//   offered = Offer
//   Branch offered
//     true:  yield (acc + e) + go.rest(..)      go.rest computes `next`, if that takes long, and calls the loop
//     false: again (acc + e) next
//
// An op fails with its first failed operand, so the errors of earlier elements go first as before, as long as the accumulator is on the same side.
#include "lower/graph/offer_rest.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "lang/budget.h"
#include "llvm/ADT/STLExtras.h"

namespace df::fg {
namespace {

using ir::Op;
using ir::TypeKind;

// How a loop joins its accumulator with what an iteration adds.
struct Joint {
  Op op = Op::Add;
  bool first = true;  // the accumulator is the first operand
  friend bool operator==(const Joint&, const Joint&) = default;
};

// Where that stands: an op, or a Branch between both that chooses the larger one.
struct Joined {
  Joint joint;
  NodeId node;
  NodeId test;   // of a Branch: its comparison
  Value other;   // what is joined
};

// What a value of one function is in another one.
using Values = std::map<Value, Value>;

class Offerer {
 public:
  Offerer(Program& program, FunctionId id) : p_(program), id_(id), f_(program.functions[id]) {}

  void Run() {
    if (f_.delayed || f_.paired || f_.spread || id_ == p_.main || f_.results.size() != 1 || f_.results[0].lazy) return;
    if (llvm::none_of(f_.blocks, [](const Block& block) { return block.again; })) return;
    // A table names activations by their calls, and what changes memory is done where its token is.
    auto stays = [&](TypeKind kind) { return kind == TypeKind::Activations || kind == TypeKind::State; };
    if (llvm::any_of(f_.params, [&](const Param& param) { return stays(p_.types.Kind(param.type.type)); })) return;
    CountUses();
    for (uint32_t i = 0; i < f_.params.size(); ++i)
      if (f_.params[i].type == f_.results[0] && Accumulates(i)) return OfferIn(i);
  }

 private:
  void CountUses() {
    uses_.assign(f_.nodes.size(), 0);
    for (const Node& node : f_.nodes)
      for (Value operand : node.operands) ++uses_[operand.node.index];
    for (const Block& block : f_.blocks)
      for (Value value : block.yields) ++uses_[value.node.index];
  }

  // ---------------------------------------------------------------- which loops

  bool IsAccumulator(Value value, uint32_t which) const {
    const Node& node = f_.nodes[value.node];
    return node.kind == NodeKind::Param && node.attr == which;
  }

  // Whether regrouping leaves the bits.
  bool MayRegroup(Op op, TypeKind kind) const {
    switch (op) {
      case Op::Add:
      case Op::Mul:
      case Op::Min:
      case Op::Max: return kind == TypeKind::Int || kind == TypeKind::Integer;
      case Op::BitAnd:
      case Op::BitOr:
      case Op::BitXor: return kind == TypeKind::Int;
      default: return false;
    }
  }

  // The value as the accumulator joined with another one.
  std::optional<Joined> JoinedAt(Value value, uint32_t which) const {
    const Node& node = f_.nodes[value.node];
    TypeKind kind = p_.types.Kind(f_.params[which].type.type);
    if (uses_[value.node.index] != 1) return {};
    if (node.kind == NodeKind::Branch) return LargerAt(value.node, which, kind);
    if (node.kind != NodeKind::Op || !MayRegroup(node.op, kind)) return {};
    bool first = IsAccumulator(node.operands[0], which);
    if (first == IsAccumulator(node.operands[1], which)) return {};
    return Joined{{node.op, first}, value.node, {}, node.operands[first ? 1 : 0]};
  }

  // if acc <= x then x else acc, and the like. Of two that are equal it is all the same which one is taken.
  std::optional<Joined> LargerAt(NodeId id, uint32_t which, TypeKind kind) const {
    const Node& branch = f_.nodes[id];
    const Node& test = f_.nodes[branch.operands[0].node];
    if (kind != TypeKind::Int && kind != TypeKind::Integer && kind != TypeKind::Char) return {};
    if (branch.blocks.size() != 2 || branch.results.size() != 1 || test.kind != NodeKind::Op || uses_[branch.operands[0].node.index] != 1) return {};
    bool less = test.op == Op::Lt || test.op == Op::Le;
    if (!less && test.op != Op::Gt && test.op != Op::Ge) return {};
    bool first = IsAccumulator(test.operands[0], which);
    if (first == IsAccumulator(test.operands[1], which)) return {};
    Value other = test.operands[first ? 1 : 0];
    Value sides[2];
    for (size_t i : {0, 1}) {
      const Block& side = f_.blocks[branch.blocks[i]];
      if (!side.nodes.empty() || side.again) return {};
      sides[i] = side.yields[0];
    }
    bool chosen = IsAccumulator(sides[0], which);  // where the test is true
    if (chosen == IsAccumulator(sides[1], which) || sides[chosen ? 1 : 0] != other) return {};
    return Joined{{chosen == (first == less) ? Op::Min : Op::Max, first}, id, branch.operands[0].node, other};
  }

  // Whether the loop gives what it begins with as the parameter, joined with what does not depend on that.
  bool Accumulates(uint32_t which) {
    joint_.reset();
    sites_.clear();
    uint32_t uses = 0;
    if (!FitsAtEnds(f_.body, which, uses) || !joint_) return false;
    for (const Node& node : f_.nodes)
      if (node.kind == NodeKind::Param && node.attr == which) uses -= uses_[Index(node)];
    return uses == 0;
  }
  uint32_t Index(const Node& node) const { return static_cast<uint32_t>(&node - &*f_.nodes.begin()); }

  // `uses`: of the parameter, those that are what they should be.
  bool FitsAtEnds(BlockId id, uint32_t which, uint32_t& uses) {
    const Block& block = f_.blocks[id];
    if (!block.again) {
      if (NodeId tail = TailBranch(block); tail.valid() && !JoinedAt({tail, 0}, which))
        return llvm::all_of(f_.nodes[tail].blocks, [&](BlockId side) { return FitsAtEnds(side, which, uses); });
    }
    Value next = block.yields[block.again ? which : 0];
    if (IsAccumulator(next, which)) {
      ++uses;
      return true;
    }
    if (!block.again && f_.nodes[next.node].kind == NodeKind::Op && f_.nodes[next.node].op == Op::Fail) return true;
    std::optional<Joined> joined = JoinedAt(next, which);
    if (!joined || (joint_ && *joint_ != joined->joint)) return false;
    joint_ = joined->joint;
    uses += joined->test.valid() ? 2 : 1;
    if (block.again && llvm::is_contained(block.nodes, joined->node)) sites_.push_back({id, *joined});
    return true;
  }

  NodeId TailBranch(const Block& block) const {
    if (block.yields.size() != 1 || f_.nodes[block.yields[0].node].kind != NodeKind::Branch) return {};
    NodeId last = block.yields[0].node;
    return f_.nodes[last].results.size() == 1 && llvm::is_contained(block.nodes, last) ? last : NodeId();
  }

  // ---------------------------------------------------------------- what takes long

  bool TakesLong(NodeId id) const {
    const Node& node = f_.nodes[id];
    if (node.kind == NodeKind::Op) return node.op == Op::Force;
    if (node.kind == NodeKind::Apply) return !IsTrivial(p_.functions[node.callee]);
    return llvm::any_of(node.blocks, [&](BlockId block) {
      return llvm::any_of(f_.blocks[block].nodes, [&](NodeId inner) { return TakesLong(inner); });
    });
  }
  // It calls nobody, not even itself, and forces nothing.
  static bool IsTrivial(const Function& function) {
    return llvm::none_of(function.blocks, [](const Block& block) { return block.again; }) && llvm::none_of(function.nodes, [](const Node& node) {
      return node.kind == NodeKind::Apply || (node.kind == NodeKind::Op && node.op == Op::Force);
    });
  }

  // The nodes of the block from which the value comes.
  void AddSources(Value value, const std::set<NodeId>& block, std::set<NodeId>& sources) const {
    if (!block.contains(value.node) || !sources.insert(value.node).second) return;
    ForEachUse(f_.nodes[value.node], [&](Value used) { AddSources(used, block, sources); });
  }
  template <typename Visit>
  void ForEachUse(const Node& node, Visit visit) const {
    for (Value operand : node.operands) visit(operand);
    for (BlockId id : node.blocks) {
      for (NodeId inner : f_.blocks[id].nodes) ForEachUse(f_.nodes[inner], visit);
      for (Value value : f_.blocks[id].yields) visit(value);
    }
  }

  // Whether each of them comes after those that it uses: no knot is copied.
  bool IsOrdered(const std::vector<NodeId>& nodes, const std::set<NodeId>& copied) const {
    std::set<NodeId> later(copied);
    for (NodeId id : nodes) {
      if (!copied.contains(id)) continue;
      bool ordered = true;
      ForEachUse(f_.nodes[id], [&](Value used) { ordered &= !later.contains(used.node); });
      if (!ordered) return false;
      later.erase(id);
    }
    return true;
  }

  // ---------------------------------------------------------------- the change

  void OfferIn(uint32_t which) {
    for (const auto& [block, joined] : sites_) {
      CheckBudget();
      OfferAt(block, which, joined);
    }
  }

  void OfferAt(BlockId id, uint32_t which, const Joined& joined) {
    const std::vector<NodeId> nodes = f_.blocks[id].nodes;
    const std::vector<Value> yields = f_.blocks[id].yields;
    const ir::PosId pos = f_.blocks[id].pos;
    const std::set<NodeId> here(nodes.begin(), nodes.end());
    std::set<NodeId> element, rest;
    AddSources(joined.other, here, element);
    for (uint32_t i = 0; i < yields.size(); ++i)
      if (i != which) AddSources(yields[i], here, rest);
    if (element.contains(joined.node) || rest.contains(joined.node)) return;
    bool pays = false;
    for (NodeId node : element) {
      if (!TakesLong(node)) continue;
      if (rest.contains(node)) return;  // what is left would have to wait for it
      pays = true;
    }
    if (!pays || !IsOrdered(nodes, rest)) return;
    // What stands before all that takes long stays there, as fields do that are read together.
    std::vector<NodeId> before, after, next;
    bool brief = true;
    for (NodeId node : nodes) {
      brief &= !TakesLong(node);
      const bool stays = element.contains(node) || (brief && rest.contains(node));
      (stays ? before : after).push_back(node);
      if (rest.contains(node) && !stays) next.push_back(node);
    }
    Value offered = AddOffer(before, pos);
    BlockId taken = f_.blocks.Add({}), kept = f_.blocks.Add({});
    f_.blocks[kept] = {after, yields, true, pos};
    Block given;
    Value sum = CopyJoined(joined, which, given.nodes);
    Value left = EmitRest(given.nodes, next, yields, which, pos);
    Value all = EmitJoin(sum, left, f_.nodes[joined.node].pos, given.nodes);
    given.yields = {all};
    f_.blocks[taken] = std::move(given);
    Node branch;
    branch.kind = NodeKind::Branch;
    branch.operands = {offered};
    branch.results.assign(f_.results.begin(), f_.results.end());
    branch.blocks = {taken, kept};
    branch.pos = pos;
    before.push_back(f_.nodes.Add(std::move(branch)));
    f_.blocks[id] = {before, {{before.back(), 0}}, false, {}};
  }

  Value AddNode(Function& to, Node node, std::vector<NodeId>& nodes) {
    nodes.push_back(to.nodes.Add(std::move(node)));
    return {nodes.back(), 0};
  }
  Value AddConstant(Function& to, TypeKind kind, int64_t word, const char* text, ir::PosId pos, std::vector<NodeId>& nodes) {
    ir::TypeId type = p_.types.Builtin(kind);
    Node node = OpNode(Op::Const, {}, {type, false}, p_.constants.Add({type, word, text}).index);
    node.pos = pos;
    return AddNode(to, std::move(node), nodes);
  }

  Value AddOffer(std::vector<NodeId>& nodes, ir::PosId pos) {
    Value unit = AddConstant(f_, TypeKind::Unit, 0, "", pos, nodes);
    Node offer = OpNode(Op::Offer, unit, {p_.types.Builtin(TypeKind::Bool), false});
    offer.pos = pos;
    return AddNode(f_, std::move(offer), nodes);
  }

  // The accumulator with this element, as it goes round on the other side.
  Value CopyJoined(const Joined& joined, uint32_t which, std::vector<NodeId>& nodes) {
    if (!joined.test.valid()) return AddNode(f_, Node(f_.nodes[joined.node]), nodes);
    return EmitJoin(AccumulatorOf(which), joined.other, f_.nodes[joined.node].pos, nodes);
  }
  Value AccumulatorOf(uint32_t which) const {
    for (NodeId id : f_.blocks[f_.body].nodes)
      if (f_.nodes[id].kind == NodeKind::Param && f_.nodes[id].attr == which) return {id, 0};
    llvm_unreachable("it is used");
  }

  // What the loop has joined, with what it would join next.
  Value EmitJoin(Value sum, Value next, ir::PosId pos, std::vector<NodeId>& nodes) {
    llvm::SmallVector<Value, 2> both = {joint_->first ? sum : next, joint_->first ? next : sum};
    TypeKind kind = p_.types.Kind(f_.results[0].type);
    if (kind != TypeKind::Char) {
      Node join = OpNode(joint_->op, both, f_.results[0]);
      join.pos = pos;
      return AddNode(f_, std::move(join), nodes);
    }
    Node test = OpNode(joint_->op == Op::Max ? Op::Ge : Op::Le, both, {p_.types.Builtin(TypeKind::Bool), false});
    test.pos = pos;
    Node branch;
    branch.kind = NodeKind::Branch;
    branch.operands = {AddNode(f_, std::move(test), nodes)};
    branch.results.assign(f_.results.begin(), f_.results.end());
    branch.pos = pos;
    for (Value side : both) branch.blocks.push_back(f_.blocks.Add({{}, {side}, false, pos}));
    return AddNode(f_, std::move(branch), nodes);
  }

  // A call of the loop that begins with nothing and has the rest to do.
  Value EmitRest(std::vector<NodeId>& nodes, const std::vector<NodeId>& next, const std::vector<Value>& yields, uint32_t which, ir::PosId pos) {
    bool apart = llvm::any_of(next, [&](NodeId id) { return f_.nodes[id].kind != NodeKind::Op || f_.nodes[id].op == Op::Force; });
    if (!apart) {
      Values values;
      for (NodeId id : next) values[{id, 0}] = AddNode(f_, Mapped(f_.nodes[id], values), nodes);
      return EmitCall(f_, yields, which, values, pos, nodes);
    }
    // What takes long before the loop goes on is done by whoever takes it.
    Function rest;
    rest.name = FreshName(f_.name + ".rest");
    rest.results = f_.results;
    rest.pos = f_.pos;
    Block body;
    Values values;
    std::vector<Value> arguments;
    auto capture = [&](Value value) {
      if (values.contains(value)) return;
      const Node& from = f_.nodes[value.node];
      if (from.kind == NodeKind::Op && from.op == Op::Const) {
        values[value] = AddNode(rest, Node(from), body.nodes);
        return;
      }
      Node param;
      param.kind = NodeKind::Param;
      param.attr = static_cast<uint32_t>(rest.params.size());
      param.results = {f_.TypeOf(value)};
      rest.params.push_back({from.kind == NodeKind::Param ? f_.params[from.attr].name : from.name, f_.TypeOf(value)});
      if (rest.params.back().name.empty()) rest.params.back().name = fmt::format("v{}", arguments.size());
      arguments.push_back(value);
      values[value] = AddNode(rest, std::move(param), body.nodes);
    };
    std::set<NodeId> inside;
    for (NodeId id : next) AddInside(id, inside);
    auto capture_free = [&](Value value) {
      if (!inside.contains(value.node)) capture(value);
    };
    for (NodeId id : next) ForEachUse(f_.nodes[id], capture_free);
    for (uint32_t i = 0; i < yields.size(); ++i)
      if (i != which) capture_free(yields[i]);
    if (!HasUnit()) capture(AccumulatorOf(which));
    // Parameters come first.
    std::stable_partition(body.nodes.begin(), body.nodes.end(), [&](NodeId id) { return rest.nodes[id].kind == NodeKind::Param; });
    for (NodeId id : next) CopyInto(rest, id, values, body.nodes);
    Value result = EmitCall(rest, yields, which, values, pos, body.nodes);
    body.yields = {result};
    rest.body = rest.blocks.Add(std::move(body));
    Node call;
    call.kind = NodeKind::Apply;
    call.operands.assign(arguments.begin(), arguments.end());
    call.results.assign(f_.results.begin(), f_.results.end());
    call.pos = pos;
    made_.push_back(std::move(rest));
    call.callee = FunctionId(p_.functions.size() + static_cast<uint32_t>(made_.size()) - 1);
    return AddNode(f_, std::move(call), nodes);
  }

  bool HasUnit() const { return joint_->op != Op::Min && joint_->op != Op::Max; }

  Value EmitCall(Function& to, const std::vector<Value>& yields, uint32_t which, const Values& values, ir::PosId pos, std::vector<NodeId>& nodes) {
    Node call;
    call.kind = NodeKind::Apply;
    call.callee = id_;
    call.results.assign(f_.results.begin(), f_.results.end());
    call.pos = pos;
    for (uint32_t i = 0; i < yields.size(); ++i) call.operands.push_back(i == which ? Unit(to, which, values, pos, nodes) : At(yields[i], values));
    return AddNode(to, std::move(call), nodes);
  }

  // What changes nothing it is joined with.
  Value Unit(Function& to, uint32_t which, const Values& values, ir::PosId pos, std::vector<NodeId>& nodes) {
    if (!HasUnit()) return At(AccumulatorOf(which), values);
    int64_t word = joint_->op == Op::Mul ? 1 : joint_->op == Op::BitAnd ? -1 : 0;
    TypeKind kind = p_.types.Kind(f_.results[0].type);
    if (kind == TypeKind::Integer) return AddConstant(to, kind, 0, word ? "1" : "0", pos, nodes);
    return AddConstant(to, kind, word, "", pos, nodes);
  }

  static Value At(Value value, const Values& values) {
    auto it = values.find(value);
    return it == values.end() ? value : it->second;
  }
  static Node Mapped(const Node& from, const Values& values) {
    Node node = from;
    for (Value& operand : node.operands) operand = At(operand, values);
    return node;
  }
  void AddInside(NodeId id, std::set<NodeId>& inside) const {
    inside.insert(id);
    for (BlockId block : f_.nodes[id].blocks)
      for (NodeId inner : f_.blocks[block].nodes) AddInside(inner, inside);
  }
  // A node, with its blocks, as one of another function.
  void CopyInto(Function& to, NodeId id, Values& values, std::vector<NodeId>& nodes) {
    Node node = Mapped(f_.nodes[id], values);
    for (BlockId& block : node.blocks) {
      Block copy;
      for (NodeId inner : f_.blocks[block].nodes) CopyInto(to, inner, values, copy.nodes);
      for (Value value : f_.blocks[block].yields) copy.yields.push_back(At(value, values));
      copy.pos = f_.blocks[block].pos;
      block = to.blocks.Add(std::move(copy));
    }
    const size_t results = node.results.size();
    NodeId copy = AddNode(to, std::move(node), nodes).node;
    for (uint32_t k = 0; k < results; ++k) values[{id, k}] = {copy, k};
  }

  std::string FreshName(std::string name) const {
    auto taken = [&](const std::string& other) {
      auto same = [&](const Function& function) { return function.name == other; };
      return llvm::any_of(p_.functions, same) || llvm::any_of(made_, same);
    };
    std::string fresh = name;
    for (uint32_t n = 2; taken(fresh); ++n) fresh = fmt::format("{}'{}", name, n);
    return fresh;
  }

 public:
  // To be added to the program behind the others.
  std::vector<Function> made_;

 private:
  Program& p_;
  const FunctionId id_;
  Function& f_;
  std::vector<uint32_t> uses_;  // by node
  std::optional<Joint> joint_;
  std::vector<std::pair<BlockId, Joined>> sites_;  // where the loop goes round with more in its accumulator
};

}  // namespace

void OfferRestOfLoops(Program& program) {
  const uint32_t functions = program.functions.size();
  for (uint32_t i = 0; i < functions; ++i) {
    Offerer offerer(program, FunctionId(i));
    offerer.Run();
    for (Function& made : offerer.made_) program.functions.Add(std::move(made));
  }
}

}  // namespace df::fg
