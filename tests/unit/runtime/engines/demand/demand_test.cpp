// The demand engine: the programs of the executable model (tests/model), and what it promises beyond results:
// sharing, memory, limits, `<<loop>>`, the call path of an error.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/engines/engines.h"
#include "runtime/text/show.h"
#include "tagged_ir/text.h"
#include "tests/unit/catch.h"

using namespace df;

namespace {

std::string Failure(const Outcome& outcome) {
  static constexpr const char* kCodes[] = {"DivideByZero", "Overflow", "User", "NoMatch", "Range", "Loop"};
  if (outcome.stop != Stop::Failed) return "stopped: " + outcome.detail;
  std::string code = kCodes[static_cast<size_t>(outcome.error.code)];
  return "error " + code + (outcome.error.code == ErrorCode::User ? " " + outcome.error.message : "");
}

// Each result as shown, or "error <code> <message>".
std::vector<std::string> ResultsOf(Execution& execution, const ir::Graph& graph, llvm::ArrayRef<Value> inputs = {}) {
  std::vector<std::string> results;
  Outcome started = execution.Start(inputs);
  if (!started.ok()) return {Failure(started)};
  for (size_t i = 0; i < graph.graph_results.size(); ++i) {
    std::string text;
    llvm::raw_string_ostream out(text);
    Outcome outcome = Show(execution, graph, graph.graph_results[i].type, execution.results()[i], out);
    results.push_back(outcome.ok() ? text : Failure(outcome));
  }
  return results;
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

ir::Graph Parse(std::string_view text) {
  std::string error;
  std::optional<ir::Graph> graph = ir::ParseText(text, &error);
  INFO(error);
  REQUIRE(graph.has_value());
  INFO(ir::Verify(*graph));
  REQUIRE(ir::Verify(*graph).empty());
  return std::move(*graph);
}

// main = length (from 0), `from k` a lazy list of the numbers from k below n: the list is made while it is
// consumed, by a call that is a loop.
constexpr const char* kLength = R"(
tagged "length"
data List = Nil | Cons (lazy Int) (lazy List)
input "n" : Int
result "" : Int
root root
function from
function rest in from
loop len in root
site 0 call root -> from
site 1 delay from -> rest
site 2 call rest -> from
scope root {
  %0 = Start : Trigger
  %1 = Input 0 %0 : Int
  %2 = Const 0 %0 : Int
  %3 = Call 0 %0 : Trigger, Trigger
  %4 = Call 0 %2 : Int
  %5 = Call 0 %1 : Int
  %6 = Return 0 %39, %3.1 : List
  %7 = Enter len %0 : Trigger, Trigger
  %8 = Enter len %6 : List
  %9 = Enter len %2 : Int
  %10 = Exit len %22, %13, %7.1 : Int
  %11 = Result 0 %10
}
scope len {
  %12 = LoopMerge %8, %23 : List
  %13 = LoopMerge %9, %24 : Int
  %14 = LoopMerge %7, %25 : Trigger
  %15 = Match %12 : Alt
  %16 = Switch %15, %12 : List, List
  %17 = Switch %15, %13 : Int, Int
  %18 = Switch %15, %14 : Trigger, Trigger
  %40 = Const False %18 : Bool
  %41 = Const True %18.1 : Bool
  %22 = BranchMerge %15, %40, %41 : Bool
  %19 = Field Cons 1 %16.1 : lazy List
  %20 = Force %19 : List
  %26 = Const 1 %18.1 : Int
  %21 = Add %17.1, %26 : Int
  %42 = Dead %18 : List
  %43 = Dead %18 : Int
  %44 = BranchMerge %15, %42, %20 : List
  %45 = BranchMerge %15, %43, %21 : Int
  %23 = NextIteration len %44, %22 : List
  %24 = NextIteration len %45, %22 : Int
  %25 = NextIteration len %14, %22 : Trigger
}
scope from {
  %30 = EntryMerge %3, %51 : Trigger
  %31 = EntryMerge %4, %52 : Int
  %32 = EntryMerge %5, %53 : Int
  %33 = Lt %31, %32 : Bool
  %34 = Switch %33, %30 : Trigger, Trigger
  %35 = Switch %33, %31 : Int, Int
  %36 = Switch %33, %32 : Int, Int
  %37 = Delay 1 %34, %35, %36 : lazy List, Trigger, Int, Int
  %46 = Return 1 %56
  %38 = Construct Cons %34, %35, %37 : List
  %47 = Construct Nil %34.1 : List
  %39 = BranchMerge %33, %38, %47 : List
}
scope rest {
  %48 = EntryMerge %37.1 : Trigger
  %49 = EntryMerge %37.2 : Int
  %50 = EntryMerge %37.3 : Int
  %51 = Call 2 %48 : Trigger, Trigger
  %54 = Const 1 %48 : Int
  %55 = Add %49, %54 : Int
  %52 = Call 2 %55 : Int
  %53 = Call 2 %50 : Int
  %56 = Return 2 %39, %51.1 : List
}
)";

}  // namespace

TEST_CASE("the model's programs on the demand engine", "[demand]") {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DFC_MODEL_DIR))
    if (entry.path().extension() == ".tagged") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() > 50);
  for (const auto& path : paths) {
    std::string source = Read(path);
    ir::Graph graph = Parse(source);
    std::vector<std::string> expected;
    constexpr std::string_view kExpect = "-- EXPECT: ";
    for (size_t at = 0; (at = source.find(kExpect, at)) != std::string::npos;) {
      at += kExpect.size();
      expected.push_back(source.substr(at, source.find('\n', at) - at));
    }
    INFO(path.stem().string());
    int64_t before = memory::counters.current;
    {
      auto execution = MakeDemandExecution(graph, {});
      CHECK(ResultsOf(*execution, graph) == expected);
    }
    CHECK(memory::counters.current == before);
  }
}

TEST_CASE("a loop runs in the memory of one iteration", "[demand]") {
  ir::Graph graph = Parse(Read(std::filesystem::path(DFC_BENCH_DIR) / "loop.tagged"));
  uint64_t peaks[2], entries[2];
  for (int i = 0; i < 2; ++i) {
    auto execution = MakeDemandExecution(graph, {});
    REQUIRE(execution->Start({Value::Word(i ? 200000 : 1000)}).ok());
    peaks[i] = execution->stats().peak_memory;
    entries[i] = execution->stats().peak_entries;
  }
  CHECK(peaks[1] <= peaks[0] + 4096);
  CHECK(entries[1] == entries[0]);
}

TEST_CASE("a lazy list is made while it is consumed, each part once, and all of it goes", "[demand]") {
  ir::Graph graph = Parse(kLength);
  int64_t before = memory::counters.current;
  {
    auto execution = MakeDemandExecution(graph, {});
    CHECK(ResultsOf(*execution, graph, Value::Word(400000)) == std::vector<std::string>{"400000"});
    CHECK(execution->stats().released == 400000);
  }
  CHECK(memory::counters.current == before);
}

TEST_CASE("limits end a run at once", "[demand]") {
  ir::Graph graph = Parse(Read(std::filesystem::path(DFC_BENCH_DIR) / "count.tagged"));
  SECTION("frames") {
    RunOptions options;
    options.limits.max_frames = 1000;
    CHECK(MakeDemandExecution(graph, options)->Start({Value::Word(1000000)}).stop == Stop::FrameLimit);
  }
  SECTION("memory") {
    RunOptions options;
    options.limits.max_memory = 1 << 20;
    int64_t before = memory::counters.current;
    CHECK(MakeDemandExecution(graph, options)->Start({Value::Word(1000000)}).stop == Stop::MemoryLimit);
    CHECK(memory::counters.current == before);
  }
  SECTION("interrupt") {
    std::atomic<bool> interrupt = true;
    RunOptions options;
    options.limits.interrupt = &interrupt;
    CHECK(MakeDemandExecution(graph, options)->Start({Value::Word(1000000)}).stop == Stop::Interrupted);
  }
}

TEST_CASE("a trace has a line per demand", "[demand]") {
  ir::Graph graph = Parse(Read(std::filesystem::path(DFC_MODEL_DIR) / "fact3_plus_5.tagged"));
  std::string text;
  llvm::raw_string_ostream out(text);
  RunOptions options;
  options.trace = &out;
  auto execution = MakeDemandExecution(graph, options);
  CHECK(ResultsOf(*execution, graph) == std::vector<std::string>{"11"});
  CHECK(text.find("Return  tag [] -> 6\n") != std::string::npos);
  CHECK(text.find("Call") == std::string::npos);
}
