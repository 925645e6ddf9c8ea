// What must hold of every function graph; run after each pass in debug builds.
#include "lower/graph/function_graph.h"

namespace df::fg {
namespace {

class Verifier {
 public:
  Verifier(const Program& program, const Function& function) : program_(program), function_(function) {}

  std::string Run() {
    if (!function_.blocks.Contains(function_.body)) return Fault("has no body");
    defined_.assign(function_.nodes.size(), 0);
    owner_.assign(function_.nodes.size(), BlockId());
    parent_.assign(function_.blocks.size(), BlockId());
    if (!Place(function_.body, 0)) return error_;
    if (function_.delayed && (function_.results.empty() || function_.results[0].lazy ||
                              (function_.results.size() != 1 && !function_.paired)))
      return Fault("a delayed expression has one evaluated result, and cotangents if it is paired");
    if (!CheckBlock(function_.body, function_.results, true)) return error_;
    return "";
  }

 private:
  std::string Fault(std::string text) {
    if (error_.empty()) error_ = "function " + function_.name + ": " + std::move(text);
    return error_;
  }
  bool Bad(std::string text) {
    Fault(std::move(text));
    return false;
  }

  // Finds the block of each node and the parent of each block; every node and block is used once.
  bool Place(BlockId id, uint32_t depth) {
    for (NodeId node : function_.blocks[id].nodes) {
      if (!function_.nodes.Contains(node)) return Bad("a block names a node out of range");
      if (owner_[node.index].valid()) return Bad(fmt::format("node {} stands in two blocks", node.index));
      owner_[node.index] = id;
      for (BlockId inner : function_.nodes[node].blocks) {
        if (!function_.blocks.Contains(inner) || parent_[inner.index].valid() || inner == function_.body)
          return Bad(fmt::format("node {}: its blocks are not its own", node.index));
        parent_[inner.index] = id;
        if (!Place(inner, depth + 1)) return false;
      }
    }
    return true;
  }

  bool InScope(Value value, BlockId from) const {
    for (BlockId block = from; block.valid(); block = parent_[block.index])
      if (owner_[value.node.index] == block) return true;
    return false;
  }

  bool CheckUse(Value value, BlockId from, bool may_be_later, const std::string& by) {
    if (!function_.nodes.Contains(value.node) || value.result >= function_.nodes[value.node].results.size())
      return Bad(by + ": an operand does not exist");
    if (!InScope(value, from)) return Bad(fmt::format("{}: node {} is not in scope", by, value.node.index));
    if (!may_be_later && !defined_[value.node.index])
      return Bad(fmt::format("{}: node {} comes later", by, value.node.index));
    return true;
  }

  bool CheckFit(Value value, ir::PortType to, const std::string& by) {
    ir::PortType from = function_.TypeOf(value);
    if (from.type != to.type)
      return Bad(fmt::format("{}: `{}` where `{}` is wanted", by, program_.types.Print(from), program_.types.Print(to)));
    if (from.lazy && !to.lazy) return Bad(fmt::format("{}: node {} may not be evaluated", by, value.node.index));
    return true;
  }

  bool CheckNode(NodeId id, BlockId block) {
    const Node& node = function_.nodes[id];
    std::string by = fmt::format("node {}", id.index);
    bool knots = node.kind == NodeKind::Apply || node.kind == NodeKind::Delay || node.op == ir::Op::Construct || function_.paired;
    // A Branch's own blocks are checked where they are; a knot may lead into them.
    for (Value operand : node.operands)
      if (!CheckUse(operand, block, knots, by)) return false;
    switch (node.kind) {
      case NodeKind::Param:
        if (node.attr >= function_.params.size() || node.results.size() != 1 ||
            node.results[0] != function_.params[node.attr].type || block != function_.body)
          return Bad(by + ": not a parameter");
        return true;
      case NodeKind::Op: return CheckOp(node, by);
      case NodeKind::Apply:
      case NodeKind::Delay: return CheckCall(node, by);
      case NodeKind::Branch: return CheckBranch(node, block, by);
      case NodeKind::Diff: return CheckDiff(node, by);
    }
    return true;
  }

  bool CheckOp(const Node& node, const std::string& by) {
    if (node.results.size() != 1) return Bad(by + ": an op has one result");
    ir::PortType result = node.results[0];
    switch (node.op) {
      case ir::Op::Const:
        if (!program_.constants.Contains(ir::ConstId(node.attr)) ||
            program_.constants[ir::ConstId(node.attr)].type != result.type)
          return Bad(by + ": not a constant of its type");
        return true;
      case ir::Op::Construct: {
        const ir::Type& type = program_.types[result.type];
        if (node.attr >= type.constructors.size()) return Bad(by + ": no such constructor");
        const ir::Constructor& con = type.constructors[node.attr];
        if (con.fields.size() != node.operands.size()) return Bad(by + ": wrong number of fields");
        for (size_t i = 0; i < con.fields.size(); ++i)
          if (!CheckFit(node.operands[i], con.fields[i].type, by)) return false;
        return true;
      }
      case ir::Op::Field: {
        if (node.operands.size() != 1) return Bad(by + ": a Field has one operand");
        ir::PortType data = function_.TypeOf(node.operands[0]);
        const ir::Type& type = program_.types[data.type];
        uint32_t con = node.attr >> 16, field = node.attr & 0xffff;
        if (data.lazy || con >= type.constructors.size() || field >= type.constructors[con].fields.size() ||
            type.constructors[con].fields[field].type.type != result.type ||
            (result.lazy && !type.constructors[con].fields[field].type.lazy))
          return Bad(by + ": no such field");
        return true;
      }
      case ir::Op::Force:
        if (node.operands.size() != 1 || result.lazy || function_.TypeOf(node.operands[0]).type != result.type)
          return Bad(by + ": ill-typed Force");
        return true;
      default:
        if (ir::InfoOf(node.op).cls != ir::OpClass::Ordinary) return Bad(by + ": not an op of function graphs");
        for (Value operand : node.operands)
          if (function_.TypeOf(operand).lazy)
            return Bad(fmt::format("{} ({}): node {} may not be evaluated", by, ir::InfoOf(node.op).name,
                                   operand.node.index));
        return !result.lazy || Bad(by + ": an op's result is evaluated");
    }
  }

  bool CheckCall(const Node& node, const std::string& by) {
    if (!program_.functions.Contains(node.callee)) return Bad(by + ": no callee");
    const Function& callee = program_.functions[node.callee];
    if (node.operands.size() != callee.params.size())
      return Bad(fmt::format("{}: {} operands for {}", by, node.operands.size(), callee.name));
    for (size_t i = 0; i < node.operands.size(); ++i)
      if (!CheckFit(node.operands[i], callee.params[i].type, by)) return false;
    if (node.results.size() != callee.results.size()) return Bad(by + ": results unlike its callee's");
    bool delay = node.kind == NodeKind::Delay;
    if (delay && (!callee.delayed || !node.results[0].lazy || node.results[0].type != callee.results[0].type))
      return Bad(by + ": a Delay is a reference to a delayed expression");
    for (size_t i = delay; i < node.results.size(); ++i)
      if (!(node.results[i] == callee.results[i])) return Bad(by + ": results unlike its callee's");
    return true;
  }

  bool CheckDiff(const Node& node, const std::string& by) {
    if (DiffMode(node.attr) == DiffMode::Stop)
      return (node.operands.size() == 1 && node.results.size() == 1 && function_.TypeOf(node.operands[0]) == node.results[0]) ||
             Bad(by + ": Stop gives what it is given");
    if (!program_.functions.Contains(node.callee)) return Bad(by + ": no callee");
    const Function& callee = program_.functions[node.callee];
    if (node.operands.size() != callee.params.size() + 1 || node.results.size() != 2 || callee.results.size() != 1)
      return Bad(by + ": a derivative takes its callee's parameters and a tangent");
    for (size_t i = 0; i < callee.params.size(); ++i)
      if (!CheckFit(node.operands[i], callee.params[i].type, by)) return false;
    return true;
  }

  bool CheckBranch(const Node& node, BlockId block, const std::string& by) {
    if (node.operands.size() != 1) return Bad(by + ": a Branch has one operand");
    ir::PortType predicate = function_.TypeOf(node.operands[0]);
    ir::TypeKind kind = program_.types.Kind(predicate.type);
    if (predicate.lazy || (kind != ir::TypeKind::Bool && kind != ir::TypeKind::Alt))
      return Bad(by + ": not a predicate");
    if (node.blocks.empty() || (kind == ir::TypeKind::Bool && node.blocks.size() != 2))
      return Bad(by + ": wrong number of blocks");
    const Block& outer = function_.blocks[block];
    bool tail = tail_block_ == block && outer.yields.size() == node.results.size() && !outer.again;
    for (size_t i = 0; tail && i < outer.yields.size(); ++i) {
      Value yield = outer.yields[i];
      tail = function_.nodes.Contains(yield.node) && &function_.nodes[yield.node] == &node && yield.result == i;
    }
    BlockId saved = tail_block_;
    for (BlockId inner : node.blocks)
      if (!CheckBlock(inner, node.results, tail)) return false;
    tail_block_ = saved;
    return true;
  }

  bool CheckBlock(BlockId id, llvm::ArrayRef<ir::PortType> results, bool tail) {
    const Block& block = function_.blocks[id];
    for (NodeId node : block.nodes) {
      tail_block_ = tail ? id : BlockId();
      if (!CheckNode(node, id)) return false;
      defined_[node.index] = 1;
    }
    if (block.again && !tail) return Bad("`again` is not in tail position");
    std::string by = fmt::format("the yield of block {}", id.index);
    size_t count = block.again ? function_.params.size() : results.size();
    if (block.yields.size() != count)
      return Bad(fmt::format("{}: {} values for {}", by, block.yields.size(), count));
    for (size_t i = 0; i < count; ++i) {
      if (!CheckUse(block.yields[i], id, function_.paired, by)) return false;
      if (!CheckFit(block.yields[i], block.again ? function_.params[i].type : results[i], by)) return false;
    }
    return true;
  }

  const Program& program_;
  const Function& function_;
  std::vector<uint8_t> defined_;
  std::vector<BlockId> owner_;   // of each node
  std::vector<BlockId> parent_;  // of each block
  BlockId tail_block_;
  std::string error_;
};

}  // namespace

std::string Verify(const Program& program) {
  if (!program.functions.Contains(program.main)) return "the program has no main function";
  for (const ir::PortType type : program.functions[program.main].results)
    if (type.lazy) return "main yields what may not be evaluated";
  for (const Function& function : program.functions)
    if (std::string error = Verifier(program, function).Run(); !error.empty()) return error;
  return "";
}

}  // namespace df::fg
