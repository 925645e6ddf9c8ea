// The limits of a run, and what they are by default.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/engines/engines.h"
#include "runtime/run/limits.h"
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
