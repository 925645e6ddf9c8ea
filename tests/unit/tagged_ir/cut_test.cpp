// Cuts of a graph: placements, channels, places of scopes in files and text, skeletons.
#include "tagged_ir/cut/cut.h"

#include "tagged_ir/cut/outline.h"
#include "tagged_ir/cut/skeleton.h"
#include "tagged_ir/file.h"
#include "tagged_ir/spread.h"
#include "tests/unit/tagged_ir/graphs.h"

using namespace df;
using namespace df::ir;
using namespace df::ir::test;

namespace {

const char* const kGraph = R"graph(tagged "t"
file "t.df"
input "n" : Int
result "" : Int
root main
function f part 1 @1:1
site 0 call main -> f
scope main {
  %0 = Start : Trigger
  %1 = Input 0 %0 : Int
  %2 = Call 0 %0 : Trigger, Trigger
  %3 = Call 0 %1 : Int
  %4 = Return 0 %8, %2.1 : Int
  %5 = Result 0 %4
}
scope f {
  %6 = EntryMerge %2 : Trigger @1:1
  %7 = EntryMerge %3 : Int @1:1
  %8 = Add %7, %9 : Int @1:9
  %9 = Const 1 %6 : Int @2:5
}
)graph";

std::string Fault(CutOptions options) {
  std::string error;
  CHECK_FALSE(MakeCut(Parsed(kGraph), options, &error).has_value());
  return error;
}

std::string BadRow(std::string_view text) {
  std::string error;
  CHECK_FALSE(ParsePlacement(text, &error).has_value());
  return error;
}

std::vector<PlacementRow> Rows(std::string_view text) {
  std::string error;
  std::optional<std::vector<PlacementRow>> rows = ParsePlacement(text, &error);
  REQUIRE(rows.has_value());
  return *rows;
}

Cut Made(CutOptions options) {
  std::string error;
  std::optional<Cut> cut = MakeCut(Parsed(kGraph), options, &error);
  INFO(error);
  REQUIRE(cut.has_value());
  return *cut;
}

std::string Replaced(std::string text, std::string_view what, std::string_view by) {
  size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("a function's part is in the text and in files") {
  Graph graph = Parsed(kGraph);
  CHECK(graph.scopes[ScopeId(1)].place == 1);
  CHECK(graph.scopes[ScopeId(0)].place == kAnywhere);
  CHECK(ToText(graph).find("function f part 1 @1:1\n") != std::string::npos);
  std::string error;
  std::optional<Graph> read = Deserialize(Serialize(graph), &error);
  REQUIRE(read.has_value());
  CHECK(ToText(*read) == ToText(graph));
  CHECK_FALSE(ParseText(Replaced(kGraph, "part 1", "part 256"), &error).has_value());
  CHECK(error.find("there are at most 256") != std::string::npos);
  CHECK_FALSE(ParseText(Replaced(kGraph, "root main", "root main part 1"), &error).has_value());
  CHECK(error.find("is on a part, and is not a function") != std::string::npos);
}

TEST_CASE("places, rows and the rule say what is on which part") {
  CHECK(Made({}).parts == 2);
  CHECK(Made({}).part == std::vector<uint32_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(Made({.parts = 3, .seed = 0, .rows = Rows("f 2\n%8 0 # back\n")}).part == std::vector<uint32_t>{0, 0, 0, 0, 0, 0, 2, 2, 0, 2});
  CHECK(Made({.parts = 2, .seed = 0, .rows = Rows("f:1 0\nmain 1\n")}).part == std::vector<uint32_t>{0, 0, 1, 1, 1, 0, 0, 0, 0, 1});
  CHECK(Made({.parts = 2, .seed = 0, .rows = Rows("f:1:9 0")}).part == std::vector<uint32_t>{0, 0, 0, 0, 0, 0, 1, 1, 0, 1});
  CHECK(Made({.parts = 4, .seed = 7, .rows = {}}).part == Made({.parts = 4, .seed = 7, .rows = {}}).part);
  // All that takes or gives an Int, but the ports of the graph.
  CHECK(Made({.parts = 4, .seed = 0, .rows = Rows("type Int 3")}).part == std::vector<uint32_t>{0, 0, 0, 3, 3, 0, 1, 3, 3, 3});
  // The rest is what neither a row nor the graph places: here main's; the last such row counts.
  CHECK(Made({.parts = 4, .seed = 0, .rows = Rows("* 1\n* 2\n%8 0")}).part == std::vector<uint32_t>{0, 0, 2, 2, 2, 0, 1, 1, 0, 1});
}

TEST_CASE("a cut for processes, and as a text for them") {
  Graph graph = Parsed(kGraph);
  std::string error;
  const Cut cut = Made({.parts = 3, .seed = 0, .rows = Rows("f 2\n%8 1")});
  CHECK(WriteCut(cut) == "3: 0*6 2*2 1 2");
  CHECK(ReadCut(graph, WriteCut(cut))->part == cut.part);
  CHECK(CutForProcesses(graph, cut, 2, &error)->part == std::vector<uint32_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 0});
  CHECK_FALSE(CutForProcesses(graph, cut, 4, &error).has_value());
  CHECK(error == "there are 4 processes, and 3 parts");
  for (const char* bad : {"", "3", "3: ", "3: 0*9", "3: 0*11", "3: 0*6 3*4", "0: 0*10", "3: 1*10", "300: 0*10", "3: 0*4294967295 0", "3: x*10", "3: 0*6 1*3 "})
    CHECK_FALSE(ReadCut(graph, bad).has_value());
}

TEST_CASE("what a placement may not say") {
  CHECK(Fault({.parts = 1, .seed = 0, .rows = {}}) == "something is placed on part 1, and there is 1 part, counted from 0");
  CHECK(Fault({.parts = 2, .seed = 0, .rows = Rows("\ng 1")}) == "line 2: there is no function `g` in the graph");
  CHECK(Fault({.parts = 2, .seed = 0, .rows = Rows("f:3 1")}) == "line 1: nothing of `f` stands at 3");
  CHECK(Fault({.parts = 2, .seed = 0, .rows = Rows("%10 1")}) == "line 1: there is no node %10");
  CHECK(Fault({.parts = 2, .seed = 0, .rows = Rows("%5 1")}) == "line 1: %5 (Result) stands on part 0, where a run begins and ends");
  CHECK(Fault({.parts = 2, .seed = 0, .rows = Rows("type Tensor Float [3] 1")}) == "line 1: nothing in the graph is of the type `Tensor Float [3]`");
  CHECK(BadRow("f").starts_with("line 1: a function"));
  CHECK(BadRow("f x").starts_with("line 1: a function"));
  CHECK(BadRow("# a\n%x 1").starts_with("line 2: a function"));
  CHECK(BadRow("f 256") == "line 1: there are at most 256 parts, counted from 0");
}

TEST_CASE("an edge goes once to each other part that takes it") {
  Graph graph = Parsed(kGraph);
  std::vector<std::string> names;
  for (const Channel& channel : ChannelsOf(graph, Made({}))) names.push_back(ChannelName(channel));
  CHECK(names == std::vector<std::string>{"%2>1", "%3>1", "%8>0"});
  CHECK(CarriesOf(graph, {NodeId(2), 0}) == Carries::Trigger);
  CHECK(CarriesOf(graph, {NodeId(2), 1}) == Carries::Control);
  CHECK(CarriesOf(graph, {NodeId(3), 0}) == Carries::Data);
}

TEST_CASE("a skeleton has what triggers go through, and knows who makes the tags of an edge") {
  Graph graph = Parsed(kGraph);
  Skeleton skeleton(graph);
  CHECK(skeleton.nodes() == std::vector<NodeId>{NodeId(0), NodeId(2), NodeId(6)});
  CHECK(skeleton.decisions().empty());
  CHECK(skeleton.MakersOf({NodeId(3), 0}) == std::vector<Edge>{{NodeId(2), 0}});  // a Call's token: the Call of the trigger
  CHECK(skeleton.MakersOf({NodeId(2), 1}) == std::vector<Edge>{{NodeId(2), 1}});
  CHECK(skeleton.MakersOf({NodeId(8), 0}) == std::vector<Edge>{{NodeId(6), 0}});  // what stands in f: its activation
  CHECK(skeleton.MakersOf({NodeId(4), 0}) == std::vector<Edge>{{NodeId(0), 0}});
}

TEST_CASE("each edge of a program of the model has what makes its tags, but where no trigger goes") {
  for (const auto& path : ModelGraphs()) {
    Graph graph = Parsed(ReadFile(path));
    Skeleton skeleton(graph);
    INFO(path.string());
    for (Edge edge : graph.inputs) {
      std::vector<Edge> makers = skeleton.MakersOf(edge);
      CHECK_FALSE(makers.empty());
      for (Edge maker : makers) CHECK((skeleton.Runs(maker.node) || graph.nodes[maker.node].op == Op::Delay));
    }
  }
}

namespace {

// The product of f is elsewhere, and hangs on a call; so does the sum behind it, on that.
const char* const kLayers = R"graph(tagged "t"
demanded
file "t.df"
input "n" : Int
result "" : Int
root main
function f @1:1
site 0 call main -> f
site 1 call f -> f
scope main {
  %0 = Start : Trigger
  %1 = Input 0 %0 : Int
  %2 = Call 0 %0 : Trigger, Trigger
  %3 = Call 0 %1 : Int
  %4 = Return 0 %19, %2.1 : Int
  %5 = Result 0 %4
}
scope f {
  %6 = EntryMerge %2, %14 : Trigger @1:1
  %7 = EntryMerge %3, %15 : Int @1:1
  %8 = Const 1 %6 : Int @1:2
  %9 = Lt %7, %8 : Bool @1:3
  %10 = Switch %9, %7 : Int, Int @1:4
  %11 = Switch %9, %6 : Trigger, Trigger
  %12 = Const 1 %11.1 : Int @1:5
  %13 = Sub %10.1, %12 : Int @1:6
  %14 = Call 1 %11.1 : Trigger, Trigger @1:7
  %15 = Call 1 %13 : Int @1:7
  %16 = Return 1 %19, %14.1 : Int @1:7
  %17 = Mul %10.1, %16 : Int @1:8
  %18 = Add %17, %13 : Int @1:9
  %19 = BranchMerge %9, %10, %18 : Int @1:4
}
)graph";

std::vector<std::string> PiecesOf(std::string_view placement) {
  Graph graph = Parsed(kLayers);
  std::string error;
  CutOptions options;
  options.rows = Rows(placement);
  REQUIRE(CutIntoCalls(graph, options, 2, &error));
  CHECK(Verify(graph) == "");
  std::vector<std::string> names;
  for (const Scope& scope : graph.scopes)
    if (IsPiece(scope)) names.push_back(scope.name);
  return names;
}

std::string NotInto(std::string_view placement) {
  Graph graph = Parsed(kLayers);
  std::string error;
  CutOptions options;
  options.rows = Rows(placement);
  CHECK_FALSE(CutIntoCalls(graph, options, 2, &error));
  return error;
}

}  // namespace

TEST_CASE("a piece is what can be computed at one moment, in one region, on one part") {
  using Names = std::vector<std::string>;
  CHECK(PiecesOf("f:1:8 1") == Names{"f#1"});
  CHECK(PiecesOf("f:1:8 1\nf:1:9 1") == Names{"f#1"});            // both when the call has given its result
  CHECK(PiecesOf("f:1:6 1\nf:1:8 1\nf:1:9 1") == Names{"f#1", "f#1.2"});  // what the call's argument is cannot wait for it
  CHECK(PiecesOf("f:1:8 1\nf:1:9 2") == Names{"f#1", "f#2"});
  CHECK(PiecesOf("f:1:3 1\nf:1:8 1") == Names{"f#1", "f#1.2"});   // the predicate is outside of the branch
  CHECK(PiecesOf("f 1").empty());
  CHECK(PiecesOf("f:1:9 3\nf:1:1 3").empty());                     // there its frames are
}

TEST_CASE("what stays with the frame of its function is named") {
  CHECK(NotInto("f:1:4 1").find("%10 (Switch) stays with the function's frame") != std::string::npos);
  CHECK(NotInto("%16 1").find("%16 (Return)") != std::string::npos);
  CHECK(NotInto("main 1") == "line 1: `main` is where a run begins and ends, in its first process");
}

TEST_CASE("programs of the model, cut anywhere, are well formed graphs of calls") {
  for (const auto& path : ModelGraphs())
    for (uint64_t seed : {1, 2, 3}) {
      Graph graph = Parsed(ReadFile(path));
      std::string error;
      CutOptions options;
      options.parts = 3;
      options.seed = seed;
      INFO(path.string());
      CHECK(CutIntoCalls(graph, options, 3, &error));
      CHECK(Verify(graph) == "");
    }
}
