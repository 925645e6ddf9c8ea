#include "tests/unit/catch.h"
#include "tests/unit/lower/graph_maker.h"

namespace df {
namespace {

using test::Maker;

unsigned Count(const ir::Graph& graph, ir::Op op) {
  unsigned count = 0;
  for (const ir::Node& node : graph.nodes) count += node.op == op;
  return count;
}

ir::Graph Checked(const fg::Program& program, const LowerOptions& options = {}) {
  REQUIRE(fg::Verify(program) == "");
  ir::Graph graph = Transform(program, options);
  REQUIRE(ir::Verify(graph) == "");
  return graph;
}

TEST_CASE("the paper's example has the shape of its Figure 3") {
  ir::Graph graph = Checked(test::PaperExample());
  // Call 0 stands in result, Call 1 in fact; one for the parameter and one for the trigger each.
  REQUIRE(graph.sites.size() == 2);
  CHECK(graph.scopes[graph.sites[ir::SiteId(0)].caller].name == "result");
  CHECK(graph.scopes[graph.sites[ir::SiteId(1)].caller].name == "fact");
  CHECK(Count(graph, ir::Op::Call) == 4);
  CHECK(Count(graph, ir::Op::Return) == 2);
  CHECK(Count(graph, ir::Op::EntryMerge) == 2);
  CHECK(Count(graph, ir::Op::BranchMerge) == 1);
  CHECK(Count(graph, ir::Op::Switch) == 2);  // n and the trigger
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[ir::NodeId(i)].op == ir::Op::EntryMerge) CHECK(graph.InputsOf(ir::NodeId(i)).size() == 2);
}

// sum i acc = if i == 0 then acc else sum (i - 1) (acc + step), where step never changes
fg::Program Loop() {
  Maker m;
  fg::FunctionId main = m.Declare("main", {"n"});
  fg::FunctionId sum = m.Declare("sum", {"i", "acc", "step"});
  m.Begin(main);
  m.End({m.Apply(sum, {m.Param(0), m.Int(0), m.Int(2)})[0]});
  m.Begin(sum);
  m.If(m.Op(ir::Op::Eq, {m.Param(0), m.Int(0)}, ir::TypeKind::Bool));
  m.Else(m.Param(1));
  fg::Value next = m.Op(ir::Op::Sub, {m.Param(0), m.Int(1)});
  fg::Value acc = m.Op(ir::Op::Add, {m.Param(1), m.Param(2)});
  m.End({m.EndIfAgain({next, acc, m.Param(2)})});
  m.program.main = main;
  return std::move(m.program);
}

TEST_CASE("self tail calls become a loop, or calls if loops are off") {
  ir::Graph loop = Checked(Loop());
  CHECK(loop.sites.size() == 1);
  CHECK(Count(loop, ir::Op::Enter) == 4);
  CHECK(Count(loop, ir::Op::LoopMerge) == 4);
  CHECK(Count(loop, ir::Op::NextIteration) == 4);
  CHECK(Count(loop, ir::Op::Exit) == 1);
  // Merged by the branch: go on?, i, acc and the result; step goes round by itself.
  CHECK(Count(loop, ir::Op::BranchMerge) == 4);

  LowerOptions calls;
  calls.loops = false;
  ir::Graph plain = Checked(Loop(), calls);
  CHECK(plain.sites.size() == 2);
  CHECK(Count(plain, ir::Op::Enter) == 0);
  CHECK(Count(plain, ir::Op::BranchMerge) == 1);
}

TEST_CASE("a result may be an argument of the same call") {
  Maker m;
  fg::FunctionId main = m.Declare("main", {});
  fg::FunctionId f = m.Declare("f", {"x", "y"}, 2);
  m.Begin(main);
  fg::Value one = m.Int(1);
  std::vector<fg::Value> results = m.Apply(f, {one, one});
  m.function().nodes[results[0].node].operands[0] = results[0];  // let (a, b) = f a 1 in b
  m.End({results[1]});
  m.Begin(f);
  m.End({m.Param(1), m.Op(ir::Op::Add, {m.Param(0), m.Int(1)})});
  m.program.main = main;
  ir::Graph graph = Checked(m.program);
  CHECK(Count(graph, ir::Op::Return) == 2);
}

TEST_CASE("a knot through a value of an enclosing block is switched late") {
  // let (a, b) = f (if c then a else 1) 1: the branch takes what comes after it only through a call.
  Maker m;
  fg::FunctionId main = m.Declare("main", {"c"});
  fg::FunctionId g = m.Declare("g", {"x"});
  fg::FunctionId d = m.Declare("main.d", {"x"});
  m.program.functions[d].params[0].type.lazy = true;
  m.Begin(d);
  m.End({m.Op(ir::Op::Force, {m.Param(0)})});
  m.Begin(g);
  m.End({m.Param(0)});
  m.Begin(main);
  m.If(m.Op(ir::Op::Gt, {m.Param(0), m.Int(0)}, ir::TypeKind::Bool));
  fg::Value delayed = m.Delay(d, {m.Param(0)});
  m.function().nodes[delayed.node].operands[0] = delayed;  // x = x
  m.Else(m.Op(ir::Op::Force, {delayed}));
  m.End({m.EndIf(m.Apply(g, {m.Param(0)})[0])});
  m.program.main = main;
  ir::Graph graph = Checked(m.program);
  CHECK(Count(graph, ir::Op::Delay) == 1);
}

TEST_CASE("the transform is linear in the program") {
  // 2000 calls in a row, and 2000 nested branches.
  Maker m;
  fg::FunctionId main = m.Declare("main", {"n"});
  fg::FunctionId f = m.Declare("f", {"x"});
  m.Begin(f);
  m.End({m.Param(0)});
  m.Begin(main);
  fg::Value value = m.Param(0);
  for (int i = 0; i < 2000; ++i) value = m.Apply(f, {value})[0];
  for (int i = 0; i < 2000; ++i) {
    m.If(m.Op(ir::Op::Eq, {m.Param(0), m.Int(i)}, ir::TypeKind::Bool));
    m.Else(m.Param(0));
  }
  for (int i = 0; i < 2000; ++i) value = m.EndIf(i == 0 ? m.Param(0) : value);
  m.End({value});
  m.program.main = main;
  ir::Graph graph = Checked(m.program);
  CHECK(graph.nodes.size() < 20000);
}

}  // namespace
}  // namespace df
