// tests/unit/lower/graph_maker.h
//
// Function graphs by hand, over Int: enough to test what comes after them without a front end.
#pragma once

#include <initializer_list>

#include "lower/graph/function_graph.h"
#include "lower/lower.h"

namespace df::test {

class Maker {
 public:
  fg::Program program;

  // Declares a function; its body is made by Begin ... End.
  fg::FunctionId Declare(const char* name, std::initializer_list<const char*> params, unsigned results = 1);
  void Begin(fg::FunctionId function);
  fg::Value Param(uint32_t index) const { return {fg::NodeId(index), 0}; }
  fg::Value Int(int64_t number);
  fg::Value Op(ir::Op op, std::initializer_list<fg::Value> operands, ir::TypeKind result = ir::TypeKind::Int);
  std::vector<fg::Value> Apply(fg::FunctionId callee, std::initializer_list<fg::Value> operands);
  fg::Value Delay(fg::FunctionId callee, std::initializer_list<fg::Value> operands);
  // Sides are made by what runs between: If(p), ..., Else(y), ..., EndIf(z).
  void If(fg::Value predicate);
  void Else(fg::Value yield);
  void ElseAfterAgain(std::initializer_list<fg::Value> next);
  fg::Value EndIf(fg::Value yield);
  fg::Value EndIfAgain(std::initializer_list<fg::Value> next);
  void End(std::initializer_list<fg::Value> yields);
  fg::Function& function() { return program.functions[current_]; }

 private:
  fg::NodeId Add(fg::Node node);
  ir::PortType Type(ir::TypeKind kind, bool lazy = false) { return {program.types.Builtin(kind), lazy}; }

  fg::FunctionId current_;
  fg::BlockId block_;
  struct Open {
    fg::Node branch;
    fg::BlockId outer;
  };
  std::vector<Open> open_;
};

// result = fact 3 + 5, the paper's example.
fg::Program PaperExample();

}  // namespace df::test
