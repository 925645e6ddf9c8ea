#include "tests/unit/catch.h"
#include "tests/unit/lower/graph_maker.h"

namespace df {
namespace {

using test::Maker;
using Catch::Contains;

// The paper's example, spoilt by `spoil`.
template <typename Spoil>
std::string FaultOf(Spoil spoil) {
  fg::Program program = test::PaperExample();
  REQUIRE(fg::Verify(program) == "");
  spoil(program);
  return fg::Verify(program);
}

fg::Function& Fact(fg::Program& program) { return program.functions[fg::FunctionId(1)]; }

fg::Node& FirstOf(fg::Function& function, fg::NodeKind kind) {
  for (fg::Node& node : function.nodes)
    if (node.kind == kind) return node;
  FAIL("no such node");
  return function.nodes[fg::NodeId(0)];
}

TEST_CASE("what a function graph must be") {
  CHECK_THAT(FaultOf([](fg::Program& p) { p.main = fg::FunctionId(7); }), Contains("no main"));
  CHECK_THAT(FaultOf([](fg::Program& p) { FirstOf(Fact(p), fg::NodeKind::Apply).operands.clear(); }),
             Contains("0 operands for fact"));
  CHECK_THAT(FaultOf([](fg::Program& p) { FirstOf(Fact(p), fg::NodeKind::Apply).results.clear(); }),
             Contains("results unlike its callee's"));
  CHECK_THAT(FaultOf([](fg::Program& p) { FirstOf(Fact(p), fg::NodeKind::Branch).operands[0] = {fg::NodeId(0), 0}; }),
             Contains("not a predicate"));
  CHECK_THAT(FaultOf([](fg::Program& p) { FirstOf(Fact(p), fg::NodeKind::Branch).blocks.pop_back(); }),
             Contains("wrong number of blocks"));
  CHECK_THAT(FaultOf([](fg::Program& p) { Fact(p).params[0].type.lazy = true; }), Contains("not a parameter"));
  CHECK_THAT(FaultOf([](fg::Program& p) { Fact(p).blocks[Fact(p).body].yields.clear(); }),
             Contains("0 values for 1"));
  CHECK_THAT(FaultOf([](fg::Program& p) { Fact(p).blocks[Fact(p).body].again = true; }), Contains("yield"));
  CHECK_THAT(FaultOf([](fg::Program& p) {
               // The product is made in one side of the branch.
               fg::Function& fact = Fact(p);
               fact.blocks[fact.body].yields = {fact.blocks[FirstOf(fact, fg::NodeKind::Branch).blocks[1]].yields[0]};
             }),
             Contains("not in scope"));
  CHECK_THAT(FaultOf([](fg::Program& p) { p.constants[ir::ConstId(0)].type = p.types.Builtin(ir::TypeKind::Bool); }),
             Contains("not a constant of its type"));
}

}  // namespace
}  // namespace df
