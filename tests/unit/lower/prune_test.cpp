#include "lower/graph/prune.h"
#include "tests/unit/catch.h"
#include "tests/unit/lower/graph_maker.h"

namespace df {
namespace {

using test::Maker;

std::string Dumped(const fg::Program& program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  fg::Dump(program, out);
  return text;
}

TEST_CASE("results that no caller needs go, and the parameters that only they needed") {
  Maker m;
  fg::FunctionId main = m.Declare("main", {});
  fg::FunctionId f = m.Declare("f", {"x", "y"}, 2);
  m.Begin(main);
  m.End({m.Apply(f, {m.Int(1), m.Int(2)})[1]});
  m.Begin(f);
  m.End({m.Op(ir::Op::Neg, {m.Param(0)}), m.Op(ir::Op::Add, {m.Param(1), m.Int(1)})});
  m.program.main = main;
  fg::Prune(m.program, true);
  REQUIRE(fg::Verify(m.program) == "");
  CHECK(Dumped(m.program) ==
        "function main() -> Int {\n"
        "  %0 = Const 2 : Int\n"
        "  %1 = Apply f(%0) : Int\n"
        "  yield %1\n"
        "}\n\n"
        "function f(y: Int) -> Int {\n"
        "  %0 = Const 1 : Int\n"
        "  %1 = Add %y, %0 : Int\n"
        "  yield %1\n"
        "}\n");
}

TEST_CASE("a loop variable that only itself needs goes") {
  Maker m;
  fg::FunctionId main = m.Declare("main", {"n"});
  fg::FunctionId f = m.Declare("f", {"i", "unused"});
  m.Begin(main);
  m.End({m.Apply(f, {m.Param(0), m.Int(0)})[0]});
  m.Begin(f);
  m.If(m.Op(ir::Op::Eq, {m.Param(0), m.Int(0)}, ir::TypeKind::Bool));
  m.Else(m.Param(0));
  fg::Value next = m.Op(ir::Op::Sub, {m.Param(0), m.Int(1)});
  m.End({m.EndIfAgain({next, m.Op(ir::Op::Add, {m.Param(1), m.Int(1)})})});
  m.program.main = main;
  fg::Prune(m.program, true);
  REQUIRE(fg::Verify(m.program) == "");
  CHECK(Dumped(m.program).find("unused") == std::string::npos);
  CHECK(Dumped(m.program).find("again %") != std::string::npos);
}

TEST_CASE("within functions only, parameters and results stay") {
  Maker m;
  fg::FunctionId main = m.Declare("main", {});
  fg::FunctionId f = m.Declare("f", {"x", "y"}, 2);
  m.Begin(main);
  m.Int(7);
  m.End({m.Apply(f, {m.Int(1), m.Int(2)})[1]});
  m.Begin(f);
  m.End({m.Param(0), m.Param(1)});
  m.program.main = main;
  fg::Prune(m.program, false);
  REQUIRE(fg::Verify(m.program) == "");
  CHECK(m.program.functions[f].params.size() == 2);
  CHECK(m.program.functions[f].results.size() == 2);
  CHECK(Dumped(m.program).find("Const 7") == std::string::npos);
}

}  // namespace
}  // namespace df
