// lower/gradient/writer.h
//
// Appends nodes to a block of a function graph. Internal to the gradient passes.
#pragma once

#include <cstring>
#include <map>
#include <tuple>

#include "lang/budget.h"
#include "lower/graph/function_graph.h"

namespace df::fg {

using Values = llvm::SmallVector<Value, 4>;

using ir::PortType;

class Writer {
 public:
  Writer(Program& program, Function& function, ir::PosId pos) : pos(pos), p_(program), f_(function) {}

  ir::PosId pos;  // of what is written
  BlockId block;

  Program& program() { return p_; }
  const Program& program() const { return p_; }
  Function& function() { return f_; }
  const Function& function() const { return f_; }
  PortType TypeOf(Value value) const { return f_.TypeOf(value); }

  NodeId Add(Node node) {
    CheckBudget();
    if (!node.pos.valid()) node.pos = pos;
    NodeId id = f_.nodes.Add(std::move(node));
    f_.blocks[block].nodes.push_back(id);
    return id;
  }
  Value Op(ir::Op op, llvm::ArrayRef<Value> operands, ir::TypeId type, uint32_t attr = 0, bool lazy = false) {
    return {Add(OpNode(op, operands, {type, lazy}, attr)), 0};
  }
  // As Op, but one node for all that are equal in a block: for texts of derivatives, which repeat themselves.
  Value Shared(ir::Op op, llvm::ArrayRef<Value> operands, ir::TypeId type, uint32_t attr = 0) {
    auto key = std::tuple(block.index, op, attr, type.index, std::vector<Value>(operands.begin(), operands.end()));
    auto [it, fresh] = shared_.try_emplace(std::move(key));
    if (fresh) it->second = Op(op, operands, type, attr);
    return it->second;
  }
  // One node for each constant of a block.
  Value Const(ir::Constant constant) {
    ir::TypeId type = constant.type;
    ir::ConstId id = Intern(std::move(constant));
    auto [it, fresh] = constants_.try_emplace({block.index, id.index});
    if (fresh) it->second = Op(ir::Op::Const, {}, type, id.index);
    return it->second;
  }
  // A real number, or a tensor of which it is every element.
  Value Real(ir::TypeId type, double number) {
    if (p_.types.Kind(type) == ir::TypeKind::Tensor)
      return Shared(ir::Op::Expand, Real(p_.types.Builtin(p_.types[type].element), number), type);
    int64_t word = 0;
    if (p_.types.Kind(type) == ir::TypeKind::Double) {
      std::memcpy(&word, &number, 8);
    } else {
      float narrow = static_cast<float>(number);
      uint32_t bits;
      std::memcpy(&bits, &narrow, 4);
      word = bits;
    }
    return Const({type, word, ""});
  }
  Value Unit() { return Const({p_.types.Builtin(ir::TypeKind::Unit), 0, ""}); }
  Value Fail(const std::string& message, ir::TypeId type) {
    return Op(ir::Op::Fail, Const({p_.types.Builtin(ir::TypeKind::Text), 0, message}), type);
  }
  // The value, evaluated.
  Value Forced(Value value) {
    PortType type = TypeOf(value);
    return type.lazy ? Op(ir::Op::Force, value, type.type) : value;
  }
  // `second`, if `first` has not failed. A value that may be a reference is not looked at: a Branch whose sides are equal
  // passes it on.
  Value Seq(Value first, Value second) {
    PortType type = TypeOf(second);
    if (!type.lazy) return Op(ir::Op::Seq, {first, second}, type.type);
    ir::TypeId boolean = p_.types.Builtin(ir::TypeKind::Bool);
    Value predicate = Op(ir::Op::Seq, {first, Const({boolean, 1, ""})}, boolean);
    return {Branch(predicate, 2, type, [&](uint32_t) -> Values { return {second}; }), 0};
  }
  Value Field(Value data, uint32_t con, uint32_t field) {
    PortType type = p_.types[TypeOf(data).type].constructors[con].fields[field].type;
    return Op(ir::Op::Field, data, type.type, con << 16 | field, type.lazy);
  }
  Value Construct(ir::TypeId type, uint32_t con, llvm::ArrayRef<Value> fields) {
    return Op(ir::Op::Construct, fields, type, con);
  }
  NodeId Apply(FunctionId callee, llvm::ArrayRef<Value> operands) {
    Node node;
    node.kind = NodeKind::Apply;
    node.callee = callee;
    node.operands.assign(operands.begin(), operands.end());
    for (PortType type : p_.functions[callee].results) node.results.push_back(type);
    return Add(std::move(node));
  }
  Value Delay(FunctionId callee, llvm::ArrayRef<Value> operands, std::string reason) {
    Node node;
    node.kind = NodeKind::Delay;
    node.callee = callee;
    node.operands.assign(operands.begin(), operands.end());
    node.results = {{p_.functions[callee].results[0].type, true}};
    node.reason = std::move(reason);
    return {Add(std::move(node)), 0};
  }
  // A Branch of `count` alternatives; `side(k)` writes the k-th and gives what it yields.
  NodeId Branch(Value predicate, uint32_t count, llvm::ArrayRef<PortType> results,
                llvm::function_ref<Values(uint32_t)> side) {
    Node node;
    node.kind = NodeKind::Branch;
    node.operands = {predicate};
    node.results.assign(results.begin(), results.end());
    BlockId outer = block;
    for (uint32_t k = 0; k < count; ++k) {
      block = f_.blocks.Add({});
      node.blocks.push_back(block);
      Values yields = side(k);
      f_.blocks[node.blocks.back()].yields.assign(yields.begin(), yields.end());
    }
    block = outer;
    return Add(std::move(node));
  }
  // A Branch on the constructors of `data`; of a type with one there is nothing to branch on.
  Value Match(Value data, PortType result, llvm::function_ref<Value(uint32_t)> alternative) {
    uint32_t count = static_cast<uint32_t>(p_.types[TypeOf(data).type].constructors.size());
    if (count == 1) return alternative(0);
    Value chosen = Op(ir::Op::Match, data, p_.types.Builtin(ir::TypeKind::Alt));
    return {Branch(chosen, count, result, [&](uint32_t k) -> Values { return {alternative(k)}; }), 0};
  }

 private:
  // The programs' constants are few: the first equal one, or a new one.
  ir::ConstId Intern(ir::Constant constant) {
    for (uint32_t i = 0; i < p_.constants.size(); ++i) {
      const ir::Constant& have = p_.constants[ir::ConstId(i)];
      if (have.type == constant.type && have.word == constant.word && have.text == constant.text) return ir::ConstId(i);
    }
    return p_.constants.Add(std::move(constant));
  }

  Program& p_;
  Function& f_;
  std::map<std::pair<uint32_t, uint32_t>, Value> constants_;  // by block and constant
  std::map<std::tuple<uint32_t, ir::Op, uint32_t, uint32_t, std::vector<Value>>, Value> shared_;  // by block and what it computes
};

}  // namespace df::fg
