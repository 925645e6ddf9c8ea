// Errors as text, with the calls that led to them.
#include "runtime/text/describe.h"

#include <algorithm>

#include "runtime/engines/engines.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/graphs.h"

using namespace df;
using namespace df::test;

TEST_CASE("an error names its place and the calls that led to it") {
  ir::Graph graph = FactGraph(4, 0);
  auto execution = MakeReferenceExecution(graph, {});
  REQUIRE(execution->Start({}).ok());
  Value result = execution->results()[0];
  Outcome outcome = execution->Force(result);
  CHECK(outcome.stop == Stop::Failed);
  CHECK(outcome.error.code == ErrorCode::DivideByZero);
  CHECK(Describe(outcome.error, graph) ==
        "error: divide by zero\n"
        "  at test.df:2:21 in `fact`\n"
        "  called at test.df:3:30 in `fact`\n"
        "  called at test.df:3:30 in `fact`\n"
        "  called at test.df:3:30 in `fact`\n"
        "  called at test.df:9:8 in `main`");
}

TEST_CASE("a long call path is shortened in its middle") {
  ir::Graph graph = FactGraph(10000, 0);
  auto execution = MakeReferenceExecution(graph, {});
  REQUIRE(execution->Start({}).ok());
  Value result = execution->results()[0];
  Outcome outcome = execution->Force(result);
  CHECK(outcome.error.path_length == 10000);
  CHECK(outcome.error.path.size() < 100);
  std::string text = Describe(outcome.error, graph);
  CHECK(std::count(text.begin(), text.end(), '\n') == 21);
  CHECK(text.find("\n  ... 9,981 more calls ...\n  called at test.df:3:30 in `fact`\n") != std::string::npos);
  CHECK(text.ends_with("\n  called at test.df:9:8 in `main`"));
}

TEST_CASE("calls that were inlined away, delays and loops are part of the path") {
  Builder b;
  ir::ScopeId f = b.graph.scopes.Add({ir::ScopeKind::Function, "f", {}, {}});
  ir::ScopeId loop = b.graph.scopes.Add({ir::ScopeKind::Loop, "f.loop", f, {}});
  ir::SiteId site = b.graph.sites.Add({ir::SiteKind::Delay, b.root, f, b.At(8, 2, "main"), "never needed"});
  RuntimeError error;
  error.message = "boom";
  error.pos = b.At(3, 4, "g", b.At(5, 6, "f"));
  PathEntry in_loop, call;
  in_loop.loop = loop;
  in_loop.iteration = 1200;
  call.site = site;
  error.path = {in_loop, call};
  error.path_length = 2;
  CHECK(Describe(error, b.graph) ==
        "error: boom\n"
        "  at test.df:3:4 in `g`\n"
        "  called at test.df:5:6 in `f`\n"
        "  after 1,200 tail calls in `f`\n"
        "  called at test.df:8:2 in `main`");
}

TEST_CASE("a run that is ended in a function that stands in no source is where that was called") {
  Builder b;
  ir::ScopeId add = b.graph.scopes.Add({ir::ScopeKind::Function, "add Cotangent Tree", {}, {}});
  ir::SiteId inner = b.graph.sites.Add({ir::SiteKind::Call, add, add, {}, ""});
  ir::SiteId outer = b.graph.sites.Add({ir::SiteKind::Call, b.root, add, b.At(8, 2, "main"), ""});
  RuntimeError error;
  error.message = "interrupted";
  PathEntry again, call;
  again.site = inner;
  call.site = outer;
  error.path = {again, call};
  error.path_length = 2;
  CHECK(Describe(error, b.graph) == "error: interrupted\n  at test.df:8:2 in `main`");
}
