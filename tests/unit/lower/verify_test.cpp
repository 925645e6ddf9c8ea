#include "tests/unit/catch.h"
#include "tests/unit/lower/graph_maker.h"

namespace df {
namespace {

using test::Maker;

// The paper's example, spoilt by `spoil`.
template <typename Spoil>
std::string FaultOf(Spoil spoil) {
  fg::Program program = test::PaperExample();
  REQUIRE(fg::Verify(program) == "");
  spoil(program);
  return fg::Verify(program);
}

bool Says(const std::string& fault, const char* text) { return fault.find(text) != std::string::npos; }

fg::Function& Fact(fg::Program& program) { return program.functions[fg::FunctionId(1)]; }

fg::Node& FirstOf(fg::Function& function, fg::NodeKind kind) {
  for (fg::Node& node : function.nodes)
    if (node.kind == kind) return node;
  FAIL("no such node");
  return function.nodes[fg::NodeId(0)];
}

TEST_CASE("what a function graph must be") {
  CHECK(Says(FaultOf([](fg::Program& p) { p.main = fg::FunctionId(7); }), "no main"));
  CHECK(Says(FaultOf([](fg::Program& p) { FirstOf(Fact(p), fg::NodeKind::Apply).operands.clear(); }),
             "0 operands for fact"));
  CHECK(Says(FaultOf([](fg::Program& p) { FirstOf(Fact(p), fg::NodeKind::Apply).results.clear(); }),
             "results unlike its callee's"));
  CHECK(Says(FaultOf([](fg::Program& p) { FirstOf(Fact(p), fg::NodeKind::Branch).operands[0] = {fg::NodeId(0), 0}; }),
             "not a predicate"));
  CHECK(Says(FaultOf([](fg::Program& p) { FirstOf(Fact(p), fg::NodeKind::Branch).blocks.pop_back(); }),
             "wrong number of blocks"));
  CHECK(Says(FaultOf([](fg::Program& p) { Fact(p).params[0].type.lazy = true; }), "not a parameter"));
  CHECK(Says(FaultOf([](fg::Program& p) { Fact(p).blocks[Fact(p).body].yields.clear(); }),
             "0 values for 1"));
  CHECK(Says(FaultOf([](fg::Program& p) {
               // The side calls again, and the function's result is something else.
               fg::Function& fact = Fact(p);
               fact.blocks[FirstOf(fact, fg::NodeKind::Branch).blocks[1]].again = true;
               fact.blocks[fact.body].yields = {{fg::NodeId(0), 0}};
             }),
             "`again` is not in tail position"));
  CHECK(Says(FaultOf([](fg::Program& p) {
               // The product is made in one side of the branch.
               fg::Function& fact = Fact(p);
               fact.blocks[fact.body].yields = {fact.blocks[FirstOf(fact, fg::NodeKind::Branch).blocks[1]].yields[0]};
             }),
             "not in scope"));
  CHECK(Says(FaultOf([](fg::Program& p) { p.constants[ir::ConstId(0)].type = p.types.Builtin(ir::TypeKind::Bool); }),
             "not a constant of its type"));
}

}  // namespace
}  // namespace df
