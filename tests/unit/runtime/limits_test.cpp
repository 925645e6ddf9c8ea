// Limits, and errors with their call path.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/engines/engines.h"
#include "runtime/run/limits.h"
#include "runtime/run/watchdog.h"
#include "runtime/text/describe.h"
#include "tests/unit/catch.h"
#include "tests/unit/runtime/graphs.h"

using namespace df;
using namespace df::test;

namespace {

Outcome RunFact(int64_t n, const Limits& limits) {
  ir::Graph graph = FactGraph(n);
  RunOptions options;
  options.limits = limits;
  return MakeReferenceExecution(graph, options)->Start({});
}

// fact 0 never reaches its base case: it calls itself until something ends it.
constexpr int64_t kForever = 0;

}  // namespace

TEST_CASE("a run ends at its memory limit") {
  int64_t before = memory::counters.current;
  Limits limits;
  limits.max_memory = 4 << 20;
  Outcome outcome = RunFact(kForever, limits);
  CHECK(outcome.stop == Stop::MemoryLimit);
  CHECK(outcome.detail == "the memory limit of 4 MiB is reached");
  CHECK(outcome.error.path_length > 100);
  CHECK(memory::counters.current == before);
}

TEST_CASE("a run ends at its limit of live calls") {
  Limits limits;
  limits.max_frames = 1000;
  Outcome outcome = RunFact(kForever, limits);
  CHECK(outcome.stop == Stop::FrameLimit);
  CHECK(outcome.detail == "the limit of 1000 live calls is reached");
}

TEST_CASE("a run ends when its time is over") {
  Limits limits;
  limits.timeout = std::chrono::milliseconds(50);
  auto start = std::chrono::steady_clock::now();
  Outcome outcome = RunFact(kForever, limits);
  CHECK(outcome.stop == Stop::Timeout);
  CHECK(outcome.detail == "the time limit of 0.05 s is reached");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("a run ends when it is interrupted, and stays ended") {
  std::atomic<bool> interrupt = false;
  Limits limits;
  limits.interrupt = &interrupt;
  std::thread after([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    interrupt = true;
  });
  CHECK(RunFact(kForever, limits).stop == Stop::Interrupted);
  after.join();
}

TEST_CASE("the default memory limit is part of what the machine has") {
  CHECK(DefaultMemoryLimit() > 0);
  CHECK(DefaultMemoryLimit() < UINT64_MAX / 2);
  CHECK(PrintBytes(512) == "512 bytes");
  CHECK(PrintBytes(3 << 29) == "1.5 GiB");
}

TEST_CASE("the default memory limit is part of what the control groups leave, of both versions") {
  namespace fs = std::filesystem;
  fs::path root = fs::temp_directory_path() / ("dfc-limits-test-" + std::to_string(::getpid()));
  auto write = [&](const char* path, const char* text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  constexpr uint64_t kMiB = 1 << 20;
  // Version 2: the least limit on the way up counts.
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/memory.max", "104857600\n");
  CHECK(DefaultMemoryLimit(root.string()) == 80 * kMiB);
  write("sys/fs/cgroup/outer/inner/memory.max", "52428800\n");
  CHECK(DefaultMemoryLimit(root.string()) == 40 * kMiB);
  // Version 1, beside other controllers; the group is not visible in a container, the mount's own limit is.
  write("proc/self/cgroup", "5:cpu,memory:/docker/abc\n3:pids:/x\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "10485760\n");
  CHECK(DefaultMemoryLimit(root.string()) == 8 * kMiB);
  // No limit at all.
  write("proc/self/cgroup", "");
  CHECK(DefaultMemoryLimit(root.string()) > 80 * kMiB);
  fs::remove_all(root);
}

TEST_CASE("by default there is a thread per processor, as far as the control groups' quotas reach") {
  namespace fs = std::filesystem;
  fs::path root = fs::temp_directory_path() / ("dfc-threads-test-" + std::to_string(::getpid()));
  auto write = [&](const char* path, const char* text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  uint32_t all = DefaultThreads(root.string());
  CHECK(all >= 1);
  CHECK(all <= kMostThreads);
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  CHECK(DefaultThreads(root.string()) == all);
  write("sys/fs/cgroup/outer/cpu.max", "50000 100000\n");
  CHECK(DefaultThreads(root.string()) == 1);
  write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");  // rounded up
  CHECK(DefaultThreads(root.string()) == std::min(all, 2u));
  // Version 1.
  write("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n0::/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(DefaultThreads(root.string()) == all);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  CHECK(DefaultThreads(root.string()) == 1);
  fs::remove_all(root);
}

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

TEST_CASE("the watchdog gives up on a run that does not end itself, and only on such") {
  std::atomic<int> given_up = 0;
  auto note = [&](Stop stop, const std::string& text) { given_up += stop == Stop::Timeout && !text.empty(); };
  Limits limits;
  limits.timeout = std::chrono::milliseconds(20);
  {
    Watchdog watchdog(limits, note, std::chrono::milliseconds(10));
    for (int i = 0; i < 100 && given_up == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(given_up == 1);
  limits.timeout = std::chrono::seconds(100);
  { Watchdog watchdog(limits, note); }
  CHECK(given_up == 1);
}
