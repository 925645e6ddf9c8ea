// See prune.h.
#include "lang/budget.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "lower/graph/prune.h"

namespace df::fg {
namespace {

class Pruner {
 public:
  Pruner(Program& program, bool across) : p_(program), across_(across), states_(program.functions.size()) {}

  void Run() {
    for (uint32_t i = 0; i < p_.functions.size(); ++i) Prepare(FunctionId(i));
    Reach(p_.main);
    for (uint32_t i = 0; i < p_.functions[p_.main].params.size(); ++i) NeedParam(p_.main, i);
    for (uint32_t k = 0; k < p_.functions[p_.main].results.size(); ++k) NeedResult(p_.main, k);
    while (!work_.empty()) {
      Work work = work_.back();
      work_.pop_back();
      switch (work.kind) {
        case Work::Kind::Value: VisitValue(work.function, {NodeId(work.a), work.b}); break;
        case Work::Kind::Yield: VisitYield(work.function, BlockId(work.a), work.b); break;
      }
    }
    Remove();
  }

 private:
  struct State {
    bool reached = false;
    std::vector<llvm::SmallVector<bool, 2>> results;  // of each node: which are needed
    llvm::BitVector nodes;                            // needed at all
    std::vector<bool> function_results, params;
    struct Call {
      NodeId node;     // an Apply or Delay, or invalid:
      BlockId again;   // a self tail call
      FunctionId caller;
    };
    std::vector<Call> calls;  // needed calls of this function
    std::vector<BlockId> agains;
  };
  struct Work {
    enum class Kind : uint8_t { Value, Yield } kind;
    FunctionId function;
    uint32_t a, b;
  };

  void Prepare(FunctionId id) {
    CheckBudget();
    const Function& function = p_.functions[id];
    State& state = states_[id.index];
    state.nodes.resize(function.nodes.size());
    for (const Node& node : function.nodes) state.results.emplace_back(node.results.size(), false);
    state.function_results.assign(function.results.size(), false);
    state.params.assign(function.params.size(), false);
    for (uint32_t b = 0; b < function.blocks.size(); ++b)
      if (function.blocks[BlockId(b)].again) state.agains.push_back(BlockId(b));
  }

  // A function that is called at all. A self tail call is one of its own calls.
  void Reach(FunctionId id) {
    State& state = states_[id.index];
    if (state.reached) return;
    state.reached = true;
    for (BlockId again : state.agains) state.calls.push_back({{}, again, id});
    const Function& function = p_.functions[id];
    if (across_ && function.delayed && function.paired) NeedResult(id, 0);  // what its reference stands for
    if (across_ && (!function.delayed || function.paired)) return;
    for (uint32_t i = 0; i < state.params.size(); ++i) NeedParam(id, i);
    for (uint32_t k = 0; k < state.function_results.size(); ++k) NeedResult(id, k);
  }

  void NeedValue(FunctionId function, Value value) {
    State& state = states_[function.index];
    if (state.results[value.node.index][value.result]) return;
    state.results[value.node.index][value.result] = true;
    work_.push_back({Work::Kind::Value, function, value.node.index, value.result});
  }

  void NeedResult(FunctionId function, uint32_t result) {
    State& state = states_[function.index];
    if (state.function_results[result]) return;
    state.function_results[result] = true;
    work_.push_back({Work::Kind::Yield, function, p_.functions[function].body.index, result});
  }

  void NeedParam(FunctionId function, uint32_t param) {
    State& state = states_[function.index];
    if (state.params[param]) return;
    state.params[param] = true;
    for (const State::Call& call : std::vector<State::Call>(state.calls)) NeedArgument(call, param);
  }

  void NeedArgument(const State::Call& call, uint32_t param) {
    const Function& caller = p_.functions[call.caller];
    NeedValue(call.caller, call.node.valid() ? caller.nodes[call.node].operands[param]
                                             : caller.blocks[call.again].yields[param]);
  }

  void VisitYield(FunctionId id, BlockId block, uint32_t result) {
    const Block& row = p_.functions[id].blocks[block];
    if (!row.again) NeedValue(id, row.yields[result]);
  }

  void VisitValue(FunctionId id, Value value) {
    CheckBudget();
    const Node& node = p_.functions[id].nodes[value.node];
    State& state = states_[id.index];
    bool first = !state.nodes.test(value.node.index);
    state.nodes.set(value.node.index);
    switch (node.kind) {
      case NodeKind::Param: NeedParam(id, node.attr); return;
      case NodeKind::Op:
      case NodeKind::Diff:
        for (Value operand : node.operands) NeedValue(id, operand);
        return;
      case NodeKind::Branch:
        NeedValue(id, node.operands[0]);
        for (BlockId block : node.blocks) work_.push_back({Work::Kind::Yield, id, block.index, value.result});
        return;
      case NodeKind::Apply:
      case NodeKind::Delay: {
        FunctionId callee = node.callee;
        Reach(callee);
        NeedResult(callee, value.result);
        if (!first) return;
        State::Call call{value.node, {}, id};
        states_[callee.index].calls.push_back(call);
        for (uint32_t i = 0; i < states_[callee.index].params.size(); ++i)
          if (states_[callee.index].params[i]) NeedArgument(call, i);
        return;
      }
    }
  }

  // ---- removal: results and parameters are renumbered, functions that nothing reaches go

  template <typename List>
  static void Keep(List& list, const std::vector<bool>& keep) {
    size_t to = 0;
    for (size_t i = 0; i < list.size(); ++i)
      if (keep[i]) {
        if (to != i) list[to] = std::move(list[i]);
        ++to;
      }
    list.resize(to);
  }

  void Remove() {
    std::vector<FunctionId> new_ids(p_.functions.size());
    Table<FunctionId, Function> kept;
    for (uint32_t i = 0; i < p_.functions.size(); ++i)
      if (states_[i].reached) new_ids[i] = kept.Add(Function());
    for (uint32_t i = 0; i < p_.functions.size(); ++i) {
      if (!states_[i].reached) continue;
      RemoveIn(FunctionId(i));
    }
    for (uint32_t i = 0; i < p_.functions.size(); ++i) {
      if (!states_[i].reached) continue;
      Function& function = p_.functions[FunctionId(i)];
      for (Node& node : function.nodes)
        if (node.callee.valid()) node.callee = new_ids[node.callee.index];
      kept[new_ids[i]] = std::move(function);
    }
    p_.main = new_ids[p_.main.index];
    p_.functions = std::move(kept);
  }

  void RemoveIn(FunctionId id) {
    Function& function = p_.functions[id];
    State& state = states_[id.index];
    // Which results of a node remain, and their new numbers.
    std::vector<std::vector<bool>> keep(function.nodes.size());
    for (uint32_t n = 0; n < function.nodes.size(); ++n) {
      const Node& node = function.nodes[NodeId(n)];
      keep[n].assign(state.results[n].begin(), state.results[n].end());
      if (node.kind == NodeKind::Apply || node.kind == NodeKind::Delay) {
        if (state.nodes.test(n)) keep[n] = states_[node.callee.index].function_results;
      }
    }
    // A Branch that ends the function yields what the function does, so that it stays in tail position.
    KeepTail(function, function.body, state, keep);
    auto renumber = [&](Value& value) {
      uint32_t result = 0;
      for (uint32_t k = 0; k < value.result; ++k) result += keep[value.node.index][k];
      value.result = result;
    };
    std::vector<BlockId> blocks = {function.body};
    std::vector<std::vector<bool>> yields = {state.function_results};
    Table<NodeId, Node> nodes;
    std::vector<NodeId> new_ids(function.nodes.size());
    for (uint32_t n = 0; n < function.nodes.size(); ++n) {
      bool is_param = function.nodes[NodeId(n)].kind == NodeKind::Param;
      if (is_param ? state.params[function.nodes[NodeId(n)].attr] : state.nodes.test(n)) new_ids[n] = NodeId(0);
    }
    Table<BlockId, Block> kept_blocks;
    function.body = RebuildBlock(function, id, function.body, state.function_results, keep, new_ids, nodes, kept_blocks);
    for (Node& node : nodes)
      for (Value& value : node.operands) {
        renumber(value);
        value.node = new_ids[value.node.index];
      }
    for (Block& block : kept_blocks)
      for (Value& value : block.yields) {
        renumber(value);
        value.node = new_ids[value.node.index];
      }
    Keep(function.params, state.params);
    Keep(function.results, state.function_results);
    function.nodes = std::move(nodes);
    function.blocks = std::move(kept_blocks);
  }

  void KeepTail(const Function& function, BlockId body, const State& state, std::vector<std::vector<bool>>& keep) {
    const Block& block = function.blocks[body];
    if (block.again || block.yields.empty()) return;
    NodeId last = block.yields[0].node;
    const Node& node = function.nodes[last];
    if (node.kind != NodeKind::Branch || node.results.size() != block.yields.size()) return;
    for (uint32_t i = 0; i < block.yields.size(); ++i)
      if (block.yields[i] != Value{last, i}) return;
    keep[last.index] = state.function_results;
    for (BlockId inner : node.blocks) KeepTail(function, inner, state, keep);
  }

  // Copies a block's needed nodes, in order, into `nodes`.
  BlockId RebuildBlock(Function& function, FunctionId id, BlockId from, const std::vector<bool>& yields,
                       const std::vector<std::vector<bool>>& keep, std::vector<NodeId>& new_ids,
                       Table<NodeId, Node>& nodes, Table<BlockId, Block>& blocks) {
    Block block = std::move(function.blocks[from]);
    BlockId to = blocks.Add(Block());
    std::vector<NodeId> order;
    for (NodeId old : block.nodes) {
      if (!new_ids[old.index].valid()) continue;
      Node node = std::move(function.nodes[old]);
      if (node.kind == NodeKind::Apply || node.kind == NodeKind::Delay)
        Keep(node.operands, states_[node.callee.index].params);
      if (node.kind == NodeKind::Param) {
        uint32_t attr = 0;
        for (uint32_t i = 0; i < node.attr; ++i) attr += states_[id.index].params[i];
        node.attr = attr;
      } else {
        Keep(node.results, keep[old.index]);
      }
      llvm::SmallVector<BlockId, 2> inner(node.blocks.begin(), node.blocks.end());
      node.blocks.clear();
      new_ids[old.index] = nodes.Add(std::move(node));
      order.push_back(new_ids[old.index]);
      for (BlockId b : inner) {
        BlockId made = RebuildBlock(function, id, b, keep[old.index], keep, new_ids, nodes, blocks);
        nodes[new_ids[old.index]].blocks.push_back(made);
      }
    }
    Keep(block.yields, block.again ? states_[id.index].params : yields);
    block.nodes = std::move(order);
    blocks[to] = std::move(block);
    return to;
  }

  Program& p_;
  bool across_;
  std::vector<State> states_;
  std::vector<Work> work_;
};

}  // namespace

void Prune(Program& program, bool across) { Pruner(program, across).Run(); }

}  // namespace df::fg
