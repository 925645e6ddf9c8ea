// A program that compiles with Pipeline lives on when a compilation is ended, and can go on with the session.
#include <thread>

#include "driver/compile_budget.h"
#include "driver/pipeline.h"
#include "tests/unit/catch.h"

namespace df {
namespace {

// A type that doubles with each definition, and no signature.
std::string TypeBomb() {
  std::string text = "x0 = \\y -> y\n";
  for (int n = 1; n < 60; ++n) text += fmt::format("x{} = (x{}, x{})\n", n, n - 1, n - 1);
  return text;
}

// A matter of memory.
std::string LongList() {
  std::string text = "xs :: [Int]\nxs = [0";
  for (int n = 1; n < 300000; ++n) text += fmt::format(", {}", n);
  return text + "]\n";
}

bool Checks(Pipeline& pipeline, const std::string& text) {
  std::optional<ast::Ast> ast = pipeline.Syntax(pipeline.Tokens("test", text));
  CheckOptions options;
  options.repl = true;
  return ast && pipeline.Check(*ast, options);
}

TEST_CASE("a compilation beyond its memory is a diagnostic, and the session goes on") {
  Pipeline pipeline;
  REQUIRE(Checks(pipeline, "data T = A | B\nclass C a where c :: a -> Int\ninfixl 6 <+>\na <+> b = a - b\n"));
  {
    CompileBudget budget({.max_memory = 1});
    CHECK_FALSE(Checks(pipeline, "instance C Int where c x = x\ninfixr 2 <+>\nt = A\n" + LongList()));
  }
  CHECK(pipeline.ended() == BudgetEnd::Memory);
  REQUIRE(pipeline.diags.error_count() == 1);
  CHECK(pipeline.diags.all().back().id == Diag::CompileLimit);
  pipeline.diags.Clear();
  pipeline.ClearEnd();
  // Neither the instance nor the names are there, and the old fixity is.
  CHECK(pipeline.session.TypeOf(Intern("t")).empty());
  CHECK(pipeline.session.TypeOf(Intern("xs")).empty());
  CHECK(Checks(pipeline, "instance C Int where c x = x + 1\ny = c (9 <+> 3 <+> 2 :: Int)\n"));
  CHECK(pipeline.session.TypeOf(Intern("y")) == "y :: Int");
}

TEST_CASE("a compilation beyond its time ends soon") {
  Pipeline pipeline;
  REQUIRE(Checks(pipeline, "z = 1\n"));
  auto began = std::chrono::steady_clock::now();
  {
    CompileBudget budget({.timeout = std::chrono::milliseconds(100)});
    std::string text = TypeBomb();
    while (pipeline.ended() == BudgetEnd::None && std::chrono::steady_clock::now() - began < std::chrono::seconds(60)) Checks(pipeline, text);
    CHECK(budget.spent() >= std::chrono::milliseconds(100));
  }
  CHECK(pipeline.ended() == BudgetEnd::Time);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
}

TEST_CASE("an interrupt ends a compilation") {
  std::atomic<bool> interrupted{true};
  Pipeline pipeline;
  REQUIRE(Checks(pipeline, "z = 1\n"));
  {
    CompileBudget budget({.interrupt = &interrupted});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    CHECK_FALSE(Checks(pipeline, "u = 2\n"));
  }
  CHECK(pipeline.ended() == BudgetEnd::Interrupted);
  pipeline.ClearEnd();
  pipeline.diags.Clear();
  CHECK(Checks(pipeline, "u = 2\n"));
}

}  // namespace
}  // namespace df
