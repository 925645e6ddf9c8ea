// See gradient/through.h.
#include "lower/gradient/through.h"

#include <algorithm>
#include <map>

#include "llvm/ADT/DenseMap.h"

namespace df::fg {
namespace {

// What a cotangent that goes out is: nothing that is known yet (calls of the function itself say nothing), always the same
// parameter, or something else.
struct Origin {
  enum Kind : uint8_t { Unknown, Param, Other } kind = Unknown;
  uint32_t param = 0;
  friend bool operator==(const Origin&, const Origin&) = default;
};

Origin Join(Origin a, Origin b) {
  if (a.kind == Origin::Unknown || a == b) return b;
  if (b.kind == Origin::Unknown) return a;
  return {Origin::Other};
}

class Through {
 public:
  Through(Program& program, llvm::ArrayRef<PairedFunction> paired) : p_(program), paired_(paired) {
    for (const PairedFunction& pair : paired) {
      const Function& function = p_.functions[pair.function];
      std::vector<Origin>& origins = origins_[pair.function.index];
      origins.resize(function.results.size());
      std::fill_n(origins.begin(), pair.first_result, Origin{Origin::Other});
    }
  }

  // The greatest solution: a result stays what it may be until something shows that it is not. Callees were mostly made after their
  // callers, so they come first.
  void Solve() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto pair = paired_.rbegin(); pair != paired_.rend(); ++pair) changed |= Visit(*pair);
    }
  }

  void Rewrite() {
    for (Function& function : p_.functions) RewriteFunction(function);
  }

 private:
  using Seen = std::map<Value, Origin>;
  static constexpr uint32_t kDeep = 256;

  bool Visit(const PairedFunction& pair) {
    const Function& function = p_.functions[pair.function];
    const Block& body = function.blocks[function.body];
    std::vector<Origin>& origins = origins_[pair.function.index];
    bool changed = false;
    Seen seen;
    for (uint32_t k = pair.first_result; k < origins.size(); ++k) {
      if (origins[k].kind == Origin::Other) continue;
      Origin origin = OriginOf(function, pair.first_param, body.yields[k], seen);
      if (origin.kind == Origin::Param && function.params[origin.param].type != function.results[k]) origin = {Origin::Other};
      changed |= origin != origins[k];
      origins[k] = origin;
    }
    return changed;
  }

  // Of the result of a call: which operand it is.
  Origin ThroughCall(const Node& node, uint32_t result) const {
    if (node.kind != NodeKind::Apply) return {Origin::Other};
    auto it = origins_.find(node.callee.index);
    return it == origins_.end() ? Origin{Origin::Other} : it->second[result];
  }

  // (In a paired body each block yields: self tail calls are calls.) As long as it is being found out, a value is something else: so knots end. Chains that are longer than kDeep are not followed.
  Origin OriginOf(const Function& function, uint32_t first_param, Value value, Seen& seen, uint32_t depth = 0) const {
    const Node& node = function.nodes[value.node];
    if (node.kind == NodeKind::Param) return node.attr >= first_param ? Origin{Origin::Param, node.attr} : Origin{Origin::Other};
    if (depth == kDeep) return {Origin::Other};
    auto [it, fresh] = seen.try_emplace(value, Origin{Origin::Other});
    if (!fresh) return it->second;
    Origin origin;
    if (node.kind == NodeKind::Branch) {
      for (BlockId id : node.blocks)
        origin = Join(origin, OriginOf(function, first_param, function.blocks[id].yields[value.result], seen, depth + 1));
    } else {
      origin = ThroughCall(node, value.result);
      if (origin.kind == Origin::Param) origin = OriginOf(function, first_param, node.operands[origin.param], seen, depth + 1);
    }
    return seen[value] = origin;
  }

  void RewriteFunction(Function& function) const {
    auto replace = [&](Value& value) {
      for (uint32_t depth = 0; depth < kDeep; ++depth) {
        const Node& node = function.nodes[value.node];
        Origin through = ThroughCall(node, value.result);
        if (through.kind != Origin::Param) return;
        value = node.operands[through.param];
      }
    };
    for (Node& node : function.nodes)
      for (Value& operand : node.operands) replace(operand);
    for (Block& block : function.blocks)
      for (Value& yield : block.yields) replace(yield);
  }

  Program& p_;
  llvm::ArrayRef<PairedFunction> paired_;
  llvm::DenseMap<uint32_t, std::vector<Origin>> origins_;  // by function; of each result
};

}  // namespace

void PassCotangentsThrough(Program& program, llvm::ArrayRef<PairedFunction> paired) {
  Through through(program, paired);
  through.Solve();
  through.Rewrite();
}

}  // namespace df::fg
