// The text form: printed, read back, printed again.

#include "tests/unit/tagged_ir/graphs.h"

using namespace df;
using namespace df::ir;
using namespace df::ir::test;

TEST_CASE("each program of the model is a valid graph, and its text reads back") {
  auto paths = ModelGraphs();
  REQUIRE(paths.size() >= 60);
  for (const auto& path : paths) {
    INFO(path.filename().string());
    Graph graph = Parsed(ReadFile(path));
    std::string text = ToText(graph);
    CHECK(ToText(Parsed(text)) == text);
  }
}

TEST_CASE("text keeps what a graph holds") {
  const std::string text = R"graph(tagged "a \"name\"\n"
file "a.df"
file "b.df"
data "(Int, Bool)" = "(,)" (lazy Int) (Bool)
data "Int" = Nil | Cons (head: strict Char) (lazy "Int") | "lazy"
input "n" : Int
result "" : Double
result "ü" : lazy Unit
root main
function fact in main @1:1
function "=<<" @1:7:3 in g at @1:2 at @0:0 in ""
site 0 call main -> fact @2:10
site 1 delay main -> "=<<" "not \x01 needed" @2:11 in h at @3:1
scope main {
  %0 = Start : Trigger
  %1 = Input 0 %0 : Int @1:1
  %2 = Const 0x7ff8000000000001 %0 : Double @1:2 given ( @2:2 in k at @0:0 giver at 2 ) at @3:3 in h at @4:4
  %3 = Const -inf %0 : Double @1:2 given ( 1 ) at @3:3 given ( @5:5 given ( @6:6 at 1 ) at @7:7 )
  %4 = Const 0.1 %0 : Float
  %5 = Const '\u{10ffff}' %0 : Char
  %6 = Const '\u{27}' %0 : Char
  %7 = Const "\\ \" \n é" %0 : Text
  %8 = Const -123456789012345678901234567890 %0 : Integer
  %9 = Const () %0 : Unit
  %10 = Const True %0 : Bool
  %11 = Construct "(,)" %0, %1, %10 : "(Int, Bool)"
  %12 = Field "(,)" 0 %11 : lazy Int
  %13 = Fail 1 %7 : Double
  %14 = Const 1e+300 %0 : Double
  %15 = Call 0 %0 : Trigger, Trigger
  %16 = Delay 1 %0, %12 : lazy Unit, Trigger, lazy Int
  %19 = Result 0 %3
  %20 = Result 1 %16
  %22 = Return 1 %18
}
scope fact {
  %17 = EntryMerge %15 : Trigger
}
scope "=<<" {
  %18 = Const () %21 : Unit
  %21 = EntryMerge %16.1 : Trigger
}
)graph";
  CHECK(ToText(Parsed(text)) == text);
}

TEST_CASE("names of nodes may be words") {
  Graph graph = Parsed(R"graph(tagged "x"
result "" : Int
root main
scope main {
  %start = Start : Trigger -- a comment
  %r = Result 0 %five
  %five = Const 5 %start : Int
})graph");
  CHECK(graph.nodes.size() == 3);
  CHECK(graph.nodes[NodeId(1)].op == Op::Result);
}

TEST_CASE("one scope and its loops can be printed alone") {
  Graph graph = Parsed(ReadFile(std::filesystem::path(DFC_MODEL_DIR) / "loop_in_rec.tagged"));
  PrintOptions options;
  options.only = "f~0";
  std::string text = ToText(graph, options);
  CHECK(text.find("scope f~0 {") != std::string::npos);
  CHECK(text.find("scope L1 {") != std::string::npos);
  CHECK(text.find("scope root {") == std::string::npos);
}

TEST_CASE("what is wrong in a text is named with its line") {
  auto fault = [](const std::string& text) {
    std::string error;
    CHECK_FALSE(ParseText(text, &error).has_value());
    return error;
  };
  CHECK(fault("") == "line 1: `tagged` expected");
  CHECK(fault("tagged \"x\"\nroot main\nresult \"\" : Foo\n") == "line 3: no type `Foo`");
  CHECK(fault("tagged \"x\"\nroot main\nroot main\n") == "line 3: scope `main` is declared twice");
  CHECK(fault("tagged \"x\"\nroot main\nscope main {\n%0 = Bar\n}") == "line 4: no op `Bar`");
  CHECK(fault("tagged \"x\"\nroot main\nscope main {\n%0 = Start : Trigger\n%1 = Neg %7 : Int }") ==
        "line 5: no node `%7`");
  CHECK(fault("tagged \"x\"\nroot main\nscope main {\n%0 = Start : Trigger\n%1 = Const 3x %0 : Int }") ==
        "line 5: `3x` is not a Int");
  const std::string place = "tagged \"x\"\nroot main\nscope main {\n%0 = Start : Trigger @1:1 ";
  CHECK(fault(place + "given ( 1 )\n}") == "line 5: no place 1 to go on with");
  CHECK(fault(place + "given ( @2:2 at 2 ) at @3:3\n}") == "line 5: no place 2 to go on with");
  CHECK(fault(place + "given @2:2\n}") == "line 4: `(` expected");
  std::string nested;
  for (int i = 0; i < 200; ++i) nested += "given ( @1:1 ";
  CHECK(fault(place + nested) == "line 4: positions are nested too deep");
  CHECK(fault("tagged \"x") == "line 1: a quotation mark is missing");
  CHECK(fault("tagged \"x\"\nroot main\nscope main {\n%0 = Start : Trigger\n}") == "the graph has no result");
}

TEST_CASE("broken texts are refused, not crashed on") {
  std::string text = ReadFile(std::filesystem::path(DFC_MODEL_DIR) / "fibs.tagged");
  uint32_t random = 1;
  std::string error;
  for (int i = 0; i < 2000; ++i) {
    std::string broken = text;
    for (int k = 0; k < 3; ++k) {
      random = random * 1664525 + 1013904223;
      size_t at = (random >> 8) % broken.size();
      if (random & 1)
        broken[at] = static_cast<char>(random >> 24);
      else
        broken.erase(at, (random >> 4) % 8);
    }
    if (auto graph = ParseText(broken, &error)) CHECK(Verify(*graph).empty());
  }
}
