// What Verify refuses: one valid graph, one change at a time, and the message that names it.

#include "tests/unit/tagged_ir/graphs.h"

using namespace df;
using namespace df::ir;
using namespace df::ir::test;

namespace {

// A call in a loop, a delayed sum, a data type and its match: one of each rule.
const char* const kGraph = R"graph(tagged "t"
file "t.df"
data List = Nil | Cons (lazy Int) (strict List)
input "n" : Int
result "" : Int
result "" : lazy Int
root main
function f
function late in g
function g @1:1 in f at @2:2
loop g.loop in g
site 0 call main -> f
site 1 call g.loop -> f @3:3
site 2 delay g -> late "may not be needed"
site 3 call main -> g
scope main {
  %start = Start : Trigger
  %n = Input 0 %start : Int
  %t0 = Call 0 %start : Trigger, Trigger
  %c0 = Call 0 %n : Int
  %r0 = Return 0 %sum, %t0.1 : Int
  %t3 = Call 3 %start : Trigger, Trigger
  %c3 = Call 3 %n : Int
  %r3 = Return 3 %out, %t3.1 : Int
  %nil = Construct Nil %start : List
  %cons = Construct Cons %start, %n, %nil : List
  %alt = Match %cons : Alt
  %sides = Switch %alt, %cons : List, List
  %ts = Switch %alt, %start : Trigger, Trigger
  %zero = Const 0 %ts : Int
  %head = Field Cons 0 %sides.1 : lazy Int
  %merge = BranchMerge %alt, %zero, %head : lazy Int
  %both = Add %r0, %r3 : Int
  %res0 = Result 0 %both
  %res1 = Result 1 %merge
}
scope f {
  %tf = EntryMerge %t0, %t1 : Trigger
  %x = EntryMerge %c0, %c1 : Int
  %one = Const 1 %tf : Int
  %sum = Add %x, %one : Int
}
scope late {
  %tl = EntryMerge %d.1 : Trigger
  %a = EntryMerge %d.2 : Int
  %m = Outer g %tl, %y : Int
  %lsum = Add %a, %m : Int
}
scope g {
  %tg = EntryMerge %t3 : Trigger
  %y = EntryMerge %c3 : Int
  %d = Delay 2 %tg, %y : lazy Int, Trigger, Int
  %cell = Return 2 %lsum
  %v = Force %d : Int
  %et = Enter g.loop %tg : Trigger, Trigger
  %ei = Enter g.loop %v : Int
  %out = Exit g.loop %p, %i, %et.1 : Int
}
scope g.loop {
  %lt = LoopMerge %et, %nt : Trigger
  %i = LoopMerge %ei, %ni : Int
  %ten = Const 10 %lt : Int
  %p = Lt %i, %ten : Bool
  %cont = Switch %p, %i : Int, Int
  %tcont = Switch %p, %lt : Trigger, Trigger
  %t1 = Call 1 %tcont : Trigger, Trigger
  %c1 = Call 1 %cont : Int
  %r1 = Return 1 %sum, %t1.1 : Int
  %ni = NextIteration g.loop %r1, %p : Int
  %nt = NextIteration g.loop %tcont, %p : Trigger
}
)graph";

std::string Fault(const std::string& text) {
  std::string error;
  std::optional<Graph> graph = ParseText(text, &error);
  return graph ? "" : error;
}

// The fault after one change; node numbers, which depend on the order of the text, are left out.
std::string FaultAfter(const std::string& from, const std::string& to, std::string text = kGraph) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(from, at + 1) == std::string::npos);
  text.replace(at, from.size(), to);
  std::string fault = Fault(text), out;
  for (size_t i = 0; i < fault.size(); ++i) {
    out += fault[i];
    if (llvm::StringRef(out).ends_with("node "))
      while (i + 1 < fault.size() && ((fault[i + 1] >= '0' && fault[i + 1] <= '9') || fault[i + 1] == ' '))
        ++i;
  }
  return out;
}

}  // namespace

TEST_CASE("the graph of these tests is valid") { CHECK(Fault(kGraph) == ""); }

TEST_CASE("signatures") {
  CHECK(FaultAfter("%sum = Add %x, %one : Int", "%sum = Add %x : Int") ==
        "node (Add): 1 operands, want `num, num -> num`");
  CHECK(FaultAfter("%sum = Add %x, %one : Int", "%sum = Add %x, %one : Int, Int") ==
        "node (Add): 2 results, want `num, num -> num`");
  CHECK(FaultAfter("%one = Const 1 %tf : Int", "%one = Const 1 %tf : Integer") ==
        "node (Add): operand 1 is a Integer, others are Int");
  CHECK(FaultAfter("%one = Const 1 %tf : Int", "%one = Const 'c' %tf : Char") ==
        "node (Add): operand 1 is a Char, want a number type");
  CHECK(FaultAfter("%v = Force %d : Int", "%v = Neg %d : Int") ==
        "node (Neg): operand 0 may be a reference, and has to be a value");
  CHECK(FaultAfter("BranchMerge %alt, %zero, %head : lazy Int", "BranchMerge %alt, %zero, %head : Int") ==
        "node (BranchMerge): result 0 may be a reference, and its type Int is not lazy");
  CHECK(
      FaultAfter("%both = Add %r0, %r3 : Int", "%both = Add %r0, %r3 : Int\n%l = Lt %r0, %r3 : lazy Bool") ==
      "node (Lt): result 0 cannot be a reference");
  CHECK(FaultAfter("%sum = Add %x, %one", "%sum = Add %x.1, %one") ==
        "node (Add): operand 0 is result 1 of node (EntryMerge), which has 1");
}

TEST_CASE("data types, constructors and fields") {
  CHECK(FaultAfter("Construct Cons %start, %n, %nil", "Construct Cons %start, %n") ==
        "node (Construct): 1 operands; `Cons` has 2 fields");
  CHECK(FaultAfter("Construct Cons %start, %n, %nil", "Construct Cons %start, %nil, %nil") ==
        "node (Construct): operand 1 is a List, but field 0 of `Cons` is a lazy Int");
  CHECK(FaultAfter("Field Cons 0 %sides.1 : lazy Int", "Field Cons 2 %sides.1 : lazy Int") ==
        "node (Field): `Cons` has no field 2");
  CHECK(FaultAfter("%head = Field Cons 0 %sides.1 : lazy Int", "%head = Field Cons 0 %sides.1 : lazy Bool") ==
        "node (Field): a lazy Bool, but field 0 of `Cons` is a lazy Int");
  // The promise that a field was evaluated: for what is checked when it is read.
  CHECK(FaultAfter("%head = Field Cons 0 %sides.1 : lazy Int", "%head = Field Cons 0 %sides.1 : Int") == "");
  CHECK(FaultAfter("(strict List)", "(strict lazy List)") ==
        "constructor `Cons`, field 1: both strict and lazy");
  CHECK(FaultAfter("= Nil | Cons", "= Nil | Nil | Cons") == "type `List`: two constructors are named `Nil`");
  CHECK(FaultAfter("(lazy Int)", "(Trigger)") == "constructor `Cons`, field 0: a Trigger cannot be held");
}

TEST_CASE("alternatives") {
  CHECK(FaultAfter("%ts = Switch %alt, %start : Trigger, Trigger", "%ts = Switch %alt, %start : Trigger") ==
        "node (Switch): 1 sides; node (Match) has 2 alternatives");
  CHECK(FaultAfter("BranchMerge %alt, %zero, %head", "BranchMerge %alt, %zero, %zero, %head") ==
        "node (BranchMerge): 3 sides; node (Match) has 2 alternatives");
  CHECK(FaultAfter("%cont = Switch %p, %i : Int, Int", "%cont = Switch %p, %i : Int, Int, Int") ==
        "node (Switch): 3 sides; a Bool has two alternatives");
  CHECK(FaultAfter("%alt = Match %cons : Alt", "%alt = Dead %start : Alt") ==
        "node (Switch): its predicate comes from no Match");
}

TEST_CASE("scopes of both ends of an edge") {
  CHECK(FaultAfter("Add %r0, %r3", "Add %r0, %sum") ==
        "node (Add): operand 1, result 0 of node (Add), comes from `f`, not from `main`");
  CHECK(FaultAfter("Return 0 %sum, %t0.1", "Return 0 %y, %t0.1") ==
        "node (Return): operand 0, result 0 of node (EntryMerge), comes from `g`, not from `f`");
  CHECK(FaultAfter("Outer g %tl, %y", "Outer main %tl, %n") ==
        "node (Outer): `main` does not enclose `late`");
  CHECK(FaultAfter("Outer g %tl, %y", "Outer late %tl, %a") ==
        "node (Outer): `late` does not enclose `late`");
  CHECK(FaultAfter("Outer g %tl, %y", "Outer g %tl, %n") ==
        "node (Outer): operand 1, result 0 of node (Input), comes from `main`, not from `g`");
  CHECK(FaultAfter("site 0 call main -> f", "site 0 call g -> f") ==
        "node (Call): stands in `main`; site 0 is in `g`");
  CHECK(FaultAfter("function late in g", "function late in late") == "scope `late` is its own ancestor");
  CHECK(FaultAfter("site 2 delay g -> late", "site 2 delay main -> late") ==
        "site 2: `late` is called from `main`, outside of `g`, which it may refer to");
  CHECK(FaultAfter("site 3 call main -> g", "site 3 call main -> g.loop") ==
        "site 3: `g.loop` is not a function");
  CHECK(FaultAfter("NextIteration g.loop %r1, %p", "NextIteration main %r1, %p") ==
        "node (NextIteration): scope 0 is not a loop");
}

TEST_CASE("calls, delays and returns") {
  CHECK(FaultAfter("%x = EntryMerge %c0, %c1", "%x = EntryMerge %c0") ==
        "node (EntryMerge): 1 of the 2 sites that enter `f` deliver this parameter");
  CHECK(FaultAfter("%x = EntryMerge %c0, %c1", "%x = EntryMerge %c0, %c1, %c1") ==
        "node (EntryMerge): operand 2, result 0 of node (Call), goes to another merge too");
  CHECK(FaultAfter("%c1 = Call 1 %cont : Int", "%c1 = Call 1 %cont : Int\n%c2 = Call 1 %cont : Int") == "");
  std::string twice = kGraph;
  twice.insert(twice.find("  %r1 = Return 1"), "  %c2 = Call 1 %cont : Int\n");
  CHECK(FaultAfter("%x = EntryMerge %c0, %c1", "%x = EntryMerge %c0, %c1, %c2", twice) ==
        "node (EntryMerge): site 1 delivers this parameter twice");
  CHECK(FaultAfter("%sum = Add %x, %one", "%x2 = EntryMerge %c0, %c1 : Int\n%sum = Add %x, %x2") ==
        "node (EntryMerge): operand 0, result 0 of node (Call), goes to another merge too");
  CHECK(FaultAfter("%x = EntryMerge %c0, %c1", "%x = EntryMerge %c0, %sum") ==
        "node (EntryMerge): operand 1 cannot be result 0 of node (Add)");
  CHECK(FaultAfter("%sum = Add %x, %one", "%sum = Add %c0, %one") ==
        "node (Add): operand 0 cannot be result 0 of node (Call)");
  CHECK(FaultAfter("Return 0 %sum, %t0.1", "Return 0 %sum, %t3.1") ==
        "node (Return): operand 1 cannot be result 1 of node (Call)");
  CHECK(FaultAfter("Return 0 %sum, %t0.1", "Return 0 %sum, %start") ==
        "node (Return): operand 1 cannot be result 0 of node (Start)");
  CHECK(FaultAfter("%t0 = Call 0 %start : Trigger, Trigger",
                   "%t0 = Call 0 %start : Trigger, Trigger\n"
                   "%t00 = Call 0 %start : Trigger, Trigger") ==
        "node (Call): site 0 has a Call of its trigger already, node (Call)");
  CHECK(FaultAfter("%c0 = Call 0 %n : Int", "%c0 = Call 0 %n : Int, Trigger") ==
        "node (Call): 2 results; the trigger's Call, and no other, has a control edge");
  CHECK(FaultAfter("  %cell = Return 2 %lsum\n", "") == "site 2: no Return that fills its reference");
  CHECK(FaultAfter("%cell = Return 2 %lsum", "%cell = Return 2 %lsum\n%cell2 = Return 2 %lsum") ==
        "node (Return): site 2 is returned already, by node (Return)");
  CHECK(FaultAfter("%cell = Return 2 %lsum", "%cell = Return 2 %tl") ==
        "node (Return): a Trigger is not returned");
  CHECK(FaultAfter("%d = Delay 2 %tg, %y : lazy Int, Trigger, Int",
                   "%d = Delay 2 %tg, %y : Int, Trigger, Int") ==
        "node (Delay): result 0 is a reference, and its type Int is not lazy");
  CHECK(FaultAfter("site 2 delay g -> late \"may not be needed\"", "site 2 call g -> late") ==
        "node (Delay): site 2 is a call");
  CHECK(FaultAfter("%tl = EntryMerge %d.1 : Trigger",
                   "%tl = EntryMerge %d.1 : Trigger\n%tl2 = EntryMerge : Trigger") ==
        "node (EntryMerge): `late` has a trigger already, node (EntryMerge)");
  CHECK(FaultAfter("site 3 call main -> g", "site 3 call main -> g\nsite 4 call main -> late") ==
        "site 4: `late` is called from `main`, outside of `g`, which it may refer to");
  CHECK(FaultAfter("site 3 call main -> g", "site 3 call main -> g\nsite 4 call g -> late") ==
        "node (EntryMerge): 1 of the 2 sites that enter `late` deliver this parameter");
}

TEST_CASE("loops") {
  CHECK(FaultAfter("LoopMerge %ei, %ni", "LoopMerge %ni, %ei") ==
        "node (LoopMerge): operand 0 cannot be result 0 of node (NextIteration)");
  CHECK(FaultAfter("Exit g.loop %p, %i, %et.1", "Exit g.loop %p2, %i, %et.1").find("no node `%p2`") !=
        std::string::npos);
  CHECK(FaultAfter("%p = Lt %i, %ten : Bool",
                   "%p = Lt %i, %ten : Bool\n%p2 = Not %p : Bool\n"
                   "%n2 = NextIteration g.loop %i, %p2 : Int") ==
        "node (NextIteration): its predicate is not that of node (Exit); a loop has one");
  CHECK(FaultAfter("Exit g.loop %p, %i, %et.1", "Exit g.loop %p, %i, %tg") ==
        "node (Exit): operand 2 cannot be result 0 of node (EntryMerge)");
  CHECK(FaultAfter("loop g.loop in g", "loop g.loop in g\nloop idle in g") ==
        "loop `idle` is never entered by a trigger");
  CHECK(FaultAfter("loop g.loop in g", "loop g.loop in f") ==
        "node (Enter): stands in `g`, not around its loop `g.loop`");
}

TEST_CASE("what can never fire") {
  CHECK(FaultAfter("%sum = Add %x, %one", "%sum = Add %sum, %one") ==
        "node (Add): waits for its own result, by way of operand 0 of node (Add)");
  CHECK(FaultAfter("%tcont = Switch %p, %lt", "%tcont = Switch %q, %lt").find("no node") !=
        std::string::npos);
  // A knot through a reference is fine.
  CHECK(FaultAfter("%d = Delay 2 %tg, %y : lazy Int, Trigger, Int",
                   "%d = Delay 2 %tg, %v : lazy Int, Trigger, Int") == "");
}

TEST_CASE("branches") {
  CHECK(FaultAfter("BranchMerge %alt, %zero, %head", "BranchMerge %alt, %head, %zero") ==
        "node (BranchMerge): operand 1 comes from side 1 of its predicate");
  CHECK(FaultAfter("%zero = Const 0 %ts : Int", "%zero = Const 0 %ts.1 : Int") ==
        "node (BranchMerge): operand 1 comes from side 1 of its predicate");
  CHECK(FaultAfter("Result 1 %merge", "Result 1 %head") ==
        "node (Result): operand 0 is there only if a branch is taken");
  CHECK(FaultAfter("%zero = Const 0 %ts : Int",
                   "%zero = Const 0 %ts : Int\n%f = Force %head : Int\n%mix = Add %zero, %f : Int") ==
        "node (Add): operand 1 comes from another side of a branch than those before it");
  CHECK(FaultAfter("%sum = Add %x, %one : Int",
                   "%p0 = Eq %x, %one : Bool\n%sides0 = Switch %p0, %x : Int, Int\n"
                   "%sum = Add %sides0, %one : Int") ==
        "node (Return): operand 0 is there only if a branch is taken");
}

TEST_CASE("inputs, results and the start") {
  CHECK(FaultAfter("  %res1 = Result 1 %merge\n", "") == "nothing gives result 1");
  CHECK(FaultAfter("Result 1 %merge", "Result 0 %both") ==
        "node (Result): there is one already, node (Result)");
  CHECK(FaultAfter("Result 1 %merge", "Result 2 %merge") == "node (Result): no result 2");
  CHECK(FaultAfter("Result 0 %both", "Result 0 %merge") ==
        "node (Result): a lazy Int, but result 0 is a Int");
  CHECK(FaultAfter("Input 0 %start", "Input 1 %start") == "node (Input): no input 1");
  CHECK(FaultAfter("input \"n\" : Int", "input \"n\" : Char") ==
        "node (Input): a Int, but input 0 is a Char");
  CHECK(FaultAfter("input \"n\" : Int", "input \"%n\" : Int") == "input 0: `%n` is not a name");
  CHECK(FaultAfter("%nil = ", "%s2 = Start : Trigger\n%nil = ") ==
        "node (Start): there is one already, node (Start)");
  CHECK(FaultAfter("%one = Const 1 %tf : Int", "%one = Input 0 %tf : Int") ==
        "node (Input): stands in `f`, and not in the root");
}

TEST_CASE("positions") { CHECK(FaultAfter("@3:3", "@7:3:3") == "position 2: no file 7"); }

TEST_CASE("tables that no text can express") {
  Graph graph = Parsed(kGraph);
  SECTION("a position inlined into itself") {
    graph.positions[PosId(0)].inlined_at = PosId(1);
    graph.positions[PosId(1)].inlined_at = PosId(0);
    CHECK(Verify(graph) == "position 0 is inlined into itself");
  }
  SECTION("a position given what is given it") {
    graph.positions[PosId(0)].given = PosId(1);
    graph.positions[PosId(1)].inlined_at = PosId(0);
    CHECK(Verify(graph) == "position 0 is inlined into itself");
  }
  SECTION("a giver that is a place") {
    graph.positions[PosId(0)].giver = true;
    CHECK(Verify(graph) == "position 0: a giver is no place");
  }
  SECTION("a position given one that does not exist") {
    graph.positions[PosId(0)].given = PosId(1000);
    CHECK(Verify(graph) == "position 0: given the result at position 1000, which does not exist");
  }
  SECTION("handles out of range") {
    graph.nodes[NodeId(3)].first_input = UINT32_MAX;
    CHECK(Verify(graph) == "node 3 (Call): its operands are out of range");
  }
  SECTION("an operand that was never set") {
    graph.inputs[graph.nodes[NodeId(1)].first_input] = Edge{};
    CHECK(Verify(graph) == "node 1 (Input): operand 0 is no node");
  }
  SECTION("an unknown op") {
    graph.nodes[NodeId(1)].op = static_cast<Op>(250);
    CHECK(Verify(graph) == "node 1 has no known op");
  }
  SECTION("an attribute of an op that has none") {
    graph.nodes[NodeId(16)].attr = 1;
    CHECK(Verify(graph) == "node 16 (Add): an attribute (1) that this op has no use for");
  }
  SECTION("a constant out of range") {
    graph.constants.Add({graph.types.Builtin(TypeKind::Char), 0x110000, ""});
    CHECK(Verify(graph) == "constant 3: 1114112 is not a Char");
  }
  SECTION("a number with leading zeros") {
    graph.constants.Add({graph.types.Builtin(TypeKind::Integer), 0, "007"});
    CHECK(Verify(graph) == "constant 3: not a decimal number");
  }
  SECTION("a text that is not UTF-8") {
    graph.constants.Add({graph.types.Builtin(TypeKind::Text), 0, "\xff"});
    CHECK(Verify(graph) == "constant 3: not UTF-8");
  }
  SECTION("an empty graph") { CHECK(Verify(Graph()) == "there is no root scope"); }
  SECTION("broken graphs print") {
    graph.nodes[NodeId(1)].op = static_cast<Op>(250);
    graph.nodes[NodeId(2)].scope = ScopeId(99);
    graph.nodes[NodeId(4)].attr = 99;
    graph.nodes[NodeId(5)].first_input = UINT32_MAX;
    CHECK(ToText(graph).find("<bad node>") != std::string::npos);
  }
}

// A kernel that reads a table looks at no type again.
TEST_CASE("what a table of activations may hold, and where one may go") {
  auto fault = [](std::string_view put, std::string_view get, std::string_view result = "Int") {
    return Fault(fmt::format(R"graph(tagged "t"
data Box = Box ({3})
result "" : {2}
root main
scope main {{
  %start = Start : Trigger
  %unit = Const () %start : Unit
  %n = Const 7 %start : Int
  %x = Const 0.5 %start : Double
  %new = NewTable %unit : ActivationTable
  %at = TableAt 3 %new : ActivationTable
  %put = TablePut {0} : ActivationTable
  %get = TableGet {1}
  %res = Result 0 %get
}}
)graph", put, get, result, result));
  };
  CHECK(fault("5 %at, %n", "5 %put : Int") == "");
  CHECK(fault("4 %at, %x", "5 %put : Int") == "");  // nothing was written there: an error when it runs
  CHECK(fault("5 %at, %x", "5 %put : Int").ends_with("entry 5 is a Int, and elsewhere a Double"));
  CHECK(fault("5 %at, %start", "4 %put : Int").ends_with("a Trigger cannot be kept"));
  CHECK(fault("5 %at, %n", "5 %put : lazy Int").ends_with("result 0 cannot be a reference"));
  CHECK(fault("5 %at, %n", "5 %put : ActivationTable", "ActivationTable") == "constructor `Box`, field 0: a ActivationTable cannot be held");
}

// Two ops with one token would change memory in no order; a kernel that reads an array looks at no type again.
TEST_CASE("tokens of state have one use, and arrays one type of elements") {
  auto fault = [](std::string_view body) {
    return Fault(fmt::format(R"graph(tagged "t"
result "" : Int
root main
scope main {{
  %start = Start : Trigger
  %unit = Const () %start : Unit
  %n = Const 7 %start : Int
  %x = Const 0.5 %start : Double
  %s0 = NewState %unit : PrimState
{}
  %res = Result 0 %get
}}
)graph", body));
  };
  const std::string made = "  %a = NewStore 21 %s0, %n, %n : PrimStore\n  %s1 = After %a, %s0 : PrimState\n";
  const std::string put = made + "  %s2 = WriteStore 21 %s1, %a, %n, %n : PrimState\n";
  CHECK(fault(put + "  %get = ReadStore 21 %s2, %a, %n : Int") == "");
  CHECK(fault(put + "  %f = Freeze %s2, %a : PrimFrozen\n  %s3 = After %f, %s2 : PrimState\n  %get = ReadFrozen 21 %f, %n : Int") == "");
  CHECK(fault(put + "  %s3 = WriteStore 21 %s1, %a, %n, %n : PrimState\n  %get = StoreSize %a : Int").ends_with("takes the same token: a token has one use"));
  CHECK(fault(put + "  %get = ReadStore 21 %s1, %a, %n : Int").ends_with("looks under the same token, and nothing says that it has been done"));
  CHECK(fault(put + "  %get = ReadStore 21 %s2, %a, %n : Int\n  %b = NewStore 21 %s2, %n, %n : PrimStore").ends_with("takes the same token: a token has one use"));
  CHECK(fault(made + "  %s2 = WriteStore 21 %s1, %a, %n, %x : PrimState\n  %get = ReadStore 21 %s2, %a, %n : Int").ends_with("an element of number 5 is a Double, and elsewhere a Int"));
  CHECK(fault(made + "  %get = ReadStore 20 %s1, %a, %n : Int").ends_with("a Int is not stored that way (0)"));
  CHECK(fault(made + "  %get = ReadStore 23 %s1, %a, %n : Int").ends_with("a Int is not stored that way (3)"));
  CHECK(fault("  %a = NewStore 2 %s0, %n, %s0 : PrimStore\n  %get = StoreSize %a : Int").ends_with("a PrimState cannot be kept"));
}

// Accumulate trusts the types of the terms: its kernel looks at no shape again.
TEST_CASE("what a sum of tensors may be made of") {
  auto fault = [](std::string_view constructors, std::string_view result = "Tensor Double [2, 3]") {
    return Fault(fmt::format(R"graph(tagged "t"
data Sum = zero {}
tensor "Tensor Double [2, 3]"
tensor "Tensor Double [2]"
tensor "Tensor Double [3]"
tensor "Tensor Double [5, 2]"
tensor "Tensor Double [5, 3]"
tensor "Tensor Int [5]"
tensor "Tensor Float [3]"
tensor "Tensor Int [2, 3]"
tensor "Tensor Double []"
result "" : "{}"
root main
scope main {{
  %start = Start : Trigger
  %zero = Construct zero %start : Sum
  %all = Accumulate %zero : "{}"
  %result = Result 0 %all
}}
)graph", constructors, result, result));
  };
  CHECK(fault(R"(| t (strict "Tensor Double [2, 3]") | s (strict Sum) (strict Sum))") == "");
  CHECK(fault(R"(| s (strict Sum) (strict Sum) (strict Sum))") == "");
  CHECK(fault(R"(| o (strict "Tensor Double [2]") (strict "Tensor Double [3]"))") == "");
  CHECK(fault(R"(| o (strict "Tensor Double [5, 2]") (strict "Tensor Double [5, 3]"))") == "");
  CHECK(fault(R"(| r (strict Int) (strict "Tensor Double [3]") | k (strict "Tensor Int [5]") (strict "Tensor Double [5, 3]"))") == "");
  CHECK(fault(R"(| e (strict Int) (strict Double) | f (strict Int) (strict "Tensor Double []"))") == "");
  CHECK(fault(R"(| e (strict Int) (strict Double) | r (strict Int) (strict "Tensor Double []"))", "Tensor Double [3]") == "");
  CHECK(fault(R"(| e (strict Int) (strict Double))", "Tensor Double []").find("is no term") != std::string::npos);
  for (const char* bad : {R"(e (strict Int) (strict Float))", R"(e (strict "Tensor Int [5]") (strict Double))", R"(t (strict "Tensor Double [3]"))", R"(t ("Tensor Double [2, 3]"))", R"(t (lazy Sum) (strict Sum))",
                          R"(o (strict "Tensor Double [3]") (strict "Tensor Double [2]"))",
                          R"(o (strict "Tensor Double [2]") (strict "Tensor Float [3]"))",
                          R"(o (strict "Tensor Double [5, 2]") (strict "Tensor Double [3]"))",
                          R"(k (strict "Tensor Int [5]") (strict "Tensor Double [3]"))", R"(r (strict Int) (strict "Tensor Double [2]"))",
                          R"(i (strict Int))", R"(w (strict Sum) (strict Int))", R"(w (strict Sum) (strict Sum) (strict Int))",
                          R"(w (strict Sum) (strict Sum) (strict Sum) (strict Sum))"}) {
    INFO(bad << " gives " << fault("| " + std::string(bad)));
    CHECK(fault("| " + std::string(bad)).find("is no term of a `Tensor Double [2, 3]`") != std::string::npos);
  }
  CHECK(fault("", "Tensor Int [2, 3]").find("is no tensor of real numbers") != std::string::npos);
  // Of a record of sums the weight that is asked for, alone.
  auto record = [&](std::string_view rows, int weight = 1) {
    return fault(fmt::format("| part#{} (strict Record)\ndata Record = zero {}", weight, rows));
  };
  CHECK(record(R"(| "add#0,1" (strict "Tensor Double [3]") (strict "Tensor Double [2, 3]"))") == "");
  CHECK(record(R"(| "add#0,1" (strict "Tensor Double [3]") (strict Sum) | "add#=,1*,=" (strict Record) (strict "Tensor Double [2]") (strict "Tensor Double [3]") (strict Record))") == "");
  CHECK(record(R"(| "add#0,1+2" (strict "Tensor Double [3]") (strict Inner)
data Inner = zero | "add#0,1" (strict "Tensor Double [2, 3]") (strict "Tensor Double [3]") | part#1 (strict Record))") == "");
  for (const char* bad : {R"("add#0,1" (strict "Tensor Double [2, 3]") (strict "Tensor Double [3]"))", R"("add#0,1" (strict "Tensor Double [2, 3]"))",
                          R"("add#0,1*" (strict "Tensor Double [2, 3]") (strict "Tensor Double [3]") (strict "Tensor Double [2]"))",
                          R"("add#=" (strict Sum))", R"("add#0+2" (strict Sum))", R"("add#1" ("Tensor Double [2, 3]"))", R"("add#1,x" (strict Sum) (strict Sum))",
                          R"("add#1" (strict "Tensor Double [2, 3]") | part#1 (strict Record))"}) {
    INFO(bad << " gives " << record("| " + std::string(bad)));
    CHECK(record("| " + std::string(bad)).find("is no term of a `Tensor Double [2, 3]`") != std::string::npos);
  }
}
