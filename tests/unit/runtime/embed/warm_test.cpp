// Runs that are called again and again, on one thread and on several, with code that all of them share.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "runtime/embed/embed.h"
#include "tagged_ir/file.h"
#include "tagged_ir/text.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/graphs.h"

using namespace df;
using namespace df::test;

namespace {

std::string Compiled(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string error;
  std::optional<ir::Graph> graph = ir::ParseText(text.str(), &error);
  INFO(path << ": " << error);
  REQUIRE(graph.has_value());
  return ir::Serialize(*graph);
}

std::vector<std::filesystem::path> Models() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DFC_MODEL_DIR))
    if (entry.path().extension() == ".tagged") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string Said(Run& run) {
  if (run.Execute() != RunStatus::Done) return run.error();
  std::string text;
  for (size_t i = 0; i < run.result_count(); ++i) text += run.result(i).text + "\n";
  return text;
}

RunSettings OneThread() {
  RunSettings settings;
  settings.threads = 1;
  return settings;
}

// fib n, and 2^70 + n behind it.
std::string FibFile() { return Compiled(std::filesystem::path(DFC_BENCH_DIR) / "fib.tagged"); }

}  // namespace

TEST_CASE("the model's programs, again and again") {
  for (const auto& path : Models()) {
    INFO(path);
    std::string error;
    auto program = Program::FromBytes(Compiled(path), &error);
    REQUIRE(program.has_value());
    RunSettings reference = OneThread();
    reference.engine = RunEngine::Reference;
    Run defined(*program, reference), warm(*program, OneThread()), other(*program, OneThread());
    const std::string want = Said(defined);
    for (int i = 0; i < 4; ++i) {
      CHECK(Said(warm) == want);
      CHECK(Said(other) == want);  // they take turns on one thread
    }
  }
}

TEST_CASE("one program on eight threads at once") {
  constexpr int kCalls = 300;
  std::vector<Program> programs;
  std::vector<std::string> want;
  std::string error;
  for (const auto& path : Models()) {
    programs.push_back(*Program::FromBytes(Compiled(path), &error));
    Run run(programs.back(), OneThread());
    want.push_back(Said(run));
  }
  auto fib = Program::FromBytes(FibFile(), &error);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Run run(*fib, OneThread());
      for (int i = 0; i < kCalls; ++i) {
        run.SetInput("n", int64_t{i % 12});
        static constexpr int64_t kFib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
        wrong += run.Execute() != RunStatus::Done || run.view(0).integer() != kFib[i % 12];
      }
      for (size_t p = 0; p < programs.size(); ++p) {
        Run each(programs[(p + static_cast<size_t>(t)) % programs.size()], OneThread());
        for (int i = 0; i < 3; ++i) wrong += Said(each) != want[(p + static_cast<size_t>(t)) % programs.size()];
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a run that has failed, or was ended, is called again") {
  std::string error;
  auto program = Program::FromBytes(FibFile(), &error);
  std::atomic<bool> interrupt{false};
  RunSettings settings = OneThread();
  settings.max_frames = 1000;
  settings.interrupt = &interrupt;
  Run run(*program, settings);
  for (int i = 0; i < 3; ++i) {
    CHECK(run.SetInput("n", int64_t{10}));
    REQUIRE(run.Execute() == RunStatus::Done);
    CHECK(run.result(0).integer == 55);
    interrupt = true;
    CHECK(run.SetInput("n", int64_t{32}));
    CHECK(run.Execute() == RunStatus::Interrupted);
    CHECK(run.failure().code == Failure::Code::Interrupted);
    interrupt = false;
  }
  Run cancelled(*program, OneThread());
  CHECK(cancelled.SetInput("n", int64_t{45}));
  std::thread other([&] { cancelled.Cancel(); });
  CHECK(cancelled.Execute() == RunStatus::Interrupted);
  other.join();
  CHECK(cancelled.SetInput("n", int64_t{10}));
  cancelled.Execute();  // the other thread may have come late
  CHECK(cancelled.Execute() == RunStatus::Done);
}

TEST_CASE("who watches sees that a run goes on") {
  std::string error;
  auto program = Program::FromBytes(FibFile(), &error);
  for (RunEngine engine : {RunEngine::Tagged, RunEngine::Reference, RunEngine::Demand}) {
    RunSettings settings = OneThread();
    settings.engine = engine;
    Run run(*program, settings);
    CHECK(!run.progress().running);
    CHECK(run.SetInput("n", int64_t{45}));  // it would take minutes, and is cancelled once it was seen twice
    std::thread other([&] {
      uint64_t first = 0;
      for (;;) {
        const Progress now = run.progress();
        if (now.running && first == 0) first = now.steps;
        if (first != 0 && now.steps > first) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      run.Cancel();
    });
    CHECK(run.Execute() == RunStatus::Interrupted);
    other.join();
    CHECK(!run.progress().running);
    CHECK(run.progress().steps > 1);
    CHECK(run.progress().time.count() == 0);
    CHECK(run.SetInput("n", int64_t{2}));
    CHECK(run.Execute() == RunStatus::Done);
    CHECK(run.progress().steps == 0);  // so few are none
  }
}

TEST_CASE("errors have fields") {
  ir::Graph graph = FactGraph(5, 0);
  std::string error;
  auto program = Program::FromBytes(ir::Serialize(graph), &error);
  Run run(*program, OneThread());
  CHECK(run.Execute() == RunStatus::Failed);
  const Failure& failure = run.failure();
  CHECK(failure.code == Failure::Code::DivideByZero);
  CHECK(failure.message == "divide by zero");
  CHECK(failure.text == run.error());
  REQUIRE(!failure.path.empty());
  CHECK(failure.path[0].what == "at");
  CHECK(failure.path.back().function == "main");
  CHECK(failure.path.back().line == 9);
  CHECK(failure.path.back().column == 8);
  CHECK(failure.path.back().file == "test.df");
}
