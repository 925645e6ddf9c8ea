// Every allocation of a run fails once: allocations ENGINE THREADS FILE.graph...
//
// Each graph is run with the first allocation failing, then with the second, and so on to the last; of many a sample. A run
// must end with the memory limit's outcome, say so, and leave nothing behind; or give what it gives otherwise, if it did not
// come to that allocation. Allocations are those that are charged (runtime/base/memory.h) and those of operator new.
//
// Only builds that verify count allocations; others do not have this program.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <string>

#include "runtime/base/memory.h"
#include "runtime/base/object_census.h"
#include "runtime/engines/engines.h"
#include "runtime/run/engine.h"
#include "runtime/text/describe.h"
#include "runtime/text/show.h"
#include "tagged_ir/file.h"

void* operator new(size_t bytes) {
  df::memory::CountAllocation();
  if (void* block = std::malloc(bytes ? bytes : 1)) return block;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes ? bytes : 1); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes ? bytes : 1); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete[](void* block, size_t) noexcept { std::free(block); }

namespace {

using namespace df;

constexpr uint64_t kAll = 300;     // of so many first allocations each
constexpr uint64_t kSampled = 100;  // of the others

struct Ran {
  Stop stop;
  std::string text;  // the result, or what went wrong
};

// Whether the tagged engine makes its faster kinds of code amid the run.
bool begins_cold = false;

Ran RunOnce(const ir::Graph& graph, EngineKind engine, uint32_t threads) {
  RunOptions options;
  options.threads = threads;
  options.stress = begins_cold ? 2 : threads > 1;
  auto execution = MakeExecution(engine, graph, options);
  Outcome outcome = execution->Start({});
  std::string text;
  llvm::raw_string_ostream out(text);
  for (size_t i = 0; outcome.ok() && i < graph.graph_results.size(); ++i)
    outcome = Show(*execution, graph, graph.graph_results[i].type, execution->TakeResult(i), out);
  execution->Finish();
  if (!outcome.ok()) text = Describe(outcome.error, graph);
  return {outcome.stop, text};
}

// What is wrong, or nothing.
std::string Try(const ir::Graph& graph, EngineKind engine, uint32_t threads, uint64_t number, const Ran& wanted) {
  alive::Counts before = alive::Now();
  memory::FailAllocation(number);
  Ran ran = RunOnce(graph, engine, threads);
  bool failed = memory::CountedAllocations() >= number;
  memory::FailAllocation(0);
  if (std::string left = alive::Left(before, alive::Now()); !left.empty()) return "left behind: " + left;
  if (ran.stop == Stop::MemoryLimit && failed)
    return ran.text.find("the memory limit of") == std::string::npos ? "said: " + ran.text : "";
  // With several threads the result may have been there before.
  if (ran.stop == wanted.stop && ran.text == wanted.text && (!failed || threads > 1)) return "";
  return "gave: " + ran.text;
}

int Check(const char* path, EngineKind engine, uint32_t threads) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, error;
  std::optional<ir::Graph> graph = ir::Deserialize(bytes, &error);
  if (!graph) {
    std::printf("%s: %s\n", path, error.c_str());
    return 1;
  }
  memory::FailAllocation(0);
  Ran wanted = RunOnce(*graph, engine, threads);
  uint64_t all = memory::CountedAllocations(), tried = 0;
  uint64_t step = all > kAll ? (all - kAll) / kSampled + 1 : 1;
  for (uint64_t number = 1; number <= all; number += number < kAll ? 1 : step, ++tried) {
    std::string fault = Try(*graph, engine, threads, number, wanted);
    if (fault.empty()) continue;
    std::printf("%s: allocation %llu of %llu fails: %s\n", path, static_cast<unsigned long long>(number),
                static_cast<unsigned long long>(all), fault.c_str());
    return 1;
  }
  std::printf("%s: %llu of %llu allocations failed, one in each run\n", path, static_cast<unsigned long long>(tried),
              static_cast<unsigned long long>(all));
  return all == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::string name = argv[1];
  begins_cold = name == "cold";
  EngineKind engine = name == "reference"   ? EngineKind::Reference
                      : name == "demand"    ? EngineKind::Demand
                      : name == "expanding" ? EngineKind::Expanding
                                            : EngineKind::Tagged;
  int faults = 0;
  for (int i = 3; i < argc; ++i) faults += Check(argv[i], engine, static_cast<uint32_t>(std::atoi(argv[2])));
  return faults != 0;
}
