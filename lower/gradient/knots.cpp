// See knots.h.
//
// Two facts of each value, both assumed of all and given up where they do not hold, until nothing changes (the greatest solution):
//
//   causes   which parameters make it fail if they have failed, and whether it fails anyway. What never ends counts as failed.
//   con      of data: which constructor it is, or that it is not the first, which of a cotangent is the symbolic zero and of a list is []
//
// A Branch fails if each of its sides does that may be taken. A side is not taken
//
//   if the constructor is another one;
//   if the function's own result is then a constructor that the cotangent which came for it is not of: that of `Just x` does not come for Nothing;
//   if the function's own result then fails, where a gradient waits for it: nothing has a gradient where it has no value.
//
// A function has facts for each way of calling it: of which constructors its parameters are, and whether a gradient waits for its result.
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

// A constructor's index, or:
constexpr int kAny = -1;
constexpr int kNotFirst = -2;
constexpr int kNone = -3;  // what is true of none: there is no value

int Meet(int a, int b) {
  if (a == kNone || a == b) return b;
  if (b == kNone) return a;
  return (a > 0 || a == kNotFirst) && (b > 0 || b == kNotFirst) ? kNotFirst : kAny;
}

class Failures {
 public:
  Failures(const Program& program, const std::set<KnotFail>& knots) : p_(program), knots_(knots) {}

  std::optional<KnotFail> Of(const AskedGradient& gradient) {
    asked_ = &gradient;
    Way& asker = WayOf(gradient.by, std::vector<int>(p_.functions[gradient.by].params.size(), kAny), false);
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
    int con = kNone;
  };
  struct Way {
    FunctionId id;
    const Function& f;
    std::vector<int> params;               // constructors
    bool waits;                            // a gradient for the first result
    std::vector<std::vector<Fact>> nodes;  // by node and result
    std::set<Value> results;               // what the first result is, by whatever side
    const Fact& Of(Value value) const { return nodes[value.node.index][value.result]; }
  };

  Way& WayOf(FunctionId id, std::vector<int> params, bool waits) {
    auto [it, fresh] = way_of_.try_emplace({id, params, waits}, ways_.size());
    if (!fresh) return ways_[it->second];
    changed_ = true;
    const Function& f = p_.functions[id];
    Way& way = ways_.emplace_back(Way{id, f, std::move(params), waits, {}, {}});
    for (const Node& node : f.nodes) way.nodes.emplace_back(node.results.size(), Fact{All(f)});
    AddResults(way, f.blocks[f.body], 0);
    return way;
  }
  static void AddResults(Way& way, const Block& block, uint32_t result) {
    if (block.again || block.yields.empty()) return;
    const Value value = block.yields[result];
    if (!way.results.insert(value).second) return;
    for (BlockId side : way.f.nodes[value.node].blocks) AddResults(way, way.f.blocks[side], value.result);
  }
  // What a call or a Delay is a call of.
  Way& CalleeOf(const Way& way, NodeId id) {
    const Node& node = way.f.nodes[id];
    const Function& callee = p_.functions[node.callee];
    std::vector<int> params;
    for (uint32_t i = 0; i < callee.params.size(); ++i) {
      const bool known = i < node.operands.size() && p_.types.Kind(callee.params[i].type.type) == ir::TypeKind::Data;
      params.push_back(known ? way.Of(node.operands[i]).con : kAny);
    }
    const bool asked = way.id == asked_->by && id == asked_->value.node;
    return WayOf(node.callee, std::move(params), asked || (way.waits && node.kind == NodeKind::Apply && way.results.count({id, 0})));
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
          if (fact.con != kNone) now.con = Meet(fact.con, now.con);
          changed_ |= now.con != fact.con || now.causes != fact.causes;
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
        fact.con = way.params[node.attr];
        break;
      case NodeKind::Op:
        if (node.op == ir::Op::Fail) return {All(f)};
        for (uint32_t i = 0; i < node.operands.size(); ++i)
          if (LooksAt(node, i)) add(node.operands[i]);
        fact.con = node.op == ir::Op::Construct ? static_cast<int>(node.attr)
                   : node.op == ir::Op::Force   ? way.Of(node.operands[0]).con
                   : node.op == ir::Op::Seq     ? way.Of(node.operands[1]).con
                                                : kAny;
        break;
      case NodeKind::Apply: {
        const Fact* result = ResultOf(CalleeOf(way, value.node), value.result);
        if (!result) return {All(f)};
        for (uint32_t i : result->causes.set_bits())
          if (i < node.operands.size()) add(node.operands[i]);
          else fact.causes.set(Anyway(f));
        fact.con = result->con;
        break;
      }
      case NodeKind::Delay: {
        const Fact* result = ResultOf(CalleeOf(way, value.node), value.result);
        fact.con = result ? result->con : kNone;
        break;
      }
      case NodeKind::Branch: {
        BitVector sides = All(f);
        for (uint32_t k = 0; k < node.blocks.size(); ++k) {
          const Block& side = f.blocks[node.blocks[k]];
          if (side.again || !MayTake(way, value.node, k)) continue;
          const Fact& yield = way.Of(side.yields[value.result]);
          sides &= yield.causes;
          fact.con = Meet(fact.con, yield.con);
        }
        fact.causes |= sides;
        add(node.operands[0]);
        break;
      }
      case NodeKind::Diff: fact.con = kAny; break;
    }
    return fact;
  }

  bool LooksAt(const Node& node, uint32_t i) const {
    return node.op != ir::Op::Construct || p_.types[node.results[0].type].constructors[node.attr].fields[i].strict;
  }
  static bool IsOp(const Function& f, Value value, ir::Op op) { return f.nodes[value.node].kind == NodeKind::Op && f.nodes[value.node].op == op; }
  bool MayTake(const Way& way, NodeId id, uint32_t side) const {
    const Node& branch = way.f.nodes[id];
    const Value predicate = branch.operands[0];
    if (IsOp(way.f, predicate, ir::Op::Match)) {
      const int con = ConOfMatch(way, predicate);
      if (con == kNone || (con == kNotFirst && side == 0) || (con >= 0 && con != static_cast<int>(side))) return false;
    } else if (side != 0 && IsTrue(way, predicate)) {
      return false;
    }
    const Block& block = way.f.blocks[branch.blocks[side]];
    if (block.again) return true;
    for (uint32_t k = 0; k < block.yields.size(); ++k) {
      if (!way.results.count({id, k})) continue;
      const Fact& result = way.Of(block.yields[k]);
      if (way.waits && result.causes.test(Anyway(way.f))) return false;
      if (result.con >= 0 && IsCotangentOfAnother(way, result.con)) return false;
    }
    return true;
  }
  int ConOfMatch(const Way& way, Value match) const { return way.Of(way.f.nodes[match.node].operands[0]).con; }
  // Whether the cotangent that came for the result is that of another constructor than this one.
  bool IsCotangentOfAnother(const Way& way, int con) const {
    const Function& f = way.f;
    auto param = llvm::find_if(f.params, [](const Param& p) { return p.cotangent; });
    if (param == f.params.end() || p_.types.Kind(param->type.type) != ir::TypeKind::Data) return false;
    const int came = way.params[static_cast<size_t>(param - f.params.begin())];
    const auto& cotangents = p_.types[param->type.type].constructors;
    const auto& values = p_.types[f.results[0].type].constructors;
    if (came <= 0 || cotangents.size() != values.size() + 1 || cotangents[static_cast<size_t>(came)].name != values[static_cast<size_t>(came) - 1].name) return false;
    return came - 1 != con;
  }
  // Whether a Bool surely is: a constant, or that some data has not the first constructor.
  bool IsTrue(const Way& way, Value value) const {
    const Function& f = way.f;
    const Node& node = f.nodes[value.node];
    if (p_.types.Kind(f.TypeOf(value).type) != ir::TypeKind::Bool) return false;
    if (IsOp(f, value, ir::Op::Const)) return p_.constants[ir::ConstId(node.attr)].word == 1;
    if (IsOp(f, value, ir::Op::Ne))
      return IsOp(f, node.operands[0], ir::Op::AltToInt) && IsNotFirst(way, f.nodes[node.operands[0].node].operands[0]) && IsZero(f, node.operands[1]);
    if (node.kind != NodeKind::Branch) return false;
    for (uint32_t k = 0; k < node.blocks.size(); ++k)
      if (MayTake(way, value.node, k) && (f.blocks[node.blocks[k]].again || !IsTrue(way, f.blocks[node.blocks[k]].yields[value.result]))) return false;
    return true;
  }
  bool IsNotFirst(const Way& way, Value value) const {
    if (!IsOp(way.f, value, ir::Op::Match)) return false;
    const int con = ConOfMatch(way, value);
    return con != kAny && con != 0;
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
      const Way& callee = CalleeOf(way, value.node);
      const Fact* result = ResultOf(callee, value.result);
      if (!result) return std::nullopt;
      look(callee, callee.f.blocks[callee.f.body].yields[value.result]);
      for (uint32_t i : result->causes.set_bits())
        if (i < node.operands.size()) look(way, node.operands[i]);
    } else if (node.kind == NodeKind::Branch) {
      look(way, node.operands[0]);
      for (uint32_t k = 0; k < node.blocks.size(); ++k)
        if (!f.blocks[node.blocks[k]].again && MayTake(way, value.node, k)) look(way, f.blocks[node.blocks[k]].yields[value.result]);
    }
    return found;
  }

  const Program& p_;
  const std::set<KnotFail>& knots_;
  std::deque<Way> ways_;
  std::map<std::tuple<FunctionId, std::vector<int>, bool>, size_t> way_of_;
  const AskedGradient* asked_ = nullptr;
  bool changed_ = false;
  std::set<std::pair<const Way*, Value>> seen_;
};

}  // namespace

std::optional<KnotFail> SureFailure(const Program& program, const std::set<KnotFail>& knots, const AskedGradient& asked) {
  return Failures(program, knots).Of(asked);
}

}  // namespace df::fg
