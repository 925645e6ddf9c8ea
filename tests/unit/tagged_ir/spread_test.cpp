// Marks of what several processes may compute in pieces: where they may stand, that they are kept, and what follows from them.
#include "tagged_ir/spread.h"

#include "llvm/ADT/StringRef.h"
#include "tagged_ir/file.h"
#include "tests/unit/tagged_ir/graphs.h"

using namespace df;
using namespace df::ir;
using namespace df::ir::test;

namespace {

const char* const kGraph = R"graph(tagged "t"
data "[Int]" = "[]" | ":" (lazy Int) (lazy "[Int]")
input "n" : Int
result "" : "[Int]"
root main
function pieces spread
site 0 call main -> pieces
scope main {
  %s = Start : Trigger
  %n = Input 0 %s : Int
  %zero = Const 0 %s : Int
  %t = Call 0 %s : Trigger, Trigger
  %c = Call 0 %n : Int
  %from = Call 0 %zero : Int
  %to = Call 0 %n : Int
  %r = Return 0 %cons, %t.1 : "[Int]"
  %res = Result 0 %r
}
scope pieces {
  %trigger = EntryMerge %t : Trigger
  %x = EntryMerge %c : Int
  %lo = EntryMerge %from : Int
  %hi = EntryMerge %to : Int
  %sum = Add %lo, %hi : Int
  %nil = Construct "[]" %trigger : "[Int]"
  %cons = Construct ":" %trigger, %sum, %nil : "[Int]"
}
)graph";

std::string Changed(llvm::StringRef what, llvm::StringRef by) {
  std::string text = kGraph;
  size_t at = text.find(what.str());
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by.str());
}

std::string Fault(const std::string& text) {
  std::string error;
  CHECK_FALSE(ParseText(text, &error).has_value());
  return error;
}

}  // namespace

TEST_CASE("the spine runs everywhere if there is something to share") {
  Graph marked = Parsed(kGraph);
  CHECK(CountSpreadCalls(marked) == 1);
  CHECK(SpineOf(marked) == Spine::Everywhere);
  Graph plain = Parsed(Changed("pieces spread", "pieces"));
  CHECK(CountSpreadCalls(plain) == 0);
  CHECK(SpineOf(plain) == Spine::Root);
}

TEST_CASE("the spine runs at the root if only the root can read what the program reads") {
  Graph graph = Parsed(kGraph);
  graph.graph_inputs[0].name = "<stdin>";
  CHECK(SpineOf(graph) == Spine::Root);
  graph.graph_inputs[0].name = "<args>";
  CHECK(SpineOf(graph) == Spine::Everywhere);
}

TEST_CASE("a mark is in the text and in the file") {
  Graph graph = Parsed(kGraph);
  CHECK(llvm::StringRef(ToText(graph)).contains("function pieces spread\n"));
  std::string error;
  std::optional<Graph> read = Deserialize(Serialize(graph), &error);
  INFO(error);
  REQUIRE(read.has_value());
  CHECK(ToText(*read) == ToText(graph));
  CHECK(CountSpreadCalls(*read) == 1);
}

TEST_CASE("a mark stands on a function whose last parameters say which pieces, and which gives a list") {
  CHECK(Fault(Changed("root main", "root main spread")).find("scope `main` is spread, and is not a function") != std::string::npos);
  std::string lazy = Changed("%hi = EntryMerge %to : Int", "%hi0 = EntryMerge %to : lazy Int\n  %hi = Force %hi0 : Int");
  CHECK(Fault(lazy.replace(lazy.find("%to = Call 0 %n : Int"), 21, "%to = Call 0 %n : lazy Int")).find("last two parameters are not the Ints") != std::string::npos);
  Graph graph = Parsed(kGraph);
  for (Scope& scope : graph.scopes) scope.spread = scope.kind == ScopeKind::Function;
  CHECK(Verify(graph).empty());
  // The list's type gets another name for its constructors.
  for (uint32_t i = 0; i < graph.types.size(); ++i)
    if (graph.types[TypeId(i)].name == "[Int]") graph.types[TypeId(i)].constructors[1].name = "Cons";
  CHECK(Verify(graph).find("`pieces` is spread, and has to give a list and nothing else") != std::string::npos);
}

TEST_CASE("pieces that are there can be given in a Maybe of the list, and in nothing else") {
  Graph graph = Parsed(Changed("input \"n\"", "data \"Given\" = \"None\" | \"Some\" (lazy \"[Int]\")\ndata \"Other\" = \"One\" (Int) | \"Two\"\ninput \"n\""));
  const PortType list{graph.types.Find("[Int]")}, given{graph.types.Find("Given")}, other{graph.types.Find("Other")};
  CHECK(GivenPieces(graph.types, given, list) == 1u);
  CHECK_FALSE(GivenPieces(graph.types, other, list).has_value());
  CHECK_FALSE(GivenPieces(graph.types, list, list).has_value());
  CHECK_FALSE(GivenPieces(graph.types, {given.type, true}, list).has_value());
  CHECK_FALSE(GivenPieces(graph.types, {graph.types.Builtin(TypeKind::Int)}, list).has_value());
}
