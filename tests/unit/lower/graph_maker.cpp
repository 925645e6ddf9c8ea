#include "tests/unit/lower/graph_maker.h"

namespace df::test {

fg::FunctionId Maker::Declare(const char* name, std::initializer_list<const char*> params, unsigned results) {
  fg::Function function;
  function.name = name;
  for (const char* param : params) function.params.push_back({param, Type(ir::TypeKind::Int)});
  function.results.assign(results, Type(ir::TypeKind::Int));
  function.body = function.blocks.Add({});
  return program.functions.Add(std::move(function));
}

void Maker::Begin(fg::FunctionId id) {
  current_ = id;
  block_ = function().body;
  for (uint32_t i = 0; i < function().params.size(); ++i) {
    fg::Node node;
    node.kind = fg::NodeKind::Param;
    node.attr = i;
    node.results = {function().params[i].type};
    Add(std::move(node));
  }
}

fg::NodeId Maker::Add(fg::Node node) {
  fg::NodeId id = function().nodes.Add(std::move(node));
  function().blocks[block_].nodes.push_back(id);
  return id;
}

fg::Value Maker::Int(int64_t number) {
  fg::Node node;
  node.kind = fg::NodeKind::Op;
  node.op = ir::Op::Const;
  node.attr = program.constants.Add({program.types.Builtin(ir::TypeKind::Int), number, ""}).index;
  node.results = {Type(ir::TypeKind::Int)};
  return {Add(std::move(node)), 0};
}

fg::Value Maker::Op(ir::Op op, std::initializer_list<fg::Value> operands, ir::TypeKind result) {
  fg::Node node;
  node.kind = fg::NodeKind::Op;
  node.op = op;
  node.operands.assign(operands.begin(), operands.end());
  node.results = {Type(result)};
  return {Add(std::move(node)), 0};
}

std::vector<fg::Value> Maker::Apply(fg::FunctionId callee, std::initializer_list<fg::Value> operands) {
  fg::Node node;
  node.kind = fg::NodeKind::Apply;
  node.callee = callee;
  node.operands.assign(operands.begin(), operands.end());
  for (ir::PortType type : program.functions[callee].results) node.results.push_back(type);
  fg::NodeId id = Add(std::move(node));
  std::vector<fg::Value> results;
  for (uint32_t k = 0; k < program.functions[callee].results.size(); ++k) results.push_back({id, k});
  return results;
}

fg::Value Maker::Delay(fg::FunctionId callee, std::initializer_list<fg::Value> operands) {
  fg::Node node;
  node.kind = fg::NodeKind::Delay;
  node.callee = callee;
  node.operands.assign(operands.begin(), operands.end());
  node.results = {Type(ir::TypeKind::Int, true)};
  node.reason = "a test";
  program.functions[callee].delayed = true;
  return {Add(std::move(node)), 0};
}

void Maker::If(fg::Value predicate) {
  fg::Node node;
  node.kind = fg::NodeKind::Branch;
  node.operands = {predicate};
  node.results = {Type(ir::TypeKind::Int)};
  open_.push_back({std::move(node), block_});
  block_ = function().blocks.Add({});
  open_.back().branch.blocks.push_back(block_);
}

void Maker::Else(fg::Value yield) {
  function().blocks[block_].yields = {yield};
  block_ = function().blocks.Add({});
  open_.back().branch.blocks.push_back(block_);
}

void Maker::ElseAfterAgain(std::initializer_list<fg::Value> next) {
  fg::Block& block = function().blocks[block_];
  block.yields = next;
  block.again = true;
  block_ = function().blocks.Add({});
  open_.back().branch.blocks.push_back(block_);
}

fg::Value Maker::EndIf(fg::Value yield) {
  function().blocks[block_].yields = {yield};
  Open open = std::move(open_.back());
  open_.pop_back();
  block_ = open.outer;
  return {Add(std::move(open.branch)), 0};
}

fg::Value Maker::EndIfAgain(std::initializer_list<fg::Value> next) {
  fg::Block& block = function().blocks[block_];
  block.yields = next;
  block.again = true;
  Open open = std::move(open_.back());
  open_.pop_back();
  block_ = open.outer;
  return {Add(std::move(open.branch)), 0};
}

void Maker::End(std::initializer_list<fg::Value> yields) { function().blocks[block_].yields = yields; }

fg::Program PaperExample() {
  Maker m;
  fg::FunctionId result = m.Declare("result", {});
  fg::FunctionId fact = m.Declare("fact", {"n"});
  m.Begin(result);
  fg::Value called = m.Apply(fact, {m.Int(3)})[0];
  m.End({m.Op(ir::Op::Add, {called, m.Int(5)})});
  m.Begin(fact);
  fg::Value n = m.Param(0);
  m.If(m.Op(ir::Op::Eq, {n, m.Int(1)}, ir::TypeKind::Bool));
  m.Else(n);
  fg::Value smaller = m.Op(ir::Op::Sub, {n, m.Int(1)});
  fg::Value product = m.Op(ir::Op::Mul, {n, m.Apply(fact, {smaller})[0]});
  m.End({m.EndIf(product)});
  m.program.main = result;
  return std::move(m.program);
}

}  // namespace df::test
