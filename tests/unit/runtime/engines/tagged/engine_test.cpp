// What the tagged engine promises beyond results: memory, order, limits, the call path of an error.
#include <fstream>
#include <sstream>

#include "tests/unit/runtime/engines/run.h"

using namespace df;
using namespace df::test;

namespace {

ir::Graph Bench(const std::string& name) {
  std::ifstream file(std::string(DFC_BENCH_DIR) + "/" + name + ".tagged");
  std::stringstream text;
  text << file.rdbuf();
  return Parse(text.str());
}

struct Ran {
  Outcome outcome;
  Stats stats;
  int64_t result = 0;
  uint64_t live_frames = 0;
};

Ran RunWith(const ir::Graph& graph, int64_t input, RunOptions run = {}, tagged::Options options = {}) {
  tagged::TaggedExecution execution(graph, run, options);
  Ran ran;
  ran.outcome = execution.Start({Value::Word(input)});
  ran.stats = execution.stats();
  ran.live_frames = execution.live_frames();
  if (ran.outcome.ok() && execution.results()[0].is_word()) ran.result = execution.results()[0].word();
  return ran;
}

// main = `sum` of what follows; `bot` never ends; `bad` divides by zero.
constexpr const char* kOvertakes = R"(
tagged "overtakes"
result "" : Int
root root
function bot
function bad
site 0 call root -> bad
site 1 call root -> bot
site 2 call bot -> bot
scope root {
  %0 = Start : Trigger
  %1 = Const 7 %0 : Int
  %2 = Call 0 %0 : Trigger, Trigger
  %3 = Call 0 %1 : Int
  %4 = Return 0 %24, %2.1 : Int
  %5 = Call 1 %0 : Trigger, Trigger
  %6 = Call 1 %1 : Int
  %7 = Return 1 %34, %5.1 : Int
  %8 = Add %4, %1 : Int
  %9 = Add %8, %7 : Int
  %10 = Result 0 %9
}
scope bad {
  %20 = EntryMerge %2 : Trigger
  %21 = EntryMerge %3 : Int
  %22 = Const 0 %20 : Int
  %24 = Quot %21, %22 : Int
}
scope bot {
  %30 = EntryMerge %5, %33 : Trigger
  %31 = EntryMerge %6, %32 : Int
  %32 = Call 2 %31 : Int
  %33 = Call 2 %30 : Trigger, Trigger
  %34 = Return 2 %34, %33.1 : Int
}
)";

// The last of the first n of from 0, where from k = k : delay (from (k + 1)), by a loop that forces the tails.
constexpr const char* kStream = R"(
tagged "stream"
data List = Nil | Cons (lazy Int) (lazy List)
input "n" : Int
result "" : Int
root root
function from
function more
loop walk in root
site 0 call root -> from
site 1 delay from -> more
site 2 call more -> from
scope root {
  %0 = Start : Trigger
  %1 = Input 0 %0 : Int
  %2 = Const 0 %0 : Int
  %3 = Call 0 %0 : Trigger, Trigger
  %4 = Call 0 %2 : Int
  %5 = Return 0 %16, %3.1 : List
  %6 = Enter walk %0 : Trigger, Trigger
  %7 = Enter walk %1 : Int
  %8 = Enter walk %5 : List
  %9 = Exit walk %44, %45.1, %6.1 : List
  %60 = Field Cons 0 %9 : lazy Int
  %61 = Force %60 : Int
  %62 = Result 0 %61
}
scope from {
  %10 = EntryMerge %3, %24 : Trigger
  %11 = EntryMerge %4, %25 : Int
  %14 = Delay 1 %10, %11 : lazy List, Trigger, Int
  %15 = Return 1 %26
  %16 = Construct Cons %10, %11, %14 : List
}
scope more {
  %20 = EntryMerge %14.1 : Trigger
  %21 = EntryMerge %14.2 : Int
  %22 = Const 1 %20 : Int
  %23 = Add %21, %22 : Int
  %24 = Call 2 %20 : Trigger, Trigger
  %25 = Call 2 %23 : Int
  %26 = Return 2 %16, %24.1 : List
}
scope walk {
  %30 = LoopMerge %6, %50 : Trigger
  %31 = LoopMerge %7, %51 : Int
  %32 = LoopMerge %8, %52 : List
  %33 = Const 0 %30 : Int
  %44 = Gt %31, %33 : Bool
  %35 = Switch %44, %31 : Int, Int
  %36 = Switch %44, %32 : List, List
  %37 = Switch %44, %30 : Trigger, Trigger
  %38 = Const 1 %37 : Int
  %39 = Sub %35, %38 : Int
  %40 = Field Cons 1 %36 : lazy List
  %41 = Force %40 : List
  %45 = Switch %44, %32 : List, List
  %50 = NextIteration walk %37, %44 : Trigger
  %51 = NextIteration walk %39, %44 : Int
  %52 = NextIteration walk %41, %44 : List
}
)";

}  // namespace

TEST_CASE("memory follows the sequential depth", "[tagged]") {
  ir::Graph fib = Bench("fib");
  for (bool scheduled : {true, false}) {
    Ran ran = RunWith(fib, 15, {}, {.scheduled = scheduled, .unboxed = false, .count = true});
    CHECK(ran.result == 610);
    CHECK(ran.stats.peak_frames == 16);
    CHECK(ran.stats.calls == 1974);
    CHECK(ran.stats.max_depth == 15);
    CHECK(ran.live_frames == 1);  // the root's
  }
  // With calls inlined, a frame stands for several activations.
  for (bool unroll : {true, false}) {
    Ran ran = RunWith(fib, 15, {}, {.unroll = unroll, .count = true});
    CHECK(ran.result == 610);
    CHECK((ran.stats.peak_frames < 16) == unroll);
    CHECK(ran.stats.calls == 1974);
    CHECK(ran.stats.max_depth == 15);
    CHECK(ran.live_frames == 1);
  }
  Ran ack = RunWith(Bench("ack"), 20);
  CHECK(ack.result == 43);
  CHECK(ack.stats.peak_frames < 50);
}

TEST_CASE("deep recursion lives on the heap", "[tagged]") {
  Ran ran = RunWith(Bench("count"), 300000, {}, {.unroll = false});
  CHECK(ran.result == 300000);
  CHECK(ran.stats.peak_frames == 300002);
  CHECK(ran.stats.peak_memory < 300002 * 128);
  CHECK(ran.live_frames == 1);
}

TEST_CASE("a loop runs in one frame", "[tagged]") {
  for (bool scheduled : {true, false}) {
    Ran ran = RunWith(Bench("loop"), 100000, {}, {true, scheduled});
    CHECK(ran.result == 5000050000);
    CHECK(ran.stats.peak_frames == 2);
  }
}

TEST_CASE("an error overtakes what never ends", "[tagged]") {
  ir::Graph graph = Parse(kOvertakes);
  for (bool scheduled : {true, false})
    for (bool group : {true, false}) {
      RunOptions run;
      run.limits.timeout = std::chrono::seconds(10);
      tagged::TaggedExecution execution(graph, run, {group, scheduled});
      CHECK(ResultsOf(execution, graph) == std::vector<std::string>{"error DivideByZero"});
      Value result = execution.results()[0];
      Outcome outcome = execution.Force(result);
      REQUIRE(outcome.error.path.size() == 1);
      CHECK(outcome.error.path[0].site == ir::SiteId(0));
    }
}

TEST_CASE("a field that is said to be evaluated and is not is an error", "[tagged]") {
  ir::Graph graph = Parse(R"(
tagged "promise"
data Box = Box (lazy Int)
result "" : Int
root root
function later
site 0 delay root -> later
scope root {
  %0 = Start : Trigger
  %1 = Delay 0 %0 : lazy Int, Trigger
  %2 = Return 0 %11
  %3 = Construct Box %0, %1 : Box
  %4 = Field Box 0 %3 : Int
  %5 = Add %4, %4 : Int
  %6 = Result 0 %5
}
scope later {
  %10 = EntryMerge %1.1 : Trigger
  %11 = Const 7 %10 : Int
}
)");
  for (bool scheduled : {true, false}) {
    tagged::TaggedExecution execution(graph, {}, {.scheduled = scheduled});
    CHECK(ResultsOf(execution, graph) == std::vector<std::string>{"error NoMatch"});
  }
}

TEST_CASE("a long lazy stream runs in bounded memory", "[tagged]") {
  ir::Graph graph = Parse(kStream);
  for (bool group : {true, false}) {
    Ran ran = RunWith(graph, 20000, {}, {group, true});
    CHECK(ran.outcome.detail + ran.outcome.error.message == "");
    CHECK(ran.result == 20000);
    if (group) CHECK(ran.stats.peak_frames < 1000);
    CHECK(ran.stats.released == 20000);
  }
}

TEST_CASE("a delayed call that captures more than a cell can count is refused", "[tagged]") {
  auto captures = [](size_t count) {
    std::string used, types, merges;
    for (size_t i = 0; i < count; ++i) {
      used += ", %1";
      types += ", Int";
      merges += "  %" + std::to_string(10 + i) + " = EntryMerge %2." + std::to_string(2 + i) + " : Int\n";
    }
    return Parse("tagged \"captures\"\nresult \"\" : lazy Int\nroot root\nfunction f\nsite 0 delay root -> f\nscope root {\n"
                 "  %0 = Start : Trigger\n  %1 = Const 7 %0 : Int\n  %2 = Delay 0 %0" + used + " : lazy Int, Trigger" + types +
                 "\n  %3 = Return 0 %10\n  %4 = Result 0 %2\n}\nscope f {\n  %5 = EntryMerge %2.1 : Trigger\n" + merges + "}\n");
  };
  for (size_t count : {size_t{3}, size_t{tagged::kMostCaptured}, size_t{tagged::kMostCaptured} + 1}) {
    ir::Graph graph = captures(count);
    tagged::TaggedExecution execution(graph, {}, {});
    std::vector<std::string> results = ResultsOf(execution, graph);
    CHECK(results[0] == (count <= tagged::kMostCaptured ? "7"
                         : "stopped: `f` is delayed with 16384 values, more than the 16383 that this engine holds: divide it, a long list "
                           "into several for instance, or run with `--engine=demand`"));
  }
}

TEST_CASE("a function of more values than a frame holds is refused, as a limit", "[tagged]") {
  constexpr size_t kCount = 1 << 18;
  std::string sums;
  for (size_t i = 0; i < kCount; ++i) sums += fmt::format("  %{} = Add %{}, %1 : Int\n", i + 2, i + 1);
  ir::Graph graph = Parse("tagged \"sums\"\nresult \"\" : Int\nroot root\nscope root {\n  %0 = Start : Trigger\n  %1 = Const 7 %0 : Int\n" + sums +
                          fmt::format("  %{} = Result 0 %{}\n}}\n", kCount + 2, kCount + 1));
  Outcome outcome = tagged::TaggedExecution(graph, {}, {}).Start({});
  CHECK(outcome.stop == Stop::FrameLimit);
  CHECK(outcome.detail.starts_with("`root` computes 262"));
}

TEST_CASE("limits end a run and leave nothing behind", "[tagged]") {
  int64_t before = memory::counters.current;
  ir::Graph count = Bench("count"), loop = Bench("loop");
  RunOptions run;
  SECTION("frames") {
    run.limits.max_frames = 10000;
    Ran ran = RunWith(count, 10000000, run);
    CHECK(ran.outcome.stop == Stop::FrameLimit);
    CHECK(ran.outcome.error.path_length > 9000);
  }
  SECTION("memory") {
    run.limits.max_memory = 10 << 20;
    CHECK(RunWith(count, 10000000, run).outcome.stop == Stop::MemoryLimit);
  }
  SECTION("time") {
    run.limits.timeout = std::chrono::milliseconds(50);
    CHECK(RunWith(loop, 100000000000, run).outcome.stop == Stop::Timeout);
    CHECK(RunWith(loop, 100000000000, run, {true, false}).outcome.stop == Stop::Timeout);
  }
  SECTION("interrupt") {
    std::atomic<bool> interrupt{true};
    run.limits.interrupt = &interrupt;
    CHECK(RunWith(loop, 100000000000, run).outcome.stop == Stop::Interrupted);
  }
  CHECK(memory::counters.current == before);
}
