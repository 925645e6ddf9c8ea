// See knots.h.
//
// Two facts of each value, both assumed of all and given up where they do not hold, until nothing changes (the greatest solution):
//
//   causes   which parameters make it fail if they have failed, and whether it fails anyway. What never ends counts as failed.
//   other    of data: it is no alternative 0, which of a cotangent is the symbolic zero and of a list is []
//
// A Branch fails if each of its sides does that may be taken. A function has facts for each way of calling it: of which parameters it is known that
// they are no alternative 0.
#include "lower/gradient/knots.h"

#include <deque>
#include <map>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

namespace df::fg {
namespace {

using llvm::BitVector;

// So many ways of calling functions are looked at; of a gradient that has more nothing is known.
constexpr size_t kMostWays = 4000;

class Failures {
 public:
  Failures(const Program& program, const std::set<KnotFail>& knots) : p_(program), knots_(knots) {}

  std::optional<KnotFail> Of(const AskedGradient& gradient) {
    Way& asker = WayOf(gradient.by, std::vector<bool>(p_.functions[gradient.by].params.size()));
    do {
      changed_ = false;
      for (size_t i = 0; i < ways_.size(); ++i) Visit(ways_[i]);
      if (ways_.size() > kMostWays) return std::nullopt;
    } while (changed_);
    return Find(asker, gradient.value);
  }

 private:
  struct Fact {
    BitVector causes;
    bool other = true;
  };
  struct Way {
    FunctionId id;
    const Function& f;
    std::vector<bool> params;              // which are no alternative 0
    std::vector<std::vector<Fact>> nodes;  // by node and result
    const Fact& Of(Value value) const { return nodes[value.node.index][value.result]; }
  };

  Way& WayOf(FunctionId id, std::vector<bool> params) {
    auto [it, fresh] = way_of_.try_emplace({id, params}, ways_.size());
    if (!fresh) return ways_[it->second];
    changed_ = true;
    const Function& f = p_.functions[id];
    Way& way = ways_.emplace_back(Way{id, f, std::move(params), {}});
    for (const Node& node : f.nodes) way.nodes.emplace_back(node.results.size(), Fact{All(f)});
    return way;
  }
  // What a call or a Delay is a call of.
  Way& CalleeOf(const Way& way, const Node& node) {
    const Function& callee = p_.functions[node.callee];
    std::vector<bool> params;
    for (uint32_t i = 0; i < callee.params.size(); ++i)
      params.push_back(i < node.operands.size() && p_.types.Kind(callee.params[i].type.type) == ir::TypeKind::Data && way.Of(node.operands[i]).other);
    return WayOf(node.callee, std::move(params));
  }

  // The last bit: it fails anyway.
  static uint32_t Anyway(const Function& f) { return static_cast<uint32_t>(f.params.size()); }
  static BitVector All(const Function& f) { return BitVector(Anyway(f) + 1, true); }
  // None of a function that does nothing but call itself.
  static const Fact* ResultOf(const Way& way, uint32_t result) {
    const Block& body = way.f.blocks[way.f.body];
    return body.again ? nullptr : &way.Of(body.yields[result]);
  }

  void Visit(Way& way) {
    for (const Block& block : way.f.blocks)
      for (NodeId n : block.nodes)
        for (uint32_t k = 0; k < way.f.nodes[n].results.size(); ++k) {
          Fact now = Compute(way, {n, k});
          Fact& fact = way.nodes[n.index][k];
          now.causes &= fact.causes;
          now.other &= fact.other;
          changed_ |= now.other != fact.other || now.causes != fact.causes;
          fact = std::move(now);
        }
  }

  Fact Compute(const Way& way, Value value) {
    const Function& f = way.f;
    const Node& node = f.nodes[value.node];
    Fact fact{BitVector(Anyway(f) + 1)};
    auto add = [&](Value operand) { fact.causes |= way.Of(operand).causes; };
    switch (node.kind) {
      case NodeKind::Param:
        fact.causes.set(node.attr);
        fact.other = way.params[node.attr];
        break;
      case NodeKind::Op:
        if (node.op == ir::Op::Fail) return {All(f)};
        for (uint32_t i = 0; i < node.operands.size(); ++i)
          if (LooksAt(node, i)) add(node.operands[i]);
        fact.other = node.op == ir::Op::Construct ? node.attr != 0
                     : node.op == ir::Op::Force   ? way.Of(node.operands[0]).other
                                                  : node.op == ir::Op::Seq && way.Of(node.operands[1]).other;
        break;
      case NodeKind::Apply: {
        const Fact* result = ResultOf(CalleeOf(way, node), value.result);
        if (!result) return {All(f)};
        for (uint32_t i : result->causes.set_bits())
          if (i < node.operands.size()) add(node.operands[i]);
          else fact.causes.set(Anyway(f));
        fact.other = result->other;
        break;
      }
      case NodeKind::Delay: {
        const Fact* result = ResultOf(CalleeOf(way, node), value.result);
        fact.other = !result || result->other;
        break;
      }
      case NodeKind::Branch: {
        BitVector sides = All(f);
        for (uint32_t k = 0; k < node.blocks.size(); ++k) {
          const Block& side = f.blocks[node.blocks[k]];
          if (side.again || !MayTake(way, node, k)) continue;
          const Fact& yield = way.Of(side.yields[value.result]);
          sides &= yield.causes;
          fact.other &= yield.other;
        }
        fact.causes |= sides;
        add(node.operands[0]);
        break;
      }
      case NodeKind::Diff: fact.other = false; break;
    }
    return fact;
  }

  bool LooksAt(const Node& node, uint32_t i) const {
    return node.op != ir::Op::Construct || p_.types[node.results[0].type].constructors[node.attr].fields[i].strict;
  }
  static bool IsOp(const Function& f, Value value, ir::Op op) { return f.nodes[value.node].kind == NodeKind::Op && f.nodes[value.node].op == op; }
  bool MayTake(const Way& way, const Node& branch, uint32_t side) const {
    const Value predicate = branch.operands[0];
    if (IsOp(way.f, predicate, ir::Op::Match)) return side != 0 || !IsOther(way, predicate);
    return side == 0 || !IsTrue(way, predicate);
  }
  // A Match of what is no alternative 0.
  static bool IsOther(const Way& way, Value value) {
    return IsOp(way.f, value, ir::Op::Match) && way.Of(way.f.nodes[value.node].operands[0]).other;
  }
  // Whether a Bool surely is: a constant, or that some data is no alternative 0.
  bool IsTrue(const Way& way, Value value) const {
    const Function& f = way.f;
    const Node& node = f.nodes[value.node];
    if (p_.types.Kind(f.TypeOf(value).type) != ir::TypeKind::Bool) return false;
    if (IsOp(f, value, ir::Op::Const)) return p_.constants[ir::ConstId(node.attr)].word == 1;
    if (IsOp(f, value, ir::Op::Ne))
      return IsOp(f, node.operands[0], ir::Op::AltToInt) && IsOther(way, f.nodes[node.operands[0].node].operands[0]) && IsZero(f, node.operands[1]);
    if (node.kind != NodeKind::Branch) return false;
    for (uint32_t k = 0; k < node.blocks.size(); ++k)
      if (MayTake(way, node, k) && (f.blocks[node.blocks[k]].again || !IsTrue(way, f.blocks[node.blocks[k]].yields[value.result]))) return false;
    return true;
  }
  bool IsZero(const Function& f, Value value) const {
    return IsOp(f, value, ir::Op::Const) && p_.constants[ir::ConstId(f.nodes[value.node].attr)].word == 0;
  }

  // The Fail that a value which fails anyway comes to; none if it is no knot's.
  std::optional<KnotFail> Find(const Way& way, Value value) {
    const Function& f = way.f;
    if (!way.Of(value).causes.test(Anyway(f)) || !seen_.insert({&way, value}).second) return std::nullopt;
    const Node& node = f.nodes[value.node];
    if (knots_.count({way.id, value.node})) return KnotFail{way.id, value.node};
    std::optional<KnotFail> found;
    auto look = [&](const Way& in, Value at) {
      if (!found) found = Find(in, at);
    };
    if (node.kind == NodeKind::Op) {
      for (uint32_t i = 0; i < node.operands.size(); ++i)
        if (LooksAt(node, i)) look(way, node.operands[i]);
    } else if (node.kind == NodeKind::Apply) {
      const Way& callee = CalleeOf(way, node);
      const Fact* result = ResultOf(callee, value.result);
      if (!result) return std::nullopt;
      look(callee, callee.f.blocks[callee.f.body].yields[value.result]);
      for (uint32_t i : result->causes.set_bits())
        if (i < node.operands.size()) look(way, node.operands[i]);
    } else if (node.kind == NodeKind::Branch) {
      look(way, node.operands[0]);
      for (uint32_t k = 0; k < node.blocks.size(); ++k)
        if (!f.blocks[node.blocks[k]].again && MayTake(way, node, k)) look(way, f.blocks[node.blocks[k]].yields[value.result]);
    }
    return found;
  }

  const Program& p_;
  const std::set<KnotFail>& knots_;
  std::deque<Way> ways_;
  std::map<std::pair<FunctionId, std::vector<bool>>, size_t> way_of_;
  bool changed_ = false;
  std::set<std::pair<const Way*, Value>> seen_;
};

}  // namespace

std::optional<KnotFail> SureFailure(const Program& program, const std::set<KnotFail>& knots, const AskedGradient& asked) {
  return Failures(program, knots).Of(asked);
}

}  // namespace df::fg
